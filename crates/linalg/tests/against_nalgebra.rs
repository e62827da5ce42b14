//! Everything against a library that was written for the job but allocates.

use costep_linalg::{
    Exponential, Lu, Matrix, PseudoInverse, Svd, Triangle, spectral_radius, variable_order_exponential,
};
use nalgebra::DMatrix;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn to_nalgebra(a: &Matrix) -> DMatrix<f64> {
    DMatrix::from_row_slice(a.rows(), a.columns(), a.data())
}

fn matrix(rows: usize, columns: usize, largest: f64) -> impl Strategy<Value = Matrix> {
    prop::collection::vec(-largest..largest, rows * columns)
        .prop_map(move |data| Matrix::from_rows(rows, columns, &data))
}

fn close(a: &Matrix, b: &DMatrix<f64>, tolerance: f64) -> Result<(), TestCaseError> {
    let difference = (to_nalgebra(a) - b).norm();
    prop_assert!(difference <= tolerance * (1.0 + b.norm()), "differ by {difference:e}: {a:?} {b}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn exponentials_agree(a in (1usize..7).prop_flat_map(|n| matrix(n, n, 3.0)), factor in prop::sample::select(vec![1e-6, 1.0, 10.0])) {
        let mut a = a;
        a.scale(factor);
        let mut result = Matrix::zeros(a.rows(), a.columns());
        prop_assert!(Exponential::new(a.rows()).compute(&a, &mut result));
        close(&result, &to_nalgebra(&a).exp(), 1e-10)?;
    }

    /// The same algorithm in the same order of operations. Beyond five rows nalgebra rounds as the processor can.
    #[test]
    fn exponentials_of_variable_order_have_the_same_bits(
        a in (1usize..8).prop_flat_map(|n| matrix(n, n, 3.0)),
        factor in prop::sample::select(vec![1e-4, 1e-2, 0.1, 0.5, 1.0, 10.0]),
    ) {
        let mut a = a;
        a.scale(factor);
        let (result, expected) = (variable_order_exponential(&a), to_nalgebra(&a).exp());
        if a.rows() <= 5 {
            prop_assert_eq!(to_nalgebra(&result), expected);
        } else {
            close(&result, &expected, 1e-12)?;
        }
    }

    #[test]
    fn spectral_radii_agree(a in (1usize..7).prop_flat_map(|n| matrix(n, n, 2.0))) {
        let values = to_nalgebra(&a).complex_eigenvalues();
        let expected = values.iter().map(|value| value.norm()).fold(0.0, f64::max);
        let found = spectral_radius(&a);
        prop_assert!((found - expected).abs() <= 1e-9 * (1.0 + expected), "{found} {expected}");
    }

    #[test]
    fn solutions_agree_whatever_the_units_of_the_rows(
        (a, b) in (1usize..9).prop_flat_map(|n| (matrix(n, n, 1.0), prop::collection::vec(-1.0..1.0f64, n))),
        unit in prop::sample::select(vec![1.0, 1e8]),
    ) {
        let (n, mut a) = (a.rows(), a);
        a.row_mut(0).iter_mut().for_each(|x| *x *= unit);
        (0..n).for_each(|i| a[(i, i)] += 2.0 * if i == 0 { unit } else { 1.0 });
        let mut lu = Lu::new(n);
        lu.matrix_mut().copy_from(&a);
        if lu.factor() {
            let mut x = b.clone();
            lu.solve(&mut x);
            let residual = to_nalgebra(&a) * DMatrix::from_row_slice(n, 1, &x) - DMatrix::from_row_slice(n, 1, &b);
            for i in 0..n {
                let scale: f64 = a.row(i).iter().zip(&x).map(|(a, x)| (a * x).abs()).sum::<f64>() + b[i].abs();
                prop_assert!(residual[i].abs() <= 1e-12 * scale, "row {i}: {} of {scale}", residual[i]);
            }
        }
    }

    #[test]
    fn singular_values_agree(a in (1usize..6, 1usize..6).prop_flat_map(|(r, c)| matrix(r, c, 1.0))) {
        let mut svd = Svd::new(a.rows(), a.columns());
        svd.compute(&a);
        let mut expected: Vec<f64> = to_nalgebra(&a).singular_values().iter().copied().collect();
        expected.sort_by(|a, b| b.total_cmp(a));
        for (sigma, expected) in svd.singular().iter().zip(expected) {
            prop_assert!((sigma - expected).abs() < 1e-12, "{sigma} {expected}");
        }
    }

    /// Rows come and go; what is left has the factor of the rows that are left.
    #[test]
    fn a_window_of_rows_has_the_factor_of_its_rows(
        (rows, columns, data) in (1usize..6, 8usize..30).prop_flat_map(|(c, r)| {
            (Just(r), Just(c), prop::collection::vec(-1.0..1.0f64, r * c))
        }),
    ) {
        let row = |k: usize| &data[k * columns..(k + 1) * columns];
        let mut triangle = Triangle::new(columns);
        (0..rows).for_each(|k| triangle.append(row(k)));
        let gone = rows - columns - 2;
        let removed = (0..gone).all(|k| triangle.remove(row(k), 1e-6));
        if removed {
            let kept = DMatrix::from_row_slice(rows - gone, columns, &data[gone * columns..]);
            let r = to_nalgebra(triangle.factor());
            let squares = kept.transpose() * &kept;
            let difference = (r.transpose() * r - &squares).norm();
            prop_assert!(difference < 1e-9 * squares.norm(), "{difference:e}");
        }
    }

    #[test]
    fn pseudo_inverses_agree(a in (1usize..6, 1usize..6).prop_flat_map(|(r, c)| matrix(r, c, 1.0))) {
        let mut result = Matrix::zeros(a.columns(), a.rows());
        PseudoInverse::new(a.rows(), a.columns()).compute(&a, 1e-9, &mut result);
        let expected = to_nalgebra(&a).pseudo_inverse(1e-12).unwrap();
        let condition = to_nalgebra(&a).norm() * expected.norm();
        prop_assume!(condition < 1e6);
        // nalgebra stops its iteration early at times, which leaves 1e-11; ours is checked by Penrose's conditions.
        close(&result, &expected, 1e-10 * condition * condition)?;
        let (a, inverse) = (to_nalgebra(&a), to_nalgebra(&result));
        let error = (&a * &inverse * &a - &a).norm() + (&inverse * &a * &inverse - &inverse).norm();
        prop_assert!(error <= 1e-13 * condition * (1.0 + inverse.norm()), "{error:e}");
    }
}

