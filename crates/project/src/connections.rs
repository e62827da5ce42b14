//! `[[connect]]` and `[[external]]`: what feeds which input.

use std::collections::HashSet;

use costep_core::{Code, Connection, Error, Experiment, External};
use costep_fmi::InputRouting;
use costep_fmu_file::Conversion;
use costep_system::SystemDescription;

use crate::components::Components;
use crate::document::{Node, Origin, Table, Value};
use crate::externals::{self, ExternalFile};
use crate::fmus;
use crate::keys;
use crate::kinds;
use crate::maps::{self, ValueMap};
use crate::problems::{Problems, first_of_list, shortened};
use crate::section::{Section, list};
use crate::signals::{Side, Signals, split_signal};
use crate::units::{PortUnit, Relation};

/// An external input as the project gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalSpec {
    /// Index into u.
    pub input: usize,
    /// r(t).
    pub signal: External,
    /// Whether it is added to what else feeds the input. Otherwise it is its only source, and takes the place
    /// of a signal that a whole model brings along.
    pub sum: bool,
    /// The file it was read from.
    pub file: Option<ExternalFile>,
}

/// A wish of a connection to be in a group.
pub(crate) struct GroupRequest {
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
    /// What is added on the way, one per connection.
    pub(crate) offsets: Vec<f64>,
    /// Values that become others on the way, one per connection.
    pub(crate) maps: Vec<ValueMap>,
    pub(crate) externals: Vec<ExternalSpec>,
    /// Where each of them is.
    pub(crate) external_origins: Vec<Origin>,
    /// Inputs of FMUs without a source, with the start value at which they stay.
    pub(crate) held: Vec<(usize, f64)>,
    pub(crate) wishes: Vec<GroupRequest>,
}

/// Something that feeds an input.
struct Feed {
    input: usize,
    origin: Origin,
    sum: bool,
}

/// Reads all connections and external inputs, and checks that each input is fed as it should be, and seen in the run.
pub(crate) fn read(
    root: &Table,
    parts: &Components,
    run: Option<&Experiment>,
    problems: &mut Problems<'_>,
) -> Wiring {
    let mut wiring = Wiring::default();
    let mut feeds = feeds_of(&parts.model);
    // Inputs that a misspelt name probably means: saying that they have no source would only confuse.
    let mut guessed = HashSet::new();
    if parts.model_id.is_none() {
        for node in items(root, "connect", problems) {
            let feed = read_connection(node, parts, &mut wiring, problems);
            keep(feed, &mut feeds, &mut guessed);
        }
    }
    for node in items(root, "external", problems) {
        let feed = read_external(node, (&parts.signals, run), &mut wiring, problems);
        keep(feed, &mut feeds, &mut guessed);
    }
    refuse_double_sources(&feeds, &parts.signals, problems);
    warn_of_fed_starts(root, &feeds, parts, problems);
    if parts.model_id.is_none() {
        guessed.extend(feeds.iter().map(|feed| feed.input));
        wiring.held = unconnected(&guessed, parts, problems);
    }
    wiring
}

/// What connections and external inputs say they feed, right or wrong.
pub(crate) fn targets(root: &Table) -> Vec<&str> {
    let mut targets = Vec::new();
    for key in ["connect", "external"] {
        let Some(Node { value: Value::List(items), .. }) = root.get(key) else { continue };
        targets.extend(items.iter().filter_map(|item| match &item.value {
            Value::Table(table) => table.text("to"),
            _ => None,
        }));
    }
    targets
}

/// How inputs reach the FMUs: those without a source are not set, others by their maps.
pub(crate) fn routing(wiring: &Wiring, parts: &Components) -> Vec<InputRouting> {
    let layout = parts.model.layout();
    let natives = parts.natives.len();
    let mut routing = vec![InputRouting::default(); parts.fmus.len()];
    let port = |input: usize| {
        let owner = layout.input_owner(input);
        let place = input - layout.input_range(owner).start;
        let name = parts.model.parts[owner].description().inputs[place].name.clone();
        // Behind the FMUs are parts made in code.
        let fmu = owner.checked_sub(natives).filter(|fmu| *fmu < parts.fmus.len())?;
        Some((fmu, name))
    };
    for (input, _) in &wiring.held {
        if let Some((fmu, name)) = port(*input) {
            routing[fmu].open.push(name);
        }
    }
    for (connection, map) in wiring.connections.iter().zip(&wiring.maps).filter(|(_, map)| !map.is_empty()) {
        if let Some((fmu, name)) = port(connection.input) {
            let entries = map.iter().map(|(source, target)| (*source as f64, *target as f64)).collect();
            routing[fmu].maps.push((name, entries));
        }
    }
    routing
}

