//! Which models options of methods are for, and errors of methods that need local models.

use costep_core::{Code, Condition, Error, ModelKind, Place, Signals, StepContext};

/// Of options that mean something for local models A, B, C, D only.
pub(crate) const CONTINUOUS_MODELS: Condition = Condition::Models(ModelKind::CONTINUOUS);
/// Of options that mean something for discrete models only.
pub(crate) const DISCRETE_MODELS: Condition = Condition::Models(&[ModelKind::Discrete]);

/// A subsystem has no local model.
#[cold]
pub(crate) fn no_model(signals: &Signals<'_>, i: usize) -> Error {
    let name = &signals.descriptions[i].name;
    Error::new(Code::NeedsMissing, format!("there is no local model of `{name}`"))
        .hint("choose a method that needs none: `costep methods`")
}

/// A local model cannot be used.
#[cold]
pub(crate) fn bad_model(signals: &Signals<'_>, i: usize, cause: &str) -> Error {
    let name = &signals.descriptions[i].name;
    Error::new(Code::NotFinite, format!("the local model of `{name}` cannot be used")).because(cause)
}

/// The interface system has no solution: at the start a property of the system, later a sign of divergence.
#[cold]
pub(crate) fn singular_interface(step: &StepContext) -> Error {
    let error = if step.k == 0 {
        Error::new(Code::AlgebraicLoop, "the interface system of the coupled local models is singular")
            .hint("add a delay or a state to one of the connections of the loop, or change the step")
    } else {
        Error::diverged("the interface system became singular: the run diverged")
    };
    error.at(Place::Run { subsystem: None, signal: None, time: step.t, step: step.k })
}
