//! Model-based corrector \[H18]: after a step the outputs are corrected by what the wrong input did to them, and in
//! the next step an offset pays back what it did to the states.
//!
//! ```text
//! y_corr  = [I - (C B_d + D) L]^-1 (y - C B_d (u_bar + r_before - r_mean) - D u_end + D r)     [H18 (2)]
//! u_bar'  = L y_corr                                     the next input, uncorrected
//! u'      = u_bar' + alpha (L (y_corr_before + y_corr) / 2 - u_bar) + r                        [H18 (3)]
//! ```
//!
//! External inputs r are known: what was applied of them, r_before, was right, so there is nothing to pay back, whether they jump
//! or not. Where inputs are held, what they will change by is seen ahead, as in the text; along lines it is part of them.
//! The text of (2) has one input for both parts. Here u_bar, the uncorrected input, goes with B_d: the offset is meant
//! to cancel in the states. The input that was really applied goes with D: the offset is not meant to pass through.
//! A correction far beyond all that an output has ever changed by in a step is cut: where [I - (C B_d + D) L] is nearly singular,
//! or a model far off, it would feed back into the models of the next step until they are not finite. `paper=true` cuts nothing.
//! `discretisation=euler` takes B_d = B h, which comes nearest to the stability area the thesis gives. Order 1 goes on
//! along the line through the last corrected values; B_d then is the response to a ramp. One small solve per step.

use costep_core::{
    CouplingMethod, Deviations, InputSet, InputShape, KnownInputs, Layout, LocalModel, MethodEntry,
    ModelDemand, ModelKind, ModelsSpec, Options, Request, Result, Signals, StateReader, StateWriter,
    StepContext, SystemView, choice, options,
};
use costep_linalg::Matrix;

use crate::papers::thesis::UnguardedOptions;
use crate::papers::{learnt, thesis};
use crate::shared::interface::Interface;
use crate::shared::models::{CONTINUOUS_MODELS, singular_interface};
use crate::shared::per_subsystem::{PerSubsystem, RAMP};
use crate::shared::response::{Response, ResponseWorkspace};
use crate::shared::sizes::Sizes;

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "mbcorr",
    title: "model-based corrector",
    summary: "Corrects the outputs of each step by what the error of the input did to them, and compensates \
              its effect on the states in the next step. Needs B, C and D of the local models.",
    equations: "y_corr = [I - (C B_d + D) L]^-1 (y - C B_d u_bar - D u_end),  \
                u = L y_corr + alpha (L mean(y_corr) - u_bar)",
    source: "[H18] (2), (3)",
    convergence_order: 1,
    deviations: Deviations::NONE,
    models: ModelKind::ALL,
    options: CorrectorOptions::SPECS,
    papers: Some(&thesis::CORRECTOR),
    build,
};

/// Corrections stay within so many of the greatest change of an output over a step, or of its size.
const FURTHEST: f64 = 10.0;

choice! {
    /// How B_d follows from B.
    enum Discretisation {
        /// By the matrix exponential.
        Exact = "exact",
        /// B h.
        Euler = "euler",
    }
}

options! {
    /// What users choose from.
    struct CorrectorOptions {
        /// hold the corrected values, or go on along their line
        order: usize = 0 in 0..=1, only [CONTINUOUS_MODELS];
        /// B_d by the matrix exponential, or B h
        discretisation: Discretisation, only [CONTINUOUS_MODELS];
        /// gain of the offset
        alpha: f64 = 1.0 in 0.0..=2.0;
    }
}

/// alpha of checked options.
pub fn offset_gain(options: &Options) -> f64 {
    CorrectorOptions::read(options).alpha
}

struct Corrector {
    order: usize,
    euler: bool,
    alpha: f64,
    /// As in the paper: corrections of any size are taken.
    unguarded: bool,
    inputs: InputSet,
    layout: Layout,
    interface: Interface,
    parts: PerSubsystem<SubsystemModel>,
    /// C B_d, then D, of one subsystem after the other, for the steps.
    gains: Vec<f64>,
    shop: ResponseWorkspace,
    sizes: Sizes,
    memory: Memory,
    /// What becomes the memory when the next step begins: a repeated step must start from the same.
    next: Memory,
}

/// What is carried from step to step.
#[derive(Clone, Default)]
struct Memory {
    started: bool,
    /// y_corr^(k-1).
    corrected: Vec<f64>,
    /// u_bar at the end, and its mean over the last step, without external inputs.
    bar_end: Vec<f64>,
    bar_mean: Vec<f64>,
    /// Mean of the external inputs over the last step.
    known: Vec<f64>,
    /// y^(k-1), and the greatest change of each output over a step.
    y: Vec<f64>,
    changes: Vec<f64>,
}

