//! How much a system structure may cost. A file of some kilobytes can use its systems again and again, so that what it
//! stands for is counted, not what it is.

use costep_core::Code;

use crate::flatten::{Flattener, Spot};

/// Connectors, connections, parameter values and systems that were looked through: all of them together.
const MOST: usize = 250_000;

/// What was spent.
#[derive(Debug, Default)]
pub(super) struct Budget {
    spent: usize,
    is_told: bool,
}

impl Flattener {
    /// Whether there is enough left for so many more; noted once if there is not.
    pub(super) fn spend(&mut self, cost: usize, spot: &Spot) -> bool {
        self.budget.spent = self.budget.spent.saturating_add(cost);
        let is_enough = self.budget.spent <= MOST;
        if !is_enough && !self.budget.is_told {
            self.budget.is_told = true;
            let message = format!(
                "with all systems that are used again there are more than {MOST} connectors, connections and values"
            );
            self.error(Code::SspUnsupported, spot, message);
        }
        is_enough
    }
}
