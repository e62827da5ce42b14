//! Terminals: variables that belong together and are connected as one, from terminalsAndIcons.xml (FMI 3.0, and FMI 2.0 by
//! its layered standard).

use costep_core::{Code, Error, Result};

use crate::xml::{self, Element};
use crate::{Archive, short};

const FILE: &str = "terminalsAndIcons/terminalsAndIcons.xml";
const MAX_BYTES: u64 = 16 << 20;

/// Variables that are connected as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Its name, `p`, or `axle.left` of one inside of another.
    pub name: String,
    /// What fits to it, if it says so: `org.fmi-standard.mechanics.translational`, `LinearMechanicalPort`.
    pub kind: Option<String>,
    /// Names of members, which are the same on both sides, and their variables.
    pub members: Vec<(String, String)>,
    /// Variables that are flows (`variableKind` `inflow` or `outflow`): those that are connected sum up to zero.
    pub flows: Vec<String>,
}

/// The terminals of an FMU; none if it has no file of them. An error if the file cannot be read.
pub(crate) fn read(archive: &mut Archive) -> Result<Vec<Terminal>> {
    let (path, limits) = (archive.path().join(FILE), archive.limits().clone());
    let Some(bytes) = archive.read(FILE, MAX_BYTES)? else { return Ok(Vec::new()) };
    xml::read(&bytes[..], &path, &limits, |root| {
        if root.name() != "fmiTerminalsAndIcons" {
            let found = short(root.name());
            let message = format!("the root element is <{found}> instead of <fmiTerminalsAndIcons>");
            return Err(Error::new(Code::BadDescription, message).in_file(&path));
        }
        let mut terminals = Vec::new();
        root.inside("Terminals").for_each(|node| collect(&node, "", &mut terminals));
        Ok(terminals)
    })
}

/// Depth is limited by the reader of XML.
fn collect(node: &Element<'_>, outer: &str, terminals: &mut Vec<Terminal>) {
    if node.name() != "Terminal" {
        return;
    }
    let name = format!("{outer}{}", node.get("name").unwrap_or_default());
    let member = |node: Element<'_>| {
        let variable = node.get("variableName")?;
        Some((node.get("memberName").unwrap_or(variable).to_owned(), variable.to_owned()))
    };
    let members = node.children_named("TerminalMemberVariable").filter_map(member).collect();
    let is_flow = |node: &Element<'_>| matches!(node.get("variableKind"), Some("inflow" | "outflow"));
    let flows = node.children_named("TerminalMemberVariable").filter(is_flow);
    terminals.push(Terminal {
        name: name.clone(),
        kind: node.get("terminalKind").map(str::to_owned),
        members,
        flows: flows.filter_map(|node| node.get("variableName").map(str::to_owned)).collect(),
    });
    node.children_named("Terminal").for_each(|inner| collect(&inner, &format!("{name}."), terminals));
}
