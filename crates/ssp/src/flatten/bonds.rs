//! Power bonds from the terminals of FMUs (`terminalsAndIcons.xml` of FMI 3.0, and of FMI 2.0 by its layered
//! standard): SSP has connections of single signals only, and nothing that says which of them are a pair.
//!
//! Two terminals are joined by a bond if a connection goes from a member of the first to one of the second and
//! another back, and what they carry is an effort and a flow: their units multiply to a power. Where a unit
//! is not defined, the pair has to be the only one, and one of the two a flow by its `variableKind`.

use std::collections::{BTreeMap, HashMap};

use costep_fmu_file::BaseUnit;

use crate::flat::Link;
use crate::flatten::{Flattener, OpenFmu};
use crate::toml_form::quoted;

/// Terminals with more connections between them are not looked at: all pairs of these are.
const MOST: usize = 64;

/// A terminal: number of its component, and its own among those of the FMU.
type Place = (usize, usize);

/// Connections between two terminals, by their numbers.
#[derive(Default)]
struct Joined {
    there: Vec<usize>,
    back: Vec<usize>,
}

impl Flattener {
    /// Gives links a `bond`, unless they have one already.
    pub(super) fn add_bonds(&self, links: &mut [Link]) {
        let terminals: Vec<HashMap<&str, usize>> = self.sources.iter().map(|fmu| terminals(fmu)).collect();
        let place = |(component, port): &(usize, String)| -> Option<Place> {
            Some((*component, *terminals[*component].get(port.as_str())?))
        };
        let mut pairs: BTreeMap<(Place, Place), Joined> = BTreeMap::new();
        for (number, link) in links.iter().enumerate() {
            let Some((from, to)) = place(&link.from).zip(place(&link.to)) else { continue };
            if from < to {
                pairs.entry((from, to)).or_default().there.push(number);
            } else {
                pairs.entry((to, from)).or_default().back.push(number);
            }
        }
        for ((a, b), mut joined) in pairs {
            let kind = |(component, terminal): Place| &self.sources[component].terminals[terminal].kind;
            let differ = kind(a).as_ref().zip(kind(b).as_ref()).is_some_and(|(a, b)| a != b);
            if differ || a.0 == b.0 || joined.there.len() + joined.back.len() > MOST {
                continue;
            }
            let is_only = joined.there.len() == 1 && joined.back.len() == 1;
            let terminal: String =
                self.sources[a.0].terminals[a.1].name.chars().filter(|c| !c.is_control()).collect();
            let mut count = 0;
            for there in std::mem::take(&mut joined.there) {
                let fits = |back: &usize| self.is_conjugate(&links[there], &links[*back], is_only);
                let Some(at) = joined.back.iter().position(fits) else { continue };
                let back = joined.back.swap_remove(at);
                count += 1;
                let number = if count > 1 { format!("[{count}]") } else { String::new() };
                let name = quoted(&format!("{}.{terminal}{number}", self.components[a.0].name));
                for link in [there, back] {
                    if links[link].settings.iter().all(|(key, _)| key != "bond") {
                        links[link].settings.push(("bond".into(), name.clone()));
                    }
                }
            }
        }
    }

    /// Whether one of two signals is an effort and the other its flow.
    fn is_conjugate(&self, there: &Link, back: &Link, is_only: bool) -> bool {
        match self.unit(&there.from).zip(self.unit(&back.from)) {
            Some((there, back)) => there.gives_power_with(&back),
            None => is_only && self.is_flow(&there.from) != self.is_flow(&back.from),
        }
    }

    fn unit(&self, (component, port): &(usize, String)) -> Option<BaseUnit> {
        let fmu = &self.sources[*component].description;
        let variable = fmu.variable(port)?;
        fmu.unit(variable.unit()?)?.base
    }

    fn is_flow(&self, (component, port): &(usize, String)) -> bool {
        self.sources[*component].terminals.iter().any(|terminal| terminal.flows.contains(port))
    }
}

/// The terminal of each variable; the first of several.
fn terminals(fmu: &OpenFmu) -> HashMap<&str, usize> {
    let mut found = HashMap::new();
    for (number, terminal) in fmu.terminals.iter().enumerate() {
        for (_, variable) in &terminal.members {
            found.entry(variable.as_str()).or_insert(number);
        }
    }
    found
}