/// M = C B_d + D of a subsystem, and C B_d alone.
#[derive(Default)]
struct SubsystemModel {
    response: Response,
    through_state: Matrix,
    total: Matrix,
}

fn build(options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    let CorrectorOptions { order, discretisation, alpha } = CorrectorOptions::read(options);
    if models.entry.kind == ModelKind::Discrete {
        return learnt::corrector(alpha, options, models);
    }
    Box::new(Corrector {
        order,
        euler: match discretisation {
            Discretisation::Exact => false,
            Discretisation::Euler => true,
        },
        alpha,
        unguarded: UnguardedOptions::read(options).paper,
        inputs: InputSet::All(0),
        layout: Layout::default(),
        interface: Interface::default(),
        parts: PerSubsystem::default(),
        gains: Vec::new(),
        shop: ResponseWorkspace::default(),
        sizes: Sizes::default(),
        memory: Memory::default(),
        next: Memory::default(),
    })
}

impl CouplingMethod for Corrector {
    fn request(&self) -> Request {
        Request {
            inputs: InputShape::polynomials(self.order),
            known_inputs: if self.order == 0 { KnownInputs::Mean } else { KnownInputs::Interpolated },
            models: ModelDemand::Full { states: false },
            ..Request::default()
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let (inputs, outputs) = (system.layout.inputs(), system.layout.outputs());
        self.inputs = system.inputs.clone();
        self.layout = system.layout.clone();
        self.interface = Interface::new(system, 1);
        self.parts = PerSubsystem::new(system.layout.subsystems());
        self.memory = Memory {
            started: false,
            corrected: vec![0.0; outputs],
            bar_end: vec![0.0; inputs],
            bar_mean: vec![0.0; inputs],
            known: vec![0.0; inputs],
            y: vec![0.0; outputs],
            changes: vec![0.0; outputs],
        };
        self.next = self.memory.clone();
        self.sizes = Sizes::new(system);
        Ok(())
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.sizes.start(signals.y, signals.coupled);
        // What is corrected is the effect of the last step.
        self.refresh(&StepContext { h: step.h_before_or_now(), ..*step }, signals)?;
        if step.repetition == 0 {
            self.memory.take(&self.next);
        }
        if !self.memory.started {
            // Nothing has gone wrong yet: the memory starts with the initial values.
            self.memory.start(signals);
        }
        self.next.started = true;
        self.correct_outputs(signals);
        self.cut_corrections(signals.y);
        self.write_inputs(step, signals);
        Ok(())
    }

    fn save(&self, out: &mut StateWriter) {
        out.integer(u64::from(self.next.started));
        let Memory { corrected, bar_end, bar_mean, known, y, changes, .. } = &self.next;
        [corrected, bar_end, bar_mean, known, y, changes].into_iter().for_each(|values| out.reals(values));
        self.sizes.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.parts.restored();
        self.next.started = from.index(2)? == 1;
        let Memory { corrected, bar_end, bar_mean, known, y, changes, .. } = &mut self.next;
        for values in [corrected, bar_end, bar_mean, known, y, changes] {
            from.reals(values)?;
        }
        self.sizes.load(from)
    }
}

impl Corrector {
    fn refresh(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<()> {
        let (order, euler) = (self.order, self.euler);
        let shop = &mut self.shop;
        let changed = self
            .parts
            .refresh(step, signals, |part, _, model| part.update(model, step.h, (order, euler), shop))?;
        if !changed {
            return Ok(());
        }
        let parts = &self.parts.each;
        self.gains.clear();
        for part in parts {
            let (through_state, total) = (part.through_state.data(), part.total.data());
            self.gains.extend(through_state);
            self.gains.extend(total.iter().zip(through_state).map(|(total, through)| total - through));
        }
        if self.interface.factor(|i| &parts[i].total) { Ok(()) } else { Err(singular_interface(step)) }
    }

    /// y_corr by (2), with the external input that is new at this point.
    fn correct_outputs(&mut self, signals: &Signals<'_>) {
        self.next.corrected.copy_from_slice(signals.y);
        let mut gains = &self.gains[..];
        for i in 0..self.layout.subsystems() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let (through_states, rest) = gains.split_at(us.len() * ys.len());
            let (directs, rest) = rest.split_at(through_states.len());
            gains = rest;
            for (row, at) in ys.enumerate() {
                for (q, j) in us.clone().enumerate() {
                    let through_state = through_states[row * us.len() + q];
                    let direct = directs[row * us.len() + q];
                    let ahead =
                        if self.order == 0 { signals.external_mean[j] - self.memory.known[j] } else { 0.0 };
                    self.next.corrected[at] += direct * (signals.external[j] - signals.u_end[j])
                        + through_state * (ahead - self.memory.bar_end[j]);
                }
            }
        }
        let parts = &self.parts.each;
        self.interface.solve(|i| &parts[i].total, &mut self.next.corrected);
    }

