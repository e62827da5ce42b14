//! Equations with an integrator whose state is kept elsewhere.

use costep_core::{InputSegment, Interval, Result, StateReader, StateWriter};

/// Steps a state that belongs to the caller, as exported FMUs do.
pub trait Stepper: Send {
    /// Advances x over an interval.
    fn advance(&mut self, interval: Interval, input: InputSegment<'_>, x: &mut [f64]) -> Result<()>;

    /// Number of points that are worth a look in a step of length `h`, both ends included.
    fn points(&self, h: f64) -> usize;

    /// Refuses a step that holds more inner steps than anyone means.
    fn check_step(&self, h: f64) -> Result<()>;

    /// Writes what the integrator carries from step to step.
    fn save(&self, out: &mut StateWriter);

    /// Reads it back.
    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()>;
}
