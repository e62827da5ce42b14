//! The order of convergence that a method claims is the one it has.

use std::f64::consts::FRAC_PI_2;

use costep_core::{External, InputPolynomials, MethodEntry, Subsystem};
use costep_engine::{Engine, Scheduling};
use costep_integrate::{Integrated, Solver};
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

use crate::systems::{coupled, model};
use crate::variants::defaults;

/// End of the runs that show orders, in s.
pub const STOP: f64 = 1.0;
/// The longest of their steps, in s.
pub const LONGEST_STEP: f64 = 0.01;
const HALVINGS: i32 = 4;

/// Two masses with a soft coupling, beginning in motion.
fn soft(x1: f64) -> SystemDescription {
    let masses = [("m1", 1.0), ("m2", 2.0), ("c1", 100.0), ("c2", 400.0), ("d1", 0.1), ("d2", 0.2)];
    model("dual-mass", &[&masses[..], &[("ck", 50.0), ("dk", 1.0), ("x1", x1)]].concat())
}

/// The same at rest under a force that sets in smoothly, 10 (1 - cos 2 pi t).
pub fn soft_from_rest() -> SystemDescription {
    let cosine = External::Sine { amplitude: -10.0, frequency: 1.0, phase: FRAC_PI_2, start: 0.0 };
    soft(0.0).driven(0, 0, External::Constant(10.0)).driven(0, 0, cosine)
}

/// Greatest error of each output at the communication points of the second half of the run.
fn errors(
    model: &SystemDescription,
    method: &MethodSpec,
    scheduling: &Scheduling,
    reference: &Solver,
    step: f64,
) -> Vec<f64> {
    let mut system = coupled(model, &Solver::Exact, method, STOP, step);
    system.scheduling = scheduling.clone();
    let mut engine = Engine::new(system).unwrap();
    let experiment = *engine.experiment();
    let mut twin = Integrated::new(model.monolithic().unwrap(), reference).unwrap();
    twin.initialise(&experiment).unwrap();
    let no_input = InputPolynomials::new(0, 0);
    let mut exact = engine.outputs().to_vec();
    let mut errors = vec![0.0f64; exact.len()];
    for k in 0..experiment.steps() {
        engine.step().unwrap();
        let interval = experiment.interval(k);
        twin.step(interval, no_input.segment(0..0, 0), &mut exact).unwrap();
        if interval.end > 0.5 * STOP {
            for (error, (y, exact)) in errors.iter_mut().zip(engine.outputs().iter().zip(&exact)) {
                *error = error.max((y - exact).abs());
            }
        }
    }
    errors
}

/// Observed order of each output.
fn slopes(
    model: &SystemDescription,
    method: &MethodSpec,
    scheduling: &Scheduling,
    reference: &Solver,
) -> Vec<f64> {
    // A method of high order reaches round-off after few halvings, so it starts with longer steps.
    let is_high = method.entry.convergence_order > 3;
    let (longest, halvings) = if is_high { (8.0 * LONGEST_STEP, 2) } else { (LONGEST_STEP, HALVINGS) };
    slopes_over(model, method, scheduling, reference, (longest, halvings))
}

/// The same over so many halvings of a step.
fn slopes_over(
    model: &SystemDescription,
    method: &MethodSpec,
    scheduling: &Scheduling,
    reference: &Solver,
    (longest, halvings): (f64, i32),
) -> Vec<f64> {
    let errors = |step| errors(model, method, scheduling, reference, step);
    let (coarse, fine) = (errors(longest), errors(longest * 0.5f64.powi(halvings)));
    coarse.iter().zip(&fine).map(|(coarse, fine)| (coarse / fine).log2() / f64::from(halvings)).collect()
}

/// Jacobi, and Gauss-Seidel in both orders.
fn schedulings() -> [Scheduling; 3] {
    [Scheduling::Parallel, Scheduling::Sequential(vec![0, 1]), Scheduling::Sequential(vec![1, 0])]
}

/// x1 and v1; the third output is the force, which has direct feedthrough.
pub const STATES: std::ops::Range<usize> = 0..2;
const FORCE: usize = 2;

pub(crate) fn every_method_has_its_order(entry: &'static MethodEntry) {
    let (model, defaults) = (soft_from_rest(), defaults(entry));
    for scheduling in &schedulings() {
        let slopes = slopes(&model, &defaults, scheduling, &Solver::Dopri5(1e-13));
        println!("{} from rest, {scheduling:?}: {slopes:.2?}", entry.id);
        let order = f64::from(entry.convergence_order);
        let staircase = (defaults.build().request().inputs.order() + 1) as f64;
        assert!(slopes[STATES].iter().all(|slope| *slope >= order - 0.25), "{}: {slopes:?}", entry.id);
        assert!(slopes[FORCE] >= order.min(staircase) - 0.25, "{}: {slopes:?}", entry.id);
    }
}

pub(crate) fn a_start_in_motion_leaves_order_two(entry: &'static MethodEntry) {
    let (model, defaults) = (soft(0.1), defaults(entry));
    for scheduling in &schedulings() {
        // What is learnt, and how long steps stay small at the start, depends on the step: errors scatter
        // around their order.
        let slopes = if entry.deviations.order_scatters {
            slopes_over(&model, &defaults, scheduling, &Solver::Exact, (LONGEST_STEP, HALVINGS + 2))
        } else {
            slopes(&model, &defaults, scheduling, &Solver::Exact)
        };
        println!("{} in motion, {scheduling:?}: {slopes:.2?}", entry.id);
        let order = f64::from(entry.convergence_order.min(2));
        // Some are exact for linear systems without external inputs: nothing is left to converge.
        let finest = errors(&model, &defaults, scheduling, &Solver::Exact, LONGEST_STEP);
        if finest[STATES].iter().all(|error| *error < 1e-9) {
            continue;
        }
        assert!(slopes[STATES].iter().all(|slope| *slope >= order - 0.25), "{}: {slopes:?}", entry.id);
    }
}

/// A method claims no less than the order that it has. Only of some: others are better on some systems than
/// they claim.
///
/// # Panics
///
/// If it is better than it claims.
pub fn claims_no_less_than_it_has(entry: &'static MethodEntry) {
    let (model, defaults) = (soft_from_rest(), defaults(entry));
    for scheduling in &schedulings() {
        let slopes = slopes(&model, &defaults, scheduling, &Solver::Dopri5(1e-13));
        let order = f64::from(entry.convergence_order);
        assert!(slopes.iter().all(|slope| *slope <= order + 0.75), "{}: {slopes:?}", entry.id);
    }
}
