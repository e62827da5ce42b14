//! How lengths follow errors where PI control does not serve: where they change seldom, and where they are those of a ladder.

use costep_core::StepContext;

use super::{FAR_BEYOND, FIRST_STEPS, GROWS_AT_FIRST, HELPS, Pacing, SHRINKS, StepError};

/// Where lengths change seldom: down as soon as a step should have been shorter than this share of itself, up when it could have been so
/// many times as long for a while, to this share of what the error allows.
const DOWN: f64 = 0.8;
const UP: f64 = 1.3;
const AIM: f64 = 0.78;
/// By how much a length may become shorter and longer at once, and what of an error still counts a step later.
const SELDOM_SHRINKS: f64 = 0.3;
const SELDOM_GROWS: f64 = 1.5;
const KEPT: f64 = 0.98;

/// On a ladder: down as soon as a step should have been shorter than this share of itself; a rung up when it could have been so many
/// times as long for a while, after so many steps on one, from which the models of the next are learnt.
const DOWN_A_RUNG: f64 = 0.6;
const UP_A_RUNG: f64 = 2.2;
pub(super) const ON_A_RUNG: u64 = 8;
const KEPT_ON_A_RUNG: f64 = 0.8;

impl Pacing {
    /// Takes the error of a step where lengths change seldom. They follow the error, not the first step: with lengths that are its multiples by powers of a
    /// factor that first step would choose the grid of all.
    pub(super) fn change_seldom(
        &mut self,
        step: &StepContext,
        error: StepError,
        can_reject: bool,
    ) -> Option<f64> {
        self.wish = self.length;
        let (ideal, shorter) = (error.ideal(), step.h * error.ideal().max(SHRINKS));
        // While it waits, an error is also what was lacking before.
        let is_its_own = match step.repetition {
            0 => self.wait == 0,
            _ => error.size < HELPS * self.again.size,
        };
        self.again.size = error.size;
        if can_reject && is_its_own && ideal < FAR_BEYOND && shorter > self.min {
            return Some(shorter);
        }
        if self.wait > 0 || self.is_cut(step) {
            self.tried = self.last;
            return None;
        }
        let is_first = self.counts.steps < FIRST_STEPS;
        let (kept, most) = if is_first { (0.0, GROWS_AT_FIRST) } else { (KEPT, SELDOM_GROWS) };
        self.tried = StepError { size: error.size.max(kept * self.last.size), ..error };
        if error.ideal() < DOWN {
            self.wish *= (AIM * error.ideal()).max(SELDOM_SHRINKS);
        } else if self.tried.ideal() > UP {
            self.wish *= (AIM * self.tried.ideal()).min(most);
        }
        self.wish = self.wish.min(self.edge.see(step.h, error.size));
        None
    }

    /// Takes the error of a step where lengths are those of a ladder: down at once, up one rung after some steps on one.
    pub(super) fn climb(&mut self, step: &StepContext, error: StepError, can_reject: bool) -> Option<f64> {
        self.wish = self.length;
        let ideal = error.ideal();
        if self.is_cut(step) && ideal >= 1.0 {
            self.tried = self.last;
            return None;
        }
        self.tried = StepError { size: error.size.max(KEPT_ON_A_RUNG * self.last.size), ..error };
        let shorter = step.h * (ideal / DOWN_A_RUNG).max(SHRINKS);
        if ideal < DOWN_A_RUNG {
            self.wish = shorter.min(self.length);
        } else if self.wait == 0 && self.tried.ideal() > UP_A_RUNG && !self.is_cut(step) {
            self.wish *= 2.0;
        }
        let helps = step.repetition == 0 || error.size < HELPS * self.again.size;
        self.again.size = error.size;
        let shorter = self.quantised(shorter);
        // The shortest length up to round-off is none.
        (can_reject && helps && ideal < FAR_BEYOND && shorter < 0.75 * step.h).then_some(shorter)
    }
}
