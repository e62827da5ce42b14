//! What a subsystem can do beyond a step: one handle for each capability.
//!
//! A handle is there or it is not, and every subsystem says so for each of them: [`Capable`] has no defaults, so that
//! nothing can be forgotten without a compile error. [`Capabilities`] are read off the handles. A subsystem around
//! another one is a [`Wrapper`](crate::Wrapper), which hands everything on that it does not change.

use crate::{
    Batch, Code, Description, EnvironmentModel, Error, Experiment, InputSegment, Interval, Linearisation,
    LocalModel, MicroSamples, MicroSampling, ModelOrigin, Result, StateReader, StateWriter, StepOutcome,
    Subsystem, unsupported,
};

/// The handles of a subsystem, each `None` if it cannot do that. Which ones are there never changes.
pub trait Capable {
    /// Going back to a remembered state.
    fn rollback(&mut self) -> Option<&mut dyn Rollback>;

    /// Its linearisation, or at least its states.
    fn linearised(&mut self) -> Option<&mut dyn Linearised>;

    /// Outputs inside its steps.
    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder>;

    /// Steps beside a model of the rest of the system.
    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep>;

    /// Its state in checkpoints, to write.
    fn persistence(&self) -> Option<&dyn Persistence>;

    /// Its state in checkpoints, to read.
    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence>;

    /// What can be read of its last step.
    fn telemetry(&self) -> Option<&dyn Telemetry>;

    /// Becomes a member of the batch of its neighbour or, where there is none, the first one of a batch. Gives itself back
    /// if it does neither.
    fn join_batch(self: Box<Self>, batch: &mut Option<Box<dyn Batch>>) -> Result<(), Box<dyn Subsystem>>;
}

/// Going back to a remembered state, between steps.
pub trait Rollback {
    /// Remembers the state.
    fn snapshot(&mut self) -> Result<()>;

    /// Goes back to the last snapshot.
    fn restore(&mut self) -> Result<()>;

    /// Nobody will go back to the last snapshot any more.
    fn release(&mut self) {}
}

/// The linearisation of a subsystem at its present point.
pub trait Linearised {
    /// How much of it [`Linearised::local_model`] gives. Nothing = only the states can be read.
    fn level(&self) -> Linearisation;

    /// Number of states of its local model, or that can be read.
    fn states(&self) -> usize;

    /// How the local model is computed.
    fn origin(&self) -> ModelOrigin;

    /// A, B, C, D, x and x' at the present state and time under the input `u`, or D alone: as much as `level` says.
    /// What is not known is left as it is.
    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()>;

    /// Fills D of the initial state under the input `u`, where it is exact; else gives false. Only `initialise` and `initial_outputs` have been
    /// called, and more of the latter may follow: FMUs, which are in a mode of their own then, do not know it.
    fn initial_feedthrough(&mut self, _u: &[f64], _model: &mut LocalModel) -> Result<bool> {
        Ok(false)
    }

    /// x and x' at the present state and time under the input `u`. False if they cannot be read.
    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool>;
}

/// Outputs inside steps. They are read by [`Telemetry::micro_samples`].
pub trait MicroRecorder {
    /// Which samples it takes.
    fn sampling(&self) -> MicroSampling;

    /// Records the steps that follow, or does so no more.
    fn record(&mut self, on: bool, experiment: &Experiment);

    /// Leaves the steps that follow out, or takes them in again: trial steps must not hide the last real one.
    fn pause(&mut self, on: bool);
}

/// Steps beside a model of the rest of the system, integrated with the subsystem's own states.
pub trait EnvironmentStep {
    /// Advances over `interval`: the inputs are `u` and the answer of the environment.
    fn step_with(
        &mut self,
        interval: Interval,
        u: InputSegment<'_>,
        environment: &EnvironmentModel,
        y: &mut [f64],
    ) -> Result<StepOutcome>;
}

/// The whole state, to and from a checkpoint; after `initialise`.
pub trait Persistence {
    /// Writes it.
    fn save(&self, out: &mut StateWriter) -> Result<()>;

    /// Reads it.
    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()>;
}

/// What can be read of the last step. Every method says what it has, `None` included.
pub trait Telemetry {
    /// Outputs inside the step, if they are recorded.
    fn micro_samples(&self) -> Option<MicroSamples<'_>>;

