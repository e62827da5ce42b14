//! Division of a macro step into equal inner steps.

use costep_core::{Code, Error, Result, inner_steps};

/// Most inner steps of a macro step.
const MAX_INNER_STEPS: usize = 100_000_000;

/// The inner steps of a fixed-step integrator. Remembers the last division: macro steps are mostly equal.
#[derive(Clone, Debug)]
pub(crate) struct InnerSteps {
    pub(crate) micro_step: f64,
    length: f64,
    steps: usize,
    dt: f64,
}

impl InnerSteps {
    pub(crate) fn new(micro_step: f64) -> Self {
        Self { micro_step, length: 0.0, steps: 1, dt: 0.0 }
    }

    /// Number and length of the equal inner steps that fill `h`.
    #[inline]
    pub(crate) fn divide(&mut self, h: f64) -> (usize, f64) {
        if h != self.length {
            self.length = h;
            self.steps = inner_steps(h, self.micro_step);
            self.dt = h / self.steps as f64;
        }
        (self.steps, self.dt)
    }

    /// The last division.
    pub(crate) fn division(&self) -> (usize, f64) {
        (self.steps, self.dt)
    }

    /// Number of ends of inner steps in a macro step, its start included.
    pub(crate) fn points(&self, h: f64) -> usize {
        inner_steps(h, self.micro_step).saturating_add(1)
    }
}

/// Refuses a macro step that holds more inner steps than anyone means.
pub(crate) fn check_inner_steps(points: usize, h: f64) -> Result<()> {
    if points <= MAX_INNER_STEPS {
        return Ok(());
    }
    let message = format!("a macro step of {h} s has more than {MAX_INNER_STEPS:e} inner steps");
    Err(Error::new(Code::BadValue, message).hint("give a larger inner step: `--solver euler:10us`"))
}
