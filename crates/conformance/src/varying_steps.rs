//! Steps of unequal lengths, for tests of whatever looks at runs.

use costep_core::{Experiment, Interval, Result, StateReader, StateWriter, StepContext};
use costep_engine::{Engine, StepControl, System};

/// Lengths relative to the longest one, again and again.
pub const PATTERN: [f64; 3] = [1.0, 0.4, 0.75];

/// Takes steps of different lengths, and cuts them where it is told to.
pub struct Varying {
    experiment: Experiment,
    time: f64,
    /// The most that the next step may be, after a rejection.
    limit: f64,
}

impl Varying {
    /// Over this span, with steps of at most its step.
    pub fn new(experiment: Experiment) -> Self {
        Self { experiment, time: experiment.start, limit: f64::INFINITY }
    }
}

impl StepControl for Varying {
    fn next_step(&self, k: u64) -> Interval {
        let length = (self.experiment.step * PATTERN[k as usize % PATTERN.len()]).min(self.limit);
        Interval { start: self.time, end: self.time + length, length }
    }

    fn is_over(&self, _k: u64) -> bool {
        self.time >= self.experiment.stop
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn rejected(&mut self, _step: &StepContext, shorter: f64) -> Result<()> {
        self.limit = shorter;
        Ok(())
    }

    fn accepted(&mut self, step: &StepContext) {
        (self.time, self.limit) = (step.t_next, f64::INFINITY);
    }

    fn save(&self, out: &mut StateWriter) {
        out.real(self.time);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.time = from.real()?;
        Ok(())
    }
}

/// An engine whose steps vary.
pub fn varying(system: System) -> Result<Engine> {
    let control = Varying::new(system.experiment);
    Engine::with_control(system, Box::new(control))
}
