//! Neighbouring subsystems of one kind that are stepped in a row: for kinds whose steps are so short that a call of
//! [`Subsystem::step`] for each of them would be felt.

use std::any::Any;

use crate::{Interval, Result, Subsystem};

/// Steps a member by [`Subsystem::step`], given its place in the row and its outputs, and looks at what came of it.
pub type StepAlone<'a> = dyn FnMut(usize, &mut dyn Subsystem, &mut [f64]) -> Result<()> + 'a;

/// A row of subsystems, as they have joined it ([`crate::RowMember::join_row`]). They stay subsystems as all others: a row only
/// knows a shorter way through their usual steps, and steps them alone whenever something is not usual.
pub trait Row: Any + Send {
    /// Steps all members over `interval` under held inputs, and gives their outputs. `members` are those that have
    /// joined, in the same order; inputs and outputs are theirs, one after the other. Fails with the first failure.
    fn step(
        &mut self,
        interval: &Interval,
        u: &[f64],
        members: &mut [Box<dyn Subsystem>],
        y: &mut [f64],
        alone: &mut StepAlone<'_>,
    ) -> Result<()>;
}
