//! What is done with the units of connections that another format has described.

use costep_core::PortKind;
use costep_fmu_file::{Fmu, ModelDescription};
use costep_ssp::{Flat, Link};

use crate::units::{PortUnit, Relation};

/// Says beside the connections whose ends are in different units what is done. All others keep no gain, so that a change of
/// theirs is compared.
pub(crate) fn remark_on_links(flat: &mut Flat) {
    let opened: Vec<Option<ModelDescription>> = flat
        .components
        .iter()
        .map(|component| Fmu::open(&component.file).ok().map(Fmu::into_description))
        .collect();
    for link in &mut flat.links {
        let ends = [&link.from, &link.to].map(|(component, name)| {
            let fmu = opened[*component].as_ref()?;
            Some((fmu, &fmu.variables()[fmu.find(name)?]))
        });
        // Of what cannot be compared here the gain stays as well.
        let [Some((source, output)), Some((target, input))] = ends else {
            link.remark = Some(String::new());
            continue;
        };
        let kinds = [output, input].map(|variable| variable.kind.port_kind());
        let units = (PortUnit::of(source, output), PortUnit::of(target, input));
        link.remark = match (kinds, units) {
            ([Some(PortKind::Boolean), Some(PortKind::Real | PortKind::Integer)], _) => {
                Some("true is passed on as this number".into())
            }
            (_, (Some(from), Some(to))) => remark_on_units(link, &from, &to),
            _ => None,
        };
    }
}

fn remark_on_units(link: &Link, from: &PortUnit, to: &PortUnit) -> Option<String> {
    let done = match from.relation(to) {
        Relation::Same => return None,
        Relation::Converted(conversion)
            if (conversion.factor, conversion.offset) == (link.factor, link.offset) =>
        {
            "converted"
        }
        _ if (link.factor, link.offset) == (1.0, 0.0) => "values are passed on as they are",
        _ => "as the structure says",
    };
    Some(format!("from {} to {}: {done}", from.name(), to.name()))
}
