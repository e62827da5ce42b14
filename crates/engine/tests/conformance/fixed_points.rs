//! A system at rest stays at rest.

use costep_core::External;
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::multistep::{AtPoint, Family};
use costep_integrate::{Part, Solver};
use costep_methods::MethodSpec;

use crate::common::{coupled, model};
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
fn drift(system: System) -> f64 {
    let mut engine = Engine::new(system).unwrap();
    let start = engine.outputs().to_vec();
    for _ in 0..500 {
        engine.step().unwrap();
    }
    let size = start.iter().fold(0.0, |size: f64, y| size.max(y.abs()));
    let change = |(now, then): (&f64, &f64)| (now - then).abs() / size;
    engine.outputs().iter().zip(&start).map(change).fold(0.0, f64::max)
}

#[test]
fn two_lags_in_a_loop_keep_their_equilibrium() {
    // x1 = y2 + 1.5, x2 = y1 with y1 = 2 x1, y2 = x2 / 4: exact in binary.
    for method in variants().into_iter().filter(is_exact) {
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

#[test]
fn a_dual_mass_keeps_its_equilibrium_under_a_constant_force() {
    let springs = [("m1", 1.0), ("m2", 1.0), ("c1", 4.0), ("c2", 4.0), ("ck", 4.0), ("dk", 0.5)];
    let rest = [("d1", 1.0), ("d2", 1.0), ("x1", 0.5), ("x2", 0.25)];
    let pushed =
        model("dual-mass", &[&springs[..], &rest[..]].concat()).driven(0, 0, External::Constant(3.0));
    // The thesis' method knows a subsystem by its outputs alone; with more states than outputs its constants drift.
    let left_out = ["prestep:offsets=false", "prestep:paper=true"];
    let is_exact = |method: &MethodSpec| !left_out.contains(&method.label().as_str()) && is_exact(method);
    for method in variants().into_iter().filter(is_exact) {
        for solver in SOLVERS {
            let drift = drift(coupled(&pushed, &solver, &method, 50.0, 0.1));
            assert!(drift <= tolerance(&method), "{} {solver:?}: {drift:e}", method.label());
        }
    }
}

/// The thesis' sums in place of integrals do not know equilibria.
fn is_exact(method: &MethodSpec) -> bool {
    !method.label().starts_with("prestep:phi_steps=")
}

fn uses_models(method: &MethodSpec) -> bool {
    let needs = method.build().needs();
    needs.local_models || needs.feedthrough
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
