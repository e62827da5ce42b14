//! The whole state as bytes, for checkpoints.

use std::ops::Range;

use costep_core::{Code, Error, External, Interval, Result, StateReader, StateWriter};

use super::Engine;
use crate::ledger::Standing;

/// Counters in a saved state beyond this are damage.
const MAX_COUNT: u64 = 1 << 53;

/// A saved state of which is known where its real numbers are.
#[derive(Clone, Debug)]
pub struct MarkedState {
    /// As [`Engine::save`] gives and [`Engine::load`] takes it.
    pub bytes: Vec<u8>,
    /// Where in them each number begins.
    pub marks: Vec<usize>,
    /// The numbers that are y^k, by their place among the marks.
    pub outputs: Range<usize>,
    /// Those that are z^k.
    pub coupled: Range<usize>,
    /// So many numbers at the front are signals: y, z, the polynomials of the inputs, and their ends.
    pub signals: usize,
    /// Those of the subsystems: time, states, inputs, memory of their solvers.
    pub parts: Range<usize>,
}

impl MarkedState {
    /// A number.
    pub fn number(&self, i: usize) -> f64 {
        let (head, _) = self.bytes[self.marks[i]..].split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        f64::from_le_bytes(*head)
    }

    /// All numbers.
    pub fn numbers(&self) -> Vec<f64> {
        (0..self.marks.len()).map(|i| self.number(i)).collect()
    }

    /// Changes a number.
    pub fn set_number(&mut self, i: usize, value: f64) {
        let at = self.marks[i];
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
}

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

    /// What methods have learnt stays as it is from now on (`CouplingMethod::stop_learning`).
    /// False if none of them learns.
    pub fn stop_learning(&mut self) -> bool {
        let learning = self.groups.iter_mut().filter_map(|group| group.method.stop_learning().then_some(()));
        learning.count() > 0
    }

    /// Gives the methods the memory of those of another engine with the same parts, methods and steps: what they have learnt there
    /// they know here. An error if they do not fit.
    pub fn learn_from(&mut self, other: &Self) -> Result<()> {
        let mut out = StateWriter::default();
        other.groups.iter().for_each(|group| group.method.save(&mut out));
        let bytes = out.into_bytes();
        let mut from = StateReader::new(&bytes);
        self.groups.iter_mut().try_for_each(|group| group.method.load(&mut from))?;
        from.finish()
    }

    /// The whole state as bytes.
    pub fn save(&self) -> Result<Vec<u8>> {
        let mut out = StateWriter::default();
        self.write(&mut out)?;
        Ok(out.into_bytes())
    }

    /// The whole state as bytes, and where its real numbers are: who changes some of them and loads it goes on from a
    /// neighbouring state.
    pub fn save_marked(&self) -> Result<MarkedState> {
        let mut out = StateWriter::marking();
        let parts = self.write(&mut out)?;
        let (bytes, marks) = out.into_marked();
        let [outputs, inputs] = [self.exchange.y.len(), self.exchange.coupled.len()];
        let signals = outputs + 2 * inputs + self.exchange.inputs.raw().len();
        Ok(MarkedState {
            bytes,
            marks,
            outputs: 0..outputs,
            coupled: outputs..outputs + inputs,
            signals,
            parts,
        })
    }

    /// Writes everything; gives which of the marked numbers are those of the subsystems.
    fn write(&self, out: &mut StateWriter) -> Result<Range<usize>> {
        out.integer(self.ledger.k);
        out.integer(self.ledger.subsystem_steps);
        out.integer(self.ledger.divided_steps);
        self.exchange.save(out);
        self.models.save(out);
        self.groups.iter().for_each(|group| group.method.save(out));
        let first = out.marked();
        self.plant.save(out)?;
        let parts = first..out.marked();
        self.pace.control().save(out);
        Ok(parts)
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
