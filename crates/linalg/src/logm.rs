//! Matrix logarithm: inverse scaling and squaring. Square roots until the matrix is near the identity (product form of
//! the Denman-Beavers iteration), then Gauss' quadrature of log(I + Z) = int_0^1 Z (I + t Z)^-1 dt, which is the Pade
//! approximant of the same order (Higham 2008, chapters 6 and 11).

use crate::lu::Lu;
use crate::matrix::Matrix;

/// Distance from the identity below which eight nodes are exact to double precision.
const NEAR: f64 = 0.25;
const MAX_ROOTS: usize = 64;
const MAX_ITERATIONS: usize = 60;
/// Positive nodes of Gauss' quadrature with eight points on [-1, 1], and weights.
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// The principal logarithm. None if there is none (an eigenvalue is zero or negative) or it is not finite.
pub fn logarithm(a: &Matrix) -> Option<Matrix> {
    let n = a.rows();
    let mut x = a.clone();
    let mut roots = 0;
    while distance_from_identity(&x) > NEAR {
        if roots == MAX_ROOTS {
            return None;
        }
        x = square_root(&x)?;
        roots += 1;
    }
    let mut z = x;
    (0..n).for_each(|i| z[(i, i)] -= 1.0);
    let mut result = Matrix::zeros(n, n);
    for (node, weight) in NODES.iter().flat_map(|(t, w)| [(0.5 + 0.5 * t, 0.5 * w), (0.5 - 0.5 * t, 0.5 * w)])
    {
        let mut shifted = z.clone();
        shifted.scale(node);
        (0..n).for_each(|i| shifted[(i, i)] += 1.0);
        // Z and (I + t Z)^-1 commute.
        result.add_product(weight, &inverse(&shifted)?, &z);
    }
    result.scale(2f64.powi(roots as i32));
    result.is_finite().then_some(result)
}

/// M, Y with Y^2 = A M in every iteration, M -> I.
fn square_root(a: &Matrix) -> Option<Matrix> {
    let n = a.rows();
    let (mut m, mut y) = (a.clone(), a.clone());
    let mut last = f64::INFINITY;
    for _ in 0..MAX_ITERATIONS {
        let mut half = inverse(&m)?;
        let inverse = half.clone();
        (0..n).for_each(|i| half[(i, i)] += 1.0);
        half.scale(0.5);
        let mut next = Matrix::zeros(n, n);
        next.set_product(&y, &half);
        y = next;
        m.add_scaled(1.0, &inverse);
        m.scale(0.25);
        (0..n).for_each(|i| m[(i, i)] += 0.5);
        let distance = distance_from_identity(&m);
        if !distance.is_finite() {
            return None;
        }
        // Quadratic until round-off stops it.
        if distance < 1e-15 || (distance < 1e-8 && distance >= last) {
            return Some(y);
        }
        last = distance;
    }
    None
}

fn distance_from_identity(a: &Matrix) -> f64 {
    let mut difference = a.clone();
    (0..a.rows()).for_each(|i| difference[(i, i)] -= 1.0);
    difference.norm_1()
}

fn inverse(a: &Matrix) -> Option<Matrix> {
    let n = a.rows();
    let mut lu = Lu::new(n);
    lu.matrix_mut().copy_from(a);
    if !lu.factor() {
        return None;
    }
    let (mut result, mut column) = (Matrix::zeros(n, n), vec![0.0; n]);
    for j in 0..n {
        column.fill(0.0);
        column[j] = 1.0;
        lu.solve(&mut column);
        (0..n).for_each(|i| result[(i, j)] = column[i]);
    }
    Some(result)
}
