//! Exact steps of linear systems.

mod common;

use common::{Formulas, advance, describe, logistic, nothing, started};
use costep_core::{Code, Experiment, InputPolynomials, MicroRecorder, Telemetry};
use costep_integrate::{Integrated, Solver};

const OMEGA: f64 = 7.0;

/// x'' = u - omega^2 x.
fn oscillator() -> Formulas {
    let mut ode = Formulas::new("oscillator", 1, &[0.3, -1.0], |_, x, u, x_dot| {
        (x_dot[0], x_dot[1]) = (x[1], u[0] - OMEGA * OMEGA * x[0]);
    });
    ode.jacobians = |_, _, model| {
        model.a.copy_from_slice(&[0.0, 1.0, -OMEGA * OMEGA, 0.0]);
        model.b.copy_from_slice(&[0.0, 1.0]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    };
    ode.linear = true;
    ode
}

fn quadratic([c0, c1, c2]: [f64; 3]) -> InputPolynomials {
    let mut input = InputPolynomials::new(1, 2);
    for (a, c) in [c0, c1, c2].into_iter().enumerate() {
        input.coefficients_mut(a)[0] = c;
    }
    input
}

/// Position and velocity after `t` under the input c0 + c1 t + c2 t^2, from (x, v).
fn solution([x, v]: [f64; 2], [c0, c1, c2]: [f64; 3], t: f64) -> [f64; 2] {
    let square = OMEGA * OMEGA;
    let rest = |t: f64| (c0 + t * (c1 + t * c2) - 2.0 * c2 / square) / square;
    let rest_rate = |t: f64| (c1 + 2.0 * c2 * t) / square;
    let (a, b) = (x - rest(0.0), (v - rest_rate(0.0)) / OMEGA);
    let (sin, cos) = (OMEGA * t).sin_cos();
    [a * cos + b * sin + rest(t), OMEGA * (b * cos - a * sin) + rest_rate(t)]
}

const PUSHES: [[f64; 3]; 4] = [[5.0, 0.0, 0.0], [1.0, -30.0, 0.0], [2.0, 10.0, -80.0], [0.0, 0.0, 40.0]];

#[test]
fn an_oscillator_under_quadratic_input_is_exact() {
    let experiment = Experiment { start: 0.0, stop: 2.0, step: 0.5 };
    let mut native = started(oscillator(), &Solver::Exact, 0.0, 0.5);
    native.record(true, &experiment);
    let mut state = [0.3, -1.0];
    for (k, push) in (0..).zip(PUSHES) {
        let start = experiment.time(k);
        let y = advance(&mut native, start, start + 0.5, &quadratic(push));
        let samples = native.micro_samples().unwrap();
        for (t, y) in samples.times.iter().zip(samples.outputs.chunks(2)) {
            let exact = solution(state, push, t - start);
            assert!((y[0] - exact[0]).abs() < 1e-13 && (y[1] - exact[1]).abs() < 1e-12, "{y:?} {exact:?}");
        }
        state = solution(state, push, 0.5);
        assert!((y[0] - state[0]).abs() < 1e-13 && (y[1] - state[1]).abs() < 1e-12, "{y:?} {state:?}");
    }
}

/// The trapezoidal rule over 20 points took a part with modes of a twentieth of a step for another one.
#[test]
fn means_over_exact_steps_are_exact() {
    let experiment = Experiment { start: 0.0, stop: 40.0, step: 10.0 };
    let mut native = started(oscillator(), &Solver::Exact, 0.0, 10.0);
    native.record(true, &experiment);
    let mut state = [0.3, -1.0];
    for (k, push) in (0..).zip(PUSHES) {
        let start = experiment.time(k);
        advance(&mut native, start, start + 10.0, &quadratic(push));
        let end = solution(state, push, 10.0);
        // x'' = u - omega^2 x and x' = v, integrated.
        let mean_push = push[0] + 10.0 * (push[1] / 2.0 + 10.0 * push[2] / 3.0);
        let position = (mean_push - (end[1] - state[1]) / 10.0) / (OMEGA * OMEGA);
        let velocity = (end[0] - state[0]) / 10.0;
        let mean = native.micro_samples().unwrap().known_mean.unwrap();
        assert!(
            (mean[0] - position).abs() < 1e-11 && (mean[1] - velocity).abs() < 1e-10,
            "{mean:?} {position} {velocity}"
        );
        state = end;
    }
}

#[test]
fn exact_steps_agree_with_dopri5() {
    let [mut exact, mut dopri5] =
        [Solver::Exact, Solver::Dopri5(1e-12)].map(|solver| started(oscillator(), &solver, 0.0, 0.5));
    for (k, push) in (0..).zip(PUSHES) {
        let (start, input) = (0.5 * f64::from(k), quadratic(push));
        let (a, b) = (
            advance(&mut exact, start, start + 0.5, &input),
            advance(&mut dopri5, start, start + 0.5, &input),
        );
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-10), "{a:?} {b:?}");
    }
}

