//! How claims are judged: one rule per kind of claim, the same in all studies. A claim names its kind, never a tolerance of its own.

use crate::study::{Verdict, short};

/// Kinds of claims. A kind decides what has to be measured and how near counts as what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number that the paper prints.
    Number,
    /// A number that the paper calls approximate, gives with one digit, or reads off a logarithmic plot.
    About,
    /// What one way takes divided by what another takes: judged is how far it is from 1, which is what is gained.
    Change,
    /// A value that the paper can only know on a grid with this distance, as the largest stable step.
    OnGrid(f64),
    /// A bound that a number does not exceed.
    AtMost,
    /// One value less than another, given as their ratio per case.
    Less,
    /// "Clearly", "major", "drastically" less, given as a ratio per case.
    MuchLess,
    /// "Nearly equal", "coincide": the greatest over the least value per case.
    Alike,
    /// "Of the same magnitude": the same.
    SameMagnitude,
    /// "Accurate", "satisfying", "sufficient": errors relative to the range of the signal, one per case.
    Accurate,
    /// "Inaccurate", "obvious deviation": errors as above.
    Inaccurate,
    /// Stable results.
    Stable,
    /// Unstable or useless results.
    Unstable,
    /// Any other property, which a case has or has not.
    Property,
}

/// Relative deviation up to which a printed number reproduces, and does so in trend.
const NUMBER: (f64, f64) = (0.1, 0.25);
/// The same of approximate numbers, as a factor.
const ABOUT: (f64, f64) = (1.25, 2.0);
/// Gain over the paper's gain, as a factor.
const CHANGE: (f64, f64) = (1.25, 2.0);
/// A bound may be missed by this factor in trend.
const BOUND: f64 = 1.5;
/// A ratio up to which something is much less.
const MUCH: f64 = 0.5;
/// Greatest over least value of things that are nearly equal.
const ALIKE: f64 = 1.5;
/// The same of things of one magnitude.
const MAGNITUDE: f64 = 10.0;
/// Error relative to the range up to which a result is accurate.
const ACCURATE: f64 = 0.1;

/// What came out for a claim, before it is judged.
pub enum Measured {
    /// A number; not a number if the computation gave none.
    Number(f64),
    /// One number per case: ratios, or errors.
    Ratios {
        /// Not a number and infinite where a run did not end.
        values: Vec<f64>,
        /// In words and numbers.
        found: String,
    },
    /// Whether each case is as claimed: stable, or with the property.
    Cases {
        /// One per case.
        values: Vec<bool>,
        /// In words and numbers.
        found: String,
    },
}

impl Measured {
    /// Numbers of several cases, in a kind of claim that compares them with a limit.
    pub fn ratios(values: impl IntoIterator<Item = f64>, found: impl Into<String>) -> Self {
        Self::Ratios { values: values.into_iter().collect(), found: found.into() }
    }

    /// Whether each of several cases is as claimed.
    pub fn cases(values: impl IntoIterator<Item = bool>, found: impl Into<String>) -> Self {
        Self::Cases { values: values.into_iter().collect(), found: found.into() }
    }

    /// The same of one case.
    pub fn one(holds: bool, found: impl Into<String>) -> Self {
        Self::cases([holds], found)
    }
}

impl Kind {
    /// Whether the paper's value is a number.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Number | Self::About | Self::Change | Self::OnGrid(_) | Self::AtMost)
    }

    /// Whether this is what a claim of this kind is judged by.
    pub fn takes(self, measured: &Measured) -> bool {
        match measured {
            Measured::Number(_) => self.is_number(),
            Measured::Ratios { .. } => self.limit().is_some(),
            Measured::Cases { .. } => matches!(self, Self::Stable | Self::Unstable | Self::Property),
        }
    }

    /// The rule in words.
    pub fn rule(self) -> String {
        let every = "in every case named; in trend in more than half of them";
        match self {
            Self::Number => {
                format!("number: within {} %, in trend within {} %", 100.0 * NUMBER.0, 100.0 * NUMBER.1)
            }
            Self::About => format!("approximate number: within a factor {}, in trend {}", ABOUT.0, ABOUT.1),
            Self::Change => format!(
                "change against 1: what is gained or lost within a factor {}, in trend {}, never the other way round",
                CHANGE.0, CHANGE.1
            ),
            Self::OnGrid(distance) => {
                format!("value on a grid: the same point, in trend its neighbour ({} away)", short(distance))
            }
            Self::AtMost => format!("bound: not exceeded, in trend by less than a factor {BOUND}"),
            Self::Less => format!("order: less {every}"),
            Self::MuchLess => format!("clear order: at most {MUCH} times as much {every}"),
            Self::Alike => format!("nearly equal: greatest over least at most {ALIKE} {every}"),
            Self::SameMagnitude => format!("same magnitude: greatest over least at most {MAGNITUDE} {every}"),
            Self::Accurate => format!("accurate: error at most {ACCURATE} of the range {every}"),
            Self::Inaccurate => format!("inaccurate: error above {ACCURATE} of the range {every}"),
            Self::Stable => format!("stable {every}"),
            Self::Unstable => format!("unstable {every}"),
            Self::Property => format!("true {every}"),
        }
    }

    /// What a ratio is compared with: the limit, and whether it has to be below.
    fn limit(self) -> Option<(f64, bool)> {
        match self {
            // Equal is not less.
            Self::Less => Some((1.0 - 1e-12, true)),
            Self::MuchLess => Some((MUCH, true)),
            Self::Alike => Some((ALIKE, true)),
            Self::SameMagnitude => Some((MAGNITUDE, true)),
            Self::Accurate => Some((ACCURATE, true)),
            Self::Inaccurate => Some((ACCURATE, false)),
            _ => None,
        }
    }

    /// Judges what came out; `claimed` is the paper's number, if there is one.
    pub fn verdict(self, claimed: Option<f64>, measured: &Measured) -> Verdict {
        match measured {
            Measured::Number(measured) => {
                claimed.map_or(Verdict::DoesNot, |claimed| self.of_number(claimed, *measured))
            }
            Measured::Ratios { values, .. } => {
                let Some((limit, below)) = self.limit() else { return Verdict::DoesNot };
                of_cases(values.iter().map(|value| if below { *value <= limit } else { *value > limit }))
            }
            Measured::Cases { values, .. } => of_cases(values.iter().copied()),
        }
    }

    fn of_number(self, claimed: f64, measured: f64) -> Verdict {
        let factor = |a: f64, b: f64| match a * b > 0.0 {
            true => (a / b).max(b / a),
            // Neither gains anything.
            false if a == b => 1.0,
            false => f64::INFINITY,
        };
        let (distance, (holds, trend)) = match self {
            Self::Number => ((measured / claimed - 1.0).abs(), NUMBER),
            Self::About => (factor(measured, claimed), ABOUT),
            Self::Change => (factor(measured.ln(), claimed.ln()), CHANGE),
            // The next point of a grid is not the same point, however it is rounded.
            Self::OnGrid(distance) => ((measured - claimed).abs() / distance, (0.5, 1.0)),
            Self::AtMost => (measured / claimed, (1.0, BOUND)),
            _ => return Verdict::DoesNot,
        };
        // Round-off must not decide; not a number is never near.
        let within = |limit: f64| distance <= limit * (1.0 + 1e-9);
        match (within(holds), within(trend)) {
            (true, _) => Verdict::Reproduces,
            (false, true) => Verdict::InTrend,
            _ => Verdict::DoesNot,
        }
    }
}

