//! What pre-step stabilisation derives from the local model of one subsystem, among it P of step 3 [T (2.44) to (2.50)].

use costep_core::LocalModel;
use costep_ident::convert::OutputForm;
use costep_linalg::{Exponential, Matrix, PseudoInverse};

use super::settings::Settings;
use crate::shared::response::{Response, ResponseWorkspace};

/// Singular values of P below this share of the greatest count as zero.
const CUT: f64 = 1e-9;

/// One subsystem in output form.
#[derive(Default)]
pub(super) struct SubsystemResponse {
    pub(super) model: LocalModel,
    pub(super) response: Response,
    /// C of the subsystem, by which z' = C x'.
    pub(super) c: Matrix,
    pub(super) d: Matrix,
    /// phi_B + phi_A D: y(h) from a held input.
    pub(super) held: Matrix,
    /// P: y(h) from what is optimised, a held input or a slope.
    pub(super) gain: Matrix,
    /// P^+.
    pub(super) inverse: Matrix,
}

/// What is optimised of a subsystem.
pub(super) struct Scope<'a> {
    /// Whether each input belongs to the group.
    pub(super) ours: &'a [bool],
    /// Sizes of outputs and inputs by which P^+ is scaled, if it is.
    pub(super) sizes: Option<(&'a [f64], &'a [f64])>,
}

/// Room for the computation of parts, shared by those of the same size.
#[derive(Default)]
pub(super) struct Workspaces {
    responses: ResponseWorkspace,
    workspace: Vec<Workspace>,
}

impl Workspaces {
    fn workspace(&mut self, model: &LocalModel) -> (&mut Workspace, &mut ResponseWorkspace) {
        let sizes = (model.states, model.inputs, model.outputs);
        let place =
            self.workspace.iter().position(|workspace| workspace.sizes == sizes).unwrap_or_else(|| {
                self.workspace.push(Workspace::new(model));
                self.workspace.len() - 1
            });
        (&mut self.workspace[place], &mut self.responses)
    }
}

struct Workspace {
    /// Numbers of states, inputs and outputs.
    sizes: (usize, usize, usize),
    output_form: OutputForm,
    quadrature: Quadrature,
    scaled_gain: Matrix,
    pseudo_inverse: PseudoInverse,
}

impl Workspace {
    fn new(model: &LocalModel) -> Self {
        let (m, r) = (model.inputs, model.outputs);
        Self {
            sizes: (model.states, m, r),
            output_form: OutputForm::new(model),
            quadrature: Quadrature::new(r, m),
            scaled_gain: Matrix::zeros(r, m),
            pseudo_inverse: PseudoInverse::new(r, m),
        }
    }

    /// inverse = P^+ over the inputs of the group, in units of the signals if their sizes are given.
    fn invert(&mut self, gain: &Matrix, scope: &Scope<'_>, inverse: &mut Matrix) {
        let Scope { ours, sizes } = *scope;
        let output_size = |i: usize| sizes.map_or(1.0, |(outputs, _)| outputs[i]);
        let input_size = |q: usize| sizes.map_or(1.0, |(_, inputs)| inputs[q]);
        for i in 0..gain.rows() {
            for (q, is_ours) in ours.iter().enumerate() {
                let gain = if *is_ours { gain[(i, q)] } else { 0.0 };
                self.scaled_gain[(i, q)] = gain * input_size(q) / output_size(i);
            }
        }
        self.pseudo_inverse.compute(&self.scaled_gain, CUT, inverse);
        for q in 0..ours.len() {
            for i in 0..gain.rows() {
                inverse[(q, i)] *= input_size(q) / output_size(i);
            }
        }
    }
}

impl SubsystemResponse {
    /// Takes a new model.
    pub(super) fn update(
        &mut self,
        exact: &LocalModel,
        h: f64,
        settings: &Settings,
        scope: &Scope<'_>,
        workspaces: &mut Workspaces,
    ) -> Result<(), &'static str> {
        let Settings { ramp, phi_steps: steps, width, .. } = *settings;
        if (self.model.states, self.model.inputs) != (exact.outputs, exact.inputs)
            || self.c.columns() != exact.states
        {
            self.take_room(exact, width);
        }
        let (workspace, responses) = workspaces.workspace(exact);
        self.c.data_mut().copy_from_slice(&exact.c);
        self.d.data_mut().copy_from_slice(&exact.d);
        workspace.output_form.convert(exact, &mut self.model);
        if !self.response.compute(&self.model, h, responses) {
            return Err("its response over one step is not finite");
        }
        if steps > 0 {
            let phi_a = &self.response.state_to_state;
            let gain = if ramp { Some(&mut self.gain) } else { None };
            if !workspace.quadrature.compute(&self.model, (h, steps), phi_a, &mut self.held, gain) {
                return Err("its discretisation over one step is not finite");
            }
        } else {
            self.exact_gains(h, ramp);
        }
        if !ramp {
            self.gain.copy_from(&self.held);
        }
        workspace.invert(&self.gain, scope, &mut self.inverse);
        Ok(())
    }

    fn take_room(&mut self, exact: &LocalModel, width: usize) {
        let (m, r) = (exact.inputs, exact.outputs);
        self.model = LocalModel::new(r, m, r);
        self.response = Response::new(r, m, r, width);
        self.c = Matrix::zeros(r, exact.states);
        (self.d, self.held, self.gain) = (Matrix::zeros(r, m), Matrix::zeros(r, m), Matrix::zeros(r, m));
        self.inverse = Matrix::zeros(m, r);
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
