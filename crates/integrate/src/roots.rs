//! Where inside an inner step the first event indicator changes its domain.
//!
//! FMI 3.0, 3.1.1: a state event is a change from z > 0 to z <= 0 or back. Zero belongs to the lower
//! domain, so a product of signs will not do. Root finding by the Illinois variant of regula falsi on the
//! indicator that is expected to change first, with bisection where that is slow.

use costep_core::Result;

/// Memory for the search.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    low: Vec<f64>,
    high: Vec<f64>,
    middle: Vec<f64>,
}

/// A search that shrinks its bracket by less than half this often is helped by bisection.
const PATIENCE: usize = 4;

/// Whether any indicator is in another domain.
pub(crate) fn changes(before: &[f64], after: &[f64]) -> bool {
    before.iter().zip(after).any(|(before, after)| (*before > 0.0) != (*after > 0.0))
}

impl Roots {
    pub(crate) fn new(indicators: usize) -> Self {
        let zeros = || vec![0.0; indicators];
        Self { low: zeros(), high: zeros(), middle: zeros() }
    }

    /// The indicators at the end of an inner step, to be filled before [`Roots::locate`].
    pub(crate) fn end(&mut self) -> &mut [f64] {
        &mut self.high
    }

    /// The first position after `from` at which an indicator is in another domain than `before`, not
    /// farther than `tolerance` from the last at which none is. At `to` there is a change. `evaluate` gives
    /// the indicators.
    pub(crate) fn locate(
        &mut self,
        before: &[f64],
        (from, to): (f64, f64),
        tolerance: f64,
        mut evaluate: impl FnMut(f64, &mut [f64]) -> Result<()>,
    ) -> Result<f64> {
        let (mut low, mut high) = (from, to);
        self.low.copy_from_slice(before);
        // Illinois: the value at an end that stays twice in a row is halved.
        let (mut low_weight, mut high_weight) = (1.0, 1.0);
        let mut high_moved = None;
        let mut slow = 0;
        while high - low > tolerance {
            let width = high - low;
            let middle = if slow >= PATIENCE {
                low + 0.5 * width
            } else {
                let share = self.crossing(low_weight, high_weight);
                (low + share * width).clamp(low + 0.5 * tolerance, high - 0.5 * tolerance)
            };
            if middle <= low || middle >= high {
                break;
            }
            evaluate(middle, &mut self.middle)?;
            let is_beyond = changes(before, &self.middle);
            let again = high_moved == Some(is_beyond);
            if is_beyond {
                high = middle;
                std::mem::swap(&mut self.high, &mut self.middle);
                (low_weight, high_weight) = (if again { 0.5 * low_weight } else { 1.0 }, 1.0);
            } else {
                low = middle;
                std::mem::swap(&mut self.low, &mut self.middle);
                (low_weight, high_weight) = (1.0, if again { 0.5 * high_weight } else { 1.0 });
            }
            high_moved = Some(is_beyond);
            slow = if high - low > 0.5 * width { slow + 1 } else { slow.saturating_sub(1) };
        }
        Ok(high)
    }

    /// Where between low (0) and high (1) the first of the indicators that change is expected to be zero.
    fn crossing(&self, low_weight: f64, high_weight: f64) -> f64 {
        let mut first: f64 = 1.0;
        for (low, high) in self.low.iter().zip(&self.high) {
            if (*low > 0.0) != (*high > 0.0) {
                let (low, high) = (low_weight * low.abs(), high_weight * high.abs());
                let share = low / (low + high);
                // Both zero, or not finite: anywhere.
                first = first.min(if share.is_finite() { share } else { 0.5 });
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(z: impl Fn(f64) -> Vec<f64>, tolerance: f64) -> (f64, usize) {
        let mut roots = Roots::new(z(0.0).len());
        roots.end().copy_from_slice(&z(1.0));
        let mut calls = 0;
        let found = roots.locate(&z(0.0), (0.0, 1.0), tolerance, |s, out| {
            calls += 1;
            out.copy_from_slice(&z(s));
            Ok(())
        });
        (found.unwrap(), calls)
    }

    #[test]
    fn the_first_change_is_found_quickly() {
        for (z, root) in [
            ((|s: f64| vec![0.3 - s]) as fn(f64) -> Vec<f64>, 0.3),
            (|s| vec![s.powi(9) - 1e-9], 0.1),
            (|s| vec![(20.0 * (s - 0.77)).tanh() + 0.1 * (s - 0.77)], 0.77),
            (|s| vec![1.0 - s * s * 2.0, 0.9 - s * 3.0, 5.0 - s], 0.3),
            (|s| vec![if s < 0.625 { 1.0 } else { -1e9 }], 0.625),
            (|s| vec![1e-300 - s], 0.0),
            (|s| vec![0.5 - s, s - 0.5], 0.5),
        ] {
            let (found, calls) = locate(z, 1e-14);
            assert!((found - root).abs() <= 1e-14, "{found} for {root}");
            assert!(changes(&z(0.0), &z(found)));
            assert!(calls <= 120, "{calls} calls for {root}");
        }
        assert!(locate(|s| vec![0.3 - s], 1e-14).1 <= 4);
        let calls = locate(|s| vec![0.3 - s.exp() + 1.0], 1e-14).1;
        assert!(calls <= 12, "{calls}");
    }

    #[test]
    fn zero_belongs_to_the_lower_domain() {
        assert!(changes(&[1.0], &[0.0]) && changes(&[0.0], &[1e-300]));
        assert!(!changes(&[0.0], &[-1.0]) && !changes(&[-1.0], &[0.0]));
    }
}
