//! FMUs that ask to end the simulation themselves.
//!
//! To ask is not a failure: what was computed up to that time counts. A step that has come to its end is therefore accepted, so
//! that its communication point is recorded; only the step after it is refused. Inside a step the others stand
//! elsewhere, and the run ends at the communication point before.

use costep_core::quantity::plain_time;
use costep_core::{Code, Error, Interval, Result};

use crate::call::instance::Instance;
use crate::call::step::is_end_of;

impl Instance {
    /// Time at which the FMU has asked to end the simulation, if it has.
    pub(crate) fn end(&self) -> Option<f64> {
        let end = self.end.get();
        (!end.is_nan()).then_some(end)
    }

    /// Notes down that the FMU has asked for the end, or, if `t` is not a number, that it has not.
    pub(crate) fn set_end(&self, t: f64) {
        self.end.set(t);
    }

    /// An error if the FMU has asked for the end: no further step is done.
    #[inline]
    pub(crate) fn goes_on(&self) -> Result<()> {
        if self.end.get().is_nan() { Ok(()) } else { Err(self.has_ended()) }
    }

    /// The FMU asks for the end at `t` in a step: good if that is the end of the step. A time that is not a number counts as its start.
    #[cold]
    pub(crate) fn ends_in(&self, interval: Interval, t: f64) -> Result<f64> {
        let t = if t.is_finite() { t } else { interval.start };
        self.set_end(t);
        if is_end_of(interval, t) { Ok(interval.end) } else { Err(self.has_ended()) }
    }

    /// The error for an FMU that asked for the end before what is wanted of it.
    #[cold]
    pub(crate) fn has_ended(&self) -> Error {
        let t = self.end.get();
        let hint = match self.library.description().origin.generation_tool.as_deref() {
            Some(tool) if tool.starts_with("PythonFMU") => {
                "if this was not meant: `do_step` of its Python code has to return True".to_owned()
            }
            _ => format!(
                "results up to there are valid; `--t-end {t}` ends the run there, if that time is a multiple of the step"
            ),
        };
        self.error(Code::FmuEnds, &format!("the FMU asked to end the simulation at t = {} s", plain_time(t)))
            .hint(hint)
    }
}
