//! Plans of many runs: one system, and what is varied of it, its method and its step.

mod read;

use std::path::Path;

use costep_core::quantity::{exact_time, format_time};
use costep_core::{Code, Error, Result, Value};
use costep_experiments::{Factor, Factorial};
use costep_methods::MethodSpec;

use crate::overrides::{DEFAULT_METHOD, Override};
use crate::project::Project;
use crate::registry::Registry;
use crate::source;

/// More runs than this are a mistake: at a millisecond each they take half a day.
const MOST_RUNS: usize = 50_000_000;

/// Different mistakes in the levels of one factor that are told at once.
const MOST_FLAWS: usize = 5;

/// Codes of errors about the name of what is varied, whatever its level.
const OF_NAMES: [Code; 5] =
    [Code::UnknownParameter, Code::UnknownName, Code::UnknownKey, Code::CommandLine, Code::BadOption];

/// What a factor of a plan varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varied {
    /// The coupling method; levels are methods with options, as text.
    Method,
    /// An option of the method, or of the source of its models.
    Option,
    /// A parameter of the system, or any key of its project.
    Parameter,
    /// The macro step in s.
    Step,
}

/// A factor and what it varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it varies.
    pub varied: Varied,
    /// Name and levels.
    pub factor: Factor,
}

/// Which error is analysed, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnalysisSpec {
    /// Name of the error: `eps_mono`, `eps_mean` or `sigma_mono`.
    pub error: &'static str,
    /// Greater errors, and those of runs that diverge, count as this.
    pub saturate: f64,
    /// Nearly optimal are runs whose error is greater than the least by this share at most,
    pub within: f64,
    /// and so many of them at least.
    pub at_least: usize,
}

/// Errors that can be analysed; the first is the default.
pub const ERRORS: [&str; 3] = ["eps_mono", "eps_mean", "sigma_mono"];

impl Default for AnalysisSpec {
    /// The rules of [T 3.2.1].
    fn default() -> Self {
        Self { error: ERRORS[0], saturate: 1.0, within: 0.1, at_least: 1 }
    }
}

/// Many runs of one system.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// The system: a built-in model or a file.
    pub system: String,
    /// What is changed in it for all runs.
    pub changes: Vec<Override>,
    /// The method of all runs where none is varied; that of the system if nothing is said.
    pub method: Option<String>,
    /// What runs are measured against, as in `--reference`.
    pub reference: String,
    /// What is varied.
    pub axes: Vec<Axis>,
    /// What is asked of the results.
    pub analysis: AnalysisSpec,
}

impl Plan {
    /// A plan without anything varied.
    pub fn new(system: impl Into<String>) -> Self {
        let system = system.into();
        Self {
            name: source::default_name(Path::new(&system)).unwrap_or_else(|| system.clone()),
            system,
            changes: Vec::new(),
            method: None,
            reference: "same".into(),
            axes: Vec::new(),
            analysis: AnalysisSpec::default(),
        }
    }

    /// Reads a plan from a file. All mistakes are reported at once, each with its line.
    pub fn open(path: &Path, registry: &Registry) -> Result<Self, Vec<Error>> {
        let text = source::read(path).map_err(|error| vec![error])?;
        Self::from_toml(&text, path, registry)
    }

    /// The same from its text; `path` is where the system is looked for.
    pub fn from_toml(text: &str, path: &Path, registry: &Registry) -> Result<Self, Vec<Error>> {
        read::plan(text, path, registry)
    }

    /// All its points.
    pub fn factorial(&self) -> Factorial {
        Factorial::new(self.axes.iter().map(|axis| axis.factor.clone()).collect())
    }

    /// The number of runs.
    pub fn runs(&self) -> Result<usize> {
        let plan = self.factorial();
        plan.points().filter(|points| *points <= MOST_RUNS).ok_or_else(|| {
            let sizes: Vec<String> = plan.sizes().iter().map(usize::to_string).collect();
            Error::new(Code::PlanTooLarge, format!("the plan has {} runs", sizes.join(" x ")))
                .because(format!("the most are {MOST_RUNS}"))
        })
    }

