//! A system as the Python package describes it: something to open, or parts and connections. It can be sent to another
//! process, but for parts that are written in Python.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use costep::{Code, Component, Error, Errors, External, Override, Registry, System};
use costep_core::{Place, Port};
use costep_project::{ConnectEntry, Draft, DraftValue, FmuEntry, LinearSpec};
use serde::{Deserialize, Serialize};

use crate::code_part::CodePart;

/// Inner solver of parts with equations, if none is chosen.
const DEFAULT_SOLVER: &str = "dopri5";

/// A system.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Recipe {
    /// What is opened: a file, a folder, a built-in model.
    source: Option<String>,
    /// Else the text of a project file.
    text: Option<String>,
    /// Names of files are relative to this folder.
    folder: PathBuf,
    name: String,
    /// Else the parts.
    parts: Vec<PartRecipe>,
    connections: Vec<ConnectRecipe>,
    signals: Vec<SignalRecipe>,
    /// Keys of a project with their values, as `--set` has them.
    changes: Vec<(String, String)>,
    /// Whether a system of another tool may refer to files anywhere.
    allow_outside: bool,
}

/// A part.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum PartRecipe {
    Fmu { name: String, file: PathBuf },
    Model { name: String, model: String, part: String },
    Linear(LinearRecipe),
    Code(CodeRecipe),
}

/// A port: name, unit, typical size.
pub(crate) type PortRecipe = (String, String, f64);

/// x' = A x + B u, y = C x + D u, matrices row by row.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct LinearRecipe {
    name: String,
    inputs: Vec<PortRecipe>,
    outputs: Vec<PortRecipe>,
    matrices: [Vec<f64>; 4],
    start: Vec<f64>,
}

/// A part that is written in Python.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct CodeRecipe {
    pub(crate) name: String,
    pub(crate) inputs: Vec<PortRecipe>,
    pub(crate) outputs: Vec<PortRecipe>,
    /// Initial states of equations; nothing for parts that step by themselves.
    pub(crate) start: Option<Vec<f64>>,
    /// Whether outputs follow inputs without delay.
    pub(crate) direct: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct ConnectRecipe {
    from: String,
    to: String,
    gain: Option<f64>,
    offset: f64,
    convert: bool,
    sum: bool,
}

/// An external input.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct SignalRecipe {
    to: String,
    shape: Shape,
    sum: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Shape {
    Constant(f64),
    Step { value: f64, start: f64 },
    Sine { amplitude: f64, frequency: f64, phase: f64, start: f64 },
    Table(Vec<(f64, f64)>),
    Stairs(Vec<(f64, f64)>),
}

impl Shape {
    fn external(&self) -> External {
        match self {
            Self::Constant(value) => External::Constant(*value),
            Self::Step { value, start } => External::Step { value: *value, start: *start },
            Self::Sine { amplitude, frequency, phase, start } => {
                External::Sine { amplitude: *amplitude, frequency: *frequency, phase: *phase, start: *start }
            }
            Self::Table(points) => External::Table(points.clone()),
            Self::Stairs(points) => External::Stairs(points.clone()),
        }
    }
}

/// Ports as the library has them; no unit is an empty one.
pub(crate) fn ports(recipes: &[PortRecipe]) -> Vec<Port> {
    let port = |(name, unit, nominal): &PortRecipe| Port {
        unit: (!unit.is_empty()).then(|| unit.clone()),
        ..Port::new(name, unit, *nominal)
    };
    recipes.iter().map(port).collect()
}

impl LinearRecipe {
    fn spec(&self) -> LinearSpec {
        let ports = |recipes: &[PortRecipe]| {
            recipes.iter().map(|(name, unit, _)| (name.clone(), unit.clone())).collect()
        };
        LinearSpec {
            name: self.name.clone(),
            inputs: ports(&self.inputs),
            outputs: ports(&self.outputs),
            matrices: self.matrices.clone(),
            start: self.start.clone(),
        }
    }
}

/// Parts that are written in Python, by their names.
pub(crate) type CodeParts = HashMap<String, Arc<CodePart>>;

