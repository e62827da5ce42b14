//! Singular value decomposition by one-sided Jacobi rotations: small, accurate, and free of allocation.

use crate::matrix::Matrix;

/// Columns count as orthogonal below this cosine.
const ORTHOGONAL: f64 = 1e-15;
const MAX_SWEEPS: usize = 60;

/// A = U S V^T of matrices of one size. A matrix with more columns than rows is decomposed as its transpose.
#[derive(Clone, Debug, Default)]
pub struct Svd {
    /// Columns of A (or of its transpose, if that is taller) as rows; become the columns of U S.
    left: Matrix,
    /// Rotations; become the columns of V as rows.
    right: Matrix,
    /// Greatest first.
    singular: Vec<f64>,
    transposed: bool,
}

impl Svd {
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

    /// Decomposes a matrix of that size.
    pub fn compute(&mut self, a: &Matrix) {
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
        self.sort();
    }

    /// Singular values, greatest first.
    pub fn singular(&self) -> &[f64] {
        &self.singular
    }

    /// Entry `row` of the right singular vector `i` of a matrix that is square or tall. Orthonormal also where
    /// singular values are zero.
    ///
    /// # Panics
    /// If the matrix is wide: its right vectors do not span the whole space.
    pub fn right(&self, row: usize, i: usize) -> f64 {
        assert!(!self.transposed, "right singular vectors of a wide matrix");
        self.right[(i, row)]
    }

    /// Number of singular values above `cut` times the greatest.
    pub fn rank(&self, cut: f64) -> usize {
        let least = cut * self.singular.first().copied().unwrap_or(0.0);
        self.singular.iter().take_while(|sigma| **sigma > least && **sigma > 0.0).count()
    }

    /// result = A^+, singular values below `cut` times the greatest taken as zero. Gives the rank.
    pub fn pseudo_inverse(&self, cut: f64, result: &mut Matrix) -> usize {
        let (narrow, tall) = (self.left.rows(), self.left.columns());
        let rank = self.rank(cut);
        result.fill(0.0);
        for i in 0..rank {
            // A^+ = V S^-1 U^T; row i of `left` is sigma u_i, row i of `right` is v_i.
            for p in 0..narrow {
                let weight = self.right[(i, p)] / self.singular[i].powi(2);
                for k in 0..tall {
                    let entry = weight * self.left[(i, k)];
                    if self.transposed { result[(k, p)] += entry } else { result[(p, k)] += entry }
                }
            }
        }
        rank
    }

    /// Greatest first, by selection: there are few.
    fn sort(&mut self) {
        for i in 0..self.singular.len() {
            let rest = i + 1..self.singular.len();
            let greatest =
                rest.fold(i, |best, k| if self.singular[k] > self.singular[best] { k } else { best });
            if greatest != i {
                self.singular.swap(i, greatest);
                swap_rows(&mut self.left, i, greatest);
                swap_rows(&mut self.right, i, greatest);
            }
        }
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

/// Rows p < q, to be changed together.
fn two_rows(matrix: &mut Matrix, p: usize, q: usize) -> (&mut [f64], &mut [f64]) {
    let columns = matrix.columns();
    let (upper, lower) = matrix.data_mut().split_at_mut(q * columns);
    (&mut upper[p * columns..(p + 1) * columns], &mut lower[..columns])
}

fn swap_rows(matrix: &mut Matrix, p: usize, q: usize) {
    let (x, y) = two_rows(matrix, p, q);
    x.swap_with_slice(y);
}

fn rotate(matrix: &mut Matrix, p: usize, q: usize, c: f64, s: f64) {
    let (xs, ys) = two_rows(matrix, p, q);
    for (x, y) in xs.iter_mut().zip(ys) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}
