//! LU factorisation with partial pivoting and row scaling.

use crate::matrix::Matrix;

/// Pivots below this, relative to their scaled row, count as zero.
const SINGULAR: f64 = 1e-14;

/// A factored square matrix. Its memory is taken once.
#[derive(Clone, Debug, Default)]
pub struct Lu {
    factors: Matrix,
    pivots: Vec<usize>,
    scale: Vec<f64>,
}

impl Lu {
    /// Room for matrices of this size.
    pub fn new(size: usize) -> Self {
        Self { factors: Matrix::zeros(size, size), pivots: vec![0; size], scale: vec![1.0; size] }
    }

    /// Where the matrix to be factored is written to.
    pub fn matrix_mut(&mut self) -> &mut Matrix {
        &mut self.factors
    }

    /// Makes this what `other`, of the same size, is; without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.factors.copy_from(&other.factors);
        self.pivots.copy_from_slice(&other.pivots);
        self.scale.copy_from_slice(&other.scale);
    }

    /// Factors what was written. Says whether the matrix is regular; entries that are not finite count as
    /// singular.
    #[must_use]
    pub fn factor(&mut self) -> bool {
        let n = self.factors.rows();
        for i in 0..n {
            let largest = self.factors.row(i).iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            // Rows of different units must not decide the pivots.
            self.scale[i] = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        }
        for k in 0..n {
            let size = |i: usize| self.factors[(i, k)].abs() * self.scale[i];
            let pivot = (k..n).fold(k, |best, i| if size(i) > size(best) { i } else { best });
            if size(pivot) <= SINGULAR {
                return false;
            }
            self.pivots[k] = pivot;
            self.swap_rows(k, pivot);
            self.eliminate(k);
        }
        self.factors.is_finite()
    }

    /// Solves A x = b in place.
    pub fn solve(&self, b: &mut [f64]) {
        solve_factored(self.factors.data(), self.pivots.iter().copied(), b);
    }

    /// A X = B in place, column by column; `column` is room for one.
    pub fn solve_columns(&self, matrix: &mut Matrix, column: &mut [f64]) {
        let column = &mut column[..matrix.rows()];
        for j in 0..matrix.columns() {
            (0..column.len()).for_each(|i| column[i] = matrix[(i, j)]);
            self.solve(column);
            (0..column.len()).for_each(|i| matrix[(i, j)] = column[i]);
        }
    }

    /// L and U in one matrix.
    pub(crate) fn factors(&self) -> &Matrix {
        &self.factors
    }

    /// Row exchanges.
    pub(crate) fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    fn swap_rows(&mut self, a: usize, b: usize) {
        if a != b {
            self.scale.swap(a, b);
            let columns = self.factors.columns();
            let (upper, lower) = self.factors.data_mut().split_at_mut(b * columns);
            upper[a * columns..(a + 1) * columns].swap_with_slice(&mut lower[..columns]);
        }
    }

    fn eliminate(&mut self, k: usize) {
        let n = self.factors.rows();
        let (upper, lower) = self.factors.data_mut().split_at_mut((k + 1) * n);
        let pivot_row = &upper[k * n..];
        for row in lower.chunks_exact_mut(n) {
            let factor = row[k] / pivot_row[k];
            row[k] = factor;
            if factor != 0.0 {
                row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]).for_each(|(x, p)| *x -= factor * p);
            }
        }
    }
}

/// Solves A x = b in place, with the factors of A row by row.
#[inline]
pub(crate) fn solve_factored(factors: &[f64], pivots: impl Iterator<Item = usize>, b: &mut [f64]) {
    let n = b.len();
    for ((k, pivot), row) in pivots.enumerate().zip(factors.chunks_exact(n.max(1))) {
        b.swap(k, pivot);
        let (done, rest) = b.split_at_mut(k);
        rest[0] -= row[..k].iter().zip(&*done).map(|(l, x)| l * x).sum::<f64>();
    }
    for (k, row) in factors.chunks_exact(n.max(1)).enumerate().rev() {
        let sum: f64 = row[k + 1..].iter().zip(&b[k + 1..]).map(|(u, x)| u * x).sum();
        b[k] = (b[k] - sum) / row[k];
    }
}
