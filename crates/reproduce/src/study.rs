//! What a paper claims, what came out, and how far they agree. The verdict follows from the two by the rule of the kind
//! of claim (`rules`).

use costep_core::Result;
use costep_report::Figure;

use crate::data::Data;
use crate::rules::{Kind, Measured};
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

/// A sentence of a paper that a computation can confirm or refute: its kind decides how.
pub struct Claim {
    /// What is claimed, in a few words.
    pub text: &'static str,
    /// Where it is said.
    pub place: &'static str,
    /// What kind of claim it is.
    pub kind: Kind,
    /// The value or the statement.
    pub claimed: Claimed,
}

/// The claim that something `says`.
pub const fn statement(text: &'static str, place: &'static str, says: &'static str, kind: Kind) -> Claim {
    Claim { text, place, kind, claimed: Claimed::Statement(says) }
}

/// The claim of a number.
pub const fn number(
    text: &'static str,
    place: &'static str,
    value: f64,
    unit: &'static str,
    kind: Kind,
) -> Claim {
    Claim { text, place, kind, claimed: Claimed::Number { value, unit } }
}

/// The content of a claim.
pub enum Claimed {
    /// A number that the paper gives.
    Number {
        /// The number.
        value: f64,
        /// Its unit.
        unit: &'static str,
    },
    /// A property that the paper states, `unstable`.
    Statement(&'static str),
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
        let (claimed, number, unit) = match &claim.claimed {
            Claimed::Number { value, unit } => (with_unit(*value, unit), Some(*value), *unit),
            Claimed::Statement(text) => ((*text).into(), None, ""),
        };
        let (reproduced, value) = match measured {
            Measured::Number(value) => (with_unit(*value, unit), Some(*value)),
            Measured::Ratios { found, .. } | Measured::Cases { found, .. } => (found.clone(), None),
        };
        let verdict = claim.kind.verdict(number, measured);
        Self { claim, claimed, reproduced, value, tolerance: claim.kind.rule(), verdict }
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
}
