//! In which order the outputs of coupled parts can be evaluated.

use costep_core::graph::Graph;
use costep_core::{Code, Coupling, Description, Error, Layout, Result};

/// Levels of direct feedthrough between outputs, as lists of parts.
pub(super) fn levels(
    descriptions: &[Description],
    layout: &Layout,
    coupling: &Coupling,
) -> Result<Vec<Vec<usize>>> {
    let mut arrows = Vec::new();
    for (i, description) in descriptions.iter().enumerate() {
        for (output, inputs) in description.feedthrough.iter().enumerate() {
            for input in inputs {
                let sources = coupling.sources(layout.input_range(i).start + input);
                arrows.extend(sources.map(|(source, _)| (source, layout.output_range(i).start + output)));
            }
        }
    }
    let graph = Graph::new(layout.outputs(), &arrows);
    let mut level_of = vec![0; layout.outputs()];
    let mut levels: Vec<Vec<usize>> = vec![Vec::new()];
    for component in graph.components() {
        if graph.is_loop(&component) {
            return Err(algebraic_loop(descriptions, layout, &component));
        }
        let output = component[0];
        let level = level_of[output];
        if levels.len() <= level {
            levels.resize(level + 1, Vec::new());
        }
        levels[level].push(layout.output_owner(output));
        graph.targets(output).iter().for_each(|target| level_of[*target] = level_of[*target].max(level + 1));
    }
    for level in &mut levels {
        level.sort_unstable();
        level.dedup();
    }
    Ok(levels)
}

fn algebraic_loop(descriptions: &[Description], layout: &Layout, outputs: &[usize]) -> Error {
    let name = |output: &usize| {
        let owner = layout.output_owner(*output);
        let port = &descriptions[owner].outputs[output - layout.output_range(owner).start];
        format!("`{}.{}`", descriptions[owner].name, port.name)
    };
    let names: Vec<_> = outputs.iter().take(6).map(name).collect();
    Error::new(
        Code::AlgebraicLoop,
        format!("outputs depend on themselves without delay: {}", names.join(", ")),
    )
}
