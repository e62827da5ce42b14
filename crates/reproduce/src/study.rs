//! What a paper claims, what came out, and how far they agree. The verdict follows from the two and from a tolerance
//! that is written down with the claim, before anything is computed.

use costep_core::Result;
use costep_report::Figure;

use crate::data::Data;
use crate::work::Work;

/// A figure or a table of a paper that can be computed again.
pub struct Study {
    /// Short name, `genser2020-fig3.52`.
    pub id: &'static str,
    /// What the figure shows.
    pub title: &'static str,
    /// Paper and figure.
    pub source: &'static str,
    /// What is computed: system, parameters, and how the text was read where it leaves a choice.
    pub setup: &'static str,
    /// What the paper says about it.
    pub claims: &'static [Claim],
    /// Computes it: one measured value per claim, in their order.
    pub compute: fn(&Work<'_>) -> Result<Computed>,
}

/// A sentence of a paper that a computation can confirm or refute.
pub struct Claim {
    /// What is claimed, in a few words.
    pub text: &'static str,
    /// Where it is said.
    pub place: &'static str,
    /// The value or the statement.
    pub claimed: Claimed,
}

/// The claim that something `says`, which a `criterion` decides.
pub const fn statement(
    text: &'static str,
    place: &'static str,
    says: &'static str,
    criterion: &'static str,
) -> Claim {
    Claim { text, place, claimed: Claimed::Statement { text: says, criterion } }
}

/// The claim of a number.
pub const fn number(
    text: &'static str,
    place: &'static str,
    value: f64,
    unit: &'static str,
    tolerance: Tolerance,
) -> Claim {
    Claim { text, place, claimed: Claimed::Number { value, unit, tolerance } }
}

/// The content of a claim.
pub enum Claimed {
    /// A number that the paper gives.
    Number {
        /// The number.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// How near counts as what.
        tolerance: Tolerance,
    },
    /// A property that the paper states.
    Statement {
        /// The property, `unstable`.
        text: &'static str,
        /// What is measured to decide it.
        criterion: &'static str,
    },
}

/// When a number reproduces, and when at least its trend does.
#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    /// Relative deviation.
    Relative {
        /// Up to this the claim reproduces.
        holds: f64,
        /// Up to this it reproduces in trend.
        trend: f64,
    },
    /// Greater of the two divided by the smaller: for values read off a logarithmic axis.
    Factor {
        /// Up to this the claim reproduces.
        holds: f64,
        /// Up to this it reproduces in trend.
        trend: f64,
    },
    /// Difference: for step sizes on a grid.
    Difference {
        /// Up to this the claim reproduces.
        holds: f64,
        /// Up to this it reproduces in trend.
        trend: f64,
    },
}

/// How far claim and computation agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance.
    Reproduces,
    /// The direction is right, the size is not.
    InTrend,
    /// Neither.
    DoesNot,
}

impl Verdict {
    /// As it is printed.
    pub fn text(self) -> &'static str {
        match self {
            Self::Reproduces => "reproduces",
            Self::InTrend => "reproduces in trend",
            Self::DoesNot => "does not reproduce",
        }
    }
}

/// What came out for a claim.
pub enum Measured {
    /// A number; not a number if the computation gave none.
    Number(f64),
    /// What was found about a statement.
    Statement {
        /// In words and numbers.
        found: String,
        /// Whether it agrees.
        verdict: Verdict,
    },
}

impl Measured {
    /// A statement that holds or not.
    pub fn holds(holds: bool, found: impl Into<String>) -> Self {
        let verdict = if holds { Verdict::Reproduces } else { Verdict::DoesNot };
        Self::Statement { found: found.into(), verdict }
    }

    /// A statement about several cases: in trend if it holds in more than half of them.
    pub fn most(holds: usize, cases: usize, found: impl Into<String>) -> Self {
        let verdict = match holds {
            _ if holds >= cases => Verdict::Reproduces,
            _ if 2 * holds > cases => Verdict::InTrend,
            _ => Verdict::DoesNot,
        };
        Self::Statement { found: found.into(), verdict }
    }

    /// A statement with two conditions: in trend if one of them holds.
    pub fn both(first: bool, second: bool, found: impl Into<String>) -> Self {
        let verdict = match (first, second) {
            (true, true) => Verdict::Reproduces,
            (false, false) => Verdict::DoesNot,
            _ => Verdict::InTrend,
        };
        Self::Statement { found: found.into(), verdict }
    }
}

/// Everything that a study computes.
pub struct Computed {
    /// One per claim.
    pub measured: Vec<Measured>,
    /// The numbers behind the figure.
    pub data: Data,
    /// The figure.
    pub figure: Figure,
    /// What else is worth knowing: values under other readings, what was not computed.
    pub remarks: Vec<String>,
}

