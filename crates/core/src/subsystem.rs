//! The trait of everything that can be coupled: native models, FMUs, and what wraps them.

use crate::{Capable, Code, Description, Error, Experiment, InputSegment, Interval, Result};

/// What a step that did not fail reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOutcome {
    /// The time the subsystem has reached; the engine compares it with the end asked for.
    pub reached: f64,
}

/// A simulator of one part.
///
/// Call order: `initialise`, `initial_outputs` (any number of times), `begin` (not by everybody), then `step` with
/// intervals that join; `terminate` last. What it can do beyond that is behind the handles of [`Capable`].
pub trait Subsystem: Capable + Send {
    /// Ports, direct feedthrough, orders and lengths it takes. Never changes.
    fn description(&self) -> &Description;

    /// Puts the subsystem into its initial state.
    fn initialise(&mut self, experiment: &Experiment) -> Result<()>;

    /// The outputs of the initial state under these inputs.
    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()>;

    /// The inputs at the start are settled, those of the last `initial_outputs`. Changes the outputs that differ once the
    /// initialisation is left, as some FMUs set theirs only then.
    fn begin(&mut self, _y: &mut [f64]) -> Result<()> {
        Ok(())
    }

    /// Advances over `interval` under the inputs `u` and gives the outputs at its end, under the input that
    /// is active there.
    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome>;

    /// Ends it. Never fails.
    fn terminate(&mut self);
}

/// The error for something that a subsystem cannot do.
#[cold]
pub fn unsupported(description: &Description, what: &str) -> Error {
    Error::new(Code::NeedsMissing, format!("`{}` does not support {what}", description.name))
}