    /// The inputs that its outputs were last read under, where these are not the ends of the polynomials it was given.
    fn input_at_end(&self) -> Option<&[f64]>;

    /// Names of numbers that tell how its last step was done. Never changes.
    fn diagnostic_names(&self) -> &[&'static str];

    /// These numbers, in the order of their names.
    fn diagnostics(&self, row: &mut [f64]);

    /// What its integrator has done, if that chooses its steps itself.
    fn solver_counts(&self) -> Option<SolverCounts>;

    /// Stored energy at the end of the last step in J, as far as the subsystem knows it.
    fn energy(&self) -> Option<f64>;
}

/// What an integrator with error control has done so far in this process, discarded attempts included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolverCounts {
    /// Accepted inner steps.
    pub steps: u64,
    /// Evaluations of the equations, those for corrections and differences included.
    pub evaluations: u64,
    /// Jacobians.
    pub jacobians: u64,
    /// Inner steps repeated because of their error.
    pub error_failures: u64,
    /// Inner steps repeated because Newton's iteration did not converge.
    pub convergence_failures: u64,
}

/// The handles of a subsystem as facts, for methods and model sources to plan by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The state can be put back to the last snapshot.
    pub rollback: bool,
    /// What [`Linearised::local_model`] gives.
    pub linearisation: Linearisation,
    /// Number of states of its local model, or that can be read.
    pub states: usize,
    /// It gives outputs inside the step, these.
    pub micro_samples: Option<MicroSampling>,
    /// It can step beside a model of the rest of the system.
    pub environment: bool,
}

impl Capabilities {
    /// Those of a subsystem.
    pub fn of(subsystem: &mut dyn Subsystem) -> Self {
        let linearised = subsystem.linearised();
        let (linearisation, states) =
            linearised.map_or((Linearisation::None, 0), |handle| (handle.level(), handle.states()));
        Self {
            rollback: subsystem.rollback().is_some(),
            linearisation,
            states,
            micro_samples: subsystem.micro_recorder().map(|handle| handle.sampling()),
            environment: subsystem.environment().is_some(),
        }
    }
}

/// Handles that have to be there: an error that names the subsystem where they are not.
impl dyn Subsystem + '_ {
    /// [`Capable::rollback`].
    pub fn demand_rollback(&mut self) -> Result<&mut dyn Rollback> {
        if self.rollback().is_none() {
            return Err(unsupported(self.description(), "rollback"));
        }
        self.rollback().ok_or_else(gone)
    }

    /// [`Capable::linearised`], at any level above none.
    pub fn demand_linearised(&mut self) -> Result<&mut dyn Linearised> {
        if self.linearised().is_none_or(|handle| handle.level() == Linearisation::None) {
            return Err(unsupported(self.description(), "a local model"));
        }
        self.linearised().ok_or_else(gone)
    }

    /// [`Capable::environment`].
    pub fn demand_environment(&mut self) -> Result<&mut dyn EnvironmentStep> {
        if self.environment().is_none() {
            let hint = "only built-in models and Model Exchange FMUs in the main process can do this; \
                        otherwise use `predictive`";
            return Err(
                unsupported(self.description(), "an environment model beside its own states").hint(hint)
            );
        }
        self.environment().ok_or_else(gone)
    }

    /// [`Capable::persistence`].
    pub fn demand_persistence(&self) -> Result<&dyn Persistence> {
        self.persistence().ok_or_else(|| unsupported(self.description(), "checkpoints"))
    }

    /// [`Capable::persistence_mut`].
    pub fn demand_persistence_mut(&mut self) -> Result<&mut dyn Persistence> {
        if self.persistence_mut().is_none() {
            return Err(unsupported(self.description(), "checkpoints"));
        }
        self.persistence_mut().ok_or_else(gone)
    }

    /// x and x' under the input `u`. False if they cannot be read.
    pub fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        self.linearised().map_or(Ok(false), |handle| handle.read_state(u, x, x_dot))
    }

    /// Does something and goes back to where it stood, whatever came of it: the inner result. One that does not go
    /// back is an error that nobody may pass over, since the run would go on from where the trial has led.
    pub fn trial<T>(&mut self, trial: impl FnOnce(&mut Self) -> Result<T>) -> Result<Result<T>> {
        self.demand_rollback()?.snapshot()?;
        self.pause_micro_samples(true);
        let outcome = trial(self);
        self.pause_micro_samples(false);
        let rollback = self.demand_rollback()?;
        rollback.restore()?;
        rollback.release();
        Ok(outcome)
    }

    fn pause_micro_samples(&mut self, on: bool) {
        if let Some(recorder) = self.micro_recorder() {
            recorder.pause(on);
        }
    }
}

