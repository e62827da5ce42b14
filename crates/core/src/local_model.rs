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
    /// x, the present state.
    pub x: Vec<f64>,
    /// x' = f(x, u) at the present state and input.
    pub x_dot: Vec<f64>,
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
        }
    }
}
