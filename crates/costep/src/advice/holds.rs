//! Which inputs need more than a hold: the choice is run once more with one input held at a time. [T] 5.4 leaves open on which
//! part of a co-simulation an enhanced coupling is needed, and expects a hold to do for some signals.

use costep_core::{Code, InputSet, Result};
use costep_methods::{MethodSpec, zoh};
use costep_project::{GroupSpec, Project};

use super::search::Search;
use super::yardstick::Measured;
use super::{MacroSteps, Trial};
use crate::report::Verdict;
use crate::system::System;

/// Most inputs that are tried one by one.
const MOST: usize = 24;
/// Times that all which a hold is enough for are held together, the worst left out from time to time.
const TOGETHER: usize = 4;
/// A run with a held input takes about so many times the wall time of the choice, with its reference.
const WALL: f64 = 2.0;

/// An input while it alone is held.
#[derive(Clone, Debug)]
pub struct HeldInput {
    /// `part.port`.
    pub input: String,
    /// What it is connected to, `part.port`.
    pub from: Vec<String>,
    /// The error of the outputs while it is held; nothing if the run was not stable.
    pub error: Option<f64>,
    index: usize,
}

/// The inputs of the choice, by what a hold does to them.
#[derive(Clone, Debug, Default)]
pub struct Holds {
    /// A hold of this one leaves the error as small as was asked for.
    pub enough: Vec<HeldInput>,
    /// A hold of this one does not, the worst first.
    pub more: Vec<HeldInput>,
    /// Of those that a hold is enough for, the ones that can be held at the same time.
    pub together: Vec<String>,
    /// Inputs that were not tried, because of their number or for want of time.
    pub not_tried: Vec<String>,
}

impl Holds {
    /// Tries the inputs; nothing where the system has been put into groups already.
    pub(super) fn find(search: &mut Search<'_>, system: &System, choice: &Trial) -> Result<Option<Self>> {
        // Steps of one length are those of the system without its control.
        let own = search.system.clone();
        let system = if matches!(choice.steps, MacroSteps::Equal(_)) { &own } else { system };
        let project = search.system.project.clone();
        if project.groups.len() > 1 {
            return Ok(None);
        }
        let hold = MethodSpec::of(&zoh::ENTRY, Vec::new())?;
        let inputs = connected(&search.system);
        let mut holds = Self::default();
        if choice.method == zoh::ENTRY.id {
            holds.together = inputs.iter().map(|input| input.input.clone()).collect();
            holds.enough = inputs;
            return Ok(Some(holds));
        }
        for (k, mut input) in inputs.into_iter().enumerate() {
            if k >= MOST || !search.has_time_for(WALL * choice.wall_s) {
                holds.not_tried.push(input.input);
                continue;
            }
            let name = format!("{} with {} held", choice.method, input.input);
            let (is_enough, error) = held(search, (system, choice), (&hold, &[input.index]), &name)?;
            input.error = error;
            if is_enough { holds.enough.push(input) } else { holds.more.push(input) }
        }
        let size = |input: &HeldInput| input.error.unwrap_or(f64::INFINITY);
        holds.more.sort_by(|a, b| size(b).total_cmp(&size(a)));
        holds.together = together(search, (system, choice), &hold, &holds.enough)?;
        Ok(Some(holds))
    }
}

/// The most of these that can be held at the same time, those first that matter least.
fn together(
    search: &mut Search<'_>,
    (system, choice): (&System, &Trial),
    hold: &MethodSpec,
    enough: &[HeldInput],
) -> Result<Vec<String>> {
    let mut some: Vec<&HeldInput> = enough.iter().collect();
    some.sort_by(|a, b| a.error.unwrap_or(0.0).total_cmp(&b.error.unwrap_or(0.0)));
    for _ in 0..TOGETHER {
        if some.len() < 2 || !search.has_time_for(WALL * choice.wall_s) {
            break;
        }
        let mut indices: Vec<usize> = some.iter().map(|input| input.index).collect();
        indices.sort_unstable();
        let name = format!("{} with {} inputs held", choice.method, some.len());
        if held(search, (system, choice), (hold, &indices), &name)?.0 {
            break;
        }
        some.truncate(some.len() / 2);
    }
    Ok(some.into_iter().map(|input| input.input.clone()).collect())
}

/// Inputs that are connected to something.
fn connected(system: &System) -> Vec<HeldInput> {
    let (names, outputs) = (system.inputs(), system.outputs());
    let links = &system.project.model.connections;
    let input = |(index, name): (usize, String)| {
        let from = links.iter().filter(|link| link.input == index).map(|link| outputs[link.output].clone());
        HeldInput { input: name, from: from.collect(), error: None, index }
    };
    names.into_iter().enumerate().map(input).filter(|input| !input.from.is_empty()).collect()
}

/// Whether the choice reaches the error with these inputs held, and its error.
fn held(
    search: &mut Search<'_>,
    (system, choice): (&System, &Trial),
    (hold, inputs): (&MethodSpec, &[usize]),
    name: &str,
) -> Result<(bool, Option<f64>)> {
    let run = choice.steps.run().method(choice.method.as_str());
    let system = system.configured(&run, None)?;
    let mut project = Project::clone(&system.project);
    let rest = project.groups[0].inputs.iter().filter(|input| !inputs.contains(input)).collect();
    project.groups[0].inputs = InputSet::Some(rest);
    project.groups.push(GroupSpec {
        name: "held".into(),
        method: hold.clone(),
        inputs: InputSet::Some(inputs.to_vec()),
    });
    let system = System::new(project, system.registry.clone());
    let Measured::Run(report, kind) = search.run(&system, name, false)? else { return Ok((false, None)) };
    if let Some(error) = &report.error
        && matches!(error.code(), Code::Stopped | Code::TimeLimit)
    {
        return Err(error.clone());
    }
    let trial = Trial::of(&report, choice.steps, search.asked, kind);
    let error = trial.error.filter(|_| trial.verdict != Verdict::Unstable).map(|error| error.value);
    Ok((trial.reaches, error))
}
