//! Lengths of steps that are a base times powers of two, for methods that learn what a step of some length does.

/// The lengths, of which there is a longest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ladder {
    pub(super) top: f64,
}

/// A length this near to a rung is meant to be one.
const SAME: f64 = 1e-9;

impl Ladder {
    /// No longer than `max`. Rungs are multiples of the unit that steps have to be multiples of; else times that are met again and again are
    /// multiples of them.
    pub(super) fn new(max: f64, unit: Option<f64>, meets: Option<f64>) -> Self {
        let base = unit.or(meets).unwrap_or(max);
        let doublings = (max / base).log2();
        // A unit is the shortest; a time that is met may be met by many steps, but by no longer one.
        let doublings = if unit.is_some() { doublings.max(0.0) } else { doublings.min(0.0) };
        Self { top: base * exp2((doublings + SAME).floor()) }
    }

    /// The longest that is no longer.
    pub(super) fn at_most(self, length: f64) -> f64 {
        self.top * exp2(((length / self.top).log2() + SAME).floor().min(0.0))
    }

    /// The shortest that is no shorter.
    pub(super) fn at_least(self, length: f64) -> f64 {
        self.top * exp2(((length / self.top).log2() - SAME).ceil().min(0.0))
    }
}

/// An exact power of two.
fn exp2(exponent: f64) -> f64 {
    2.0f64.powi(exponent as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_fit_units_and_times_to_be_met() {
        assert_eq!(Ladder::new(0.1, None, None).top, 0.1);
        // 3 ms times 32; a quarter of 0.3 s; all of 0.02 s.
        assert_eq!(Ladder::new(0.1, Some(3e-3), Some(0.3)).top, 0.096);
        assert_eq!(Ladder::new(0.1, None, Some(0.3)).top, 0.075);
        assert_eq!(Ladder::new(0.1, None, Some(0.02)).top, 0.02);
    }

    #[test]
    fn lengths_are_rounded_to_rungs() {
        let ladder = Ladder { top: 0.1 };
        assert_eq!([0.5, 0.1, 0.09, 0.05, 0.026].map(|h| ladder.at_most(h)), [0.1, 0.1, 0.05, 0.05, 0.025]);
        assert_eq!([0.5, 0.1, 0.09, 0.05, 0.026].map(|h| ladder.at_least(h)), [0.1, 0.1, 0.1, 0.05, 0.05]);
    }
}
