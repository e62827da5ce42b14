//! A system that is built in code, by names.

use std::path::PathBuf;

use costep_core::quantity::exact_time;
use costep_core::{External, Place};
use costep_project::{ConnectEntry, Draft, DraftValue, FmuEntry, Override, Registry};
use costep_system::Component;

use crate::errors::Errors;
use crate::system::System;

/// Inner solver of parts whose equations are written in code, if none is chosen.
const DEFAULT_SOLVER: &str = "dopri5";

/// A connection.
struct Link {
    from: String,
    to: String,
    gain: Option<f64>,
    sum: bool,
}

/// A part that comes from elsewhere.
enum Named {
    Model { name: String, model: String, part: String },
    Fmu { name: String, file: PathBuf },
}

/// Parts, connections and settings of a system. What is wrong is reported all at once by
/// [`SystemBuilder::build`], as it is for project files.
///
/// ```
/// // The two halves of a built-in model under names of our own.
/// let system = costep::System::builder()
///     .name("rig")
///     .model("left", "dual-mass", "s1")
///     .model("right", "dual-mass", "s2")
///     .connect("left.x", "right.x")
///     .connect("left.v", "right.v")
///     .connect("right.F", "left.F")
///     .set("left.m1", "2.0")
///     .method("predictive")
///     .stop(0.5)
///     .step(5e-3)
///     .build()?;
/// assert_eq!(system.name(), "rig");
/// # Ok::<(), costep::Errors>(())
/// ```
pub struct SystemBuilder {
    name: String,
    registry: Registry,
    named: Vec<Named>,
    made: Vec<Box<dyn Component>>,
    connections: Vec<Link>,
    externals: Vec<(String, External, bool)>,
    groups: Vec<(String, String, Vec<String>)>,
    bounds: Vec<(String, f64, f64)>,
    overrides: Vec<Override>,
    has_solver: bool,
}

impl Default for SystemBuilder {
    fn default() -> Self {
        Self {
            name: "system".into(),
            registry: Registry::standard(),
            named: Vec::new(),
            made: Vec::new(),
            connections: Vec::new(),
            externals: Vec::new(),
            groups: Vec::new(),
            bounds: Vec::new(),
            overrides: Vec::new(),
            has_solver: false,
        }
    }
}

impl SystemBuilder {
    /// The name of the system.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Methods and models that may be named.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Adds a part that is written in code: a [`NativePart`](crate::NativePart), a
    /// [`CustomPart`](crate::CustomPart), or equations of your own. Its name is that of its description.
    pub fn native(mut self, part: impl Component + 'static) -> Self {
        self.made.push(Box::new(part));
        self
    }

    /// Adds a part of a model of the registry under a name.
    pub fn model(
        mut self,
        name: impl Into<String>,
        model: impl Into<String>,
        part: impl Into<String>,
    ) -> Self {
        self.named.push(Named::Model { name: name.into(), model: model.into(), part: part.into() });
        self
    }

    /// Adds an FMU under a name.
    pub fn fmu(mut self, name: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        self.named.push(Named::Fmu { name: name.into(), file: file.into() });
        self
    }

    /// Connects an output to an input, both `part.port`: this is its only source.
    pub fn connect(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.link(Link { from: from.into(), to: to.into(), gain: None, sum: false })
    }

    /// The same with a factor, for example between different units.
    pub fn connect_scaled(self, from: impl Into<String>, to: impl Into<String>, gain: f64) -> Self {
        self.link(Link { from: from.into(), to: to.into(), gain: Some(gain), sum: false })
    }

    /// Adds an output, times a factor, to what else feeds an input; the other sources have to be added too.
    pub fn add_connection(self, from: impl Into<String>, to: impl Into<String>, gain: f64) -> Self {
        self.link(Link { from: from.into(), to: to.into(), gain: Some(gain), sum: true })
    }

    fn link(mut self, link: Link) -> Self {
        self.connections.push(link);
        self
    }

    /// Drives an input, `part.port`, from outside: this is its only source.
    pub fn drive(mut self, to: impl Into<String>, external: External) -> Self {
        self.externals.push((to.into(), external, false));
        self
    }

