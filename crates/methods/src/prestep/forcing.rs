//! What drives the coupled system of steps 1 and 2 from outside, per input.

use costep_core::{Signals, StepContext};

use crate::shared::legendre;

/// A line e(t) = value + slope t over the step, and where it is not one, what outputs with direct feedthrough see of it.
#[derive(Default)]
pub(super) struct Forcing {
    pub(super) value: Vec<f64>,
    pub(super) slope: Vec<f64>,
    /// e that the outputs at the start contain.
    pub(super) start: Vec<f64>,
    /// e at the end.
    pub(super) end: Vec<f64>,
}

impl Forcing {
    pub(super) fn new(inputs: usize) -> Self {
        let zeros = || vec![0.0; inputs];
        Self { value: zeros(), slope: zeros(), start: zeros(), end: zeros() }
    }

    /// Takes lines from values at the start with these slopes.
    pub(super) fn lines(&mut self, h: f64, value: impl Fn(usize) -> f64, slope: impl Fn(usize) -> f64) {
        for j in 0..self.value.len() {
            (self.value[j], self.slope[j]) = (value(j), slope(j));
            (self.start[j], self.end[j]) = (value(j), value(j) + h * slope(j));
        }
    }

    /// Takes the external inputs, as the lines that have the same mean and moment over the step; inputs of other groups
    /// as they stand.
    pub(super) fn externals(&mut self, step: &StepContext, signals: &Signals<'_>, is_ours: &[bool]) {
        self.lines(step.h, |j| if is_ours[j] { 0.0 } else { signals.coupled[j] }, |_| 0.0);
        for (j, signal) in signals.externals.iter().filter(|(j, _)| is_ours[*j]) {
            let mut c = [0.0; 2];
            signal.each_node((step.t, step.t_next), |theta, weight, value| {
                legendre::project_node(theta, weight * value, &mut c);
            });
            self.value[*j] += c[0] + c[1] * legendre::coefficient(1, 0);
            self.slope[*j] += c[1] * legendre::coefficient(1, 1) / step.h;
            // Outputs are read before a jump at the start of the step; initial ones are not.
            self.start[*j] +=
                if step.k == 0 { signal.value_after(step.t) } else { signal.value_before(step.t) };
            self.end[*j] += signal.value_before(step.t_next);
        }
    }

    /// What the line lacks at its start, and at its end.
    pub(super) fn gap_at_start(&self, j: usize) -> f64 {
        self.value[j] - self.start[j]
    }

    /// What the line lacks at its end.
    pub(super) fn gap_at_end(&self, j: usize, h: f64) -> f64 {
        self.end[j] - (self.value[j] + h * self.slope[j])
    }
}
