//! Model-based pre-step stabilisation, continuous form [T 2.2.1], [G18]: predict the monolithic solution one step
//! ahead, then choose the input that takes each subsystem there.
//!
//! ```text
//! step 1   delta' = Ahat delta + (I - D L)^-1 (S_u eps + D eps')     error differential equation    [T (2.27)]
//!          Ahat = (I - D L)^-1 (S_y + S_u L),  eps = L y + r - u, linear between communication points
//! step 2   yhat = e^(Ahat h) (y + delta)                              model-based extrapolation     [T (2.37)]
//! step 3   y(h) = phi_A (y - D u_end) + P u  ->  yhat                 input optimisation            [T (2.41)]
//!          constant: P = int e^(S_y t) C B dt + D
//!          ramp from L y: P = int e^(S_y (h - t)) t C B dt + D h, for the slope
//! ```
//!
//! Written with z = y - D u in place of u': the jump of the input at the communication point, which the text leaves out,
//! is then right by itself. Step 3 is solved as u = u_ref + P^+ (target - P u_ref) with u_ref = L yhat for all shapes:
//! least squares with more outputs than inputs, the nearest input to u_ref with fewer, and u_ref where P is singular.
//! (The thesis' (2.71) lacks a factor 2, its overdetermined case is n > m.)
//!
//! `offsets` carries what S_y does not know, as z' at the communication point tells; without it constants are not fixed
//! points when a subsystem has more states than outputs. `paper=true` gives the thesis' optimal set (table 3.5):
//! no error equation, no offsets, no scaling. The closed loop is dense: for systems of up to 400 outputs.

use costep_core::{
    Code, CouplingMethod, Description, Error, InputSet, Layout, LocalModel, MethodEntry, Needs, OptionKind,
    OptionSpec, Options, Port, Result, Signals, StateReader, StateWriter, StepContext, SystemView,
};
use costep_linalg::{Lu, Matrix, PseudoInverse};

use crate::shared::models::{bad_model, no_model};
use crate::shared::output_form::OutputForm;
use crate::shared::response::Response;
use crate::shared::seen_outputs::singular_loop;

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "prestep",
    title: "model-based pre-step stabilisation",
    summary: "Predicts the monolithic solution one step ahead by the Interface Jacobians and chooses inputs that take \
              each subsystem there. The method of Genser's thesis; `predictive` needs less and gives more.",
    equations: "yhat = e^(Ahat h) (y + delta),  u: phi_A (y - D u_end) + P u = yhat",
    source: "[T] section 2.2.1; [G18] section 2",
    convergence_order: 1,
    options: &[
        OptionSpec {
            name: "input",
            kind: OptionKind::Choice(&["constant", "ramp"]),
            help: "hold the optimised input, or go along a line from L y",
        },
        OptionSpec {
            name: "ede",
            kind: OptionKind::Bool { default: false },
            help: "solve the error differential equation (useErrDiffEqu)",
        },
        OptionSpec {
            name: "modified",
            kind: OptionKind::Bool { default: false },
            help: "no input optimisation: u = L yhat",
        },
        OptionSpec {
            name: "scaled",
            kind: OptionKind::Bool { default: true },
            help: "scale rows and columns of the input optimisation by the sizes of the signals",
        },
        OptionSpec {
            name: "offsets",
            kind: OptionKind::Bool { default: true },
            help: "carry what the Interface Jacobians do not know as constant offsets",
        },
        OptionSpec {
            name: "paper",
            kind: OptionKind::Bool { default: false },
            help: "the thesis' optimal set: ede, scaled and offsets off",
        },
    ],
    build,
};

/// Singular values of P below this share of the greatest count as zero.
const CUT: f64 = 1e-9;
/// Most outputs of a system: the closed loop is dense.
const MOST_OUTPUTS: usize = 400;

