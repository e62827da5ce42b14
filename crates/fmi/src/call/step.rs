//! Communication steps of an instance, and how far they came.
#![allow(unsafe_code)]

use std::ffi::c_int;

use costep_core::quantity::{format_time, plain_time};
use costep_core::{Code, Error, Interval, Result};

use crate::call::events::Advance;
use crate::call::ffi1;
use crate::call::ffi2;
use crate::call::ffi3::Functions3;
use crate::call::floating_point;
use crate::call::instance::{Instance, OK};
use crate::call::library::Functions;
use crate::trace::Call;

const DISCARD: c_int = 2;

/// Part of a step by which the reached time may miss the one asked for: round-off of the FMU's own clock.
const TIME_TOLERANCE: f64 = 1e-9;
/// Part of a step by which an FMU of FMI 3 may say to have missed its end. Such a shift of its outputs is small beside what
/// they change over a step, and thus beside the error of the coupling.
const MOST_MISSED: f64 = 0.05;
/// Steps for which an FMU may wait until a fixed step inside of it fits, whatever length of that it declares.
const MOST_WAITED: f64 = 1000.0;

impl Instance {
    /// Advances over an interval; gives the time reached. `no_return`: no state before its start will be put back.
    #[inline]
    pub(crate) fn do_step(&self, interval: Interval, no_return: bool) -> Result<f64> {
        let (start, length) = (interval.start, interval.length);
        match &self.library.functions {
            Functions::V1(_) => {
                let do_step = self.slave_functions()?.do_step;
                // SAFETY: the instance is alive and initialised. Without states every step is a new one.
                let status = self.watched(Call::DoStep, || unsafe { do_step(self.handle, start, length, 1) });
                self.has_stepped(status, interval)
            }
            Functions::V2(f) => {
                let do_step = self.need(f.do_step, "DoStep")?;
                // SAFETY: the instance is alive and initialised.
                let status = self.watched(Call::DoStep, || unsafe {
                    do_step(self.handle, start, length, no_return.into())
                });
                self.has_stepped(status, interval)
            }
            Functions::V3(f) => {
                let advance = self.do_step_3(f, interval, no_return, false)?;
                if advance.ends { self.ends_in(interval, advance.reached) } else { Ok(advance.reached) }
            }
        }
    }

    /// What a step of FMI 1 or 2 with this status has reached.
    #[inline]
    pub(crate) fn has_stepped(&self, status: c_int, interval: Interval) -> Result<f64> {
        match &self.library.functions {
            Functions::V1(_) | Functions::V2(_) if status == DISCARD => self.discarded(interval),
            _ => match self.check(status, "DoStep") {
                Ok(()) => Ok(interval.end),
                Err(error) => Err(self.with_own_step(error, interval)),
            },
        }
    }

    /// A step of FMI 3, which ends before its end only if it may. Out of line, so that the other one needs no room for its
    /// results.
    #[inline(never)]
    pub(crate) fn do_step_3(
        &self,
        f: &Functions3,
        interval: Interval,
        no_return: bool,
        may_return_early: bool,
    ) -> Result<Advance> {
        let (start, length) = (interval.start, interval.length);
        let do_step = self.need(f.do_step, "DoStep")?;
        let (mut event, mut ends, mut early, mut last) = (0, 0, 0, interval.end);
        // SAFETY: the instance is alive and initialised, the places to write to live.
        let status = self.watched(Call::DoStep, || unsafe {
            let flags = (&raw mut event, &raw mut ends, &raw mut early);
            do_step(self.handle, start, length, no_return, flags.0, flags.1, flags.2, &raw mut last)
        });
        let is_cut = ends == 0 && early != 0 && !may_return_early;
        if status == DISCARD || (status <= 1 && is_cut) {
            return Err(self.incomplete(interval, Some(last)));
        }
        if let Err(error) = self.check(status, "DoStep") {
            return Err(self.with_own_step(error, interval));
        }
        let is_done = event == 0 && ends == 0 && early == 0;
        let is_there = is_end_of(interval, last) || (is_done && self.is_almost_there(interval, last));
        let reached = if is_there { interval.end } else { last };
        Ok(Advance { reached, event: event != 0, early: early != 0, ends: ends != 0 })
    }

    /// Whether the outputs of an FMU that says it is done count as those of the end, although its own time differs. FMI 3
    /// allows it to miss the end (description of lastSuccessfulTime), as one with fixed steps inside does, by up to such a
    /// step; and some FMUs leave their time at zero. This is said once.
    #[cold]
    fn is_almost_there(&self, interval: Interval, last: f64) -> bool {
        let missed = last - interval.end;
        let inner = self.library.co_simulation().fixed_internal_step_size.unwrap_or(0.0);
        let is_near = is_near_end(missed, interval.length, inner);
        let counts = is_near || last == 0.0;
        if counts && !self.misses_ends.replace(true) {
            let (start, end, by) = (interval.start, interval.end, missed.abs());
            let side = if missed > 0.0 { "beyond" } else { "short of" };
            let text = match is_near {
                true => format!("after the step from {start} s to {end} s it is {by:.3e} s {side} its end"),
                false => format!("it completes the step from {start} s to {end} s without saying its time"),
            };
            self.warn(Code::ClockDiffers, text);
        }
        counts
    }

