//! The triangular factor R of a tall matrix W = Q R whose rows come and go one by one: least squares over a moving
//! window at a cost that does not depend on its length.

use crate::matrix::Matrix;

/// R with R^T R = W^T W. All memory is taken in `new`.
#[derive(Clone, Debug, Default)]
pub struct Triangle {
    r: Matrix,
    row: Vec<f64>,
    cosines: Vec<f64>,
    sines: Vec<f64>,
}

impl Triangle {
    /// R of no rows: zero.
    pub fn new(columns: usize) -> Self {
        Self {
            r: Matrix::zeros(columns, columns),
            row: vec![0.0; columns],
            cosines: vec![0.0; columns],
            sines: vec![0.0; columns],
        }
    }

    /// R.
    pub fn factor(&self) -> &Matrix {
        &self.r
    }

    /// R, for checkpoints.
    pub fn factor_mut(&mut self) -> &mut Matrix {
        &mut self.r
    }

    /// Back to no rows.
    pub fn clear(&mut self) {
        self.r.fill(0.0);
    }

    /// Column j of W times a factor: a change of its unit.
    pub fn scale_column(&mut self, j: usize, factor: f64) {
        for i in 0..=j {
            self.r[(i, j)] *= factor;
        }
    }

    /// A row more, by Givens rotations.
    pub fn append(&mut self, row: &[f64]) {
        self.row.copy_from_slice(row);
        for k in 0..self.row.len() {
            let (diagonal, below) = (self.r[(k, k)], self.row[k]);
            if below == 0.0 {
                continue;
            }
            let length = diagonal.hypot(below);
            let (c, s) = (diagonal / length, below / length);
            for (x, y) in self.r.row_mut(k)[k..].iter_mut().zip(&mut self.row[k..]) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
        }
    }

    /// A row less [Stewart 1979]: with R^T a = row, the rotations that turn (a, sqrt(1 - a^T a)) into a unit
    /// vector turn the row out of R. False, and R unchanged, if what remains would have no full rank up to `cut`.
    #[must_use]
    pub fn remove(&mut self, row: &[f64], cut: f64) -> bool {
        let n = row.len();
        for (i, entry) in row.iter().enumerate() {
            let sum: f64 = (0..i).map(|k| self.r[(k, i)] * self.row[k]).sum();
            let diagonal = self.r[(i, i)];
            let rest = entry - sum;
            if diagonal == 0.0 && rest != 0.0 {
                return false;
            }
            self.row[i] = if rest == 0.0 { 0.0 } else { rest / diagonal };
        }
        let mut alpha = 1.0 - self.row.iter().map(|a| a * a).sum::<f64>();
        if alpha.is_nan() || alpha <= cut * cut {
            return false;
        }
        alpha = alpha.sqrt();
        for i in (0..n).rev() {
            let length = alpha.hypot(self.row[i]);
            (self.cosines[i], self.sines[i]) = (alpha / length, self.row[i] / length);
            alpha = length;
        }
        for j in 0..n {
            let mut carried = 0.0;
            for i in (0..=j).rev() {
                let (c, s, x) = (self.cosines[i], self.sines[i], self.r[(i, j)]);
                self.r[(i, j)] = c * x - s * carried;
                carried = c * carried + s * x;
            }
        }
        true
    }
}
