//! Plain steps: held inputs, one stage of rows on one thread, and no method that wants more than the outputs. They do what
//! [`super::step`] does, without the questions whose answers are known: those take longer than a step of two small FMUs.

use costep_core::Result;

use super::Engine;
use crate::guard::Moment;
use crate::job::{Job, step_rows};
use crate::threads::ThreadChoice;

impl Engine {
    /// Whether steps that are not timed are plain: shorter, with the same results.
    pub fn is_plain(&self) -> bool {
        let Self { plan, plant, .. } = self;
        plan.holds
            && matches!(plant.threads, ThreadChoice::Serial)
            && matches!(&plant.lanes[..], [lanes] if lanes.iter().all(|lane| lane.row.is_some()))
            && plan.schedule.known_inputs.iter().all(Vec::is_empty)
            && plan.externals.is_empty()
            && plan.roles.forming.is_empty()
            && self.exchange.environments.is_empty()
            && !plan.uses_models()
            && !plan.goes_back
    }

    /// A plain step.
    #[inline]
    pub(super) fn step_plainly(&mut self) -> Result<()> {
        let Self { plan, plant, exchange, ledger, control, .. } = self;
        let (k, interval) = (ledger.k, ledger.next);
        // What comes back is overwritten when the next coupled inputs are formed.
        exchange.inputs.hold(&mut exchange.coupled);
        plan.guard.check_inputs(Moment { time: interval.start, step: k }, &exchange.inputs)?;
        let (u, lanes) = (exchange.inputs.coefficients(0), &mut plant.lanes[0]);
        let (inputs, environments) = (&exchange.inputs, &exchange.environments[..]);
        let job = || Job { plan, interval, step: k, stage: 0, inputs, environments, clocks: None };
        step_rows(&interval, u, lanes, &mut plant.subsystems, &mut exchange.y_next, job)?;
        plan.guard.check(
            Moment { time: interval.end, step: k },
            0..exchange.y_next.len(),
            &exchange.y_next,
        )?;
        ledger.subsystem_steps += plant.subsystems.len() as u64;
        ledger.attempts += 1;
        control.accepted(&ledger.context(exchange.last_length, 0));
        std::mem::swap(&mut exchange.y, &mut exchange.y_next);
        exchange.last_length = interval.length;
        ledger.k += 1;
        ledger.last = interval;
        ledger.next = control.next_step(ledger.k);
        plan.coupling.apply(&exchange.y, &mut exchange.coupled);
        Ok(())
    }
}
