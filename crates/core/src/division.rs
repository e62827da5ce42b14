//! Into how many parts a macro step can be divided, by what the subsystems say about the lengths of their steps.

use crate::{Description, quantity::format_time};

/// The fewest and the most parts: of those that all subsystems can do, the number nearest to what is wanted, as a ratio, is taken.
const RANGE: (usize, usize) = (2, 32);
/// Parts around that of the macro step that are looked at for a step that could be divided.
const LOOK_AROUND: i64 = 40;

/// The lengths of the steps that a subsystem can do beside its macro steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum StepLengths {
    /// Whatever is asked for.
    #[default]
    Any,
    /// Multiples of its inner step, in s.
    MultiplesOf(f64),
    /// None: all its steps are macro steps.
    MacroSteps,
}

impl StepLengths {
    /// Whether steps of this length are among them.
    pub fn allow(self, length: f64) -> bool {
        match self {
            Self::Any => true,
            Self::MacroSteps => false,
            Self::MultiplesOf(inner) => {
                let steps = length / inner;
                steps >= 0.5 && (steps - steps.round()).abs() < 1e-6 * steps
            }
        }
    }
}

/// How macro steps are divided, if a method wants it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Division {
    /// Into so many equal parts, which all subsystems can do.
    Parts(usize),
    /// Not at all, because of a subsystem.
    Refused {
        /// Its number.
        by: usize,
        /// What it can do.
        lengths: StepLengths,
        /// The nearest macro step that all could divide.
        nearest: Option<f64>,
    },
}

impl Division {
    /// Of macro steps of a length, into about so many parts.
    pub fn of(descriptions: &[Description], step: f64, wanted: usize) -> Self {
        let lengths: Vec<_> = descriptions.iter().map(|description| description.step_lengths).collect();
        Self::by(&lengths, step, wanted)
    }

    fn by(lengths: &[StepLengths], step: f64, wanted: usize) -> Self {
        let all_allow = |length: f64| lengths.iter().all(|lengths| lengths.allow(length));
        if let Some(parts) = choices(wanted).into_iter().find(|parts| all_allow(step / *parts as f64)) {
            return Self::Parts(parts);
        }
        // The first that can divide its steps least: one that cannot at all, else one with the longest inner step.
        let strictness = |i: &usize| match lengths[*i] {
            StepLengths::Any => 0.0,
            StepLengths::MultiplesOf(inner) => inner,
            StepLengths::MacroSteps => f64::INFINITY,
        };
        let strictest = |best: usize, i: usize| if strictness(&i) > strictness(&best) { i } else { best };
        let by = (0..lengths.len()).fold(0, strictest);
        let nearest = match lengths[by] {
            StepLengths::MultiplesOf(inner) => nearest_divisible(step, inner, wanted, all_allow),
            _ => None,
        };
        Self::Refused { by, lengths: lengths[by], nearest }
    }

    /// The number of parts, if there are any.
    pub fn parts(self) -> Option<usize> {
        match self {
            Self::Parts(parts) => Some(parts),
            Self::Refused { .. } => None,
        }
    }

    /// Why macro steps of this length are not divided, and what to do; `name` gives those of the subsystems.
    pub fn refusal<'a>(self, step: f64, name: impl Fn(usize) -> &'a str) -> Option<String> {
        let Self::Refused { by, lengths, nearest } = self else { return None };
        let name = name(by);
        let (step, (fewest, most)) = (format_time(step), RANGE);
        Some(match (lengths, nearest) {
            (StepLengths::MultiplesOf(inner), Some(nearest)) => format!(
                "`{name}` takes inner steps of {}, which fit into none of {fewest} to {most} equal parts of {step}; a macro step of {} could be divided",
                format_time(inner),
                format_time(nearest)
            ),
            (StepLengths::MultiplesOf(inner), None) => format!(
                "`{name}` takes inner steps of {}, which fit into none of {fewest} to {most} equal parts of {step}",
                format_time(inner)
            ),
            _ => format!("`{name}` cannot vary the length of its steps"),
        })
    }
}

/// Numbers of parts, the best first.
fn choices(wanted: usize) -> Vec<usize> {
    let mut choices: Vec<usize> = (RANGE.0..=RANGE.1).collect();
    let ratio = |parts: &usize| (*parts).max(wanted) as f64 / (*parts).min(wanted).max(1) as f64;
    choices.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    choices
}

