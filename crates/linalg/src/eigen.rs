//! Eigenvalues and eigenvectors of general real matrices: balanced, reduced to Hessenberg form, then by the shifted QR
//! algorithm in complex numbers. For analysis, not for the macro-step loop: it takes memory.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::matrix::Matrix;

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// From its parts.
    pub fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// |z|.
    pub fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// The angle, from -pi to pi.
    pub fn angle(self) -> f64 {
        self.im.atan2(self.re)
    }

    /// The conjugate.
    #[must_use]
    pub fn conjugate(self) -> Self {
        Self { re: self.re, im: -self.im }
    }

    /// A square root.
    #[must_use]
    pub fn sqrt(self) -> Self {
        let size = self.abs();
        let re = (0.5 * (size + self.re.abs())).sqrt();
        if re == 0.0 {
            return Self::default();
        }
        let im = 0.5 * self.im.abs() / re;
        let (re, im) = if self.re >= 0.0 { (re, im) } else { (im, re) };
        Self { re, im: im.copysign(self.im) }
    }

    fn scaled(self, factor: f64) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Self {
        Self { re, im: 0.0 }
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

impl Div for Complex {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        // By the larger part, so that nothing overflows on the way.
        let size = other.re.abs().max(other.im.abs());
        let (a, b) = (self.scaled(1.0 / size), other.scaled(1.0 / size));
        (a * b.conjugate()).scaled(1.0 / (b.re * b.re + b.im * b.im))
    }
}

/// QR steps for one eigenvalue; a few are usual.
const MOST_STEPS: usize = 300;

/// All eigenvalues, the greatest first. None if an entry is not finite, or in the rare case that the iteration does not end.
///
/// # Panics
/// If the matrix is not square.
pub fn eigenvalues(matrix: &Matrix) -> Option<Vec<Complex>> {
    assert_eq!(matrix.rows(), matrix.columns(), "a square matrix");
    if !matrix.is_finite() {
        return None;
    }
    let mut balanced = matrix.clone();
    part(&mut balanced);
    balance(&mut balanced);
    reduce(&mut balanced);
    let mut values = iterate(&balanced)?;
    values.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    Some(values)
}

/// Takes out what no eigenvalue depends on: an index whose row has nothing beside the diagonal is a block of its own, whatever its
/// column has, and the other way round. Units in which such an entry is huge would drown all others in its round-off.
fn part(matrix: &mut Matrix) {
    let n = matrix.rows();
    let mut done = false;
    while !done {
        done = true;
        for i in 0..n {
            let others = || (0..n).filter(|k| *k != i);
            let is_alone = [others().all(|k| matrix[(i, k)] == 0.0), others().all(|k| matrix[(k, i)] == 0.0)];
            if is_alone[0] != is_alone[1] {
                done = false;
                others().for_each(|k| (matrix[(i, k)], matrix[(k, i)]) = (0.0, 0.0));
            }
        }
    }
}

/// A similar matrix whose rows and columns are of like size, by powers of two: without round-off. Gives the units that entries of
/// its eigenvectors are in.
fn balance(matrix: &mut Matrix) -> Vec<f64> {
    let n = matrix.rows();
    let mut units = vec![1.0; n];
    for _ in 0..20 {
        let mut done = true;
        for i in 0..n {
            let others = (0..n).filter(|k| *k != i);
            let (mut column, mut row) = (0.0, 0.0);
            others.for_each(|k| {
                column += matrix[(k, i)].abs();
                row += matrix[(i, k)].abs();
            });
            if column == 0.0 || row == 0.0 {
                continue;
            }
            let exponent = (0.5 * (row / column).log2()).round();
            if exponent.abs() < 1.0 {
                continue;
            }
            done = false;
            let factor = exponent.exp2();
            (0..n).for_each(|k| matrix[(k, i)] *= factor);
            (0..n).for_each(|k| matrix[(i, k)] /= factor);
            units[i] *= factor;
        }
        if done {
            break;
        }
    }
    units
}

