//! The maps against direct integration.

use super::*;

use crate::shared::legendre::polynomial;

/// x' = A x + B u + b by many small RK4 steps, and the moments of y by Simpson's rule.
fn by_integration(
    model: &LocalModel,
    h: f64,
    x0: &[f64],
    c: &[f64],
    b: &[f64],
    width: usize,
) -> (Vec<f64>, Vec<f64>) {
    let (n, m, r) = (model.states, model.inputs, model.outputs);
    let legendre =
        |a: usize, theta: f64| (0..=a).map(|i| coefficient(a, i) * theta.powi(i as i32)).sum::<f64>();
    let input = |theta: f64| -> Vec<f64> {
        (0..m).map(|q| (0..width).map(|a| c[q * width + a] * legendre(a, theta)).sum()).collect()
    };
    let slope = |theta: f64, x: &[f64]| -> Vec<f64> {
        let u = input(theta);
        (0..n)
            .map(|i| {
                let ax: f64 = (0..n).map(|k| model.a[i * n + k] * x[k]).sum();
                let bu: f64 = (0..m).map(|q| model.b[i * m + q] * u[q]).sum();
                h * (ax + bu + b[i])
            })
            .collect()
    };
    let output = |theta: f64, x: &[f64]| -> Vec<f64> {
        let u = input(theta);
        (0..r)
            .map(|i| {
                let cx: f64 = (0..n).map(|k| model.c[i * n + k] * x[k]).sum();
                cx + (0..m).map(|q| model.d[i * m + q] * u[q]).sum::<f64>()
            })
            .collect()
    };
    let add =
        |x: &[f64], f: f64, k: &[f64]| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + f * k).collect() };
    let steps = 2000;
    let dt = 1.0 / f64::from(steps);
    let (mut x, mut moments) = (x0.to_vec(), vec![0.0; r * width]);
    let mut gather = |theta: f64, x: &[f64], weight: f64| {
        for (i, y) in output(theta, x).iter().enumerate() {
            (0..width).for_each(|a| moments[i * width + a] += weight * y * legendre(a, theta));
        }
    };
    for j in 0..steps {
        let theta = f64::from(j) * dt;
        gather(
            theta,
            &x,
            dt / 3.0
                * if j == 0 {
                    1.0
                } else if j % 2 == 1 {
                    4.0
                } else {
                    2.0
                },
        );
        let k1 = slope(theta, &x);
        let k2 = slope(theta + dt / 2.0, &add(&x, dt / 2.0, &k1));
        let k3 = slope(theta + dt / 2.0, &add(&x, dt / 2.0, &k2));
        let k4 = slope(theta + dt, &add(&x, dt, &k3));
        for i in 0..n {
            x[i] += dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    gather(1.0, &x, dt / 3.0);
    (x, moments)
}

/// All four shapes: fewer or more inputs and outputs than states.
#[test]
fn the_maps_are_the_solution_of_the_equations() {
    for (n, m, r) in [(2, 1, 1), (2, 3, 1), (2, 1, 4), (2, 2, 2), (3, 5, 4), (1, 1, 1)] {
        let number = |seed: usize| ((seed * 7919 + n * 31 + m * 17 + r) % 101) as f64 / 50.0 - 1.0;
        let mut model = LocalModel::new(n, m, r);
        let mut seed = 0;
        for values in [&mut model.a, &mut model.b, &mut model.c, &mut model.d] {
            values.iter_mut().for_each(|value| {
                seed += 1;
                *value = number(seed);
            });
        }
        for width in 1..=4 {
            let h = 0.7;
            let vector =
                |length: usize, seed: usize| (0..length).map(|i| number(seed + 3 * i)).collect::<Vec<_>>();
            let (x0, c, b) = (vector(n, 1), vector(m * width, 2), vector(n, 5));
            let mut response = Response::new(n, m, r, width);
            assert!(response.compute(&model, h, &mut ResponseWorkspace::default()));
            let (mut x, mut y) = (vec![0.0; n], vec![0.0; r * width]);
            response.state_to_state.multiply_add(&x0, &mut x);
            response.input_to_state.multiply_add(&c, &mut x);
            response.forcing_to_state.multiply_add(&b, &mut x);
            response.state_to_output.multiply_add(&x0, &mut y);
            response.input_to_output.multiply_add(&c, &mut y);
            response.forcing_to_output.multiply_add(&b, &mut y);
            let (x_expected, y_expected) = by_integration(&model, h, &x0, &c, &b, width);
            for (a, b) in x.iter().chain(&y).zip(x_expected.iter().chain(&y_expected)) {
                assert!((a - b).abs() < 1e-10, "{n} {m} {r} width {width}: {a} {b}");
            }
        }
    }
}

/// The inner steps written out, and the coefficients by least squares over their starts.
#[test]
fn euler_maps_are_those_of_the_inner_steps() {
    let (n, m, r) = (2, 1, 3);
    let mut model = LocalModel::new(n, m, r);
    model.a.copy_from_slice(&[0.0, 1.0, -30.0, -2.0]);
    model.b.copy_from_slice(&[0.3, 4.0]);
    model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0, 5.0, -2.0]);
    model.d.copy_from_slice(&[0.0, 0.5, -1.0]);
    let (h, x0, b) = (0.4, [1.0, -2.0], [0.7, -0.2]);
    for (width, steps) in [(1, 1), (3, 1), (3, 2), (3, 7), (4, 64), (2, 100)] {
        let c: Vec<f64> = (0..width).map(|a| 1.0 - 0.4 * a as f64).collect();
        let mut response = Response::new(n, m, r, width);
        assert!(response.compute_euler(&model, h, steps, &mut ResponseWorkspace::default()));
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; r * width]);
        response.state_to_state.multiply_add(&x0, &mut x);
        response.input_to_state.multiply_add(&c, &mut x);
        response.forcing_to_state.multiply_add(&b, &mut x);
        response.state_to_output.multiply_add(&x0, &mut y);
        response.input_to_output.multiply_add(&c, &mut y);
        response.forcing_to_output.multiply_add(&b, &mut y);
        let (mut state, mut outputs) = (x0.to_vec(), Vec::new());
        for j in 0..steps {
            let theta = j as f64 / steps as f64;
            let u: f64 = (0..width).map(|a| c[a] * polynomial(a, theta)).sum();
            // With fewer points than coefficients, D passes on the part of the input that is known.
            let seen: f64 = (0..width.min(steps)).map(|a| c[a] * polynomial(a, theta)).sum();
            outputs.push((
                theta,
                (0..r)
                    .map(|i| model.c[2 * i] * state[0] + model.c[2 * i + 1] * state[1] + model.d[i] * seen)
                    .collect::<Vec<_>>(),
            ));
            let slope = [state[1] + 0.3 * u + b[0], -30.0 * state[0] - 2.0 * state[1] + 4.0 * u + b[1]];
            (0..2).for_each(|i| state[i] += h / steps as f64 * slope[i]);
        }
        for i in 0..n {
            assert!((x[i] - state[i]).abs() < 1e-11, "{width} {steps}: {x:?} {state:?}");
        }
        for i in 0..r {
            // The residual of the projection is orthogonal to every polynomial that counts.
            for a in 0..width.min(steps) {
                let product: f64 = outputs
                    .iter()
                    .map(|(theta, values)| {
                        let fit: f64 = (0..width).map(|a| y[i * width + a] * polynomial(a, *theta)).sum();
                        (values[i] - fit) * polynomial(a, *theta)
                    })
                    .sum();
                assert!(product.abs() < 1e-8 * steps as f64, "{width} {steps} {i} {a}: {product}");
            }
        }
    }
}
