//! Tries of a step in which a subsystem failed, or a signal left all bounds: where everything can go back, a
//! shorter step is tried before the run ends.

use costep_core::error::Details;
use costep_core::{Code, Error, Place, Result, Verdict};

use super::Engine;

/// Steps of fixed length are done in so many parts at most for this: where 64 do not help, more seldom do, and
/// an unstable run should end soon.
const MOST_PARTS: f64 = 64.0;

/// What has failed.
#[derive(Default)]
pub(crate) struct FailedTrials {
    /// The failure that shorter steps are tried for.
    pending: Option<Error>,
    /// Steps with such tries, and whether the one under way is among them.
    steps: u64,
    is_counted: bool,
    first: String,
    warning: String,
}

impl FailedTrials {
    /// A step, or part of one, has come to its end.
    #[inline]
    pub(crate) fn is_over(&mut self) {
        if self.is_counted {
            (self.pending, self.is_counted) = (None, false);
        }
    }

    #[cold]
    fn note(&mut self, error: Error) {
        if !self.is_counted {
            self.steps += 1;
            self.is_counted = true;
            if self.steps == 1 {
                let Details { message, place, .. } = error.details();
                let time = if let Place::Run { time, .. } = place {
                    format!(" at t = {time} s")
                } else {
                    String::new()
                };
                self.first = format!("{message}{time}");
            }
            let steps = if self.steps == 1 { "1 step".into() } else { format!("{} steps", self.steps) };
            self.warning =
                format!("{steps} failed at first and went well when shorter; the first time: {}", self.first);
        }
        self.pending = Some(error);
    }

    /// What has to be said after a run: how many steps, and what was the first failure.
    pub(crate) fn warning(&self) -> Option<&str> {
        (self.steps > 0).then_some(&*self.warning)
    }
}

/// Whether a failure may be due to the length of the step: what a subsystem cannot do, and what no signal should be.
fn may_pass_in_shorter_steps(error: &Error) -> bool {
    matches!(
        error.code(),
        Code::NotFinite | Code::Diverged | Code::OutOfBounds | Code::FmuDiscard | Code::StepTooSmall
    )
}

impl Engine {
    /// What becomes of a step that failed: half of it is tried, if there is any hope.
    #[cold]
    pub(super) fn after_failure(&mut self, error: Error) -> Result<Verdict> {
        let (tried, whole) = (self.ledger.now.h, self.ledger.next.length);
        let is_short = self.pace.is_fixed() && tried <= 1.5 * whole / MOST_PARTS;
        if is_short || !may_pass_in_shorter_steps(&error) {
            return Err(error);
        }
        self.ledger.failed_trials.note(error);
        Ok(Verdict::Reject { shorter: 0.5 * tried })
    }

    /// The failure that shorter steps do not avoid, in place of the error that steps cannot become shorter.
    #[cold]
    pub(super) fn cause_of(&mut self, error: Error) -> Error {
        match error.code() {
            Code::ShortestStep | Code::Repeats | Code::NeedsMissing => {
                self.ledger.failed_trials.pending.take().unwrap_or(error)
            }
            _ => error,
        }
    }
}
