//! The first project file of a user who has FMUs: everything that can be told from their descriptions, with comments.

use std::fmt::Write;
use std::path::Path;

use costep_core::quantity::{exact_time, format_time, parse_time};
use costep_core::{Code, Description, Error, Result};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, ModelExchangeOptions, ModelExchangeSubsystem};
use costep_fmu_file::{Causality, Fmu, ModelDescription, Terminal};

use crate::fmus::{carries_python, has_workers};
use crate::propose::{Candidate, Proposal, example, propose};
use crate::proposed_times::{latest_stop, shortest_step, usual_step};
use crate::write::{key, quoted};

/// An FMU that goes into a new project.
pub struct NewFmu<'a> {
    /// Its name in the system.
    pub name: &'a str,
    /// Its file as it is to be written.
    pub file: &'a str,
    /// The file that it was copied from, as it is to be written.
    pub copied_from: Option<&'a str>,
    /// The file, opened.
    pub fmu: &'a Fmu,
    /// Variables of it that are connected as one.
    pub terminals: &'a [Terminal],
}

impl<'a> NewFmu<'a> {
    /// What it says about itself.
    fn description(&self) -> &'a ModelDescription {
        self.fmu.description()
    }
}

/// Parameters that are listed; more would hide the rest of the file.
const SHOWN_PARAMETERS: usize = 12;

/// A word that can name the FMU of this file in a system.
pub fn component_name(path: &Path) -> String {
    const LONGEST: usize = 40;
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().to_lowercase());
    let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = stem.chars().map(plain).take(LONGEST).collect();
    if name.is_empty() { "fmu".into() } else { name }
}

/// The project of an FMU alone. There is nothing to couple.
pub(crate) fn project_of_one(path: &Path) -> Result<String> {
    let fmu = Fmu::open(path)?;
    let (name, file) = (component_name(path), std::path::absolute(path).unwrap_or_else(|_| path.into()));
    let file = file.to_str().ok_or_else(|| {
        Error::new(Code::FileNotReadable, "the name of the file is not Unicode")
            .in_file(path)
            .hint("rename it")
    })?;
    let fmu = NewFmu { name: &name, file, copied_from: None, fmu: &fmu, terminals: &[] };
    Ok(project_text(&name, "zoh", &[fmu]))
}

/// Which times of a run FMUs propose.
#[derive(Clone, Copy, Debug)]
pub struct Proposed {
    /// Whether one says when to stop.
    pub stop: bool,
    /// Whether one says by which steps.
    pub step: bool,
}

