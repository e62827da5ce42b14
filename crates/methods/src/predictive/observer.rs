//! Stationary Kalman filter for the states of one subsystem, driven by the inputs that were really applied; with or
//! without a disturbance d of the inputs, a random walk that leaks.
//!
//! ```text
//! x^(k+1) = E x + G c + G_0 d + noise,  d^(k+1) = 0.98 d + noise,  y = C x + D (u_end + d) + noise
//! Q = input_error^2 G_0 S_u^2 G_0^T + state_error^2 S_x^2,  R = output_error^2 S_y^2
//! ```
//!
//! Everything is in units of the signals; S_x are nominal sizes of the states or what the inputs reach in one step. The
//! Riccati equation is solved by doubling (Anderson 1978) when model or step change. Not for tangent models that change
//! at every step: there z = y - D u_end (`states=outputs`) does better.

use costep_core::LocalModel;
use costep_linalg::{Lu, Matrix};

use super::settings::Noise;
use crate::shared::per_subsystem::row;
use crate::shared::response::Response;

/// What stays of a disturbance from step to step.
const LEAK: f64 = 0.98;
const MAX_DOUBLINGS: usize = 60;
/// Relative change at which doubling rests.
const AT_REST: f64 = 1e-14;

pub(super) struct Observer {
    states: usize,
    /// Number of disturbances: that of the inputs, or none.
    disturbances: usize,
    started: bool,
    /// Prediction of (x, d), and d as estimated.
    predicted: Vec<f64>,
    disturbance: Vec<f64>,
    /// K.
    gain: Matrix,
    innovation: Vec<f64>,
    riccati: Riccati,
}

impl Observer {
    pub(super) fn new((states, inputs, outputs): (usize, usize, usize), disturbance: bool) -> Self {
        let disturbances = if disturbance { inputs } else { 0 };
        let size = states + disturbances;
        Self {
            states,
            disturbances,
            started: false,
            predicted: vec![0.0; size],
            disturbance: vec![0.0; disturbances],
            gain: Matrix::zeros(size, outputs),
            innovation: vec![0.0; outputs],
            riccati: Riccati::new(size, outputs),
        }
    }

    /// A new gain. False if there is none.
    #[must_use]
    pub(super) fn design(
        &mut self,
        model: &LocalModel,
        response: &Response,
        (input_sizes, output_sizes): (&[f64], &[f64]),
        noise: Noise,
    ) -> bool {
        let (n, m, r) = (self.states, model.inputs, model.outputs);
        let width = response.input_to_state.columns() / m.max(1);
        let constant = |i: usize, q: usize| response.input_to_state[(i, q * width)] * input_sizes[q];
        let Riccati { transition, output, noise: q, sizes, .. } = &mut self.riccati;
        for (i, size) in sizes[..n].iter_mut().enumerate() {
            let reach = (0..m).map(|q| constant(i, q).powi(2)).sum::<f64>().sqrt();
            let known = if model.nominal[i] > 0.0 { model.nominal[i] } else { reach };
            *size = if known > 0.0 { known } else { 1.0 };
        }
        sizes[n..].copy_from_slice(&input_sizes[..self.disturbances]);
        transition.fill(0.0);
        q.fill(0.0);
        for i in 0..n {
            for k in 0..n {
                transition[(i, k)] = response.state_to_state[(i, k)] * sizes[k] / sizes[i];
                let common: f64 = (0..m).map(|q| constant(i, q) * constant(k, q)).sum();
                q[(i, k)] = noise.input.powi(2) * common / (sizes[i] * sizes[k]);
            }
            q[(i, i)] += noise.state.powi(2);
            for k in 0..self.disturbances {
                transition[(i, n + k)] = constant(i, k) / sizes[i];
            }
        }
        for k in n..n + self.disturbances {
            transition[(k, k)] = LEAK;
            q[(k, k)] = noise.input.powi(2) * (1.0 - LEAK * LEAK);
        }
        for i in 0..r {
            for k in 0..n {
                output[(i, k)] = model.c[i * n + k] * sizes[k] / output_sizes[i];
            }
            for k in 0..self.disturbances {
                output[(i, n + k)] = model.d[i * m + k] * sizes[n + k] / output_sizes[i];
            }
        }
        self.riccati.gain(noise.output.powi(2), &mut self.gain) && {
            for i in 0..self.gain.rows() {
                for (k, size) in output_sizes.iter().enumerate() {
                    self.gain[(i, k)] *= self.riccati.sizes[i] / size;
                }
            }
            true
        }
    }