/// The connections of a whole model. Its external inputs are not counted: others take their place.
fn feeds_of(model: &SystemDescription) -> Vec<Feed> {
    let feed = |connection: &Connection| Feed { input: connection.input, origin: Origin::Nowhere, sum: true };
    model.connections.iter().map(feed).collect()
}

fn items<'a>(root: &'a Table, key: &str, problems: &mut Problems<'_>) -> &'a [Node] {
    if let Some(Node { value: Value::Table(_), origin }) = root.get(key) {
        problems.report(*origin, || {
            Error::new(
                Code::BadValue,
                format!("`[{key}]` in single brackets is one table, not an item of a list"),
            )
            .hint(format!("write `[[{key}]]`, in double brackets, before each of them"))
        });
        return &[];
    }
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
    parts: &Components,
    wiring: &mut Wiring,
    problems: &mut Problems<'_>,
) -> Result<Feed, Option<usize>> {
    let signals = &parts.signals;
    let section = Section::open(Some(node), "[[connect]]", keys::CONNECT, problems);
    if let Some(input) = exchanged_ends(&section, signals, problems) {
        return Err(Some(input));
    }
    let output = find(&section, "from", Side::Output, signals, problems);
    let input = find(&section, "to", Side::Input, signals, problems);
    let gain = section.number("gain", problems);
    let offset = section.number("offset", problems);
    let sum = read_sum(&section, problems);
    let group = section.text("group", problems);
    let bond = section.text("bond", problems);
    let input = input?;
    if let Ok(output) = output {
        let map = maps::read(&section, (output, input), parts, problems);
        kinds::check_connection(&section, (output, input), (gain, offset, sum), signals, problems);
        wiring.maps.push(map);
        let conversion = units(&section, (output, input), signals, problems);
        let gain = gain.unwrap_or(1.0);
        wiring.connections.push(Connection { output, input, gain: gain * conversion.factor });
        wiring.offsets.push(gain * conversion.offset + offset.unwrap_or(0.0));
        wiring.bonds.push(bond.map(Into::into));
    }
    let origin = section.origin_of("group");
    wiring.wishes.extend(group.map(|group| GroupRequest { input, group: group.into(), origin }));
    Ok(Feed { input, origin: section.origin_of("to"), sum })
}

/// Reports a connection from an input to an output, and gives the input.
fn exchanged_ends(section: &Section<'_>, signals: &Signals, problems: &mut Problems<'_>) -> Option<usize> {
    let end = |key: &str| match &section.get(key)?.value {
        Value::Text(name) => Some(name.as_str()),
        _ => None,
    };
    let (from, to) = (end("from")?, end("to")?);
    let input = signals.index(Side::Input, from)?;
    signals.index(Side::Output, to)?;
    let is_right = signals.index(Side::Output, from).is_some() || signals.index(Side::Input, to).is_some();
    if is_right {
        return None;
    }
    problems.report(section.origin_of("from"), || {
        Error::new(Code::UnknownPort, "`from` and `to` are exchanged")
            .because(format!("`{from}` is an input, `{to}` is an output"))
            .hint(format!("write from = \"{to}\" and to = \"{from}\""))
    });
    Some(input)
}

fn read_external(
    node: &Node,
    (signals, run): (&Signals, Option<&Experiment>),
    wiring: &mut Wiring,
    problems: &mut Problems<'_>,
) -> Result<Feed, Option<usize>> {
    let section = Section::open(Some(node), "[[external]]", keys::EXTERNAL, problems);
    let input = find(&section, "to", Side::Input, signals, problems);
    let sum = read_sum(&section, problems);
    let name = input.ok().map(|input| signals.names(Side::Input)[input].as_str()).unwrap_or_default();
    let port = split_signal(name).map_or(name, |(_, port)| port);
    let items = input.ok().and_then(|input| signals.enumeration(Side::Input, input));
    let signal = externals::read(&section, &[name, port], items, problems);
    let input = input?;
    if let Some((signal, file)) = &signal {
        kinds::check_external(&section, input, signal, sum, signals, problems);
        if let Some(run) = run {
            externals::warn_of_run((signal, file.is_some()), name, run, section.origin_of("to"), problems);
        }
    }
    if let Some((_, Some(file))) = &signal {
        warn_of_column_unit(&section, file, (name, signals.unit(Side::Input, input)), problems);
    }
    wiring.external_origins.extend(signal.as_ref().map(|_| section.origin_of("file")));
    wiring.externals.extend(signal.map(|(signal, file)| ExternalSpec { input, signal, sum, file }));
    Ok(Feed { input, origin: section.origin_of("to"), sum })
}

