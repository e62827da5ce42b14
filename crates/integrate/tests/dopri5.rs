//! Step control, continuous output and failures of Dormand-Prince.

mod common;

use common::{Formulas, INPUTS, advance, logistic, logistic_solution, nothing, started};
use costep_core::{Code, Experiment, Interval, MicroRecorder, Subsystem, Telemetry};
use costep_integrate::Solver;

#[test]
fn continuous_output_is_as_good_as_the_tolerance() {
    for input in &INPUTS {
        for tolerance in [1e-5, 1e-7, 1e-9] {
            let mut native = started(logistic(), &Solver::Dopri5(tolerance), 0.0, 1.0);
            native.record(true, &Experiment { start: 0.0, stop: 1.0, step: 1.0 });
            advance(&mut native, 0.0, 1.0, &input.from(0.0));
            let samples = native.micro_samples().unwrap();
            let errors = samples.times.iter().zip(samples.outputs);
            let worst =
                errors.map(|(t, x)| (x - logistic_solution(input.integral(*t))).abs()).fold(0.0, f64::max);
            assert!(worst < 20.0 * tolerance, "{worst:e} at tolerance {tolerance:e}");
        }
    }
}

#[test]
fn samples_always_reach_from_the_start_to_the_end_of_the_step() {
    for case in 0..4000 {
        let (start, h) = (0.37 * f64::from(case % 7), 0.05 + 0.0011 * f64::from(case % 997));
        let tolerance = 0.1f64.powf(2.0 + 0.013 * f64::from(case % 601));
        let mut native = started(logistic(), &Solver::Dopri5(tolerance), start, h);
        native.record(true, &Experiment { start, stop: start + 1.0, step: h });
        advance(&mut native, start, start + h, &INPUTS[0].from(0.0));
        let times = native.micro_samples().unwrap().times;
        assert_eq!((times.len(), times[0], times[20]), (21, start, start + h), "case {case}");
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

fn failure(ode: Formulas, start: f64, end: f64) -> costep_core::Error {
    let mut native = started(ode, &Solver::Dopri5(1e-8), start, end - start);
    let mut y = vec![0.0; native.description().outputs.len()];
    native.step(Interval::new(start, end), nothing().segment(0..0, 0), &mut y).unwrap_err()
}

#[test]
fn what_cannot_be_integrated_is_an_error_that_names_the_subsystem() {
    let stiff = Formulas::new("stiff", 0, &[0.0], |t, x, _, x_dot| x_dot[0] = 1e9 * (t.cos() - x[0]));
    let explosion = Formulas::new("explosion", 0, &[1.0], |_, x, _, x_dot| x_dot[0] = x[0] * x[0]);
    let root = Formulas::new("root", 0, &[1.0], |_, x, _, x_dot| x_dot[0] = -1.0 / x[0].sqrt());
    for (ode, end) in [(stiff, 1.0), (explosion, 2.0), (root, 1.0)] {
        let name = format!("`{}`", ode.description.name);
        let error = failure(ode, 0.0, end);
        assert_eq!(error.code(), Code::StepTooSmall, "{name}");
        assert!(error.to_string().contains(&name), "{error}");
        assert!(error.to_string().contains("`x[0]`") && error.to_string().contains("t = "), "{error}");
    }
}

/// x' = -sign(x) has no solution beyond x = 0: the equations hide an event.
#[test]
fn a_discontinuity_that_comes_back_at_once_ends() {
    for solver in ["dopri5:1e-6", "bdf:1e-6", "adams:1e-6", "rk4:1ms", "euler:1ms"] {
        let mut sliding =
            Formulas::new("sliding", 0, &[0.5], |_, x, _, d| d[0] = if x[0] > 0.0 { -1.0 } else { 1.0 });
        sliding.jacobians = |_, _, model| model.a.fill(0.0);
        let mut native = started(sliding, &Solver::parse(solver, 1e-3).unwrap(), 0.0, 1.0);
        let mut y = [0.0];
        match native.step(Interval::new(0.0, 1.0), nothing().segment(0..0, 0), &mut y) {
            Ok(_) => assert!(y[0].abs() < 2e-3, "{solver}: {}", y[0]),
            Err(error) => {
                assert_eq!(error.code(), Code::StepTooSmall, "{error}");
                for word in ["`sliding`", "`x[0]`", "t = 0.5"] {
                    assert!(error.to_string().contains(word), "{solver}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_jump_is_crossed_wherever_it_is() {
    // v' jumps from 0 to 300 at t = 0.3137 after the start; everything is at rest before.
    for start in [0.0, 3.0, 1e3, 1e5] {
        for tolerance in [1e-4, 1e-8, 1e-12] {
            let f = match start {
                0.0 => |t: f64, x: &[f64], _: &[f64], d: &mut [f64]| push(t, x, d),
                3.0 => |t: f64, x: &[f64], _: &[f64], d: &mut [f64]| push(t - 3.0, x, d),
                1e3 => |t: f64, x: &[f64], _: &[f64], d: &mut [f64]| push(t - 1e3, x, d),
                _ => |t: f64, x: &[f64], _: &[f64], d: &mut [f64]| push(t - 1e5, x, d),
            };
            let pushed = Formulas::new("pushed", 0, &[0.0, 0.0], f);
            let mut native = started(pushed, &Solver::Dopri5(tolerance), start, 1.0);
            let y = advance(&mut native, start, start + 1.0, &nothing());
            let s = 1.0 - JUMP;
            let resolution = 300.0 * 1e-14 * start;
            let errors = [y[0] - 150.0 * s * s, y[1] - 300.0 * s].map(f64::abs);
            let allowed = 300.0 * tolerance + resolution + 1e-12;
            assert!(errors.iter().all(|error| *error < allowed), "{errors:?} at {start}, {tolerance:e}");
        }
    }
}

const JUMP: f64 = 0.3137;

fn push(t: f64, x: &[f64], x_dot: &mut [f64]) {
    x_dot[0] = x[1];
    x_dot[1] = if t < JUMP { 0.0 } else { 300.0 };
}

#[test]
fn round_off_of_the_time_leaves_no_crumbs_of_a_step() {
    // Steps about as long as the macro step, whose length varies by round-off.
    let orbit =
        || Formulas::new("orbit", 0, &[1.0, 0.0], |_, x, _, x_dot| (x_dot[0], x_dot[1]) = (x[1], -x[0]));
    let experiment = Experiment { start: 1e5, stop: 2e5, step: 0.7 };
    for case in 0..100 {
        let tolerance = 1e-8 * 10.0f64.powf(0.05 * f64::from(case));
        let mut native = started(orbit(), &Solver::Dopri5(tolerance), experiment.start, experiment.step);
        for k in 0..100 {
            advance(&mut native, experiment.time(k), experiment.time(k + 1), &nothing());
        }
    }
}