    /// x from the prediction and what has been seen; at the start the state of the subsystem.
    pub(super) fn correct(
        &mut self,
        known: &[f64],
        model: &LocalModel,
        (u_end, y): (&[f64], &[f64]),
        x: &mut [f64],
    ) {
        if !self.started {
            self.started = true;
            x.copy_from_slice(known);
            self.disturbance.fill(0.0);
            return;
        }
        let (n, m) = (self.states, model.inputs);
        let (x_predicted, d_predicted) = self.predicted.split_at(n);
        for (i, rest) in self.innovation.iter_mut().enumerate() {
            let disturbed: f64 = d_predicted.iter().enumerate().map(|(q, d)| model.d[i * m + q] * d).sum();
            *rest = y[i] - row(&model.c, i, x_predicted) - row(&model.d, i, u_end) - disturbed;
        }
        self.gain.multiply_add(&self.innovation, &mut self.predicted);
        x.copy_from_slice(&self.predicted[..n]);
        self.disturbance.copy_from_slice(&self.predicted[n..]);
    }

    /// The disturbance as offsets b = B d, beta = D d.
    pub(super) fn offsets(&self, model: &LocalModel, forcing: &mut [f64], beta: &mut [f64]) {
        if self.disturbances > 0 {
            for (i, b) in forcing.iter_mut().enumerate() {
                *b = row(&model.b, i, &self.disturbance);
            }
            for (i, beta) in beta.iter_mut().enumerate() {
                *beta = row(&model.d, i, &self.disturbance);
            }
        }
    }

    /// Whether it estimates a disturbance.
    pub(super) fn disturbs(&self) -> bool {
        self.disturbances > 0
    }

    /// The next state under inputs with these coefficients.
    pub(super) fn predict(&mut self, response: &Response, (x, forcing): (&[f64], &[f64]), c: &[f64]) {
        let (next, d) = self.predicted.split_at_mut(self.states);
        next.fill(0.0);
        response.state_to_state.multiply_add(x, next);
        response.input_to_state.multiply_add(c, next);
        if self.disturbances > 0 {
            response.forcing_to_state.multiply_add(forcing, next);
        }
        d.iter_mut().zip(&self.disturbance).for_each(|(next, d)| *next = LEAK * d);
    }

    pub(super) fn save(&self, values: &mut Vec<f64>) {
        values.push(f64::from(u8::from(self.started)));
        values.extend(self.predicted.iter().chain(&self.disturbance));
    }

    /// Takes its own from the front, gives the rest.
    pub(super) fn load<'a>(&mut self, values: &'a [f64]) -> &'a [f64] {
        let (size, own) = (self.predicted.len(), 1 + self.predicted.len() + self.disturbance.len());
        if values.len() < own {
            return values;
        }
        self.started = values[0] == 1.0;
        self.predicted.copy_from_slice(&values[1..=size]);
        self.disturbance.copy_from_slice(&values[1 + size..own]);
        &values[own..]
    }
}

/// P = F P F^T - F P H^T (H P H^T + R)^-1 H P F^T + Q in scaled units.
struct Riccati {
    /// F, H, Q and the units.
    transition: Matrix,
    output: Matrix,
    noise: Matrix,
    sizes: Vec<f64>,
    a: Matrix,
    g: Matrix,
    p: Matrix,
    lu: Lu,
    solved: Matrix,
    product: Matrix,
    flipped: Matrix,
    small: Lu,
    columns: Vec<f64>,
}

impl Riccati {
    fn new(size: usize, outputs: usize) -> Self {
        let square = || Matrix::zeros(size, size);
        Self {
            transition: square(),
            output: Matrix::zeros(outputs, size),
            noise: square(),
            sizes: vec![1.0; size],
            a: square(),
            g: square(),
            p: square(),
            lu: Lu::new(size),
            solved: square(),
            product: square(),
            flipped: square(),
            small: Lu::new(outputs),
            columns: vec![0.0; size.max(outputs)],
        }
    }

    /// K = P H^T (H P H^T + R)^-1, R = `output_noise` I.
    fn gain(&mut self, output_noise: f64, gain: &mut Matrix) -> bool {
        self.start(output_noise);
        for _ in 0..MAX_DOUBLINGS {
            let Some(change) = self.double() else { return false };
            if change <= AT_REST {
                break;
            }
        }
        let (n, r) = (self.p.rows(), self.output.rows());
        // gain^T first, row by row: (H P H^T + R) K^T = H P.
        let seen = |i: usize, k: usize| (0..n).map(|l| self.output[(i, l)] * self.p[(l, k)]).sum::<f64>();
        for i in 0..r {
            for k in 0..n {
                gain[(k, i)] = seen(i, k);
            }
        }
        let matrix = self.small.matrix_mut();
        for i in 0..r {
            for k in 0..r {
                matrix[(i, k)] = (0..n).map(|l| gain[(l, i)] * self.output[(k, l)]).sum::<f64>()
                    + if i == k { output_noise } else { 0.0 };
            }
        }
        if !self.small.factor() {
            return false;
        }
        for k in 0..n {
            let row = &mut self.columns[..r];
            row.copy_from_slice(gain.row(k));
            self.small.solve(row);
            gain.row_mut(k).copy_from_slice(row);
        }
        gain.is_finite()
    }