#[test]
fn a_rank_one_matrix_has_a_pseudo_inverse() {
    let a = Matrix::from_rows(2, 2, &[0.0, 0.0, 1000.0, 10.0]);
    let mut result = Matrix::zeros(2, 2);
    assert_eq!(PseudoInverse::new(2, 2).compute(&a, 1e-9, &mut result), 1);
    let square = 1000.0f64.powi(2) + 100.0;
    for (entry, expected) in result.data().iter().zip([0.0, 1000.0 / square, 0.0, 10.0 / square]) {
        assert!((entry - expected).abs() < 1e-15);
    }
}

#[test]
fn zero_and_not_finite_matrices_are_told_apart() {
    let mut result = Matrix::zeros(2, 2);
    assert_eq!(PseudoInverse::new(2, 2).compute(&Matrix::zeros(2, 2), 1e-9, &mut result), 0);
    assert_eq!(result, Matrix::zeros(2, 2));
    let mut lu = Lu::new(2);
    lu.matrix_mut().data_mut().copy_from_slice(&[1.0, 2.0, 2.0, 4.0]);
    assert!(!lu.factor());
    lu.matrix_mut().data_mut().copy_from_slice(&[1.0, f64::NAN, 0.0, 1.0]);
    assert!(!lu.factor());
    let infinite = Matrix::from_rows(1, 1, &[f64::INFINITY]);
    assert!(!Exponential::new(1).compute(&infinite, &mut Matrix::zeros(1, 1)));
    assert!(!Exponential::new(1).compute(&Matrix::from_rows(1, 1, &[1e4]), &mut Matrix::zeros(1, 1)));
}

/// Mixed units: a stiff coupled pair, e^A of which is known in well-chosen units.
#[test]
fn mixed_units_do_not_cost_digits() {
    let units = [1.0, 1e3, 1e9];
    let plain = [[-0.3, 1.0, 0.2], [-1.5, -0.2, 0.4], [0.7, -0.9, -1.1]];
    let mut mixed = Matrix::zeros(3, 3);
    let mut well = Matrix::zeros(3, 3);
    for i in 0..3 {
        for j in 0..3 {
            well[(i, j)] = plain[i][j];
            mixed[(i, j)] = plain[i][j] * units[i] / units[j];
        }
    }
    let (mut a, mut b) = (Matrix::zeros(3, 3), Matrix::zeros(3, 3));
    assert!(Exponential::new(3).compute(&well, &mut a) && Exponential::new(3).compute(&mixed, &mut b));
    for i in 0..3 {
        for j in 0..3 {
            let back = b[(i, j)] * units[j] / units[i];
            assert!((back / a[(i, j)] - 1.0).abs() < 1e-13, "{i} {j}: {back} {}", a[(i, j)]);
        }
    }
}

#[test]
fn spectral_radii_of_defective_nilpotent_and_rotating_matrices() {
    let jordan = Matrix::from_rows(2, 2, &[0.9, 1.0, 0.0, 0.9]);
    assert!((spectral_radius(&jordan) - 0.9).abs() < 1e-13);
    assert_eq!(spectral_radius(&Matrix::from_rows(2, 2, &[0.0, 5.0, 0.0, 0.0])), 0.0);
    let rotation = Matrix::from_rows(2, 2, &[0.6, -0.8, 0.8, 0.6]);
    assert!((spectral_radius(&rotation) - 1.0).abs() < 1e-13);
    let growing = Matrix::from_rows(2, 2, &[1e200, 0.0, 0.0, 1e-200]);
    assert!((spectral_radius(&growing) / 1e200 - 1.0).abs() < 1e-13);
    assert!(spectral_radius(&Matrix::from_rows(1, 1, &[f64::NAN])).is_nan());
}