/// To upper Hessenberg form by reflections.
fn reduce(matrix: &mut Matrix) {
    let n = matrix.rows();
    let mut v = vec![0.0; n];
    for k in 0..n.saturating_sub(2) {
        let norm = (k + 1..n).map(|i| matrix[(i, k)].powi(2)).sum::<f64>().sqrt();
        if norm == 0.0 {
            continue;
        }
        let alpha = -norm.copysign(matrix[(k + 1, k)]);
        (k + 1..n).for_each(|i| v[i] = matrix[(i, k)]);
        v[k + 1] -= alpha;
        let square: f64 = v[k + 1..].iter().map(|v| v * v).sum();
        for j in k..n {
            let sum: f64 = (k + 1..n).map(|i| v[i] * matrix[(i, j)]).sum::<f64>() * 2.0 / square;
            (k + 1..n).for_each(|i| matrix[(i, j)] -= sum * v[i]);
        }
        for i in 0..n {
            let sum: f64 = (k + 1..n).map(|j| v[j] * matrix[(i, j)]).sum::<f64>() * 2.0 / square;
            (k + 1..n).for_each(|j| matrix[(i, j)] -= sum * v[j]);
        }
        (k + 2..n).for_each(|i| matrix[(i, k)] = 0.0);
    }
}

/// The eigenvalues of a Hessenberg matrix.
fn iterate(hessenberg: &Matrix) -> Option<Vec<Complex>> {
    let n = hessenberg.rows();
    let mut h: Vec<Complex> = hessenberg.data().iter().map(|value| Complex::from(*value)).collect();
    let norm = hessenberg.norm_1();
    let mut values = Vec::with_capacity(n);
    let mut end = n;
    let mut steps = 0;
    while end > 0 {
        let last = end - 1;
        // The active block begins behind the last entry below the diagonal that is negligible.
        let mut first = last;
        while first > 0 {
            let beside = h[(first - 1) * n + first - 1].abs() + h[first * n + first].abs();
            let beside = if beside == 0.0 { norm } else { beside };
            if h[first * n + first - 1].abs() <= f64::EPSILON * beside {
                break;
            }
            first -= 1;
        }
        if first == last {
            values.push(h[last * n + last]);
            (end, steps) = (last, 0);
            continue;
        }
        steps += 1;
        if steps > MOST_STEPS {
            return None;
        }
        let shift = if steps % 10 == 0 {
            // Where the usual shift goes round in circles.
            Complex::from(h[last * n + last - 1].abs()) + h[last * n + last]
        } else {
            wilkinson(&h, n, last)
        };
        qr_step(&mut h, n, (first, last), shift);
    }
    Some(values)
}

/// The eigenvalue of the last block of two that is nearer to its corner.
fn wilkinson(h: &[Complex], n: usize, last: usize) -> Complex {
    let (a, b) = (h[(last - 1) * n + last - 1], h[(last - 1) * n + last]);
    let (c, d) = (h[last * n + last - 1], h[last * n + last]);
    let half = (a - d).scaled(0.5);
    let root = (half * half + b * c).sqrt();
    let [plus, minus] = [half + root, half - root];
    let far = if plus.abs() > minus.abs() { plus } else { minus };
    if far.abs() == 0.0 { d } else { d - b * c / far }
}

/// H - s = Q R, then R Q + s, within the active block.
fn qr_step(h: &mut [Complex], n: usize, (first, last): (usize, usize), shift: Complex) {
    (first..=last).for_each(|i| h[i * n + i] = h[i * n + i] - shift);
    let mut rotations = Vec::with_capacity(last - first);
    for k in first..last {
        let (a, b) = (h[k * n + k], h[(k + 1) * n + k]);
        let norm = a.abs().hypot(b.abs());
        let (c, s) = if norm == 0.0 {
            (Complex::from(1.0), Complex::default())
        } else {
            (a.scaled(1.0 / norm), b.scaled(1.0 / norm))
        };
        for j in k..=last {
            let (upper, lower) = (h[k * n + j], h[(k + 1) * n + j]);
            h[k * n + j] = c.conjugate() * upper + s.conjugate() * lower;
            h[(k + 1) * n + j] = c * lower - s * upper;
        }
        rotations.push((c, s));
    }
    for (k, (c, s)) in (first..last).zip(rotations) {
        for i in first..=(k + 1).min(last) {
            let (left, right) = (h[i * n + k], h[i * n + k + 1]);
            h[i * n + k] = left * c + right * s;
            h[i * n + k + 1] = right * c.conjugate() - left * s.conjugate();
        }
    }
    (first..=last).for_each(|i| h[i * n + i] = h[i * n + i] + shift);
}

