//! Linear systems x' = A x + B u, y = C x, and the data files they are read from.

use costep_core::{Description, LocalModel};
use costep_integrate::Ode;

use crate::model::renamable;

/// A linear part without direct feed-through that starts at rest.
#[derive(Clone)]
pub(crate) struct Linear {
    pub(crate) description: Description,
    /// A, B, C, row by row.
    pub(crate) a: Vec<f64>,
    pub(crate) b: Vec<f64>,
    pub(crate) c: Vec<f64>,
    pub(crate) states: usize,
}
renamable!(Linear);

impl Ode for Linear {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.states
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        multiply(&self.a, x, x_dot);
        for (row, x_dot) in self.b.chunks_exact(u.len().max(1)).zip(x_dot) {
            *x_dot += row.iter().zip(u).map(|(b, u)| b * u).sum::<f64>();
        }
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        multiply(&self.c, x, y);
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&self.a);
        model.b.copy_from_slice(&self.b);
        model.c.copy_from_slice(&self.c);
        model.d.fill(0.0);
    }

    fn is_linear(&self) -> bool {
        true
    }
}

fn multiply(matrix: &[f64], x: &[f64], result: &mut [f64]) {
    for (row, result) in matrix.chunks_exact(x.len().max(1)).zip(result) {
        *result = row.iter().zip(x).map(|(a, x)| a * x).sum();
    }
}

/// A matrix of a data file: lines `name rows columns`, then the rows.
///
/// # Panics
/// If the file, which is part of the program, has no such matrix.
pub(crate) fn matrix(file: &str, name: &str) -> Vec<f64> {
    let mut lines = file.lines().skip_while(|line| line.split(' ').next() != Some(name));
    let head: Vec<usize> = lines
        .next()
        .unwrap_or_else(|| panic!("no matrix `{name}`"))
        .split(' ')
        .skip(1)
        .map(|size| size.parse().expect("a size"))
        .collect();
    let rows = lines.take(head[0]).flat_map(|line| line.split(' '));
    let entries: Vec<f64> = rows.map(|entry| entry.parse().expect("a number")).collect();
    assert_eq!(entries.len(), head[0] * head[1], "entries of `{name}`");
    entries
}