    fn cut_corrections(&mut self, y: &[f64]) {
        for (i, corrected) in self.next.corrected.iter_mut().enumerate() {
            let change = self.memory.changes[i].max((y[i] - self.memory.y[i]).abs());
            (self.next.changes[i], self.next.y[i]) = (change, y[i]);
            if !self.unguarded {
                let furthest = FURTHEST * change.max(self.sizes.outputs[i]);
                *corrected = corrected.max(y[i] - furthest).min(y[i] + furthest);
            }
        }
    }

    fn write_inputs(&mut self, step: &StepContext, signals: &mut Signals<'_>) {
        let (h, h_before) = (step.h, step.h_before_or_now());
        // A shorter step pays back its share only: all of it would take an offset that grows without bound
        // as the step, such as the last one before the stop time, gets shorter.
        let share = (h_before / h).min(1.0);
        for j in self.inputs.iter() {
            let row = |y: &[f64]| signals.coupling.row(j, y);
            let (before, now) = (row(&self.memory.corrected), row(&self.next.corrected));
            let slope = if self.order == 1 { (now - before) / h_before } else { 0.0 };
            self.next.bar_end[j] = now + h * slope;
            self.next.bar_mean[j] = now + 0.5 * h * slope;
            let offset = self.alpha * (0.5 * (before + now) - self.memory.bar_mean[j]) * share;
            signals.inputs.coefficients_mut(0)[j] = now + offset;
            if self.order == 1 {
                signals.inputs.coefficients_mut(1)[j] = slope;
            }
        }
        signals.add_externals(step, self.order, &self.inputs);
        self.next.known.copy_from_slice(signals.external_mean);
    }
}

impl Memory {
    fn start(&mut self, signals: &Signals<'_>) {
        self.started = true;
        self.corrected.copy_from_slice(signals.y);
        self.y.copy_from_slice(signals.y);
        self.known.copy_from_slice(signals.external_mean);
        for (j, bar) in self.bar_end.iter_mut().enumerate() {
            *bar = signals.coupled[j] - signals.external[j];
        }
        self.bar_mean.copy_from_slice(&self.bar_end);
    }

    fn take(&mut self, next: &Self) {
        self.started = next.started;
        self.corrected.copy_from_slice(&next.corrected);
        self.bar_end.copy_from_slice(&next.bar_end);
        self.bar_mean.copy_from_slice(&next.bar_mean);
        self.known.copy_from_slice(&next.known);
        self.y.copy_from_slice(&next.y);
        self.changes.copy_from_slice(&next.changes);
    }
}

impl SubsystemModel {
    fn update(
        &mut self,
        model: &LocalModel,
        h: f64,
        (order, euler): (usize, bool),
        shop: &mut ResponseWorkspace,
    ) -> Result<(), &'static str> {
        let (n, m, r) = (model.states, model.inputs, model.outputs);
        if (self.total.rows(), self.total.columns()) != (r, m) || self.response.state_to_state.rows() != n {
            self.response = Response::new(n, m, r, order + 1);
            (self.through_state, self.total) = (Matrix::zeros(r, m), Matrix::zeros(r, m));
        }
        if !euler && !self.response.compute(model, h, shop) {
            return Err("its response over one step is not finite");
        }
        let weights = if order == 0 { [1.0, 0.0] } else { RAMP };
        let b_d = |k: usize, q: usize| {
            if euler {
                model.b[k * m + q] * h * weights[0]
            } else {
                (0..=order).map(|a| weights[a] * self.response.input_to_state[(k, q * (order + 1) + a)]).sum()
            }
        };
        for i in 0..r {
            for q in 0..m {
                let through_state = (0..n).map(|k| model.c[i * n + k] * b_d(k, q)).sum();
                self.through_state[(i, q)] = through_state;
                self.total[(i, q)] = through_state + model.d[i * m + q];
            }
        }
        Ok(())
    }
}
