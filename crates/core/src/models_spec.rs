//! Sources of models as an axis beside the coupling methods: their registry rows, and a source with its
//! options.

use crate::{Code, Error, ModelSource, OptionSpec, Options, Result, Value};

/// What kind of models of the subsystems a source gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// A, B, C, D and the states at communication points, in the coordinates of the subsystem.
    Local,
    /// The same from responses alone: states in coordinates that the source has chosen.
    Realised,
    /// y^(k+1) = S_y y^k + S_u u^k + S_p u^(k+1) + c, from one communication point to the next.
    Discrete,
}

impl ModelKind {
    /// A, B, C, D, whatever the coordinates.
    pub const CONTINUOUS: &'static [Self] = &[Self::Local, Self::Realised];
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Local, Self::Realised, Self::Discrete];

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Local => "local models A, B, C, D with the states of the subsystem",
            Self::Realised => {
                "local models A, B, C, D from responses, with states in coordinates of their own"
            }
            Self::Discrete => "discrete models of a macro step",
        }
    }
}

/// How models come about, as far as a method has to know before it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learning {
    /// They are there from the first step on.
    Nothing,
    /// Sample by sample.
    Recursive,
    /// From a window of samples.
    Window,
    /// They were learnt in an earlier run, and go on from there.
    Earlier,
}

/// What a source with its options gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelsOffer {
    /// The kind of models.
    pub kind: ModelKind,
    /// What the matrices do not explain is known anew at every communication point.
    pub current: bool,
    /// How they come about.
    pub learning: Learning,
    /// They are learnt from samples inside the macro steps.
    pub micro_samples: bool,
    /// They come from trial steps, for which subsystems return to a stored state.
    pub trial_steps: bool,
}

/// One row of the registry of sources of models: command line, project files, documentation and the
/// conformance tests derive from it.
pub struct SourceEntry {
    /// Short name, `rls`.
    pub id: &'static str,
    /// Long name.
    pub title: &'static str,
    /// What it does, in a few sentences.
    pub summary: &'static str,
    /// What it asks of the subsystems.
    pub needs: &'static str,
    /// Paper and place.
    pub source: &'static str,
    /// The kind of its models.
    pub kind: ModelKind,
    /// Its options.
    pub options: &'static [OptionSpec],
    /// Sets defaults that depend on what was given.
    pub settle: fn(&mut Options),
    /// What it gives with checked options.
    pub offer: fn(&Options) -> ModelsOffer,
    /// Builds it from checked options.
    pub build: fn(&Options) -> Box<dyn ModelSource>,
}

/// A source of models with checked options.
#[derive(Clone)]
pub struct ModelsSpec {
    /// Its row in the registry.
    pub entry: &'static SourceEntry,
    /// A value for each of its options.
    pub options: Options,
    given: Vec<(String, Value)>,
}

impl ModelsSpec {
    /// A source with these options.
    pub fn new(entry: &'static SourceEntry, given: Vec<(String, Value)>) -> Result<Self> {
        let mut options = Options::check(&format!("source `{}`", entry.id), &[entry.options], &given)?;
        (entry.settle)(&mut options);
        Ok(Self { entry, options, given })
    }

    /// The options that were given.
    pub fn given(&self) -> &[(String, Value)] {
        &self.given
    }

    /// What it gives.
    pub fn offer(&self) -> ModelsOffer {
        (self.entry.offer)(&self.options)
    }

    /// A fresh instance.
    pub fn build(&self) -> Box<dyn ModelSource> {
        (self.entry.build)(&self.options)
    }

    /// The text it can be made from: `rls:n=2`.
    pub fn label(&self) -> String {
        labelled(self.entry.id, &self.given)
    }

    /// What was given and changes nothing beside the other options.
    pub fn warnings(&self) -> impl Iterator<Item = Error> {
        self.options.without_effect(self.entry.options, self.entry.kind).map(|(name, missing)| {
            let missing: Vec<_> = missing.iter().map(|condition| format!("`{condition}`")).collect();
            without_effect(name, &self.label(), &missing.join(" and "))
        })
    }

    /// The options that have an effect.
    fn effective(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let counts = |spec: &OptionSpec| {
            spec.only_with.iter().all(|condition| condition.holds(&self.options, self.entry.kind))
        };
        let specs = self.entry.options.iter();
        self.options.iter().zip(specs).filter(move |(_, spec)| counts(spec)).map(|(option, _)| option)
    }
}

/// What comes to the same is equal, however it is said.
impl PartialEq for ModelsSpec {
    fn eq(&self, other: &Self) -> bool {
        self.entry.id == other.entry.id && self.effective().eq(other.effective())
    }
}

/// `id`, or `id:name=value,name=value`.
pub fn labelled<'a>(id: &str, given: impl IntoIterator<Item = &'a (String, Value)>) -> String {
    let options: Vec<_> = given.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    if options.is_empty() { id.into() } else { format!("{id}:{}", options.join(",")) }
}

/// The reverse: a name, and the options after a colon.
pub fn parse_label(text: &str) -> Result<(&str, Vec<(String, Value)>)> {
    let (id, options) = text.split_once(':').unwrap_or((text, ""));
    let given = options.split(',').filter(|option| !option.trim().is_empty()).map(|option| {
        let (name, value) = option.split_once('=').ok_or_else(|| {
            let is_decimals = option.trim().bytes().all(|byte| byte.is_ascii_digit());
            Error::new(Code::BadOption, format!("`{option}` in `{text}` is not an option")).hint(
                match is_decimals {
                    true => "commas separate options: write a decimal point, as in `nepce:alpha=0.5`",
                    false => "write `name:option=value,option=value`",
                },
            )
        })?;
        Ok((name.trim().to_owned(), Value::parse(value.trim())))
    });
    Ok((id.trim(), given.collect::<Result<_>>()?))
}

/// An option that changes nothing, because it is for something else.
pub fn without_effect(option: &str, label: &str, belongs_to: &str) -> Error {
    Error::new(Code::OptionWithoutEffect, format!("option `{option}` of `{label}` has no effect"))
        .because(format!("it is only for {belongs_to}"))
        .hint("leave it out, or choose what it belongs to")
}
