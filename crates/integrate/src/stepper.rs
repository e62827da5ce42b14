//! Equations with an integrator whose state is kept elsewhere.

use costep_core::{InputSegment, Interval, Result, StateReader, StateWriter};

/// Points of the solution inside a step.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// Their times, the ends of the step included.
    pub times: Vec<f64>,
    /// The states at these times, one row each.
    pub states: Vec<f64>,
    /// The inputs at these times, one row each.
    pub inputs: Vec<f64>,
}

impl Path {
    /// Forgets all points.
    pub(crate) fn clear(&mut self) {
        [&mut self.times, &mut self.states, &mut self.inputs].into_iter().for_each(Vec::clear);
    }

    pub(crate) fn push(&mut self, t: f64, x: &[f64], u: &[f64]) {
        self.times.push(t);
        self.states.extend_from_slice(x);
        self.inputs.extend_from_slice(u);
    }
}

/// Steps a state that belongs to the caller, as exported FMUs do.
pub trait Stepper: Send {
    /// Advances x over an interval.
    fn advance(&mut self, interval: Interval, input: InputSegment<'_>, x: &mut [f64]) -> Result<()>;

    /// The same; writes the points a sampler would show into `path`.
    fn advance_along(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        path: &mut Option<Box<Path>>,
    ) -> Result<()>;

    /// Whether inputs are held in each of the inner steps, which are equal.
    fn holds_inputs(&self) -> bool;

    /// Number of points that are worth a look in a step of length `h`, both ends included.
    fn points(&self, h: f64) -> usize;

    /// Refuses a step that holds more inner steps than anyone means.
    fn check_step(&self, h: f64) -> Result<()>;

    /// Writes what the integrator carries from step to step.
    fn save(&self, out: &mut StateWriter);

    /// Reads it back.
    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()>;
}
