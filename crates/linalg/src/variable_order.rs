//! Matrix exponential with the approximant of least order that is exact to double precision (Al-Mohy & Higham 2009,
//! Algorithm 5.1): half the products of [`Exponential`](crate::Exponential) for the short steps of most runs.
//!
//! Exact steps of linear systems come from here, and recordings of them are compared bit by bit over releases: the
//! order of the operations is part of the contract. Nothing is balanced.

use crate::expm::B as B13;
use crate::matrix::Matrix;

/// Numerator coefficients of the Pade approximants of order 3, 5, 7 and 9.
const B3: [f64; 4] = [120.0, 60.0, 12.0, 1.0];
const B5: [f64; 6] = [30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0];
const B7: [f64; 8] = [17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0];
const B9: [f64; 10] = [
    17643225600.0,
    8821612800.0,
    2075673600.0,
    302702400.0,
    30270240.0,
    2162160.0,
    110880.0,
    3960.0,
    90.0,
    1.0,
];

/// Up to these the approximants of order 3, 5, 7, 9 and 13 are exact (their Table 3.1).
const THETA: [f64; 5] =
    [1.495585217958292e-2, 2.53939833006323e-1, 9.504178996162932e-1, 2.097847961257068, 4.25];

/// e^a; not a number where it is not finite or cannot be had.
///
/// # Panics
/// If the matrix is not square.
pub fn variable_order_exponential(a: &Matrix) -> Matrix {
    assert_eq!(a.rows(), a.columns(), "a square matrix");
    if !a.is_finite() {
        return map(a, |_| f64::NAN);
    }
    if a.rows() == 1 {
        return map(a, f64::exp);
    }
    let a2 = product(a, a);
    let a4 = product(&a2, &a2);
    let a6 = product(&a4, &a2);
    let d4 = a4.norm_1().powf(0.25);
    let d6 = a6.norm_1().powf(1.0 / 6.0);
    let eta = d4.max(d6);
    if eta < THETA[0] && further_squarings(a, 3) == 0 {
        return quotient(a, [&a2], &B3);
    }
    if eta < THETA[1] && further_squarings(a, 5) == 0 {
        return quotient(a, [&a4, &a2], &B5);
    }
    let a8 = product(&a6, &a2);
    let d8 = a8.norm_1().powf(1.0 / 8.0);
    let eta = d6.max(d8);
    if eta < THETA[2] && further_squarings(a, 7) == 0 {
        return quotient(a, [&a6, &a4, &a2], &B7);
    }
    if eta < THETA[3] && further_squarings(a, 9) == 0 {
        return quotient(a, [&a8, &a6, &a4, &a2], &B9);
    }
    let d10 = product(&a6, &a4).norm_1().powf(1.0 / 10.0);
    let eta = eta.min(d8.max(d10));
    let mut squarings = if eta == 0.0 { 0 } else { (eta / THETA[4]).log2().ceil() as u64 };
    squarings += further_squarings(&scaled(a, 2f64.powf(-(squarings as f64))), 13);
    let mut result = thirteenth_order(a, [&a2, &a4, &a6], squarings as f64);
    for _ in 0..squarings {
        result = product(&result, &result);
    }
    result
}

/// r(A) of order 13 after scaling by 2^-s.
fn thirteenth_order(a: &Matrix, [a2, a4, a6]: [&Matrix; 3], s: f64) -> Matrix {
    let a = scaled(a, 2f64.powf(-s));
    let [a2, a4, a6] = [(a2, 2.0), (a4, 4.0), (a6, 6.0)].map(|(power, p)| scaled(power, 2f64.powf(-p * s)));
    let powers = [&a6, &a4, &a2];
    // U and V without the factor A: A^6 (b A^6 + b A^4 + b A^2) + b A^6 + b A^4 + b A^2 + b I.
    let part = |odd: usize| {
        let high = combination(None, powers, [B13[12 + odd], B13[10 + odd], B13[8 + odd]]);
        let high = product(&a6, &high);
        plus_identity(combination(Some(high), powers, [B13[6 + odd], B13[4 + odd], B13[2 + odd]]), B13[odd])
    };
    solve_quotient(product(&a, &part(1)), part(0))
}

/// r(A) of order up to 9 from the even powers, highest first.
fn quotient<const N: usize>(a: &Matrix, powers: [&Matrix; N], b: &[f64]) -> Matrix {
    let part = |odd: usize| {
        let factors = std::array::from_fn(|k| b[2 * (N - k) + odd]);
        plus_identity(combination(None, powers, factors), b[odd])
    };
    solve_quotient(product(a, &part(1)), part(0))
}

/// The first (if any) plus the sum of the factors times the matrices, from left to right.
fn combination<const N: usize>(first: Option<Matrix>, matrices: [&Matrix; N], factors: [f64; N]) -> Matrix {
    let mut terms = matrices.into_iter().zip(factors).map(|(matrix, factor)| scaled(matrix, factor));
    let first = first.or_else(|| terms.next());
    let mut sum = first.expect("at least one power");
    terms.for_each(|term| sum.add_scaled(1.0, &term));
    sum
}

fn plus_identity(matrix: Matrix, factor: f64) -> Matrix {
    // The zeros are added too: a negative zero becomes a positive one.
    let mut sum = map(&matrix, |x| x + 0.0);
    (0..sum.rows()).for_each(|i| sum[(i, i)] += factor);
    sum
}

