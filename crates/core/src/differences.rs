//! Local models by differences, for whatever can be evaluated but not differentiated.

use crate::{LocalModel, Result};

/// Memory for differences of x' = f(x, u), y = g(x, u).
#[derive(Clone, Debug)]
pub struct Differences {
    states: usize,
    /// x, then u.
    at: Vec<f64>,
    /// x', then y: at the point itself and to both sides of it.
    centre: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
}

impl Differences {
    /// For a model of this size.
    pub fn new(states: usize, inputs: usize, outputs: usize) -> Self {
        let zeros = || vec![0.0; states + outputs];
        Self { states, at: vec![0.0; states + inputs], centre: zeros(), above: zeros(), below: zeros() }
    }

    /// Fills A, B, C, D, x and x' at (x, u) by central differences, and y. `evaluate` gives x' and y for x and u; it is
    /// called 1 + 2 (n + m) times. `nominal` has the typical size of each state and input: a step is the cube root of
    /// the round-off times the value or its nominal, whichever is larger, which balances truncation and round-off.
    /// Where one side is not finite (the edge of a domain) the other one alone is used.
    pub fn fill(
        &mut self,
        (x, u): (&[f64], &[f64]),
        nominal: (&[f64], &[f64]),
        (model, y): (&mut LocalModel, &mut [f64]),
        mut evaluate: impl FnMut(&[f64], &[f64], &mut [f64], &mut [f64]) -> Result<()>,
    ) -> Result<()> {
        let n = self.states;
        let mut at = |at: &[f64], values: &mut [f64]| {
            let (x_dot, y) = values.split_at_mut(n);
            evaluate(&at[..n], &at[n..], x_dot, y)
        };
        self.at[..n].copy_from_slice(x);
        self.at[n..].copy_from_slice(u);
        for k in 0..self.at.len() {
            let value = self.at[k];
            let typical = if k < n { nominal.0[k] } else { nominal.1[k - n] };
            let step = f64::EPSILON.cbrt() * value.abs().max(typical.abs());
            self.at[k] = value + step;
            let up = self.at[k] - value;
            at(&self.at, &mut self.above)?;
            self.at[k] = value - step;
            let down = value - self.at[k];
            at(&self.at, &mut self.below)?;
            self.at[k] = value;
            if k == 0 {
                at(&self.at, &mut self.centre)?;
            }
            self.scatter(k, (up, down), model);
        }
        if self.at.is_empty() {
            at(&self.at, &mut self.centre)?;
        }
        model.x.copy_from_slice(x);
        model.x_dot.copy_from_slice(&self.centre[..n]);
        y.copy_from_slice(&self.centre[n..]);
        Ok(())
    }

    /// Writes the derivatives with respect to state or input `k`.
    fn scatter(&self, k: usize, (up, down): (f64, f64), model: &mut LocalModel) {
        let (n, m) = (self.states, model.inputs);
        for (row, centre) in self.centre.iter().enumerate() {
            let (above, below) = (self.above[row], self.below[row]);
            let derivative = match (above.is_finite(), below.is_finite()) {
                (true, false) => (above - centre) / up,
                (false, true) => (centre - below) / down,
                _ => (above - below) / (up + down),
            };
            let (matrix, row, width, column) = match (row < n, k < n) {
                (true, true) => (&mut model.a, row, n, k),
                (true, false) => (&mut model.b, row, m, k - n),
                (false, true) => (&mut model.c, row - n, n, k),
                (false, false) => (&mut model.d, row - n, m, k - n),
            };
            matrix[row * width + column] = derivative;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_smooth_functions_have_ten_digits() {
        let (x, u) = ([1e6, -2e-4], [0.3]);
        let (mut model, mut y) = (LocalModel::new(2, 1, 2), [0.0; 2]);
        let f = |x: &[f64], u: &[f64], x_dot: &mut [f64], y: &mut [f64]| {
            x_dot[0] = (x[0] * 1e-6).sin() + 1e4 * x[1];
            x_dot[1] = x[1] * u[0];
            y[0] = 3e-6 * x[0] + u[0] * u[0];
            y[1] = (1e3 * x[1]).exp();
            Ok(())
        };
        Differences::new(2, 1, 2).fill((&x, &u), (&[1.0, 1e-3], &[1.0]), (&mut model, &mut y), f).unwrap();
        let near = |a: &[f64], b: &[f64]| {
            for (a, b) in a.iter().zip(b) {
                assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-9), "{a} instead of {b}");
            }
        };
        near(&model.a, &[1e-6 * 1f64.cos(), 1e4, 0.0, 0.3]);
        near(&model.b, &[0.0, -2e-4]);
        near(&model.c, &[3e-6, 0.0, 0.0, 1e3 * (-0.2f64).exp()]);
        near(&model.d, &[0.6, 0.0]);
        assert_eq!((model.x[0], model.x_dot[1], y[1]), (1e6, -6e-5, (-0.2f64).exp()));
    }

    #[test]
    fn at_the_edge_of_a_domain_one_side_is_enough() {
        let mut model = LocalModel::new(1, 0, 0);
        // x^1.5 is not a number below zero.
        let f = |x: &[f64], _: &[f64], x_dot: &mut [f64], _: &mut [f64]| {
            x_dot[0] = x[0].powf(1.5) + 2.0 * x[0];
            Ok(())
        };
        Differences::new(1, 0, 0).fill((&[0.0], &[]), (&[1.0], &[]), (&mut model, &mut []), f).unwrap();
        assert!((model.a[0] - 2.0).abs() < 0.01, "{}", model.a[0]);
    }
}