    /// A = F^T, G = H^T R^-1 H, P = Q.
    fn start(&mut self, output_noise: f64) {
        self.a.set_transpose(&self.transition);
        self.p.copy_from(&self.noise);
        let n = self.p.rows();
        for i in 0..n {
            for k in 0..n {
                let common: f64 =
                    (0..self.output.rows()).map(|l| self.output[(l, i)] * self.output[(l, k)]).sum();
                self.g[(i, k)] = common / output_noise;
            }
        }
    }

    /// One doubling: A' = A W A, G' = G + A W G A^T, P' = P + A^T P W A with W = (I + G P)^-1. Gives the relative change of
    /// P.
    fn double(&mut self) -> Option<f64> {
        let Self { a, g, p, lu, solved, product, flipped, columns, .. } = self;
        let matrix = lu.matrix_mut();
        matrix.set_identity();
        matrix.add_product(1.0, g, p);
        if !lu.factor() {
            return None;
        }
        // G' needs A W G A^T.
        solved.copy_from(g);
        lu.solve_columns(solved, columns);
        product.set_product(a, solved);
        flipped.set_transpose(a);
        g.add_product(1.0, product, flipped);
        symmetrise(g);
        // P' = P + A^T P W A.
        solved.copy_from(a);
        lu.solve_columns(solved, columns);
        product.set_product(p, solved);
        let before = p.norm_1();
        let change = {
            let mut sum = 0f64;
            // A^T (P W A), its norm taken before it is added.
            for i in 0..p.rows() {
                for k in 0..p.rows() {
                    let entry: f64 = (0..p.rows()).map(|l| a[(l, i)] * product[(l, k)]).sum();
                    flipped[(i, k)] = entry;
                    sum = sum.max(entry.abs());
                }
            }
            sum
        };
        p.add_scaled(1.0, flipped);
        symmetrise(p);
        // A' = A W A.
        product.set_product(a, solved);
        std::mem::swap(a, product);
        (p.is_finite() && g.is_finite()).then_some(change / before.max(f64::MIN_POSITIVE))
    }
}

fn symmetrise(matrix: &mut Matrix) {
    for i in 0..matrix.rows() {
        for k in 0..i {
            let mean = 0.5 * (matrix[(i, k)] + matrix[(k, i)]);
            (matrix[(i, k)], matrix[(k, i)]) = (mean, mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::response::ResponseWorkspace;

    const H: f64 = 0.01;
    const NOISE: Noise = Noise { input: 0.1, output: 1e-4, state: 1e-4 };

    /// A lightly damped oscillator of 20 rad/s of which only the position is seen.
    fn oscillator() -> (LocalModel, Response) {
        let mut model = LocalModel::new(2, 1, 1);
        model.a.copy_from_slice(&[0.0, 1.0, -400.0, -0.4]);
        (model.b[1], model.c[0]) = (400.0, 1.0);
        model.nominal.copy_from_slice(&[1.0, 20.0]);
        let mut response = Response::new(2, 1, 1, 1);
        assert!(response.compute(&model, H, &mut ResponseWorkspace::default()));
        (model, response)
    }

    /// Largest error of the estimate, relative to the sizes of the states, over the last of 600 steps that start with a
    /// wrong state; the real input is larger than the known one by `unknown`.
    fn late_error(disturbance: bool, unknown: f64) -> f64 {
        let (model, response) = oscillator();
        let mut observer = Observer::new((2, 1, 1), disturbance);
        assert!(observer.design(&model, &response, (&[1.0], &[1.0]), NOISE));
        let (mut x, mut estimate, mut worst) = ([0.5, -3.0], [0.0, 0.0], 0.0_f64);
        for k in 0..600 {
            observer.correct(&[-1.0, 10.0], &model, (&[0.0], &x[..1]), &mut estimate);
            if k > 500 {
                let error = ((estimate[0] - x[0]).abs()).max((estimate[1] - x[1]).abs() / 20.0);
                worst = worst.max(error);
            }
            let (mut forcing, mut beta, known) = ([0.0; 2], [0.0; 1], (0.07 * f64::from(k)).sin());
            observer.offsets(&model, &mut forcing, &mut beta);
            observer.predict(&response, (&estimate, &forcing), &[known]);
            let mut next = [0.0; 2];
            response.state_to_state.multiply_add(&x, &mut next);
            response.input_to_state.multiply_add(&[known + unknown], &mut next);
            x = next;
        }
        worst
    }

    #[test]
    fn a_wrong_start_is_forgotten() {
        for disturbance in [false, true] {
            let error = late_error(disturbance, 0.0);
            assert!(error < 1e-6, "{error}");
        }
    }

    /// An unknown constant force of half the size of the known one.
    #[test]
    fn a_disturbance_is_found_where_it_is_looked_for() {
        let (without, with) = (late_error(false, 0.5), late_error(true, 0.5));
        assert!(with < 0.2 * without && with < 2e-3, "{with} {without}");
    }
}