/// Which times of a run these FMUs propose.
pub fn proposed_times(fmus: &[NewFmu<'_>]) -> Proposed {
    let described = || fmus.iter().map(|fmu| (fmu.name, fmu.description()));
    Proposed { stop: latest_stop(described()).is_some(), step: shortest_step(described()).is_some() }
}

/// A commented project file for these FMUs.
pub fn new_project(name: &str, fmus: &[NewFmu<'_>]) -> String {
    project_text(name, "auto", fmus)
}

fn project_text(name: &str, method: &str, fmus: &[NewFmu<'_>]) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# A project of costep. `costep check` finds errors, `costep run` simulates, `costep methods` lists coupling methods."
    );
    let _ = writeln!(out, "[system]\nname = {}", quoted(name));
    write_times(fmus, &mut out);
    let _ = writeln!(out, "\n[method]\nid = {}", quoted(method));
    fmus.iter().for_each(|fmu| write_fmu(fmu, &mut out));
    write_connections(fmus, &mut out);
    out
}

fn write_times(fmus: &[NewFmu<'_>], out: &mut String) {
    let experiments = || fmus.iter().map(|fmu| (fmu.name, fmu.description().default_experiment));
    let start =
        experiments().filter_map(|(_, e)| e.start_time).find(|start| *start != 0.0 && start.is_finite());
    let stops: Vec<_> = experiments().filter_map(|(name, e)| Some((name, e.stop_time?))).collect();
    let described = || fmus.iter().map(|fmu| (fmu.name, fmu.description()));
    let stop = latest_stop(described());
    if let Some(start) = start {
        let _ = writeln!(out, "start = {}", time(start));
    }
    let begin = start.unwrap_or(0.0);
    let end = match stop.filter(|(_, stop)| *stop > begin) {
        Some((name, stop)) => {
            let differ = stops.iter().any(|(_, other)| *other != stop);
            let words = if differ { "the latest that is proposed, by" } else { "as proposed by" };
            let _ = writeln!(out, "stop = {}  # {words} `{name}`", time(stop));
            stop
        }
        None => {
            let _ = writeln!(out, "stop = {}  # no FMU proposes one", time(begin + 1.0));
            begin + 1.0
        }
    };
    let _ = writeln!(out, "\n[step]");
    let fitting = |size| longest_inner_step(fmus).and_then(|(name, own)| Some((name, multiple(size, own)?)));
    let (size, words) = match shortest_step(described()) {
        Some((name, size)) => match fitting(size) {
            Some((other, fit)) => {
                let own = format_time(size);
                (fit, format!("a multiple of the inner step of `{other}`; `{name}` proposes {own}"))
            }
            None => (size, format!("as proposed by `{name}`")),
        },
        None => {
            let size = usual_step(end - begin);
            let (size, words) = match fitting(size) {
                Some((name, size)) => (size, format!("a multiple of the inner step of `{name}`")),
                None => (size, "`costep compare` shows what it does".into()),
            };
            (size, format!("no FMU proposes one; {words}"))
        }
    };
    let _ = writeln!(out, "size = {}  # {words}", time(size));
}

/// The FMU with the longest inner step, of those that declare one.
fn longest_inner_step<'a>(fmus: &[NewFmu<'a>]) -> Option<(&'a str, f64)> {
    let own = |fmu: &NewFmu<'a>| {
        Some((fmu.name, fmu.description().co_simulation.as_ref()?.fixed_internal_step_size?))
    };
    fmus.iter()
        .filter_map(own)
        .filter(|(_, own)| *own > 0.0 && own.is_finite())
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The least multiple of `own` from `size` on, if `size` is not one.
fn multiple(size: f64, own: f64) -> Option<f64> {
    let count = size / own;
    let is_one = count > 0.5 && (count - count.round()).abs() < 1e-6 * count;
    (!is_one).then(|| own * count.ceil().max(1.0))
}

fn write_fmu(fmu: &NewFmu<'_>, out: &mut String) {
    let description = fmu.description();
    let version = description.fmi_version;
    let _ = writeln!(out, "\n[fmu.{}]  # {version}, {}", key(fmu.name), comment(&description.model_name));
    let _ = writeln!(out, "file = {}", quoted(fmu.file));
    if let Some(original) = fmu.copied_from {
        let _ = writeln!(out, "copied_from = {}", quoted(original));
    }
    if description.co_simulation.is_none() && description.model_exchange.is_some() {
        let solver = ModelExchangeOptions::default().solver.label();
        let _ = writeln!(out, "interface = \"me\"  # it is for Model Exchange only: costep integrates it");
        let _ = writeln!(out, "solver = {}", quoted(&solver));
    }
    if carries_python(fmu.fmu) && has_workers() {
        let _ = writeln!(
            out,
            "isolation = \"process\"  # it is Python code, of which each has a process of its own"
        );
    }
    let structural = description.with_causality(Causality::StructuralParameter);
    let parameters: Vec<_> = structural.chain(description.with_causality(Causality::Parameter)).collect();
    let shown: Vec<String> = parameters
        .iter()
        .take(SHOWN_PARAMETERS)
        .filter_map(|index| {
            let variable = &description.variables()[*index];
            let start = crate::fmus::written(variable.start.as_ref()?, quoted);
            Some(format!("{} = {start}", key(&variable.name)))
        })
        .collect();
    if !shown.is_empty() {
        let rest = parameters.len().saturating_sub(SHOWN_PARAMETERS);
        let more = if rest > 0 { format!("  # and {rest} more") } else { String::new() };
        let _ = writeln!(out, "# set = {{ {} }}{more}", comment(&shown.join(", ")));
    }
}

fn write_connections(fmus: &[NewFmu<'_>], out: &mut String) {
    let candidates: Vec<Candidate<'_>> = fmus
        .iter()
        .filter_map(|fmu| {
            Some(Candidate { ports: ports(fmu)?, description: fmu.description(), terminals: fmu.terminals })
        })
        .collect();
    let _ = writeln!(out, "\n# Connections, proposed with a score from 0 to 1 and the reason.");
    let proposals = propose(&candidates);
    if proposals.iter().all(|proposal| proposal.sources.is_empty())
        && let Some((from, to, units)) = example(&candidates)
    {
        let _ = writeln!(
            out,
            "\n# No names or units fit. A connection is written like this, with the right ports:"
        );
        let _ = writeln!(out, "# [[connect]]  # {}", comment(&units));
        let _ = writeln!(out, "# from = {}\n# to = {}", quoted(&from), quoted(&to));
    }
    for Proposal { input, sources, sure } in proposals {
        match &sources[..] {
            [] => {
                let start = match input.start {
                    Some(start) if input.is_whole => start.to_string(),
                    Some(start) => format!("{start:?}"),
                    None => "0.0".into(),
                };
                let _ = writeln!(out, "\n# No output fits {}; it stays at its start value.", input.shown());
                let _ = writeln!(out, "# [[external]]\n# to = {}\n# value = {start}", quoted(&input.name));
            }
            [source, ..] if sure => {
                let _ = writeln!(out, "\n[[connect]]  # {:.2}: {}", source.score, source.reason);
                let _ = writeln!(out, "from = {}\nto = {}", quoted(&source.name), quoted(&input.name));
                if source.converted {
                    let _ = writeln!(out, "unit = \"convert\"");
                }
                if let Some(doubt) = &source.doubt {
                    let _ = writeln!(out, "# {}", comment(doubt));
                }
            }
            several => {
                let _ = writeln!(out, "\n# For {}, one of these:", input.shown());
                for source in several {
                    let convert = if source.converted { "\n# unit = \"convert\"" } else { "" };
                    let (from, to) = (quoted(&source.name), quoted(&input.name));
                    let why = format!("{:.2}: {}", source.score, source.reason);
                    let _ = writeln!(out, "# [[connect]]  # {why}\n# from = {from}\n# to = {to}{convert}");
                }
            }
        }
    }
}

/// Inputs and outputs of an FMU under the interface that a project without `interface` uses.
fn ports(fmu: &NewFmu<'_>) -> Option<Description> {
    let (description, name) = (fmu.description(), fmu.name);
    let ports = match description.co_simulation {
        Some(_) => CoSimulationSubsystem::describe(description, name, &CoSimulationOptions::default()),
        None => ModelExchangeSubsystem::describe(description, name, &ModelExchangeOptions::default()),
    };
    ports.ok()
}

/// Text that stays on its line.
fn comment(text: &str) -> String {
    const LONGEST: usize = 400;
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

fn time(seconds: f64) -> String {
    let nice = format_time(seconds);
    quoted(&if parse_time(&nice) == Ok(seconds) { nice } else { exact_time(seconds) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_multiples_of_inner_ones() {
        assert_eq!(multiple(1e-3, 1e-5), None);
        assert_eq!(multiple(1e-3, 0.1), Some(0.1));
        assert_eq!(multiple(1e-3, 3e-4), Some(4.0 * 3e-4));
        assert_eq!(multiple(1e-3, 1e-3), None);
    }
}
