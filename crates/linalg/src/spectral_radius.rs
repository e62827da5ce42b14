//! The spectral radius of a matrix by Gelfand's formula, without its eigenvalues.

use crate::matrix::Matrix;

/// Powers up to M^(2^50): what a norm differs by from the radius is then beyond double precision.
const SQUARINGS: i32 = 50;

/// Greatest absolute eigenvalue of a square matrix, lim |M^p|^(1/p), by squaring with scaling; not a number where an
/// entry is not finite.
pub fn spectral_radius(matrix: &Matrix) -> f64 {
    SpectralRadius::default().compute(matrix, 0.0)
}

/// Room for spectral radii of matrices of one size.
#[derive(Clone, Debug, Default)]
pub struct SpectralRadius {
    power: Matrix,
    square: Matrix,
}

impl SpectralRadius {
    /// The radius as [`spectral_radius`] gives it, or, sooner, a bound on it that is not above `enough`: every |M^p|^(1/p) is an upper
    /// bound.
    pub fn compute(&mut self, matrix: &Matrix, enough: f64) -> f64 {
        if !matrix.is_finite() {
            return f64::NAN;
        }
        if (self.power.rows(), self.power.columns()) != (matrix.rows(), matrix.columns()) {
            *self = Self { power: matrix.clone(), square: matrix.clone() };
        }
        self.power.copy_from(matrix);
        // log2 of |M^p|^(1/p): each power is divided by its norm before it is squared.
        let mut logarithm = 0.0f64;
        for k in 0..=SQUARINGS {
            let norm = self.power.norm_1();
            if norm == 0.0 {
                return 0.0;
            }
            logarithm += norm.log2() * 0.5f64.powi(k);
            if logarithm.exp2() <= enough {
                break;
            }
            self.power.scale(1.0 / norm);
            self.square.set_product(&self.power, &self.power);
            std::mem::swap(&mut self.power, &mut self.square);
        }
        logarithm.exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_is_enough_ends_the_search_and_is_one() {
        // A rotation by a damped angle in badly scaled coordinates: radius 0.9, first norm 90.
        let (sin, cos) = 0.7f64.sin_cos();
        let matrix = Matrix::from_rows(2, 2, &[0.9 * cos, -0.9e-2 * sin, 90.0 * sin, 0.9 * cos]);
        let mut radius = SpectralRadius::default();
        let bound = radius.compute(&matrix, 1.0);
        assert!((0.9..=1.0).contains(&bound), "{bound}");
        assert!((radius.compute(&matrix, 0.0) - 0.9).abs() < 1e-12);
        assert!(radius.compute(&matrix, 0.5) >= 0.9 - 1e-12);
    }
}
