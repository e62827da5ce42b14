//! The options of pre-step stabilisation; those that follow the thesis to the letter are in
//! `papers/thesis.rs`.

use costep_core::{Options, choice, options};

use crate::papers::thesis::{LinearSolver, OPTIMISED, ThesisOptions};
use crate::shared::models::CONTINUOUS_MODELS;

choice! {
    /// Shape of the inputs over a step.
    pub(crate) enum Shape {
        /// Held.
        Constant = "constant",
        /// A line from L y.
        Ramp = "ramp",
    }
}

choice! {
    /// Rule for the integral that the input optimisation makes small.
    pub(crate) enum Target {
        /// Right Riemann sum.
        Riemann = "riemann",
        /// Trapezoidal rule.
        Trapezoid = "trapezoid",
    }
}

options! {
    /// What users choose from.
    pub(crate) struct PreStepOptions {
        /// hold the optimised input, or go along a line from L y
        input: Shape, only [CONTINUOUS_MODELS];
        /// rule for the integral that the input optimisation makes small: right Riemann sum or trapezoidal
        /// rule
        target: Target, only [CONTINUOUS_MODELS, OPTIMISED];
        /// solve the error differential equation (useErrDiffEqu)
        ede: bool = false;
        /// no input optimisation: u = L yhat
        modified: bool = false;
        /// scale rows and columns of the input optimisation by the sizes of the signals
        scaled: bool = true, only [OPTIMISED];
        /// carry what the Interface Jacobians do not know as constant offsets, unless the coupled local models grow
        /// because of them
        offsets: bool = true, only [CONTINUOUS_MODELS];
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) ramp: bool,
    pub(super) trapezoid: bool,
    /// Euler steps for the error differential equation, 0 = exact; none if it is left out.
    pub(super) ede_steps: Option<usize>,
    /// eps has the mean of its intermediate values.
    pub(super) ede_intermediate: bool,
    /// Euler steps for the extrapolation, 0 = exact.
    pub(super) extrapolation_steps: usize,
    pub(super) phi_steps: usize,
    pub(super) modified: bool,
    pub(super) scaled: bool,
    pub(super) offsets: bool,
    /// Whether they are carried, once that is decided.
    pub(super) carries_offsets: Option<bool>,
    /// Coefficients per signal in the responses of the parts.
    pub(super) width: usize,
}

impl Settings {
    /// Whether the closed loop is solved by explicit Euler.
    pub(super) fn uses_euler(&self) -> bool {
        self.extrapolation_steps > 0 || self.ede_steps.is_some_and(|steps| steps > 0)
    }

    pub(super) fn new(options: &Options) -> Self {
        let PreStepOptions { input, target, ede, modified, scaled, offsets } = PreStepOptions::read(options);
        let thesis = ThesisOptions::read(options);
        let steps = |solver: LinearSolver, steps: usize| match solver {
            LinearSolver::Exact => 0,
            LinearSolver::Euler => steps,
        };
        Self {
            ramp: match input {
                Shape::Constant => false,
                Shape::Ramp => true,
            },
            trapezoid: match target {
                Target::Riemann => false,
                Target::Trapezoid => true,
            },
            ede_steps: ede.then(|| steps(thesis.ede_solver, thesis.ede_steps)),
            ede_intermediate: ede && thesis.ede_intermediate,
            extrapolation_steps: steps(thesis.extrapolation, thesis.extrapolation_steps),
            phi_steps: thesis.phi_steps,
            modified,
            scaled,
            offsets,
            carries_offsets: None,
            width: 2,
        }
    }
}
