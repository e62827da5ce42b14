//! States of other systems.

use costep_conformance::systems::{coupled, method, model};
use costep_core::Code;
use costep_engine::Engine;
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

fn engine(model: &SystemDescription, solver: &Solver, method: &MethodSpec) -> Engine {
    Engine::new(coupled(model, solver, method, 1.0, 1e-3)).unwrap()
}

#[test]
fn a_state_of_another_system_is_refused() {
    let zoh = method("zoh");
    let state = engine(&model("dual-mass", &[]), &Solver::Exact, &zoh).save().unwrap();
    let mut other = engine(&model("chain", &[]), &Solver::Exact, &zoh);
    assert_eq!(other.load(&state).unwrap_err().code(), Code::CheckpointDamaged);
}
