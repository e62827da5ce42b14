//! A run that goes on from a saved state is the same run.

use costep_core::{Code, MethodEntry};
use costep_engine::Engine;
use costep_integrate::Solver;
use costep_integrate::multistep::{AtPoint, Family};
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

use crate::systems::{coupled, model};
use crate::toys::bits_after;
use crate::variants::{defaults, variants};

const STEPS: usize = 50;
const SOLVERS: [Solver; 5] = [
    Solver::Euler(1e-4),
    Solver::Rk4(5e-4),
    Solver::Dopri5(1e-6),
    Solver::Exact,
    Solver::Multistep(Family::Bdf, 1e-6, AtPoint::CorrectSecond),
];

fn engine(model: &SystemDescription, solver: &Solver, method: &MethodSpec) -> Engine {
    Engine::new(coupled(model, solver, method, 1.0, 1e-3)).unwrap()
}

pub(crate) fn a_resumed_run_has_the_same_bits(entry: &'static MethodEntry) {
    resumed_runs_are_the_same(&variants(entry));
}

/// The same for methods with options.
pub(crate) fn resumed_runs_are_the_same(methods: &[MethodSpec]) {
    resumed_runs_with(&SOLVERS, methods);
}

/// The same with other solvers.
pub(crate) fn resumed_runs_with(solvers: &[Solver], methods: &[MethodSpec]) {
    for model in [model("dual-mass", &[]), model("chain", &[("n", 4.0)])] {
        for method in methods {
            for solver in solvers {
                let mut unbroken = engine(&model, solver, method);
                bits_after(&mut unbroken, STEPS);
                let state = unbroken.save().unwrap();
                let mut resumed = engine(&model, solver, method);
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
pub(crate) fn a_run_resumed_after_a_long_time_has_the_same_bits(entry: &'static MethodEntry) {
    let late = |solver: &Solver, method: &MethodSpec| {
        let mut system = coupled(&model("dual-mass", &[]), solver, method, 0.0, 1e-3);
        system.experiment.start = 1.5e6;
        system.experiment.stop = 2e6;
        Engine::new(system).unwrap()
    };
    for solver in SOLVERS {
        let method = defaults(entry);
        let mut unbroken = late(&solver, &method);
        bits_after(&mut unbroken, STEPS);
        let mut resumed = late(&solver, &method);
        resumed.load(&unbroken.save().unwrap()).unwrap();
        let (then, now) = (bits_after(&mut unbroken, STEPS), bits_after(&mut resumed, STEPS));
        assert!(then == now, "{} under {solver:?} goes on differently", entry.id);
    }
}

pub(crate) fn every_truncated_state_is_refused_and_the_whole_one_still_loads(entry: &'static MethodEntry) {
    truncated_states_are_refused(&variants(entry));
}

/// The same for methods with options.
pub(crate) fn truncated_states_are_refused(methods: &[MethodSpec]) {
    let model = model("dual-mass", &[]);
    for method in methods {
        let mut engine = engine(&model, &Solver::Euler(1e-4), method);
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

pub(crate) fn damaged_bytes_never_lead_to_a_panic(entry: &'static MethodEntry) {
    let model = model("dual-mass", &[]);
    let mut engine = engine(&model, &Solver::Euler(1e-4), &defaults(entry));
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
