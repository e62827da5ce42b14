//! `[port."part.port"]`: typical sizes and bounds of ports, in the place of what their makers declare.

use costep_core::{Code, Error, Port, PortKind, PortSize};
use costep_system::Component;

use crate::components::Components;
use crate::document::{Entry, Table};
use crate::keys;
use crate::problems::{Problems, shortened};
use crate::section::Section;
use crate::signals::{Side, split_signal};

/// Reads all tables; ports are named `part.port`. Wrong ones are reported and left out.
pub(crate) fn read(root: &Table, parts: &Components, problems: &mut Problems<'_>) -> Vec<PortSize> {
    let section = Section::open_free(root.get("port"), "[port]", problems);
    let entries = section.named(keys::PORT, "[port.\"part.port\"]", problems);
    entries.into_iter().filter_map(|entry| read_one(entry, parts, problems)).collect()
}

/// Gives the ports of a part their sizes.
pub(crate) fn apply(sizes: &[PortSize], part: &mut Box<dyn Component>) {
    let of_part = |size: &PortSize| {
        let (owner, port) = split_signal(&size.port)?;
        (owner == part.description().name).then(|| PortSize { port: port.into(), ..size.clone() })
    };
    let own: Vec<PortSize> = sizes.iter().filter_map(of_part).collect();
    if !own.is_empty() {
        *part = part.resized(&own);
    }
}

fn read_one(entry: &Entry, parts: &Components, problems: &mut Problems<'_>) -> Option<PortSize> {
    let label = format!("[port.\"{}\"]", shortened(&entry.key));
    let section = Section::open(Some(&entry.node), &label, keys::PORT, problems);
    let size = PortSize {
        port: entry.key.clone(),
        nominal: section.number("nominal", problems),
        min: section.number("min", problems),
        max: section.number("max", problems),
    };
    let (side, index) = parts.signals.find_port(&entry.key, entry.key_origin, problems)?;
    match mistake(&size, declared(parts, side, index)?, side) {
        None => Some(size),
        Some((key, error)) => {
            problems.report(section.origin_of(key), || error);
            None
        }
    }
}

/// What is wrong with sizes, and the key to blame.
fn mistake(size: &PortSize, port: &Port, side: Side) -> Option<(&'static str, Error)> {
    let name = &size.port;
    if !matches!(port.kind, PortKind::Real | PortKind::Integer) {
        let error = Error::new(Code::PortType, format!("`{name}` has no size: its values are {}", port.kind));
        return Some(("nominal", error.hint("remove the table")));
    }
    if let Some(nominal) = size.nominal.filter(|nominal| *nominal <= 0.0) {
        let message = format!("a nominal value of {nominal} for `{name}` is not possible");
        let hint = "write its typical size, more than zero, whatever its sign";
        return Some(("nominal", Error::new(Code::BadValue, message).hint(hint)));
    }
    let key = if size.max.is_some() { "max" } else { "min" };
    let is_bounded = size.min.is_some() || size.max.is_some();
    if is_bounded && side == Side::Input {
        let message = format!("`{name}` is an input: bounds are those of the output that feeds it");
        let hint = "give `min` and `max` to that output";
        return Some((key, Error::new(Code::Conflict, message).hint(hint)));
    }
    if is_bounded && size.limits(port).is_none() {
        let [low, high] = port.limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let (min, max) = (size.min.unwrap_or(low), size.max.unwrap_or(high));
        let message = format!("the bounds of `{name}` leave no value: from {min} to {max}");
        let error = Error::new(Code::BadValue, message).hint("`min` has to be below `max`");
        let is_declared = size.min.is_none() || size.max.is_none();
        return Some((
            key,
            if is_declared { error.because("one of them is declared by the part") } else { error },
        ));
    }
    None
}

/// The port as its maker declares it.
fn declared(parts: &Components, side: Side, index: usize) -> Option<&Port> {
    let ports = parts.model.parts.iter().flat_map(|part| match side {
        Side::Input => &part.description().inputs,
        Side::Output => &part.description().outputs,
    });
    ports.into_iter().nth(index)
}
