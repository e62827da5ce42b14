//! Controls that leave the lengths of steps to [`Pacing`] and differ in what they look at.

use costep_core::{AfterStep, Interval, Result, Signals, StateReader, StateWriter, StepContext, Verdict};

use super::pacing::Pacing;
use crate::step_control::{ControlView, StepControl, StepCounts};

/// What a control looks at, and what it remembers of it.
pub(super) trait Rule: Send {
    /// Checks that the system has what it needs, and takes all memory.
    fn prepare(&mut self, system: &ControlView<'_>) -> Result<()>;

    /// What it does with the outcome of a step.
    fn after_step(&self) -> AfterStep;

    /// Looks at the outcome of a step, if `after_step` says so.
    fn judge(
        &mut self,
        _step: &StepContext,
        _signals: &Signals<'_>,
        _pacing: &mut Pacing,
    ) -> Result<Verdict> {
        Ok(Verdict::Accept)
    }

    /// How long the step in place of a rejected one may be, if `asked` is what its method asks for.
    fn instead(&self, _step: &StepContext, asked: f64) -> f64 {
        asked
    }

    /// A step was accepted, of which the pacing has not heard yet.
    fn accepted(&mut self, _step: &StepContext, _pacing: &mut Pacing) {}

    /// Writes its memory to a checkpoint.
    fn save(&self, _out: &mut StateWriter) {}

    /// Reads its memory from a checkpoint.
    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Ok(())
    }
}

/// The control that follows from a rule.
pub(super) struct Paced<R> {
    pub(super) pacing: Pacing,
    pub(super) rule: R,
}

impl<R: Rule> StepControl for Paced<R> {
    fn prepare(&mut self, system: &ControlView<'_>) -> Result<()> {
        self.rule.prepare(system)?;
        self.pacing.prepare(system)
    }

    fn next_step(&self, _k: u64) -> Interval {
        self.pacing.next_step()
    }

    fn is_over(&self, _k: u64) -> bool {
        self.pacing.is_over()
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()> {
        self.pacing.rejected(step, self.rule.instead(step, shorter))
    }

    fn accepted(&mut self, step: &StepContext) {
        self.rule.accepted(step, &mut self.pacing);
        self.pacing.accepted(step);
    }

    fn after_step(&self) -> AfterStep {
        self.rule.after_step()
    }

    fn judge(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        self.rule.judge(step, signals, &mut self.pacing)
    }

    fn counts(&self) -> Option<StepCounts> {
        Some(self.pacing.counts())
    }

    fn save(&self, out: &mut StateWriter) {
        self.pacing.save(out);
        self.rule.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.pacing.load(from)?;
        self.rule.load(from)
    }
}