/// All of them, more than half, or not.
fn of_cases(holds: impl ExactSizeIterator<Item = bool>) -> Verdict {
    let all = holds.len();
    match holds.filter(|holds| *holds).count() {
        holds if holds == all && all > 0 => Verdict::Reproduces,
        holds if 2 * holds > all => Verdict::InTrend,
        _ => Verdict::DoesNot,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DoesNot, InTrend, Reproduces};

    fn of(kind: Kind, claimed: f64, measured: f64) -> Verdict {
        kind.verdict(Some(claimed), &Measured::Number(measured))
    }

    #[test]
    fn numbers_are_judged_by_their_kind_alone() {
        let table = [
            (Kind::Number, 10.0, [11.0, 12.5, 12.6]),
            (Kind::About, 8.0, [10.0, 16.0, 17.0]),
            (Kind::OnGrid(1.0), 3.0, [3.0, 4.0, 5.0]),
            (Kind::AtMost, 2.0, [1.0, 3.0, 3.1]),
        ];
        for (kind, claimed, measured) in table {
            assert_eq!(
                measured.map(|value| of(kind, claimed, value)),
                [Reproduces, InTrend, DoesNot],
                "{kind:?}"
            );
            assert_eq!(of(kind, claimed, f64::NAN), DoesNot, "{kind:?}");
        }
        assert_eq!(of(Kind::About, 8.0, -8.0), DoesNot);
        assert_eq!(of(Kind::About, 8.0, 57.0), DoesNot);
    }

    /// A way that takes longer does not reproduce, in trend or otherwise, one that saves time.
    #[test]
    fn a_gain_is_not_a_loss() {
        assert_eq!(of(Kind::Change, 0.869, 1.03), DoesNot);
        // 1 % less where the paper saves 7 %.
        assert_eq!(of(Kind::Change, 0.926, 0.992), DoesNot);
        assert_eq!(of(Kind::Change, 0.574, 0.578), Reproduces);
        assert_eq!(of(Kind::Change, 0.5, 0.65), InTrend);
        assert_eq!(of(Kind::Change, 1.5, 1.0), DoesNot);
        assert_eq!([1.0, 1.01].map(|measured| of(Kind::Change, 1.0, measured)), [Reproduces, DoesNot]);
    }

    #[test]
    fn cases_count_all_or_more_than_half() {
        let less = |values: &[f64]| Kind::Less.verdict(None, &Measured::ratios(values.to_vec(), ""));
        assert_eq!(less(&[0.5, 0.9]), Reproduces);
        assert_eq!(less(&[0.5, 0.9, 1.0]), InTrend);
        assert_eq!(less(&[0.5, 1.0]), DoesNot);
        assert_eq!(less(&[f64::NAN]), DoesNot);
        assert_eq!(less(&[]), DoesNot);
        let wrong = |values: &[f64]| Kind::Inaccurate.verdict(None, &Measured::ratios(values.to_vec(), ""));
        assert_eq!(wrong(&[0.2, f64::INFINITY]), Reproduces);
        assert_eq!(Kind::Stable.verdict(None, &Measured::cases([true, true, false], "")), InTrend);
        assert!(Kind::Stable.takes(&Measured::one(true, "")) && !Kind::Stable.takes(&Measured::Number(1.0)));
    }
}
