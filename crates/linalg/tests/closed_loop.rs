//! Coupled linear systems against dense products.

use costep_linalg::{ClosedLoop, StackPlace};
use nalgebra::DMatrix;

type Entries = Vec<(usize, usize, f64)>;

/// Systems of unlike sizes, one of them without states and one without inputs.
const SIZES: [[usize; 3]; 4] = [[2, 2, 1], [0, 1, 2], [3, 1, 2], [1, 0, 1]];

/// A block A, B, C or D of a system, with entries that look random.
fn block(i: usize, which: usize, scale: f64) -> Vec<f64> {
    let [n, m, r] = SIZES[i];
    let size = [n * n, n * m, r * n, r * m][which];
    (0..size).map(|k| scale * ((7 * i + 3 * which + 5 * k) as f64).sin()).collect()
}

/// The entries as a matrix.
fn dense(rows: usize, columns: usize, entries: &Entries) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(rows, columns);
    entries.iter().for_each(|(i, k, gain)| matrix[(*i, *k)] += gain);
    matrix
}

/// The blocks of all systems as one matrix.
fn diagonal(which: usize) -> DMatrix<f64> {
    let sides = |size: [usize; 3]| {
        let [n, m, r] = size;
        [(n, n), (n, m), (r, n), (r, m)][which]
    };
    let total = SIZES.iter().map(|size| sides(*size)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let (mut matrix, mut at) = (DMatrix::zeros(total.0, total.1), (0, 0));
    for (i, size) in SIZES.iter().enumerate() {
        let (rows, columns) = sides(*size);
        let own = DMatrix::from_row_slice(rows, columns, &block(i, which, 0.5));
        matrix.view_mut(at, (rows, columns)).copy_from(&own);
        at = (at.0 + rows, at.1 + columns);
    }
    matrix
}

fn rows_of(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().as_slice().to_vec()
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13)
}

#[test]
fn the_equations_hold_for_any_systems() {
    // Two ways into one input, one input that nothing feeds, and a system that feeds itself.
    let links: Entries = vec![(0, 1, 0.7), (0, 5, -2.0), (2, 0, 1.0), (3, 4, 1.5), (3, 2, 0.25)];
    let drives: Entries = vec![(1, 0, 1.0), (3, 1, -3.0), (3, 0, 0.5)];
    let (n, signals) = (6, 2);
    let mut loops = ClosedLoop::new(SIZES.into_iter(), links.clone(), (drives.clone(), signals));
    assert_eq!(loops.place(4), StackPlace { state: n, input: 4, output: 6 });
    let blocks: Vec<_> = (0..4).map(|i| [0, 1, 2, 3].map(|which| block(i, which, 0.5))).collect();
    let (mut a, mut b) = (vec![9.0; n * n], vec![9.0; n * signals]);
    // The second time in memory that is no longer empty.
    for _ in 0..2 {
        assert!(loops.close(|i| [&blocks[i][2], &blocks[i][3]]));
        loops.couple(|i| [&blocks[i][0], &blocks[i][1]], &mut a, &mut b);
    }
    let [a_all, b_all, c_all, d_all] = [0, 1, 2, 3].map(diagonal);
    let (l, e) = (dense(4, 6, &links), dense(4, signals, &drives));
    let w = (DMatrix::identity(6, 6) - &d_all * &l).try_inverse().unwrap();
    assert!(near(&a, &rows_of(&(a_all + &b_all * &l * &w * &c_all))));
    assert!(near(&b, &rows_of(&(&b_all * (&e + &l * &w * &d_all * &e)))));
    let (by_state, by_signal) = (&w * &c_all, &w * &d_all * &e);
    for (row, found) in (0..6).map(|row| (row, loops.outputs().row(row))) {
        assert!((0..n).all(|k| (found[k] - by_state[(row, k)]).abs() < 1e-13));
        assert!((0..signals).all(|k| (found[n + k] - by_signal[(row, k)]).abs() < 1e-13));
    }
    let (by_state, by_signal) = (&l * &w * &c_all, &e + &l * &w * &d_all * &e);
    for (row, found) in (0..4).map(|row| (row, loops.inputs().row(row))) {
        assert!((0..n).all(|k| (found[k] - by_state[(row, k)]).abs() < 1e-13));
        assert!((0..signals).all(|k| (found[n + k] - by_signal[(row, k)]).abs() < 1e-13));
    }
}

#[test]
fn a_singular_loop_is_seen_and_stays_finite() {
    // y = 2 x + 4 u with u = y / 4.
    let mut loops = ClosedLoop::new([[1, 1, 1]].into_iter(), vec![(0, 0, 0.25)], (Vec::new(), 0));
    assert!(!loops.close(|_| [&[2.0], &[4.0]]));
    let mut a = [0.0];
    loops.couple(|_| [&[3.0], &[5.0]], &mut a, &mut []);
    assert_eq!(a, [3.0 + 5.0 * 0.25 * 2.0]);
    assert!(loops.close(|_| [&[2.0], &[2.0]]));
    loops.couple(|_| [&[3.0], &[5.0]], &mut a, &mut []);
    assert_eq!(a, [3.0 + 5.0 * 0.25 * 4.0]);
}
