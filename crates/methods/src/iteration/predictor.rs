//! The inputs that a step is tried with first: from signals, or from a method that knows what comes.
//!
//! `extrapolation` goes on along the line through the last two values, `hold` stays at the last one. `predictive` and
//! `identified` form the inputs as they do on their own; where the outputs are what they expect, the step is done.

use costep_core::{
    Arrival, CouplingMethod, InputSet, ModelsSpec, Options, Request, Result, Signals, StateReader,
    StateWriter, StepContext, SystemView,
};

use super::options::{PredictorKind, Shape};
use super::shape::{Course, Weights, order};
use crate::identified::{self, HoldOrRamp, IdentifiedOptions};
use crate::predictive;

/// The prediction p of the inputs of a group, and the coupled values E that it expects at the end of the step.
pub(crate) struct Prediction {
    kind: PredictorKind,
    /// The method that predicts, if it is one, and the order of its inputs.
    method: Option<Box<dyn CouplingMethod>>,
    method_order: usize,
    /// Of `method`: it reads its own from them.
    options: Options,
    inputs: Vec<usize>,
    courses: Vec<Course>,
    /// Number of all inputs.
    stride: usize,
    /// Coefficients of the polynomials, for the inputs of the group.
    base: Vec<f64>,
    /// E of all inputs, without their external share.
    ends: Vec<f64>,
    /// Outputs that the method expects.
    outputs: Vec<f64>,
    order: usize,
    group: InputSet,
}

impl Prediction {
    pub(crate) fn new(kind: PredictorKind, options: &Options, models: &ModelsSpec) -> Self {
        let method = match kind {
            PredictorKind::Extrapolation | PredictorKind::Hold => None,
            PredictorKind::Predictive => Some((predictive::ENTRY.build)(options, models)),
            PredictorKind::Identified => Some(identified(options, HoldOrRamp::Hold)),
        };
        Self {
            kind,
            method,
            method_order: 0,
            options: options.clone(),
            inputs: Vec::new(),
            courses: Vec::new(),
            stride: 0,
            base: Vec::new(),
            ends: Vec::new(),
            outputs: Vec::new(),
            order: 0,
            group: InputSet::All(0),
        }
    }

