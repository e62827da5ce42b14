//! A system with parameters, run with a coupling method.

use std::sync::Arc;

use costep_analysis::{Identification, Reference, Trace};
use costep_core::{
    Code, CouplingMethod, Description, Experiment, External, ModelSource, NoModels, Result, Subsystem,
};
use costep_engine::{Engine, Flow, Scheduling, System};
use costep_ident::{Learning, ModelFile, sources};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

/// Tolerance of a reference that stands for the exact solution.
const TIGHT: f64 = 1e-12;

/// A built-in model with parameters and an end time.
#[derive(Clone)]
pub struct Case {
    model: &'static str,
    parameters: Vec<(String, f64)>,
    /// External inputs at inputs of parts.
    externals: Vec<(usize, usize, External)>,
    /// What else is different from the built-in model.
    alter: Option<Alter>,
    stop: f64,
}

type Alter = Arc<dyn Fn(SystemDescription) -> SystemDescription + Send + Sync>;

/// What a run left.
pub struct Run {
    /// Its outputs, as far as it went.
    pub trace: Trace,
    /// Whether it went to its end.
    pub ended: bool,
    /// Steps of subsystems per macro step and subsystem.
    pub calls: f64,
}

impl Case {
    /// With these parameters, up to this time.
    pub fn new(model: &'static str, parameters: &[(&str, f64)], stop: f64) -> Self {
        let parameters = parameters.iter().map(|(name, value)| ((*name).into(), *value)).collect();
        Self { model, parameters, externals: Vec::new(), alter: None, stop }
    }

    /// With a model that differs from the built-in one.
    pub fn altered(
        mut self,
        alter: impl Fn(SystemDescription) -> SystemDescription + Send + Sync + 'static,
    ) -> Self {
        self.alter = Some(Arc::new(alter));
        self
    }

    /// With an external input at an input of a part.
    pub fn driven(mut self, part: usize, input: usize, signal: External) -> Self {
        self.externals.push((part, input, signal));
        self
    }

    /// The model itself.
    pub fn model(&self) -> Result<SystemDescription> {
        let (_, model) = costep_models::find(self.model)?.model(&self.parameters)?;
        let drive = |model: SystemDescription, (part, input, signal): &(usize, usize, External)| {
            model.driven(*part, *input, signal.clone())
        };
        let model = self.externals.iter().fold(model, drive);
        Ok(match &self.alter {
            Some(alter) => alter(model),
            None => model,
        })
    }

    /// Its parts.
    pub fn descriptions(&self) -> Result<Vec<Description>> {
        Ok(self.model()?.parts.iter().map(|part| part.description().clone()).collect())
    }

    /// When it ends.
    pub fn stop(&self) -> f64 {
        self.stop
    }

    /// With steps that are all equal, as in the papers.
    fn experiment(&self, step: f64) -> Experiment {
        Experiment { start: 0.0, stop: self.stop, step }.with_equal_steps()
    }

    /// Runs it; divergence is a result, not an error. `micro` asks for the points inside the steps.
    pub fn run(&self, method: &str, step: f64, micro: bool) -> Result<Run> {
        let method = MethodSpec::parse(method)?;
        finish(self.engine(method.build(), method.models(), (step, micro), |_, part| part)?, micro)
    }

    /// The same, and every communication point is shown.
    pub fn run_shown(&self, method: &str, step: f64, show: &mut dyn FnMut(&Engine)) -> Result<Run> {
        let method = MethodSpec::parse(method)?;
        let engine = self.engine(method.build(), method.models(), (step, false), |_, part| part)?;
        finish_shown(engine, false, show)
    }

    /// The same with a method that needs no local models, and with subsystems that something has been done to.
    pub fn run_wrapped(
        &self,
        method: Box<dyn CouplingMethod>,
        step: f64,
        wrap: impl Fn(usize, Box<dyn Subsystem>) -> Box<dyn Subsystem>,
    ) -> Result<Run> {
        finish(self.engine(method, Box::new(NoModels), (step, false), wrap)?, false)
    }

    /// The same from models of an earlier run.
    pub fn run_from(
        &self,
        method: &str,
        step: f64,
        models: &ModelFile,
        show: &mut dyn FnMut(&Engine),
    ) -> Result<Run> {
        let method = MethodSpec::parse(method)?;
        let settings = sources::learning_from_file(&method.models.options);
        let models = Learning::from_models(settings, models.clone());
        let engine = self.engine(method.build(), Box::new(models), (step, false), |_, part| part)?;
        finish_shown(engine, false, show)
    }

    /// The models that a method has identified at the end.
    pub fn identify(&self, method: &str, step: f64) -> Result<ModelFile> {
        let method = MethodSpec::parse(method)?;
        let mut engine = self.engine(method.build(), method.models(), (step, false), |_, part| part)?;
        let mut identification = Identification::new(&engine, &method);
        engine.run(&mut [&mut identification])?;
        identification.models(&engine, self.model, &method)
    }

    /// An engine with this source of models for the method.
    pub fn engine(
        &self,
        method: Box<dyn CouplingMethod>,
        models: Box<dyn ModelSource>,
        (step, micro_samples): (f64, bool),
        wrap: impl Fn(usize, Box<dyn Subsystem>) -> Box<dyn Subsystem>,
    ) -> Result<Engine> {
        let model = self.model()?;
        let subsystems = model.parts.iter().map(|part| part.subsystem(&model.solver));
        Engine::new(System {
            externals: model.externals,
            scheduling: Scheduling::Parallel,
            micro_samples,
            ..System::new(
                subsystems.enumerate().map(|(i, part)| Ok(wrap(i, part?))).collect::<Result<_>>()?,
                model.connections,
                (method, models),
                self.experiment(step),
            )
        })
    }

    /// The monolithic solution with the same inner solver, at the communication points of this step and inside.
    pub fn monolithic(&self, step: f64, micro: bool) -> Result<Reference> {
        let model = self.model()?;
        // Under external inputs the monolithic system has no exact steps.
        let driven = model.solver == Solver::Exact && !model.externals.is_empty();
        let solver = if driven { Solver::Dopri5(TIGHT) } else { model.solver };
        Reference::new(&model, solver, &self.experiment(step), micro)
    }

    /// The monolithic solution by this solver, at the communication points.
    pub fn solved(&self, solver: Solver, step: f64) -> Result<Reference> {
        Reference::new(&self.model()?, solver, &self.experiment(step), false)
    }
}

/// Runs to the end, or to where it diverges.
fn finish(engine: Engine, micro: bool) -> Result<Run> {
    finish_shown(engine, micro, &mut |_| ())
}

fn finish_shown(mut engine: Engine, micro: bool, show: &mut dyn FnMut(&Engine)) -> Result<Run> {
    let layout = engine.layout().clone();
    let mut trace = Trace::new(layout.outputs(), micro);
    let mut look = |engine: &Engine| {
        show(engine);
        Ok(Flow::Continue)
    };
    let outcome = engine.run(&mut [&mut trace, &mut look]);
    let calls = engine.subsystem_steps() as f64 / (engine.k().max(1) * layout.subsystems() as u64) as f64;
    match outcome {
        Ok(()) => Ok(Run { trace, ended: true, calls }),
        // A solver with step control gives up on signals that diverge before they overflow.
        Err(error) if matches!(error.code(), Code::Diverged | Code::NotFinite | Code::StepTooSmall) => {
            Ok(Run { trace, ended: false, calls })
        }
        Err(error) => Err(error),
    }
}