/// The macro step nearest to `step` of which all allow parts, by multiples of the longest inner step.
fn nearest_divisible(step: f64, inner: f64, wanted: usize, all_allow: impl Fn(f64) -> bool) -> Option<f64> {
    let mut nearest: Option<f64> = None;
    for parts in choices(wanted) {
        let around = (step / (parts as f64 * inner)).round() as i64;
        for multiple in (around - LOOK_AROUND).max(1)..=around.saturating_add(LOOK_AROUND) {
            let part = multiple as f64 * inner;
            let found = part * parts as f64;
            let nearer = nearest.is_none_or(|best| (found - step).abs() < (best - step).abs());
            if nearer && found.is_finite() && all_allow(part) {
                nearest = Some(found);
            }
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::StepLengths::{Any, MacroSteps, MultiplesOf};
    use super::*;

    #[test]
    fn a_step_has_as_many_parts_as_wanted_or_the_nearest_number_that_fits() {
        let parts = |lengths: &[StepLengths], step: f64| Division::by(lengths, step, 8).parts();
        assert_eq!(parts(&[], 1e-3), Some(8));
        assert_eq!(parts(&[Any, Any], 1e-3), Some(8));
        for (step, expected) in [
            (8e-4, 8),
            (1e-3, 10),
            (5e-3, 10),
            (7e-5, 7),
            (1.2e-4, 6),
            (4e-5, 4),
            (1.7e-4, 17),
            (3e-5, 3),
            (2e-5, 2),
        ] {
            assert_eq!(parts(&[Any, MultiplesOf(1e-5)], step), Some(expected), "{step}");
        }
        assert_eq!(Division::by(&[Any, MultiplesOf(1e-5)], 1e-3, 4).parts(), Some(4));
        // 300 and 200 inner steps: into ten, but not into six or eight.
        assert_eq!(parts(&[MultiplesOf(1e-5), MultiplesOf(1.5e-5)], 3e-3), Some(10));
        assert_eq!(parts(&[MultiplesOf(1e-5), MacroSteps], 8e-4), None);
        assert_eq!(parts(&[MultiplesOf(1e-5)], 3.7e-4), None);
        assert_eq!(parts(&[MultiplesOf(1e-5)], 1e-5), None);
    }

    #[test]
    fn the_strictest_is_named_with_a_step_that_would_do() {
        let refused = |lengths: &[StepLengths], step| match Division::by(lengths, step, 8) {
            Division::Refused { by, nearest, .. } => (by, nearest),
            Division::Parts(parts) => panic!("{parts}"),
        };
        let (by, nearest) = refused(&[Any, MultiplesOf(1e-5), Any], 3.7e-4);
        assert!(by == 1 && (nearest.unwrap() - 3.6e-4).abs() < 1e-12, "{nearest:?}");
        // Inner steps of 10 and 15 us fit into parts of 30 us: three of them.
        let (by, nearest) = refused(&[MultiplesOf(1e-5), MultiplesOf(1.5e-5)], 1e-4);
        assert!(by == 1 && (nearest.unwrap() - 9e-5).abs() < 1e-12, "{nearest:?}");
        assert_eq!(refused(&[MultiplesOf(1e-5), MacroSteps, Any], 1e-3), (1, None));
        assert_eq!(refused(&[MultiplesOf(1e-2)], 1e-2), (0, Some(2e-2)));
    }

    #[test]
    fn a_refusal_says_why() {
        let lengths = [Any, MultiplesOf(1e-5)];
        let text = Division::by(&lengths, 3.7e-4, 8).refusal(3.7e-4, |i| ["a", "b"][i]).unwrap();
        assert!(text.contains("`b`") && text.contains("10 us") && text.contains("360 us"), "{text}");
        let text = Division::by(&[MacroSteps], 1e-3, 8).refusal(1e-3, |_| "c").unwrap();
        assert!(text.contains("`c` cannot vary"), "{text}");
        assert_eq!(Division::Parts(8).refusal(1.0, |_| "d"), None);
    }

    #[test]
    fn lengths_allow_multiples_up_to_round_off() {
        assert!(MultiplesOf(1e-5).allow(1e-3 / 10.0) && !MultiplesOf(1e-5).allow(1e-3 / 8.0));
        assert!(!MultiplesOf(1e-5).allow(1e-9) && Any.allow(1e-9) && !MacroSteps.allow(1.0));
    }
}