    /// Lets the method choose; `identified` takes ramps where all inputs do.
    pub(crate) fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        if self.kind == PredictorKind::Identified
            && system.inputs.iter().all(|j| system.order_of_input(j) > 0)
        {
            self.method = Some(identified(&self.options, HoldOrRamp::Ramp));
        }
        self.method.as_mut().map_or(Ok(()), |method| method.choose(system))
    }

    /// What the method asks for.
    pub(crate) fn request(&self) -> Request {
        self.method.as_ref().map_or_else(Request::default, |method| method.request())
    }

    pub(crate) fn prepare(&mut self, shape: Shape, system: &SystemView<'_>) -> Result<()> {
        self.method_order = self.request().inputs.order();
        self.order = order(shape).max(self.method_order);
        self.stride = system.layout.inputs();
        self.inputs = system.inputs.iter().collect();
        self.courses = Weights::new(shape, system).courses().to_vec();
        self.base = vec![0.0; self.stride * (self.order + 1)];
        self.ends = vec![0.0; self.stride];
        self.outputs = vec![0.0; system.layout.outputs()];
        self.group = system.inputs.clone();
        self.method.as_mut().map_or(Ok(()), |method| method.prepare(system))
    }

    /// Whether the method wants the step in parts.
    pub(crate) fn divides(&mut self, step: &StepContext, signals: &Signals<'_>) -> bool {
        self.method.as_mut().is_some_and(|method| method.divides(step, signals))
    }

    pub(crate) fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        self.method.as_mut().map_or(Ok(()), |method| method.form_coupled(arrival, coupled))
    }

    /// Forms p and E.
    pub(crate) fn predict(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        match self.method.take() {
            None => self.extrapolate(step, signals),
            Some(mut method) => {
                let outcome = self.ask(&mut *method, step, signals);
                self.method = Some(method);
                outcome?;
            }
        }
        Ok(())
    }

    /// What a method gives and expects.
    fn ask(
        &mut self,
        method: &mut dyn CouplingMethod,
        step: &StepContext,
        signals: &mut Signals<'_>,
    ) -> Result<()> {
        method.pre_step(step, signals)?;
        self.base.fill(0.0);
        for a in 0..=self.method_order {
            let coefficients = signals.inputs.coefficients(a);
            self.inputs.iter().for_each(|j| self.base[a * self.stride + j] = coefficients[*j]);
        }
        let expects = method.expect(signals, &mut self.outputs);
        for j in self.inputs.iter().copied() {
            self.ends[j] = match expects {
                true => signals.coupling.row(j, &self.outputs),
                false => self.value(j, step.h) - signals.external_next[j],
            };
        }
        if !expects {
            // Only the values at the end count: nobody stands for what is between.
            self.go_to_the_ends(step, signals);
        }
        Ok(())
    }

    /// p of an input at `s` seconds after the start of the step.
    fn value(&self, j: usize, s: f64) -> f64 {
        (0..=self.order).rev().fold(0.0, |value, a| value * s + self.base[a * self.stride + j])
    }

    /// Along the line through the last two values, or none; external inputs as they will be.
    fn extrapolate(&mut self, step: &StepContext, signals: &Signals<'_>) {
        let history = signals.history;
        let goes_on = self.kind == PredictorKind::Extrapolation && !history.is_empty();
        let last = goes_on.then(|| (history.coupled(1), step.t - history.time(1)));
        for j in self.inputs.iter().copied() {
            let now = signals.coupled[j] - signals.external[j];
            let slope = last.map_or(0.0, |(last, gap)| (now - last[j]) / gap);
            self.ends[j] = now + slope * step.h;
        }
        self.go_to_the_ends(step, signals);
    }

    /// Lines from the present values to E, or what inputs that are held have of them.
    fn go_to_the_ends(&mut self, step: &StepContext, signals: &Signals<'_>) {
        self.base.fill(0.0);
        for j in self.inputs.iter().copied() {
            let now = signals.coupled[j] - signals.external[j];
            match self.courses[j] {
                Course::Line | Course::Parabola => {
                    self.base[j] = now;
                    self.base[self.stride + j] = (self.ends[j] - now) / step.h;
                }
                Course::End => self.base[j] = self.ends[j] + signals.external_mean[j],
                Course::Mean => self.base[j] = 0.5 * (now + self.ends[j]) + signals.external_mean[j],
            }
        }
        self.add_externals(step, signals);
    }

    /// The external share of inputs that are not held.
    fn add_externals(&mut self, step: &StepContext, signals: &Signals<'_>) {
        for (j, signal) in signals.externals.iter().filter(|(j, _)| self.group.contains(*j)) {
            let order = match self.courses[*j] {
                Course::Line => 1,
                Course::Parabola => self.order,
                Course::End | Course::Mean => continue,
            };
            for (a, c) in signal.over(&step.interval(), order).into_iter().enumerate().take(order + 1) {
                self.base[a * self.stride + j] += c;
            }
        }
    }

    /// E of these inputs.
    pub(crate) fn expected(&self, inputs: &[usize], ends: &mut [f64]) {
        ends.iter_mut().zip(inputs).for_each(|(end, j)| *end = self.ends[*j]);
    }

    /// u = p + (U - E) w for the unknown inputs, p for the others of the group.
    pub(crate) fn write(
        &self,
        weights: &Weights,
        (unknowns, guess): (&[usize], &[f64]),
        signals: &mut Signals<'_>,
    ) {
        for a in 0..=signals.inputs.order() {
            let coefficients = signals.inputs.coefficients_mut(a);
            for j in self.inputs.iter().copied() {
                coefficients[j] = if a <= self.order { self.base[a * self.stride + j] } else { 0.0 };
            }
            for (j, guess) in unknowns.iter().zip(guess).filter(|_| a < 3) {
                coefficients[*j] += (guess - self.ends[*j]) * weights.of(*j)[a];
            }
        }
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        if let Some(method) = &self.method {
            method.save(out);
        }
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.method.as_mut().map_or(Ok(()), |method| method.load(from))
    }
}

/// `identified` with defaults, but for the form of its inputs.
fn identified(options: &Options, form: HoldOrRamp) -> Box<dyn CouplingMethod> {
    identified::with_options(IdentifiedOptions { form, ..IdentifiedOptions::read(options) })
}
