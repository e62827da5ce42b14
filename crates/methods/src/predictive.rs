//! Predictive coupling, interface Galerkin: the inputs are polynomials that equal the projection of the outputs
//! which the subsystems will produce under these very inputs.
//!
//! ```text
//! local model    x' = A x + B u + b,  y = C x + D u + beta,  u = L y + r(t)
//! basis          u(theta) = sum_a c_a Q_a(theta), a = 0..p, orthonormal Legendre polynomials on the step
//! response       eta = M_x x + M_b b + e_0 beta + M_u c           (shared/response.rs), exact for the local model
//! coupling       c = L eta + r_hat,  r_hat the projection of r
//! interface      (I - M_u L) eta = M_x x + M_b b + e_0 beta + M_u r_hat   (shared/interface.rs)
//! ```
//!
//! One small solve per step; no exponential of the coupled system. Local modes are exact for any step, only the
//! coupling signal is a polynomial. Over power bonds (L = -L^T in matched units) the projection neither creates nor
//! removes energy: int y^T u = int (P y)^T L (P y) = 0, so passive subsystems stay passive together for any h and p.
//! Error at the communication points: h^(2p+2) with exact models.
//!
//! Offsets b and beta hold what the linear model does not know: nonlinearity, inner solvers, unknown forces.
//! Needs local models; with readable states x is taken from the subsystem, else z = y - D u_end stands for C x, with
//! the Interface Jacobian S_y = C A C^+ in place of A [T (2.18)].

use costep_core::{
    CouplingMethod, InputSet, Layout, LocalModel, MethodEntry, Needs, OptionKind, OptionSpec, Options,
    Result, Signals, StepContext, SystemView,
};

use crate::shared::interface::Interface;
use crate::shared::legendre;
use crate::shared::models::{bad_model, no_model, singular_interface};
use crate::shared::output_form::OutputForm;
use crate::shared::response::Response;

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "predictive",
    title: "predictive coupling by interface Galerkin",
    summary: "Input polynomials that equal the projection of the outputs the subsystems will really produce \
              under them, by their local models. Stable for any step over power bonds, very accurate with exact \
              models.",
    equations: "(I - M_u L) eta = M_x x + M_b b + e_0 beta + M_u r,  u = L eta + r  in Legendre coefficients",
    source: "costep",
    convergence_order: 6,
    options: &[
        OptionSpec {
            name: "order",
            kind: OptionKind::Integer { default: 2, min: 0, max: 3 },
            help: "degree p of the input polynomials",
        },
        OptionSpec {
            name: "states",
            kind: OptionKind::Choice(&["readable", "outputs"]),
            help: "take the states from the subsystem, or z = y - D u with Interface Jacobians",
        },
        OptionSpec {
            name: "offsets",
            kind: OptionKind::Bool { default: true },
            help: "carry what the linear model does not know as constant offsets",
        },
    ],
    build,
};

struct Predictive {
    width: usize,
    by_outputs: bool,
    offsets: bool,
    inputs: InputSet,
    layout: Layout,
    /// Whether an input belongs to the group; the others are held.
    is_ours: Vec<bool>,
    parts: Vec<Part>,
    interface: Interface,
    /// eta, coefficients of all outputs.
    eta: Vec<f64>,
    /// c, coefficients of all inputs.
    c: Vec<f64>,
    /// The step that the maps are of.
    h: f64,
}

fn build(options: &Options) -> Box<dyn CouplingMethod> {
    Box::new(Predictive {
        width: options.integer("order") as usize + 1,
        by_outputs: options.text("states") == "outputs",
        offsets: options.bool("offsets"),
        inputs: InputSet::All(0),
        layout: Layout::default(),
        is_ours: Vec::new(),
        parts: Vec::new(),
        interface: Interface::default(),
        eta: Vec::new(),
        c: Vec::new(),
        h: 0.0,
    })
}

