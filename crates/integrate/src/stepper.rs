//! Equations with an integrator whose state is kept elsewhere.

use costep_core::{InputSegment, Interval, Result};

use crate::equations::Equations;
use crate::integrated::Integrated;
use crate::integrator::Integrator;
use crate::sampler::Sampler;

/// Steps a state that belongs to the caller, as exported FMUs do.
pub trait Stepper: Send {
    /// Advances x over an interval, and shows points of the solution to the sampler.
    fn advance(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        sampler: Option<&mut Sampler>,
    ) -> Result<()>;

    /// Its integrator.
    fn integrator(&self) -> &dyn Integrator;

    /// Its integrator, for checkpoints.
    fn integrator_mut(&mut self) -> &mut dyn Integrator;
}

impl<E: Equations> Stepper for Integrated<E> {
    fn advance(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        sampler: Option<&mut Sampler>,
    ) -> Result<()> {
        self.integrator.advance(&mut self.equations, interval, input, x, sampler)
    }

    fn integrator(&self) -> &dyn Integrator {
        self.integrator.get()
    }

    fn integrator_mut(&mut self) -> &mut dyn Integrator {
        self.integrator.get_mut()
    }
}
