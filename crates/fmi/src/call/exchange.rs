//! Calls of Model Exchange. Which is allowed when is the business of the owner of the instance.
#![allow(unsafe_code)]

use costep_core::{Code, Result};

use crate::call::ffi2::EventInfo;
use crate::call::instance::Instance;
use crate::call::library::Exchange;
use crate::trace::Call;

/// What an update of the discrete states says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Update {
    /// Another update is needed at this instant.
    pub(crate) again: bool,
    /// The FMU wants the simulation to end.
    pub(crate) terminate: bool,
    pub(crate) nominals_changed: bool,
    pub(crate) values_changed: bool,
    /// Time of the next time event.
    pub(crate) next: Option<f64>,
}

/// The function of this name, whichever version; all have the same type.
macro_rules! either {
    ($self:ident, $field:ident) => {
        match $self.exchange_functions()? {
            Exchange::V1(f) => f.$field,
            Exchange::V2(f) => f.$field,
            Exchange::V3(f) => f.$field,
        }
    };
}

impl Instance {
    #[inline]
    fn exchange_functions(&self) -> Result<&Exchange> {
        match &self.library.exchange {
            Some(functions) => Ok(functions),
            None => Err(self.error(Code::Bug, "it was not loaded for Model Exchange")),
        }
    }

    /// Continuous-time mode to event mode.
    pub(crate) fn enter_event_mode(&self) -> Result<()> {
        let function = match self.exchange_functions()? {
            // It has no modes: an update of an event is one.
            Exchange::V1(_) => return Ok(()),
            Exchange::V2(f) => f.enter_event_mode,
            Exchange::V3(f) => f.enter_event_mode,
        };
        // SAFETY: the instance is alive.
        self.check(self.watched(Call::EnterEventMode, || unsafe { function(self.handle) }), "EnterEventMode")
    }

    /// Event mode to continuous-time mode.
    pub(crate) fn enter_continuous_time_mode(&self) -> Result<()> {
        let function = match self.exchange_functions()? {
            Exchange::V1(_) => return Ok(()),
            Exchange::V2(f) => f.enter_continuous_time_mode,
            Exchange::V3(f) => f.enter_continuous_time_mode,
        };
        // SAFETY: the instance is alive.
        let status = self.watched(Call::EnterContinuousTime, || unsafe { function(self.handle) });
        self.check(status, "EnterContinuousTimeMode")
    }

    /// One iteration of an event.
    pub(crate) fn update_discrete_states(&self) -> Result<Update> {
        match self.exchange_functions()? {
            Exchange::V1(f) => self.event_update(f),
            Exchange::V2(f) => {
                let mut info = EventInfo::default();
                // SAFETY: the instance is alive, the place to write to lives.
                let status = self.watched(Call::UpdateDiscreteStates, || unsafe {
                    (f.new_discrete_states)(self.handle, &raw mut info)
                });
                self.check(status, "NewDiscreteStates")?;
                Ok(Update {
                    again: info.new_discrete_states_needed != 0,
                    terminate: info.terminate_simulation != 0,
                    nominals_changed: info.nominals_changed != 0,
                    values_changed: info.values_changed != 0,
                    next: (info.next_event_time_defined != 0).then_some(info.next_event_time),
                })
            }
            Exchange::V3(f) => {
                let (mut again, mut terminate, mut nominals, mut values, mut defined, mut next) =
                    (0, 0, 0, 0, 0, 0.0);
                // SAFETY: as above.
                let status = self.watched(Call::UpdateDiscreteStates, || unsafe {
                    (f.update_discrete_states)(
                        self.handle,
                        &raw mut again,
                        &raw mut terminate,
                        &raw mut nominals,
                        &raw mut values,
                        &raw mut defined,
                        &raw mut next,
                    )
                });
                self.check(status, "UpdateDiscreteStates")?;
                Ok(Update {
                    again: again != 0,
                    terminate: terminate != 0,
                    nominals_changed: nominals != 0,
                    values_changed: values != 0,
                    next: (defined != 0).then_some(next),
                })
            }
        }
    }

