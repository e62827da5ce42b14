//! Signals of foreign code reach its own process and what that has started, nobody else: an FMU that stops or kills its
//! parent would leave a run that neither goes on nor ends, and nobody to say so.

use landlock::{CompatLevel, Compatible, RestrictionStatus, Ruleset, RulesetAttr, RulesetError, Scope};

use crate::room::in_first_thread;

/// Keeps signals of this thread, and of all that it starts, inside for good. Kernels before Linux 6.12 have no such rule: there
/// it changes nothing.
pub(crate) fn keep_inside() {
    // What cannot be kept inside is no reason not to run.
    let _ = (restrict(), in_first_thread(restrict));
}

fn restrict() -> Result<RestrictionStatus, RulesetError> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort).scope(Scope::Signal)?;
    rules.create()?.restrict_self()
}
