//! Which output may feed which input of FMUs that nobody has connected yet: by terminals, names, units, and pairs of effort
//! and flow. Every proposal has a score from 0 to 1 and says why.

use std::cell::RefCell;
use std::collections::HashMap;

use costep_core::{Description, Port, PortKind};
use costep_fmu_file::{ModelDescription, Terminal};

use crate::fmus::{find_port, start_of_port};
use crate::names::{Words, spelling};
use crate::units::{PortUnit, Relation};

/// Outputs that are listed for an input that several of them fit.
const MOST_LISTED: usize = 6;
/// A proposal is made from this score on, and without a question if no other comes near it.
const LEAST: f64 = 0.15;
const SURE: f64 = 0.6;
const MARGIN: f64 = 0.1;

/// What a reason is worth.
const TERMINAL: f64 = 0.95;
const SAME_NAME: f64 = 0.9;
const SAME_SPELLING: f64 = 0.8;
/// Times the share of words in common.
const WORDS: f64 = 0.5;
/// A unit that says something, alone and beside a name.
const UNIT: f64 = 0.3;
const UNIT_BESIDE_NAME: f64 = 0.15;
/// Its unit belongs to no other input of that part and no other output fits: two ends of the only signal of that kind.
const ONLY_OF_ITS_UNIT: f64 = 0.3;
/// Effort one way, flow the other way.
const POWER: f64 = 0.15;

/// An input, and what may feed it.
pub(crate) struct Proposal {
    pub(crate) input: InputPort,
    /// The best first; none if nothing fits.
    pub(crate) sources: Vec<SourcePort>,
    /// Whether the first one is connected without a question.
    pub(crate) sure: bool,
}

pub(crate) struct InputPort {
    /// `part.port`.
    pub(crate) name: String,
    unit: Option<String>,
    pub(crate) start: Option<f64>,
    /// It takes integers or items of an enumeration.
    pub(crate) is_whole: bool,
}

impl InputPort {
    /// Name and unit for people.
    pub(crate) fn shown(&self) -> String {
        match &self.unit {
            Some(unit) => format!("`{}` [{unit}]", self.name),
            None => format!("`{}`", self.name),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SourcePort {
    /// `part.port`.
    pub(crate) name: String,
    /// Its unit is another one of the same kind.
    pub(crate) converted: bool,
    /// From 0 to 1.
    pub(crate) score: f64,
    /// Why this one.
    pub(crate) reason: String,
    /// What is not known of the units, where only one end says its own.
    pub(crate) doubt: Option<String>,
}

/// An FMU with what it is compared by.
pub(crate) struct Candidate<'a> {
    pub(crate) ports: Description,
    pub(crate) description: &'a ModelDescription,
    pub(crate) terminals: &'a [Terminal],
}

/// A port with what it is compared by.
struct Signal<'a> {
    part: usize,
    full: String,
    port: &'a str,
    words: Words,
    /// With those of its part.
    words_of_both: Words,
    unit: Option<PortUnit>,
    kind: PortKind,
    /// Kinds or names of its terminals, and its names in them.
    members: Vec<(&'a str, &'a str)>,
}

impl Signal<'_> {
    /// Whether the unit says anything: `1` and no unit fit everything.
    fn has_telling_unit(&self) -> bool {
        self.unit.as_ref().is_some_and(|unit| !matches!(unit.name(), "" | "1" | "-"))
    }

    fn relation(&self, to: &Self) -> Relation {
        match (&self.unit, &to.unit) {
            (Some(from), Some(to)) => from.relation(to),
            _ => Relation::Same,
        }
    }

    fn can_feed(&self, input: &Self) -> bool {
        self.part != input.part
            && self.kind.feeds(input.kind)
            && matches!(self.relation(input), Relation::Same | Relation::Converted(_))
    }
}

