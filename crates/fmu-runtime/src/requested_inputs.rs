//! Inputs that the importer is asked for inside a step (FMI 3 intermediate update), as polynomials: integrators whose
//! steps go across many inputs, or know their slopes, get them as native runs do.

use costep_core::InputPolynomials;
use costep_integrate::Sampler;

use crate::instance::MAX_ORDER;

/// Number of instants of a step at which inputs are asked for, its start included.
pub const REQUESTED_INSTANTS: usize = MAX_ORDER + 1;
/// Sets the orders of polynomials: values that a polynomial misses by less are on it.
const ROUND_OFF: f64 = 64.0 * f64::EPSILON;
/// The instants in the order in which they decide on a polynomial: ends first, then always where most is missing.
const DECIDING: [usize; REQUESTED_INSTANTS] = [0, 8, 4, 2, 6, 1, 7, 3, 5];

/// The instants as shares of the step, rising: Chebyshev's, between which interpolation does not diverge.
pub fn instant(k: usize) -> f64 {
    match k {
        0 => 0.0,
        MAX_ORDER => 1.0,
        _ => 0.5 * (1.0 - (k as f64 * std::f64::consts::PI / MAX_ORDER as f64).cos()),
    }
}

/// What is exchanged inside a step.
#[derive(Default)]
pub(crate) struct RequestedInputs {
    /// Inputs at the instants, one row each.
    pub(crate) inputs: Vec<f64>,
    /// Keeps the solution inside the step.
    pub(crate) sampler: Option<Box<Sampler>>,
}

impl RequestedInputs {
    /// Makes polynomials of the answers over a step of this length. Gives their order.
    pub(crate) fn fit(&self, length: f64, polynomials: &mut InputPolynomials) -> usize {
        let count = self.inputs.len() / REQUESTED_INSTANTS;
        let mut order = 0;
        for input in 0..count {
            let values = std::array::from_fn(|k| self.inputs[k * count + input]);
            let (coefficients, own_order) = interpolate(values);
            order = order.max(own_order);
            let mut scale = 1.0;
            for (a, coefficient) in coefficients.into_iter().enumerate() {
                polynomials.coefficients_mut(a)[input] = coefficient / scale;
                scale *= length;
            }
        }
        order
    }
}

/// The polynomial of lowest order through values at the instants, by Newton's formula.
fn interpolate(mut missing: [f64; REQUESTED_INSTANTS]) -> ([f64; REQUESTED_INSTANTS], usize) {
    let allowed = ROUND_OFF * missing.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
    let mut coefficients = [0.0; REQUESTED_INSTANTS];
    // The product of (s - s_i) over the instants met so far: coefficients and values.
    let (mut product, mut values) = ([0.0; REQUESTED_INSTANTS], [1.0; REQUESTED_INSTANTS]);
    product[0] = 1.0;
    for (order, next) in DECIDING.into_iter().enumerate() {
        let factor = missing[next] / values[next];
        coefficients.iter_mut().zip(&product).for_each(|(c, p)| *c += factor * p);
        missing.iter_mut().zip(&values).for_each(|(missing, value)| *missing -= factor * value);
        // Not a number goes on to the end, and stays.
        if order == MAX_ORDER || missing.iter().all(|missing| missing.abs() <= allowed) {
            return (coefficients, order);
        }
        let here = instant(next);
        values.iter_mut().enumerate().for_each(|(k, value)| *value *= instant(k) - here);
        for a in (0..REQUESTED_INSTANTS).rev() {
            product[a] = if a > 0 { product[a - 1] } else { 0.0 } - here * product[a];
        }
    }
    (coefficients, MAX_ORDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_found_with_their_order() {
        for order in 0..=MAX_ORDER {
            let truth: [f64; REQUESTED_INSTANTS] =
                std::array::from_fn(|a| if a <= order { 1.0 - 0.3 * a as f64 } else { 0.0 });
            let value = |s: f64| truth.iter().rev().fold(0.0, |sum, c| sum * s + c);
            let (found, found_order) = interpolate(std::array::from_fn(|k| value(instant(k))));
            assert_eq!(found_order, order);
            let error = found.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-10, "{order}: {error:e}");
        }
    }

    #[test]
    fn what_is_no_polynomial_stays_near() {
        let jump = |s: f64| if s < 0.4 { 0.0 } else { 1.0 };
        let (found, order) = interpolate(std::array::from_fn(|k| jump(instant(k))));
        let largest =
            (0..=100).map(|i| found.iter().rev().fold(0.0, |sum, c| sum * f64::from(i) / 100.0 + c));
        assert_eq!(order, MAX_ORDER);
        assert!(largest.map(f64::abs).fold(0.0, f64::max) < 1.5);
        assert!(interpolate([f64::NAN; REQUESTED_INSTANTS]).0[0].is_nan());
    }
}
