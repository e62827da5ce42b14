//! Options of coupling methods and of sources of models: declared once, checked once, read as a struct.
//!
//! [`options!`](crate::options!) declares the struct, from which the table of [`OptionSpec`]s and the
//! values come; a [`choice!`](crate::choice!) is an enum of words, so that a word that nobody handles does
//! not compile.
//!
//! ```
//! use costep_core::{Options, Value, choice, options};
//!
//! choice! {
//!     /// Shape of an input.
//!     pub enum Form { Hold = "hold", Ramp = "ramp" }
//! }
//!
//! options! {
//!     /// What a method takes.
//!     pub struct Settings {
//!         /// shape of the inputs
//!         form: Form;
//!         /// gain of the correction
//!         alpha: f64 = 1.0 in 0.0..=2.0;
//!     }
//! }
//!
//! let given = [("form".to_owned(), Value::parse("ramp"))];
//! let checked = Options::check("method `mine`", &[Settings::SPECS], &given)?;
//! let settings = Settings::read(&checked);
//! assert_eq!((settings.form, settings.alpha), (Form::Ramp, 1.0));
//! # Ok::<(), costep_core::Error>(())
//! ```

use std::fmt;

use crate::option_types::OptionType;
use crate::quantity::short_number;
use crate::suggest::nearest;
use crate::{Code, Error, ModelKind, Result};

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// true or false.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A word.
    Text(String),
}

