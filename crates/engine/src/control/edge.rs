//! Steps at the edge of stability, where lengths change seldom.
//!
//! Where signals come to rest, errors fall and lengths grow, until the coupling itself becomes unstable: what is left of the signals, however
//! small, then grows by a factor from step to step. Its error says so long before it is worth mentioning beside the tolerance, and before
//! it has become the signal. What begins to move because something happened does so within a few steps; what is resolved takes many.
//!
//! ```text
//! m_k = max(e_k, m_(k-1) / 2)                             e passes through zero where signals turn
//! m_k > 100 m_i, with FEWEST <= k - i <= MOST            the length is beyond the edge: at most 0.7 of it from now on
//! ```
//!
//! The bound is lifted step by step, since the edge moves with what the system does.

use costep_core::{Result, StateReader, StateWriter};

/// What is left of a recent error after a step.
const RECENT: f64 = 0.5;
/// Growth by this factor within so many steps.
const GROWTH: f64 = 100.0;
const FEWEST: u64 = 8;
const MOST: u64 = 60;
/// Share of a length beyond the edge that steps may have, and by how much the bound is lifted per step.
const WITHIN: f64 = 0.7;
const LIFTED: f64 = 1.005;

/// What is known of the edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    /// m.
    recent: f64,
    /// The least of it lately, and steps since then.
    least: f64,
    since: u64,
    /// The longest step that is safe.
    longest: f64,
}

impl Edge {
    /// Nothing known: any length.
    pub(super) const UNKNOWN: Self =
        Self { recent: 0.0, least: f64::INFINITY, since: 0, longest: f64::INFINITY };

    /// Takes the error of a step of this length; gives the longest that the next one may be.
    pub(super) fn see(&mut self, h: f64, error: f64) -> f64 {
        self.longest *= LIFTED;
        self.recent = error.max(RECENT * self.recent);
        self.since += 1;
        let has_grown = self.recent > GROWTH * self.least;
        if has_grown && self.since >= FEWEST {
            self.longest = WITHIN * h;
        }
        if has_grown || self.recent <= self.least || self.since >= MOST {
            (self.least, self.since) = (self.recent, 0);
        }
        self.longest
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.reals(&[self.recent, self.least, self.longest]);
        out.integer(self.since);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let mut values = [0.0; 3];
        from.reals(&mut values)?;
        let [recent, least, longest] = values;
        *self = Self { recent, least, longest, since: from.integer()? };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound after so many steps of this length with these errors, the smallest seen.
    fn bound(error: impl Fn(i32) -> f64) -> f64 {
        let mut edge = Edge::UNKNOWN;
        (0..400).map(|k| edge.see(1.0, error(k))).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn growth_from_step_to_step_is_the_edge() {
        // It calms down, then diverges with a sign that alternates through zero.
        let runs_away = |k: i32| match k < 200 {
            true => 0.95f64.powi(k),
            false => 0.95f64.powi(200) * 1.3f64.powi(k - 200) * (2.0 * f64::from(k)).sin().abs(),
        };
        assert_eq!(bound(runs_away), WITHIN);
    }

    #[test]
    fn motion_that_begins_or_swings_is_not() {
        let slowly = |k: i32| (0.02 * f64::from(k)).sin().abs();
        let at_once = |k: i32| if k < 100 { 1e-9 } else { 0.5 };
        let grows = |k: i32| 1e-9 * 1.05f64.powi(k);
        for free in [bound(slowly), bound(at_once), bound(grows)] {
            assert!(free > 1.0, "{free}");
        }
    }

    #[test]
    fn the_bound_is_lifted() {
        let mut edge = Edge::UNKNOWN;
        (0..20).for_each(|k| _ = edge.see(1.0, 1e-6 * 1.5f64.powi(k)));
        assert!(edge.longest < 1.0, "{edge:?}");
        (0..200).for_each(|_| _ = edge.see(0.5, 1e-3));
        assert!(edge.longest > 1.0, "{edge:?}");
    }
}
