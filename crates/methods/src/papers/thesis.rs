//! Pre-step stabilisation as in the thesis [T]: the solvers and sums of tables 3.2 and 3.3, and
//! `paper=true`, which takes its optimal values as defaults, in the method and in the source of the models.
//!
//! `paper` leaves `phi_steps` as it is given: table 3.5 has 543 steps for the phi integrals, which are
//! computed exactly by default; `phi_steps=543` gives the quadrature of the thesis.

use costep_core::{
    Condition, Learning, ModelKind, ModelsSpec, Options, PaperOptions, Value, choice, join, options,
};

use super::learnt::options::PhaseOptions;
use crate::shared::models::{CONTINUOUS_MODELS, DISCRETE_MODELS};

choice! {
    /// How a linear differential equation is solved.
    pub(crate) enum LinearSolver {
        /// By the matrix exponential.
        Exact = "exact",
        /// By explicit Euler steps.
        Euler = "euler",
    }
}

/// Of what belongs to the error differential equation.
const EDE: Condition = Condition::on("ede", &["true"]);
/// Of what belongs to the input optimisation.
pub(crate) const OPTIMISED: Condition = Condition::on("modified", &["false"]);
const EDE_EULER: Condition = Condition::on("ede_solver", &[LinearSolver::Euler.word()]);
const EXTRAPOLATION_EULER: Condition = Condition::on("extrapolation", &[LinearSolver::Euler.word()]);

options! {
    /// Options of `prestep` that follow the thesis.
    pub(crate) struct ThesisOptions {
        /// other defaults, the optimal set of the thesis: ede, scaled and offsets off; with discrete
        /// models tables 3.12 and 3.13, eps_SI over the whole past, and no guard beside the phase check
        paper: bool = false;
        /// discrete models: start the error differential equation from zero in every step instead of
        /// carrying it on
        ede_fresh: bool = false, only [DISCRETE_MODELS];
        /// shift eps at both ends of a step so that its mean is that of the intermediate values [T (2.58) to (2.60)], where
        /// subsystems give micro samples
        ede_intermediate: bool = false, only [EDE];
        /// error differential equation by the matrix exponential or by explicit Euler (optionErrDiffEqu)
        ede_solver: LinearSolver, only [CONTINUOUS_MODELS, EDE];
        /// number of Euler steps for it per macro step (stepsErrDiffEqu)
        ede_steps: usize = 100 in 1..=1000, only [CONTINUOUS_MODELS, EDE, EDE_EULER];
        /// solver of the extrapolation: matrix exponential or explicit Euler (optionExtrapolation)
        extrapolation: LinearSolver, only [CONTINUOUS_MODELS];
        /// number of Euler steps for it per macro step (stepsExtrapolation)
        extrapolation_steps: usize = 100 in 1..=1000, only [CONTINUOUS_MODELS, EXTRAPOLATION_EULER];
        /// intermediate values for the integrals of the input optimisation (stepsDiscreteSystemMatrices);
        /// 0: exact
        phi_steps: usize = 0 in 0..=1000, only [CONTINUOUS_MODELS, OPTIMISED];
    }
}

/// Of `prestep`.
pub(crate) static PRESTEP: PaperOptions = PaperOptions {
    tag: "[T]",
    options: &join::<{ ThesisOptions::SPECS.len() + PhaseOptions::SPECS.len() }>(&[
        ThesisOptions::SPECS,
        PhaseOptions::SPECS,
    ]),
    settle: optimal_values,
};

options! {
    /// Of `mbcorr`.
    pub(crate) struct UnguardedOptions {
        /// as the papers have it: corrections of any size are taken; with discrete models the phases and
        /// thresholds of tables 3.12 and 3.13, eps_SI over the whole past, and no guard beside the phase check
        paper: bool = false;
    }
}

/// Of `mbcorr`.
pub(crate) static CORRECTOR: PaperOptions = PaperOptions {
    tag: "[H18], [T]",
    options: &join::<{ UnguardedOptions::SPECS.len() + PhaseOptions::SPECS.len() }>(&[
        UnguardedOptions::SPECS,
        PhaseOptions::SPECS,
    ]),
    settle: |options, models| {
        if UnguardedOptions::read(options).paper {
            at_every_point(models);
        }
    },
};

/// Of the other methods that can work with identified models.
pub(crate) static PHASES: PaperOptions =
    PaperOptions { tag: "[T]", options: PhaseOptions::SPECS, settle: |_, _| {} };

/// The defaults of `paper=true`: table 3.5, and with identified models tables 3.12 and 3.13
/// (useErrDiffEqu), with a new model at every communication point.
fn optimal_values(options: &mut Options, models: &mut ModelsSpec) {
    if !ThesisOptions::read(options).paper {
        return;
    }
    let offer = models.offer();
    if offer.kind == ModelKind::Discrete {
        options.set_default("ede", Value::Bool(offer.learning != Learning::Window));
    } else {
        ["ede", "scaled", "offsets"].iter().for_each(|name| options.set_default(name, Value::Bool(false)));
    }
    at_every_point(models);
}

/// A new model at every communication point, judged over the whole past.
fn at_every_point(models: &mut ModelsSpec) {
    models.options.set_default("interval", Value::Integer(1));
    models.options.set_default("range", Value::Integer(0));
}
