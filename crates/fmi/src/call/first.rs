//! What an instance of FMI 1.0 does in a way of its own: it has no mode of initialisation, so that all is
//! set before one call and read after it; it has no event mode; and an FMU for Model Exchange cannot be
//! reset.
#![allow(unsafe_code)]

use costep_core::{Code, Experiment, Result};

use crate::call::exchange::Update;
use crate::call::ffi1::{EventInfo, Exchange1, Functions1, Slave1, UNDEFINED_REFERENCE};
use crate::call::instance::{Instance, told_stop};
use crate::call::library::{Exchange, FmuLibrary, Functions};
use crate::trace::Call;

/// How far the initialisation of an instance of FMI 1.0 is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Startup {
    /// It has not begun, or is over. Always so in later versions.
    #[default]
    No,
    /// Its inputs are not known yet.
    Waiting(Beginning),
    /// It is done, for Co-Simulation.
    Done(Beginning),
    /// It is done, for Model Exchange, and this is what it says about events.
    Updated(Update),
}

/// What an initialisation is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    start: f64,
    stop: f64,
    tolerance: Option<f64>,
}

impl From<&EventInfo> for Update {
    fn from(info: &EventInfo) -> Self {
        // Other states than before have other values and sizes.
        let others = info.state_references_changed != 0;
        Self {
            again: info.iteration_converged == 0,
            terminate: info.terminate_simulation != 0,
            nominals_changed: others,
            values_changed: others || info.state_values_changed != 0,
            next: (info.upcoming_time_event != 0).then_some(info.next_event_time),
        }
    }
}

impl FmuLibrary {
    /// The functions of Co-Simulation, if it is of FMI 1.0 and loaded for that.
    #[inline]
    pub(crate) fn slave(&self) -> Option<&Slave1> {
        match &self.functions {
            Functions::V1(Functions1 { slave, .. }) => slave.as_ref(),
            _ => None,
        }
    }

    /// The functions of Model Exchange, if it is of FMI 1.0 and loaded for that.
    pub(crate) fn model(&self) -> Option<&Exchange1> {
        match &self.exchange {
            Some(Exchange::V1(model)) => Some(model),
            _ => None,
        }
    }
}

impl Instance {
    /// Notes down what the initialisation needs to know, once the inputs are set.
    pub(super) fn expect_inputs(&self, experiment: &Experiment, tolerance: Option<f64>) -> Result<()> {
        let (start, stop) = (experiment.start, told_stop(experiment));
        if self.library.model().is_some() {
            self.set_time(start)?;
        }
        self.startup.set(Startup::Waiting(Beginning { start, stop, tolerance }));
        Ok(())
    }

    /// Whether inputs can be set before outputs are read. For Co-Simulation FMI 1.0 forbids that between the
    /// initialisation and the first step.
    pub(crate) fn takes_initial_inputs(&self) -> bool {
        !matches!(self.startup.get(), Startup::Done(_))
    }

    /// Puts an instance that has been initialised back, to do so with other inputs. False if there is nothing to put back.
    /// However often that is: whoever solves for inputs knows when to end, and outputs of other inputs are no solution.
    pub(crate) fn begin_again(&mut self) -> Result<bool> {
        let Startup::Done(beginning) = self.startup.get() else { return Ok(false) };
        self.reset()?;
        self.startup.set(Startup::Waiting(beginning));
        Ok(true)
    }

    /// Takes a new instance in place of one that was put back and takes no values since. False after a fatal error.
    pub(crate) fn replace_after_reset(&mut self) -> Result<bool> {
        if self.library.is_fatal() {
            return Ok(false);
        }
        let startup = self.startup.get();
        self.make_anew()?;
        self.ended.set(false);
        self.startup.set(startup);
        Ok(true)
    }

