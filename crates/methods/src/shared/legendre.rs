//! Orthonormal shifted Legendre polynomials Q_a on [0, 1], up to degree 5.

/// Highest degree.
pub(crate) const MAX_DEGREE: usize = 5;

/// Q_a = sum_b COEFFICIENTS[a][b] theta^b, before the factor sqrt(2 a + 1).
const INTEGERS: [[f64; MAX_DEGREE + 1]; MAX_DEGREE + 1] = [
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-1.0, 2.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, -6.0, 6.0, 0.0, 0.0, 0.0],
    [-1.0, 12.0, -30.0, 20.0, 0.0, 0.0],
    [1.0, -20.0, 90.0, -140.0, 70.0, 0.0],
    [-1.0, 30.0, -210.0, 560.0, -630.0, 252.0],
];

/// Coefficient of theta^b in Q_a.
pub(crate) fn coefficient(a: usize, b: usize) -> f64 {
    ((2 * a + 1) as f64).sqrt() * INTEGERS[a][b]
}

/// Coefficient of (1 - theta)^b in Q_a: Q_a(theta) = (-1)^a Q_a(1 - theta).
pub(crate) fn mirrored_coefficient(a: usize, b: usize) -> f64 {
    if a.is_multiple_of(2) { coefficient(a, b) } else { -coefficient(a, b) }
}

/// b!
pub(crate) fn factorial(b: usize) -> f64 {
    (1..=b).map(|i| i as f64).product()
}

/// Adds the L2 projection of a function on [0, 1] to its coefficients, by one node of a quadrature.
pub(crate) fn project_node(theta: f64, weighted_value: f64, coefficients: &mut [f64]) {
    for (a, c) in coefficients.iter_mut().enumerate() {
        *c += weighted_value * polynomial(a, theta);
    }
}

/// Q_a(theta), by Horner's rule.
pub(crate) fn polynomial(a: usize, theta: f64) -> f64 {
    (0..=a).rev().fold(0.0, |value, b| value * theta + coefficient(a, b))
}

#[cfg(test)]
mod tests {
    use costep_core::quadrature::GAUSS;

    use super::*;

    fn value(a: usize, theta: f64) -> f64 {
        (0..=MAX_DEGREE).map(|b| coefficient(a, b) * theta.powi(b as i32)).sum()
    }

    #[test]
    fn they_are_orthonormal() {
        for a in 0..=MAX_DEGREE {
            for b in 0..=MAX_DEGREE {
                // Integrals of theta^(i+j) are exact: 1 / (i + j + 1).
                let mut integral = 0.0;
                for i in 0..=MAX_DEGREE {
                    for j in 0..=MAX_DEGREE {
                        integral += coefficient(a, i) * coefficient(b, j) / (i + j + 1) as f64;
                    }
                }
                assert!((integral - f64::from(u8::from(a == b))).abs() < 1e-10, "{a} {b} {integral}");
            }
        }
    }

    #[test]
    fn they_mirror() {
        for a in 0..=MAX_DEGREE {
            let mirrored: f64 =
                (0..=MAX_DEGREE).map(|b| mirrored_coefficient(a, b) * 0.7f64.powi(b as i32)).sum();
            assert!((mirrored - value(a, 0.3)).abs() < 1e-12);
        }
    }

    #[test]
    fn polynomials_are_their_own_projection() {
        let function = |theta: f64| 2.0 - 3.0 * theta + 5.0 * theta.powi(3);
        let mut c = [0.0; 4];
        GAUSS.iter().for_each(|(theta, weight)| project_node(*theta, weight * function(*theta), &mut c));
        let projected: f64 = (0..4).map(|a| c[a] * value(a, 0.3)).sum();
        assert!((projected - function(0.3)).abs() < 1e-13);
    }
}
