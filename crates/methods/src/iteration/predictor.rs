//! The inputs that a step is tried with first: the line through the last two values.

use costep_core::{InputSet, Signals, StepContext, SystemView};

use super::options::Shape;
use super::shape::{Course, Weights, order};

/// The prediction p of the inputs of a group, and the coupled values E that it expects at the end of the step.
#[derive(Debug, Default)]
pub(crate) struct Prediction {
    inputs: Vec<usize>,
    courses: Vec<Course>,
    /// Number of all inputs.
    stride: usize,
    /// Coefficients of the polynomials, for the inputs of the group.
    base: Vec<f64>,
    /// E of all inputs, without their external share.
    ends: Vec<f64>,
    order: usize,
    group: Option<InputSet>,
}

impl Prediction {
    pub(crate) fn new(shape: Shape, system: &SystemView<'_>) -> Self {
        let stride = system.layout.inputs();
        Self {
            inputs: system.inputs.iter().collect(),
            courses: Weights::new(shape, system).courses().to_vec(),
            stride,
            base: vec![0.0; stride * (order(shape) + 1)],
            ends: vec![0.0; stride],
            order: order(shape),
            group: Some(system.inputs.clone()),
        }
    }

    /// Along the line through the last two values; external inputs as they will be.
    pub(crate) fn predict(&mut self, step: &StepContext, signals: &Signals<'_>) {
        self.base.fill(0.0);
        let history = signals.history;
        let last = (!history.is_empty()).then(|| (history.coupled(1), step.t - history.time(1)));
        for j in self.inputs.iter().copied() {
            let now = signals.coupled[j] - signals.external[j];
            let slope = last.map_or(0.0, |(last, gap)| (now - last[j]) / gap);
            self.ends[j] = now + slope * step.h;
            match self.courses[j] {
                Course::Line | Course::Parabola => {
                    self.base[j] = now;
                    self.base[self.stride + j] = slope;
                }
                Course::End => self.base[j] = self.ends[j] + signals.external_mean[j],
                Course::Mean => self.base[j] = now + 0.5 * slope * step.h + signals.external_mean[j],
            }
        }
        self.add_externals(step, signals);
    }

    /// The external share of inputs that are not held.
    fn add_externals(&mut self, step: &StepContext, signals: &Signals<'_>) {
        let group = self.group.as_ref();
        let is_ours = |j: usize| group.is_some_and(|group| group.contains(j));
        for (j, signal) in signals.externals.iter().filter(|(j, _)| is_ours(*j)) {
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
            if a > self.order {
                continue;
            }
            for (j, guess) in unknowns.iter().zip(guess) {
                coefficients[*j] += (guess - self.ends[*j]) * weights.of(*j)[a];
            }
        }
    }
}
