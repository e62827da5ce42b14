//! What is made of the outputs on arrival at a communication point: local models and coupled inputs.

use costep_core::{Interval, Observation, Result, StepContext};

use super::Engine;

impl Engine {
    /// Arrives at T^(k+1). `end`: the last part of the step, or all of it.
    #[inline]
    pub(super) fn arrive(&mut self, step: &StepContext, end: &StepContext) -> Result<()> {
        let Self { plan, exchange, ledger, control, .. } = self;
        control.accepted(step);
        ledger.k += 1;
        ledger.last = step.interval();
        ledger.next = control.next_step(ledger.k);
        exchange.sample_externals(plan, ledger.next.start, ledger.next.end);
        self.look_around(end)?;
        self.plant.step_is_over(&self.plan);
        Ok(())
    }

    /// Local models and coupled inputs at the end of a step or of a part of one.
    #[inline]
    pub(super) fn look_around(&mut self, step: &StepContext) -> Result<()> {
        if self.ledger.stepped == 0 {
            self.exchange.find_own_ends(&self.plant);
        }
        self.observe_models(&step.interval())?;
        let Self { plan, plant, exchange, groups, models, .. } = self;
        exchange.form_coupled(plan, plant, &**models, groups)
    }

    /// Shows the model source every subsystem at T^k.
    #[inline]
    pub(super) fn observe_models(&mut self, interval: &Interval) -> Result<()> {
        match self.plan.uses_models() || !self.plan.roles.forming.is_empty() {
            true => self.show_to_models(*interval),
            false => Ok(()),
        }
    }

    #[inline(never)]
    fn show_to_models(&mut self, interval: Interval) -> Result<()> {
        let Self { plan, plant, exchange, models, ledger, .. } = self;
        exchange.keep_inputs_at_end(plan, plant, interval.length);
        if !plan.uses_models() {
            return Ok(());
        }
        let k = ledger.k;
        plant.try_each((interval.end, k), |i, subsystem| {
            let u = &exchange.u_end[plan.layout.input_range(i)];
            let y = &exchange.y[plan.layout.output_range(i)];
            models.observe(i, subsystem, &Observation { k, interval, u, y })
        })
    }
}
