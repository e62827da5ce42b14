//! Loops of a system: parts that feed themselves through others, and outputs that do so without delay.

use costep_core::graph::Graph;
use costep_core::{Connection, Coupling, InputList, Layout};

use crate::{Component, SystemDescription};

/// The outputs of each loop with direct feedthrough throughout, by what the parts say about it.
pub fn direct_loops(parts: &[Box<dyn Component>], connections: &[Connection]) -> Vec<Vec<usize>> {
    let sizes = parts.iter().map(|part| (part.description().inputs.len(), part.description().outputs.len()));
    let layout = Layout::new(sizes);
    let coupling = Coupling::new(layout.inputs(), connections);
    let mut arrows = Vec::new();
    let mut nodes = layout.outputs();
    // Those that do not say what they depend on would seem to be part of loops that are none.
    let each = parts.iter().map(|part| part.description()).enumerate();
    for (part, description) in each.filter(|(_, description)| !description.assumes_feedthrough) {
        let (inputs, outputs) = (layout.input_range(part), layout.output_range(part));
        let mut shared: Option<(&InputList, usize)> = None;
        for (output, through) in outputs.zip(&description.feedthrough) {
            let sources = || through.iter().flat_map(|input| coupling.sources(inputs.start + input));
            if through.len() <= MANY {
                arrows.extend(sources().map(|(source, _)| (source, output)));
                continue;
            }
            // By way of a node for the list: arrows from all to all would take memory by the square of the signals.
            let node = match shared.filter(|(list, _)| list.shares(through)) {
                Some((_, node)) => node,
                None => {
                    arrows.extend(sources().map(|(source, _)| (source, nodes)));
                    nodes += 1;
                    nodes - 1
                }
            };
            shared = Some((through, node));
            arrows.push((node, output));
        }
    }
    let mut loops = closed(&Graph::new(nodes, &arrows));
    loops.iter_mut().for_each(|members| members.retain(|node| *node < layout.outputs()));
    loops
}

/// Inputs of an output beyond which a list of them is a node of its own.
const MANY: usize = 64;

impl SystemDescription {
    /// The parts of each loop.
    pub fn loops(&self) -> Vec<Vec<usize>> {
        let layout = self.layout();
        let arrow = |connection: &Connection| {
            (layout.output_owner(connection.output), layout.input_owner(connection.input))
        };
        let arrows: Vec<_> = self.connections.iter().map(arrow).collect();
        closed(&Graph::new(self.parts.len(), &arrows))
    }

    /// The outputs of each loop with direct feedthrough throughout.
    pub fn direct_loops(&self) -> Vec<Vec<usize>> {
        direct_loops(&self.parts, &self.connections)
    }
}

/// Strongly connected components that are more than a node on its own.
fn closed(graph: &Graph) -> Vec<Vec<usize>> {
    let is_closed = |nodes: &Vec<usize>| nodes.len() > 1 || graph.targets(nodes[0]).contains(&nodes[0]);
    graph.components().into_iter().filter(is_closed).collect()
}
