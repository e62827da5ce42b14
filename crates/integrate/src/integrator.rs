//! What an integrator is: something that takes inner steps over a stretch of a macro step.

use costep_core::{InputSegment, Interval, Result, SolverCounts, StateReader, StateWriter};

use crate::equations::Equations;
use crate::sampler::Sampler;

/// Points inside a macro step, besides its start, that integrators with steps of any length are sampled at.
pub(crate) const REPORTED_POINTS: usize = 20;

/// What integrators that choose their order and steps tell: order and length of the last inner step, and
/// the number of inner steps of the last macro step.
pub const DIAGNOSTICS: [&str; 3] = ["solver.order", "solver.step", "solver.steps"];

/// A part of a macro step without events. Positions `s` are counted from the start of the macro step, as
/// the input polynomials are.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    /// Time at s = 0.
    pub start: f64,
    /// Length of the macro step.
    pub length: f64,
    /// First position.
    pub from: f64,
    /// Last position; no inner step goes beyond.
    pub to: f64,
    /// Time at `to`, exactly: the sum of `start` and `to` has round-off.
    pub end: f64,
    /// The inputs over the macro step.
    pub input: InputSegment<'a>,
}

impl<'a> Stretch<'a> {
    /// A whole macro step.
    pub fn whole(interval: Interval, input: InputSegment<'a>) -> Self {
        let (start, length) = (interval.start, interval.length);
        Self { start, length, from: 0.0, to: length, end: interval.end, input }
    }

    /// Time at a position.
    #[inline]
    pub fn time(&self, s: f64) -> f64 {
        if s == self.to { self.end } else { self.start + s }
    }
}

/// What happened before a stretch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A communication point: the inputs may have jumped, the states have not.
    Communication,
    /// An event: states, equations and nominal values may have jumped.
    Event,
}

/// An integrator with its memory.
///
/// Call order: `begin`, then `inner_step` until the end of the stretch is reached; `interpolate` after an
/// inner step. An event ends a stretch early.
pub trait Integrator: Send {
    /// Prepares a stretch that starts with the state `x`. All memory for later stretches is taken in the
    /// first.
    fn begin(
        &mut self,
        stretch: &Stretch<'_>,
        start: Start,
        equations: &mut dyn Equations,
        x: &[f64],
    ) -> Result<()>;

    /// Takes one inner step, of a length of its own choice. Moves `x` on and gives the position reached, at
    /// the end of the stretch exactly `stretch.to`.
    fn inner_step(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        x: &mut [f64],
    ) -> Result<f64>;

    /// The state at a position inside the last inner step.
    fn interpolate(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        s: f64,
        x: &mut [f64],
    ) -> Result<()>;

    /// Whether the ends of its inner steps are the points to be sampled; if not, a fixed grid is.
    fn has_fixed_steps(&self) -> bool {
        false
    }

    /// Whether inputs are held in each of its inner steps, which are equal.
    fn holds_inputs(&self) -> bool {
        false
    }

    /// Number of points a [`Sampler`] keeps in a macro step of length `h`.
    fn points(&self, _h: f64) -> usize {
        REPORTED_POINTS + 1
    }

    /// Refuses a macro step that holds more inner steps than anyone means.
    fn check_step(&self, _h: f64) -> Result<()> {
        Ok(())
    }

    /// How the last macro step was done, in the order of [`DIAGNOSTICS`]; nothing if that is always the
    /// same.
    fn diagnostics(&self) -> Option<[f64; DIAGNOSTICS.len()]> {
        None
    }

    /// What it has done since it was made; nothing if its steps are given.
    fn counts(&self) -> Option<SolverCounts> {
        None
    }

    /// Forgets everything: a run starts.
    fn reset(&mut self) {}

    /// Remembers what it carries from step to step.
    fn snapshot(&mut self) {}

    /// Goes back to the last snapshot.
    fn restore(&mut self) {}

    /// Writes what it carries from step to step to a checkpoint.
    fn save(&self, _out: &mut StateWriter) {}

    /// Reads it back.
    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Ok(())
    }

    /// Advances x over a macro step without events.
    fn advance(
        &mut self,
        equations: &mut dyn Equations,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        mut sampler: Option<&mut Sampler>,
    ) -> Result<()> {
        let stretch = Stretch::whole(interval, input);
        if let Some(sampler) = &mut sampler {
            sampler.start(&stretch, equations, x)?;
        }
        self.begin(&stretch, Start::Communication, equations, x)?;
        loop {
            let s = self.inner_step(&stretch, equations, x)?;
            if let Some(sampler) = &mut sampler {
                sampler.after_step(&stretch, self, equations, (s, x))?;
            }
            if s >= stretch.to {
                return Ok(());
            }
        }
    }
}
