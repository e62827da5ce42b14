//! What is made of the outputs on arrival at a communication point: local models and coupled inputs.

use costep_core::{Observation, Result};

use super::Engine;

impl Engine {
    /// Arrives at T^(k+1), at the end of the step or of the last part of it.
    #[inline(always)]
    pub(super) fn arrive(&mut self) -> Result<()> {
        let Self { plan, exchange, ledger, pace, .. } = self;
        ledger.k += 1;
        ledger.last = ledger.next;
        ledger.next = pace.step_after(ledger);
        exchange.sample_externals(plan, &ledger.next);
        self.look_around()?;
        self.plant.step_is_over(&self.plan);
        Ok(())
    }

    /// Local models and coupled inputs at the end of a step or of a part of one.
    #[inline(always)]
    pub(super) fn look_around(&mut self) -> Result<()> {
        if self.ledger.stepped == 0 {
            self.exchange.find_own_ends(&self.plant);
        }
        self.observe_models()?;
        let Self { plan, plant, exchange, groups, models, .. } = self;
        exchange.form_coupled(plan, plant, &**models, groups)
    }

    /// Shows the model source every subsystem at T^k.
    #[inline(always)]
    pub(super) fn observe_models(&mut self) -> Result<()> {
        match self.plan.uses_models() || !self.plan.roles.forming.is_empty() {
            true => self.show_to_models(),
            false => Ok(()),
        }
    }

    #[inline(never)]
    fn show_to_models(&mut self) -> Result<()> {
        let Self { plan, plant, exchange, models, ledger, .. } = self;
        let interval = ledger.now.interval();
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
