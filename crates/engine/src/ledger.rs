//! Where a run stands, and what has been counted on the way.

use costep_core::{Code, Error, Interval, Result, StepContext};

use crate::clocks::Clocks;

/// Where a run stands, and what has been counted on the way.
pub(crate) struct Ledger {
    /// Number of accepted steps; the engine stands at T^k.
    pub(crate) k: u64,
    /// The step to come: its start is T^k.
    pub(crate) next: Interval,
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
        }
    }

    /// Notes that a step begins. After one that failed the subsystems stand at different times: there is no other.
    #[inline]
    pub(crate) fn begin(&mut self) -> Result<()> {
        if self.standing == Standing::InsideStep {
            return Err(Error::new(Code::Bug, "the run has failed before and cannot be stepped on"));
        }
        self.standing = Standing::InsideStep;
        Ok(())
    }

    /// Notes that the step has come to its end.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.stepped += 1;
        self.standing = Standing::CommunicationPoint;
    }

    /// The step to come, after one of this length and so many tries.
    #[inline]
    pub(crate) fn context(&self, h_before: f64, repetition: u32) -> StepContext {
        let Interval { start, end, length } = self.next;
        StepContext { k: self.k, t: start, t_next: end, h: length, h_before, repetition }
    }
}
