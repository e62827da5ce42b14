//! `map` of a connection: integers and items of enumerations that become others on their way.

use costep_core::{Code, Error, PortKind};
use costep_fmu_file::{Item, ModelDescription};

use crate::components::Components;
use crate::document::{Entry, Value};
use crate::fmus;
use crate::problems::{Problems, shortened, suggest};
use crate::section::Section;
use crate::signals::Side;

/// Values and what takes their place. Values that are not named stay.
pub type ValueMap = Vec<(i64, i64)>;

/// Signals are Float64 values, which hold integers up to this size.
const EXACT: i64 = 1 << 53;

/// Reads `map`: `{ 1 = 3, 2 = 1 }`, or with names of items, `{ cold = "off" }`.
pub(crate) fn read(
    section: &Section<'_>,
    (output, input): (usize, usize),
    parts: &Components,
    problems: &mut Problems<'_>,
) -> ValueMap {
    let mut map = ValueMap::new();
    if section.get("map").is_none() {
        return map;
    }
    let is_mappable = |kind| matches!(kind, PortKind::Integer | PortKind::Enumeration);
    for (side, index) in [(Side::Output, output), (Side::Input, input)] {
        let kind = parts.signals.kind(side, index);
        if !is_mappable(kind) {
            problems.report(section.origin_of("map"), || {
                let name = &parts.signals.names(side)[index];
                let message = format!("`map` is not allowed here: `{name}` is {kind}");
                Error::new(Code::PortType, message).hint(
                    "it is for integers and enumerations; for real numbers there are `gain` and `offset`",
                )
            });
            return map;
        }
    }
    let [sources, targets] =
        [(Side::Output, output), (Side::Input, input)].map(|(side, at)| items(parts, side, at));
    let table = Section::open_free(section.get("map"), "`map` in [[connect]]", problems);
    for entry in table.entries() {
        let source = key(entry, sources, problems);
        let target = value(entry, targets, problems);
        let Some(source) = source else { continue };
        if map.iter().any(|(other, _)| *other == source) {
            problems.report(entry.key_origin, || {
                let message = format!("`{}` in `map`: {source} is mapped twice", shortened(&entry.key));
                Error::new(Code::Duplicate, message).hint("a number and the item of this number are the same")
            });
        } else {
            map.extend(target.map(|target| (source, target)));
        }
    }
    map
}

/// The items of the enumeration that a port is of.
fn items(parts: &Components, side: Side, index: usize) -> &[Item] {
    let layout = parts.model.layout();
    let owner = match side {
        Side::Output => layout.output_owner(index),
        Side::Input => layout.input_owner(index),
    };
    let items = || {
        let (_, file) = parts.fmus.get(owner.checked_sub(parts.natives.len())?)?;
        let description = parts.model.parts[owner].description();
        let port = match side {
            Side::Output => &description.outputs[index - layout.output_range(owner).start],
            Side::Input => &description.inputs[index - layout.input_range(owner).start],
        };
        items_of(&file.description, &port.name)
    };
    items().unwrap_or_default()
}

fn items_of<'a>(fmu: &'a ModelDescription, port: &str) -> Option<&'a [Item]> {
    let (variable, _) = fmus::find_port(fmu, port)?;
    let declared = fmu.variables()[variable].declared_type?;
    Some(&fmu.types.get(declared)?.items)
}

/// The value on the left side: a number or the name of an item.
fn key(entry: &Entry, items: &[Item], problems: &mut Problems<'_>) -> Option<i64> {
    match entry.key.parse::<i64>() {
        Ok(number) => in_range(number, entry, problems),
        Err(_) => item(&entry.key, entry, items, problems),
    }
}

/// The value on the right side. An enumeration takes its items only.
fn value(entry: &Entry, items: &[Item], problems: &mut Problems<'_>) -> Option<i64> {
    match &entry.node.value {
        Value::Integer(number) if items.is_empty() || items.iter().any(|item| item.value == *number) => {
            in_range(*number, entry, problems)
        }
        Value::Integer(number) => {
            problems.report(entry.node.origin, || {
                let known: Vec<String> =
                    items.iter().map(|item| format!("{} = {}", item.name, item.value)).collect();
                Error::new(Code::BadValue, format!("the enumeration has no item {number}"))
                    .hint(format!("its items: {}", shortened(&known.join(", "))))
            });
            None
        }
        Value::Text(name) => item(name, entry, items, problems),
        other => {
            problems.report(entry.node.origin, || {
                let message = format!("`{}` in `map` is {}", shortened(&entry.key), other.kind());
                Error::new(Code::BadValue, message).hint("write an integer or the name of an item")
            });
            None
        }
    }
}

fn item(name: &str, entry: &Entry, items: &[Item], problems: &mut Problems<'_>) -> Option<i64> {
    let found = items.iter().find(|item| item.name == name).map(|item| item.value);
    if found.is_none() {
        problems.report(entry.key_origin, || {
            let message = format!("`{}` in `map` is neither an integer nor an item", shortened(name));
            suggest(Error::new(Code::BadValue, message), name, items.iter().map(|item| item.name.as_str()))
        });
    }
    found
}

fn in_range(number: i64, entry: &Entry, problems: &mut Problems<'_>) -> Option<i64> {
    let is_exact = (-EXACT..=EXACT).contains(&number);
    if !is_exact {
        problems.report(entry.key_origin, || {
            Error::new(Code::BadValue, format!("{number} in `map` is beyond 2^53"))
        });
    }
    is_exact.then_some(number)
}

/// As it is written in a project file.
pub(crate) fn written(map: &ValueMap) -> String {
    let pairs: Vec<String> = map.iter().map(|(source, target)| format!("\"{source}\" = {target}")).collect();
    format!("{{ {} }}", pairs.join(", "))
}
