//! How long offsets last: an offset enters the next step times kappa, the share of it that the last steps proved to stay.
//!
//! ```text
//! states   e = y - D u_end - C xp,   v = C G_b b + beta of the step before;   kappa = sum <v, e> / sum <v, v>
//! outputs  w = G_b^-1 (z - zp),      v = G_b w of the step before;            kappa = sum <v, G_b w> / sum <v, v>
//! ```
//!
//! xp and zp are predictions without offset. The sums forget, and are in units of the outputs. A constant bias gives
//! kappa = 1, an offset that swings faster than the step gives 0. There is nothing to tune.

use costep_core::LocalModel;
use costep_linalg::Lu;

use crate::shared::per_subsystem::row;
use crate::shared::response::Response;

/// What stays of the sums from step to step.
const MEMORY: f64 = 0.9;

pub(super) struct Persistence {
    by_outputs: bool,
    started: bool,
    /// Sums <v, e> and <v, v>.
    product: f64,
    square: f64,
    /// b and beta as they were measured.
    measured: (Vec<f64>, Vec<f64>),
    /// v of the step before.
    effect: Vec<f64>,
    /// xp or zp.
    predicted: Vec<f64>,
    /// Factors of G_b, for output form; none if it is singular.
    forcing: Lu,
    regular: bool,
    rest: Vec<f64>,
}

impl Persistence {
    pub(super) fn new(states: usize, outputs: usize, by_outputs: bool) -> Self {
        Self {
            by_outputs,
            started: false,
            product: 0.0,
            square: 0.0,
            measured: (vec![0.0; states], vec![0.0; outputs]),
            effect: vec![0.0; outputs],
            predicted: vec![0.0; states],
            forcing: Lu::new(if by_outputs { states } else { 0 }),
            regular: false,
            rest: vec![0.0; outputs],
        }
    }

    /// Takes a new response.
    pub(super) fn renew(&mut self, response: &Response) {
        if self.by_outputs {
            self.forcing.matrix_mut().copy_from(&response.forcing_to_state);
            self.regular = self.forcing.factor();
        }
    }

    /// Weighs the measured offsets by how long they last. In output form measures them anew, by the last prediction.
    pub(super) fn weigh(
        &mut self,
        model: &LocalModel,
        (u_end, y): (&[f64], &[f64]),
        sizes: &[f64],
        x: &[f64],
        (forcing, beta): (&mut [f64], &mut [f64]),
    ) {
        if self.started {
            for (i, rest) in self.rest.iter_mut().enumerate() {
                let predicted =
                    if self.by_outputs { self.predicted[i] } else { row(&model.c, i, &self.predicted) };
                *rest = if self.by_outputs { x[i] } else { y[i] - row(&model.d, i, u_end) } - predicted;
            }
            self.judge(sizes);
            if self.by_outputs && self.regular {
                forcing.copy_from_slice(&self.rest);
                self.forcing.solve(forcing);
            }
        }
        self.measured.0.copy_from_slice(forcing);
        self.measured.1.copy_from_slice(beta);
        let kappa = self.kappa();
        forcing.iter_mut().chain(beta).for_each(|offset| *offset *= kappa);
        self.started = true;
    }

    /// Sums up how well the offset of the step before explains what the prediction without it missed.
    fn judge(&mut self, sizes: &[f64]) {
        let (mut product, mut square) = (0.0, 0.0);
        for ((v, e), size) in self.effect.iter().zip(&self.rest).zip(sizes) {
            product += v * e / (size * size);
            square += v * v / (size * size);
        }
        self.product = MEMORY * self.product + product;
        self.square = MEMORY * self.square + square;
    }

    /// Trusts the offset as long as nothing is known.
    fn kappa(&self) -> f64 {
        if self.square > 0.0 { (self.product / self.square).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// xp0 = E x + G c without offset, and the effect v that the offset will have had at the end of the step.
    pub(super) fn predict(&mut self, model: &LocalModel, response: &Response, x: &[f64], c: &[f64]) {
        let (forcing, beta) = &self.measured;
        for (i, effect) in self.effect.iter_mut().enumerate() {
            let at_end = |k: usize| row(response.forcing_to_state.data(), k, forcing);
            *effect = if self.by_outputs {
                at_end(i)
            } else {
                let n = model.states;
                beta[i] + (0..n).map(|k| model.c[i * n + k] * at_end(k)).sum::<f64>()
            };
        }
        self.predicted.fill(0.0);
        response.state_to_state.multiply_add(x, &mut self.predicted);
        response.input_to_state.multiply_add(c, &mut self.predicted);
    }

    pub(super) fn save(&self, values: &mut Vec<f64>) {
        values.extend([f64::from(u8::from(self.started)), self.product, self.square]);
        values.extend(self.effect.iter().chain(&self.predicted));
    }

    pub(super) fn load(&mut self, values: &[f64]) {
        let own = 3 + self.effect.len() + self.predicted.len();
        if let [started, product, square, rest @ ..] = values
            && values.len() == own
        {
            (self.started, self.product, self.square) = (*started == 1.0, *product, *square);
            let (effect, predicted) = rest.split_at(self.effect.len());
            self.effect.copy_from_slice(effect);
            self.predicted.copy_from_slice(predicted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::response::ResponseWorkspace;

    /// x' = -3 x + b, y = x; b changes from step to step as `next` says. The share of b that is trusted in the end.
    fn kappa(by_outputs: bool, next: impl Fn(f64) -> f64) -> f64 {
        let mut model = LocalModel::new(1, 1, 1);
        (model.a[0], model.b[0], model.c[0]) = (-3.0, 1.0, 1.0);
        let mut response = Response::new(1, 1, 1, 1);
        assert!(response.compute(&model, 0.1, &mut ResponseWorkspace::default()));
        let mut persistence = Persistence::new(1, 1, by_outputs);
        persistence.renew(&response);
        let (mut x, mut b) = ([0.3], 5.0);
        for _ in 0..60 {
            let (mut forcing, mut beta) = ([b], [0.0]);
            persistence.weigh(&model, (&[0.0], &x), &[1.0], &x, (&mut forcing, &mut beta));
            persistence.predict(&model, &response, &x, &[0.0]);
            b = next(b);
            x[0] = response.state_to_state[(0, 0)] * x[0] + response.forcing_to_state[(0, 0)] * b;
        }
        persistence.kappa()
    }

    #[test]
    fn offsets_are_trusted_as_far_as_they_last() {
        for by_outputs in [false, true] {
            let [lasting, swinging, fading] =
                [kappa(by_outputs, |b| b), kappa(by_outputs, |b| -b), kappa(by_outputs, |b| 0.8 * b)];
            assert!((lasting - 1.0).abs() < 1e-9, "{lasting}");
            assert_eq!(swinging, 0.0);
            assert!((fading - 0.8).abs() < 0.02, "{fading}");
        }
    }
}
