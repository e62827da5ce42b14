//! Model-based pre-step stabilisation, continuous form [T 2.2.1], \[G18]: predict the monolithic solution one step
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
//! With intermediate values (`ede_intermediate`) the line of eps has their mean [T (2.58) to (2.60)]:
//! eps_cor = (1/h) int eps dt - (eps^k + eps^(k+1)) / 2 is added to both its ends. (The text's (2.58) lacks the inner step.)
//!
//! `offsets` carries what S_y does not know, as z' at the communication point tells; without it constants are not fixed
//! points when a subsystem has more states than outputs. `paper=true` gives the thesis' optimal set (table 3.5):
//! no error equation, exact extrapolation, no offsets, no scaling.
//! Steps 1 and 2 are exact for systems of up to 40 outputs (`closed.rs`). In larger ones the coupled inputs are parabolas over
//! the step (`sparse.rs`), which is linear in the number of subsystems; there the Euler solvers of the thesis are refused.

mod closed;
mod forcing;
mod maps;
mod settings;
mod sparse;
mod subsystem;
mod trial;

use costep_core::{
    AfterStep, Code, CouplingMethod, Deviations, Error, InputSet, InputShape, KnownInputs, Layout,
    MethodEntry, ModelDemand, ModelKind, ModelsSpec, Options, Request, Result, SampleRule, Signals,
    StateReader, StateWriter, StepContext, SystemView, Verdict, mean_outputs,
};

use crate::papers::{learnt, thesis};
use crate::shared::per_subsystem::PerSubsystem;
use crate::shared::sizes::Sizes;
use closed::ClosedLoop;
use forcing::Forcing;
use maps::Maps;
pub(crate) use settings::PreStepOptions;
use settings::Settings;
use sparse::SparseLoop;
use subsystem::{Scope, SubsystemResponse, Workspaces};

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "prestep",
    title: "model-based pre-step stabilisation",
    summary: "Predicts the monolithic solution one step ahead by the Interface Jacobians and chooses inputs that take \
              each subsystem there. The method of Genser's thesis; `predictive` needs less and is more accurate.",
    equations: "yhat = e^(Ahat h) (y + delta),  u: phi_A (y - D u_end) + P u = yhat",
    source: "[T] section 2.2.1; [G18] section 2",
    convergence_order: 1,
    deviations: Deviations {
        // Sums in place of integrals do not know equilibria.
        drift: &["phi_steps"],
        // The thesis knows a subsystem by its outputs alone.
        drift_of_hidden_states: &["offsets", "paper"],
        ..Deviations::NONE
    },
    // Not those from responses: C A C^+ depends on the coordinates of the states, which responses do not tell.
    models: &[ModelKind::Local, ModelKind::Discrete],
    options: PreStepOptions::SPECS,
    papers: Some(&thesis::PRESTEP),
    build,
};

/// Most outputs of a system whose closed loop is a dense matrix.
const MOST_DENSE: usize = 40;

struct PreStep {
    settings: Settings,
    inputs: InputSet,
    layout: Layout,
    is_ours: Vec<bool>,
    /// Whether an input is optimised: one that comes from outside alone is known.
    is_optimised: Vec<bool>,
    forcing: Forcing,
    parts: PerSubsystem<SubsystemResponse>,
    maps: Maps,
    coupled: CoupledSystem,
    workspaces: Workspaces,
    h: f64,
    /// Step 1: what is carried, and what will be when the next step begins.
    memory: Memory,
    next: Memory,
    /// y + delta, the estimate of the monolithic output.
    monolithic: Vec<f64>,
    located: Located,
    /// u_ref, then the optimised input or slope.
    reference: Vec<f64>,
    rest: Vec<f64>,
    /// yhat and L yhat + r.
    y_ahead: Vec<f64>,
    u_ahead: Vec<f64>,
    /// Scales of step 3.
    sizes: Sizes,
}

/// Steps 1 and 2.
enum CoupledSystem {
    Dense(Box<ClosedLoop>),
    Sparse(Box<SparseLoop>),
}

/// Where the subsystems stand: z and w of all outputs.
#[derive(Default)]
struct Located {
    z: Vec<f64>,
    w: Vec<f64>,
}