/// A claim beside what came out.
pub struct Finding {
    /// The claim.
    pub claim: &'static Claim,
    /// The claimed value, as text.
    pub claimed: String,
    /// What came out, as text.
    pub reproduced: String,
    /// The measured number, if the claim is one.
    pub value: Option<f64>,
    /// What counts as agreement.
    pub tolerance: String,
    /// How far they agree.
    pub verdict: Verdict,
}

impl Finding {
    /// Compares a claim with what came out.
    pub fn new(claim: &'static Claim, measured: &Measured) -> Self {
        let value = match measured {
            Measured::Number(value) => Some(*value),
            Measured::Statement { .. } => None,
        };
        let (claimed, tolerance) = match &claim.claimed {
            Claimed::Number { value, unit, tolerance } => (with_unit(*value, unit), tolerance.text(unit)),
            Claimed::Statement { text, criterion } => ((*text).into(), (*criterion).into()),
        };
        let (reproduced, verdict) = match (&claim.claimed, measured) {
            (Claimed::Number { value, unit, tolerance }, Measured::Number(measured)) => {
                (with_unit(*measured, unit), tolerance.verdict(*value, *measured))
            }
            (_, Measured::Statement { found, verdict }) => (found.clone(), *verdict),
            (Claimed::Statement { .. }, Measured::Number(value)) => (short(*value), Verdict::DoesNot),
        };
        Self { claim, claimed, reproduced, value, tolerance, verdict }
    }
}

impl Tolerance {
    fn verdict(self, claimed: f64, measured: f64) -> Verdict {
        let (distance, holds, trend) = match self {
            Self::Relative { holds, trend } => ((measured / claimed - 1.0).abs(), holds, trend),
            Self::Factor { holds, trend } => ((measured / claimed).max(claimed / measured), holds, trend),
            Self::Difference { holds, trend } => ((measured - claimed).abs(), holds, trend),
        };
        // Round-off must not decide; not a number is never near.
        let within = |limit: f64| distance <= limit * (1.0 + 1e-9) + 1e-12;
        match (within(holds), within(trend)) {
            (true, _) => Verdict::Reproduces,
            (false, true) => Verdict::InTrend,
            _ => Verdict::DoesNot,
        }
    }

    fn text(self, unit: &str) -> String {
        match self {
            Self::Relative { holds, trend } => {
                format!("within {} %, in trend within {} %", short(100.0 * holds), short(100.0 * trend))
            }
            Self::Factor { holds, trend } => {
                format!("within a factor {}, in trend within {}", short(holds), short(trend))
            }
            Self::Difference { holds, trend } => format!(
                "{}, in trend within {}",
                if holds == 0.0 { "equal".into() } else { format!("within {}", with_unit(holds, unit)) },
                with_unit(trend, unit)
            ),
        }
    }
}

fn with_unit(value: f64, unit: &str) -> String {
    format!("{} {unit}", short(value)).trim_end().into()
}

/// A number with three digits.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "none".into();
    }
    let size = value.abs();
    if value != 0.0 && !(1e-2..1e4).contains(&size) {
        let text = format!("{value:.2e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let decimals = if value == 0.0 { 0 } else { (2 - size.log10().floor() as i32).max(0) as usize };
    let text = format!("{value:.decimals$}");
    trimmed(&text).into()
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [7.5, 62.0, 8.2345, 0.004, 1500.0, 0.2, 0.0].map(short),
            ["7.5", "62", "8.23", "4e-3", "1500", "0.2", "0"]
        );
        assert_eq!(short(f64::NAN), "none");
        assert_eq!(short(100.0), "100");
    }

    #[test]
    fn verdicts_follow_from_the_tolerance() {
        let relative = Tolerance::Relative { holds: 0.15, trend: 0.5 };
        assert_eq!(relative.verdict(10.0, 11.5), Verdict::Reproduces);
        assert_eq!(relative.verdict(10.0, 5.0), Verdict::InTrend);
        assert_eq!(relative.verdict(10.0, 15.1), Verdict::DoesNot);
        assert_eq!(relative.verdict(10.0, f64::NAN), Verdict::DoesNot);
        let factor = Tolerance::Factor { holds: 1.5, trend: 3.0 };
        assert_eq!(factor.verdict(2e-4, 3e-4), Verdict::Reproduces);
        assert_eq!(factor.verdict(2e-4, 0.7e-4), Verdict::InTrend);
        assert_eq!(factor.verdict(2e-4, 0.0), Verdict::DoesNot);
        let steps = Tolerance::Difference { holds: 0.0, trend: 1.0 };
        assert_eq!(steps.verdict(3.0, 3.0), Verdict::Reproduces);
        assert_eq!(steps.verdict(3.0, 4.0), Verdict::InTrend);
        assert_eq!(steps.verdict(3.0, 5.0), Verdict::DoesNot);
    }
}
