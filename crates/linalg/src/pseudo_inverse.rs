//! Pseudo-inverse by one-sided Jacobi rotations: small, accurate, and free of allocation.

use crate::matrix::Matrix;

/// Columns count as orthogonal below this cosine.
const ORTHOGONAL: f64 = 1e-15;
const MAX_SWEEPS: usize = 60;

/// Workspace for pseudo-inverses of matrices of one size.
#[derive(Clone, Debug, Default)]
pub struct PseudoInverse {
    /// Columns of A (or of its transpose, if that is taller) as rows; become U Sigma.
    left: Matrix,
    /// Rotations; become V.
    right: Matrix,
    /// Singular values of the last matrix, in no order.
    singular: Vec<f64>,
    transposed: bool,
}

impl PseudoInverse {
    /// Workspace for matrices with so many rows and columns.
    pub fn new(rows: usize, columns: usize) -> Self {
        let (tall, narrow) = (rows.max(columns), rows.min(columns));
        Self {
            left: Matrix::zeros(narrow, tall),
            right: Matrix::zeros(narrow, narrow),
            singular: vec![0.0; narrow],
            transposed: columns > rows,
        }
    }

    /// result = A^+, singular values below `cut` times the greatest taken as zero. Gives the rank.
    pub fn compute(&mut self, a: &Matrix, cut: f64, result: &mut Matrix) -> usize {
        let (narrow, tall) = (self.left.rows(), self.left.columns());
        for i in 0..narrow {
            for k in 0..tall {
                self.left[(i, k)] = if self.transposed { a[(i, k)] } else { a[(k, i)] };
            }
        }
        self.right.set_identity();
        for _ in 0..MAX_SWEEPS {
            if !self.sweep() {
                break;
            }
        }
        for i in 0..narrow {
            self.singular[i] = self.left.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        }
        let greatest = self.singular.iter().copied().fold(0.0, f64::max);
        result.fill(0.0);
        let mut rank = 0;
        for i in 0..narrow {
            let sigma = self.singular[i];
            if !(sigma > cut * greatest && sigma > 0.0) {
                continue;
            }
            rank += 1;
            // A = U S V^T, A^+ = V S^-1 U^T; row i of `left` is sigma u_i, row i of `right` is v_i.
            for p in 0..narrow {
                let weight = self.right[(i, p)] / (sigma * sigma);
                for k in 0..tall {
                    let entry = weight * self.left[(i, k)];
                    if self.transposed { result[(k, p)] += entry } else { result[(p, k)] += entry }
                }
            }
        }
        rank
    }

    /// Rotates all pairs of columns; says whether any was not orthogonal yet.
    fn sweep(&mut self) -> bool {
        let mut rotated = false;
        for p in 0..self.left.rows() {
            for q in p + 1..self.left.rows() {
                let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let (rp, rq) = (self.left.row(p), self.left.row(q));
                let (alpha, beta, gamma) = (product(rp, rp), product(rq, rq), product(rp, rq));
                if gamma.abs() <= ORTHOGONAL * (alpha * beta).sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (beta - alpha) / (2.0 * gamma);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                rotate(&mut self.left, p, q, c, c * t);
                rotate(&mut self.right, p, q, c, c * t);
            }
        }
        rotated
    }
}

fn rotate(matrix: &mut Matrix, p: usize, q: usize, c: f64, s: f64) {
    let columns = matrix.columns();
    let (upper, lower) = matrix.data_mut().split_at_mut(q * columns);
    for (x, y) in upper[p * columns..(p + 1) * columns].iter_mut().zip(&mut lower[..columns]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}