#[derive(Clone, Default)]
struct Memory {
    /// delta, estimate of the monolithic output minus the output.
    delta: Vec<f64>,
    /// eps, coupling error at the start of the step, under the new input.
    eps: Vec<f64>,
    /// Mean of eps over the step; not a number before there is one, empty where nobody asks for it.
    mean: Vec<f64>,
}

fn build(options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    if models.entry.kind == ModelKind::Discrete {
        return learnt::prestep(options, models);
    }
    Box::new(PreStep {
        settings: Settings::new(options),
        inputs: InputSet::All(0),
        layout: Layout::default(),
        is_ours: Vec::new(),
        is_optimised: Vec::new(),
        forcing: Forcing::default(),
        parts: PerSubsystem::default(),
        maps: Maps::default(),
        coupled: CoupledSystem::Dense(Box::default()),
        workspaces: Workspaces::default(),
        h: 0.0,
        memory: Memory::default(),
        next: Memory::default(),
        monolithic: Vec::new(),
        located: Located::default(),
        reference: Vec::new(),
        rest: Vec::new(),
        y_ahead: Vec::new(),
        u_ahead: Vec::new(),
        sizes: Sizes::default(),
    })
}

impl CouplingMethod for PreStep {
    fn request(&self) -> Request {
        Request {
            inputs: InputShape::polynomials(usize::from(self.settings.ramp)),
            known_inputs: KnownInputs::Kept,
            models: ModelDemand::Full { states: true },
            micro_samples: self.settings.ede_intermediate,
            after_step: if self.settings.ede_intermediate { AfterStep::Look } else { AfterStep::Nothing },
            ..Request::default()
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let (inputs, outputs) = (system.layout.inputs(), system.layout.outputs());
        self.inputs = system.inputs.clone();
        self.layout = system.layout.clone();
        self.is_ours = (0..inputs).map(|j| system.inputs.contains(j)).collect();
        let has_source = |j: usize| system.coupling.sources(j).next().is_some();
        self.is_optimised = (0..inputs).map(|j| self.is_ours[j] && has_source(j)).collect();
        self.forcing = Forcing::new(inputs);
        self.parts = PerSubsystem::new(system.layout.subsystems());
        (self.settings.width, self.coupled) = if outputs <= MOST_DENSE {
            (2, CoupledSystem::Dense(Box::new(ClosedLoop::new(system, &self.is_ours))))
        } else if self.settings.uses_euler() {
            return Err(too_large_for_euler(outputs));
        } else {
            (sparse::WIDTH, CoupledSystem::Sparse(Box::new(SparseLoop::new(system, &self.is_ours))))
        };
        self.h = 0.0;
        self.settings.carries_offsets = if self.settings.offsets { None } else { Some(false) };
        let room = if self.settings.ede_intermediate { inputs } else { 0 };
        self.memory =
            Memory { delta: vec![0.0; outputs], eps: vec![0.0; inputs], mean: vec![f64::NAN; room] };
        self.next = self.memory.clone();
        (self.y_ahead, self.u_ahead) = (vec![0.0; outputs], vec![0.0; inputs]);
        self.monolithic = vec![0.0; outputs];
        self.located = Located { z: vec![0.0; outputs], w: vec![0.0; outputs] };
        (self.reference, self.rest) = (vec![0.0; inputs], vec![0.0; outputs]);
        self.sizes = Sizes::new(system);
        Ok(())
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.sizes.start(signals.y, signals.coupled);
        self.refresh(step, signals)?;
        if self.settings.carries_offsets.is_none() {
            self.settings.carries_offsets = Some(self.offsets_help(step, signals)?);
        }
        self.form_inputs(step, signals)
    }

    /// The mean of eps, by the intermediate values of the outputs.
    fn post_step(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        if !self.settings.ede_intermediate {
            return Ok(Verdict::Accept);
        }
        let all = 0..self.layout.subsystems();
        let ends = (signals.y, signals.y_next);
        let mean = &mut self.monolithic;
        mean_outputs(SampleRule::Declared, (signals.micro, &self.layout), all, ends, mean);
        for j in self.inputs.iter() {
            let slope = if self.settings.ramp { signals.inputs.coefficients(1)[j] } else { 0.0 };
            let applied = signals.inputs.coefficients(0)[j] + 0.5 * step.h * slope;
            self.next.mean[j] = signals.coupling.row(j, mean) + signals.external_mean[j] - applied;
        }
        Ok(Verdict::Accept)
    }

    fn save(&self, out: &mut StateWriter) {
        out.reals(&self.next.delta);
        out.reals(&self.next.eps);
        if self.settings.ede_intermediate {
            out.reals(&self.next.mean);
        }
        out.integer(match self.settings.carries_offsets {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        });
        self.sizes.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.parts.restored();
        from.reals(&mut self.next.delta)?;
        from.reals(&mut self.next.eps)?;
        if self.settings.ede_intermediate {
            from.reals(&mut self.next.mean)?;
        }
        self.settings.carries_offsets = [None, Some(false), Some(true)][from.index(3)?];
        self.sizes.load(from)
    }
}

#[cold]
fn too_large_for_euler(outputs: usize) -> Error {
    let message = format!("explicit Euler for the closed loop of {outputs} outputs is not supported");
    Error::new(Code::NeedsMissing, message)
        .because(format!("beyond {MOST_DENSE} outputs the closed loop is not one matrix"))
        .hint("leave `extrapolation` and `ede_solver` at `exact`")
}

impl PreStep {
    /// Steps 1 to 3, for models that have been taken.
    fn form_inputs(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        if step.repetition == 0 {
            self.memory.delta.copy_from_slice(&self.next.delta);
            self.memory.eps.copy_from_slice(&self.next.eps);
            self.memory.mean.copy_from_slice(&self.next.mean);
        }
        self.locate(signals);
        if self.settings.ede_steps.is_some() && step.k > 0 {
            self.error_equation(signals);
        }
        self.extrapolate(step, signals);
        if self.settings.modified {
            self.write(signals, |method, j| method.u_ahead[j]);
        } else {
            self.optimise(signals);
        }
        for j in self.inputs.iter() {
            self.next.eps[j] = signals.coupled[j] - signals.inputs.coefficients(0)[j];
        }
        Ok(())
    }

