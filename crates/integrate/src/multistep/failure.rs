//! Why an integration ended.

use costep_core::{Code, Error};

/// A solver that cannot go on.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Why.
    pub reason: Reason,
    /// Where.
    pub t: f64,
    /// With which step.
    pub step: f64,
    /// The state that is most to blame, if one is.
    pub state: Option<usize>,
}

/// Why a solver cannot go on.
#[derive(Clone, Debug)]
pub enum Reason {
    /// The error stays above the tolerance however short the step.
    Error,
    /// Newton's iteration does not converge however short the step.
    Convergence,
    /// The derivatives at the start are not finite.
    NotFinite,
    /// A tolerance and a state are both zero, or one is not finite.
    Weight,
    /// More steps than anyone means.
    TooManySteps(usize),
    /// Nothing to integrate over.
    NoTime,
    /// The equations gave up.
    Equations(Box<Error>),
}

impl Failure {
    /// Blames a state.
    pub(super) fn of_state(self, state: usize) -> Self {
        Self { state: Some(state), ..self }
    }

    /// An error that names the subsystem and, if `state_name` knows it, the state.
    pub fn into_error(self, subsystem: &str, state_name: impl Fn(usize) -> String) -> Error {
        let state =
            self.state.map(|state| format!(", worst state `{}`", state_name(state))).unwrap_or_default();
        let cause = match self.reason {
            Reason::Equations(error) => return *error,
            Reason::Error => {
                "the error test failed repeatedly: a discontinuity, or too tight a tolerance".into()
            }
            Reason::Convergence => "Newton's iteration did not converge with any step".into(),
            Reason::NotFinite => "the derivatives are not finite".into(),
            Reason::Weight => {
                "a state and its absolute tolerance are both zero, or the state is not finite".into()
            }
            Reason::TooManySteps(steps) => format!("more than {steps} inner steps"),
            Reason::NoTime => "the interval is shorter than the resolution of time".into(),
        };
        let (t, step) = (self.t, self.step);
        let message =
            format!("the integrator of `{subsystem}` gave up at t = {t} s with a step of {step:e} s{state}");
        Error::new(Code::StepTooSmall, message)
            .because(cause)
            .hint("loosen the tolerance, or use a fixed step: `--solver rk4:10us`")
    }
}
