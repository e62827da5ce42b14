//! Whether offsets help. What the Interface Jacobians do not know of a subsystem is mostly the motion of states that its
//! outputs do not show. To hold that over a step makes predictions better, but in some loops it turns the lead of an input
//! that is held at the predicted end of the step into negative damping (chains of masses), which predictions one step
//! ahead do not tell. So the local models are coupled by the method itself, once for each way, before the first step: offsets
//! are left out if with them the models grow, and without them less or not at all.
//!
//! Takes as long as so many steps of the method without subsystems; nothing where outputs show all states.

use costep_core::{
    Capabilities, Description, Experiment, InputPolynomials, LocalModel, ModelSource, Observation, Result,
    Signals, StepContext, Subsystem,
};

use super::PreStep;
use crate::shared::per_subsystem::{RAMP, row};
use crate::shared::response::{Response, ResponseWorkspace};

/// Steps of a trial.
const STEPS: usize = 1000;
/// What grows by more than this over the last quarter of them is unstable; less may be a beat.
const GROWS: f64 = 1.1;
/// What grows by more than this is far too unstable for offsets to be to blame.
const WILD: f64 = 2.0;
/// Amplitudes beyond this are not worth waiting for more.
const BLOWN_UP: f64 = 1e60;
/// States that do not show contribute less than this of a derivative: round-off.
const NEGLIGIBLE: f64 = 1e-9;

/// Linear models in place of subsystems, far enough from round-off.
struct LinearModels {
    each: Vec<LocalModel>,
    responses: Vec<Response>,
    versions: Vec<u64>,
    generation: Option<u64>,
    y: Vec<f64>,
    coupled: Vec<f64>,
    u_end: Vec<f64>,
}

impl LinearModels {
    /// The models of a run at a point; none if there are none that could be tried.
    fn new(method: &PreStep, h: f64, signals: &Signals<'_>) -> Option<Self> {
        let (layout, mut shop) = (&method.layout, ResponseWorkspace::default());
        let (mut each, mut responses) = (Vec::new(), Vec::new());
        for i in 0..layout.subsystems() {
            let mut model = signals.models.model(i)?.clone();
            let mut response = Response::new(model.states, model.inputs, model.outputs, 2);
            if !response.compute(&model, h, &mut shop) {
                return None;
            }
            for (k, x) in model.x.iter_mut().enumerate() {
                // Anything without a pattern.
                let size = if model.nominal[k] > 0.0 { model.nominal[k] } else { 1.0 };
                *x = size * (((each.len() + k + 1) as f64 * 0.618_034).fract() - 0.4);
            }
            each.push(model);
            responses.push(response);
        }
        let versions = (0..each.len()).map(|i| signals.models.version(i)).collect();
        let (inputs, outputs) = (layout.inputs(), layout.outputs());
        let (y, coupled, u_end) = (vec![0.0; outputs], vec![0.0; inputs], vec![0.0; inputs]);
        let generation = signals.models.generation();
        Some(Self { each, responses, versions, generation, y, coupled, u_end })
    }

    /// Outputs and derivatives under the inputs at the end of the last step.
    fn arrive(&mut self, method: &PreStep, signals: &Signals<'_>) {
        for (i, model) in self.each.iter_mut().enumerate() {
            let u = &self.u_end[method.layout.input_range(i)];
            for k in 0..model.states {
                model.x_dot[k] = row(&model.a, k, &model.x) + row(&model.b, k, u);
            }
            for (k, y) in self.y[method.layout.output_range(i)].iter_mut().enumerate() {
                *y = row(&model.c, k, &model.x) + row(&model.d, k, u);
            }
        }
        for j in method.inputs.iter() {
            self.coupled[j] = signals.coupling.row(j, &self.y);
        }
    }

    /// States at the end of a step under these inputs.
    fn advance(&mut self, method: &PreStep, h: f64, inputs: &InputPolynomials) {
        let slope = |j: usize| if inputs.order() > 0 { inputs.coefficients(1)[j] } else { 0.0 };
        for (i, (model, response)) in self.each.iter_mut().zip(&self.responses).enumerate() {
            let us = method.layout.input_range(i);
            let old = &mut model.x_dot;
            old.copy_from_slice(&model.x);
            for (k, x) in model.x.iter_mut().enumerate() {
                let gains = response.input_to_state.row(k).chunks_exact(2).zip(us.clone());
                let forced = gains.map(|(gain, j)| {
                    let rise = h * slope(j);
                    gain[0] * (inputs.coefficients(0)[j] + RAMP[0] * rise) + gain[1] * RAMP[1] * rise
                });
                *x = row(response.state_to_state.data(), k, old) + forced.sum::<f64>();
            }
        }
        for (j, u) in self.u_end.iter_mut().enumerate() {
            *u = inputs.coefficients(0)[j] + h * slope(j);
        }
    }
}

