//! `[[connect]]` and `[[external]]`: what feeds which input.

use std::collections::HashSet;

use costep_core::{Code, Connection, Error, External};
use costep_models::Model;

use crate::document::{Node, Origin, Table};
use crate::externals::{self, SHAPES};
use crate::parts::Parts;
use crate::problems::Problems;
use crate::section::{Section, list};
use crate::signals::{Side, Signals};

/// A signal from outside as the project gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalSpec {
    /// Index into u.
    pub input: usize,
    /// r(t).
    pub signal: External,
    /// Whether it is added to what else feeds the input. Otherwise it is its only source, and takes the place
    /// of a signal that a whole model brings along.
    pub sum: bool,
}

/// A wish of a connection to be in a group.
pub(crate) struct GroupWish {
    pub(crate) input: usize,
    pub(crate) group: String,
    pub(crate) origin: Origin,
}

/// What the project says about connections.
#[derive(Default)]
pub(crate) struct Wiring {
    pub(crate) connections: Vec<Connection>,
    /// One per connection.
    pub(crate) bonds: Vec<Option<String>>,
    pub(crate) externals: Vec<ExternalSpec>,
    pub(crate) wishes: Vec<GroupWish>,
}

/// Something that feeds an input.
struct Feed {
    input: usize,
    origin: Origin,
    sum: bool,
}

/// Reads all connections and signals from outside, and checks that each input is fed as it should be.
pub(crate) fn read(root: &Table, parts: &Parts, problems: &mut Problems<'_>) -> Wiring {
    let mut wiring = Wiring::default();
    let mut feeds = feeds_of(&parts.model);
    // Inputs that a misspelt name probably means: saying that they have no source would only confuse.
    let mut guessed = HashSet::new();
    if parts.model_id.is_none() {
        for node in items(root, "connect", problems) {
            let feed = read_connection(node, &parts.signals, &mut wiring, problems);
            keep(feed, &mut feeds, &mut guessed);
        }
    }
    for node in items(root, "external", problems) {
        let feed = read_external(node, &parts.signals, &mut wiring, problems);
        keep(feed, &mut feeds, &mut guessed);
    }
    refuse_double_sources(&feeds, &parts.signals, problems);
    if parts.model_id.is_none() {
        guessed.extend(feeds.iter().map(|feed| feed.input));
        refuse_unconnected(&guessed, parts, problems);
    }
    wiring
}

/// The connections of a whole model. Its signals from outside are not counted: others take their place.
fn feeds_of(model: &Model) -> Vec<Feed> {
    let feed = |connection: &Connection| Feed { input: connection.input, origin: Origin::Nowhere, sum: true };
    model.connections.iter().map(feed).collect()
}

fn items<'a>(root: &'a Table, key: &str, problems: &mut Problems<'_>) -> &'a [Node] {
    root.get(key).and_then(|node| list(node, &format_args!("`{key}`"), problems)).unwrap_or_default()
}

fn keep(feed: Result<Feed, Option<usize>>, feeds: &mut Vec<Feed>, guessed: &mut HashSet<usize>) {
    match feed {
        Ok(feed) => feeds.push(feed),
        Err(guess) => guessed.extend(guess),
    }
}

/// Adds a connection; gives the input it feeds or probably feeds.
fn read_connection(
    node: &Node,
    signals: &Signals,
    wiring: &mut Wiring,
    problems: &mut Problems<'_>,
) -> Result<Feed, Option<usize>> {
    let known = &["from", "to", "gain", "sum", "group", "bond"];
    let section = Section::open(Some(node), "[[connect]]", known, problems);
    let output = find(&section, "from", Side::Output, signals, problems);
    let input = find(&section, "to", Side::Input, signals, problems);
    let gain = section.number("gain", problems);
    let sum = read_sum(&section, problems);
    let group = section.text("group", problems);
    let bond = section.text("bond", problems);
    let input = input?;
    if let Ok(output) = output {
        if section.get("gain").is_none() && !section.is_misspelt("gain") {
            check_units(&section, (output, input), signals, problems);
        }
        wiring.connections.push(Connection { output, input, gain: gain.unwrap_or(1.0) });
        wiring.bonds.push(bond.map(Into::into));
    }
    let origin = section.origin_of("group");
    wiring.wishes.extend(group.map(|group| GroupWish { input, group: group.into(), origin }));
    Ok(Feed { input, origin: section.origin_of("to"), sum })
}

