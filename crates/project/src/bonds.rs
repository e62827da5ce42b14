//! Power bonds: connections with the same `bond`, there and back.

use costep_core::{Code, Connection, Error, PowerBond};
use costep_system::SystemDescription;

use crate::document::{Node, Origin, Table, Value};
use crate::problems::Problems;
use crate::section::Section;

/// Power bonds as the project has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BondSpec {
    /// Their names, one for each connection of the model.
    pub names: Vec<Option<String>>,
    /// Inputs give back what was lost or made there.
    pub corrected: bool,
}

/// Reads `correct_bonds` in `[step]`.
pub(crate) fn read_corrected(root: &Table, problems: &mut Problems<'_>) -> bool {
    if root.table("step").is_none_or(|step| step.get("correct_bonds").is_none()) {
        return false;
    }
    // Other keys of the table are read, and checked, elsewhere.
    Section::open_free(root.get("step"), "[step]", problems).truth("correct_bonds", problems).unwrap_or(false)
}

/// All names of bonds, with the bond if it is a pair of connections there and back.
pub(crate) fn pairs(names: &[Option<String>], model: &SystemDescription) -> Vec<(String, Option<PowerBond>)> {
    let layout = model.layout();
    let ends = |c: &Connection| (layout.output_owner(c.output), layout.input_owner(c.input));
    let mut bonds: Vec<(&str, Vec<Connection>)> = Vec::new();
    for (name, connection) in names.iter().zip(&model.connections) {
        let Some(name) = name else { continue };
        match bonds.iter_mut().find(|(known, _)| known == name) {
            Some((_, connections)) => connections.push(*connection),
            None => bonds.push((name, vec![*connection])),
        }
    }
    let bond = |(name, connections): (&str, Vec<Connection>)| {
        let pair = match connections[..] {
            [there, back] if ends(&back) == (ends(&there).1, ends(&there).0) => Some([there, back]),
            _ => None,
        };
        let usable = pair.filter(|pair| pair.iter().all(|connection| connection.gain != 0.0));
        (name.to_owned(), usable.map(|connections| PowerBond { name: name.into(), connections }))
    };
    bonds.into_iter().map(bond).collect()
}

/// Says which names are of no bond.
pub(crate) fn warn(
    (names, corrected): (&[Option<String>], bool),
    model: &SystemDescription,
    root: &Table,
    problems: &mut Problems<'_>,
) {
    if corrected && names.iter().all(Option::is_none) {
        let origin = root.table("step").and_then(|step| step.get("correct_bonds")).map(|node| node.origin);
        problems.warn(origin.unwrap_or(Origin::Nowhere), || {
            Error::new(Code::NoBond, "`correct_bonds` has no effect: no connection names a power bond")
                .hint("give the same `bond` to two connections, there and back; or leave it out")
        });
    }
    for (name, _) in pairs(names, model).into_iter().filter(|(_, bond)| bond.is_none()) {
        problems.warn(place(&name, root), || {
            Error::new(
                Code::NoBond,
                format!("the power bond `{name}` is not a pair of connections there and back"),
            )
        });
    }
}

/// Where a bond is named first.
fn place(name: &str, root: &Table) -> Origin {
    let Some(Node { value: Value::List(connections), .. }) = root.get("connect") else {
        return Origin::Nowhere;
    };
    let bond = |node: &Node| match &node.value {
        Value::Table(table) if table.text("bond") == Some(name) => table.get("bond").map(|bond| bond.origin),
        _ => None,
    };
    connections.iter().find_map(bond).unwrap_or(Origin::Nowhere)
}
