//! Where a run stands, and what has been counted on the way.

use costep_core::{Code, Error, Interval, Result, StepContext};

use crate::clocks::Clocks;
use crate::engine::FailedTrials;

/// Where a run stands, and what has been counted on the way.
pub(crate) struct Ledger {
    /// Number of accepted steps; the engine stands at T^k.
    pub(crate) k: u64,
    /// The step to come: its start is T^k.
    pub(crate) next: Interval,
    /// The step, or part of one, that is under way, as methods are told.
    pub(crate) now: StepContext,
    /// The macro step that was done last, of length 0 before the first one of this process.
    pub(crate) last: Interval,
    /// The run goes on from a saved state.
    pub(crate) resumed: bool,
    pub(crate) standing: Standing,
    /// Steps of single subsystems, repetitions included.
    pub(crate) subsystem_steps: u64,
    /// Macro steps that were done in parts.
    pub(crate) divided_steps: u64,
    /// Accepted steps of this process, and all tries, with those that were repeated or rejected.
    pub(crate) stepped: u64,
    pub(crate) attempts: u64,
    /// The time at which this process took the run over.
    pub(crate) began: f64,
    /// Times of steps, and whether this step is timed.
    pub(crate) clocks: Clocks,
    pub(crate) timed: bool,
    /// Tries that failed and were done again, shorter.
    pub(crate) failed_trials: FailedTrials,
}

/// Where the subsystems stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// All at T^k.
    CommunicationPoint,
    /// A step has begun and not come to its end: it is under way, or has failed.
    InsideStep,
}

impl Ledger {
    /// Before the first step.
    pub(crate) fn new(first: Interval, subsystems: usize) -> Self {
        Self {
            k: 0,
            next: first,
            now: StepContext {
                k: 0,
                t: first.start,
                t_next: first.start,
                h: 0.0,
                h_before: 0.0,
                repetition: 0,
            },
            last: Interval::new(first.start, first.start),
            resumed: false,
            standing: Standing::CommunicationPoint,
            subsystem_steps: 0,
            divided_steps: 0,
            stepped: 0,
            attempts: 0,
            began: first.start,
            clocks: Clocks::new(subsystems),
            timed: false,
            failed_trials: FailedTrials::default(),
        }
    }

    /// Notes that a step begins. After one that failed the subsystems stand at different times: there is no other.
    #[inline(always)]
    pub(crate) fn begin(&mut self) -> Result<()> {
        if self.standing == Standing::InsideStep {
            return Err(Error::new(Code::Bug, "the run has failed and cannot be continued"));
        }
        self.standing = Standing::InsideStep;
        Ok(())
    }

    /// Notes that the step has come to its end.
    #[inline(always)]
    pub(crate) fn end(&mut self) {
        self.stepped += 1;
        self.standing = Standing::CommunicationPoint;
    }

    /// A step, or part of one, begins after one of this length.
    #[inline(always)]
    pub(crate) fn set_out(&mut self, Interval { start, end, length }: Interval, h_before: f64) {
        self.now = StepContext { k: self.k, t: start, t_next: end, h: length, h_before, repetition: 0 };
    }
}