    /// What becomes of a step that an FMU of FMI 1 or 2 discarded: asks how far it came. In FMI 1 it cannot
    /// ask for the end.
    #[cold]
    fn discarded(&self, interval: Interval) -> Result<f64> {
        let (mut time, mut ends) = (f64::NAN, 0);
        let (real, boolean, kind) = match &self.library.functions {
            Functions::V1(f) => {
                let real = f.slave.as_ref().and_then(|f| f.get_real_status);
                (real, None, ffi1::LAST_SUCCESSFUL_TIME)
            }
            Functions::V2(f) => (f.get_real_status, f.get_boolean_status, ffi2::LAST_SUCCESSFUL_TIME),
            Functions::V3(_) => (None, None, 0),
        };
        let known = real.is_some_and(|function| {
            // SAFETY: the instance is alive, the call is allowed after a discarded step.
            let status =
                self.watched(Call::GetStatus, || unsafe { function(self.handle, kind, &raw mut time) });
            status == OK
        });
        let asked = boolean.is_some_and(|function| {
            // SAFETY: as above.
            let status = self.watched(Call::GetStatus, || unsafe {
                function(self.handle, ffi2::TERMINATED, &raw mut ends)
            });
            status == OK
        });
        floating_point::restore();
        if asked && ends != 0 {
            return self.ends_in(interval, if known { time } else { interval.start });
        }
        Err(self.incomplete(interval, known.then_some(time)))
    }

    #[cold]
    fn incomplete(&self, interval: Interval, last: Option<f64>) -> Error {
        floating_point::restore();
        let reached = match last {
            Some(time) => format!("it reached t = {} s", plain_time(time)),
            None => "the time it reached is not known".to_owned(),
        };
        let [start, end] = [interval.start, interval.end].map(plain_time);
        let what = format!("the FMU did not complete the step from {start} s to {end} s; {reached}");
        self.with_own_step(self.error(Code::FmuDiscard, &what).hint("try a smaller step"), interval)
    }

    /// The remedy for an FMU that fails in a step of another length than the only one it can do.
    #[cold]
    fn with_own_step(&self, error: Error, interval: Interval) -> Error {
        let kind = self.library.co_simulation();
        let proposed = self.library.description().default_experiment.step_size;
        let is_refusal = matches!(error.code(), Code::FmuError | Code::FmuDiscard);
        let (Some(own), true) = (kind.fixed_internal_step_size.or(proposed), is_refusal) else {
            return error;
        };
        let is_other = (own - interval.length).abs() > TIME_TOLERANCE * own;
        if kind.can_handle_variable_communication_step_size || !is_other {
            return error;
        }
        let (own, given) = (format_time(own), format_time(interval.length));
        let option = own.replace(' ', "");
        error.hint(format!(
            "it cannot vary its step and names {own}, not {given}: `--step {option}`, or `size = \"{own}\"` in [step]"
        ))
    }
}

/// Whether an FMU that missed the end of a step by so much, before it if negative, was near. One with fixed steps
/// inside, which may be longer than those of the run, waits until the next of them fits. Not so if it is not a number.
fn is_near_end(missed: f64, length: f64, inner: f64) -> bool {
    let most = MOST_MISSED * length;
    let before = if inner > most { inner.min(MOST_WAITED * length) } else { most };
    (-before..=most).contains(&(missed / (1.0 + TIME_TOLERANCE)))
}

/// Whether a time is the end of a step, but for round-off of the FMU's own clock.
pub(super) fn is_end_of(interval: Interval, time: f64) -> bool {
    let near = TIME_TOLERANCE * interval.length + 4.0 * f64::EPSILON * interval.end.abs();
    (time - interval.end).abs() <= near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_step_allows_to_be_early_not_late() {
        let is_near = |missed: f64, inner: f64| is_near_end(missed, 0.1, inner);
        assert!(is_near(-0.005, 0.0) && is_near(0.005, 0.0) && !is_near(-0.006, 0.0) && !is_near(0.006, 0.0));
        assert!(is_near(-0.3, 0.3) && !is_near(-0.31, 0.3) && !is_near(0.3, 0.3));
        for absurd in [1e300, f64::INFINITY] {
            assert!(is_near(-100.0, absurd) && !is_near(-101.0, absurd) && !is_near(0.006, absurd));
        }
        assert!(!is_near(f64::NAN, 1e300) && !is_near(-0.01, f64::NAN) && !is_near(-0.01, -1.0));
    }
}
