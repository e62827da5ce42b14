//! Linear equations with constant coefficients.

use costep_core::{Description, LocalModel, Port};

use crate::ode::{Ode, Renamable};

/// x' = A x + B u, y = C x + D u from a given state.
#[derive(Clone)]
pub struct Linear {
    description: Description,
    /// A, B, C, D, row by row.
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    d: Vec<f64>,
    start: Vec<f64>,
    /// Energy is half of the sum of these times the squares of the states; none where it is not known.
    storage: Vec<f64>,
}

impl Linear {
    /// Equations between these ports with A, B, C and D row by row; an output has direct feedthrough where
    /// its row of D is not 0.
    ///
    /// # Panics
    /// If a matrix does not fit the numbers of ports and states.
    pub fn new(
        name: &str,
        (inputs, outputs): (Vec<Port>, Vec<Port>),
        [a, b, c, d]: [&[f64]; 4],
        start: &[f64],
    ) -> Self {
        let (n, m, r) = (start.len(), inputs.len(), outputs.len());
        let sizes = [a.len(), b.len(), c.len(), d.len()];
        assert_eq!(sizes, [n * n, n * m, r * n, r * m], "entries of A, B, C and D of `{name}`");
        let feedthrough = |i: usize| (0..m).filter(|j| d[i * m + j] != 0.0).collect();
        let description = Description {
            name: name.into(),
            feedthrough: (0..r).map(feedthrough).collect(),
            inputs,
            outputs,
            ..Description::default()
        };
        let [a, b, c, d] = [a, b, c, d].map(<[f64]>::to_vec);
        Self { description, a, b, c, d, start: start.to_vec(), storage: Vec::new() }
    }

    /// With states that store energy: masses, stiffnesses, inductances, 0 for those that store none.
    ///
    /// # Panics
    /// If there is not one number for each state.
    pub fn storing(self, storage: &[f64]) -> Self {
        assert_eq!(storage.len(), self.start.len(), "states of `{}`", self.description.name);
        Self { storage: storage.to_vec(), ..self }
    }
}

impl Renamable for Linear {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Linear {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.start.len()
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        for (i, x_dot) in x_dot.iter_mut().enumerate() {
            *x_dot = product(&self.a, i, x) + product(&self.b, i, u);
        }
    }

    /// Inputs without feedthrough are not looked at: they need not be known yet.
    fn outputs(&self, _t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        for (i, (y, inputs)) in y.iter_mut().zip(&self.description.feedthrough).enumerate() {
            let through: f64 = inputs.iter().map(|j| self.d[i * u.len() + j] * u[*j]).sum();
            *y = product(&self.c, i, x) + through;
        }
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&self.a);
        model.b.copy_from_slice(&self.b);
        model.c.copy_from_slice(&self.c);
        model.d.copy_from_slice(&self.d);
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn energy(&self, x: &[f64], _u: &[f64]) -> Option<f64> {
        let half = || self.storage.iter().zip(x).map(|(storage, x)| 0.5 * storage * x * x).sum();
        (!self.storage.is_empty()).then(half)
    }
}

/// Row i of a matrix times x.
fn product(matrix: &[f64], i: usize, x: &[f64]) -> f64 {
    matrix[i * x.len()..(i + 1) * x.len()].iter().zip(x).map(|(entry, x)| entry * x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_read_row_by_row_and_only_feed_through_is_looked_at() {
        let ports = |count: usize| (0..count).map(|i| Port::new(&format!("p{i}"), "1", 1.0)).collect();
        let matrices: [&[f64]; 4] =
            [&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0, 9.0, 10.0], &[11.0, 12.0], &[0.0, 13.0, 0.0]];
        let part = Linear::new("part", (ports(3), ports(1)), matrices, &[-1.0, 1.0]);
        let (mut x, mut x_dot, mut y) = ([0.0; 2], [0.0; 2], [0.0]);
        part.initial_state(&mut x);
        part.derivatives(0.0, &x, &[1.0, 10.0, 100.0], &mut x_dot);
        part.outputs(0.0, &x, &[f64::NAN, 10.0, f64::NAN], &mut y);
        assert_eq!((x_dot, y), ([766.0, 1099.0], [131.0]));
        assert_eq!(part.description.feedthrough, [[1]]);
        let mut model = LocalModel::new(2, 3, 1);
        part.jacobians(0.0, &x, &[0.0; 3], &mut model);
        assert_eq!([&*model.a, &*model.b, &*model.c, &*model.d], matrices);
    }
}