struct PreStep {
    ramp: bool,
    ede: bool,
    modified: bool,
    scaled: bool,
    offsets: bool,
    inputs: InputSet,
    layout: Layout,
    is_ours: Vec<bool>,
    parts: Vec<Part>,
    closed: ClosedLoop,
    h: f64,
    /// Step 1: what is carried, and what will be when the next step begins.
    memory: Memory,
    next: Memory,
    /// y + delta, the estimate of the monolithic output.
    monolithic: Vec<f64>,
    /// yhat and L yhat + r.
    y_ahead: Vec<f64>,
    u_ahead: Vec<f64>,
    /// Nominal or, if that is larger or missing, largest absolute values so far, per output and per input: the scales
    /// of step 3.
    output_sizes: Vec<f64>,
    input_sizes: Vec<f64>,
}

#[derive(Clone, Default)]
struct Memory {
    /// delta, estimate of the monolithic output minus the output.
    delta: Vec<f64>,
    /// eps, coupling error at the start of the step, under the new input.
    eps: Vec<f64>,
}

fn build(options: &Options) -> Box<dyn CouplingMethod> {
    let paper = options.bool("paper");
    Box::new(PreStep {
        ramp: options.text("input") == "ramp",
        ede: options.bool("ede") && !paper,
        modified: options.bool("modified"),
        scaled: options.bool("scaled") && !paper,
        offsets: options.bool("offsets") && !paper,
        inputs: InputSet::All(0),
        layout: Layout::default(),
        is_ours: Vec::new(),
        parts: Vec::new(),
        closed: ClosedLoop::default(),
        h: 0.0,
        memory: Memory::default(),
        next: Memory::default(),
        monolithic: Vec::new(),
        y_ahead: Vec::new(),
        u_ahead: Vec::new(),
        output_sizes: Vec::new(),
        input_sizes: Vec::new(),
    })
}

impl CouplingMethod for PreStep {
    fn needs(&self) -> Needs {
        Needs {
            input_order: usize::from(self.ramp),
            local_models: true,
            keeps_known_inputs: true,
            ..Needs::default()
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let (inputs, outputs) = (system.layout.inputs(), system.layout.outputs());
        if outputs > MOST_OUTPUTS {
            let message =
                format!("the closed loop of `prestep` is dense; {outputs} outputs are too many for it");
            return Err(
                Error::new(Code::NeedsMissing, message).hint("use `predictive`, whose cost is linear")
            );
        }
        self.inputs = system.inputs.clone();
        self.layout = system.layout.clone();
        self.is_ours = (0..inputs).map(|j| system.inputs.contains(j)).collect();
        self.parts = (0..system.layout.subsystems()).map(|_| Part::default()).collect();
        self.closed = ClosedLoop::new(system, &self.is_ours);
        self.h = 0.0;
        self.memory = Memory { delta: vec![0.0; outputs], eps: vec![0.0; inputs] };
        self.next = self.memory.clone();
        (self.y_ahead, self.u_ahead) = (vec![0.0; outputs], vec![0.0; inputs]);
        self.monolithic = vec![0.0; outputs];
        let sizes = |ports: fn(&Description) -> &Vec<Port>| -> Vec<f64> {
            let ports = system.descriptions.iter().flat_map(ports);
            ports.map(|port| port.nominal.map_or(0.0, f64::abs)).collect()
        };
        (self.output_sizes, self.input_sizes) = (sizes(|d| &d.outputs), sizes(|d| &d.inputs));
        Ok(())
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.refresh(step.h, signals)?;
        if step.repetition == 0 {
            self.memory.delta.copy_from_slice(&self.next.delta);
            self.memory.eps.copy_from_slice(&self.next.eps);
            grow(&mut self.output_sizes, signals.y);
            grow(&mut self.input_sizes, signals.coupled);
        }
        self.locate(signals);
        if self.ede && step.k > 0 {
            self.error_equation(signals);
        }
        self.extrapolate(step, signals);
        if self.modified {
            self.write(signals, |method, j| method.u_ahead[j]);
        } else {
            self.optimise(signals);
        }
        for j in self.inputs.iter() {
            self.next.eps[j] = signals.coupled[j] - signals.inputs.coefficients(0)[j];
        }
        Ok(())
    }

    fn save(&self, out: &mut StateWriter) {
        for values in [&self.next.delta, &self.next.eps, &self.output_sizes, &self.input_sizes] {
            out.reals(values);
        }
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let Memory { delta, eps } = &mut self.next;
        for values in [delta, eps, &mut self.output_sizes, &mut self.input_sizes] {
            from.reals(values)?;
        }
        Ok(())
    }
}

fn grow(sizes: &mut [f64], values: &[f64]) {
    sizes.iter_mut().zip(values).for_each(|(size, value)| *size = size.max(value.abs()));
}

impl PreStep {
    fn refresh(&mut self, h: f64, signals: &Signals<'_>) -> Result<()> {
        let new_step = h != self.h;
        self.h = h;
        let mut changed = false;
        for (i, part) in self.parts.iter_mut().enumerate() {
            let model = signals.models.model(i).ok_or_else(|| no_model(signals, i))?;
            let version = Some(signals.models.version(i));
            if part.version != version || new_step {
                part.version = version;
                part.update(model, h, self.ramp).map_err(|cause| bad_model(signals, i, cause))?;
                changed = true;
            }
        }
        if changed { self.closed.update(&self.parts, &self.layout, h) } else { Ok(()) }
    }