/// A proposal for every input, in the order of the FMUs.
pub(crate) fn propose(fmus: &[Candidate<'_>]) -> Vec<Proposal> {
    let outputs = signals(fmus, |ports| &ports.outputs);
    let inputs = signals(fmus, |ports| &ports.inputs);
    let all = Signals::new(&inputs, &outputs);
    inputs.iter().enumerate().map(|(at, input)| proposal((at, input), &all, &fmus[input.part])).collect()
}

/// A pair of ports that could be connected by their kind, to show how that is written where nothing is proposed: output,
/// input, and what is to be looked at. One whose units fit goes first.
pub(crate) fn example(fmus: &[Candidate<'_>]) -> Option<(String, String, String)> {
    let outputs = signals(fmus, |ports| &ports.outputs);
    let inputs = signals(fmus, |ports| &ports.inputs);
    let by_kind = || {
        let pairs = inputs.iter().flat_map(|input| outputs.iter().map(move |output| (output, input)));
        pairs.filter(|(output, input)| output.part != input.part && output.kind.feeds(input.kind))
    };
    let (output, input) =
        by_kind().find(|(output, input)| output.can_feed(input)).or_else(|| by_kind().next())?;
    let unit = |signal: &Signal<'_>| {
        signal.unit.as_ref().map_or_else(|| "has no unit".to_owned(), |unit| format!("is in {}", unit.name()))
    };
    let units = format!("`{}` {}, `{}` {}", output.full, unit(output), input.full, unit(input));
    Some((output.full.clone(), input.full.clone(), units))
}

struct Signals<'a> {
    inputs: &'a [Signal<'a>],
    outputs: &'a [Signal<'a>],
    /// How many outputs could feed each input by their unit, and how many inputs each output.
    feeders: Vec<usize>,
    fed: Vec<usize>,
    /// Whether power flows between two parts through a signal of a unit, where that has been asked.
    power: RefCell<HashMap<(usize, usize, String), bool>>,
}

impl<'a> Signals<'a> {
    fn new(inputs: &'a [Signal<'a>], outputs: &'a [Signal<'a>]) -> Self {
        let (mut feeders, mut fed) = (vec![0; inputs.len()], vec![0; outputs.len()]);
        for (i, input) in inputs.iter().enumerate().filter(|(_, input)| input.has_telling_unit()) {
            for (o, output) in outputs.iter().enumerate().filter(|(_, output)| output.has_telling_unit()) {
                if output.can_feed(input) {
                    feeders[i] += 1;
                    fed[o] += 1;
                }
            }
        }
        Self { inputs, outputs, feeders, fed, power: RefCell::default() }
    }
}

