//! Newton's method on the interface residual, with interface Jacobians (IJCSA, Sicklinger et al. 2014).
//!
//! ```text
//! M = dY/dU       per subsystem: its outputs at the end of the step by the end values of its own inputs
//! (I - M L) dY = M R,   dU = R + L dY
//! ```
//!
//! Where the source of an input has stepped before, its R is zero, and the same system holds for the others: the input follows
//! whatever its source does. M from a local model x' = A x + B u, y = C x + D u under inputs of the shape w is
//! C int_0^h e^(A (h - s)) B w(s) ds + D w(h). Identified models have it as S_p. By differences it takes one more try per
//! input of the subsystem with the most inputs, all subsystems at once, and is kept as long as it serves.
//!
//! What the tries of a step have shown of the Jacobian holds in its directions (`iteration::columns`): with the part
//! of R that they do not reach, R + V c, the step is U = H + W c + L dY(R + V c). So a wrong M costs tries, not convergence.
//! Linear systems need two tries per step.

mod differences;

use costep_core::{
    CouplingMethod, Deviations, InterfaceModel, KnownInputs, Layout, LengthDemand, Linearisation, LocalModel,
    MethodEntry, ModelDemand, ModelKind, ModelsSpec, Options, Request, Result, Signals, StateReader,
    StateWriter, StepContext, SystemView, choice, join, options,
};
use costep_linalg::Matrix;

use crate::iteration::columns::Columns;
use crate::iteration::options::{IterationOptions, SweepKind};
use crate::iteration::shape::Weights;
use crate::iteration::{Iteration, NextTry, Trial, Update};
use crate::shared::interface::Interface;
use crate::shared::per_subsystem::PerSubsystem;
use crate::shared::response::{Response, ResponseWorkspace};
use differences::Differences;

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "ijcsa",
    title: "Newton's method on the interface residual",
    summary: "Repeats each macro step with inputs that the interface Jacobians of the subsystems correct. Jacobians come from \
              local models, identified ones, or differences; about two tries per step.",
    equations: "(I - M L) dY = M R,  dU = R + L dY,  M = dY/dU,  R = L y^(k+1)(U) - U",
    source: "Sicklinger et al. 2014",
    convergence_order: 2,
    deviations: Deviations { partition_matters: true, ..Deviations::NONE },
    models: ModelKind::ALL,
    options: &join::<7>(&[IjcsaOptions::SPECS, IterationOptions::SPECS]),
    papers: None,
    build,
};

choice! {
    /// Where Jacobians come from.
    enum JacobianKind {
        /// Models where all subsystems give them or a source is named, else differences.
        Auto = "auto",
        /// Models.
        Models = "models",
        /// Differences.
        Differences = "differences",
    }
}

options! {
    /// What users choose from.
    struct IjcsaOptions {
        /// Jacobians from models of the subsystems, from differences of more tries, or from models where all subsystems give
        /// them
        jacobian: JacobianKind;
    }
}

/// Of how many earlier steps the tries are used beside identified models. Others are newer than these tries.
const REUSE: usize = 3;
/// A try with the Jacobians of identified models that leaves more than this of the residual is the last one with them.
const CONTRACTION: f64 = 0.5;
/// Share of the residual that a try takes while nothing is known.
const RELAXATION: f64 = 0.5;
/// Coefficients of 1, theta and theta^2 in orthonormal Legendre polynomials.
const LEGENDRE: [[f64; 3]; 3] = [
    [1.0, 0.0, 0.0],
    [0.5, 0.288_675_134_594_812_9, 0.0],
    [1.0 / 3.0, 0.288_675_134_594_812_9, 0.074_535_599_249_993],
];

/// Where the blocks M come from.
enum Jacobians {
    Local { responses: PerSubsystem<Response>, room: ResponseWorkspace },
    Learnt,
    Differences(Differences),
}

struct Ijcsa {
    kind: JacobianKind,
    /// Models are from the default source, which some subsystems may not serve.
    by_default: bool,
    is_learnt: bool,
    jacobians: Jacobians,
    width: usize,
    /// Shape of the step that the blocks are of.
    shape: [f64; 3],
    newton: Newton,
    columns: Columns,
    /// Residual of the last try of this step, and whether the Jacobians have helped so far.
    last_norm: Option<f64>,
    helps: bool,
}

/// The blocks M, and Newton's step with them.
#[derive(Default)]
struct Newton {
    layout: Layout,
    interface: Interface,
    blocks: Vec<Matrix>,
    /// Whether the blocks can be used.
    is_ready: bool,
    /// R of all inputs, and dY.
    residual: Vec<f64>,
    eta: Vec<f64>,
}

