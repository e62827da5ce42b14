//! A linear model of the rest of the system that a subsystem integrates beside its own states, so that its inputs
//! answer to its own outputs inside a macro step.

use crate::LocalModel;

/// How the inputs follow from the model of the rest, with dy = y(t) - y(T^k) of the subsystem, tau = t - T^k and
/// du = u(t) minus the input polynomial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum EnvironmentForm {
    /// xi' = A xi + B dy + xi'(T^k), du = C xi + D dy: integrated with the states of the subsystem.
    #[default]
    Exact,
    /// du' = C (I - r tau A)^-1 (xi'(T^k) + r B dy), and D dy on top: du is integrated; this is r.
    Rate(f64),
    /// du = tau C (I - r tau A)^-1 (xi'(T^k) + r B dy) + D dy: no states more; this is r.
    Value(f64),
}

/// The rest of the system as one subsystem sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvironmentModel {
    /// How inputs are formed.
    pub form: EnvironmentForm,
    /// Its inputs are the outputs of the subsystem and its outputs the inputs of the subsystem. `x_dot` is xi'(T^k).
    pub model: LocalModel,
}

impl EnvironmentModel {
    /// Whether there is a rest that answers at all.
    pub fn is_active(&self) -> bool {
        self.model.states > 0 || self.model.d.iter().any(|d| *d != 0.0)
    }

    /// Makes this what `other` is, without allocating if it is of the same size.
    pub fn copy_from(&mut self, other: &Self) {
        self.form = other.form;
        let LocalModel { states, inputs, outputs, a, b, c, d, x, x_dot, nominal, euler_step, is_constant } =
            &mut self.model;
        (*states, *inputs, *outputs) = (other.model.states, other.model.inputs, other.model.outputs);
        let from = &other.model;
        (*euler_step, *is_constant) = (from.euler_step, from.is_constant);
        nominal.clone_from(&from.nominal);
        let pairs =
            [(a, &from.a), (b, &from.b), (c, &from.c), (d, &from.d), (x, &from.x), (x_dot, &from.x_dot)];
        pairs.into_iter().for_each(|(to, from)| to.clone_from(from));
    }

    /// States that the subsystem integrates beside its own.
    pub fn states(&self) -> usize {
        match self.form {
            EnvironmentForm::Exact => self.model.states,
            EnvironmentForm::Rate(_) => self.model.outputs,
            EnvironmentForm::Value(_) => 0,
        }
    }
}