    /// Adds an external input to what else feeds an input; the other sources have to be added too.
    pub fn add_external(mut self, to: impl Into<String>, external: External) -> Self {
        self.externals.push((to.into(), external, true));
        self
    }

    /// Sets a parameter of a part, `engine.J`, or any key of a project file: `schedule.kind`, `run.threads`.
    pub fn set(mut self, path: impl Into<String>, value: impl Into<String>) -> Self {
        let (path, value) = (path.into(), value.into());
        let flag = format!("{path} = {value}");
        self.overrides.push(Override::new(path, value, flag));
        self
    }

    /// The coupling method: `predictive`, `nepce:reference=applied,alpha=0.5`.
    pub fn method(self, method: impl Into<String>) -> Self {
        self.set("method", method)
    }

    /// Another coupling method for some inputs, with `*` as wildcard.
    pub fn group(mut self, name: impl Into<String>, method: impl Into<String>, inputs: &[&str]) -> Self {
        let inputs = inputs.iter().map(|input| (*input).to_owned()).collect();
        self.groups.push((name.into(), method.into(), inputs));
        self
    }

    /// Inner solver of native parts: `euler:10us`, `rk4:10us`, `dopri5:1e-9`, `bdf:1e-8`, `adams`, `exact`.
    pub fn solver(mut self, solver: impl Into<String>) -> Self {
        self.has_solver = true;
        self.set("system.solver", solver)
    }

    /// Start in s; 0 if nothing is said.
    pub fn start(self, time: f64) -> Self {
        self.set("system.start", exact_time(time))
    }

    /// End in s.
    pub fn stop(self, time: f64) -> Self {
        self.set("system.stop", exact_time(time))
    }

    /// Macro step in s.
    pub fn step(self, step: f64) -> Self {
        self.set("step.size", exact_time(step))
    }

    /// Ends runs with an error when this output, `part.port`, leaves these bounds.
    pub fn bounds(mut self, output: impl Into<String>, min: f64, max: f64) -> Self {
        self.bounds.push((output.into(), min, max));
        self
    }

    /// Checks everything.
    pub fn build(self) -> Result<System, Errors> {
        // Names of files are relative to the present folder.
        let here = std::env::current_dir().unwrap_or_default().join(&self.name);
        let mut draft = Draft::new(self.name.clone(), here);
        let place = draft.provenance(Place::Nowhere);
        for named in self.named {
            match named {
                Named::Model { name, model, part } => {
                    draft.set(&["native", &name, "model"], DraftValue::Text(model), place);
                    draft.set(&["native", &name, "part"], DraftValue::Text(part), place);
                }
                Named::Fmu { name, file } => {
                    draft.add_fmu(FmuEntry {
                        name,
                        file,
                        interface: None,
                        set: Vec::new(),
                        provenance: place,
                    });
                }
            }
        }
        if !self.has_solver && self.made.iter().any(|part| part.ode().is_some()) {
            draft.set(&["system", "solver"], DraftValue::Text(DEFAULT_SOLVER.into()), place);
        }
        self.made.into_iter().for_each(|part| draft.add_part(part, place));
        for Link { from, to, gain, sum } in self.connections {
            let (offset, map, convert) = (0.0, Vec::new(), false);
            draft.connect(ConnectEntry { from, to, gain, offset, map, convert, sum, provenance: place });
        }
        for (to, external, sum) in &self.externals {
            draft.drive(to, external, *sum, place);
        }
        for (output, min, max) in self.bounds {
            draft.set(&["guard", "bounds", &output], DraftValue::Numbers(vec![min, max]), place);
        }
        let mut overrides = self.overrides;
        for (name, method, inputs) in self.groups {
            draft.set(&["group", &name, "inputs"], DraftValue::Texts(inputs), place);
            let flag = format!("group {name}: {method}");
            overrides.push(Override::new(format!("group.{name}"), method, flag));
        }
        let project = draft.load(&self.registry, &overrides)?;
        Ok(System::new(project, self.registry))
    }
}