#[cold]
fn gone() -> Error {
    Error::new(Code::Bug, "a subsystem has lost one of its capabilities")
}

/// Micro samples of subsystems by their numbers.
pub trait MicroView {
    /// How many subsystems there are.
    fn subsystems(&self) -> usize;

    /// Those of one subsystem.
    fn micro_samples(&self, subsystem: usize) -> Option<MicroSamples<'_>>;
}

impl MicroView for Vec<Box<dyn Subsystem>> {
    fn subsystems(&self) -> usize {
        self.len()
    }

    fn micro_samples(&self, subsystem: usize) -> Option<MicroSamples<'_>> {
        self[subsystem].telemetry()?.micro_samples()
    }
}

/// What subsystems look like and what they can do, as methods and model sources are told.
pub fn profiles(subsystems: &mut [Box<dyn Subsystem>]) -> (Vec<Description>, Vec<Capabilities>) {
    let of = |subsystem: &mut Box<dyn Subsystem>| {
        (subsystem.description().clone(), Capabilities::of(&mut **subsystem))
    };
    subsystems.iter_mut().map(of).unzip()
}

/// Implements [`Capable`] for a type that has each handle always (`some`, it is the handle itself) or never (`none`).
/// All of them have to be named. It joins no batch.
///
/// ```
/// use costep_core::{Description, Experiment, InputSegment, Interval, Result, Rollback, StepOutcome, Subsystem, handles};
/// struct Toy(Description);
/// impl Subsystem for Toy {
///     fn description(&self) -> &Description { &self.0 }
///     fn initialise(&mut self, _: &Experiment) -> Result<()> { Ok(()) }
///     fn initial_outputs(&mut self, _: &[f64], _: &mut [f64]) -> Result<()> { Ok(()) }
///     fn step(&mut self, step: Interval, _: InputSegment<'_>, _: &mut [f64]) -> Result<StepOutcome> {
///         Ok(StepOutcome { reached: step.end })
///     }
///     fn terminate(&mut self) {}
/// }
/// impl Rollback for Toy {
///     fn snapshot(&mut self) -> Result<()> { Ok(()) }
///     fn restore(&mut self) -> Result<()> { Ok(()) }
/// }
/// handles!(Toy { rollback: some, linearised: none, micro_recorder: none, environment: none, persistence: none,
///     telemetry: none });
/// ```
#[macro_export]
macro_rules! handles {
    (@one none, $subsystem:expr) => { None };
    (@one some, $subsystem:expr) => { Some($subsystem) };
    ($type:ty { rollback: $rollback:ident, linearised: $linearised:ident, micro_recorder: $micro:ident,
        environment: $environment:ident, persistence: $persistence:ident, telemetry: $telemetry:ident $(,)? }) => {
        impl $crate::Capable for $type {
            fn rollback(&mut self) -> Option<&mut dyn $crate::Rollback> {
                $crate::handles!(@one $rollback, self)
            }

            fn linearised(&mut self) -> Option<&mut dyn $crate::Linearised> {
                $crate::handles!(@one $linearised, self)
            }

            fn micro_recorder(&mut self) -> Option<&mut dyn $crate::MicroRecorder> {
                $crate::handles!(@one $micro, self)
            }

            fn environment(&mut self) -> Option<&mut dyn $crate::EnvironmentStep> {
                $crate::handles!(@one $environment, self)
            }

            fn persistence(&self) -> Option<&dyn $crate::Persistence> {
                $crate::handles!(@one $persistence, self)
            }

            fn persistence_mut(&mut self) -> Option<&mut dyn $crate::Persistence> {
                $crate::handles!(@one $persistence, self)
            }

            fn telemetry(&self) -> Option<&dyn $crate::Telemetry> {
                $crate::handles!(@one $telemetry, self)
            }

            fn join_batch(
                self: Box<Self>,
                _batch: &mut Option<Box<dyn $crate::Batch>>,
            ) -> ::std::result::Result<(), Box<dyn $crate::Subsystem>> {
                Err(self)
            }
        }
    };
}
