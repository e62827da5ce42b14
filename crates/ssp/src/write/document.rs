//! The description (SSD).

use std::collections::{BTreeSet, HashMap};

use costep_core::{Code, Error};
use costep_fmu_file::Variable;

use crate::flat::{Component, Link};
use crate::model::{Implementation, Settings};
use crate::read::document::SSD;
use crate::read::reader::{ANNOTATION, NAMESPACE};
use crate::write::connectors::{Units, is_in_version_1, kind, type_name};
use crate::write::xml::Xml;
use crate::write::{Contents, Packed};

/// Writes the description; what cannot be expressed is an error.
pub(super) fn write(contents: &Contents<'_>, errors: &mut Vec<Error>) -> String {
    let flat = contents.flat;
    check_sources(contents, errors);
    let used = used_variables(contents, errors);
    let mut units = Units::default();
    let mut old = true;
    for (fmu, variables) in contents.fmus.iter().zip(&used) {
        for index in variables {
            let variable = &fmu.description.variables()[*index];
            units.add(&fmu.description, variable);
            old &= is_in_version_1(variable.kind);
        }
    }
    let tool = format!("costep {}", env!("CARGO_PKG_VERSION"));
    let attributes = [
        ("xmlns:ssc", "http://ssp-standard.org/SSP1/SystemStructureCommon"),
        ("xmlns:ssd", SSD),
        ("version", if old { "1.0" } else { "2.0" }),
        ("name", flat.name.as_str()),
        ("generationTool", &tool),
    ];
    let mut xml = Xml::new();
    xml.element("ssd:SystemStructureDescription", &attributes, |xml| {
        xml.element("ssd:System", &[("name", "root")], |xml| {
            xml.element("ssd:Elements", &[], |xml| {
                for (index, component) in flat.components.iter().enumerate() {
                    write_component(contents, index, component, &used[index], &units, xml);
                }
            });
            if !flat.links.is_empty() {
                xml.element("ssd:Connections", &[], |xml| {
                    flat.links.iter().for_each(|link| write_link(contents, link, xml));
                });
            }
        });
        units.write(xml, "ssd:Units");
        let (start, stop) =
            (flat.start.map(|time| format!("{time:?}")), flat.stop.map(|time| format!("{time:?}")));
        let times = [("startTime", &start), ("stopTime", &stop)];
        let times: Vec<(&str, &str)> =
            times.iter().filter_map(|(name, time)| Some((*name, time.as_deref()?))).collect();
        xml.empty("ssd:DefaultExperiment", &times);
        write_settings(&flat.settings, "ssd:Annotations", xml);
    });
    xml.text
}

/// An input has at most one source in SSP.
fn check_sources(contents: &Contents<'_>, errors: &mut Vec<Error>) {
    let mut seen: HashMap<&(usize, String), usize> = HashMap::new();
    for link in &contents.flat.links {
        let count = seen.entry(&link.to).or_default();
        *count += 1;
        if *count == 2 {
            let name = &contents.flat.components[link.to.0].name;
            let message =
                format!("the input `{name}.{}` is a sum of connections, which SSP cannot express", link.to.1);
            errors
                .push(Error::new(Code::SspUnsupported, message).hint("add the signals in an FMU of its own"));
        }
    }
}

/// For each component the variables that need a connector: all inputs and outputs that are signals, so that other
/// tools can connect them.
fn used_variables(contents: &Contents<'_>, errors: &mut Vec<Error>) -> Vec<BTreeSet<usize>> {
    let is_port = |variable: &Variable| {
        matches!(kind(variable.causality), "input" | "output")
            && !variable.is_array()
            && variable.clocks.is_empty()
    };
    let of_fmu = |fmu: &Packed| -> BTreeSet<usize> {
        let variables = fmu.description.variables().iter().enumerate();
        variables.filter(|(_, variable)| is_port(variable)).map(|(index, _)| index).collect()
    };
    let used: Vec<BTreeSet<usize>> = contents.fmus.iter().map(|fmu| of_fmu(fmu)).collect();
    for (component, port) in contents.flat.links.iter().flat_map(|link| [&link.from, &link.to]) {
        let found = contents.fmus[*component].description.find(port);
        if !found.is_some_and(|index| used[*component].contains(&index)) {
            let name = &contents.flat.components[*component].name;
            let message = format!("`{name}.{port}` is an element of an array or no variable of its FMU");
            errors.push(Error::new(Code::SspUnsupported, message));
        }
    }
    used
}