fn read_external(
    node: &Node,
    signals: &Signals,
    wiring: &mut Wiring,
    problems: &mut Problems<'_>,
) -> Result<Feed, Option<usize>> {
    let known: Vec<&str> = ["to", "sum"].iter().chain(SHAPES).copied().collect();
    let section = Section::open(Some(node), "[[external]]", &known, problems);
    let input = find(&section, "to", Side::Input, signals, problems);
    let sum = read_sum(&section, problems);
    let signal = externals::read(&section, problems);
    let input = input?;
    wiring.externals.extend(signal.map(|signal| ExternalSpec { input, signal, sum }));
    Ok(Feed { input, origin: section.origin_of("to"), sum })
}

/// Whether the source is to be summed with others. A wrong or misspelt `sum` was meant so.
fn read_sum(section: &Section<'_>, problems: &mut Problems<'_>) -> bool {
    match section.get("sum") {
        Some(_) => section.truth("sum", problems).unwrap_or(true),
        None => section.is_misspelt("sum"),
    }
}

fn find(
    section: &Section<'_>,
    key: &str,
    side: Side,
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Result<usize, Option<usize>> {
    section.require(key, "write \"part.port\"", problems);
    let name = section.text(key, problems).ok_or(None)?;
    signals.find(side, name, section.origin_of(key), problems)
}

fn check_units(
    section: &Section<'_>,
    (output, input): (usize, usize),
    signals: &Signals,
    problems: &mut Problems<'_>,
) {
    if let (Some(from), Some(to)) = (signals.unit(Side::Output, output), signals.unit(Side::Input, input))
        && from != to
    {
        problems.report(section.origin_of("to"), || {
            let output = &signals.names(Side::Output)[output];
            let input = &signals.names(Side::Input)[input];
            Error::new(Code::UnitMismatch, format!("units differ: `{output}` is {from}, `{input}` is {to}"))
                .hint("give the factor: `gain = ...`; then units are not compared")
        });
    }
}

/// Several sources of an input are only summed if each of them says so.
fn refuse_double_sources(feeds: &[Feed], signals: &Signals, problems: &mut Problems<'_>) {
    let names = signals.names(Side::Input);
    let mut by_input: Vec<Vec<&Feed>> = vec![Vec::new(); names.len()];
    feeds.iter().for_each(|feed| by_input[feed.input].push(feed));
    for (input, feeds) in by_input.iter().enumerate().filter(|(_, feeds)| feeds.len() > 1) {
        // If nobody says so, the first is innocent.
        let innocent = usize::from(feeds.iter().all(|feed| !feed.sum));
        for feed in feeds.iter().filter(|feed| !feed.sum).skip(innocent) {
            let other = feeds.iter().find(|other| !std::ptr::eq(**other, *feed)).unwrap_or(&feeds[0]);
            let place = problems.place_name(other.origin);
            problems.report(feed.origin, || {
                let message = format!("input `{}` has another source in {place}", names[input]);
                Error::new(Code::DoubleSource, message)
                    .hint("write `sum = true` in each if their sum is wanted")
            });
        }
    }
}

fn refuse_unconnected(connected: &HashSet<usize>, parts: &Parts, problems: &mut Problems<'_>) {
    let layout = parts.model.layout();
    for (input, name) in parts.signals.names(Side::Input).iter().enumerate() {
        if connected.contains(&input) {
            continue;
        }
        let origin = parts.origins.get(layout.input_owner(input)).copied().unwrap_or(Origin::Nowhere);
        problems.report(origin, || {
            Error::new(Code::UnconnectedInput, format!("input `{name}` has no source"))
                .hint(format!("connect it, or give it a constant: [[external]] to = \"{name}\" value = 0.0"))
        });
    }
}