impl Recipe {
    /// Reads one that the package has written.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
            .map_err(|cause| Error::new(Code::Bug, "a recipe cannot be read").because(cause))
    }

    /// Its parts that are written in Python.
    pub(crate) fn code(&self) -> impl Iterator<Item = &CodeRecipe> {
        self.parts.iter().filter_map(|part| match part {
            PartRecipe::Code(code) => Some(code),
            _ => None,
        })
    }

    /// The change that gives an FMU a process of its own.
    pub(crate) fn isolated(fmu: &str, isolation: &str) -> (String, String) {
        // A path of names has no escapes.
        let quote = if fmu.contains('"') { '\'' } else { '"' };
        (format!("fmu.{quote}{fmu}{quote}.isolation"), isolation.to_owned())
    }

    /// Whether this is among its changes.
    pub(crate) fn has(&self, change: &(String, String)) -> bool {
        self.changes.contains(change)
    }

    /// The same with further changes.
    pub(crate) fn changed(&self, changes: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut changed = self.clone();
        changed.changes.extend(changes);
        changed
    }

    /// Reads and checks the system. All mistakes are reported at once.
    pub(crate) fn load(&self, registry: Registry, code: &CodeParts) -> Result<System, Errors> {
        let flagged =
            |(path, value): &(String, String)| Override::new(path, value, format!("{path} = {value}"));
        let mut overrides: Vec<Override> =
            self.allow_outside.then(Override::allow_outside).into_iter().collect();
        overrides.extend(self.changes.iter().map(flagged));
        if let Some(source) = &self.source {
            return System::opening(source).overridden(overrides).registry(registry).open();
        }
        let file = self.folder.join("system.toml");
        let project = match &self.text {
            Some(text) => registry.load_text(text, &file, &overrides)?,
            None => self.draft(file, code)?.load(&registry, &overrides)?,
        };
        Ok(System::new(project, registry))
    }

    fn draft(&self, file: PathBuf, code: &CodeParts) -> Result<Draft, Error> {
        let mut draft = Draft::new(self.name.clone(), file);
        let provenance = draft.provenance(Place::Nowhere);
        let has_solver = self.changes.iter().any(|(path, _)| path == "system.solver");
        let solves = |draft: &mut Draft| {
            if !has_solver {
                draft.set(&["system", "solver"], DraftValue::Text(DEFAULT_SOLVER.into()), provenance);
            }
        };
        for part in &self.parts {
            let made: Box<dyn Component> = match part {
                PartRecipe::Fmu { name, file } => {
                    let (name, file) = (name.clone(), file.clone());
                    draft.add_fmu(FmuEntry { name, file, interface: None, set: Vec::new(), provenance });
                    continue;
                }
                PartRecipe::Model { name, model, part } => {
                    draft.set(&["native", name, "model"], DraftValue::Text(model.clone()), provenance);
                    draft.set(&["native", name, "part"], DraftValue::Text(part.clone()), provenance);
                    continue;
                }
                PartRecipe::Linear(linear) => {
                    let linear = linear.spec();
                    // What is wrong with it is said before anything else.
                    linear.part()?;
                    draft.add_linear(&linear, provenance);
                    solves(&mut draft);
                    continue;
                }
                PartRecipe::Code(recipe) => {
                    code.get(&recipe.name).ok_or_else(|| not_here(&recipe.name))?.component()
                }
            };
            if made.has_equations() {
                solves(&mut draft);
            }
            draft.add_part(made, provenance);
        }
        for link in &self.connections {
            let ConnectRecipe { from, to, gain, offset, convert, sum } = link.clone();
            let map = Vec::new();
            draft.connect(ConnectEntry { from, to, gain, offset, map, convert, sum, provenance });
        }
        for signal in &self.signals {
            draft.drive(&signal.to, &signal.shape.external(), signal.sum, provenance);
        }
        Ok(draft)
    }
}

#[cold]
fn not_here(name: &str) -> Error {
    Error::new(Code::PythonMisuse, format!("the Python object of the part `{name}` is not in this process"))
}
