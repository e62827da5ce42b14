//! Subsystems around other subsystems.

use crate::{
    Batch, Capable, Description, EnvironmentStep, Experiment, InputSegment, Interval, Linearised,
    MicroRecorder, Persistence, Result, Rollback, StepOutcome, Subsystem, Telemetry,
};

/// A subsystem around another one. Whatever it does not change is that of the inner one: a capability that is added to
/// [`Capable`] is handed on by all wrappers, or does not compile here.
pub trait Wrapper: Send + 'static {
    /// The subsystem inside.
    fn inner(&self) -> &dyn Subsystem;

    /// The subsystem inside.
    fn inner_mut(&mut self) -> &mut dyn Subsystem;

    /// [`Subsystem::description`].
    fn description(&self) -> &Description {
        self.inner().description()
    }

    /// [`Subsystem::initialise`].
    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.inner_mut().initialise(experiment)
    }

    /// [`Subsystem::initial_outputs`].
    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.inner_mut().initial_outputs(u, y)
    }

    /// [`Subsystem::begin`].
    fn begin(&mut self, y: &mut [f64]) -> Result<()> {
        self.inner_mut().begin(y)
    }

    /// [`Subsystem::step`].
    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        self.inner_mut().step(interval, u, y)
    }

    /// [`Subsystem::terminate`].
    fn terminate(&mut self) {
        self.inner_mut().terminate();
    }

    /// [`Capable::rollback`].
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        self.inner_mut().rollback()
    }

    /// [`Capable::linearised`].
    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        self.inner_mut().linearised()
    }

    /// [`Capable::micro_recorder`].
    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        self.inner_mut().micro_recorder()
    }

    /// [`Capable::environment`].
    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        self.inner_mut().environment()
    }

    /// [`Capable::persistence`].
    fn persistence(&self) -> Option<&dyn Persistence> {
        self.inner().persistence()
    }

    /// [`Capable::persistence_mut`].
    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        self.inner_mut().persistence_mut()
    }

    /// [`Capable::telemetry`].
    fn telemetry(&self) -> Option<&dyn Telemetry> {
        self.inner().telemetry()
    }
}

impl<W: Wrapper> Subsystem for W {
    fn description(&self) -> &Description {
        Wrapper::description(self)
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        Wrapper::initialise(self, experiment)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        Wrapper::initial_outputs(self, u, y)
    }

    fn begin(&mut self, y: &mut [f64]) -> Result<()> {
        Wrapper::begin(self, y)
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        Wrapper::step(self, interval, u, y)
    }

    fn terminate(&mut self) {
        Wrapper::terminate(self);
    }
}

impl<W: Wrapper> Capable for W {
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        Wrapper::rollback(self)
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        Wrapper::linearised(self)
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        Wrapper::micro_recorder(self)
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        Wrapper::environment(self)
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        Wrapper::persistence(self)
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        Wrapper::persistence_mut(self)
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Wrapper::telemetry(self)
    }

    /// A batch would step the inner one past its wrapper.
    fn join_batch(self: Box<Self>, _batch: &mut Option<Box<dyn Batch>>) -> Result<(), Box<dyn Subsystem>> {
        Err(self)
    }
}
