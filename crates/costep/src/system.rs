//! A system that is ready to be run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use costep_core::{Code, Error, Result};
use costep_ident::ModelFile;
use costep_project::{Override, Project, Registry, Source, check_step};

use crate::builder::SystemBuilder;
use crate::comparison::{Compared, Comparison, ComparisonEvent};
use crate::errors::Errors;
use crate::folder::RunFolder;
use crate::names::Names;
use crate::outcome::Outcome;
use crate::reference::ReferenceChoice;
use crate::run::Run;
use crate::simulation::{Simulation, StepObserver};
use crate::solution::Solution;
use crate::stability::IdentifiedModels;

/// A coupled system: parts, connections, method, step. Opened from a project, an .ssp or a built-in model,
/// or built in code ([`System::builder`]). It never changes; copies share everything.
///
/// ```
/// use costep::{Run, System};
///
/// let system = System::open("dual-mass")?;
/// assert_eq!(system.outputs()[0], "s1.x");
/// let outcome = system.run(Run::new().method("predictive").step(5e-3))?;
/// println!("{:?}", outcome.verdict());
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone)]
pub struct System {
    pub(crate) project: Arc<Project>,
    pub(crate) registry: Registry,
    /// Models of its parts that were identified from a run, to judge stability by.
    pub(crate) identified: IdentifiedModels,
}

/// A system on its way to be opened, with changes.
///
/// ```
/// let system = costep::System::opening("dual-mass").set("ck", "2e5").set("step.size", "1ms").open()?;
/// assert_eq!(system.project().model.experiment.step, 1e-3);
/// # Ok::<(), costep::Errors>(())
/// ```
pub struct Opening {
    what: PathBuf,
    overrides: Vec<Override>,
    registry: Registry,
}

impl Opening {
    /// Changes a parameter or any key of the project, as `--set` does: `ck`, `engine.J`, `step.size`,
    /// `method`.
    pub fn set(self, path: impl Into<String>, value: impl Into<String>) -> Self {
        let (path, value) = (path.into(), value.into());
        let flag = format!("{path} = {value}");
        self.overridden([Override::new(path, value, flag)])
    }

    /// Changes with the flags they came from.
    pub fn overridden(mut self, overrides: impl IntoIterator<Item = Override>) -> Self {
        self.overrides.extend(overrides);
        self
    }

    /// Methods, sources, models and solvers that projects may name.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Reads and checks it. All mistakes are reported at once.
    pub fn open(self) -> Result<System, Errors> {
        let source = match self.what.to_str() {
            Some(text) => self.registry.source(text)?,
            // No model has such a name.
            None => Source::File(self.what),
        };
        let project = self.registry.load(&source, &self.overrides)?;
        Ok(System::new(project, self.registry))
    }
}

impl System {
    /// Opens a built-in model by its name, a project file, a folder with a system.toml, or an .ssp.
    pub fn open(what: impl Into<PathBuf>) -> Result<Self, Errors> {
        Self::opening(what).open()
    }

    /// The same with changes.
    pub fn opening(what: impl Into<PathBuf>) -> Opening {
        Opening { what: what.into(), overrides: Vec::new(), registry: Registry::standard() }
    }

    /// The system of a recorded run, by its folder.
    pub fn opening_run(folder: &Path) -> Result<Opening> {
        crate::files::project_copy(folder).map(Self::opening)
    }

    /// A system that is built in code.
    pub fn builder() -> SystemBuilder {
        SystemBuilder::default()
    }

    /// The text of a project file; `path` is only used for messages and to find files that are named
    /// relative to it.
    pub fn from_toml(text: &str, path: impl AsRef<Path>, registry: Registry) -> Result<Self, Errors> {
        let project = registry.load_text(text, path.as_ref(), &[])?;
        Ok(Self::new(project, registry))
    }

    /// A project that was loaded with the help of a registry.
    pub fn new(project: Project, registry: Registry) -> Self {
        Self { project: Arc::new(project), registry, identified: IdentifiedModels::default() }
    }

