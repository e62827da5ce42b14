//! Coordinates with a meaning: outputs first, then their derivatives.
//!
//! A realisation from responses alone has arbitrary coordinates. What methods make of the outputs alone, S_y = C A C^+ [T (2.18)], depends on
//! them where there are more states than outputs. Here x = T x_before with rows of T from C, C A h, C A^2 h^2 .. that are independent:
//! then S_y says of an output with a derivative among the states that nothing but this derivative changes it.

use costep_core::LocalModel;
use costep_linalg::{Lu, Matrix};

/// A row counts as independent if this share of it is not explained by those before.
const INDEPENDENT: f64 = 1e-3;

/// Changes the coordinates of a model; leaves them as they are if the outputs and their derivatives over a step do not show all states.
pub(super) fn transform(model: &mut LocalModel, step: f64) {
    let n = model.states;
    let Some(rows) = independent_rows(model, step) else { return };
    let (t, mut inverse) = (Matrix::from_rows(n, n, &rows.concat()), Lu::new(n));
    inverse.matrix_mut().set_transpose(&t);
    if n == 0 || !inverse.factor() {
        return;
    }
    // Rows times T^-1.
    let from_right = |rows: &mut [f64]| rows.chunks_exact_mut(n).for_each(|row| inverse.solve(row));
    let from_left = |values: &[f64], width: usize| {
        let mut product = Matrix::zeros(n, width);
        product.set_product(&t, &Matrix::from_rows(n, width, values));
        product
    };
    let mut changed = model.clone();
    changed.a.copy_from_slice(from_left(&model.a, n).data());
    changed.b.copy_from_slice(from_left(&model.b, model.inputs).data());
    from_right(&mut changed.a);
    from_right(&mut changed.c);
    if changed.is_finite() {
        *model = changed;
    }
}

/// Rows of T, each of size 1; none if there are too few.
fn independent_rows(model: &LocalModel, step: f64) -> Option<Vec<Vec<f64>>> {
    let n = model.states;
    let (mut chosen, mut basis): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let mut row: Vec<Vec<f64>> = model.c.chunks_exact(n.max(1)).map(<[f64]>::to_vec).collect();
    for _ in 0..n {
        for row in &mut row {
            normalise(row);
            if let Some(rest) = unexplained(row, &basis) {
                basis.push(rest);
                chosen.push(row.clone());
            }
            let next = |l: usize| step * (0..n).map(|k| row[k] * model.a[k * n + l]).sum::<f64>();
            *row = (0..n).map(next).collect();
        }
        if chosen.len() == n {
            return Some(chosen);
        }
    }
    None
}

/// What a row of size 1 adds to an orthonormal basis, of size 1; none if it is too little.
fn unexplained(row: &[f64], basis: &[Vec<f64>]) -> Option<Vec<f64>> {
    let mut rest = row.to_vec();
    for known in basis {
        let share = dot(&rest, known);
        rest.iter_mut().zip(known).for_each(|(rest, known)| *rest -= share * known);
    }
    (dot(&rest, &rest).sqrt() > INDEPENDENT).then(|| {
        normalise(&mut rest);
        rest
    })
}

fn normalise(row: &mut [f64]) {
    let size = dot(row, row).sqrt();
    if size > 0.0 {
        row.iter_mut().for_each(|entry| *entry /= size);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
