//! Local model of a subsystem: x' = A x + B u + ..., y = C x + D u + ... around its present state.

/// How a subsystem computes its local model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelOrigin {
    /// Jacobians or directional derivatives, exact up to round-off.
    Exact,
    /// Differences: about ten digits of a smooth function.
    Differences,
}

/// Row-major matrices of a linearised subsystem. Its memory is taken once, in [`LocalModel::new`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalModel {
    /// n.
    pub states: usize,
    /// m.
    pub inputs: usize,
    /// r.
    pub outputs: usize,
    /// A = df/dx, n x n.
    pub a: Vec<f64>,
    /// B = df/du, n x m.
    pub b: Vec<f64>,
    /// C = dg/dx, r x n.
    pub c: Vec<f64>,
    /// D = dg/du, r x m.
    pub d: Vec<f64>,
    /// x, the state they are of; for the present one ask [`crate::ModelSource::state`].
    pub x: Vec<f64>,
    /// x' = f(x, u) at that state.
    pub x_dot: Vec<f64>,
    /// Typical size of each state; 0 = unknown.
    pub nominal: Vec<f64>,
    /// Length of the explicit Euler steps by which the subsystem solves its equations; 0 = another solver, or unknown.
    pub euler_step: f64,
    /// The subsystem is linear with constant coefficients and without a constant term: the matrices hold for ever, and
    /// there is nothing that they leave unexplained.
    pub is_constant: bool,
}

impl LocalModel {
    /// All zero.
    pub fn new(states: usize, inputs: usize, outputs: usize) -> Self {
        Self {
            states,
            inputs,
            outputs,
            a: vec![0.0; states * states],
            b: vec![0.0; states * inputs],
            c: vec![0.0; outputs * states],
            d: vec![0.0; outputs * inputs],
            x: vec![0.0; states],
            x_dot: vec![0.0; states],
            nominal: vec![0.0; states],
            euler_step: 0.0,
            is_constant: false,
        }
    }

    /// Makes this what `other`, of the same size, is; without allocating.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn copy_from(&mut self, other: &Self) {
        self.a.copy_from_slice(&other.a);
        self.b.copy_from_slice(&other.b);
        self.c.copy_from_slice(&other.c);
        self.d.copy_from_slice(&other.d);
        self.x.copy_from_slice(&other.x);
        self.x_dot.copy_from_slice(&other.x_dot);
        self.nominal.copy_from_slice(&other.nominal);
        (self.euler_step, self.is_constant) = (other.euler_step, other.is_constant);
    }

    /// All zero again.
    pub fn clear(&mut self) {
        let Self { a, b, c, d, x, x_dot, nominal, .. } = self;
        for values in [a, b, c, d, x, x_dot, nominal] {
            values.fill(0.0);
        }
        (self.euler_step, self.is_constant) = (0.0, false);
    }

    /// Whether all matrices are finite.
    pub fn is_finite(&self) -> bool {
        [&self.a, &self.b, &self.c, &self.d].iter().all(|matrix| matrix.iter().all(|x| x.is_finite()))
    }

    /// Whether A, B, C and D are those of another model, of the same size.
    pub fn same_matrices(&self, other: &Self) -> bool {
        // Matrices without entries are equal whatever their sizes.
        let sizes = |model: &Self| (model.states, model.inputs, model.outputs);
        sizes(self) == sizes(other)
            && self.a == other.a
            && self.b == other.b
            && self.c == other.c
            && self.d == other.d
    }
}