#[test]
fn the_input_order_and_the_step_may_change() {
    let mut native = started(oscillator(), &Solver::Exact, 0.0, 0.5);
    let mut held = InputPolynomials::new(1, 0);
    held.coefficients_mut(0)[0] = 5.0;
    advance(&mut native, 0.0, 0.5, &held);
    advance(&mut native, 0.5, 0.6, &quadratic([5.0, 0.0, 0.0]));
    let y = advance(&mut native, 0.6, 1.6, &held);
    let exact = solution([0.3, -1.0], [5.0, 0.0, 0.0], 1.6);
    assert!((y[0] - exact[0]).abs() < 1e-13 && (y[1] - exact[1]).abs() < 1e-12, "{y:?} {exact:?}");
}

#[test]
fn late_in_a_run_the_phase_is_still_right() {
    // Macro steps differ from 1 ms by round-off, always in the same way if the map were made from the first.
    let experiment = Experiment { start: 1e6, stop: 2e6, step: 1e-3 };
    let mut native = started(oscillator(), &Solver::Exact, experiment.start, experiment.step);
    let input = quadratic([5.0, 0.0, 0.0]);
    let steps = 20_000;
    let mut y = Vec::new();
    for k in 0..steps {
        y = advance(&mut native, experiment.time(k), experiment.time(k + 1), &input);
    }
    let exact = solution([0.3, -1.0], [5.0, 0.0, 0.0], steps as f64 * 1e-3);
    assert!((y[0] - exact[0]).abs() < 1e-10 && (y[1] - exact[1]).abs() < 1e-9, "{y:?} {exact:?}");
}

#[test]
fn only_linear_equations_have_exact_steps() {
    let error = Integrated::new(logistic(), &Solver::Exact).err().unwrap();
    assert_eq!(error.code(), Code::BadValue);
    assert!(error.to_string().contains("`logistic`"), "{error}");
}

#[test]
fn equations_without_states_are_linear_too() {
    let mut gain = Formulas::new("gain", 1, &[], |_, _, _, _| {});
    gain.description = describe("gain", 1, &[&[0]]);
    gain.g = |_, _, u, y| y[0] = 3.0 * u[0];
    gain.jacobians = |_, _, model| model.d[0] = 3.0;
    gain.linear = true;
    let mut constant = Formulas::new("constant", 0, &[], |_, _, _, _| {});
    constant.description = describe("constant", 0, &[&[]]);
    constant.g = |_, _, _, y| y[0] = 4.0;
    constant.jacobians = |_, _, _| {};
    constant.linear = true;
    for solver in [Solver::Exact, Solver::Euler(0.1), Solver::Rk4(0.1), Solver::Dopri5(1e-6)] {
        let mut native = started(gain.clone(), &solver, 0.0, 0.5);
        assert_eq!(advance(&mut native, 0.0, 0.5, &quadratic([1.0, 2.0, 4.0])), [9.0]);
        let mut native = started(constant.clone(), &solver, 0.0, 0.5);
        assert_eq!(advance(&mut native, 0.0, 0.5, &nothing()), [4.0]);
    }
}
