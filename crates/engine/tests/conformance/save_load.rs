//! A run that goes on from a saved state is the same run.

use costep_core::Code;
use costep_engine::Engine;
use costep_integrate::Solver;
use costep_integrate::multistep::{AtPoint, Family};
use costep_methods::{METHODS, MethodSpec};
use costep_models::Model;

use crate::common::{coupled, method, model};
use crate::toys::bits_after;
use crate::variants::variants;

const STEPS: usize = 50;
const SOLVERS: [Solver; 5] = [
    Solver::Euler(1e-4),
    Solver::Rk4(5e-4),
    Solver::Dopri5(1e-6),
    Solver::Exact,
    Solver::Multistep(Family::Bdf, 1e-6, AtPoint::CorrectSecond),
];

fn engine(model: &Model, solver: &Solver, method: &MethodSpec) -> Engine {
    Engine::new(coupled(model, solver, method, 1.0, 1e-3)).unwrap()
}

#[test]
fn a_resumed_run_has_the_same_bits() {
    for model in [model("dual-mass", &[]), model("chain", &[("n", 4.0)])] {
        for method in variants() {
            for solver in SOLVERS {
                let mut unbroken = engine(&model, &solver, &method);
                bits_after(&mut unbroken, STEPS);
                let state = unbroken.save().unwrap();
                let mut resumed = engine(&model, &solver, &method);
                resumed.load(&state).unwrap();
                assert_eq!((resumed.k(), resumed.time()), (unbroken.k(), unbroken.time()));
                let (then, now) = (bits_after(&mut unbroken, STEPS), bits_after(&mut resumed, STEPS));
                assert!(then == now, "{} under {solver:?} goes on differently", method.label());
                assert_eq!(unbroken.save().unwrap(), resumed.save().unwrap());
            }
        }
    }
}

/// Late in a run the round-off of the time is large against that of the step.
#[test]
fn a_run_resumed_after_a_long_time_has_the_same_bits() {
    let late = |solver: &Solver, method: &MethodSpec| {
        let mut system = coupled(&model("dual-mass", &[]), solver, method, 0.0, 1e-3);
        system.experiment.start = 1.5e6;
        system.experiment.stop = 2e6;
        Engine::new(system).unwrap()
    };
    for entry in METHODS {
        for solver in SOLVERS {
            let method = method(entry.id);
            let mut unbroken = late(&solver, &method);
            bits_after(&mut unbroken, STEPS);
            let mut resumed = late(&solver, &method);
            resumed.load(&unbroken.save().unwrap()).unwrap();
            let (then, now) = (bits_after(&mut unbroken, STEPS), bits_after(&mut resumed, STEPS));
            assert!(then == now, "{} under {solver:?} goes on differently", entry.id);
        }
    }
}

#[test]
fn every_truncated_state_is_refused_and_the_whole_one_still_loads() {
    let model = model("dual-mass", &[]);
    for method in variants() {
        let mut engine = engine(&model, &Solver::Euler(1e-4), &method);
        bits_after(&mut engine, 3);
        let state = engine.save().unwrap();
        for length in 0..state.len() {
            let error = engine.load(&state[..length]).expect_err("a part of a state is not a state");
            assert_eq!(error.code(), Code::CheckpointDamaged, "{} cut to {length}", method.label());
        }
        let longer = [&state[..], &[0]].concat();
        assert_eq!(engine.load(&longer).unwrap_err().code(), Code::CheckpointDamaged);
        engine.load(&state).unwrap();
        assert_eq!(engine.save().unwrap(), state);
    }
}

#[test]
fn damaged_bytes_never_lead_to_a_panic() {
    let model = model("dual-mass", &[]);
    for entry in METHODS {
        let mut engine = engine(&model, &Solver::Euler(1e-4), &method(entry.id));
        bits_after(&mut engine, 3);
        let state = engine.save().unwrap();
        for byte in 0..state.len() {
            for bits in [0x01, 0x80, 0xff] {
                let mut damaged = state.clone();
                damaged[byte] ^= bits;
                let outcome = engine.load(&damaged).and_then(|()| engine.step());
                assert!(outcome.err().is_none_or(|error| error.code() != Code::Bug), "{} {byte}", entry.id);
            }
        }
        for word in 0..state.len() / 8 {
            let mut damaged = state.clone();
            damaged[8 * word..8 * word + 8].fill(0xff);
            let outcome = engine.load(&damaged).and_then(|()| engine.step());
            assert!(outcome.err().is_none_or(|error| error.code() != Code::Bug), "{} {word}", entry.id);
        }
    }
}

#[test]
fn a_state_of_another_system_is_refused() {
    let zoh = method("zoh");
    let state = engine(&model("dual-mass", &[]), &Solver::Exact, &zoh).save().unwrap();
    let mut other = engine(&model("chain", &[]), &Solver::Exact, &zoh);
    assert_eq!(other.load(&state).unwrap_err().code(), Code::CheckpointDamaged);
}