impl Value {
    /// Reads `true`, `3`, `0.5` or a word.
    pub fn parse(text: &str) -> Self {
        if let Ok(value) = text.parse::<bool>() {
            Self::Bool(value)
        } else if let Ok(value) = text.parse::<i64>() {
            Self::Integer(value)
        } else if let Ok(value) = text.parse::<f64>() {
            Self::Real(value)
        } else {
            Self::Text(text.into())
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Real(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// Type, range and default of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// true or false.
    Bool {
        /// Taken when nothing is said.
        default: bool,
    },
    /// An integer from `min` to `max`.
    Integer {
        /// Taken when nothing is said.
        default: i64,
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// A number from `min` to `max`.
    Real {
        /// Taken when nothing is said.
        default: f64,
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// One of some words; the first is the default.
    Choice(&'static [&'static str]),
    /// The path of a file; none by default. In a project file it is relative to that file.
    File,
}

impl OptionKind {
    /// The default.
    pub fn default_value(&self) -> Value {
        match *self {
            Self::Bool { default } => Value::Bool(default),
            Self::Integer { default, .. } => Value::Integer(default),
            Self::Real { default, .. } => Value::Real(default),
            Self::Choice(words) => Value::Text(words[0].into()),
            Self::File => Value::Text(String::new()),
        }
    }

    /// What is allowed, for people.
    pub fn allowed(&self) -> String {
        match self {
            Self::Bool { .. } => "true or false".into(),
            Self::Integer { min, max, .. } => format!("an integer from {min} to {max}"),
            Self::Real { min, max, .. } => {
                format!("a number from {} to {}", short_number(*min), short_number(*max))
            }
            Self::Choice(words) => words.join(" | "),
            Self::File => "a file".into(),
        }
    }

    /// The value in this kind's own type, or nothing if it does not fit.
    fn accept(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (Self::Bool { .. }, Value::Bool(_)) => Some(value.clone()),
            (Self::Integer { min, max, .. }, Value::Integer(v)) => {
                (min <= v && v <= max).then(|| value.clone())
            }
            (Self::Real { min, max, .. }, Value::Real(v)) => (min <= v && v <= max).then(|| value.clone()),
            (Self::Real { .. }, Value::Integer(v)) => self.accept(&Value::Real(*v as f64)),
            (Self::Choice(words), Value::Text(v)) => words.contains(&v.as_str()).then(|| value.clone()),
            (Self::File, Value::Text(_)) => Some(value.clone()),
            _ => None,
        }
    }
}

/// An option of a coupling method or of a source of models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionSpec {
    /// Its name.
    pub name: &'static str,
    /// Type, range, default.
    pub kind: OptionKind,
    /// What it does.
    pub help: &'static str,
    /// It has an effect only where all of these hold.
    pub only_with: &'static [Condition],
}

/// What an option depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// Another option, a choice or a Boolean, has one of some values.
    Option {
        /// Name of the other option.
        name: &'static str,
        /// The values.
        among: &'static [&'static str],
    },
    /// The models of the subsystems are of one of some kinds.
    Models(&'static [ModelKind]),
}

impl Condition {
    /// That another option has one of some values.
    pub const fn on(name: &'static str, among: &'static [&'static str]) -> Self {
        Self::Option { name, among }
    }

    /// Whether checked options fulfil it, beside models of this kind.
    pub fn holds(&self, options: &Options, models: ModelKind) -> bool {
        match self {
            Self::Option { name, among } => {
                options.get(name).is_some_and(|value| among.contains(&value.to_string().as_str()))
            }
            Self::Models(kinds) => kinds.contains(&models),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option { name, among } => write!(f, "{name}={}", among.join("|")),
            Self::Models(kinds) => {
                let titles: Vec<_> = kinds.iter().map(|kind| kind.title()).collect();
                f.write_str(&titles.join(" or "))
            }
        }
    }
}

/// Lists of options one after the other.
///
/// # Panics
/// If there are not N of them; in constants the compiler says so.
pub const fn join<const N: usize>(lists: &[&[OptionSpec]]) -> [OptionSpec; N] {
    let mut all = [OptionSpec { name: "", kind: OptionKind::File, help: "", only_with: &[] }; N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            all[at] = lists[list][i];
            (at, i) = (at + 1, i + 1);
        }
        list += 1;
    }
    assert!(at == N, "another number of options");
    all
}

/// The help of an option from its doc comment.
pub const fn help(doc: &'static str) -> &'static str {
    match doc.as_bytes() {
        [b' ', ..] => doc.split_at(1).1,
        _ => doc,
    }
}

/// A checked value for every option of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    values: Vec<Checked>,
}

#[derive(Clone, Debug, PartialEq)]
struct Checked {
    name: &'static str,
    value: Value,
    /// Whether it was asked for, rather than left to its default.
    given: bool,
}

impl Options {
    /// The given values, checked against the tables of their owner, with defaults for the others. The
    /// owner is named in messages, as in "method `zoh`".
    pub fn check(owner: &str, tables: &[&'static [OptionSpec]], given: &[(String, Value)]) -> Result<Self> {
        let specs: Vec<_> = tables.iter().copied().flatten().collect();
        let default =
            |spec: &&OptionSpec| Checked { name: spec.name, value: spec.kind.default_value(), given: false };
        let mut values: Vec<_> = specs.iter().map(default).collect();
        for (name, value) in given {
            let index = specs.iter().position(|spec| spec.name == name);
            let index = index.ok_or_else(|| unknown(owner, name, specs.iter().map(|spec| spec.name)))?;
            let kind = &specs[index].kind;
            values[index].value = kind.accept(value).ok_or_else(|| {
                let message = format!("option `{name}` of {owner} cannot be `{value}`");
                let is_quoted = matches!(value, Value::Text(text) if text.parse().is_ok_and(|number: f64| {
                    kind.accept(&Value::Real(number)).or(kind.accept(&Value::Integer(number as i64))).is_some()
                }));
                let error = Error::new(Code::BadOption, message);
                match is_quoted {
                    true => error.because("it is text").hint(format!("write it without quotes: `{name} = {value}`")),
                    false => error.hint(format!("allowed: {}", kind.allowed())),
                }
            })?;
            if std::mem::replace(&mut values[index].given, true) {
                let message = format!("option `{name}` of {owner} is given twice");
                return Err(Error::new(Code::BadOption, message).hint("leave one of them out"));
            }
        }
        Ok(Self { values })
    }

    /// The options that were given and change nothing, each with the conditions under which they would.
    pub fn without_effect<'a>(
        &'a self,
        specs: impl IntoIterator<Item = &'a OptionSpec> + 'a,
        models: ModelKind,
    ) -> impl Iterator<Item = (&'static str, Vec<Condition>)> + 'a {
        let missing = move |spec: &OptionSpec| {
            let fails = |condition: &&Condition| !condition.holds(self, models);
            spec.only_with.iter().filter(fails).copied().collect::<Vec<_>>()
        };
        let given = specs.into_iter().filter(|spec| self.is_given(spec.name));
        given.map(move |spec| (spec.name, missing(spec))).filter(|(_, missing)| !missing.is_empty())
    }

    /// Another default, as an option that stands for a set of others asks for: what was given keeps its
    /// value, and what is not declared is left out.
    pub fn set_default(&mut self, name: &str, value: Value) {
        let known = self.values.iter_mut().find(|known| known.name == name && !known.given);
        known.into_iter().for_each(|known| known.value = value.clone());
    }

    /// Whether the user has said it.
    pub fn is_given(&self, name: &str) -> bool {
        self.values.iter().any(|known| known.name == name && known.given)
    }

    /// All names and values, in the order of the declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|known| (known.name, &known.value))
    }

