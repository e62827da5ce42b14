//! Outputs inside a macro step, and their mean over it.

use crate::{Layout, MicroSampling, MicroView};

/// Outputs inside the last macro step, under the inputs of that step.
#[derive(Clone, Copy, Debug)]
pub struct MicroSamples<'a> {
    /// Rising times. The first is the start of the macro step, the last its end.
    pub times: &'a [f64],
    /// One row of outputs per time.
    pub outputs: &'a [f64],
    /// Which of them stand for a whole inner step.
    pub sampling: MicroSampling,
    /// The mean of every output over the macro step, from who knows it better than samples tell.
    pub known_mean: Option<&'a [f64]>,
}

/// Where the outputs inside a macro step are kept.
#[derive(Clone, Debug, Default)]
pub struct MicroBuffer {
    times: Vec<f64>,
    outputs: Vec<f64>,
    /// Number of outputs.
    width: usize,
    /// Means over the macro step; empty if nobody gave them.
    mean: Vec<f64>,
}

impl MicroBuffer {
    /// Room for so many points with this many outputs each.
    pub fn with_capacity(points: usize, width: usize) -> Self {
        let outputs = Vec::with_capacity(points.saturating_mul(width));
        Self { times: Vec::with_capacity(points), outputs, width, mean: Vec::with_capacity(width) }
    }

    /// Takes room for so many points more.
    pub fn reserve(&mut self, points: usize) {
        self.times.reserve(points);
        self.outputs.reserve(points.saturating_mul(self.width));
    }

    /// Forgets all points.
    pub fn clear(&mut self) {
        self.times.clear();
        self.outputs.clear();
        self.mean.clear();
    }

    /// The means over the macro step are known; they are written to what is given, which is 0 until then.
    pub fn set_mean(&mut self) -> &mut [f64] {
        self.mean.resize(self.width, 0.0);
        &mut self.mean
    }

    /// Adds a point; its outputs are written to what is given, which is 0 until then.
    #[inline]
    pub fn push(&mut self, t: f64) -> &mut [f64] {
        let start = self.outputs.len();
        self.times.push(t);
        self.outputs.resize(start + self.width, 0.0);
        &mut self.outputs[start..]
    }

    /// Adds a point with the outputs of the last one, which may be changed.
    pub fn push_again(&mut self, t: f64) -> &mut [f64] {
        let start = self.outputs.len();
        self.times.push(t);
        self.outputs.extend_from_within(start - self.width..);
        &mut self.outputs[start..]
    }

    /// Moves the last point to this time; its outputs may be changed.
    pub fn move_last(&mut self, t: f64) -> &mut [f64] {
        if let Some(last) = self.times.last_mut() {
            *last = t;
        }
        let start = self.outputs.len() - self.width;
        &mut self.outputs[start..]
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Time of the last point.
    pub fn last_time(&self) -> Option<f64> {
        self.times.last().copied()
    }

    /// Makes this what `other` is; without allocating if there is room.
    pub fn copy_from(&mut self, other: &Self) {
        self.times.clone_from(&other.times);
        self.outputs.clone_from(&other.outputs);
        self.width = other.width;
        self.mean.clone_from(&other.mean);
    }

    /// What is kept, for who declares this sampling.
    pub fn samples(&self, sampling: MicroSampling) -> MicroSamples<'_> {
        let known_mean = (!self.mean.is_empty()).then_some(&self.mean[..]);
        MicroSamples { times: &self.times, outputs: &self.outputs, sampling, known_mean }
    }
}

/// Number of equal inner steps of at most `micro_step` that fill a macro step `h`.
pub fn inner_steps(h: f64, micro_step: f64) -> usize {
    // A macro step that is a multiple of the inner one up to round-off must not get one step more.
    const ROUND_OFF: f64 = 1e-9;
    ((h / micro_step * (1.0 - ROUND_OFF)).ceil() as usize).max(1)
}

