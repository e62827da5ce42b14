//! Calls of the event mode of Co-Simulation, and of clocks (FMI 3).
#![allow(unsafe_code)]

use costep_core::{Code, Interval, Result};
use costep_fmu_file::Use;

use crate::call::exchange::Update;
use crate::call::ffi3::Functions3;
use crate::call::instance::Instance;
use crate::call::library::{FmuLibrary, Functions};
use crate::trace::Call;

/// The FMU has told an interval since it was last asked, or for the first time.
const INTERVAL_CHANGED: i32 = 2;
/// The FMU has no interval yet.
const INTERVAL_NOT_YET_KNOWN: i32 = 0;

/// How a step of FMI 3 ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advance {
    /// Time the FMU is at.
    pub(crate) reached: f64,
    /// It wants events handled.
    pub(crate) event: bool,
    /// It has left the step before its end, and goes on from there.
    pub(crate) early: bool,
    /// It asks to end the simulation.
    pub(crate) ends: bool,
}

impl FmuLibrary {
    /// Whether events are to be handled at the asking of the FMU, not inside of it.
    pub(crate) fn uses_event_mode(&self) -> bool {
        let Functions::V3(f) = &self.functions else { return false };
        let has_functions =
            f.enter_event_mode.is_some() && f.enter_step_mode.is_some() && f.update_discrete_states.is_some();
        self.usage() == Use::CoSimulation && self.co_simulation().has_event_mode && has_functions
    }

    /// Whether a step may end before its end even without an event mode.
    pub(crate) fn might_return_early(&self) -> bool {
        self.usage() == Use::CoSimulation && self.co_simulation().might_return_early_from_do_step
    }
}

impl Instance {
    fn functions_3(&self) -> Result<&Functions3> {
        match &self.library.functions {
            Functions::V3(functions) => Ok(functions),
            _ => Err(self.error(Code::Bug, "only FMI 3 has an event mode for Co-Simulation")),
        }
    }

    /// Step mode to event mode.
    pub(crate) fn step_to_event_mode(&self) -> Result<()> {
        let function = self.need(self.functions_3()?.enter_event_mode, "EnterEventMode")?;
        // SAFETY: the instance is alive.
        self.call(Call::EnterEventMode, || unsafe { function(self.handle) })
    }

    /// Event mode to step mode.
    pub(crate) fn event_to_step_mode(&self) -> Result<()> {
        let function = self.need(self.functions_3()?.enter_step_mode, "EnterStepMode")?;
        // SAFETY: the instance is alive.
        self.call(Call::EnterStepMode, || unsafe { function(self.handle) })
    }

    /// One iteration of an event.
    pub(crate) fn update_in_event_mode(&self) -> Result<Update> {
        let function = self.need(self.functions_3()?.update_discrete_states, "UpdateDiscreteStates")?;
        let (mut again, mut terminate, mut nominals, mut values, mut defined, mut next) =
            (0, 0, 0, 0, 0, f64::NAN);
        // SAFETY: the instance is alive, the places to write to live.
        self.call(Call::UpdateDiscreteStates, || unsafe {
            let flags = (&raw mut again, &raw mut terminate, &raw mut nominals, &raw mut values);
            function(self.handle, flags.0, flags.1, flags.2, flags.3, &raw mut defined, &raw mut next)
        })?;
        Ok(Update {
            again: again != 0,
            terminate: terminate != 0,
            nominals_changed: nominals != 0,
            values_changed: values != 0,
            next: (defined != 0).then_some(next),
        })
    }

    /// Has clocks tick, in event mode.
    pub(crate) fn tick(&self, clocks: &[u32]) -> Result<()> {
        let function = self.need(self.functions_3()?.set_clock, "SetClock")?;
        for clock in clocks {
            // SAFETY: the instance is alive, one value is handed over for one reference.
            self.call(Call::SetClock, || unsafe { function(self.handle, clock, 1, &true) })?;
        }
        Ok(())
    }

    /// The interval to the next tick of a clock; nothing if the FMU has no new one.
    pub(crate) fn interval(&self, clock: u32) -> Result<Option<f64>> {
        let function = self.need(self.functions_3()?.get_interval, "GetIntervalDecimal")?;
        let (mut interval, mut qualifier) = (f64::NAN, INTERVAL_NOT_YET_KNOWN);
        // SAFETY: the instance is alive, there is room for one value and one qualifier.
        self.call(Call::GetInterval, || unsafe {
            function(self.handle, &raw const clock, 1, &raw mut interval, &raw mut qualifier)
        })?;
        if qualifier != INTERVAL_CHANGED {
            return Ok(None);
        }
        if !(interval >= 0.0 && interval.is_finite()) {
            let what = format!("the clock with value reference {clock} has the interval {interval} s");
            return Err(self.error(Code::FmuValue, &what));
        }
        Ok(Some(interval))
    }

    /// Advances over an interval, or as far as the FMU wants to.
    pub(crate) fn do_step_freely(&self, interval: Interval, no_return: bool) -> Result<Advance> {
        self.do_step_3(self.functions_3()?, interval, no_return, true)
    }
}
