//! How long the macro steps of a run are, and when it ends.
//!
//! The length is a property of each step: a control proposes the next one and hears what became of it. Everybody else
//! takes times and lengths from the step that is done ([`StepContext`], [`Interval`]).

use costep_core::{
    Code, Error, Experiment, Interval, Result, Signals, StateReader, StateWriter, StepContext, Verdict,
};

use crate::ledger::Ledger;

/// Proposes macro steps. Where one step ends the next one has to start, bit for bit.
pub trait StepControl: Send {
    /// The step that follows communication point k, the last one that was accepted. Also asked at the end of the run.
    fn next_step(&self, k: u64) -> Interval;

    /// Whether the run is over at communication point k.
    fn is_over(&self, k: u64) -> bool;

    /// Whether all steps have the same length, which methods that learn from step to step need. The step of the
    /// [`Experiment`] is then that length; otherwise it is the longest one that will be proposed.
    fn is_uniform(&self) -> bool;

    /// A step is too long: the next proposal starts where it did and is at most `shorter`.
    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()>;

    /// A step was accepted.
    fn accepted(&mut self, _step: &StepContext) {}

    /// Whether it looks at the outcome of steps and may reject them, so that every subsystem has to support rollback.
    fn judges(&self) -> bool {
        false
    }

    /// Looks at the outcome of a step, if it `judges`.
    fn judge(&mut self, _step: &StepContext, _signals: &Signals<'_>) -> Result<Verdict> {
        Ok(Verdict::Accept)
    }

    /// Writes its memory to a checkpoint.
    fn save(&self, _out: &mut StateWriter) {}

    /// Reads its memory from a checkpoint.
    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Ok(())
    }
}

/// The control of an engine. Fixed steps are asked without a virtual call, which two small FMUs would feel.
pub(crate) enum Pace {
    Fixed(FixedSteps),
    Controlled(Box<dyn StepControl>),
}

impl Pace {
    pub(crate) fn control(&self) -> &dyn StepControl {
        match self {
            Self::Fixed(steps) => steps,
            Self::Controlled(control) => &**control,
        }
    }

    pub(crate) fn control_mut(&mut self) -> &mut dyn StepControl {
        match self {
            Self::Fixed(steps) => steps,
            Self::Controlled(control) => &mut **control,
        }
    }

    /// Whether the steps are those of the experiment: one that is rejected is done in halves.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// Whether the run is over at communication point k.
    #[inline(always)]
    pub(crate) fn is_over(&self, k: u64) -> bool {
        match self {
            Self::Fixed(steps) => steps.is_over(k),
            Self::Controlled(control) => control.is_over(k),
        }
    }

    /// The step after one that was accepted.
    #[inline(always)]
    pub(crate) fn step_after(&mut self, ledger: &Ledger) -> Interval {
        match self {
            Self::Fixed(steps) => steps.next_step(ledger.k),
            Self::Controlled(control) => {
                control.accepted(&ledger.now.over(ledger.last));
                control.next_step(ledger.k)
            }
        }
    }
}

/// Steps of one length: T^k = start + k h, always computed from k. Adding h step by step would drift. The last one ends
/// at the stop time, and may be shorter: what a method has learnt of the others serves it for one more.
#[derive(Clone, Copy, Debug)]
pub struct FixedSteps {
    experiment: Experiment,
    steps: u64,
}

impl FixedSteps {
    /// The steps of an experiment.
    pub fn new(experiment: Experiment) -> Self {
        Self { experiment, steps: experiment.steps() }
    }
}

impl StepControl for FixedSteps {
    #[inline]
    fn next_step(&self, k: u64) -> Interval {
        if k + 1 < self.steps { self.experiment.equal_interval(k) } else { self.experiment.interval(k) }
    }

    #[inline]
    fn is_over(&self, k: u64) -> bool {
        k >= self.steps
    }

    fn is_uniform(&self) -> bool {
        true
    }

    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()> {
        let message = format!("a step of {} s was rejected, but the steps of this run are fixed", step.h);
        Err(Error::new(Code::Repeats, message).hint(format!("a step of at most {shorter} s is asked for")))
    }
}
