//! Variable-step, variable-order multistep solver on the Nordsieck array: BDF (orders 1 to 5) for stiff and
//! Adams (orders 1 to 12) for non-stiff equations, after the published CVODE algorithm (Byrne & Hindmarsh
//! 1975, ACM TOMS 1(1); Hindmarsh et al. 2005, ACM TOMS 31(3); CVODE user guide, "Mathematical
//! considerations").
//!
//! It is our own because a communication point changes the history itself: where inputs jump, the array is
//! corrected in place instead of thrown away (\[A16] (12), (15); `correction.rs`). That also gives
//! snapshots, no allocation after set-up and no C tool chain.
//!
//! | file | what |
//! |---|---|
//! | `nordsieck.rs` | the array z_j = h^j x^(j) / j! and what is done to it: predict, rescale, change the order |
//! | `coefficients.rs` | correction polynomial l and error constants of both families |
//! | `newton.rs` | the corrector equation by modified Newton |
//! | `control.rs` | error test, choice of step and order |
//! | `start.rs` | length of the first step |
//! | `correction.rs` | what happens when inputs change |
//! | `integrator.rs` | the solver as one of the integrators of a subsystem |
//!
//! A reader who holds the CVODE guide: x_n(m) is [`Multistep::x`], acor is `correction`, zn is `Nordsieck`,
//! tau is `past_steps`, tq is `coefficients::Coefficients`.

mod coefficients;
mod control;
mod correction;
mod failure;
mod integrator;
mod newton;
mod nordsieck;
mod start;

use costep_core::{Result, StateReader, StateWriter};
use costep_linalg::Matrix;

use coefficients::Coefficients;
use control::Control;
use newton::Newton;
use nordsieck::Nordsieck;

pub use correction::AtPoint;
pub use failure::{Failure, Reason};
pub(crate) use integrator::MultistepIntegrator;

/// x' = f(t, x), with what the solver wants to know about f. Inputs are the business of the implementer.
pub trait RightHandSide {
    /// f. Values that are not finite make the solver try a shorter step; an error ends the integration.
    fn derivatives(&mut self, t: f64, x: &[f64], x_dot: &mut [f64]) -> Result<()>;

    /// df/dx, one row per derivative. `false`: not known, the solver takes differences.
    fn jacobian(&mut self, _t: f64, _x: &[f64], _jacobian: &mut Matrix) -> Result<bool> {
        Ok(false)
    }

    /// x'' = f_x f + f_u u' + f_t, given f. `false`: not known, the solver takes a difference along the
    /// solution.
    fn second_derivative(&mut self, _t: f64, _x: &[f64], _f: &[f64], _out: &mut [f64]) -> Result<bool> {
        Ok(false)
    }
}

/// The family of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Backward differentiation, orders 1 to 5.
    Bdf,
    /// Adams-Moulton, orders 1 to 12.
    Adams,
}

impl Family {
    /// Highest order.
    fn max_order(self) -> usize {
        match self {
            Self::Bdf => 5,
            Self::Adams => MAX_ORDER,
        }
    }
}

/// Highest order of all families.
const MAX_ORDER: usize = 12;

/// What the user chooses.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Family of formulas.
    pub family: Family,
    /// Relative tolerance.
    pub relative: f64,
    /// Absolute tolerance of each state.
    pub absolute: Vec<f64>,
    /// Highest order, at most that of the family.
    pub max_order: usize,
    /// Longest step.
    pub max_step: f64,
}

impl Settings {
    /// A family with tolerances; order and step are limited by the family only.
    pub fn new(family: Family, relative: f64, absolute: Vec<f64>) -> Self {
        Self { family, relative, absolute, max_order: family.max_order(), max_step: f64::INFINITY }
    }
}

/// What the solver has done since [`Multistep::start`] was first called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Evaluations of f, without those for Jacobians by differences.
    pub evaluations: u64,
    /// Evaluations of f for Jacobians by differences.
    pub difference_evaluations: u64,
    /// Evaluations of f and of f' for corrections at communication points.
    pub correction_evaluations: u64,
    /// Jacobians.
    pub jacobians: u64,
    /// Factorisations of the Newton matrix.
    pub factorisations: u64,
    /// Newton iterations.
    pub iterations: u64,
    /// Steps repeated because of their error.
    pub error_failures: u64,
    /// Steps repeated because Newton did not converge.
    pub convergence_failures: u64,
    /// Starts at order one.
    pub restarts: u64,
}

/// The solver with its memory, all of which is taken in [`Multistep::new`].
#[derive(Debug)]
pub struct Multistep {
    settings: Settings,
    history: Nordsieck,
    coefficients: Coefficients,
    control: Control,
    newton: Newton,
    /// Accumulated correction of the last step, e_n.
    correction: Vec<f64>,
    /// Correction of the step before a change of order is looked at.
    saved_correction: Vec<f64>,
    /// 1 / (relative |x| + absolute).
    weights: Vec<f64>,
    /// Two vectors to work with.
    work: [Vec<f64>; 2],
    statistics: Statistics,
}