    /// z = y - D u_end of each part, and w = z' - S_y z - C B u_end.
    fn locate(&mut self, signals: &Signals<'_>) {
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let u_end = &signals.u_end[us];
            for (k, (z, y)) in part.z.iter_mut().zip(&signals.y[ys]).enumerate() {
                *z = y - dot(&part.model.d, k, u_end);
            }
            if let (true, Some(exact)) = (self.offsets, signals.models.model(i)) {
                for k in 0..part.z.len() {
                    let z_dot = dot(&exact.c, k, &exact.x_dot);
                    part.w[k] = z_dot - dot(&part.model.a, k, &part.z) - dot(&part.model.b, k, u_end);
                }
            }
        }
    }

    /// Step 1. delta over the step that has just ended; eps goes linearly from its value under the input that the step
    /// began with to its value at the end.
    fn error_equation(&mut self, signals: &Signals<'_>) {
        let Self { closed, memory, next, h, is_ours, .. } = self;
        let end = |j: usize| if is_ours[j] { signals.coupled[j] - signals.u_end[j] } else { 0.0 };
        closed.force(|j| memory.eps[j], |j| (end(j) - memory.eps[j]) / *h);
        closed.advance(&memory.delta, &mut next.delta);
    }

    /// Step 2. yhat, with the signals from outside as lines and the offsets.
    fn extrapolate(&mut self, step: &StepContext, signals: &Signals<'_>) {
        let external = |j: usize| if self.is_ours[j] { signals.external[j] } else { signals.coupled[j] };
        let slope = |j: usize| {
            let ours = self.is_ours[j];
            if ours { (signals.external_next[j] - signals.external[j]) / step.h } else { 0.0 }
        };
        self.closed.force(external, slope);
        self.closed.add_offsets(&self.parts);
        self.monolithic.copy_from_slice(signals.y);
        self.monolithic.iter_mut().zip(&self.next.delta).for_each(|(y, delta)| *y += delta);
        self.closed.advance(&self.monolithic, &mut self.y_ahead);
        for j in self.inputs.iter() {
            self.u_ahead[j] = signals.coupling.row(j, &self.y_ahead) + signals.external_next[j];
        }
    }