    fn refresh(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<()> {
        let Self { settings, layout, is_optimised, sizes, workspaces, .. } = self;
        self.h = step.h;
        let changed = self.parts.refresh(step, signals, |part, i, model| {
            let (us, ys) = (layout.input_range(i), layout.output_range(i));
            let sizes = settings.scaled.then_some((&sizes.outputs[ys], &sizes.inputs[us.clone()]));
            part.update(model, step.h, settings, &Scope { ours: &is_optimised[us], sizes }, workspaces)
        })?;
        if !changed {
            return Ok(());
        }
        let is_sparse = matches!(self.coupled, CoupledSystem::Sparse(_));
        self.maps.collect(&self.parts.each, self.settings.ramp, is_sparse);
        let steps = [self.settings.ede_steps, Some(self.settings.extrapolation_steps)];
        match &mut self.coupled {
            CoupledSystem::Dense(closed) => closed.update(&self.parts.each, &self.layout, step.h, steps),
            CoupledSystem::Sparse(sparse) => sparse.update(&self.parts.each, step),
        }
    }

    /// z = y - D u_end of each part, and w = z' - S_y z - C B u_end.
    fn locate(&mut self, signals: &Signals<'_>) {
        for i in 0..self.layout.subsystems() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let carries_offsets = self.settings.carries_offsets == Some(true);
            let state = if carries_offsets { signals.models.state(i) } else { None };
            if state.is_none() {
                self.located.w[ys.clone()].fill(0.0);
            }
            let place = (&mut self.located.z[ys.clone()], &mut self.located.w[ys.clone()]);
            let seen = (&signals.y[ys], &signals.u_end[us]);
            self.maps.locate(i, seen, state.map(|(_, x_dot)| x_dot), place);
        }
    }

