//! The options of pre-step stabilisation: the parameters of tables 3.2 and 3.3 of the thesis, and ours.
//!
//! `paper` leaves `phi_steps` as it is given: table 3.5 has 543 steps for the phi integrals, which are computed exactly by
//! default; `phi_steps=543` gives the quadrature of the thesis.

use costep_core::{Condition, OptionKind, OptionSpec, Options, Value, join};
use costep_ident::sources::{IDENTIFIED_MODELS, LOCAL_MODELS, WITHOUT_PROBE};

use crate::learnt::options::PHASES;

/// As declared in the registry.
pub(super) const OPTIONS: &[OptionSpec] =
    &join::<{ OWN.len() + WITHOUT_PROBE.len() + PHASES.len() }>(&[&OWN, &WITHOUT_PROBE, &PHASES]);

const OPTIMISED: Condition = Condition { option: "modified", among: &["false"] };
const EDE: Condition = Condition { option: "ede", among: &["true"] };

const OWN: [OptionSpec; 13] = [
    OptionSpec {
        name: "input",
        kind: OptionKind::Choice(&["constant", "ramp"]),
        help: "hold the optimised input, or go along a line from L y",
        only_with: &[LOCAL_MODELS],
    },
    OptionSpec {
        name: "target",
        kind: OptionKind::Choice(&["riemann", "trapezoid"]),
        help: "rule for the integral that the input optimisation makes small: right Riemann sum or trapezoidal rule",
        only_with: &[LOCAL_MODELS, OPTIMISED],
    },
    OptionSpec {
        name: "ede",
        kind: OptionKind::Bool { default: false },
        help: "solve the error differential equation (useErrDiffEqu)",
        only_with: &[],
    },
    OptionSpec {
        name: "ede_fresh",
        kind: OptionKind::Bool { default: false },
        help: "identified models: start it from zero in every step instead of carrying it on",
        only_with: &[IDENTIFIED_MODELS],
    },
    OptionSpec {
        name: "ede_solver",
        kind: OptionKind::Choice(&["exact", "euler"]),
        help: "by the matrix exponential or by explicit Euler (optionErrDiffEqu)",
        only_with: &[LOCAL_MODELS, EDE],
    },
    OptionSpec {
        name: "ede_steps",
        kind: OptionKind::Integer { default: 100, min: 1, max: 1000 },
        help: "number of Euler steps for it per macro step (stepsErrDiffEqu)",
        only_with: &[LOCAL_MODELS, EDE, Condition { option: "ede_solver", among: &["euler"] }],
    },
    OptionSpec {
        name: "extrapolation",
        kind: OptionKind::Choice(&["exact", "euler"]),
        help: "solver of the extrapolation: matrix exponential or explicit Euler (optionExtrapolation)",
        only_with: &[LOCAL_MODELS],
    },
    OptionSpec {
        name: "extrapolation_steps",
        kind: OptionKind::Integer { default: 100, min: 1, max: 1000 },
        help: "number of Euler steps for it per macro step (stepsExtrapolation)",
        only_with: &[LOCAL_MODELS, Condition { option: "extrapolation", among: &["euler"] }],
    },
    OptionSpec {
        name: "phi_steps",
        kind: OptionKind::Integer { default: 0, min: 0, max: 1000 },
        help: "intermediate values for the integrals of the input optimisation (stepsDiscreteSystemMatrices); 0: exact",
        only_with: &[LOCAL_MODELS, OPTIMISED],
    },
    OptionSpec {
        name: "modified",
        kind: OptionKind::Bool { default: false },
        help: "no input optimisation: u = L yhat",
        only_with: &[],
    },
    OptionSpec {
        name: "scaled",
        kind: OptionKind::Bool { default: true },
        help: "scale rows and columns of the input optimisation by the sizes of the signals",
        only_with: &[OPTIMISED],
    },
    OptionSpec {
        name: "offsets",
        kind: OptionKind::Bool { default: true },
        help: "carry what the Interface Jacobians do not know as constant offsets",
        only_with: &[LOCAL_MODELS],
    },
    OptionSpec {
        name: "paper",
        kind: OptionKind::Bool { default: false },
        help: "other defaults, the optimal set of the thesis: ede, scaled and offsets off; with identified models tables 3.12 and 3.13",
        only_with: &[],
    },
];

/// Table 3.5 of the thesis. Its 543 intermediate values for the integrals are not among them: the integrals are exact, which the
/// sums approach (`phi_steps=543` gives the table to the letter).
const THESIS: [(&str, Value); 3] =
    [("ede", Value::Bool(false)), ("scaled", Value::Bool(false)), ("offsets", Value::Bool(false))];

#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) ramp: bool,
    pub(super) trapezoid: bool,
    /// Euler steps for the error differential equation, 0 = exact; none if it is left out.
    pub(super) ede_steps: Option<usize>,
    /// Euler steps for the extrapolation, 0 = exact.
    pub(super) extrapolation_steps: usize,
    pub(super) phi_steps: usize,
    pub(super) modified: bool,
    pub(super) scaled: bool,
    pub(super) offsets: bool,
    /// Coefficients per signal in the responses of the parts.
    pub(super) width: usize,
}

impl Settings {
    /// Whether the closed loop is solved by explicit Euler.
    pub(super) fn uses_euler(&self) -> bool {
        self.extrapolation_steps > 0 || self.ede_steps.is_some_and(|steps| steps > 0)
    }

    pub(super) fn new(options: &Options) -> Self {
        let of_the_thesis = options.clone().with_defaults(&THESIS);
        let options = if options.bool("paper") { &of_the_thesis } else { options };
        let steps = |solver: &str, steps: &str| match options.text(solver) {
            "euler" => options.integer(steps) as usize,
            _ => 0,
        };
        Self {
            ramp: options.text("input") == "ramp",
            trapezoid: options.text("target") == "trapezoid",
            ede_steps: options.bool("ede").then(|| steps("ede_solver", "ede_steps")),
            extrapolation_steps: steps("extrapolation", "extrapolation_steps"),
            phi_steps: options.integer("phi_steps") as usize,
            modified: options.bool("modified"),
            scaled: options.bool("scaled"),
            offsets: options.bool("offsets"),
            width: 2,
        }
    }
}
