//! Options of coupling methods: declared once, checked once, read by name.

use std::fmt;

use crate::{Code, Error, Result};

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// true or false.
    Bool(bool),
    /// A whole number.
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
    /// A whole number from `min` to `max`.
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
            Self::Integer { min, max, .. } => format!("a whole number from {min} to {max}"),
            Self::Real { min, max, .. } => format!("a number from {min} to {max}"),
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

/// An option of a coupling method.
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

/// That another option of the method, a choice or a truth value, has one of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Name of the other option.
    pub option: &'static str,
    /// The values.
    pub among: &'static [&'static str],
}

impl Condition {
    /// Whether checked options fulfil it.
    ///
    /// # Panics
    /// If the method did not declare the option.
    pub fn holds(&self, options: &Options) -> bool {
        let value = options.get(self.option).to_string();
        self.among.contains(&value.as_str())
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.option, self.among.join("|"))
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

/// A checked value for every option of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    values: Vec<(&'static str, Value)>,
    /// Which of them were asked for, rather than left to their defaults.
    given: Vec<bool>,
}

impl Options {
    /// The given values, checked against the declaration, with defaults for the others.
    pub fn check(method: &str, specs: &'static [OptionSpec], given: &[(String, Value)]) -> Result<Self> {
        let mut values: Vec<_> = specs.iter().map(|spec| (spec.name, spec.kind.default_value())).collect();
        let mut asked_for = vec![false; specs.len()];
        for (name, value) in given {
            let index = specs.iter().position(|spec| spec.name == name).ok_or_else(|| {
                let error =
                    Error::new(Code::UnknownOption, format!("method `{method}` has no option `{name}`"));
                if specs.is_empty() {
                    error.hint("it has none")
                } else {
                    error.suggest(name, specs.iter().map(|s| s.name))
                }
            })?;
            values[index].1 = specs[index].kind.accept(value).ok_or_else(|| {
                let message = format!("option `{name}` of method `{method}` cannot be `{value}`");
                Error::new(Code::BadOption, message).hint(format!("allowed: {}", specs[index].kind.allowed()))
            })?;
            if std::mem::replace(&mut asked_for[index], true) {
                let message = format!("option `{name}` of method `{method}` is given twice");
                return Err(Error::new(Code::BadOption, message).hint("leave one of them out"));
            }
        }
        Ok(Self { values, given: asked_for })
    }

    /// The options that were given and change nothing, each with the conditions under which they would.
    pub fn without_effect<'a>(
        &'a self,
        specs: &'a [OptionSpec],
    ) -> impl Iterator<Item = (&'static str, Vec<Condition>)> + 'a {
        let missing = |spec: &OptionSpec| {
            spec.only_with.iter().filter(|condition| !condition.holds(self)).copied().collect::<Vec<_>>()
        };
        let given = specs.iter().filter(|spec| self.is_given(spec.name));
        given.map(move |spec| (spec.name, missing(spec))).filter(|(_, missing)| !missing.is_empty())
    }

    /// The same with other defaults, as an option that stands for a set of others asks for: what was given keeps its value.
    ///
    /// # Panics
    /// If the method did not declare one of them.
    #[must_use]
    pub fn with_defaults(mut self, defaults: &[(&str, Value)]) -> Self {
        for (name, value) in defaults {
            let index = self.index(name);
            if !self.given[index] {
                self.values[index].1 = value.clone();
            }
        }
        self
    }

    /// Whether the user has said it.
    ///
    /// # Panics
    /// If the method did not declare it.
    pub fn is_given(&self, name: &str) -> bool {
        self.given[self.index(name)]
    }

    /// All names and values, in the order of the declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(name, value)| (*name, value))
    }

    /// A true-or-false option.
    ///
    /// # Panics
    /// If the method did not declare it so; the conformance tests build every method.
    pub fn bool(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Bool(value) => *value,
            other => panic!("option `{name}` is {other}, not a truth value"),
        }
    }

    /// A whole-number option.
    ///
    /// # Panics
    /// If the method did not declare it so.
    pub fn integer(&self, name: &str) -> i64 {
        match self.get(name) {
            Value::Integer(value) => *value,
            other => panic!("option `{name}` is {other}, not a whole number"),
        }
    }

    /// A number option.
    ///
    /// # Panics
    /// If the method did not declare it so.
    pub fn real(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Real(value) => *value,
            other => panic!("option `{name}` is {other}, not a number"),
        }
    }

    /// A choice, or the path of a file.
    ///
    /// # Panics
    /// If the method did not declare it so.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Text(value) => value,
            other => panic!("option `{name}` is {other}, not a word"),
        }
    }

    fn get(&self, name: &str) -> &Value {
        &self.values[self.index(name)].1
    }

    fn index(&self, name: &str) -> usize {
        let found = self.values.iter().position(|(declared, _)| *declared == name);
        found.unwrap_or_else(|| panic!("option `{name}` is not declared"))
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
            only_with: &[Condition { option: "reference", among: &["applied"] }],
        },
        OptionSpec {
            name: "reference",
            kind: OptionKind::Choice(&["uncorrected", "applied"]),
            help: "",
            only_with: &[],
        },
    ];

    fn check(name: &str, value: &str) -> Result<Options> {
        Options::check("nepce", SPECS, &[(name.into(), Value::parse(value))])
    }

    #[test]
    fn defaults_and_whole_numbers_as_reals() {
        let options = check("alpha", "2").unwrap();
        assert_eq!((options.real("alpha"), options.text("reference")), (2.0, "uncorrected"));
    }

    #[test]
    fn what_is_given_twice_is_refused_and_what_changes_nothing_is_named() {
        let given = |texts: &[(&str, &str)]| {
            let given: Vec<_> =
                texts.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
            Options::check("nepce", SPECS, &given)
        };
        assert_eq!(given(&[("alpha", "1"), ("alpha", "1")]).unwrap_err().code(), Code::BadOption);
        let idle = |options: Options| {
            options
                .without_effect(SPECS)
                .map(|(name, missing)| format!("{name} {}", missing[0]))
                .collect::<Vec<_>>()
        };
        assert_eq!(idle(given(&[("alpha", "1")]).unwrap()), ["alpha reference=applied"]);
        assert!(idle(given(&[("alpha", "1"), ("reference", "applied")]).unwrap()).is_empty());
        assert!(idle(given(&[]).unwrap()).is_empty());
    }

    #[test]
    fn other_defaults_leave_what_was_given() {
        let other = [("alpha", Value::Real(0.5)), ("reference", Value::Text("applied".into()))];
        let options = check("alpha", "2").unwrap().with_defaults(&other);
        assert_eq!((options.real("alpha"), options.text("reference")), (2.0, "applied"));
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
