//! Pseudo-inverses of matrices of one size.

use crate::matrix::Matrix;
use crate::svd::Svd;

/// Workspace for pseudo-inverses of matrices of one size.
#[derive(Clone, Debug, Default)]
pub struct PseudoInverse {
    svd: Svd,
}

impl PseudoInverse {
    /// Workspace for matrices with so many rows and columns.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self { svd: Svd::new(rows, columns) }
    }

    /// result = A^+, singular values below `cut` times the greatest taken as zero. Gives the rank.
    pub fn compute(&mut self, a: &Matrix, cut: f64, result: &mut Matrix) -> usize {
        self.svd.compute(a);
        self.svd.pseudo_inverse(cut, result)
    }

    /// Singular values of the last matrix, greatest first.
    pub fn singular(&self) -> &[f64] {
        self.svd.singular()
    }
}
