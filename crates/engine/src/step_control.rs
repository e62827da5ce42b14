//! How long the macro steps of a run are, and when it ends.
//!
//! The length is a property of each step: a control proposes the next one and hears what became of it.
//! Everybody else takes times and lengths from the step that is done ([`StepContext`], [`Interval`]).

use costep_core::{
    AfterStep, Code, Description, Error, Experiment, External, Interval, Result, Signals, StateReader,
    StateWriter, StepContext, Verdict,
};

use crate::ledger::Ledger;

/// How an input is formed over a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputTraits {
    /// Order of its polynomial.
    pub order: usize,
    /// It is the projection of what is expected, not a continuation from the start of the step.
    pub is_projected: bool,
    /// An output of its subsystem follows it at once: outputs are read under its value at the end of the
    /// step.
    pub is_direct: bool,
}

/// The system as a control sees it while it prepares.
pub struct ControlView<'a> {
    /// Start, stop and longest step.
    pub experiment: &'a Experiment,
    /// One per subsystem.
    pub descriptions: &'a [Description],
    /// r(t): (index into u, signal).
    pub externals: &'a [(usize, External)],
    /// Every input that methods form from outputs; nothing for external and discrete ones.
    pub inputs: &'a [Option<InputTraits>],
    /// A method carries on from step to step what the last one lacked or taught: lengths should change
    /// seldom, and what a step after a change shows is not yet its error.
    pub carries_on: bool,
    /// A method learns what steps of a length do: see [`costep_core::LengthDemand::Doubled`].
    pub doubles: bool,
    /// A method repeats steps.
    pub repeats: bool,
    /// The first subsystem that cannot go back, if there is one.
    pub without_rollback: Option<&'a Description>,
}

/// What a control has done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepCounts {
    /// Steps that were accepted.
    pub steps: u64,
    /// Steps that were done again, shorter.
    pub rejected: u64,
    /// Steps of the shortest length allowed whose error was still far beyond the tolerance.
    pub missed: u64,
    /// Shortest step in s.
    pub shortest: f64,
    /// Longest step in s.
    pub longest: f64,
}

/// Proposes macro steps. Where one step ends the next one has to start, bit for bit.
pub trait StepControl: Send {
    /// Takes all memory it will ever need, before the first step.
    fn prepare(&mut self, _system: &ControlView<'_>) -> Result<()> {
        Ok(())
    }

    /// The step that follows communication point k, the last one that was accepted. Also asked at the end
    /// of the run.
    fn next_step(&self, k: u64) -> Interval;

    /// Whether the run is over at communication point k.
    fn is_over(&self, k: u64) -> bool;

    /// Whether all steps have the same length, which methods that learn from step to step need. The step of
    /// the [`Experiment`] is then that length; otherwise it is the longest one that will be proposed.
    fn is_uniform(&self) -> bool;

    /// A step is too long: the next proposal starts where it did and is at most `shorter`.
    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()>;

    /// A step was accepted.
    fn accepted(&mut self, _step: &StepContext) {}

    /// What it does with the outcome of a step that all methods accept. If it may reject it, every
    /// subsystem has to support rollback. Asked once, after `prepare`.
    fn after_step(&self) -> AfterStep {
        AfterStep::Nothing
    }

    /// Looks at the outcome of a step, if `after_step` says so.
    fn judge(&mut self, _step: &StepContext, _signals: &Signals<'_>) -> Result<Verdict> {
        Ok(Verdict::Accept)
    }

    /// What it has done, if it chooses lengths by itself.
    fn counts(&self) -> Option<StepCounts> {
        None
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

/// Steps of one length: T^k = start + k h, always computed from k. Adding h step by step would drift. The
/// last one ends at the stop time, and may be shorter: what a method has learnt of the others serves it for
/// one more.
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

/// Steps from time to time of a list, each in equal parts: the steps of a run that has been done, or finer
/// ones.
#[derive(Clone, Debug)]
pub struct ListedSteps {
    times: Vec<f64>,
    parts: u64,
}

impl ListedSteps {
    /// From each of these rising times to the next, in so many parts.
    pub fn new(times: Vec<f64>, parts: u64) -> Self {
        Self { times, parts: parts.max(1) }
    }
}

impl StepControl for ListedSteps {
    fn next_step(&self, k: u64) -> Interval {
        let (i, part) = ((k / self.parts) as usize, (k % self.parts) as usize);
        let last = self.times.len().saturating_sub(1);
        if i >= last {
            // Asked for at the end, and never done.
            let end = self.times.get(last).copied().unwrap_or(0.0);
            return Interval::new(end, end + (end - self.times.first().copied().unwrap_or(0.0)).max(1.0));
        }
        let whole = Interval::new(self.times[i], self.times[i + 1]);
        let piece = whole.piece(part, self.parts as usize);
        if part as u64 + 1 == self.parts { Interval { end: whole.end, ..piece } } else { piece }
    }

    fn is_over(&self, k: u64) -> bool {
        k >= self.parts * (self.times.len() as u64).saturating_sub(1)
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()> {
        let message = format!("a step of {} s was rejected, but the steps of this run are given", step.h);
        Err(Error::new(Code::Repeats, message).hint(format!("a step of at most {shorter} s is asked for")))
    }
}