    /// Step 1. delta over the step that has just ended; eps goes linearly from its value under the input that the step
    /// began with to its value at the end.
    fn error_equation(&mut self, signals: &Signals<'_>) {
        let Self { coupled, memory, next, h, is_ours, forcing, .. } = self;
        let end = |j: usize| if is_ours[j] { signals.coupled[j] - signals.u_end[j] } else { 0.0 };
        // (2.58): not a number, and so nothing, before there was a step.
        let shift = |j: usize| {
            let mean = memory.mean.get(j).copied().unwrap_or(f64::NAN);
            if mean.is_finite() { mean - 0.5 * (memory.eps[j] + end(j)) } else { 0.0 }
        };
        forcing.lines(*h, |j| memory.eps[j] + shift(j), |j| (end(j) - memory.eps[j]) / *h);
        match coupled {
            CoupledSystem::Dense(closed) => {
                closed.force(forcing);
                closed.advance(0, &memory.delta, &mut next.delta);
            }
            CoupledSystem::Sparse(sparse) => {
                let ends = (&memory.delta[..], &mut next.delta[..]);
                sparse.advance((&self.parts.each, &self.maps), signals.coupling, *h, (forcing, None), ends);
            }
        }
    }

    /// Step 2. yhat, with the external inputs as lines and the offsets.
    fn extrapolate(&mut self, step: &StepContext, signals: &Signals<'_>) {
        let Self { coupled, monolithic, next, y_ahead, is_ours, forcing, located, .. } = self;
        let w = &located.w;
        forcing.externals(step, signals, is_ours);
        monolithic.copy_from_slice(signals.y);
        monolithic.iter_mut().zip(&next.delta).for_each(|(y, delta)| *y += delta);
        match coupled {
            CoupledSystem::Dense(closed) => {
                closed.force(forcing);
                closed.add_offsets(w);
                closed.feed_through(|j| forcing.gap_at_start(j), monolithic);
                closed.advance(1, monolithic, y_ahead);
                closed.feed_through(|j| forcing.gap_at_end(j, step.h), y_ahead);
            }
            CoupledSystem::Sparse(sparse) => {
                let forcing = (&*forcing, Some(&w[..]));
                let (parts, ends) = ((&self.parts.each[..], &self.maps), (&monolithic[..], &mut y_ahead[..]));
                sparse.advance(parts, signals.coupling, step.h, forcing, ends);
            }
        }
        let known = if self.settings.ramp { signals.external_next } else { signals.external_mean };
        for j in self.inputs.iter() {
            self.u_ahead[j] = signals.coupling.row(j, &self.y_ahead) + known[j];
        }
    }

    /// Step 3, part by part.
    fn optimise(&mut self, signals: &mut Signals<'_>) {
        let h = self.h;
        if self.settings.trapezoid {
            // y(h) - yhat(h) + y(0) - yhat(0) -> 0, and yhat(0) = y(0) + delta.
            self.y_ahead.iter_mut().zip(&self.next.delta).for_each(|(y, delta)| *y += delta);
        }
        // The reference: the predicted input, or the slope that leads to it.
        for j in 0..self.reference.len() {
            self.reference[j] = match (self.is_ours[j], self.settings.ramp) {
                (false, false) => signals.coupled[j],
                (false, true) => 0.0,
                (true, false) => self.u_ahead[j],
                (true, true) => (self.u_ahead[j] - signals.coupled[j]) / h,
            };
        }
        for i in 0..self.layout.subsystems() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let start = self.settings.ramp.then_some(&signals.coupled[us.clone()]);
            let located = (&self.located.z[ys.clone()], &self.located.w[ys.clone()]);
            let place = (&mut self.reference[us], &mut self.rest[ys.clone()]);
            self.maps.optimise(i, located, &self.y_ahead[ys], start, place);
        }
        self.write(signals, |method, j| method.reference[j]);
    }

    /// Writes a value per input of the group: the held input, or the slope from L y.
    fn write(&self, signals: &mut Signals<'_>, value: impl Fn(&Self, usize) -> f64) {
        for j in self.inputs.iter() {
            let coupled = signals.coupled[j];
            let chosen = value(self, j);
            if !self.settings.ramp {
                signals.inputs.coefficients_mut(0)[j] = chosen;
                continue;
            }
            let slope = if self.settings.modified { (chosen - coupled) / self.h } else { chosen };
            signals.inputs.coefficients_mut(0)[j] = coupled;
            signals.inputs.coefficients_mut(1)[j] = slope;
        }
    }
}