/// How an integral over a macro step is summed from micro samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleRule {
    /// By [`MicroSamples::known_mean`] where there is one, else as the subsystem declares in [`MicroSamples::sampling`].
    Declared,
    /// The value at the start of each inner step counts for the step.
    Start,
    /// The value at its end.
    End,
    /// The mean of both.
    Trapezoid,
    /// Micro samples are not used: the mean of the values before and after the macro step.
    CommunicationPoints,
}

impl SampleRule {
    /// Weights of the values at the start and at the end of an inner step.
    fn weights(self, declared: MicroSampling) -> (f64, f64) {
        match (self, declared) {
            (Self::Start, _) | (Self::Declared, MicroSampling::Start) => (1.0, 0.0),
            (Self::End, _) | (Self::Declared, MicroSampling::End) => (0.0, 1.0),
            (Self::Trapezoid | Self::CommunicationPoints, _)
            | (Self::Declared, MicroSampling::Continuous) => (0.5, 0.5),
        }
    }
}

impl MicroSamples<'_> {
    /// Mean of each output over the macro step. Summed as deviation from the first sample, so that the mean
    /// of a constant is that constant.
    fn mean(&self, (at_start, at_end): (f64, f64), mean: &mut [f64]) {
        let outputs = mean.len();
        let first = &self.outputs[..outputs];
        mean.fill(0.0);
        let length = self.times[self.times.len() - 1] - self.times[0];
        for (point, times) in self.times.windows(2).enumerate() {
            let share = (times[1] - times[0]) / length;
            let rows = &self.outputs[point * outputs..(point + 2) * outputs];
            for (i, mean) in mean.iter_mut().enumerate() {
                *mean += share * (at_start * (rows[i] - first[i]) + at_end * (rows[outputs + i] - first[i]));
            }
        }
        mean.iter_mut().zip(first).for_each(|(mean, first)| *mean += first);
    }
}

/// Means of the outputs of some subsystems over the macro step just done. A subsystem without micro samples
/// is taken as linear between its outputs before and after.
pub fn mean_outputs(
    rule: SampleRule,
    (subsystems, layout): (&dyn MicroView, &Layout),
    chosen: impl IntoIterator<Item = usize>,
    (before, after): (&[f64], &[f64]),
    mean: &mut [f64],
) {
    for i in chosen {
        let range = layout.output_range(i);
        let inner = subsystems.micro_samples(i).filter(|samples| samples.times.len() > 1);
        match inner.filter(|_| rule != SampleRule::CommunicationPoints) {
            Some(MicroSamples { known_mean: Some(known), .. }) if rule == SampleRule::Declared => {
                mean[range].copy_from_slice(known);
            }
            Some(samples) => samples.mean(rule.weights(samples.sampling), &mut mean[range]),
            None => range.for_each(|j| mean[j] = 0.5 * (before[j] + after[j])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_steps_fill_the_macro_step() {
        assert_eq!(inner_steps(1e-3, 1e-5), 100);
        assert_eq!(inner_steps(1e-3, 3e-4), 4);
        assert_eq!(inner_steps(1e-6, 1e-5), 1);
    }

    #[test]
    fn rules_weigh_the_ends_of_inner_steps() {
        let samples = MicroSamples {
            times: &[0.0, 1.0, 4.0],
            outputs: &[1.0, 10.0, 2.0, 20.0, 6.0, 60.0],
            sampling: MicroSampling::End,
            known_mean: None,
        };
        let mean = |rule: SampleRule| {
            let mut mean = [0.0; 2];
            samples.mean(rule.weights(MicroSampling::End), &mut mean);
            mean
        };
        assert_eq!(mean(SampleRule::Start), [1.75, 17.5]);
        assert_eq!(mean(SampleRule::End), [5.0, 50.0]);
        assert_eq!(mean(SampleRule::Declared), [5.0, 50.0]);
        assert_eq!(mean(SampleRule::Trapezoid), [3.375, 33.75]);
    }
}
