//! What inputs lack over a step of what they are connected to, as power bonds feel it.
//!
//! ```text
//! e(s) = L y + r - u,  s from 0 to 1
//! extrapolated or held inputs    L y on the parabola through the last three points
//! projected ones of order p > 0  e = t P_(p+1)(2 s - 1) + d s, by its values at both ends
//! ```
//!
//! What is projected leaves a Legendre polynomial behind (`predictive`), which carries no energy; what goes
//! beyond it, d, is an error of its models and grows over the step.

use crate::InputPolynomials;

/// Mean of a signal over a step, s from 0 to 1, and mean of s times the signal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments([f64; 2]);

impl Moments {
    /// On a line between these values.
    pub fn of_line(start: f64, end: f64) -> Self {
        Self([0.5 * (start + end), start / 6.0 + end / 3.0])
    }

    /// Of this signal and another one times a factor.
    #[must_use]
    pub fn plus(self, factor: f64, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + factor * other.0[i]))
    }

    /// Mean of the product with a line between these values.
    pub fn times_line(self, start: f64, end: f64) -> f64 {
        start * self.0[0] + (end - start) * self.0[1]
    }
}

/// An input over a step.
#[derive(Debug)]
pub struct InputDefect<'a> {
    /// What it is connected to, L y: at the point before the step, at its start and at its end.
    pub connected: [f64; 3],
    /// Its external share r: at the start of the step, at its end, and its mean.
    pub external: [f64; 3],
    /// Length of the step before, 0 if there was none, and of the step.
    pub lengths: [f64; 2],
    /// All inputs over the step, and its number.
    pub inputs: (&'a InputPolynomials, usize),
    /// Order of its polynomial.
    pub order: usize,
    /// It is the projection of what is expected, not a continuation from the start of the step.
    pub is_projected: bool,
}

impl InputDefect<'_> {
    /// What it lacks.
    pub fn moments(&self) -> Moments {
        let Self { connected: [before, start, end], external: [r_start, r_end, r_mean], .. } = *self;
        let ([h_before, h], (inputs, j)) = (self.lengths, self.inputs);
        if self.is_projected && self.order > 0 {
            let first = start + r_start - inputs.value(j, 0.0);
            let tail = if self.order.is_multiple_of(2) { -first } else { first };
            // P_(p+1) has no mean, nor one with s.
            return Moments::of_line(0.0, end + r_end - inputs.value(j, h) - tail);
        }
        let ratio = h_before / h;
        let curved =
            if ratio > 0.0 { ((end - start) - (start - before) / ratio) / (1.0 + ratio) } else { 0.0 };
        // z(s) = z0 + (z1 - z0) s + c s (s - 1).
        let connected = Moments::of_line(start, end).plus(curved, Moments([-1.0 / 6.0, -1.0 / 12.0]));
        let external = Moments([r_mean, 0.5 * r_mean + (r_end - r_start) / 12.0]);
        let (mut defect, mut power) = (connected.plus(1.0, external), -1.0);
        for a in 0..=self.order {
            let moments = Moments([1.0 / (a + 1) as f64, 1.0 / (a + 2) as f64]);
            defect = defect.plus(inputs.coefficients(a)[j] * power, moments);
            power *= h;
        }
        defect
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = 1 + 2 s - 3 s^2 in steps of length 1, r = 0.5 s.
    fn defect(coefficients: &[f64], is_projected: bool) -> Moments {
        let order = coefficients.len() - 1;
        let mut inputs = InputPolynomials::new(1, order);
        coefficients.iter().enumerate().for_each(|(a, c)| inputs.coefficients_mut(a)[0] = *c);
        let y = |s: f64| 1.0 + 2.0 * s - 3.0 * s * s;
        let input = InputDefect {
            connected: [y(-1.0), y(0.0), y(1.0)],
            external: [0.0, 0.5, 0.25],
            lengths: [1.0, 1.0],
            inputs: (&inputs, 0),
            order,
            is_projected,
        };
        input.moments()
    }

    fn assert_near(found: Moments, expected: [f64; 2]) {
        let far = found.0.iter().zip(expected).any(|(found, expected)| (found - expected).abs() > 1e-14);
        assert!(!far, "{found:?} instead of {expected:?}");
    }

    #[test]
    fn what_inputs_lack_is_integrated_as_it_is() {
        // e = 2.5 s - 3 s^2 under a hold of 1, nothing under the signal itself.
        assert_near(defect(&[1.0], false), [0.25, 2.5 / 3.0 - 0.75]);
        assert_near(defect(&[1.0, 2.5, -3.0], false), [0.0, 0.0]);
    }

    #[test]
    fn projections_lack_what_their_models_did_not_know() {
        // The line next to 1 + 2.5 s - 3 s^2 is 1.5 - 0.5 s, and what is left is -P_2/2.
        assert_near(defect(&[1.5, -0.5], true), [0.0, 0.0]);
        // A model that is wrong by 0.1 at the end.
        assert_near(defect(&[1.5, -0.6], true), [0.05, 0.1 / 3.0]);
    }
}