fn build(options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    let shared = IterationOptions::read(options);
    let update = Ijcsa {
        kind: IjcsaOptions::read(options).jacobian,
        by_default: models.entry.id == "exact",
        is_learnt: models.entry.kind == ModelKind::Discrete,
        jacobians: Jacobians::Learnt,
        width: 1 + crate::iteration::shape::order(shared.inputs),
        shape: [0.0; 3],
        newton: Newton::default(),
        columns: Columns::default(),
        last_norm: None,
        helps: true,
    };
    Box::new(Iteration::new(ENTRY.id, (options, models), SweepKind::Jacobi, Box::new(update)))
}

impl Update for Ijcsa {
    fn choose(&mut self, system: &SystemView<'_>) {
        let gives = system.capabilities.iter().all(|can| can.linearisation == Linearisation::Full);
        if self.kind == JacobianKind::Auto && self.by_default && !gives {
            self.kind = JacobianKind::Differences;
        }
    }

    fn request(&self) -> Request {
        match self.kind {
            // A trial input must not change what other subsystems get.
            JacobianKind::Differences => Request { known_inputs: KnownInputs::Kept, ..Request::default() },
            JacobianKind::Auto | JacobianKind::Models => Request {
                models: ModelDemand::Full { states: false },
                lengths: if self.is_learnt { LengthDemand::Equal } else { LengthDemand::Any },
                ..Request::default()
            },
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>, unknowns: &[usize]) -> Result<()> {
        self.newton = Newton::new(system);
        self.columns = Columns::new(unknowns.len(), if self.is_learnt { REUSE } else { 0 });
        self.shape = [0.0; 3];
        self.jacobians = match self.kind {
            JacobianKind::Differences => Jacobians::Differences(Differences::new(system, unknowns)?),
            _ if self.is_learnt => Jacobians::Learnt,
            _ => Jacobians::Local {
                responses: PerSubsystem::new(system.layout.subsystems()),
                room: ResponseWorkspace::default(),
            },
        };
        Ok(())
    }

    fn begin(&mut self, step: &StepContext, signals: &Signals<'_>, weights: &Weights) -> Result<()> {
        self.columns.begin(step);
        (self.last_norm, self.helps) = (None, true);
        match &mut self.jacobians {
            Jacobians::Local { .. } => self.respond(step, signals, weights),
            Jacobians::Learnt => {
                self.newton.learn(signals);
                Ok(())
            }
            Jacobians::Differences(differences) => {
                if differences.begin(step, &mut self.newton.blocks) {
                    self.newton.factor();
                }
                Ok(())
            }
        }
    }

    fn improve(&mut self, trial: &Trial<'_>, signals: &Signals<'_>, next: &mut [f64]) -> NextTry {
        let Self { jacobians, newton, columns, .. } = self;
        if let Jacobians::Differences(differences) = jacobians {
            if differences.probe(trial, signals.y_next, (&newton.layout, &mut newton.blocks), next) {
                return NextTry::Probe;
            }
            if differences.has_changed() {
                newton.factor();
            }
        }
        let trial = match &*jacobians {
            Jacobians::Differences(differences) => differences.base(trial),
            _ => Trial { ..*trial },
        };
        // Identified models may be far off where a closed loop does not excite them.
        let is_worse = self.last_norm.is_some_and(|last| trial.norm > CONTRACTION * last);
        self.helps &= !(self.is_learnt && is_worse);
        self.last_norm = Some(trial.norm);
        columns.add(&trial);
        let reached = columns.solve(&trial, next);
        let is_newton = self.helps && newton.add_step((trial.inputs, columns.rest()), signals, next);
        if !is_newton && reached == 0 {
            trial.relax(RELAXATION, next);
        }
        NextTry::Better
    }

    fn save(&self, out: &mut StateWriter) {
        self.columns.save(out);
        if let Jacobians::Differences(differences) = &self.jacobians {
            differences.save(out);
            self.newton.blocks.iter().for_each(|block| out.reals(block.data()));
        }
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.columns.load(from)?;
        if let Jacobians::Local { responses, .. } = &mut self.jacobians {
            responses.restored();
        }
        if let Jacobians::Differences(differences) = &mut self.jacobians {
            differences.load(from)?;
            self.newton.blocks.iter_mut().try_for_each(|block| from.reals(block.data_mut()))?;
            if differences.is_known() {
                self.newton.factor();
            }
        }
        Ok(())
    }
}

impl Ijcsa {
    /// M from local models, where they, the length of the step or its shape have changed.
    fn respond(&mut self, step: &StepContext, signals: &Signals<'_>, weights: &Weights) -> Result<()> {
        let Self { jacobians, newton, width, .. } = self;
        let Jacobians::Local { responses, room } = jacobians else { return Ok(()) };
        let changed = responses.refresh(step, signals, |response, _, model| {
            let sizes = (model.states, model.inputs, model.outputs);
            if !response.is_of(sizes, *width) {
                *response = Response::new(model.states, model.inputs, model.outputs, *width);
            }
            match response.compute_as_solved(model, step.h, model.euler_step, room) {
                true => Ok(()),
                false => Err("its response over one step is not finite"),
            }
        })?;
        if !changed && self.shape == *weights.parabola() {
            return Ok(());
        }
        self.shape = *weights.parabola();
        for (i, response) in responses.each.iter().enumerate() {
            let Some(model) = signals.models.model(i) else { continue };
            let inputs = newton.layout.input_range(i);
            fill_block(&mut newton.blocks[i], model, response, step.h, |q| weights.of(inputs.start + q));
        }
        newton.factor();
        Ok(())
    }
}

impl Newton {
    fn new(system: &SystemView<'_>) -> Self {
        let layout = system.layout;
        let block = |i: usize| Matrix::zeros(layout.output_range(i).len(), layout.input_range(i).len());
        Self {
            layout: layout.clone(),
            interface: Interface::new(system, 1),
            blocks: (0..layout.subsystems()).map(block).collect(),
            is_ready: false,
            residual: vec![0.0; layout.inputs()],
            eta: vec![0.0; layout.outputs()],
        }
    }

