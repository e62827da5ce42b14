//! Loops of a system: parts that feed themselves through others, and outputs that do so without delay.

use costep_core::graph::Graph;
use costep_core::{Connection, Coupling, Layout, evaluation};

use crate::{Component, SystemDescription};

/// The outputs of each loop with direct feedthrough throughout, by what the parts say about it.
pub fn direct_loops(parts: &[Box<dyn Component>], connections: &[Connection]) -> Vec<Vec<usize>> {
    let sizes = parts.iter().map(|part| (part.description().inputs.len(), part.description().outputs.len()));
    let layout = Layout::new(sizes);
    let coupling = Coupling::new(layout.inputs(), connections);
    // Those that do not say what they depend on would seem to be part of loops that are none.
    let each = parts.iter().map(|part| part.description()).enumerate();
    let telling = each.filter(|(_, description)| !description.assumes_feedthrough);
    evaluation::direct_loops(telling, &layout, &coupling)
}

impl SystemDescription {
    /// The parts of each loop.
    pub fn loops(&self) -> Vec<Vec<usize>> {
        let layout = self.layout();
        let arrow = |connection: &Connection| {
            (layout.output_owner(connection.output), layout.input_owner(connection.input))
        };
        let arrows: Vec<_> = self.connections.iter().map(arrow).collect();
        let graph = Graph::new(self.parts.len(), &arrows);
        graph.components().into_iter().filter(|component| graph.is_loop(component)).collect()
    }

    /// The outputs of each loop with direct feedthrough throughout.
    pub fn direct_loops(&self) -> Vec<Vec<usize>> {
        direct_loops(&self.parts, &self.connections)
    }
}