    /// The project behind it.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The methods and models that it may name.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.project.name
    }

    /// `part.port` of all outputs.
    pub fn outputs(&self) -> Vec<String> {
        self.names().outputs
    }

    /// `part.port` of all inputs.
    pub fn inputs(&self) -> Vec<String> {
        self.names().inputs
    }

    /// `part.port` of the inputs that something drives from outside: those that [`Simulation::set_input`] may set.
    /// Inputs of FMUs without a source are not among them: they keep the FMU's own values.
    pub fn driven(&self) -> Vec<String> {
        let names = self.inputs();
        self.project.driven().into_iter().map(|input| names[input].clone()).collect()
    }

    /// What is allowed but probably not meant.
    pub fn warnings(&self) -> &[Error] {
        &self.project.warnings
    }

    /// The effective project as text that can be opened again.
    pub fn to_toml(&self) -> String {
        self.project.to_toml()
    }

    /// Runs it to its end. Errors that end the run, divergence for one, are part of the outcome; others are
    /// given as such.
    pub fn run(&self, run: Run) -> Result<Outcome> {
        self.start(run)?.complete()
    }

    /// The same with an observer of every step, the start included.
    pub fn run_with(&self, run: Run, observer: &mut StepObserver<'_>) -> Result<Outcome> {
        self.start(run)?.complete_with(observer)
    }

    /// Starts a run that is then taken step by step.
    pub fn start(&self, run: Run) -> Result<Simulation> {
        Simulation::new(self, run)
    }

    /// Runs it with several methods and steps and measures all runs against a reference.
    pub fn compare(&self, comparison: &Comparison) -> Result<Compared> {
        self.compare_with(comparison, &mut |_| {})
    }

    /// The same; `progress` hears of every run.
    pub fn compare_with(
        &self,
        comparison: &Comparison,
        progress: &mut dyn FnMut(ComparisonEvent<'_>),
    ) -> Result<Compared> {
        crate::comparison::compare(self, comparison, progress)
    }

    /// Models of the parts, learnt by a run with a method that identifies: by the one given, else by that of
    /// the system if it does, else by `identified`. [`ModelFile::to_toml`] is what `identified:file=...`
    /// starts from.
    pub fn identify(&self, run: Run) -> Result<ModelFile> {
        crate::identify::learn(&self.configured(&run, None)?, &run.cancel)
    }

    /// The solution at the recorded times up to `end`: the monolithic one or, where a part does not tell its
    /// equations, the same system at a much smaller step.
    pub fn solution(&self, times: &[f64], end: f64) -> Result<Solution> {
        Solution::of(&self.project, times, end)
    }

    /// Whether these macro steps are possible.
    pub fn check_steps(&self, steps: &[f64]) -> Result<()> {
        let experiment = &self.project.model.experiment;
        let last = experiment.start.abs().max(experiment.stop.abs());
        // A step so small that time does not advance would never end.
        let possible = |step: f64| step > 0.0 && step.is_finite() && last + step != last;
        if let Some(step) = steps.iter().find(|step| !possible(**step)) {
            return Err(Error::new(Code::BadValue, format!("a step of {step:e} s is not possible")));
        }
        steps.iter().try_for_each(|step| check_step(*step, experiment))
    }

    /// Whether a reference of this name is possible; see [`Run::reference`].
    pub fn check_reference(&self, reference: &str) -> Result<()> {
        ReferenceChoice::parse(&self.project, self.registry.solvers(), reference).map(|_| ())
    }

    fn names(&self) -> Names {
        Names::new(self.project.model.parts.iter().map(|part| part.description()))
    }

    /// The system as a run is to have it, with FMUs of a package in the folder of the run.
    pub(crate) fn configured(&self, run: &Run, folder: Option<&RunFolder>) -> Result<Self> {
        let moves = folder.filter(|_| self.project.is_ssp());
        let same = run.method.is_none() && run.step.is_none() && run.tolerance.is_none();
        if same && run.stop.is_none() && moves.is_none() {
            return Ok(self.clone());
        }
        let mut project = Project::clone(&self.project);
        if let Some(method) = &run.method {
            project.groups[0].method = method.spec(&self.registry)?;
        }
        if let Some(stop) = run.stop {
            if !stop.is_finite() || stop < project.model.experiment.start {
                return Err(Error::new(Code::BadValue, format!("a run cannot end at {stop} s")));
            }
            project.model.experiment.stop = stop;
        }
        project.set_control(run.tolerance, run.step)?;
        if let Some(folder) = moves {
            project.keep_fmus_in(folder.absolute())?;
        }
        let mut system = Self::new(project, self.registry.clone());
        if let Some(step) = run.step.filter(|_| system.project.control.is_none()) {
            system.check_steps(&[step])?;
            if let Some(project) = Arc::get_mut(&mut system.project) {
                project.model.experiment.step = step;
            }
        }
        Ok(system)
    }
}

fn source_is_fmu(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fmu"))
}

/// The folder a run is recorded in if none is given: that of the project, or `costep-NAME`.
pub fn default_folder(project: &Project) -> PathBuf {
    match &project.source {
        Source::Builtin(id) => PathBuf::from(format!("costep-{id}")),
        // A package or an FMU is one file among others, not a folder of its own.
        Source::File(path) if project.is_ssp() || source_is_fmu(path) => {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            PathBuf::from(format!("costep-{name}"))
        }
        Source::File(path) => path.parent().map(Path::to_path_buf).unwrap_or_default(),
    }
}
