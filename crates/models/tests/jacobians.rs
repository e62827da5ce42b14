//! Jacobians are the derivatives of the equations, and say where there is direct feedthrough.

mod common;

use common::{Random, equations, input_sizes, models, state_sizes};
use costep_core::LocalModel;
use costep_integrate::Equations;

const POINTS: usize = 50;
const TIME: f64 = 0.0123;

fn evaluate(equations: &mut dyn Equations, x: &[f64], u: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut x_dot, mut y) = (vec![0.0; x.len()], vec![0.0; equations.description().outputs.len()]);
    equations.derivatives(TIME, x, u, &mut x_dot).unwrap();
    equations.outputs(TIME, x, u, &mut y).unwrap();
    (x_dot, y)
}

/// Jacobians by central differences. `None` at a kink, where the two one-sided slopes differ.
fn differences(equations: &mut dyn Equations, x: &[f64], u: &[f64], sizes: &[f64]) -> Option<LocalModel> {
    let (n, m) = (x.len(), u.len());
    let here = evaluate(equations, x, u);
    let mut model = LocalModel::new(n, m, here.1.len());
    for (j, size) in sizes.iter().enumerate() {
        let delta = 1e-5 * size;
        let mut moved = |by: f64| {
            let (mut x, mut u) = (x.to_vec(), u.to_vec());
            if j < n {
                x[j] += by
            } else {
                u[j - n] += by
            }
            evaluate(equations, &x, &u)
        };
        let (plus, minus) = (moved(delta), moved(-delta));
        let LocalModel { a, b, c, d, .. } = &mut model;
        let column = |block: &mut Vec<f64>, width: usize, j: usize, [minus, here, plus]: [&[f64]; 3]| {
            (0..here.len()).all(|i| {
                block[i * width + j] = (plus[i] - minus[i]) / (2.0 * delta);
                let bend = (plus[i] - here[i]) - (here[i] - minus[i]);
                bend.abs() <= 1e-3 * (plus[i] - minus[i]).abs() + 1e-9 * here[i].abs()
            })
        };
        let (by_state, by_output) = ([&minus.0[..], &here.0, &plus.0], [&minus.1[..], &here.1, &plus.1]);
        let smooth = if j < n {
            column(a, n, j, by_state) & column(c, n, j, by_output)
        } else {
            column(b, m, j - n, by_state) & column(d, m, j - n, by_output)
        };
        if !smooth {
            return None;
        }
    }
    Some(model)
}

/// Compares row by row, relative to the largest effect that an input of typical size has on the row.
fn assert_close(name: &str, exact: &[f64], quotient: &[f64], sizes: &[f64]) {
    for (exact, quotient) in exact.chunks(sizes.len()).zip(quotient.chunks(sizes.len())) {
        let effect =
            |row: &[f64]| row.iter().zip(sizes).map(|(c, size)| (c * size).abs()).fold(0.0, f64::max);
        let error: Vec<_> = exact.iter().zip(quotient).map(|(a, b)| a - b).collect();
        assert!(effect(&error) <= 1e-6 * effect(exact), "{name}: {exact:?} is not {quotient:?}");
    }
}

fn check(name: &str, equations: &mut dyn Equations, random: &mut Random) {
    let (state_sizes, input_sizes) = (state_sizes(equations), input_sizes(equations));
    let sizes = [&state_sizes[..], &input_sizes[..]].concat();
    let mut smooth = 0;
    for _ in 0..POINTS {
        let (x, u) = (random.point(&state_sizes), random.point(&input_sizes));
        let mut exact = LocalModel::new(x.len(), u.len(), equations.description().outputs.len());
        equations.jacobians(TIME, &x, &u, &mut exact).unwrap();
        let Some(quotient) = differences(equations, &x, &u, &sizes) else { continue };
        smooth += 1;
        assert_close(name, &exact.a, &quotient.a, &state_sizes);
        assert_close(name, &exact.c, &quotient.c, &state_sizes);
        if !u.is_empty() {
            assert_close(name, &exact.b, &quotient.b, &input_sizes);
            assert_close(name, &exact.d, &quotient.d, &input_sizes);
        }
    }
    assert!(smooth > POINTS * 9 / 10, "{name}: only {smooth} points were away from kinks");
}

#[test]
fn jacobians_of_parts_are_their_derivatives() {
    let mut random = Random(1);
    for (id, model) in models() {
        for mut part in equations(&model) {
            let name = format!("{id} {}", part.description().name);
            check(&name, &mut *part, &mut random);
        }
    }
}

#[test]
fn jacobians_of_the_monolithic_twin_are_its_derivatives() {
    let mut random = Random(2);
    for (id, model) in models() {
        check(&id, &mut model.monolithic().unwrap(), &mut random);
    }
}

#[test]
fn what_passes_straight_through_is_declared() {
    let mut random = Random(3);
    for (id, model) in models() {
        for mut part in equations(&model) {
            let description = part.description().clone();
            let (x, u) = (random.point(&state_sizes(&*part)), random.point(&input_sizes(&*part)));
            let mut local = LocalModel::new(x.len(), u.len(), description.outputs.len());
            part.jacobians(TIME, &x, &u, &mut local).unwrap();
            let through = |row: &[f64]| (0..u.len()).filter(|j| row[*j] != 0.0).collect::<Vec<_>>();
            let pattern: Vec<_> = local.d.chunks(u.len()).map(through).collect();
            assert_eq!(pattern, description.feedthrough, "{id} {}", description.name);
        }
    }
}

#[test]
fn linear_parts_are_their_jacobians() {
    let mut random = Random(4);
    for (id, model) in models() {
        for part in equations(&model).iter_mut().filter(|part| part.is_linear()) {
            let (x, u) = (random.point(&state_sizes(&**part)), random.point(&input_sizes(&**part)));
            let mut local = LocalModel::new(x.len(), u.len(), part.description().outputs.len());
            part.jacobians(TIME, &[9.0, 9.0], &u, &mut local).unwrap();
            let (x_dot, y) = evaluate(&mut **part, &x, &u);
            let product = |a: &[f64], b: &[f64], i: usize| {
                let row = |m: &[f64], v: &[f64]| -> f64 {
                    m[i * v.len()..][..v.len()].iter().zip(v).map(|(m, v)| m * v).sum()
                };
                row(a, &x) + row(b, &u)
            };
            let close = |value: f64, sum: f64| assert!((value - sum).abs() <= 1e-9 * value.abs(), "{id}");
            x_dot.iter().enumerate().for_each(|(i, value)| close(*value, product(&local.a, &local.b, i)));
            y.iter().enumerate().for_each(|(i, value)| close(*value, product(&local.c, &local.d, i)));
        }
    }
}
