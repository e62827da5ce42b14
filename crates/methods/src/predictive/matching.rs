//! End matching: the smallest change of the input polynomials that takes the end state of the local model to where the
//! prediction has it.
//!
//! dc = S Gs^T (Gs Gs^T + lambda tr(Gs Gs^T)/n I)^-1 rest / s_x,  Gs = G S / s_x,  S = diag(s_u)
//!
//! "Smallest" is in the L2 norm over the step, in units of the signals. Near omega h = pi the end state hardly feels
//! smooth inputs; lambda keeps the change finite there. Without it (`fit=end`) the end is matched wherever it can be.

use costep_linalg::{Lu, Matrix, PseudoInverse};

use crate::shared::response::Response;

/// lambda where the sizes of the states are known, and where their reach stands for them.
const LAMBDA: f64 = 0.1;
/// Singular values below this share of the greatest count as zero.
const CUT: f64 = 1e-9;

pub(super) struct Matching {
    /// What is to be reached.
    pub(super) rest: Vec<f64>,
    /// dc from the rest.
    map: Matrix,
    scaled: Matrix,
    normal: Lu,
    inverse: Matrix,
    work: PseudoInverse,
    sizes: Vec<f64>,
    column: Vec<f64>,
}

impl Matching {
    pub(super) fn new((states, inputs): (usize, usize), width: usize) -> Self {
        let columns = inputs * width;
        Self {
            rest: vec![0.0; states],
            map: Matrix::zeros(columns, states),
            scaled: Matrix::zeros(states, columns),
            normal: Lu::new(states),
            inverse: Matrix::zeros(columns, states),
            work: PseudoInverse::new(states, columns),
            sizes: vec![0.0; states],
            column: vec![0.0; states],
        }
    }

    /// New maps for a changed response. A held input is left alone: its mean is what matters.
    pub(super) fn design(
        &mut self,
        response: &Response,
        (nominal, input_sizes): (&[f64], &[f64]),
        orders: &[Option<usize>],
        exact: bool,
    ) {
        let (n, columns) = (self.rest.len(), self.map.rows());
        let width = columns / input_sizes.len().max(1);
        let is_free = |column: usize| {
            let order = orders[column / width].unwrap_or(0);
            (order > 0 || exact) && orders[column / width].is_some() && column % width <= order
        };
        for (i, nominal) in nominal.iter().copied().enumerate().take(n) {
            for column in 0..columns {
                let gain = response.input_to_state[(i, column)] * input_sizes[column / width];
                self.scaled[(i, column)] = if is_free(column) { gain } else { 0.0 };
            }
            let reach = self.scaled.row(i).iter().map(|gain| gain * gain).sum::<f64>().sqrt();
            let size = if nominal > 0.0 { nominal } else { reach };
            self.sizes[i] = if size > 0.0 { size } else { 1.0 };
            self.scaled.row_mut(i).iter_mut().for_each(|gain| *gain /= self.sizes[i]);
        }
        if exact {
            self.work.compute(&self.scaled, CUT, &mut self.inverse);
        } else {
            self.regularised();
        }
        for column in 0..columns {
            for i in 0..n {
                self.map[(column, i)] =
                    input_sizes[column / width] * self.inverse[(column, i)] / self.sizes[i];
            }
        }
    }

    /// inverse = Gs^T (Gs Gs^T + lambda tr/n I)^-1; zero if nothing can be reached.
    fn regularised(&mut self) {
        let n = self.rest.len();
        self.inverse.fill(0.0);
        let normal = self.normal.matrix_mut();
        let mut trace = 0.0;
        for i in 0..n {
            for k in 0..n {
                let product = self.scaled.row(i).iter().zip(self.scaled.row(k)).map(|(a, b)| a * b).sum();
                normal[(i, k)] = product;
                trace += if i == k { product } else { 0.0 };
            }
        }
        for i in 0..n {
            normal[(i, i)] += LAMBDA * trace / n as f64;
        }
        if !(trace > 0.0 && self.normal.factor()) {
            return;
        }
        // The matrix is symmetric: its inverse times column i of Gs is row i of the result.
        for column in 0..self.map.rows() {
            (0..n).for_each(|i| self.column[i] = self.scaled[(i, column)]);
            self.normal.solve(&mut self.column);
            (0..n).for_each(|i| self.inverse[(column, i)] = self.column[i]);
        }
    }

    pub(super) fn correct(&self, c: &mut [f64]) {
        self.map.multiply_add(&self.rest, c);
    }
}
