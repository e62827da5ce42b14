//! Integrators have the order they are known for, under inputs of any order.

mod common;

use common::{Cubic, Formulas, INPUTS, advance, advance_over, logistic, logistic_solution, started};
use costep_core::{MicroRecorder, Telemetry};
use costep_integrate::Solver;

/// Error at t = 1 after four macro steps.
fn error(solver: &Solver, input: &Cubic) -> f64 {
    let mut native = started(logistic(), solver, 0.0, 0.25);
    let mut y = Vec::new();
    for k in 0..4 {
        let start = 0.25 * f64::from(k);
        y = advance(&mut native, start, start + 0.25, &input.from(start));
    }
    (y[0] - logistic_solution(input.integral(1.0))).abs()
}

fn order(solver: impl Fn(f64) -> Solver, input: &Cubic) -> f64 {
    let [coarse, fine] = [64.0, 256.0].map(|steps| error(&solver(1.0 / steps), input));
    (coarse / fine).log2() / 2.0
}

#[test]
fn euler_has_order_one() {
    for input in &INPUTS {
        let order = order(Solver::Euler, input);
        assert!((0.9..1.2).contains(&order), "{order} under order {}", input.order());
    }
}

#[test]
fn linearly_implicit_euler_has_order_one() {
    for input in &INPUTS {
        let order = order(Solver::LinearImplicit, input);
        assert!((0.9..1.2).contains(&order), "{order} under order {}", input.order());
    }
}

/// Of a stiff linear equation it is backward Euler: right where explicit steps of that length blow up.
#[test]
fn linearly_implicit_euler_is_stable_whatever_its_step() {
    const RATE: f64 = 1e6;
    let lag = || Formulas {
        jacobians: |_, _, model| model.a[0] = -RATE,
        linear: true,
        ..Formulas::new("lag", 1, &[1.0], |_, x, u, x_dot| x_dot[0] = RATE * (u[0] - x[0]))
    };
    let end = |solver: &Solver| {
        let mut native = started(lag(), solver, 0.0, 0.25);
        advance(&mut native, 0.0, 0.25, &INPUTS[0].from(0.0))[0]
    };
    let (steps, u) = (25, INPUTS[0].from(0.0).coefficients(0)[0]);
    let exact = u + (1.0 - u) / (1.0 + 0.01 * RATE).powi(steps);
    assert!((end(&Solver::LinearImplicit(0.01)) - exact).abs() < 1e-9);
    let explicit = end(&Solver::Euler(0.01)).abs();
    assert!(explicit.is_nan() || explicit > 1e6, "{explicit}");
}

#[test]
fn rk4_has_order_four() {
    for input in &INPUTS {
        let order = order(Solver::Rk4, input);
        assert!((3.8..4.3).contains(&order), "{order} under order {}", input.order());
    }
}

/// A hand that turns with the angular velocity 40 u.
fn hand() -> Formulas {
    Formulas::new("hand", 1, &[1.0, 0.0], |_, x, u, x_dot| {
        (x_dot[0], x_dot[1]) = (-40.0 * u[0] * x[1], 40.0 * u[0] * x[0]);
    })
}

#[test]
fn the_error_of_dopri5_follows_its_tolerance() {
    for input in &INPUTS {
        let errors: Vec<_> = (4..=10)
            .map(|digits| {
                let mut native = started(hand(), &Solver::Dopri5(0.1f64.powi(digits)), 0.0, 1.0);
                let y = advance(&mut native, 0.0, 1.0, &input.from(0.0));
                let (sin, cos) = (40.0 * input.integral(1.0)).sin_cos();
                (y[0] - cos).hypot(y[1] - sin)
            })
            .collect();
        println!("order {}: {errors:?}", input.order());
        for (digits, error) in (4..=10).zip(&errors) {
            assert!(*error < 100.0 * 0.1f64.powi(digits), "{error:e} at tolerance 1e-{digits}");
        }
        let decades = (errors[0] / errors[6]).log10();
        assert!((5.0..7.0).contains(&decades), "{decades} decades of error in six of tolerance");
    }
}

#[test]
fn an_inner_step_that_does_not_divide_the_macro_step_is_shortened() {
    for solver in [Solver::Euler(0.06), Solver::Rk4(0.06), Solver::LinearImplicit(0.06)] {
        let mut native = started(logistic(), &solver, 0.0, 0.25);
        native.record(true, &costep_core::Experiment { start: 0.0, stop: 1.0, step: 0.25 });
        advance(&mut native, 0.0, 0.25, &INPUTS[0].from(0.0));
        let times = native.micro_samples().unwrap().times.to_vec();
        assert_eq!(times, [0.0, 0.05, 0.1, 0.15000000000000002, 0.2, 0.25]);
    }
}

#[test]
fn the_number_of_inner_steps_does_not_change_late_in_a_run() {
    let experiment = costep_core::Experiment { start: 0.0, stop: 1e6, step: 1e-3 };
    for solver in [Solver::Euler(1e-5), Solver::Rk4(1e-5)] {
        let mut native = started(logistic(), &solver, 0.0, experiment.step);
        native.record(true, &experiment);
        for first in [0, 100_000, 100_000_000, 900_000_000] {
            for k in first..first + 50 {
                advance_over(&mut native, experiment.interval(k), &INPUTS[0].from(0.0));
                assert_eq!(native.micro_samples().unwrap().times.len(), 101, "step {k} under {solver:?}");
            }
        }
    }
}