    /// Tells the FMU that an inner step is done. Gives whether it wants an event, and whether it wants the end.
    pub(crate) fn completed_step(&self, no_return: bool) -> Result<(bool, bool)> {
        let (status, event, terminate) = match self.exchange_functions()? {
            Exchange::V1(f) => {
                let mut event = 0;
                // SAFETY: the instance is alive, the place to write to lives.
                let status = self.watched(Call::CompletedStep, || unsafe {
                    (f.completed_step)(self.handle, &raw mut event)
                });
                (status, event != 0, false)
            }
            Exchange::V2(f) => {
                let (mut event, mut terminate) = (0, 0);
                // SAFETY: the instance is alive, the places to write to live.
                let status = self.watched(Call::CompletedStep, || unsafe {
                    (f.completed_step)(self.handle, no_return.into(), &raw mut event, &raw mut terminate)
                });
                (status, event != 0, terminate != 0)
            }
            Exchange::V3(f) => {
                let (mut event, mut terminate) = (0, 0);
                // SAFETY: as above.
                let status = self.watched(Call::CompletedStep, || unsafe {
                    (f.completed_step)(self.handle, no_return, &raw mut event, &raw mut terminate)
                });
                (status, event != 0, terminate != 0)
            }
        };
        self.check(status, "CompletedIntegratorStep")?;
        Ok((event, terminate))
    }

    /// Sets the independent variable.
    #[inline]
    pub(crate) fn set_time(&self, t: f64) -> Result<()> {
        let function = either!(self, set_time);
        // SAFETY: the instance is alive.
        let status = self.watched(Call::SetTime, || unsafe { function(self.handle, t) });
        self.check(status, "SetTime")
    }

    /// Sets all continuous states.
    #[inline]
    pub(crate) fn set_states(&self, x: &[f64]) -> Result<()> {
        let function = either!(self, set_states);
        // SAFETY: the instance is alive, the FMU is told the length.
        let status =
            self.watched(Call::SetContinuousStates, || unsafe { function(self.handle, x.as_ptr(), x.len()) });
        self.check(status, "SetContinuousStates")
    }

    /// Gets all continuous states.
    pub(crate) fn get_states(&self, x: &mut [f64]) -> Result<()> {
        let function = either!(self, get_states);
        // SAFETY: the instance is alive, the FMU is told the length.
        let status = self
            .watched(Call::GetContinuousStates, || unsafe { function(self.handle, x.as_mut_ptr(), x.len()) });
        self.check(status, "GetContinuousStates")
    }

    /// Gets the derivatives of all continuous states.
    #[inline]
    pub(crate) fn get_derivatives(&self, x_dot: &mut [f64]) -> Result<()> {
        let (function, call) = match self.exchange_functions()? {
            Exchange::V1(f) => (f.get_derivatives, "GetDerivatives"),
            Exchange::V2(f) => (f.get_derivatives, "GetDerivatives"),
            Exchange::V3(f) => (f.get_derivatives, "GetContinuousStateDerivatives"),
        };
        // SAFETY: the instance is alive, the FMU is told the length.
        let status = self.watched(Call::GetDerivatives, || unsafe {
            function(self.handle, x_dot.as_mut_ptr(), x_dot.len())
        });
        self.check(status, call)
    }

    /// Gets all event indicators.
    #[inline]
    pub(crate) fn get_indicators(&self, z: &mut [f64]) -> Result<()> {
        let function = either!(self, get_indicators);
        // SAFETY: the instance is alive, the FMU is told the length.
        let status = self
            .watched(Call::GetEventIndicators, || unsafe { function(self.handle, z.as_mut_ptr(), z.len()) });
        self.check(status, "GetEventIndicators")
    }

    /// Gets the nominal values of all continuous states.
    pub(crate) fn get_nominals(&self, nominals: &mut [f64]) -> Result<()> {
        let function = either!(self, get_nominals);
        let name = Call::GetNominals.name(self.version());
        // SAFETY: the instance is alive, the FMU is told the length.
        let status = self.watched(Call::GetNominals, || unsafe {
            function(self.handle, nominals.as_mut_ptr(), nominals.len())
        });
        self.check(status, name)
    }
}