/// How many more squarings the round-off of the approximant of order `m` asks for (their (5.1)).
fn further_squarings(a: &Matrix, m: u32) -> u64 {
    // The norm of |A|^(2 m + 1), by products with a vector of ones.
    let n = a.rows();
    let mut v = vec![1.0; n];
    for _ in 0..2 * m + 1 {
        let entry = |j: usize| (1..n).fold(a[(0, j)].abs() * v[0], |sum, i| sum + a[(i, j)].abs() * v[i]);
        v = (0..n).map(entry).collect();
    }
    let norm = v.into_iter().fold(0.0, f64::max);
    if norm == 0.0 {
        return 0;
    }
    let factorial = |k: u32| (1..=u128::from(k)).product::<u128>();
    let choose = factorial(2 * m) / (factorial(m) * factorial(m));
    let leading = choose * factorial(2 * m + 1);
    let alpha = norm / a.norm_1() / leading as f64;
    let bits = (alpha / 2f64.powf(-53.0)).log2();
    // Saturates: nothing below zero.
    (bits / f64::from(2 * m)).ceil() as u64
}

/// (V - U)^-1 (V + U), by elimination with partial pivoting.
fn solve_quotient(u: Matrix, v: Matrix) -> Matrix {
    let n = u.rows();
    let (mut x, mut q) = (u.clone(), v.clone());
    x.add_scaled(1.0, &v);
    q.add_scaled(-1.0, &u);
    for i in 0..n {
        let size = |row: usize| q[(row, i)].abs();
        let pivot = (i..n).fold(i, |best, row| if size(row) > size(best) { row } else { best });
        if q[(pivot, i)] == 0.0 {
            return map(&u, |_| f64::NAN);
        }
        swap_rows(&mut q, i, pivot);
        swap_rows(&mut x, i, pivot);
        let reciprocal = 1.0 / q[(i, i)];
        for row in i + 1..n {
            let factor = q[(row, i)] * reciprocal;
            (i + 1..n).for_each(|k| q[(row, k)] -= q[(i, k)] * factor);
            (0..n).for_each(|k| x[(row, k)] -= x[(i, k)] * factor);
        }
    }
    for i in (0..n).rev() {
        (0..n).for_each(|k| x[(i, k)] /= q[(i, i)]);
        for row in 0..i {
            (0..n).for_each(|k| x[(row, k)] -= x[(i, k)] * q[(row, i)]);
        }
    }
    x
}

fn swap_rows(matrix: &mut Matrix, a: usize, b: usize) {
    if a < b {
        let columns = matrix.columns();
        let (upper, lower) = matrix.data_mut().split_at_mut(b * columns);
        upper[a * columns..(a + 1) * columns].swap_with_slice(&mut lower[..columns]);
    }
}

fn scaled(a: &Matrix, factor: f64) -> Matrix {
    map(a, |x| x * factor)
}

fn map(a: &Matrix, f: impl Fn(f64) -> f64) -> Matrix {
    let data: Vec<f64> = a.data().iter().map(|x| f(*x)).collect();
    Matrix::from_rows(a.rows(), a.columns(), &data)
}

/// a b. Large products are rounded once per term (fused), in blocks of terms, and small ones twice.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    const SMALL: usize = 5;
    const BLOCK: usize = 256;
    let n = a.rows();
    let mut result = Matrix::zeros(n, n);
    if n <= SMALL {
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            result[(i, j)] = (1..n).fold(a[(i, 0)] * b[(0, j)], |sum, k| sum + a[(i, k)] * b[(k, j)]);
        }
        return result;
    }
    let mut sums = vec![0.0; n];
    for i in 0..n {
        for from in (0..n).step_by(BLOCK) {
            sums.fill(0.0);
            for k in (from..n.min(from + BLOCK)).filter(|k| a[(i, *k)] != 0.0) {
                let factor = a[(i, k)];
                sums.iter_mut().zip(b.row(k)).for_each(|(sum, b)| *sum = factor.mul_add(*b, *sum));
            }
            result.row_mut(i).iter_mut().zip(&sums).for_each(|(entry, sum)| *entry += sum);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exponential;

    /// Every order and some squarings, against the exponential of one order.
    #[test]
    fn all_orders_agree_with_the_thirteenth() {
        for n in [1, 2, 4, 6, 9] {
            for size in [1e-3, 1e-2, 0.1, 0.5, 1.0, 3.0, 20.0] {
                let entry = |k: usize| size * (((7 * k + 3) % 11) as f64 / 11.0 - 0.5) / n as f64;
                let data: Vec<f64> = (0..n * n).map(entry).collect();
                let a = Matrix::from_rows(n, n, &data);
                let mut expected = Matrix::zeros(n, n);
                assert!(Exponential::new(n).compute(&a, &mut expected));
                let found = variable_order_exponential(&a);
                for (x, y) in found.data().iter().zip(expected.data()) {
                    assert!((x - y).abs() <= 1e-13 * (1.0 + expected.norm_1()), "{n} {size}: {x} {y}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_finite_has_no_exponential() {
        let a = Matrix::from_rows(2, 2, &[0.0, f64::INFINITY, 1.0, 0.0]);
        assert!(variable_order_exponential(&a).data().iter().all(|x| x.is_nan()));
    }
}