    /// The system with changes: those of the plan, and for the levels of its parameters at a point.
    pub fn load(&self, registry: &Registry, levels: &[&Value]) -> Result<Project, Vec<Error>> {
        let own = self.axes.iter().zip(levels).filter(|(axis, _)| axis.varied == Varied::Parameter);
        let own = own.map(|(axis, level)| {
            let flag = format!("{} = {}", axis.factor.name, level_text(axis, level));
            Override { flag: format!("the level {flag}"), ..change(&axis.factor.name, level) }
        });
        let overrides: Vec<Override> = self.changes.iter().cloned().chain(own).collect();
        registry.load(&registry.source(&self.system).map_err(|error| vec![error])?, &overrides)
    }

    /// The method at a point; nothing if it is that of the system.
    pub fn method_at(&self, registry: &Registry, levels: &[&Value]) -> Result<Option<MethodSpec>> {
        let of = |varied: Varied| self.axes.iter().zip(levels).filter(move |(axis, _)| axis.varied == varied);
        let named = of(Varied::Method).next().map(|(_, level)| level.to_string());
        let mut options = of(Varied::Option).peekable();
        let Some(text) = named.or_else(|| self.method.clone()) else {
            return match options.peek() {
                Some(_) => Err(Error::new(Code::Missing, "options are varied, but the plan names no method")
                    .hint("write `method = \"...\"` in [plan]")),
                None => Ok(None),
            };
        };
        let base = registry.method(&text)?;
        let mut given = base.given().to_vec();
        for (axis, level) in options {
            given.retain(|(name, _)| *name != axis.factor.name);
            given.push((axis.factor.name.clone(), (*level).clone()));
        }
        registry.methods().spec(base.entry, given).map(Some)
    }

    /// The step at a point, if it is varied.
    pub fn step_at(&self, levels: &[&Value]) -> Option<f64> {
        let step = self.axes.iter().zip(levels).find(|(axis, _)| axis.varied == Varied::Step)?.1;
        match step {
            Value::Real(step) => Some(*step),
            _ => None,
        }
    }

    /// What is wrong with the levels of an axis, each tried alone beside the first levels of the others.
    pub fn flaws(&self, registry: &Registry, axis: usize) -> Vec<Error> {
        let factor = &self.axes[axis].factor;
        let mut flaws = Vec::new();
        if let Some(few) = ["no levels", "one level only"].get(factor.levels.len()) {
            flaws.push(Error::new(Code::BadLevels, format!("`{}` has {few}", factor.name)));
        }
        if self.axes[..axis].iter().any(|before| before.factor.name == factor.name) {
            let message = format!("`{}` is varied twice", factor.name);
            flaws.push(Error::new(Code::BadLevels, message).hint("write all its levels at one place"));
        }
        if let Some(twice) =
            (1..factor.levels.len()).find(|k| factor.levels[..*k].contains(&factor.levels[*k]))
        {
            let message = format!("`{}` has the level {} twice", factor.name, factor.levels[twice]);
            flaws.push(Error::new(Code::BadLevels, message).hint("leave one of them out"));
        }
        // What is wrong with the name is wrong at every level, and told once.
        let mut told: Vec<String> = Vec::new();
        for level in &factor.levels {
            let Err(error) = self.try_level(registry, axis, level) else { continue };
            if told.contains(&error.details().message) {
                continue;
            }
            told.push(error.details().message.clone());
            flaws.push(error);
            if told.len() == MOST_FLAWS {
                break;
            }
        }
        flaws
    }

    /// What is wrong with the name of an axis whose levels could not be read.
    pub(crate) fn flaw_of_name(&self, registry: &Registry, axis: &Axis) -> Option<Error> {
        let level = Value::Integer(1);
        let own = Axis { factor: Factor::new(&axis.factor.name, vec![level.clone()]), ..axis.clone() };
        let alone = Self { axes: self.axes.iter().cloned().chain([own]).collect(), ..self.clone() };
        let error = alone.try_level(registry, self.axes.len(), &level).err()?;
        OF_NAMES.contains(&error.code()).then_some(error)
    }