/// The eigenvector of an eigenvalue by inverse iteration, of length 1.
///
/// # Panics
/// If the matrix is not square.
pub fn eigenvector(matrix: &Matrix, value: Complex) -> Vec<Complex> {
    assert_eq!(matrix.rows(), matrix.columns(), "a square matrix");
    let n = matrix.rows();
    let mut balanced = matrix.clone();
    silence(&mut balanced, value);
    let units = balance(&mut balanced);
    let tiny = f64::EPSILON * balanced.norm_1().max(f64::MIN_POSITIVE);
    let mut factors: Vec<Complex> = balanced.data().iter().map(|entry| Complex::from(*entry)).collect();
    (0..n).for_each(|i| factors[i * n + i] = factors[i * n + i] - value);
    let order = factor(&mut factors, n, tiny);
    // Anything without a pattern.
    let mut x: Vec<Complex> =
        (0..n).map(|i| Complex::new(1.0 + 0.3 * (i as f64 * 0.618_034).fract(), 0.1)).collect();
    for _ in 0..4 {
        x = solve(&factors, n, &order, &x);
        let norm = x.iter().map(|value| value.abs().powi(2)).sum::<f64>().sqrt();
        x.iter_mut().for_each(|value| *value = value.scaled(1.0 / norm));
    }
    let greatest = x.iter().zip(&units).map(|(x, unit)| x.abs() * unit).fold(f64::MIN_POSITIVE, f64::max);
    x.iter_mut().zip(units).for_each(|(x, unit)| *x = x.scaled(unit / greatest));
    let norm = x.iter().map(|value| value.abs().powi(2)).sum::<f64>().sqrt();
    x.iter_mut().for_each(|value| *value = value.scaled(1.0 / norm));
    x
}

/// Takes out the columns of entries that are zero in the eigenvector of this eigenvalue, since nothing moves them.
fn silence(matrix: &mut Matrix, value: Complex) {
    let n = matrix.rows();
    for i in 0..n {
        let is_unmoved = (0..n).all(|k| k == i || matrix[(i, k)] == 0.0);
        if is_unmoved && Complex::from(matrix[(i, i)]) != value {
            (0..n).filter(|k| *k != i).for_each(|k| matrix[(k, i)] = 0.0);
        }
    }
}

/// L and U in place, with rows exchanged; pivots that vanish become tiny.
fn factor(a: &mut [Complex], n: usize, tiny: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
        order.swap(k, pivot);
        (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
        if a[k * n + k].abs() < tiny {
            a[k * n + k] = Complex::from(tiny);
        }
        for i in k + 1..n {
            let share = a[i * n + k] / a[k * n + k];
            a[i * n + k] = share;
            (k + 1..n).for_each(|j| a[i * n + j] = a[i * n + j] - share * a[k * n + j]);
        }
    }
    order
}