    /// The value of an option; none if it is not declared.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|known| known.name == name).map(|known| &known.value)
    }

    /// The same in its own type. Structs of [`options!`](crate::options!) read themselves by it.
    pub fn read<T: OptionType>(&self, name: &str) -> Option<T> {
        self.get(name).and_then(T::from_value)
    }
}

/// An option that is not in the table.
pub fn unknown<'a>(owner: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let known: Vec<_> = known.collect();
    let error = Error::new(Code::UnknownOption, format!("{owner} has no option `{name}`"));
    match owner.strip_prefix("method ").map(|id| id.trim_matches('`')) {
        _ if known.is_empty() => error.hint("it has none"),
        // Options of sources are among those of methods, which is too much for a line: only what is near is named.
        Some(id) => error.hint(nearest(name, &known).map_or_else(
            || format!("`costep methods {id}` lists its options"),
            |near| format!("did you mean `{near}`?"),
        )),
        None => error.suggest(name, known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[OptionSpec] = &[
        OptionSpec {
            name: "alpha",
            kind: OptionKind::Real { default: 1.0, min: 0.0, max: 2.0 },
            help: "",
            only_with: &[Condition::on("reference", &["applied"])],
        },
        OptionSpec {
            name: "reference",
            kind: OptionKind::Choice(&["uncorrected", "applied"]),
            help: "",
            only_with: &[],
        },
    ];

    fn word(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn check(name: &str, value: &str) -> Result<Options> {
        Options::check("method `nepce`", &[SPECS], &[(name.into(), Value::parse(value))])
    }

    #[test]
    fn defaults_and_whole_numbers_as_reals() {
        let options = check("alpha", "2").unwrap();
        assert_eq!(
            (options.read("alpha"), options.get("reference")),
            (Some(2.0), Some(&word("uncorrected")))
        );
    }

    #[test]
    fn what_is_given_twice_is_refused_and_what_changes_nothing_is_named() {
        let given = |texts: &[(&str, &str)]| {
            let given: Vec<_> =
                texts.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
            Options::check("method `nepce`", &[SPECS], &given)
        };
        assert_eq!(given(&[("alpha", "1"), ("alpha", "1")]).unwrap_err().code(), Code::BadOption);
        let idle = |options: Options| {
            options
                .without_effect(SPECS, ModelKind::Local)
                .map(|(name, missing)| format!("{name} {}", missing[0]))
                .collect::<Vec<_>>()
        };
        assert_eq!(idle(given(&[("alpha", "1")]).unwrap()), ["alpha reference=applied"]);
        assert!(idle(given(&[("alpha", "1"), ("reference", "applied")]).unwrap()).is_empty());
        assert!(idle(given(&[]).unwrap()).is_empty());
    }

    #[test]
    fn other_defaults_leave_what_was_given() {
        let mut options = check("alpha", "2").unwrap();
        options.set_default("alpha", Value::Real(0.5));
        options.set_default("reference", word("applied"));
        options.set_default("colour", Value::Bool(true));
        assert_eq!((options.read("alpha"), options.get("reference")), (Some(2.0), Some(&word("applied"))));
    }

    #[test]
    fn bad_values_and_names_are_refused() {
        assert_eq!(check("alpha", "2.5").unwrap_err().code(), Code::BadOption);
        assert_eq!(check("alpha", "nan").unwrap_err().code(), Code::BadOption);
        assert_eq!(check("reference", "aplied").unwrap_err().code(), Code::BadOption);
        assert_eq!(
            check("alhpa", "1").unwrap_err().to_string(),
            "error[E0302]: method `nepce` has no option `alhpa`\n  help: did you mean `alpha`?"
        );
    }
}
