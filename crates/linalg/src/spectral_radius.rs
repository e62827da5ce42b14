//! The spectral radius of a matrix by Gelfand's formula, without its eigenvalues.

use crate::matrix::Matrix;

/// Powers up to M^(2^50): what a norm differs by from the radius is then beyond double precision.
const SQUARINGS: i32 = 50;

/// Greatest absolute eigenvalue of a square matrix, lim |M^p|^(1/p), by squaring with scaling; not a number where an
/// entry is not finite.
pub fn spectral_radius(matrix: &Matrix) -> f64 {
    if !matrix.is_finite() {
        return f64::NAN;
    }
    let (mut power, mut square) = (matrix.clone(), matrix.clone());
    // log2 of |M^p|^(1/p): each power is divided by its norm before it is squared.
    let mut logarithm = 0.0;
    for k in 0..=SQUARINGS {
        let norm = power.norm_1();
        if norm == 0.0 {
            return 0.0;
        }
        logarithm += norm.log2() * 0.5f64.powi(k);
        power.scale(1.0 / norm);
        square.set_product(&power, &power);
        std::mem::swap(&mut power, &mut square);
    }
    logarithm.exp2()
}