impl ModelSource for LinearModels {
    fn name(&self) -> &'static str {
        "linear models"
    }

    fn prepare(&mut self, _: &[Description], _: &[Capabilities], _: &Experiment) -> Result<()> {
        Ok(())
    }

    fn observe(&mut self, _: usize, _: &mut dyn Subsystem, _: &Observation<'_>) -> Result<()> {
        Ok(())
    }

    fn model(&self, i: usize) -> Option<&LocalModel> {
        self.each.get(i)
    }

    fn version(&self, i: usize) -> u64 {
        self.versions[i]
    }

    fn generation(&self) -> Option<u64> {
        self.generation
    }
}

impl PreStep {
    /// Whether offsets are to be carried from here on.
    #[cold]
    pub(super) fn offsets_help(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<bool> {
        if !self.hides_states(signals) {
            return Ok(true);
        }
        let memory = (self.memory.clone(), self.next.clone());
        let mut growth = |offsets: bool| {
            self.settings.carries_offsets = Some(offsets);
            (self.memory, self.next) = memory.clone();
            self.growth(step, signals)
        };
        let with = growth(true)?;
        let helps = with.is_none_or(|with| with <= GROWS)
            || growth(false)?
                .is_none_or(|without| without > WILD || with.is_some_and(|with| GROWS * without > with));
        (self.memory, self.next) = memory;
        Ok(helps)
    }

    /// Whether there are states whose motion the outputs do not tell: C A is not S_y C.
    fn hides_states(&self, signals: &Signals<'_>) -> bool {
        self.parts.each.iter().enumerate().any(|(i, part)| {
            let Some(model) = signals.models.model(i) else { return false };
            let (n, r) = (model.states, model.outputs);
            (0..r * n).any(|entry| {
                let (k, q) = (entry / n, entry % n);
                let terms = |m: &[f64], width: usize, c: &[f64]| -> (f64, f64) {
                    let products = (0..width).map(|l| m[k * width + l] * c[l * n + q]);
                    products.fold((0.0, 0.0), |(sum, size), term| (sum + term, f64::max(size, term.abs())))
                };
                let ((moves, a), (known, b)) =
                    (terms(&model.c, n, &model.a), terms(&part.model.a, r, &model.c));
                (moves - known).abs() > NEGLIGIBLE * a.max(b)
            })
        })
    }

    /// By how much the coupled local models grow under this method, over the last quarter of a trial; none if that
    /// cannot be tried.
    fn growth(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<Option<f64>> {
        let Some(mut models) = LinearModels::new(self, step.h, signals) else { return Ok(None) };
        let mut inputs = InputPolynomials::new(self.layout.inputs(), usize::from(self.settings.ramp));
        let nothing = vec![0.0; self.layout.inputs()];
        let mut quarters = [0.0_f64; 4];
        for k in 0..STEPS {
            models.arrive(self, signals);
            let sizes = self.sizes.outputs.iter();
            let size = models.y.iter().zip(sizes).map(|(y, size)| (y / size).abs()).fold(0.0, f64::max);
            if size.is_nan() || size > BLOWN_UP {
                return Ok(Some(f64::INFINITY));
            }
            quarters[4 * k / STEPS] = quarters[4 * k / STEPS].max(size);
            let mut trial = Signals {
                y: &models.y,
                coupled: &models.coupled,
                y_next: &models.y,
                external: &nothing,
                external_next: &nothing,
                external_mean: &nothing,
                externals: &[],
                coupling: signals.coupling,
                history: signals.history,
                inputs: &mut inputs,
                micro: signals.micro,
                descriptions: signals.descriptions,
                models: &models,
                environments: &mut [],
                u_end: &models.u_end,
            };
            self.form_inputs(&StepContext { k: k as u64, repetition: 0, ..*step }, &mut trial)?;
            models.advance(self, step.h, &inputs);
        }
        Ok(Some(quarters[3] / quarters[2]).filter(|growth| growth.is_finite()))
    }
}