    /// The inputs are set: initialises an instance of FMI 1.0, if that has not been done. In Model Exchange
    /// inputs that change afterwards make another event.
    pub(crate) fn begin(&self, inputs_changed: bool) -> Result<()> {
        let beginning = match self.startup.get() {
            Startup::Waiting(beginning) => beginning,
            Startup::Updated(update) => {
                if inputs_changed && !update.terminate {
                    self.startup.set(Startup::No);
                }
                return Ok(());
            }
            Startup::No | Startup::Done(_) => return Ok(()),
        };
        let Beginning { start, stop, tolerance } = beginning;
        if let Some(f) = self.library.slave() {
            // SAFETY: the instance is alive and freshly made or reset.
            self.call(Call::InitializeSlave, || unsafe { (f.initialize)(self.handle, start, 1, stop) })?;
            self.startup.set(Startup::Done(beginning));
        }
        if let Some(f) = self.library.model() {
            let (controlled, tolerance) = (tolerance.is_some().into(), tolerance.unwrap_or(0.0));
            let mut info = EventInfo::default();
            // SAFETY: as above, and the place to write to lives.
            self.call(Call::InitializeModel, || unsafe {
                (f.initialize)(self.handle, controlled, tolerance, &raw mut info)
            })?;
            self.startup.set(Startup::Updated((&info).into()));
        }
        Ok(())
    }

    /// One update of an event. The first one comes with the initialisation.
    pub(super) fn event_update(&self, f: &Exchange1) -> Result<Update> {
        if let Startup::Updated(update) = self.startup.take() {
            return Ok(update);
        }
        let mut info = EventInfo::default();
        // SAFETY: the instance is alive, the place to write to lives. Intermediate results are not wanted.
        self.call(Call::EventUpdate, || unsafe { (f.event_update)(self.handle, 0, &raw mut info) })?;
        Ok((&info).into())
    }

    /// Ends a run.
    pub(super) fn terminate_1(&self) -> Result<()> {
        if let Some(f) = self.library.slave() {
            // SAFETY: the instance is alive and initialised.
            self.call(Call::Terminate, || unsafe { (f.terminate)(self.handle) })?;
        }
        if let Some(f) = self.library.model() {
            // SAFETY: as above.
            self.call(Call::TerminateModel, || unsafe { (f.terminate)(self.handle) })?;
        }
        Ok(())
    }

    /// Gives the instance back to the FMU: it is not used any more.
    pub(super) fn free_1(&self) {
        if self.handle.is_null() {
            // It could not be made anew.
            return;
        }
        if let Some(f) = self.library.slave() {
            // SAFETY: the instance is alive, and by the contract of this function not used any more.
            self.watched(Call::FreeInstance, || unsafe { (f.free_instance)(self.handle) });
        }
        if let Some(f) = self.library.model() {
            // SAFETY: as above.
            self.watched(Call::FreeModel, || unsafe { (f.free_instance)(self.handle) });
        }
    }

    /// Puts it back to what it was when it was made, by making it anew where it cannot be reset or fails to
    /// be.
    pub(super) fn reset_1(&mut self) -> Result<()> {
        self.startup.set(Startup::No);
        if let Some(reset) = self.library.slave().and_then(|f| f.reset).filter(|_| !self.handle.is_null()) {
            // SAFETY: the instance is alive.
            let outcome = self.call(Call::Reset, || unsafe { reset(self.handle) });
            if outcome.is_ok() || self.library.is_fatal() {
                return outcome;
            }
        }
        self.make_anew()
    }

    /// Name of a continuous state, which FMI 1.0 tells only when asked.
    #[cold]
    pub(crate) fn state_name(&self, state: usize, states: usize) -> Option<String> {
        let function = self.library.model()?.get_state_references?;
        self.alive().ok()?;
        let mut references = vec![UNDEFINED_REFERENCE; states];
        // SAFETY: the instance is alive, the FMU is told the length.
        let status = self.watched(Call::GetStateReferences, || unsafe {
            function(self.handle, references.as_mut_ptr(), references.len())
        });
        self.check(status, "GetStateValueReferences").ok()?;
        let description = self.library.description();
        let reference = references.get(state).filter(|reference| **reference != UNDEFINED_REFERENCE)?;
        let variable = description.by_value_reference(costep_fmu_file::VariableType::Float64, *reference)?;
        Some(description.variables()[variable].name.clone())
    }

    /// A function of Co-Simulation, or an error that says that this is none.
    pub(super) fn slave_functions(&self) -> Result<&Slave1> {
        self.library.slave().ok_or_else(|| self.error(Code::Bug, "it was not loaded for Co-Simulation"))
    }
}
