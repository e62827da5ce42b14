//! Forces that set in suddenly, from rest, under step control.

mod common;

use common::model;
use costep_core::{Experiment, InputPolynomials, Subsystem};
use costep_integrate::{Integrated, Solver};
use costep_system::SystemDescription;

/// Outputs of the monolithic twin at the end.
fn end(model: &SystemDescription, solver: &Solver, experiment: &Experiment) -> Vec<f64> {
    let mut twin = Integrated::new(model.monolithic().unwrap(), solver).unwrap();
    twin.initialise(experiment).unwrap();
    let (mut y, no_input) = (vec![0.0; twin.description().outputs.len()], InputPolynomials::new(0, 0));
    for k in 0..experiment.steps() {
        let interval = experiment.interval(k);
        twin.step(interval, no_input.segment(0..0, 0), &mut y).unwrap();
    }
    y
}

#[test]
fn a_chain_at_rest_is_set_in_motion_by_a_late_push() {
    for idle in [0.5, 0.5004, 50.0] {
        // The wave of the force is counted from the push on, so that all runs are the same but for the time.
        let chain = model("chain", &[("n", 7.0), ("idle", idle)]);
        let experiment = Experiment { start: idle - 0.0105, stop: idle + 0.0895, step: 1e-3 };
        let at_once = Experiment { start: 0.0, stop: 0.0895, step: 0.0895 / 90.0 };
        let reference = end(&model("chain", &[("n", 7.0)]), &Solver::Dopri5(1e-12), &at_once);
        for tolerance in [1e-6, 1e-10] {
            let y = end(&chain, &Solver::Dopri5(tolerance), &experiment);
            let errors = y.iter().zip(&reference).map(|(a, b)| (a - b).abs() / b.abs().max(1e-3));
            let worst = errors.fold(0.0, f64::max);
            assert!(worst < 1e4 * tolerance + 1e-9 * idle, "{worst:e} at {tolerance:e}, {idle}");
        }
    }
}

#[test]
fn impulses_are_crossed_with_step_control() {
    let struck = model("dual-mass-nonlinear", &[]);
    let experiment = Experiment { start: 0.0, stop: 0.06, step: 1e-3 };
    // A stage of the fixed step that lies beyond an edge of an impulse leaves an error of the first order.
    let (fine, controlled) =
        (end(&struck, &Solver::Rk4(1e-7), &experiment), end(&struck, &Solver::Dopri5(1e-9), &experiment));
    let errors = fine.iter().zip(&controlled).map(|(a, b)| (a - b).abs() / b.abs());
    assert!(errors.fold(0.0, f64::max) < 1e-3, "{fine:?} {controlled:?}");
}
