//! Step 3 of pre-step stabilisation: the input that takes one subsystem to the predicted output [T (2.44) to (2.50)].

use costep_core::LocalModel;
use costep_ident::convert::OutputForm;
use costep_linalg::{Exponential, Matrix, PseudoInverse};

use super::settings::Settings;
use crate::shared::parts::row;
use crate::shared::response::{Response, Workshop};

/// Singular values of P below this share of the greatest count as zero.
const CUT: f64 = 1e-9;

/// One subsystem in output form.
#[derive(Default)]
pub(super) struct Part {
    pub(super) model: LocalModel,
    output_form: OutputForm,
    pub(super) response: Response,
    quadrature: Quadrature,
    /// C of the subsystem, by which z' = C x'.
    pub(super) c: Matrix,
    pub(super) d: Matrix,
    is_constant: bool,
    /// phi_B + phi_A D: y(h) from a held input.
    held: Matrix,
    /// P: y(h) from what is optimised, a held input or a slope.
    gain: Matrix,
    scaled_gain: Matrix,
    inverse: Matrix,
    work: PseudoInverse,
}

impl Part {
    pub(super) fn update(
        &mut self,
        exact: &LocalModel,
        h: f64,
        settings: &Settings,
        shop: &mut Workshop,
    ) -> Result<(), &'static str> {
        let Settings { ramp, phi_steps: steps, width, .. } = *settings;
        let (m, r) = (exact.inputs, exact.outputs);
        if (self.model.states, self.model.inputs) != (r, m) || self.c.columns() != exact.states {
            self.model = LocalModel::new(r, m, r);
            self.output_form = OutputForm::new(exact);
            self.response = Response::new(r, m, r, width);
            self.quadrature = Quadrature::new(r, m);
            (self.c, self.d) = (Matrix::zeros(r, exact.states), Matrix::zeros(r, m));
            (self.gain, self.scaled_gain) = (Matrix::zeros(r, m), Matrix::zeros(r, m));
            self.held = Matrix::zeros(r, m);
            (self.inverse, self.work) = (Matrix::zeros(m, r), PseudoInverse::new(r, m));
        }
        self.is_constant = exact.is_constant;
        self.c.data_mut().copy_from_slice(&exact.c);
        self.d.data_mut().copy_from_slice(&exact.d);
        self.output_form.convert(exact, &mut self.model);
        if !self.response.compute(&self.model, h, shop) {
            return Err("its response over one step is not finite");
        }
        if steps > 0 {
            let phi_a = &self.response.state_to_state;
            let gain = if ramp { Some(&mut self.gain) } else { None };
            if !self.quadrature.compute(&self.model, (h, steps), phi_a, &mut self.held, gain) {
                return Err("its discretisation over one step is not finite");
            }
        } else {
            self.exact_gains(h, ramp);
        }
        if !ramp {
            self.gain.copy_from(&self.held);
        }
        Ok(())
    }

    fn exact_gains(&mut self, h: f64, ramp: bool) {
        let (m, width) = (self.model.inputs, self.response.width());
        for i in 0..self.gain.rows() {
            for q in 0..m {
                let d = self.model.d[i * m + q];
                self.held[(i, q)] = self.response.input_to_state[(i, width * q)] + d;
                if ramp {
                    self.gain[(i, q)] = self.response.to_ramp(i, q, h) + h * d;
                }
            }
        }
    }

    /// z = y - D u_end, and w = z' - S_y z - C B u_end if x' is given.
    pub(super) fn locate(
        &self,
        (y, u_end): (&[f64], &[f64]),
        x_dot: Option<&[f64]>,
        (z, w): (&mut [f64], &mut [f64]),
    ) {
        for (k, (z, y)) in z.iter_mut().zip(y).enumerate() {
            *z = y - row(self.d.data(), k, u_end);
        }
        if let Some(x_dot) = x_dot {
            for (k, w) in w.iter_mut().enumerate() {
                let z_dot = row(self.c.data(), k, x_dot);
                *w = z_dot - row(&self.model.a, k, z) - row(&self.model.b, k, u_end);
            }
        }
    }

    /// reference += P^+ (yhat - phi_A z - (response to w) - P u_ref), and to the start of a ramp.
    pub(super) fn optimise(
        &self,
        (z, w): (&[f64], &[f64]),
        y_ahead: &[f64],
        ramp_start: Option<&[f64]>,
        (reference, rest): (&mut [f64], &mut [f64]),
    ) {
        rest.copy_from_slice(y_ahead);
        let subtract = |map: &Matrix, x: &[f64], rest: &mut [f64]| {
            for (i, rest) in rest.iter_mut().enumerate() {
                *rest -= row(map.data(), i, x);
            }
        };
        subtract(&self.response.state_to_state, z, rest);
        subtract(&self.response.forcing_to_state, w, rest);
        subtract(&self.gain, reference, rest);
        if let Some(u0) = ramp_start {
            subtract(&self.held, u0, rest);
        }
        self.inverse.multiply_add(rest, reference);
    }

    /// Whether all that a step uses is the same for another part, and will stay so.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.is_constant
            && other.is_constant
            && self.model.same_matrices(&other.model)
            && self.c == other.c
            && self.gain == other.gain
            && self.inverse == other.inverse
    }

    /// inverse = P^+ over the inputs of the group, in units of the signals if their sizes are given.
    pub(super) fn invert(&mut self, ours: &[bool], sizes: Option<(&[f64], &[f64])>) {
        let output_size = |i: usize| sizes.map_or(1.0, |(outputs, _)| outputs[i]);
        let input_size = |q: usize| sizes.map_or(1.0, |(_, inputs)| inputs[q]);
        for i in 0..self.gain.rows() {
            for (q, is_ours) in ours.iter().enumerate() {
                let gain = if *is_ours { self.gain[(i, q)] } else { 0.0 };
                self.scaled_gain[(i, q)] = gain * input_size(q) / output_size(i);
            }
        }
        self.work.compute(&self.scaled_gain, CUT, &mut self.inverse);
        for q in 0..ours.len() {
            for i in 0..self.gain.rows() {
                self.inverse[(q, i)] *= input_size(q) / output_size(i);
            }
        }
    }
}