    /// Step 3, part by part.
    fn optimise(&mut self, signals: &mut Signals<'_>) {
        let h = self.h;
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            // The reference: the predicted input, or the slope that leads to it.
            for (q, j) in us.clone().enumerate() {
                part.reference[q] = match (self.is_ours[j], self.ramp) {
                    (false, false) => signals.coupled[j],
                    (false, true) => 0.0,
                    (true, false) => self.u_ahead[j],
                    (true, true) => (self.u_ahead[j] - signals.coupled[j]) / h,
                };
            }
            let start = self.ramp.then_some(&signals.coupled[us.clone()]);
            part.residual(&self.y_ahead[ys.clone()], start);
            let sizes = self.scaled.then_some((&self.output_sizes[ys], &self.input_sizes[us.clone()]));
            let ours = &self.is_ours[us];
            part.solve(ours, sizes);
        }
        let parts = std::mem::take(&mut self.parts);
        self.write(signals, |method, j| {
            let owner = method.layout.input_owner(j);
            parts[owner].reference[j - method.layout.input_range(owner).start]
        });
        self.parts = parts;
    }

    /// Writes a value per input of the group: the held input, or the slope from L y.
    fn write(&self, signals: &mut Signals<'_>, value: impl Fn(&Self, usize) -> f64) {
        for j in self.inputs.iter() {
            let coupled = signals.coupled[j];
            let chosen = value(self, j);
            if !self.ramp {
                signals.inputs.coefficients_mut(0)[j] = chosen;
                continue;
            }
            let slope = if self.modified { (chosen - coupled) / self.h } else { chosen };
            signals.inputs.coefficients_mut(0)[j] = coupled;
            signals.inputs.coefficients_mut(1)[j] = slope;
        }
    }
}

/// Row i of a row-major matrix times a vector.
fn dot(matrix: &[f64], i: usize, vector: &[f64]) -> f64 {
    let width = vector.len();
    matrix[i * width..(i + 1) * width].iter().zip(vector).map(|(a, v)| a * v).sum()
}

/// A ramp of slope 1 over a step h is h (Q_0 / 2 + Q_1 / (2 sqrt 3)).
fn ramp_response(response: &Response, row: usize, input: usize, h: f64) -> f64 {
    let map = &response.input_to_state;
    h * (0.5 * map[(row, 2 * input)] + 0.5 / 3f64.sqrt() * map[(row, 2 * input + 1)])
}

/// One subsystem in output form.
#[derive(Default)]
struct Part {
    version: Option<u64>,
    model: LocalModel,
    output_form: OutputForm,
    response: Response,
    z: Vec<f64>,
    w: Vec<f64>,
    /// P.
    gain: Matrix,
    scaled_gain: Matrix,
    inverse: Matrix,
    work: PseudoInverse,
    /// u_ref on entry, the solution on return.
    reference: Vec<f64>,
    rest: Vec<f64>,
}

