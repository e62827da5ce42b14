//! Plain steps: held inputs, one stage of rows on one thread, and no method that wants more than the outputs. They do what
//! [`super::step`] does, without the questions whose answers are known: those take longer than a step of two small FMUs.

use costep_core::Result;

use super::Engine;
use crate::guard::Moment;
use crate::job::step_rows;
use crate::threads::ThreadChoice;

impl Engine {
    /// Whether steps that are not timed are plain: shorter, with the same results.
    pub fn is_plain(&self) -> bool {
        self.holds
            && matches!(self.threads, ThreadChoice::Serial)
            && matches!(&self.lanes[..], [lanes] if lanes.iter().all(|lane| lane.row.is_some()))
            && self.schedule.known_inputs.iter().all(Vec::is_empty)
            && self.externals.is_empty()
            && self.forming.is_empty()
            && self.environments.is_empty()
            && !self.needs_models
    }

    /// A plain step.
    #[inline]
    pub(super) fn step_plainly(&mut self) -> Result<()> {
        let (k, interval) = (self.k, self.experiment.interval(self.k));
        // What comes back is overwritten when the next coupled inputs are formed.
        self.inputs.hold(&mut self.coupled);
        self.guard.check_inputs(Moment { time: interval.start, step: k }, &self.inputs)?;
        let (u, lanes) = (self.inputs.coefficients(0), &mut self.lanes[0]);
        let job = || job!(self, 0, interval, k, None);
        step_rows(&interval, u, lanes, &mut self.subsystems, &mut self.y_next, job)?;
        self.guard.check(Moment { time: interval.end, step: k }, 0..self.y_next.len(), &self.y_next)?;
        self.subsystem_steps += self.subsystems.len() as u64;
        self.attempts += 1;
        std::mem::swap(&mut self.y, &mut self.y_next);
        self.last_length = interval.length;
        self.k += 1;
        self.coupling.apply(&self.y, &mut self.coupled);
        Ok(())
    }
}