/// phi_B, phi_C and phi_D by sums over so many intermediate values (stepsDiscreteSystemMatrices).
#[derive(Default)]
struct Quadrature {
    method: Exponential,
    generator: Matrix,
    /// e^(S_y dt) and its powers.
    step: Matrix,
    power: Matrix,
    work: Matrix,
    /// S_u and D.
    s_u: Matrix,
    d: Matrix,
}

impl Quadrature {
    fn new(outputs: usize, inputs: usize) -> Self {
        let square = || Matrix::zeros(outputs, outputs);
        Self {
            method: Exponential::new(outputs),
            generator: square(),
            step: square(),
            power: square(),
            work: square(),
            s_u: Matrix::zeros(outputs, inputs),
            d: Matrix::zeros(outputs, inputs),
        }
    }

    /// held = phi_B + phi_A D, and gain = phi_C + phi_D, each value standing for the interval before it.
    fn compute(
        &mut self,
        model: &LocalModel,
        (h, steps): (f64, usize),
        phi_a: &Matrix,
        held: &mut Matrix,
        mut gain: Option<&mut Matrix>,
    ) -> bool {
        let dt = h / steps as f64;
        self.generator.data_mut().copy_from_slice(&model.a);
        self.d.data_mut().copy_from_slice(&model.d);
        self.s_u.data_mut().copy_from_slice(&model.b);
        self.s_u.add_product(-1.0, &self.generator, &self.d);
        self.generator.scale(dt);
        if !self.method.compute(&self.generator, &mut self.step) {
            return false;
        }
        held.set_product(phi_a, &self.d);
        if let Some(gain) = &mut gain {
            gain.fill(0.0);
        }
        // From the end of the step, tau = h, backwards: e^(S_y (h - tau)) is a power of one factor.
        self.power.set_identity();
        for j in (1..=steps).rev() {
            held.add_product(dt, &self.power, &self.s_u);
            if let Some(gain) = &mut gain {
                gain.add_product(dt * j as f64 * dt, &self.power, &self.s_u);
                gain.add_product(dt, &self.power, &self.d);
            }
            self.work.set_product(&self.power, &self.step);
            std::mem::swap(&mut self.work, &mut self.power);
        }
        held.is_finite() && gain.is_none_or(|gain| gain.is_finite())
    }
}
