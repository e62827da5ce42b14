//! Which subsystems are learnt. A model costs memory and time by the square of the signals of its subsystem, so that only
//! what loops need is learnt where that is much, and nothing where it is too much.

use costep_core::SystemView;

use crate::shared::interface::connected;

/// Subsystems with no more signals than this are learnt whether a loop needs them or not: that costs next to nothing, and
/// the recording shows it.
const SMALL: usize = 64;

/// What is learnt.
pub(super) struct Scope {
    in_loop: Vec<bool>,
    learns: Vec<bool>,
    /// Those that loops need and that are too large.
    too_large: Vec<usize>,
    largest: usize,
}

impl Scope {
    /// Of a group of connections; `largest` is the number of signals of the largest subsystem that may be learnt.
    pub(super) fn new(system: &SystemView<'_>, largest: usize) -> Self {
        let graph = connected(system, |_| true);
        let (mut in_loop, mut needed) = (vec![false; graph.nodes()], vec![false; graph.nodes()]);
        // From the last one back, so that it is known what a component leads to.
        for component in graph.components().iter().rev() {
            let is_loop = graph.is_loop(component);
            let leads_to_loop = component.iter().flat_map(|i| graph.targets(*i)).any(|i| needed[*i]);
            for i in component {
                (in_loop[*i], needed[*i]) = (is_loop, is_loop || leads_to_loop);
            }
        }
        let signals = |i: usize| system.layout.input_range(i).len() + system.layout.output_range(i).len();
        let learns = |i: usize| signals(i) <= if needed[i] { largest } else { SMALL.min(largest) };
        let learns: Vec<bool> = (0..graph.nodes()).map(learns).collect();
        let too_large = (0..graph.nodes()).filter(|i| needed[*i] && !learns[*i]).collect();
        Self { in_loop, learns, too_large, largest }
    }

    /// Whether a subsystem is part of a loop of connections.
    pub(super) fn is_in_loop(&self, i: usize) -> bool {
        self.in_loop[i]
    }

    pub(super) fn learns(&self, i: usize) -> bool {
        self.learns[i]
    }

    /// What is not learnt though a loop needs it.
    pub(super) fn warning(&self, system: &SystemView<'_>) -> Option<String> {
        let first = &system.descriptions[*self.too_large.first()?].name;
        let others = match self.too_large.len() - 1 {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        Some(format!(
            "nothing is learnt of `{first}`{others}, whose outputs are extrapolated: more than {} inputs and outputs \
             take too much memory and time (option `largest`)",
            self.largest
        ))
    }
}