impl Multistep {
    /// A solver for as many states as there are absolute tolerances.
    pub fn new(settings: Settings) -> Self {
        let n = settings.absolute.len();
        let zeros = || vec![0.0; n];
        let max_order = settings.max_order.clamp(1, settings.family.max_order());
        Self {
            history: Nordsieck::new(n, max_order),
            coefficients: Coefficients::default(),
            control: Control::default(),
            newton: Newton::new(n),
            correction: zeros(),
            saved_correction: zeros(),
            weights: zeros(),
            work: [zeros(), zeros()],
            statistics: Statistics::default(),
            settings: Settings { max_order, ..settings },
        }
    }

    /// Begins at (t, x) without history: the next step is of order one.
    pub fn start(&mut self, t: f64, x: &[f64]) {
        self.history.start(t, x);
        self.control = Control::default();
        self.newton.forget();
        self.statistics.restarts += 1;
    }

    /// Another name for the present time: the history counts from there.
    pub(crate) fn set_time(&mut self, t: f64) {
        self.history.t = t;
    }

    /// Other absolute tolerances from the next step on.
    pub fn absolute_mut(&mut self) -> &mut [f64] {
        &mut self.settings.absolute
    }

    /// Takes one step that does not go beyond `stop`, which is hit exactly.
    pub fn step<E: RightHandSide + ?Sized>(&mut self, equations: &mut E, stop: f64) -> Result<(), Failure> {
        if self.history.is_new() {
            self.begin(equations, stop)?;
        } else {
            self.control.stop_at(stop, &self.history);
        }
        self.update_weights()?;
        self.attempt(equations, stop)
    }

    /// Steps until `stop`, telling `watch` of each step.
    pub fn advance<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        stop: f64,
        mut watch: impl FnMut(&Self),
    ) -> Result<(), Failure> {
        for _ in 0..MAX_STEPS {
            if self.t() >= stop {
                return Ok(());
            }
            self.step(equations, stop)?;
            watch(self);
        }
        Err(self.failure(Reason::TooManySteps(MAX_STEPS)))
    }

    /// Present time.
    pub fn t(&self) -> f64 {
        self.history.t
    }

    /// Present state.
    pub fn x(&self) -> &[f64] {
        self.history.column(0)
    }

    /// Order of the last step.
    pub fn last_order(&self) -> usize {
        self.history.last_order
    }

    /// Length of the last step.
    pub fn last_step(&self) -> f64 {
        self.history.last_step
    }

    /// What has been done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The state at a time inside the last step.
    pub fn interpolate(&self, t: f64, x: &mut [f64]) {
        self.history.evaluate(t, x);
    }

    /// Makes this solver what `other`, made with equal settings, is; without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.settings.absolute.copy_from_slice(&other.settings.absolute);
        self.history.copy_from(&other.history);
        self.coefficients = other.coefficients;
        self.control = other.control;
        self.newton.copy_from(&other.newton);
        self.correction.copy_from_slice(&other.correction);
        self.saved_correction.copy_from_slice(&other.saved_correction);
        self.weights.copy_from_slice(&other.weights);
        self.statistics = other.statistics;
    }

    /// Writes all that decides about the steps to come.
    pub fn save(&self, writer: &mut StateWriter) {
        writer.reals(&self.settings.absolute);
        self.history.save(writer);
        self.control.save(writer);
        self.newton.save(writer);
        writer.reals(&self.correction);
        writer.reals(&self.saved_correction);
    }

    /// Reads what [`Multistep::save`] wrote.
    pub fn load(&mut self, reader: &mut StateReader<'_>) -> Result<()> {
        reader.reals(&mut self.settings.absolute)?;
        self.history.load(reader)?;
        self.control.load(reader)?;
        self.newton.load(reader)?;
        reader.reals(&mut self.correction)?;
        reader.reals(&mut self.saved_correction)
    }

    fn update_weights(&mut self) -> Result<(), Failure> {
        let Settings { relative, absolute, .. } = &self.settings;
        let states = self.history.column(0).iter().zip(absolute);
        self.weights.iter_mut().zip(states).for_each(|(weight, (x, absolute))| {
            *weight = 1.0 / (relative * x.abs() + absolute);
        });
        match self.weights.iter().position(|weight| !weight.is_finite() || *weight <= 0.0) {
            Some(state) => Err(self.failure(Reason::Weight).of_state(state)),
            None => Ok(()),
        }
    }

    fn failure(&self, reason: Reason) -> Failure {
        Failure { reason, t: self.history.t, step: self.history.h, state: None }
    }
}

/// Most steps of one [`Multistep::advance`].
const MAX_STEPS: usize = 10_000_000;

/// Weighted root mean square.
fn norm(x: &[f64], weights: &[f64]) -> f64 {
    let sum: f64 = x.iter().zip(weights).map(|(x, weight)| (x * weight).powi(2)).sum();
    (sum / x.len().max(1) as f64).sqrt()
}
