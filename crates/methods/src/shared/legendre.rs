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

/// Coefficients of the line from `start` to `end` in Q_0 and Q_1.
pub(crate) fn line(start: f64, end: f64) -> [f64; 2] {
    [0.5 * (start + end), (end - start) / (2.0 * 3f64.sqrt())]
}

#[cfg(test)]
mod tests {
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
        let [c0, c1] = line(2.0, 5.0);
        assert!((c0 * value(0, 0.25) + c1 * value(1, 0.25) - 2.75).abs() < 1e-15);
    }
}
