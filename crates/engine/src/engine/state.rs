//! The whole state as bytes, for checkpoints.

use costep_core::{Code, Error, External, Interval, Result, StateReader, StateWriter};

use super::Engine;
use crate::ledger::Standing;

/// Counters in a saved state beyond this are damage.
const MAX_COUNT: u64 = 1 << 53;

impl Engine {
    /// Gives an input of the whole system, which something drives from outside, this value from now on, in place of all
    /// that comes from outside. False if nothing does.
    pub fn drive(&mut self, input: usize, value: f64) -> bool {
        let Self { plan, exchange, ledger, .. } = self;
        let mut of_input = plan.externals.iter_mut().filter(|(j, _)| *j == input).map(|(_, signal)| signal);
        let Some(first) = of_input.next() else { return false };
        *first = External::Constant(value);
        of_input.for_each(|other| *other = External::Constant(0.0));
        exchange.external_has_changed(plan, input, &ledger.next);
        true
    }

    /// What drives inputs from outside, as [`Engine::drive`] has changed it.
    pub fn externals(&self) -> &[(usize, External)] {
        &self.plan.externals
    }

    /// Puts back what drove the inputs, before [`Engine::load`].
    pub fn set_externals(&mut self, externals: &[(usize, External)]) {
        self.plan.externals.clone_from_slice(externals);
    }

    /// Goes on from the communication point of another engine with the same parts and steps. The coupling methods begin as
    /// at a start: they know nothing of what came before. An error if a part cannot save its state.
    pub fn take_over(&mut self, other: &Self) -> Result<()> {
        let mut out = StateWriter::default();
        other.plant.save(&mut out)?;
        let bytes = out.into_bytes();
        let mut from = StateReader::new(&bytes);
        self.plant.load(&mut from)?;
        from.finish()?;
        let Self { plan, exchange, ledger, pace, .. } = self;
        plan.externals.clone_from_slice(&other.plan.externals);
        (ledger.k, ledger.subsystem_steps) = (other.ledger.k, other.ledger.subsystem_steps);
        ledger.divided_steps = other.ledger.divided_steps;
        ledger.next = pace.control().next_step(ledger.k);
        let start = ledger.next.start;
        ledger.set_out(Interval::new(start, start), 0.0);
        (ledger.last, ledger.began, ledger.resumed) = (Interval::new(start, start), start, true);
        exchange.sample_externals(plan, &ledger.next);
        exchange.begin_with(plan, &other.exchange.y);
        self.observe_models()
    }

    /// The whole state as bytes.
    pub fn save(&self) -> Result<Vec<u8>> {
        let mut out = StateWriter::default();
        out.integer(self.ledger.k);
        out.integer(self.ledger.subsystem_steps);
        out.integer(self.ledger.divided_steps);
        self.exchange.save(&mut out);
        self.models.save(&mut out);
        self.groups.iter().for_each(|group| group.method.save(&mut out));
        self.plant.save(&mut out)?;
        self.pace.control().save(&mut out);
        Ok(out.into_bytes())
    }

    /// Puts back a saved state.
    pub fn load(&mut self, bytes: &[u8]) -> Result<()> {
        let mut from = StateReader::new(bytes);
        let Self { plan, plant, exchange, ledger, groups, models, pace, .. } = self;
        ledger.k = count(&mut from)?;
        ledger.subsystem_steps = count(&mut from)?;
        ledger.divided_steps = count(&mut from)?;
        exchange.load(&mut from)?;
        models.load(&mut from)?;
        groups.iter_mut().try_for_each(|group| group.method.load(&mut from))?;
        plant.load(&mut from)?;
        pace.control_mut().load(&mut from)?;
        from.finish()?;
        ledger.next = pace.control().next_step(ledger.k);
        let start = ledger.next.start;
        exchange.sample_externals(plan, &ledger.next);
        ledger.last = Interval::new(start, start);
        ledger.began = start;
        ledger.resumed = true;
        ledger.standing = Standing::CommunicationPoint;
        Ok(())
    }
}

fn count(from: &mut StateReader<'_>) -> Result<u64> {
    match from.integer()? {
        value if value < MAX_COUNT => Ok(value),
        value => Err(Error::new(Code::CheckpointDamaged, format!("the saved state counts {value} steps"))),
    }
}
