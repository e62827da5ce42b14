//! Outputs that come back to themselves without delay: y = D u + .., u = L y + ... .

use crate::lu::Lu;
use crate::matrix::Matrix;

/// W = (I - D L)^-1 of coupled systems; [`ClosedLoop`](crate::ClosedLoop) has their states too.
#[derive(Clone, Debug, Default)]
pub struct DirectLoop {
    /// L: input, output, gain.
    links: Vec<(usize, usize, f64)>,
    /// I - D L, factored.
    factors: Lu,
    column: Vec<f64>,
}

impl DirectLoop {
    /// Room for so many outputs, with L by its entries: input, output, gain.
    pub fn new(outputs: usize, links: Vec<(usize, usize, f64)>) -> Self {
        Self { links, factors: Lu::new(outputs), column: vec![0.0; outputs] }
    }

    /// L: input, output, gain.
    pub fn links(&self) -> &[(usize, usize, f64)] {
        &self.links
    }

    /// Takes D, by its entries (output, input). False if I - D L is singular.
    #[must_use]
    pub fn close(&mut self, d: impl Fn(usize, usize) -> f64) -> bool {
        let matrix = self.factors.matrix_mut();
        matrix.set_identity();
        for (input, output, gain) in &self.links {
            for i in 0..self.column.len() {
                matrix[(i, *output)] -= d(i, *input) * gain;
            }
        }
        self.factors.factor()
    }

    /// y = W y.
    pub fn solve(&self, y: &mut [f64]) {
        self.factors.solve(y);
    }

    /// C = W C, for a matrix with one row per output.
    pub fn solve_columns(&mut self, c: &mut Matrix) {
        self.factors.solve_columns(c, &mut self.column);
    }

    /// A += B L.
    pub fn add_after(&self, b: &Matrix, a: &mut Matrix) {
        for (input, output, gain) in &self.links {
            for i in 0..b.rows() {
                a[(i, *output)] += b[(i, *input)] * gain;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_is_closed_as_written() {
        // y1 = 2 u1 + x, y2 = u2; u1 = 0.25 y2, u2 = y1: y1 = 0.5 y1 + x.
        let mut loops = DirectLoop::new(2, vec![(0, 1, 0.25), (1, 0, 1.0)]);
        let d = [[2.0, 0.0], [0.0, 1.0]];
        assert!(loops.close(|i, j| d[i][j]));
        let mut c = Matrix::from_rows(2, 1, &[1.0, 0.0]);
        loops.solve_columns(&mut c);
        assert_eq!(c.data(), [2.0, 2.0]);
        let b = Matrix::from_rows(1, 2, &[3.0, 5.0]);
        let mut after = Matrix::zeros(1, 2);
        loops.add_after(&b, &mut after);
        assert_eq!(after.data(), [5.0, 0.75]);
        let singular = [[4.0, 0.0], [0.0, 1.0]];
        assert!(!loops.close(|i, j| singular[i][j]));
    }
}
