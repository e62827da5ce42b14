//! A native subsystem can go back, be saved, and start again.

mod common;

use common::{INPUTS, advance, logistic, started};
use costep_core::{
    Experiment, Linearised, LocalModel, MicroRecorder, MicroSampling, Persistence, Rollback, StateReader,
    StateWriter, Subsystem,
};
use costep_integrate::multistep::{AtPoint, Family};
use costep_integrate::{Integrated, Solver};

const SOLVERS: [Solver; 6] = [
    Solver::Euler(0.01),
    Solver::Rk4(0.03),
    Solver::LinearImplicit(0.03),
    Solver::Dopri5(1e-7),
    Solver::Multistep(Family::Bdf, 1e-7, AtPoint::CorrectSecond),
    Solver::Multistep(Family::Adams, 1e-7, AtPoint::Restart),
];

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn what_was_restored_goes_on_as_if_nothing_had_happened() {
    for solver in SOLVERS {
        let mut native = started(logistic(), &solver, 0.0, 0.2);
        advance(&mut native, 0.0, 0.2, &INPUTS[2].from(0.0));
        native.snapshot().unwrap();
        let first = advance(&mut native, 0.2, 0.4, &INPUTS[2].from(0.2));
        for garbage in &INPUTS {
            native.restore().unwrap();
            advance(&mut native, 0.2, 0.4, &garbage.from(5.0));
            native.restore().unwrap();
            let again = advance(&mut native, 0.2, 0.4, &INPUTS[2].from(0.2));
            assert_eq!(bits(&again), bits(&first), "{solver:?}");
        }
    }
}

#[test]
fn what_was_saved_goes_on_elsewhere() {
    for solver in SOLVERS {
        let mut native = started(logistic(), &solver, 0.0, 0.2);
        advance(&mut native, 0.0, 0.2, &INPUTS[3].from(0.0));
        let mut out = StateWriter::default();
        native.save(&mut out).unwrap();
        let saved = out.into_bytes();
        let mut other = started(logistic(), &solver, 0.0, 0.2);
        other.load(&mut StateReader::new(&saved)).unwrap();
        let [here, there] =
            [&mut native, &mut other].map(|native| advance(native, 0.2, 0.4, &INPUTS[3].from(0.2)));
        assert_eq!(bits(&here), bits(&there), "{solver:?}");
        for length in 0..saved.len() {
            assert!(other.load(&mut StateReader::new(&saved[..length])).is_err());
        }
    }
}

#[test]
fn a_second_start_is_like_the_first() {
    for solver in SOLVERS {
        let mut native = started(logistic(), &solver, 0.0, 0.2);
        let first = advance(&mut native, 0.0, 0.2, &INPUTS[1].from(0.0));
        native.initialise(&Experiment { start: 0.0, stop: 1.0, step: 0.2 }).unwrap();
        let second = advance(&mut native, 0.0, 0.2, &INPUTS[1].from(0.0));
        assert_eq!(bits(&first), bits(&second), "{solver:?}");
    }
}

#[test]
fn the_samples_of_euler_are_what_the_part_declares_and_others_are_on_the_solution() {
    for solver in SOLVERS {
        let native = started(logistic(), &solver, 0.0, 0.2);
        let expected =
            if matches!(solver, Solver::Euler(_)) { MicroSampling::End } else { MicroSampling::Continuous };
        assert_eq!(native.sampling(), expected);
    }
}

#[test]
fn the_local_model_is_that_of_the_present_state() {
    let mut ode = logistic();
    ode.jacobians = |x, u, model| {
        (model.a[0], model.b[0]) = (u[0] * (1.0 - 2.0 * x[0]), x[0] * (1.0 - x[0]));
        (model.c[0], model.d[0]) = (1.0, 0.0);
    };
    let mut native = started(ode, &Solver::Rk4(0.01), 0.0, 0.2);
    let x = advance(&mut native, 0.0, 0.2, &INPUTS[0].from(0.0))[0];
    let mut model = LocalModel::new(1, 1, 1);
    native.local_model(&[3.0], &mut model).unwrap();
    assert_eq!(model.x, [x]);
    assert_eq!(model.x_dot, [3.0 * x * (1.0 - x)]);
    assert_eq!((model.a[0], model.b[0]), (3.0 * (1.0 - 2.0 * x), x * (1.0 - x)));
}

#[test]
fn an_absurdly_small_inner_step_is_refused() {
    let mut subsystem = Integrated::new(logistic(), &Solver::Euler(1e-300)).unwrap();
    let experiment = Experiment { start: 0.0, stop: 1.0, step: 1e-3 };
    subsystem.record(true, &experiment);
    assert_eq!(subsystem.initialise(&experiment).unwrap_err().code(), costep_core::Code::BadValue);
}
