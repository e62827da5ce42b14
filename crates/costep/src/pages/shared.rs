//! Sections that several pages have.

use costep_report::{Section, Table, TableCell};
use serde_json::Value;

use super::words::{percent, wall};
use crate::system::System;

/// More parts than this make no picture.
const MOST_BLOCKS: usize = 200;
/// Names, and loops, that a sentence lists.
const MOST_NAMES: usize = 12;

/// The system as a picture and in words.
pub(super) fn system_section(system: Option<&System>) -> Section {
    let section = Section::new("System");
    let Some(system) = system else {
        return section.text("The system cannot be opened any more: its files have moved or changed.");
    };
    let (project, diagram) = (system.project(), system.diagram());
    let model = &project.model;
    let loops = model.loops();
    let name = |part: &usize| model.parts[*part].description().name.clone();
    let in_loop: Vec<_> = loops.iter().map(|parts| listed(parts.iter().map(name).collect())).collect();
    let words = format!(
        "{}, {}, {}, {}.",
        counted(model.parts.len(), "part"),
        counted(model.connections.len(), "connection"),
        counted(project.power_bonds().len(), "power bond"),
        match &in_loop[..] {
            [] => "no loop".into(),
            [one] => format!("one loop of {one}"),
            few if few.len() <= MOST_NAMES => format!("{} loops: {}", few.len(), few.join("; ")),
            many => format!("{} loops: {}; ...", many.len(), many[..MOST_NAMES].join("; ")),
        }
    );
    let rows = diagram.blocks.iter().zip(&model.parts).map(|(block, part)| {
        let description = part.description();
        let numbers =
            [description.inputs.len(), description.outputs.len()].map(|n| TableCell::from(n.to_string()));
        [block.name.as_str().into(), block.kind.as_str().into()].into_iter().chain(numbers).collect()
    });
    let table =
        Table::new("Parts", ["part", "what it is", "inputs", "outputs"]).rows(rows.collect::<Vec<_>>());
    match model.parts.len() > MOST_BLOCKS {
        true => section.text(words),
        false => section.diagram(diagram, words),
    }
    .table(table)
}

/// The names of a few; of many the first ones, the last, and how many there are.
fn listed(names: Vec<String>) -> String {
    match &names[..] {
        [first @ .., last] if names.len() > MOST_NAMES => {
            format!("{} parts: {}, ..., {last}", names.len(), first[..3].join(", "))
        }
        few => few.join(", "),
    }
}

/// `1 part`, `2 parts`.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Where the wall time went.
pub(super) fn cost_section(run: &Value, system: Option<&System>) -> Section {
    let section = Section::new("Cost");
    let Some(parts) = run["times"]["parts"].as_object() else { return section };
    let all = run["wall_s"].as_f64().unwrap_or(0.0);
    let steps = run["subsystem_steps"].as_u64().unwrap_or(0) / parts.len().max(1) as u64;
    let kinds = system.map_or_else(Vec::new, |system| system.diagram().blocks);
    let kind = |name: &str| {
        kinds.iter().find(|block| block.name == name).map_or(String::new(), |block| block.kind.clone())
    };
    let share = |seconds: f64| if all > 0.0 { format!("{:.1} %", 100.0 * seconds / all) } else { "-".into() };
    let mut rows: Vec<(f64, Vec<TableCell>)> = Vec::new();
    for (name, seconds) in parts {
        let seconds = seconds.as_f64().unwrap_or(0.0);
        let counts = &run["solvers"][name];
        let inner = counts["steps"].as_u64().map_or("-".into(), |steps| steps.to_string());
        let evaluations = counts["evaluations"].as_u64().map_or("-".into(), |count| count.to_string());
        let per_step = if steps > 0 { wall(seconds / steps as f64) } else { "-".into() };
        let cells = [
            name.clone(),
            kind(name),
            wall(seconds),
            share(seconds),
            steps.to_string(),
            per_step,
            inner,
            evaluations,
        ];
        rows.push((seconds, cells.into_iter().map(TableCell::from).collect()));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let head = [
        "part",
        "what it is",
        "time in steps",
        "share",
        "steps (doStep)",
        "per step",
        "inner steps",
        "evaluations",
    ];
    let mut table = Table::new("Wall time by part; steps are those asked of it, repetitions included", head)
        .rows(rows.into_iter().map(|(_, row)| row));
    if let Some(seconds) = run["times"]["master_s"].as_f64() {
        let cells = ["everything else".into(), String::new(), wall(seconds), share(seconds)];
        let rest = std::iter::repeat_n(String::from("-"), 4);
        table = table.row(cells.into_iter().chain(rest).map(TableCell::from));
    }
    section.table(table)
}

/// Energy drift of a run as signed percent.
pub(super) fn drift(run: &Value) -> String {
    run["energy_drift"].as_f64().map_or("-".into(), percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_lists_a_few_names_only() {
        let names = |count: usize| (1..=count).map(|i| format!("m{i}")).collect();
        assert_eq!(listed(names(2)), "m1, m2");
        assert!(listed(names(12)).ends_with("m11, m12"));
        assert_eq!(listed(names(400)), "400 parts: m1, m2, m3, ..., m400");
    }
}
