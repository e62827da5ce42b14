//! `costep methods`: the registry of coupling methods, for people and machines.

use std::process::ExitCode;

use costep_core::{MethodEntry, OptionSpec, Result};
use costep_methods::{find, registry};
use serde_json::{Value, json};

use crate::args::ListArgs;
use crate::failure::Failure;
use crate::style::{Output, STRONG, paint, print, print_json, say};
use crate::table::{Cell, render};

pub(crate) fn run(args: &ListArgs, output: Output) -> Result<ExitCode, Failure> {
    match (&args.id, output.json) {
        (None, true) => print_json(&registry::all().map(to_json).collect::<Vec<_>>())?,
        (None, false) => list()?,
        (Some(id), true) => print_json(&to_json(find(id)?))?,
        (Some(id), false) => explain(find(id)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<()> {
    let row = |entry: &MethodEntry| vec![Cell::styled(entry.id, STRONG), Cell::new(entry.title)];
    print(&render(&["method", ""], &registry::all().map(row).collect::<Vec<_>>()))?;
    say!("\n  `costep methods ID` explains one.")
}

fn explain(entry: &MethodEntry) -> Result<()> {
    say!("{}  {}\n", paint(STRONG, entry.id), entry.title)?;
    say!("  {}\n", entry.summary)?;
    say!("  rule     {}", entry.equations)?;
    match entry.convergence_order {
        0 => say!("  order    no coupling error")?,
        order => say!("  order    {order}")?,
    }
    say!("  needs    {}", needs(entry).join(", "))?;
    say!("  source   {}\n", entry.source)?;
    let rows: Vec<_> = entry
        .options
        .iter()
        .map(|option| {
            let help = match &only_with(option)[..] {
                [] => option.help.to_owned(),
                conditions => format!("{} [only with {}]", option.help, conditions.join(", ")),
            };
            [option.name, &option.kind.default_value().to_string(), &option.kind.allowed(), &help]
                .into_iter()
                .map(Cell::new)
                .collect()
        })
        .collect();
    print(&render(&["option", "default", "allowed", ""], &rows))
}

/// What the method asks of the subsystems with its default options.
fn needs(entry: &MethodEntry) -> Vec<String> {
    let Ok(options) = costep_core::Options::check(entry.id, entry.options, &[]) else { return Vec::new() };
    let needs = (entry.build)(&options).needs();
    let mut list = Vec::new();
    if needs.input_order > 0 {
        list.push(format!("input polynomials of order {}", needs.input_order));
    }
    if needs.rollback {
        list.push("rollback".into());
    }
    if needs.local_models {
        list.push("local models (Jacobians) of the subsystems".into());
    }
    if needs.feedthrough {
        list.push("the direct feed-through of the subsystems".into());
    }
    if needs.micro_samples {
        list.push("outputs inside the step where a subsystem gives them".into());
    }
    if list.is_empty() {
        list.push("nothing".into());
    }
    list
}

/// What an option belongs to.
fn only_with(option: &OptionSpec) -> Vec<String> {
    option.only_with.iter().map(ToString::to_string).collect()
}

fn to_json(entry: &MethodEntry) -> Value {
    let options: Vec<_> = entry
        .options
        .iter()
        .map(|option| {
            json!({
                "name": option.name,
                "default": option.kind.default_value().to_string(),
                "allowed": option.kind.allowed(),
                "help": option.help,
                "only_with": only_with(option),
            })
        })
        .collect();
    json!({
        "id": entry.id,
        "title": entry.title,
        "summary": entry.summary,
        "equations": entry.equations,
        "source": entry.source,
        "convergence_order": entry.convergence_order,
        "needs": needs(entry),
        "options": options,
    })
}
