//! Matrix exponential: scaling and squaring with the Pade approximant of order 13 (Higham 2005), after balancing.
//!
//! Matrices of this project mix units: entries of 1e8 N/m stand beside entries of 1e-8. Without balancing the norm asks
//! for needlessly many squarings, and small entries lose six digits.

use crate::lu::Lu;
use crate::matrix::Matrix;

/// Numerator coefficients of the Pade approximant [13/13].
pub(crate) const B: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];
/// Greatest norm for which the approximant is exact to double precision.
const THETA: f64 = 5.371920351148152;

/// Workspace for exponentials of matrices of one size.
#[derive(Clone, Debug, Default)]
pub struct Exponential {
    scaled: Matrix,
    powers: [Matrix; 3],
    odd: Matrix,
    even: Matrix,
    work: Matrix,
    lu: Lu,
    column: Vec<f64>,
    /// Units of the rows, powers of two.
    units: Vec<f64>,
}

impl Exponential {
    /// Workspace for this size.
    pub fn new(size: usize) -> Self {
        let zeros = || Matrix::zeros(size, size);
        Self {
            scaled: zeros(),
            powers: [zeros(), zeros(), zeros()],
            odd: zeros(),
            even: zeros(),
            work: zeros(),
            lu: Lu::new(size),
            column: vec![0.0; size],
            units: vec![1.0; size],
        }
    }

    /// result = e^a. False if it is not finite.
    #[must_use]
    pub fn compute(&mut self, a: &Matrix, result: &mut Matrix) -> bool {
        if !a.is_finite() {
            return false;
        }
        self.scaled.copy_from(a);
        self.balance();
        let norm = self.scaled.norm_1();
        let squarings = if norm > THETA { (norm / THETA).log2().ceil() as i32 } else { 0 };
        self.scaled.scale(0.5f64.powi(squarings));
        if !self.approximate(result) {
            return false;
        }
        for _ in 0..squarings {
            self.work.set_product(result, result);
            result.copy_from(&self.work);
        }
        for i in 0..result.rows() {
            for (j, entry) in result.row_mut(i).iter_mut().enumerate() {
                *entry *= self.units[i] / self.units[j];
            }
        }
        result.is_finite()
    }

    /// Changes units by powers of two until rows and columns have similar sums (Parlett & Reinsch 1969): no round-off.
    fn balance(&mut self) {
        const SWEEPS: usize = 20;
        self.units.fill(1.0);
        for _ in 0..SWEEPS {
            let mut changed = false;
            for i in 0..self.scaled.rows() {
                let others = || (0..self.scaled.rows()).filter(|k| *k != i);
                let column: f64 = others().map(|k| self.scaled[(k, i)].abs()).sum();
                let row: f64 = others().map(|k| self.scaled[(i, k)].abs()).sum();
                if column == 0.0 || row == 0.0 {
                    continue;
                }
                let factor = 2f64.powf((0.5 * (row / column).log2()).round());
                // Worth it only if it makes the sums clearly smaller.
                if factor.is_normal() && column * factor + row / factor < 0.95 * (column + row) {
                    changed = true;
                    self.units[i] *= factor;
                    for k in 0..self.scaled.rows() {
                        self.scaled[(k, i)] *= factor;
                        self.scaled[(i, k)] /= factor;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// (V - U)^-1 (V + U), V and U the even and odd part of the numerator.
    fn approximate(&mut self, result: &mut Matrix) -> bool {
        let [a2, a4, a6] = &mut self.powers;
        a2.set_product(&self.scaled, &self.scaled);
        a4.set_product(a2, a2);
        a6.set_product(a4, a2);
        let combine = |target: &mut Matrix, work: &mut Matrix, b: [f64; 7]| {
            // a6 (b6 a6 + b5 a4 + b4 a2) + b3 a6 + b2 a4 + b1 a2 + b0 I
            work.fill(0.0);
            work.add_scaled(b[6], a6);
            work.add_scaled(b[5], a4);
            work.add_scaled(b[4], a2);
            target.set_product(a6, work);
            target.add_scaled(b[3], a6);
            target.add_scaled(b[2], a4);
            target.add_scaled(b[1], a2);
            (0..target.rows()).for_each(|i| target[(i, i)] += b[0]);
        };
        combine(&mut self.even, &mut self.work, [B[0], B[2], B[4], B[6], B[8], B[10], B[12]]);
        combine(result, &mut self.work, [B[1], B[3], B[5], B[7], B[9], B[11], B[13]]);
        self.odd.set_product(&self.scaled, result);
        let denominator = self.lu.matrix_mut();
        denominator.copy_from(&self.even);
        denominator.add_scaled(-1.0, &self.odd);
        if !self.lu.factor() {
            return false;
        }
        self.even.add_scaled(1.0, &self.odd);
        result.copy_from(&self.even);
        self.lu.solve_columns(result, &mut self.column);
        true
    }
}
