//! What every solver has to keep to.

use costep_core::{Code, External};
use costep_engine::Engine;
use costep_integrate::{Solver, SolverEntry, SolverSetting, Solvers};

use crate::fixed_points::drift;
use crate::save_load::resumed_runs_with;
use crate::systems::{coupled, method, model};
use crate::toys::bits_after;
use crate::{Failure, assert_none, failures_of};

/// Runs the checks of solvers on one, and gives those that fail: settings that cannot work are refused, its label
/// makes it again, equilibria are kept, the error falls with its setting, a saved run goes on bit by bit, and a
/// step that is repeated is the same step.
pub fn check_solver(entry: &'static SolverEntry) -> Vec<Failure> {
    failures_of(
        entry.id,
        entry,
        &[
            ("impossible_settings_are_refused", impossible_settings_are_refused),
            ("its_label_makes_it_again", its_label_makes_it_again),
            ("an_equilibrium_is_kept", an_equilibrium_is_kept),
            ("the_error_falls_with_the_setting", the_error_falls_with_the_setting),
            ("a_resumed_run_has_the_same_bits", a_resumed_run_has_the_same_bits),
            ("two_runs_have_the_same_bits", two_runs_have_the_same_bits),
        ],
    )
}

/// Runs the checks of solvers on one.
///
/// # Panics
///
/// If one of them fails; the message has all that fail.
pub fn assert_solver_conforms(entry: &'static SolverEntry) {
    assert_none(entry.id, &check_solver(entry));
}

/// A setting that is good enough, and one that is finer.
fn settings(entry: &'static SolverEntry) -> [Solver; 2] {
    let values = match entry.setting {
        SolverSetting::InnerStep => [1e-4, 2.5e-5],
        SolverSetting::Tolerance { .. } => [1e-5, 1e-8],
    };
    values.map(|value| Solver::Other(entry, value))
}

fn impossible_settings_are_refused(entry: &'static SolverEntry) {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Solver::Other(entry, value).check().expect_err("an impossible setting");
        assert_eq!(error.code(), Code::BadValue, "{value}");
    }
}

fn its_label_makes_it_again(entry: &'static SolverEntry) {
    let solvers = Solvers::standard().with(entry);
    assert!(solvers.names().any(|name| name == entry.id));
    for solver in settings(entry) {
        assert_eq!(solvers.parse(&solver.label(), 1e-3).unwrap(), solver);
    }
    assert!(solvers.parse(entry.id, 1e-3).is_ok(), "it has to work without a value");
}

fn an_equilibrium_is_kept(entry: &'static SolverEntry) {
    let springs = [("m1", 1.0), ("m2", 1.0), ("c1", 4.0), ("c2", 4.0), ("ck", 4.0), ("dk", 0.5)];
    let rest = [("d1", 1.0), ("d2", 1.0), ("x1", 0.5), ("x2", 0.25)];
    let parameters = [&springs[..], &rest[..]].concat();
    let pushed = model("dual-mass", &parameters).driven(0, 0, External::Constant(3.0));
    for solver in settings(entry) {
        let drift = drift(coupled(&pushed, &solver, &method("zoh"), 5.0, 1e-2));
        assert!(drift <= 1e-10, "{}: {drift:e}", solver.label());
    }
}

/// Against exact steps, under inputs that are held, where those are exact too.
fn the_error_falls_with_the_setting(entry: &'static SolverEntry) {
    let model = model("dual-mass", &[]);
    let end = |solver: &Solver| {
        let mut engine = Engine::new(coupled(&model, solver, &method("zoh"), 0.1, 1e-3)).unwrap();
        (0..100).for_each(|_| engine.step().unwrap());
        engine.outputs().to_vec()
    };
    let exact = end(&Solver::Exact);
    let size = exact.iter().fold(0.0, |size: f64, y| size.max(y.abs()));
    let error = |solver: &Solver| {
        let apart = end(solver).iter().zip(&exact).map(|(y, exact)| (y - exact).abs()).fold(0.0, f64::max);
        apart / size
    };
    let [coarse, fine] = settings(entry).map(|solver| error(&solver));
    assert!(coarse < 1e-2, "{coarse:e} of the largest output");
    assert!(fine < 0.5 * coarse || fine < 1e-12, "{coarse:e} becomes {fine:e}");
}

fn a_resumed_run_has_the_same_bits(entry: &'static SolverEntry) {
    resumed_runs_with(&settings(entry), &[method("zoh"), method("foh"), method("predictive")]);
}

fn two_runs_have_the_same_bits(entry: &'static SolverEntry) {
    for solver in settings(entry) {
        let run = || {
            let system = coupled(&model("chain", &[("n", 4.0)]), &solver, &method("foh"), 1.0, 1e-3);
            bits_after(&mut Engine::new(system).unwrap(), 50)
        };
        assert!(run() == run(), "{}", solver.label());
    }
}