fn solve(a: &[Complex], n: usize, order: &[usize], b: &[Complex]) -> Vec<Complex> {
    let mut x: Vec<Complex> = order.iter().map(|i| b[*i]).collect();
    for i in 0..n {
        (0..i).for_each(|j| x[i] = x[i] - a[i * n + j] * x[j]);
    }
    for i in (0..n).rev() {
        (i + 1..n).for_each(|j| x[i] = x[i] - a[i * n + j] * x[j]);
        x[i] = x[i] / a[i * n + i];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern, of sizes from 1e-6 to 1e6 by rows and columns.
    fn rough(n: usize, seed: u64, spread: f64) -> Matrix {
        let mut state = seed;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let sizes: Vec<f64> = (0..n).map(|_| 10f64.powf(spread * random())).collect();
        let mut matrix = Matrix::zeros(n, n);
        for i in 0..n {
            (0..n).for_each(|j| matrix[(i, j)] = random() * sizes[i] / sizes[j]);
        }
        matrix
    }

    #[test]
    fn eigenvalues_are_those_of_another_library() {
        for (seed, n) in (1..=40).map(|seed| (seed, 1 + seed as usize % 13)) {
            let matrix = rough(n, seed, 0.0);
            let own = eigenvalues(&matrix).unwrap();
            let other = nalgebra::DMatrix::from_row_slice(n, n, matrix.data()).complex_eigenvalues();
            for value in &own {
                let distance = |z: &nalgebra::Complex<f64>| (z.re - value.re).hypot(z.im - value.im);
                let nearest = other.iter().map(distance).fold(f64::INFINITY, f64::min);
                assert!(nearest < 1e-11, "{n} {seed}: {value:?} {nearest:e}");
            }
            let trace: f64 = (0..n).map(|i| matrix[(i, i)]).sum();
            assert!((own.iter().map(|value| value.re).sum::<f64>() - trace).abs() < 1e-12);
        }
    }

    #[test]
    fn badly_scaled_matrices_keep_their_digits() {
        for seed in 1..=20 {
            let matrix = rough(8, seed, 8.0);
            let radius = eigenvalues(&matrix).unwrap()[0].abs();
            let other = crate::spectral_radius(&matrix);
            assert!((radius - other).abs() < 1e-10 * other, "{radius} {other}");
        }
    }

    #[test]
    fn eigenvectors_solve_the_equation() {
        for seed in 1..=20 {
            let matrix = rough(7, seed, 0.0);
            for value in eigenvalues(&matrix).unwrap() {
                let v = eigenvector(&matrix, value);
                for i in 0..7 {
                    let row =
                        (0..7).fold(Complex::default(), |sum, j| sum + Complex::from(matrix[(i, j)]) * v[j]);
                    assert!((row - value * v[i]).abs() < 1e-9, "{value:?}");
                }
            }
        }
    }

    /// A constant in units in which it moves the others by 1e17 of theirs.
    #[test]
    fn what_nothing_moves_does_not_drown_the_others() {
        for seed in 1..=20 {
            let (inner, n) = (rough(6, seed, 0.0), 8);
            let mut matrix = Matrix::zeros(n, n);
            (0..6).for_each(|i| (0..6).for_each(|j| matrix[(i + 1, j + 1)] = inner[(i, j)]));
            (1..n).for_each(|i| matrix[(i, 0)] = 1e17 * (i as f64 * 0.618_034).fract());
            // And one that moves nothing.
            (0..n - 1).for_each(|j| matrix[(n - 1, j)] = 1e15 * (j as f64 * 0.414_214).fract());
            let expected = eigenvalues(&inner).unwrap();
            let found = eigenvalues(&matrix).unwrap();
            for value in &found[..6] {
                let nearest = expected.iter().map(|z| (*value - *z).abs()).fold(f64::INFINITY, f64::min);
                assert!(nearest < 1e-13, "{seed}: {value:?} {nearest:e}");
            }
            assert!(found[6..].iter().all(|value| value.abs() == 0.0), "{seed}: {found:?}");
            let vector = eigenvector(&matrix, found[0]);
            let alone = eigenvector(&inner, found[0]);
            assert!(vector[0].abs() < 1e-50, "{seed}: {:?}", vector[0]);
            let scale = vector[1] / alone[0];
            for i in 0..6 {
                assert!((vector[i + 1] - scale * alone[i]).abs() < 1e-9 * scale.abs(), "{seed}");
            }
        }
    }

    #[test]
    fn special_matrices() {
        // A shift register, a rotation, a permutation that shifts alone do not part, nothing at all.
        let shift = Matrix::from_rows(3, 3, &[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        assert!(eigenvalues(&shift).unwrap().iter().all(|value| value.abs() < 1e-12));
        let turn = Matrix::from_rows(2, 2, &[0.0, -2.0, 2.0, 0.0]);
        assert!(
            eigenvalues(&turn).unwrap().iter().all(|z| (z.abs() - 2.0).abs() < 1e-14 && z.re.abs() < 1e-14)
        );
        let circle = Matrix::from_rows(3, 3, &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert!(eigenvalues(&circle).unwrap().iter().all(|value| (value.abs() - 1.0).abs() < 1e-12));
        assert_eq!(eigenvalues(&Matrix::zeros(0, 0)), Some(Vec::new()));
        assert_eq!(eigenvalues(&Matrix::from_rows(1, 1, &[f64::NAN])), None);
    }
}
