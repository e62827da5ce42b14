//! The monolithic twin of coupled parts.

mod common;

use common::{Formulas, advance, describe, nothing, started};
use costep_core::{Code, Connection, External, LocalModel, Result};
use costep_integrate::{Equations, Solver, Whole};

/// x' = -x^3 + u, y = (x^2, x): no feedthrough. Energy x^2.
fn cubic() -> Formulas {
    let mut ode = Formulas::new("cubic", 1, &[0.5], |_, x, u, x_dot| x_dot[0] = u[0] - x[0].powi(3));
    ode.description = describe("cubic", 1, &[&[], &[]]);
    ode.g = |_, x, _, y| (y[0], y[1]) = (x[0] * x[0], x[0]);
    ode.jacobians = |x, _, model| {
        (model.a[0], model.b[0]) = (-3.0 * x[0] * x[0], 1.0);
        model.c.copy_from_slice(&[2.0 * x[0], 1.0]);
        model.d.fill(0.0);
    };
    ode.energy = |x, _| Some(x[0] * x[0]);
    ode
}

/// x' = u - x, y = x + sin u: feedthrough. Energy u^2.
fn sine(name: &str) -> Formulas {
    let mut ode = Formulas::new(name, 1, &[0.25], |_, x, u, x_dot| x_dot[0] = u[0] - x[0]);
    ode.description = describe(name, 1, &[&[0]]);
    ode.g = |_, x, u, y| y[0] = x[0] + u[0].sin();
    ode.jacobians = |_, u, model| {
        (model.a[0], model.b[0], model.c[0], model.d[0]) = (-1.0, 1.0, 1.0, u[0].cos());
    };
    ode.energy = |_, u| Some(u[0] * u[0]);
    ode
}

fn twin_of(
    parts: &[Formulas],
    connections: &[Connection],
    externals: Vec<(usize, External)>,
) -> Result<Whole> {
    let parts = parts.iter().map(|part| Box::new(part.clone()) as Box<dyn Equations>).collect();
    Whole::new(parts, connections, externals).map(Whole::without_events)
}

fn connect(output: usize, input: usize, gain: f64) -> Connection {
    Connection { output, input, gain }
}

/// cubic -> b -> c -> cubic, with a gain, a sum and an external input; listed as given by `order`.
fn ring(order: [usize; 3]) -> Whole {
    let all = [cubic(), sine("b"), sine("c")];
    let place = |i: usize| order.iter().position(|other| *other == i).unwrap();
    let outputs_before = |p: usize| order[..p].iter().map(|i| if *i == 0 { 2 } else { 1 }).sum::<usize>();
    let [a, b, c] = [0, 1, 2].map(place);
    let [ya, yb, yc] = [a, b, c].map(outputs_before);
    let connections =
        [connect(ya, b, 2.0), connect(yb, c, -0.5), connect(ya + 1, c, 1.0), connect(yc, a, 1.0)];
    let outside = External::Sine { amplitude: 1.0, frequency: 0.5, phase: 0.0, start: 0.0 };
    twin_of(&order.map(|i| all[i].clone()), &connections, vec![(b, outside)]).unwrap()
}

/// Outputs of the ring with the parts listed in order, written down by hand.
fn ring_outputs(t: f64, x: [f64; 3]) -> [f64; 4] {
    let ub = 2.0 * x[0] * x[0] + (std::f64::consts::PI * t).sin();
    let yb = x[1] + ub.sin();
    let uc = -0.5 * yb + x[0];
    [x[0] * x[0], x[0], yb, x[2] + uc.sin()]
}

#[test]
fn outputs_are_consistent_in_any_order_of_the_parts() {
    for (order, outputs) in [
        ([0, 1, 2], [0, 1, 2, 3]),
        ([2, 1, 0], [3, 2, 0, 1]),
        ([1, 2, 0], [2, 3, 0, 1]),
        ([2, 0, 1], [3, 0, 1, 2]),
    ] {
        let mut ring = ring(order);
        let mut y = [0.0; 4];
        for (t, x) in [(0.3, [0.5, -0.2, 0.7]), (0.4, [1.5, 0.1, -0.3]), (0.0, [0.0, 0.0, 0.0])] {
            let exact = ring_outputs(t, x);
            ring.outputs(t, &order.map(|i| x[i]), &[], &mut y).unwrap();
            let error = y.iter().zip(outputs).map(|(y, i)| (y - exact[i]).abs()).fold(0.0, f64::max);
            assert!(error < 1e-15, "{order:?} at {t}: {error:e}");
        }
    }
}

#[test]
fn a_signal_from_outside_passes_straight_through() {
    // No connection at all: the output of level zero depends on the signal alone.
    let outside = External::Table(vec![(0.0, 0.0), (1.0, 1.0)]);
    let mut twin = twin_of(&[sine("b")], &[], vec![(0, outside)]).unwrap();
    let mut y = [0.0];
    for t in [0.5, 0.25, 0.75] {
        twin.outputs(t, &[2.0], &[], &mut y).unwrap();
        assert_eq!(y[0], 2.0 + t.sin(), "at {t}");
    }
}

