//! Steps that are tried: round numbers, from the longest with enough communication points for a verdict down.

/// Leading digits of the steps of a first look, and of a closer one.
pub(super) const COARSE: &[f64] = &[1.0, 2.0, 5.0];
pub(super) const CLOSE: &[f64] = &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

/// Fewer macro steps have no verdict.
const FEWEST: f64 = 10.0;

/// More of them nobody waits for.
const MOST: f64 = 1e7;

/// The longest step of a run of this length, up to round-off.
pub(super) fn longest(span: f64) -> f64 {
    span / FEWEST * (1.0 + 1e-9)
}

/// The shortest, where a solver with inner steps of one length does at least one of them.
pub(super) fn shortest(span: f64, inner: Option<f64>) -> f64 {
    (span / MOST).max(inner.unwrap_or(0.0)) * (1.0 - 1e-9)
}

/// All steps with these leading digits from `high` down to `low`.
pub(super) fn steps(digits: &[f64], low: f64, high: f64) -> Vec<f64> {
    if !(low > 0.0 && high.is_finite()) {
        return Vec::new();
    }
    let decades = (low.log10().floor() as i32)..=(high.log10().floor() as i32);
    // By their text: 2e-3 is then what people write.
    let all =
        decades.rev().flat_map(|k| digits.iter().rev().map(move |digit| format!("{digit}e{k}").parse()));
    all.filter_map(Result::ok).filter(|step| (low..=high).contains(step)).collect()
}

/// The next smaller step with these leading digits.
pub(super) fn smaller(digits: &[f64], step: f64) -> Option<f64> {
    steps(digits, 0.1 * step, step * (1.0 - 1e-9)).first().copied()
}

/// The power of ten at or below a step.
pub(super) fn decade(step: f64) -> f64 {
    steps(&[1.0], 0.099 * step, step * (1.0 + 1e-9)).first().copied().unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_fall() {
        assert_eq!(steps(COARSE, shortest(0.1, Some(1e-3)), longest(0.1)), [1e-2, 5e-3, 2e-3, 1e-3]);
        assert_eq!(smaller(COARSE, 1e-3), Some(5e-4));
        assert_eq!(smaller(CLOSE, 1e-3), Some(8e-4));
        assert_eq!(smaller(COARSE, 3e-3), Some(2e-3));
        assert_eq!([decade(1e-3), decade(2.7e-3), decade(9.9)], [1e-3, 1e-3, 1.0]);
        assert!(steps(COARSE, 0.0, 1.0).is_empty() && steps(COARSE, 1.0, f64::INFINITY).is_empty());
    }
}
