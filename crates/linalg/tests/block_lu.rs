//! Block matrices against dense ones.

use costep_linalg::{BlockLu, Lu, Matrix};

/// Pseudo-random numbers between -1 and 1.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Random entries.
fn check(sizes: &[usize], pattern: &[(usize, usize)], seed: u64) {
    let mut next = numbers(seed);
    compare(sizes, pattern, |_, _| 0.4 * next());
}

/// Fills a block matrix and a dense one alike, `entry` being asked for (block row, block column) and (row, column), and
/// compares their solutions.
fn compare(
    sizes: &[usize],
    pattern: &[(usize, usize)],
    mut entry: impl FnMut((usize, usize), (usize, usize)) -> f64,
) {
    let mut next = numbers(7);
    let mut blocks = BlockLu::new(sizes, pattern);
    let starts: Vec<usize> = (0..=sizes.len()).map(|i| sizes[..i].iter().sum()).collect();
    let total = starts[sizes.len()];
    let mut dense = Lu::new(total);
    dense.matrix_mut().set_identity();
    blocks.set_identity();
    for (i, j) in pattern {
        let place = blocks.find(*i, *j).expect("it is in the pattern");
        let block = blocks.block_mut(place);
        for a in 0..sizes[*i] {
            for b in 0..sizes[*j] {
                let value = entry((*i, *j), (a, b));
                block[(a, b)] += value;
                dense.matrix_mut()[(starts[*i] + a, starts[*j] + b)] += value;
            }
        }
    }
    assert!(blocks.factor() && dense.factor());
    let mut x: Vec<f64> = (0..total).map(|_| next()).collect();
    let mut y = x.clone();
    blocks.solve(&mut x);
    dense.solve(&mut y);
    let difference = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    let size = y.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
    assert!(difference <= 1e-10 * size, "{difference:e} of {size:e}");
}

#[test]
fn chains_rings_stars_and_tangles_agree_with_dense_solutions() {
    let sizes = |n: usize| (0..n).map(|i| 1 + i % 3).collect::<Vec<_>>();
    let both =
        |pairs: Vec<(usize, usize)>| pairs.iter().flat_map(|(i, j)| [(*i, *j), (*j, *i)]).collect::<Vec<_>>();
    for seed in 1..20 {
        check(&sizes(12), &both((0..11).map(|i| (i, i + 1)).collect()), seed);
        check(&sizes(12), &both((0..12).map(|i| (i, (i + 1) % 12)).collect()), seed);
        check(&sizes(12), &both((1..12).map(|i| (0, i)).collect()), seed);
        check(
            &sizes(7),
            &(0..7).flat_map(|i| [(i, (i * i + 1) % 7), (i, i), ((3 * i) % 7, i)]).collect::<Vec<_>>(),
            seed,
        );
    }
}

/// Along a chain of equal blocks the factors repeat and are kept once; those around an odd one are not.
#[test]
fn repeated_factors_are_right() {
    const N: usize = 80;
    let pattern: Vec<_> = (0..N - 1).flat_map(|i| [(i, i + 1), (i + 1, i)]).collect();
    for odd in [N, N / 2, 3] {
        compare(&[2; N], &pattern, |(i, j), (a, b)| {
            let equal = [[0.3, -0.1], [0.2, 0.15]][a][b] * if i < j { 1.0 } else { -0.8 };
            if i == odd { 1.7 * equal } else { equal }
        });
    }
}

#[test]
fn one_way_connections_and_lone_blocks_work() {
    check(&[2, 3, 1], &[(1, 0)], 5);
    check(&[2], &[], 5);
    check(&[], &[], 5);
}

#[test]
fn a_singular_diagonal_block_is_seen() {
    let mut blocks = BlockLu::new(&[1, 1], &[(0, 1), (1, 0)]);
    blocks.set_identity();
    for (row, column, value) in [(0, 1, 2.0), (1, 0, 0.5)] {
        let place = blocks.find(row, column).unwrap();
        *blocks.block_mut(place) = Matrix::from_rows(1, 1, &[value]);
    }
    assert!(!blocks.factor());
    assert!(BlockLu::new(&[1, 1], &[]).find(0, 1).is_none());
}

#[test]
fn a_long_chain_keeps_its_few_blocks() {
    let n = 20_000;
    let pattern: Vec<_> = (0..n - 1).flat_map(|i| [(i, i + 1), (i + 1, i)]).collect();
    check(&vec![1; 300], &pattern[..598], 3);
    let mut blocks = BlockLu::new(&vec![2; n], &pattern);
    blocks.set_identity();
    assert!(blocks.factor());
    let mut x = vec![1.0; 2 * n];
    blocks.solve(&mut x);
    assert!(x.iter().all(|x| *x == 1.0));
}