/// Units of columns are not converted. Where a gain is given, somebody has thought of them.
fn warn_of_column_unit(
    section: &Section<'_>,
    file: &ExternalFile,
    (name, unit): (&str, Option<&PortUnit>),
    problems: &mut Problems<'_>,
) {
    let (Some(given), Some(wanted)) = (&file.unit, unit.map(PortUnit::name)) else { return };
    if given != wanted && section.get("gain").is_none() {
        problems.warn(section.origin_of("file"), || {
            let column = shortened(&file.signal.column);
            let message = format!("the column `{column}` is in {}, `{name}` in {wanted}", shortened(given));
            Error::new(Code::ColumnUnit, message)
        });
    }
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

/// The conversion that a connection asks for. Units that differ are reported, unless it converts them or gives the
/// factor itself.
fn units(
    section: &Section<'_>,
    (output, input): (usize, usize),
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Conversion {
    let convert = read_convert(section, problems);
    let compared = section.get("gain").is_none() && !section.is_misspelt("gain");
    let (Some(from), Some(to)) = (signals.unit(Side::Output, output), signals.unit(Side::Input, input))
    else {
        if convert {
            warn_of_no_conversion(section, (output, input), signals, problems);
        }
        return Conversion::IDENTITY;
    };
    let relation = match from.relation(to) {
        Relation::Same => return Conversion::IDENTITY,
        Relation::Converted(conversion) if convert => return conversion,
        relation => relation,
    };
    if convert || (compared && !section.is_misspelt("unit") && section.get("unit").is_none()) {
        let origin = section.origin_of(if convert { "unit" } else { "to" });
        problems.report(origin, || {
            let (output, input) = (&signals.names(Side::Output)[output], &signals.names(Side::Input)[input]);
            let message = format!("units differ: `{output}` is {}, `{input}` is {}", from.name(), to.name());
            let error = Error::new(Code::UnitMismatch, message).hint(remedy(relation));
            match relation {
                Relation::OtherQuantity => {
                    error.because("these are different quantities: no factor converts one into the other")
                }
                Relation::Unknown => error.because(
                    "not both of them are defined by their FMUs, so that nothing is known of a factor",
                ),
                Relation::Same | Relation::Converted(_) => error,
            }
        });
    }
    Conversion::IDENTITY
}

/// Where one end has a unit only, a conversion that is asked for is not done. Structures of other formats ask for all of theirs.
fn warn_of_no_conversion(
    section: &Section<'_>,
    (output, input): (usize, usize),
    signals: &Signals,
    problems: &mut Problems<'_>,
) {
    let origin = section.origin_of("unit");
    let ends = [(Side::Output, output), (Side::Input, input)];
    let (known, open): (Vec<_>, Vec<_>) =
        ends.into_iter().partition(|(side, index)| signals.unit(*side, *index).is_some());
    let ([_], [(side, index)]) = (&known[..], &open[..]) else { return };
    if matches!(origin, Origin::Draft(_)) {
        return;
    }
    problems.warn(origin, || {
        let name = &signals.names(*side)[*index];
        Error::new(Code::OptionWithoutEffect, format!("nothing is converted: `{name}` has no unit"))
            .because("values pass as they are")
            .hint("give the factor in the place of `unit`: `gain = ...`; or leave `unit` out")
    });
}

fn remedy(relation: Relation) -> String {
    match relation {
        Relation::Converted(Conversion { factor, offset: 0.0, .. }) => {
            format!("write `unit = \"convert\"` to insert the factor {factor}")
        }
        Relation::Converted(Conversion { factor, offset, .. }) => {
            format!("write `unit = \"convert\"` to insert the factor {factor} and the offset {offset}")
        }
        Relation::OtherQuantity => {
            "is this the right port? If it is, a unit is declared wrongly: `gain = 1.0` passes values on without comparing units".into()
        }
        Relation::Same | Relation::Unknown => {
            "give the factor: `gain = ...`; then units are not compared".into()
        }
    }
}

fn read_convert(section: &Section<'_>, problems: &mut Problems<'_>) -> bool {
    match section.text("unit", problems) {
        None => false,
        Some("convert") => true,
        Some(other) => {
            problems.report(section.origin_of("unit"), || {
                let message = format!("`unit` in [[connect]] is `{}`", shortened(other));
                Error::new(Code::BadValue, message)
                    .hint("write unit = \"convert\" to convert values, or leave it out")
            });
            false
        }
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
                Error::new(Code::DoubleSource, message).hint(match other.origin {
                    Origin::Nowhere => "write `sum = true` to add this one to it, or remove this one: connections of a model stay",
                    _ => "remove one of them, or write `sum = true` in each if their sum is wanted",
                })
            });
        }
    }
}