impl Part {
    fn update(&mut self, exact: &LocalModel, h: f64, ramp: bool) -> Result<(), &'static str> {
        let (m, r) = (exact.inputs, exact.outputs);
        if (self.model.states, self.model.inputs) != (r, m) || self.z.len() != r {
            self.model = LocalModel::new(r, m, r);
            self.output_form = OutputForm::new(exact);
            self.response = Response::new(r, m, r, 2);
            (self.z, self.w, self.rest) = (vec![0.0; r], vec![0.0; r], vec![0.0; r]);
            (self.gain, self.scaled_gain) = (Matrix::zeros(r, m), Matrix::zeros(r, m));
            (self.inverse, self.work) = (Matrix::zeros(m, r), PseudoInverse::new(r, m));
            self.reference = vec![0.0; m];
        }
        self.output_form.convert(exact, &mut self.model);
        if !self.response.compute(&self.model, h) {
            return Err("its response over one step is not finite");
        }
        for i in 0..r {
            for q in 0..m {
                let d = self.model.d[i * m + q];
                self.gain[(i, q)] = if ramp {
                    ramp_response(&self.response, i, q, h) + h * d
                } else {
                    self.response.input_to_state[(i, 2 * q)] + d
                };
            }
        }
        Ok(())
    }

    /// rest = yhat - phi_A z - (response to w) - P u_ref, and to the start of a ramp.
    fn residual(&mut self, y_ahead: &[f64], ramp_start: Option<&[f64]>) {
        self.rest.copy_from_slice(y_ahead);
        let subtract = |map: &Matrix, x: &[f64], rest: &mut [f64]| {
            for (i, rest) in rest.iter_mut().enumerate() {
                *rest -= map.row(i).iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            }
        };
        subtract(&self.response.state_to_state, &self.z, &mut self.rest);
        subtract(&self.response.forcing_to_state, &self.w, &mut self.rest);
        subtract(&self.gain, &self.reference, &mut self.rest);
        if let Some(u0) = ramp_start {
            for (i, rest) in self.rest.iter_mut().enumerate() {
                let held =
                    |q: usize| self.response.input_to_state[(i, 2 * q)] + self.model.d[i * u0.len() + q];
                *rest -= (0..u0.len()).map(|q| held(q) * u0[q]).sum::<f64>();
            }
        }
    }

    /// reference += P^+ rest over the inputs of the group.
    fn solve(&mut self, ours: &[bool], sizes: Option<(&[f64], &[f64])>) {
        let size = |sizes: &[f64], i: usize| if sizes[i] > 0.0 { sizes[i] } else { 1.0 };
        let row_scale = |i: usize| sizes.map_or(1.0, |(outputs, _)| 1.0 / size(outputs, i));
        let column_scale = |q: usize| sizes.map_or(1.0, |(_, inputs)| size(inputs, q));
        for i in 0..self.gain.rows() {
            for (q, is_ours) in ours.iter().enumerate() {
                let gain = if *is_ours { self.gain[(i, q)] } else { 0.0 };
                self.scaled_gain[(i, q)] = row_scale(i) * gain * column_scale(q);
            }
        }
        self.work.compute(&self.scaled_gain, CUT, &mut self.inverse);
        for (q, value) in self.reference.iter_mut().enumerate() {
            let change: f64 =
                (0..self.rest.len()).map(|i| self.inverse[(q, i)] * row_scale(i) * self.rest[i]).sum();
            *value += column_scale(q) * change;
        }
    }
}

/// y' = Ahat y + (I - D L)^-1 (S_u e + D e') for a line e(t): the coupled system as its outputs see it.
///
/// Subsystems are ordered by name in here, so that round-off does not depend on how they are numbered.
#[derive(Default)]
struct ClosedLoop {
    /// Outputs and inputs of the system in the order of the rows and columns.
    outputs: Vec<usize>,
    inputs: Vec<usize>,
    /// First row and first column of each subsystem.
    places: Vec<(usize, usize)>,
    /// L of the group, dense.
    coupling: Matrix,
    direct: Lu,
    model: LocalModel,
    response: Response,
    /// S_u and D, block-diagonal.
    s_u: Matrix,
    d: Matrix,
    /// Forcing at the start of the step, and its slope.
    forcing: Vec<f64>,
    forcing_slope: Vec<f64>,
    start: Vec<f64>,
    column: Vec<f64>,
    h: f64,
}

impl ClosedLoop {
    fn new(system: &SystemView<'_>, is_ours: &[bool]) -> Self {
        let (m, r) = (system.layout.inputs(), system.layout.outputs());
        let mut order: Vec<_> = (0..system.layout.subsystems()).collect();
        order.sort_by(|a, b| system.descriptions[*a].name.cmp(&system.descriptions[*b].name));
        let (mut outputs, mut inputs) = (Vec::with_capacity(r), Vec::with_capacity(m));
        let mut places = vec![(0, 0); order.len()];
        for i in order {
            places[i] = (outputs.len(), inputs.len());
            outputs.extend(system.layout.output_range(i));
            inputs.extend(system.layout.input_range(i));
        }
        let mut row_of = vec![0; r];
        outputs.iter().enumerate().for_each(|(row, output)| row_of[*output] = row);
        let mut coupling = Matrix::zeros(m, r);
        for (column, j) in inputs.iter().enumerate().filter(|(_, j)| is_ours[**j]) {
            system.coupling.sources(*j).for_each(|(output, gain)| coupling[(column, row_of[output])] += gain);
        }
        let mut model = LocalModel::new(r, r, r);
        for i in 0..r {
            (model.b[i * r + i], model.c[i * r + i]) = (1.0, 1.0);
        }
        Self {
            outputs,
            inputs,
            places,
            coupling,
            direct: Lu::new(r),
            model,
            response: Response::new(r, r, r, 2),
            s_u: Matrix::zeros(r, m),
            d: Matrix::zeros(r, m),
            forcing: vec![0.0; r],
            forcing_slope: vec![0.0; r],
            start: vec![0.0; r],
            column: vec![0.0; r],
            h: 0.0,
        }
    }

