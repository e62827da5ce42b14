//! A system at rest stays at rest.

use costep_core::{External, MethodEntry};
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::Solver;
use costep_integrate::multistep::{AtPoint, Family};
use costep_methods::MethodSpec;
use costep_system::Component;

use crate::systems::{coupled, model};
use crate::toys::{Lag, wired};
use crate::variants::variants;

const SOLVERS: [Solver; 5] = [
    Solver::Euler(0.01),
    Solver::Rk4(0.02),
    Solver::Dopri5(1e-6),
    Solver::Exact,
    Solver::Multistep(Family::Adams, 1e-6, AtPoint::CorrectFirst),
];

/// Greatest relative change of an output in many steps.
pub(crate) fn drift(system: System) -> f64 {
    let mut engine = Engine::new(system).unwrap();
    let start = engine.outputs().to_vec();
    for _ in 0..500 {
        engine.step().unwrap();
    }
    let size = start.iter().fold(0.0, |size: f64, y| size.max(y.abs()));
    let change = |(now, then): (&f64, &f64)| (now - then).abs() / size;
    engine.outputs().iter().zip(&start).map(change).fold(0.0, f64::max)
}

pub(crate) fn two_lags_in_a_loop_keep_their_equilibrium(entry: &'static MethodEntry) {
    // x1 = y2 + 1.5, x2 = y1 with y1 = 2 x1, y2 = x2 / 4: exact in binary.
    for method in variants(entry).into_iter().filter(is_exact) {
        for solver in SOLVERS {
            for scheduling in [Scheduling::Auto, Scheduling::Sequential(vec![])] {
                let parts = [Lag::new("a", 2.0, 3.0), Lag::new("b", 0.25, 6.0)];
                let subsystems = parts.map(|part| part.subsystem(&solver).unwrap()).into();
                let mut system = wired(subsystems, &[(1, 0), (0, 1)], &method);
                system.externals = vec![(0, External::Constant(1.5))];
                system.scheduling = scheduling;
                let drift = drift(system);
                assert!(drift <= tolerance(&method), "{} {solver:?}: {drift:e}", method.label());
                // Maps of local models, like those of exact steps and Newton's iteration, carry round-off.
                let solves = matches!(solver, Solver::Exact | Solver::Multistep(..));
                let rounds = solves || uses_models(&method);
                assert!(rounds || drift == 0.0, "{} {solver:?}: {drift:e}", method.label());
            }
        }
    }
}

pub(crate) fn a_dual_mass_keeps_its_equilibrium_under_a_constant_force(entry: &'static MethodEntry) {
    let springs = [("m1", 1.0), ("m2", 1.0), ("c1", 4.0), ("c2", 4.0), ("ck", 4.0), ("dk", 0.5)];
    let rest = [("d1", 1.0), ("d2", 1.0), ("x1", 0.5), ("x2", 0.25)];
    let pushed =
        model("dual-mass", &[&springs[..], &rest[..]].concat()).driven(0, 0, External::Constant(3.0));
    let knows_states =
        |method: &MethodSpec| is_exact(method) && !gives(method, entry.deviations.drift_of_hidden_states);
    for method in variants(entry).into_iter().filter(knows_states) {
        for solver in SOLVERS {
            let drift = drift(coupled(&pushed, &solver, &method, 50.0, 0.1));
            assert!(drift <= tolerance(&method), "{} {solver:?}: {drift:e}", method.label());
        }
    }
}

/// Some options do not know equilibria.
fn is_exact(method: &MethodSpec) -> bool {
    !gives(method, method.entry.deviations.drift)
}

/// Whether one of these options was given.
fn gives(method: &MethodSpec, options: &[&str]) -> bool {
    method.given().iter().any(|(name, _)| options.contains(&name.as_str()))
}

fn uses_models(method: &MethodSpec) -> bool {
    method.build().request().models.is_any()
}

/// Maps that are powers of the matrix of one of a hundred inner steps carry its round-off a hundred times.
fn tolerance(method: &MethodSpec) -> f64 {
    match uses_models(method) {
        // Trial steps are as exact as round-off over a small change.
        true if ["finite-difference", "probe"].contains(&method.models.entry.id) => 1e-10,
        true => 1e-13,
        false => 1e-14,
    }
}
