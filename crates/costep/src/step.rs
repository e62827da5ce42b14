//! What an observer sees of a run after each step.

use costep_analysis::RunWatch;
use costep_core::Result;
use costep_engine::Engine;

use crate::names::Names;

/// A run at a communication point that was accepted; the first one is the start.
///
/// ```
/// use costep::{Flow, Run, Step, System};
///
/// let mut highest: f64 = 0.0;
/// let system = System::open("dual-mass")?;
/// system.run_with(Run::new(), &mut |step: &Step<'_>| {
///     highest = highest.max(step.output("s1.x")?);
///     Ok(if step.time() < 0.1 { Flow::Continue } else { Flow::Stop })
/// })?;
/// assert!(highest > 0.0);
/// # Ok::<(), costep::Errors>(())
/// ```
pub struct Step<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) names: &'a Names,
    pub(crate) watch: &'a RunWatch,
}

impl Step<'_> {
    /// Number of macro steps so far, k.
    pub fn number(&self) -> u64 {
        self.engine.k()
    }

    /// T^k in s.
    pub fn time(&self) -> f64 {
        self.engine.time()
    }

    /// Part of the run that is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        if self.engine.experiment().steps() == 0 { 1.0 } else { self.engine.progress() }
    }

    /// The output with this name, `part.port`.
    pub fn output(&self, name: &str) -> Result<f64> {
        Ok(self.engine.outputs()[self.names.output(name)?])
    }

    /// What the input with this name, `part.port`, should be: the output that it is connected to, and its
    /// external input.
    pub fn input(&self, name: &str) -> Result<f64> {
        Ok(self.engine.coupled()[self.names.input(name)?])
    }

    /// All outputs, in the order of [`System::outputs`](crate::System::outputs).
    pub fn outputs(&self) -> &[f64] {
        self.engine.outputs()
    }

    /// Difference of what inputs should be and what the method made them, relative to the largest value of
    /// the signal so far: of the worst input.
    pub fn coupling_error(&self) -> f64 {
        self.watch.coupling_error(self.engine)
    }

    /// Everything else.
    pub fn engine(&self) -> &Engine {
        self.engine
    }
}