    /// Whether a level can be used, whatever is wrong with other axes.
    fn try_level(&self, registry: &Registry, axis: usize, level: &Value) -> Result<()> {
        let own = self.axes[axis].clone();
        let alone = |axes: Vec<Axis>| Self { axes, ..self.clone() };
        match own.varied {
            Varied::Parameter => {
                let loaded = alone(vec![own]).load(registry, &[level]);
                loaded.map(|_| ()).map_err(|mut errors| without_level(errors.swap_remove(0)))
            }
            Varied::Method => alone(vec![own]).method_at(registry, &[level]).map(|_| ()),
            Varied::Option => {
                let methods = self.axes.iter().find(|axis| axis.varied == Varied::Method);
                // A method that does not exist is the mistake of another line.
                let Some(methods) = methods else {
                    let known = self.method.as_ref().is_none_or(|text| registry.method(text).is_ok());
                    return if known {
                        alone(vec![own]).method_at(registry, &[level]).map(|_| ())
                    } else {
                        Ok(())
                    };
                };
                let plan = alone(vec![methods.clone(), own]);
                let known =
                    methods.factor.levels.iter().filter(|text| registry.method(&text.to_string()).is_ok());
                known
                    .map(|method| plan.method_at(registry, &[method, level]))
                    .try_for_each(|tried| tried.map(|_| ()))
            }
            // Only the system knows how long it runs.
            Varied::Step => Ok(()),
        }
    }

    /// The text that tells this plan from others. In which process an FMU runs changes no row, and a plan goes on with
    /// another choice after a crash.
    pub fn identity(&self) -> String {
        let changes = self.changes.iter().filter(|given| !given.says_where_it_runs());
        let changes: Vec<_> = changes.map(|given| format!("{}={}", given.path, given.value)).collect();
        let method = self.method.as_deref().unwrap_or(DEFAULT_METHOD);
        let axis = |axis: &Axis| format!("{:?} {} {:?}", axis.varied, axis.factor.name, axis.factor.levels);
        let axes: Vec<_> = self.axes.iter().map(axis).collect();
        format!("{}\n{}\n{method}\n{}\n{}", self.system, changes.join(" "), self.reference, axes.join("\n"))
    }
}

/// An error that is the same for all levels does not name one.
fn without_level(error: Error) -> Error {
    if !OF_NAMES.contains(&error.code()) {
        return error;
    }
    let details = error.details();
    let again = Error::new(details.code, details.message.clone());
    details.hint.iter().fold(again, |error, hint| error.hint(hint))
}

/// The change of a project that a level of a parameter is.
pub(crate) fn change(path: &str, level: &Value) -> Override {
    let value = match level {
        Value::Real(value) => format!("{value:?}"),
        other => other.to_string(),
    };
    let flag = format!("{path} = {value}");
    Override::new(path, value, flag)
}

/// A level as people read it: steps with their unit.
pub fn level_text(axis: &Axis, level: &Value) -> String {
    match (axis.varied, level) {
        (Varied::Step, Value::Real(step)) => {
            let rounded: f64 = format!("{step:.3e}").parse().unwrap_or(*step);
            format_time(rounded)
        }
        (_, Value::Real(value)) => {
            let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(*value);
            if rounded != 0.0 && !(1e-3..1e5).contains(&rounded.abs()) {
                format!("{rounded:e}")
            } else {
                rounded.to_string()
            }
        }
        (_, other) => other.to_string(),
    }
}

/// The changes of a project that levels are, exactly: those of parameters, and the step.
pub fn changes_of(plan: &Plan, levels: &[Value]) -> Vec<Override> {
    let one = |(axis, level): (&Axis, &Value)| match (axis.varied, level) {
        (Varied::Parameter, level) => Some(change(&axis.factor.name, level)),
        (Varied::Step, Value::Real(step)) => {
            Some(Override::new("step.size", exact_time(*step), format!("step {}", exact_time(*step))))
        }
        _ => None,
    };
    plan.changes.iter().cloned().chain(plan.axes.iter().zip(levels).filter_map(one)).collect()
}