fn write_component(
    contents: &Contents<'_>,
    index: usize,
    component: &Component,
    used: &BTreeSet<usize>,
    units: &Units,
    xml: &mut Xml,
) {
    let fmu = &contents.fmus[index];
    let mut attributes = vec![
        ("name", component.name.as_str()),
        ("type", "application/x-fmu-sharedlibrary"),
        ("source", fmu.entry.as_str()),
    ];
    match component.implementation {
        Implementation::Any => {}
        Implementation::CoSimulation => attributes.push(("implementation", "CoSimulation")),
        Implementation::ModelExchange => attributes.push(("implementation", "ModelExchange")),
    }
    xml.element("ssd:Component", &attributes, |xml| {
        if !used.is_empty() {
            xml.element("ssd:Connectors", &[], |xml| {
                for index in used {
                    write_connector(&fmu.description.variables()[*index], fmu, units, xml);
                }
            });
        }
        if let Some((name, _)) = &contents.sets[index] {
            xml.element("ssd:ParameterBindings", &[], |xml| {
                xml.empty("ssd:ParameterBinding", &[("source", name)]);
            });
        }
        write_settings(&component.settings, "ssd:Annotations", xml);
    });
}

fn write_connector(variable: &Variable, fmu: &Packed, units: &Units, xml: &mut Xml) {
    let attributes = [("name", variable.name.as_str()), ("kind", kind(variable.causality))];
    xml.element("ssd:Connector", &attributes, |xml| {
        let declared = variable.declared_type.map(|index| fmu.description.types[index].name.as_str());
        let unit = units.of(variable).map(|unit| ("unit", unit));
        match type_name(variable.kind) {
            // The enumeration would have to be defined in this file; without a type the FMU's own counts.
            "Enumeration" if declared.is_some() => {}
            name => xml.empty(&format!("ssc:{name}"), &unit.into_iter().collect::<Vec<_>>()),
        }
    });
}

fn write_link(contents: &Contents<'_>, link: &Link, xml: &mut Xml) {
    let names =
        [&link.from, &link.to].map(|(component, _)| contents.flat.components[*component].name.as_str());
    let unit = |(component, port): &(usize, String)| {
        let description = &contents.fmus[*component].description;
        let name = description.variable(port)?.unit()?;
        Some((name.to_owned(), description.unit(name).and_then(|unit| unit.base)))
    };
    let same_unit = unit(&link.from) == unit(&link.to);
    let plain = link.factor == 1.0 && link.offset == 0.0;
    let mut attributes = vec![
        ("startElement", names[0]),
        ("startConnector", link.from.1.as_str()),
        ("endElement", names[1]),
        ("endConnector", link.to.1.as_str()),
    ];
    if !plain || !same_unit {
        // Factor and offset contain the conversion.
        attributes.push(("suppressUnitConversion", "true"));
    }
    xml.element("ssd:Connection", &attributes, |xml| {
        if !plain {
            let (factor, offset) = (format!("{:?}", link.factor), format!("{:?}", link.offset));
            xml.empty("ssc:LinearTransformation", &[("factor", &factor), ("offset", &offset)]);
        }
        if !link.map.is_empty() {
            xml.element("ssc:IntegerMappingTransformation", &[], |xml| {
                for (source, target) in &link.map {
                    let (source, target) = (source.to_string(), target.to_string());
                    xml.empty("ssc:MapEntry", &[("source", &source), ("target", &target)]);
                }
            });
        }
        write_settings(&link.settings, "ssd:Annotations", xml);
    });
}

fn write_settings(settings: &Settings, name: &'static str, xml: &mut Xml) {
    if settings.is_empty() {
        return;
    }
    xml.element(name, &[], |xml| {
        xml.element("ssc:Annotation", &[("type", ANNOTATION)], |xml| {
            xml.element("costep:Settings", &[("xmlns:costep", NAMESPACE)], |xml| {
                for (key, value) in settings {
                    xml.empty("costep:Setting", &[("key", key), ("value", value)]);
                }
            });
        });
    });
}