    fn update(&mut self, parts: &[Part], layout: &Layout, h: f64) -> Result<()> {
        let r = self.model.states;
        self.h = h;
        let mut closed = Matrix::zeros(r, r);
        for (i, part) in parts.iter().enumerate() {
            let (n, m) = (layout.output_range(i).len(), layout.input_range(i).len());
            let (row, column) = self.places[i];
            for a in 0..n {
                for b in 0..n {
                    closed[(row + a, row + b)] = part.model.a[a * n + b];
                }
                for q in 0..m {
                    let through: f64 =
                        (0..n).map(|b| part.model.a[a * n + b] * part.model.d[b * m + q]).sum();
                    self.s_u[(row + a, column + q)] = part.model.b[a * m + q] - through;
                    self.d[(row + a, column + q)] = part.model.d[a * m + q];
                }
            }
        }
        closed.add_product(1.0, &self.s_u, &self.coupling);
        let matrix = self.direct.matrix_mut();
        matrix.set_identity();
        matrix.add_product(-1.0, &self.d, &self.coupling);
        if !self.direct.factor() {
            return Err(singular_loop());
        }
        for b in 0..r {
            (0..r).for_each(|a| self.column[a] = closed[(a, b)]);
            self.direct.solve(&mut self.column);
            (0..r).for_each(|a| self.model.a[a * r + b] = self.column[a]);
        }
        if self.response.compute(&self.model, h) {
            return Ok(());
        }
        Err(Error::new(Code::NotFinite, "the predicted coupled system is not finite over one step")
            .hint("try a smaller step, or `predictive`"))
    }

    /// Takes e(t) = value + slope t.
    fn force(&mut self, value: impl Fn(usize) -> f64, slope: impl Fn(usize) -> f64) {
        for i in 0..self.forcing.len() {
            let sum = |matrix: &Matrix, f: &dyn Fn(usize) -> f64| -> f64 {
                let entries = matrix.row(i).iter().zip(&self.inputs).filter(|(a, _)| **a != 0.0);
                entries.map(|(a, j)| a * f(*j)).sum()
            };
            self.forcing[i] = sum(&self.s_u, &value) + sum(&self.d, &slope);
            self.forcing_slope[i] = sum(&self.s_u, &slope);
        }
        self.direct.solve(&mut self.forcing);
        self.direct.solve(&mut self.forcing_slope);
    }

    fn add_offsets(&mut self, parts: &[Part]) {
        for (part, (row, _)) in parts.iter().zip(&self.places) {
            self.column[*row..row + part.w.len()].copy_from_slice(&part.w);
        }
        self.direct.solve(&mut self.column);
        self.forcing.iter_mut().zip(&self.column).for_each(|(forcing, w)| *forcing += w);
    }

    /// The solution after the step, from `start`.
    fn advance(&mut self, start: &[f64], result: &mut [f64]) {
        self.start.iter_mut().zip(&self.outputs).for_each(|(x, output)| *x = start[*output]);
        self.column.fill(0.0);
        self.response.state_to_state.multiply_add(&self.start, &mut self.column);
        for (i, (sum, output)) in self.column.iter_mut().zip(&self.outputs).enumerate() {
            for q in 0..self.start.len() {
                *sum += self.response.input_to_state[(i, 2 * q)] * self.forcing[q]
                    + ramp_response(&self.response, i, q, self.h) * self.forcing_slope[q];
            }
            result[*output] = *sum;
        }
    }
}