impl CouplingMethod for Predictive {
    fn needs(&self) -> Needs {
        Needs {
            input_order: self.width - 1,
            local_models: true,
            keeps_known_inputs: true,
            ..Needs::default()
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let layout = system.layout;
        self.inputs = system.inputs.clone();
        self.layout = layout.clone();
        self.is_ours = vec![false; layout.inputs()];
        system.inputs.iter().for_each(|j| self.is_ours[j] = true);
        self.parts = (0..layout.subsystems()).map(|_| Part::default()).collect();
        self.interface = Interface::new(system, self.width);
        self.eta = vec![0.0; layout.outputs() * self.width];
        self.c = vec![0.0; layout.inputs() * self.width];
        self.h = 0.0;
        Ok(())
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.refresh(step, signals)?;
        self.known_inputs(step, signals);
        self.free_response(signals);
        let parts = &self.parts;
        self.interface.solve(|i| &parts[i].response.input_to_output, &mut self.eta);
        self.add_coupled(signals);
        self.write(signals);
        Ok(())
    }
}

impl Predictive {
    /// New responses where a model or the step has changed.
    fn refresh(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<()> {
        let h = step.h;
        let new_step = h != self.h;
        self.h = h;
        let mut changed = false;
        for (i, part) in self.parts.iter_mut().enumerate() {
            let model = signals.models.model(i).ok_or_else(|| no_model(signals, i))?;
            let version = Some(signals.models.version(i));
            if part.version != version || new_step {
                part.version = version;
                part.update(model, self.h, self.width, self.by_outputs)
                    .map_err(|cause| bad_model(signals, i, cause))?;
                changed = true;
            }
        }
        let parts = &self.parts;
        if changed && !self.interface.factor(|i| &parts[i].response.input_to_output) {
            return Err(singular_interface(step));
        }
        Ok(())
    }

    /// c = r_hat: signals from outside projected, inputs of other groups as they stand.
    fn known_inputs(&mut self, step: &StepContext, signals: &Signals<'_>) {
        self.c.fill(0.0);
        for (j, c) in self.c.chunks_exact_mut(self.width).enumerate() {
            if !self.is_ours[j] {
                c[0] = signals.coupled[j];
            }
        }
        for (j, signal) in signals.externals.iter().filter(|(j, _)| self.is_ours[*j]) {
            let c = &mut self.c[j * self.width..(j + 1) * self.width];
            legendre::project(|theta| signal.value(step.t + theta * step.h), c);
        }
    }

    /// eta = M_x x + M_b b + e_0 beta + M_u r_hat.
    fn free_response(&mut self, signals: &Signals<'_>) {
        self.eta.fill(0.0);
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            if let Some(model) = signals.models.model(i) {
                part.locate(model, &signals.u_end[us.clone()], &signals.y[ys.clone()], self.offsets);
            }
            let eta = &mut self.eta[ys.start * self.width..ys.end * self.width];
            part.response.state_to_output.multiply_add(&part.x, eta);
            part.response.forcing_to_output.multiply_add(&part.forcing, eta);
            for (eta, beta) in eta.chunks_exact_mut(self.width).zip(&part.beta) {
                eta[0] += beta;
            }
            let c = &self.c[us.start * self.width..us.end * self.width];
            part.response.input_to_output.multiply_add(c, eta);
        }
    }

    /// c += L eta.
    fn add_coupled(&mut self, signals: &Signals<'_>) {
        for j in self.inputs.iter() {
            for (output, gain) in signals.coupling.sources(j) {
                for a in 0..self.width {
                    self.c[j * self.width + a] += gain * self.eta[output * self.width + a];
                }
            }
        }
    }

    /// From Legendre coefficients to powers of the time since the start of the step.
    fn write(&self, signals: &mut Signals<'_>) {
        let mut scale = 1.0;
        for b in 0..self.width {
            let powers = signals.inputs.coefficients_mut(b);
            for j in self.inputs.iter() {
                let c = &self.c[j * self.width..(j + 1) * self.width];
                powers[j] = (b..self.width).map(|a| c[a] * legendre::coefficient(a, b)).sum::<f64>() / scale;
            }
            scale *= self.h;
        }
    }
}

/// What is known of one subsystem.
#[derive(Default)]
struct Part {
    version: Option<u64>,
    /// The model in use: that of the subsystem, or its output form.
    model: LocalModel,
    response: Response,
    /// x, or z = y - D u_end.
    x: Vec<f64>,
    /// b.
    forcing: Vec<f64>,
    beta: Vec<f64>,
    output_form: OutputForm,
    by_outputs: bool,
}

impl Part {
    fn update(
        &mut self,
        model: &LocalModel,
        h: f64,
        width: usize,
        by_outputs: bool,
    ) -> Result<(), &'static str> {
        let (n, m, r) = (if by_outputs { model.outputs } else { model.states }, model.inputs, model.outputs);
        if (self.model.states, self.model.inputs, self.model.outputs) != (n, m, r) || self.x.len() != n {
            self.model = LocalModel::new(n, m, r);
            self.response = Response::new(n, m, r, width);
            (self.x, self.forcing, self.beta) = (vec![0.0; n], vec![0.0; n], vec![0.0; r]);
            self.output_form = OutputForm::new(model);
        }
        self.by_outputs = by_outputs;
        if by_outputs {
            self.output_form.convert(model, &mut self.model);
        } else {
            self.model.clone_from(model);
        }
        if self.response.compute(&self.model, h) {
            Ok(())
        } else {
            Err("its response over one step is not finite")
        }
    }

    /// Where the subsystem stands, and what its model does not explain: b = x' - A x - B u, beta = y - C x - D u.
    fn locate(&mut self, exact: &LocalModel, u_end: &[f64], y: &[f64], offsets: bool) {
        let model = &self.model;
        let n = model.states;
        if self.by_outputs {
            for (i, z) in self.x.iter_mut().enumerate() {
                *z = y[i] - row(&model.d, i, u_end);
            }
        } else {
            self.x.copy_from_slice(&exact.x);
        }
        if !offsets {
            return;
        }
        for i in 0..n {
            // In output form the states are z = C x, so z' = C x'.
            let x_dot = if self.by_outputs { row(&exact.c, i, &exact.x_dot) } else { exact.x_dot[i] };
            self.forcing[i] = x_dot - row(&model.a, i, &self.x) - row(&model.b, i, u_end);
        }
        for (i, beta) in self.beta.iter_mut().enumerate() {
            *beta = y[i] - row(&model.c, i, &self.x) - row(&model.d, i, u_end);
        }
    }
}

/// Row i of a row-major matrix times a vector.
fn row(matrix: &[f64], i: usize, vector: &[f64]) -> f64 {
    let width = vector.len();
    matrix[i * width..(i + 1) * width].iter().zip(vector).map(|(a, v)| a * v).sum()
}