#[test]
fn jacobians_are_the_derivatives() {
    let (mut ring, t) = (ring([0, 1, 2]), 0.3);
    for x in [[0.5, -0.2, 0.7], [1.5, 0.1, -0.3], [-0.8, 2.0, 0.4]] {
        let mut model = LocalModel::new(3, 0, 4);
        ring.jacobians(t, &x, &[], &mut model).unwrap();
        for j in 0..3 {
            let delta = 1e-5;
            let mut moved = |sign: f64| {
                let (mut x, mut x_dot, mut y) = (x, [0.0; 3], [0.0; 4]);
                x[j] += sign * delta;
                ring.derivatives(t, &x, &[], &mut x_dot).unwrap();
                ring.outputs(t, &x, &[], &mut y).unwrap();
                (x_dot, y)
            };
            let (plus, minus) = (moved(1.0), moved(-1.0));
            let close = |exact: f64, plus: f64, minus: f64| {
                let quotient = (plus - minus) / (2.0 * delta);
                assert!((exact - quotient).abs() < 1e-8, "{exact} {quotient}");
            };
            (0..3).for_each(|i| close(model.a[3 * i + j], plus.0[i], minus.0[i]));
            (0..4).for_each(|i| close(model.c[3 * i + j], plus.1[i], minus.1[i]));
        }
    }
}

/// y1 = x1 + sin(gain y2), y2 = x2 + sin(y1).
#[test]
fn outputs_that_depend_on_themselves_are_solved_for() {
    for gain in [0.1, 1.0, -3.0] {
        let connections = [connect(0, 1, 1.0), connect(1, 0, gain)];
        let mut twin = twin_of(&[sine("b"), sine("c")], &connections, vec![]).unwrap();
        let (mut y, mut x_dot) = ([0.0; 2], [0.0; 2]);
        for x in [[0.1, 0.2], [0.5, -0.3], [-0.4, 0.9]] {
            twin.outputs(0.0, &x, &[], &mut y).unwrap();
            let rest = [y[0] - x[0] - (gain * y[1]).sin(), y[1] - x[1] - y[0].sin()];
            assert!(rest.iter().all(|r| r.abs() < 1e-12), "{gain}: {rest:?}");
            twin.derivatives(0.0, &x, &[], &mut x_dot).unwrap();
            assert!(
                (x_dot[0] - (gain * y[1] - x[0])).abs() < 1e-12 && (x_dot[1] - (y[0] - x[1])).abs() < 1e-12
            );
        }
    }
}

#[test]
fn loops_without_a_solution_are_shown() {
    let mut square = sine("a");
    square.g = |_, _, u, y| y[0] = u[0] * u[0] + 1.0;
    let connections = [connect(0, 1, 1.0), connect(1, 0, 1.0)];
    let mut through = sine("b");
    through.g = |_, _, u, y| y[0] = u[0];
    let mut twin = twin_of(&[square, through], &connections, vec![]).unwrap();
    let error = twin.outputs(0.5, &[0.0, 0.0], &[], &mut [0.0; 2]).unwrap_err();
    assert_eq!(error.code(), Code::AlgebraicLoop);
    let text = error.to_string();
    assert!(text.contains("a.y0 -> b.u0 -> b.y0 -> a.u0 -> a.y0") && text.contains("residual"), "{text}");
}

#[test]
fn energy_is_that_of_the_state_it_is_asked_for() {
    let mut ring = ring([0, 1, 2]);
    let energy = |x: [f64; 3]| {
        let [_, _, yb, _] = ring_outputs(0.3, x);
        let ub = 2.0 * x[0] * x[0] + (std::f64::consts::PI * 0.3).sin();
        x[0] * x[0] + ub * ub + (-0.5 * yb + x[0]).powi(2)
    };
    for x in [[0.5, -0.2, 0.7], [1.5, 0.1, -0.3]] {
        ring.outputs(0.3, &x, &[], &mut [0.0; 4]).unwrap();
        assert!((ring.energy(&x, &[]).unwrap() - energy(x)).abs() < 1e-14);
    }
}

#[test]
fn the_twin_is_linear_if_its_parts_are_and_nothing_comes_from_outside() {
    let mut lag = Formulas::new("lag", 1, &[1.0], |_, x, u, x_dot| x_dot[0] = u[0] - x[0]);
    lag.jacobians = |_, _, model| (model.a[0], model.b[0], model.c[0], model.d[0]) = (-1.0, 1.0, 1.0, 0.0);
    lag.linear = true;
    let twin = |list: &[Formulas], externals: Vec<_>| {
        twin_of(list, &[connect(0, 1, -1.0), connect(1, 0, 1.0)], externals).unwrap()
    };
    assert!(!twin(&[lag.clone(), sine("b")], vec![]).is_linear());
    assert!(!twin(&[lag.clone(), lag.clone()], vec![(0, External::Constant(1.0))]).is_linear());
    // x1' = x2 - x1, x2' = -x1 - x2: a spiral, e^-t (cos t, sin t) turned.
    let spiral = twin(&[lag.clone(), lag], vec![]);
    assert!(spiral.is_linear());
    let y = advance(&mut started(spiral, &Solver::Exact, 0.0, 2.0), 0.0, 2.0, &nothing());
    let (decay, (sin, cos)) = ((-2.0f64).exp(), 2.0f64.sin_cos());
    assert!((y[0] - decay * (cos + sin)).abs() < 1e-14 && (y[1] - decay * (cos - sin)).abs() < 1e-14);
}