    /// M from identified models, if there is one of every subsystem.
    fn learn(&mut self, signals: &Signals<'_>) {
        let model = |i: usize| signals.models.interface(i).filter(|model| model.is_finite());
        let has_ports = |i: usize| self.blocks[i].rows() > 0 && self.blocks[i].columns() > 0;
        let mut those = (0..self.blocks.len()).filter(|i| has_ports(*i));
        self.is_ready = those.all(|i| model(i).is_some());
        if !self.is_ready {
            return;
        }
        for (i, block) in self.blocks.iter_mut().enumerate() {
            if let Some(InterfaceModel { d_up, .. }) = model(i) {
                block.data_mut().copy_from_slice(d_up);
            }
        }
        self.factor();
    }

    fn factor(&mut self) {
        let blocks = &self.blocks;
        self.is_ready = self.interface.factor(|i| &blocks[i]);
    }

    /// Adds L dY of this residual to U; false if there are no Jacobians.
    #[must_use]
    fn add_step(
        &mut self,
        (inputs, residual): (&[usize], &[f64]),
        signals: &Signals<'_>,
        next: &mut [f64],
    ) -> bool {
        if !self.is_ready {
            return false;
        }
        self.residual.fill(0.0);
        inputs.iter().zip(residual).for_each(|(j, residual)| self.residual[*j] = *residual);
        self.eta.fill(0.0);
        for (i, block) in self.blocks.iter().enumerate() {
            let residual = &self.residual[self.layout.input_range(i)];
            block.multiply_add(residual, &mut self.eta[self.layout.output_range(i)]);
        }
        let blocks = &self.blocks;
        self.interface.solve(|i| &blocks[i], &mut self.eta);
        let is_finite = self.eta.iter().all(|value| value.is_finite());
        if is_finite {
            next.iter_mut().zip(inputs).for_each(|(next, j)| *next += signals.coupling.row(*j, &self.eta));
        }
        is_finite
    }
}

/// M = C G w + D w(h), G the response of the states to the Legendre coefficients of the inputs.
fn fill_block(
    block: &mut Matrix,
    model: &LocalModel,
    response: &Response,
    h: f64,
    weights: impl Fn(usize) -> [f64; 3],
) {
    let (n, m, width) = (model.states, model.inputs, response.width());
    for q in 0..m {
        let [w0, w1, w2] = weights(q);
        let powers = [w0, w1 * h, w2 * h * h];
        let coefficient = |b: usize| -> f64 { (0..3).map(|a| powers[a] * LEGENDRE[a][b]).sum() };
        let end: f64 = powers.iter().sum();
        for i in 0..model.outputs {
            let state = |k: usize| -> f64 {
                (0..width).map(|b| response.input_to_state[(k, q * width + b)] * coefficient(b)).sum()
            };
            let through_states: f64 = (0..n).map(|k| model.c[i * n + k] * state(k)).sum();
            block[(i, q)] = through_states + model.d[i * m + q] * end;
        }
    }
}