/// Start values of inputs that something feeds: it takes their place before they are seen.
fn warn_of_fed_starts(root: &Table, feeds: &[Feed], parts: &Components, problems: &mut Problems<'_>) {
    let Some(fmus) = root.table("fmu") else { return };
    for part in &fmus.entries {
        let Value::Table(keys) = &part.node.value else { continue };
        for set in keys.table("set").into_iter().flat_map(|set| &set.entries) {
            let name = format!("{}.{}", part.key, set.key);
            let feed = |input| feeds.iter().find(|feed| feed.input == input);
            let Some(feed) = parts.signals.index(Side::Input, &name).and_then(feed) else { continue };
            let (place, name) = (problems.place_name(feed.origin), shortened(&name));
            let warning = || {
                Error::new(Code::FedStart, format!("the start value of `{name}` has no effect"))
                    .because(format!(
                        "the input has a source in {place}, and takes its value from the start of the run on"
                    ))
                    .hint("remove it, or set where the source starts")
            };
            // Structures of other tools often have both.
            match set.key_origin {
                Origin::Draft(_) => problems.advise(set.key_origin, warning),
                origin => problems.warn(origin, warning),
            }
        }
    }
}

/// Inputs without a source: a mistake in native parts; FMUs have start values at which theirs can stay.
fn unconnected(
    connected: &HashSet<usize>,
    parts: &Components,
    problems: &mut Problems<'_>,
) -> Vec<(usize, f64)> {
    let layout = parts.model.layout();
    let names = parts.signals.names(Side::Input);
    let mut held = Vec::new();
    for (part, origin) in parts.origins.iter().enumerate() {
        let mut open = Vec::new();
        for input in layout.input_range(part).filter(|input| !connected.contains(input)) {
            match start_of(parts, part, input - layout.input_range(part).start) {
                Some(value) => open.push((input, value)),
                None => problems.report(*origin, || {
                    let name = &names[input];
                    Error::new(Code::UnconnectedInput, format!("input `{name}` has no source")).hint(format!(
                        "connect it, or give it a constant: [[external]] to = \"{name}\" value = 0.0"
                    ))
                }),
            }
        }
        if !open.is_empty() && !parts.signals.incomplete() {
            let ways = problems.dialect().ways_to_feed(&shortened(&names[open[0].0]));
            problems.warn(*origin, || {
                let each = open.iter().map(|(j, value)| format!("{} = {value}", shortened(&names[*j])));
                let (first, rest) = first_of_list(each);
                let message = match rest {
                    0 => format!("without a source, these inputs stay at their start value: {first}"),
                    rest => format!(
                        "without a source, these {} inputs stay at their start value: {first} and {rest} more",
                        open.len()
                    ),
                };
                Error::new(Code::OpenInputs, message).hint(ways)
            });
        }
        held.extend(open);
    }
    held
}

/// The start value of an input of an FMU.
fn start_of(parts: &Components, part: usize, input: usize) -> Option<f64> {
    let (spec, file) = parts.fmus.get(part.checked_sub(parts.natives.len())?)?;
    let port = &parts.model.parts[part].description().inputs[input];
    if !port.kind.is_number() {
        // Stands for no text or bytes at all: the FMU keeps what it has.
        return Some(0.0);
    }
    fmus::start_of_port(&file.description, &port.name, &spec.set)
}