fn signals<'a>(fmus: &'a [Candidate<'_>], ports: impl Fn(&Description) -> &[Port]) -> Vec<Signal<'a>> {
    let mut all = Vec::new();
    for (part, fmu) in fmus.iter().enumerate() {
        let members = |name: &str| {
            let inside = fmu.terminals.iter().flat_map(|terminal| {
                let kind = terminal.kind.as_deref().unwrap_or(&terminal.name);
                terminal
                    .members
                    .iter()
                    .map(move |(member, variable)| (kind, member.as_str(), variable.as_str()))
            });
            inside
                .filter(|(.., variable)| *variable == name)
                .map(|(kind, member, _)| (kind, member))
                .collect()
        };
        for port in ports(&fmu.ports) {
            let found = find_port(fmu.description, &port.name);
            let words = Words::of(&port.name);
            all.push(Signal {
                part,
                full: format!("{}.{}", fmu.ports.name, port.name),
                port: &port.name,
                words_of_both: words.with(&fmu.ports.name),
                words,
                unit: found
                    .and_then(|(at, _)| PortUnit::of(fmu.description, &fmu.description.variables()[at])),
                kind: port.kind,
                members: members(&port.name),
            });
        }
    }
    all
}

/// What to look at where one end has a unit and the other none: nobody can compare them.
fn unit_at_one_end(output: &Signal<'_>, input: &Signal<'_>) -> Option<String> {
    let unit =
        |signal: &Signal<'_>| signal.unit.as_ref().map_or_else(String::new, |unit| unit.name().to_owned());
    let (known, unknown) = match (output.has_telling_unit(), input.has_telling_unit()) {
        (true, false) if input.unit.is_none() => (output, input),
        (false, true) if output.unit.is_none() => (input, output),
        _ => return None,
    };
    Some(format!(
        "`{}` is in {}, `{}` does not say its unit: is it the same? Else add `gain = ...`",
        known.full,
        unit(known),
        unknown.full
    ))
}

fn proposal((at, input): (usize, &Signal<'_>), all: &Signals<'_>, fmu: &Candidate<'_>) -> Proposal {
    let mut sources: Vec<SourcePort> = all
        .outputs
        .iter()
        .enumerate()
        .filter(|(_, output)| output.can_feed(input))
        .filter_map(|(place, output)| {
            let is_only = all.feeders[at] == 1 && all.fed[place] == 1;
            let (score, reason) = score(output, input, is_only, all);
            let converted = matches!(output.relation(input), Relation::Converted(_));
            (score >= LEAST).then(|| SourcePort {
                name: output.full.clone(),
                converted,
                score,
                reason,
                doubt: unit_at_one_end(output, input),
            })
        })
        .collect();
    sources.sort_by(|a, b| b.score.total_cmp(&a.score));
    let sure = match &sources[..] {
        [] => false,
        [only] => only.score >= SURE,
        [first, second, ..] => first.score >= SURE && first.score - second.score >= MARGIN,
    };
    sources.truncate(if sure { 1 } else { MOST_LISTED });
    let port = InputPort {
        name: input.full.clone(),
        unit: input.unit.as_ref().map(|unit| unit.name().to_owned()),
        start: start_of_port(fmu.description, input.port, &[]),
        is_whole: matches!(input.kind, PortKind::Integer | PortKind::Boolean | PortKind::Enumeration),
    };
    Proposal { input: port, sources, sure }
}

/// How well two ports fit, and why.
fn score(output: &Signal<'_>, input: &Signal<'_>, is_only: bool, all: &Signals<'_>) -> (f64, String) {
    let mut reasons: Vec<&str> = Vec::new();
    let (mut score, reason) = score_of_names(output, input);
    reasons.extend(reason);
    if output.has_telling_unit() && input.has_telling_unit() {
        let same = output.unit.as_ref().map(PortUnit::name) == input.unit.as_ref().map(PortUnit::name);
        reasons.push(if same { "the same unit" } else { "a unit that can be converted" });
        score += if score > 0.0 { UNIT_BESIDE_NAME } else { UNIT };
        if is_only {
            score += ONLY_OF_ITS_UNIT;
        }
        if carries_power(output, input, all) {
            reasons.push("effort and flow");
            score += POWER;
        }
    }
    (score.min(1.0), reasons.join(", "))
}

fn score_of_names(output: &Signal<'_>, input: &Signal<'_>) -> (f64, Option<&'static str>) {
    if output.members.iter().any(|member| input.members.contains(member)) {
        (TERMINAL, Some("terminals of the same kind"))
    } else if output.port == input.port {
        (SAME_NAME, Some("the same name"))
    } else if spelling(output.port) == spelling(input.port) {
        (SAME_SPELLING, Some("the same name, spelled differently"))
    } else {
        // `engine.torque` may feed `brake.engine_torque`, and `engine.brake_torque` `brake.torque`.
        let share = output.words.share(&input.words);
        let share =
            share.max(output.words_of_both.share(&input.words)).max(output.words.share(&input.words_of_both));
        (WORDS * share, (share > 0.0).then_some("words of the name"))
    }
}

/// Whether something comes back whose product with this is power.
fn carries_power(output: &Signal<'_>, input: &Signal<'_>, all: &Signals<'_>) -> bool {
    let unit = output.unit.as_ref().map_or("", PortUnit::name).to_owned();
    let key = (output.part, input.part, unit);
    *all.power.borrow_mut().entry(key).or_insert_with(|| power_comes_back(output, input, all))
}

fn power_comes_back(output: &Signal<'_>, input: &Signal<'_>, all: &Signals<'_>) -> bool {
    let is_conjugate = |back: &Signal<'_>| match (&output.unit, &back.unit) {
        (Some(one), Some(other)) => one.gives_power_with(other),
        _ => false,
    };
    let mut returns = all.outputs.iter().filter(|back| back.part == input.part && is_conjugate(back));
    returns.any(|back| {
        all.inputs.iter().any(|end| end.part == output.part && back.can_feed(end) && is_conjugate(end))
    })
}
