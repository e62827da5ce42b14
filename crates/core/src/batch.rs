//! Neighbouring subsystems of one kind that are stepped together: for kinds whose steps are so short that a call of
//! [`Subsystem::step`] for each of them would be measurable.

use std::any::Any;

use crate::{Interval, Result, StepOutcome, Subsystem};

/// Subsystems that have become one unit of stepping ([`crate::Capable::join_batch`]). It owns them: whoever wants to do
/// something with one of them asks the batch for it.
pub trait Batch: Any + Send {
    /// How many members it has.
    fn members(&self) -> usize;

    /// A member as it stands.
    fn member(&self, i: usize) -> &dyn Subsystem;

    /// A member, to do anything with.
    fn member_mut(&mut self, i: usize) -> &mut dyn Subsystem;

    /// Steps all members over `interval` under held inputs and gives their outputs, both one member after the other. The
    /// first member that fails or does not come to the end is given back with what came of its step.
    fn step(
        &mut self,
        interval: &Interval,
        u: &[f64],
        y: &mut [f64],
    ) -> std::result::Result<(), (usize, Result<StepOutcome>)>;

    /// The member that was at work when a step panicked.
    fn at_work(&self) -> usize;
}
