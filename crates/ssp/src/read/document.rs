//! SSD: the root document.

use std::sync::Arc;

use costep_core::{Code, Error, Place, Result};
use costep_fmu_file::{Limits, xml};

use crate::model::Document;
use crate::note::Notes;
use crate::package::Location;
use crate::read::common::META;
use crate::read::reader::Reader;

/// Namespace of descriptions.
pub(crate) const SSD: &str = "http://ssp-standard.org/SSP1/SystemStructureDescription";

/// Reads an .ssd file.
pub(crate) fn document(
    bytes: &[u8],
    location: Location,
    file: Arc<str>,
    limits: &Limits,
    notes: &mut Notes,
) -> Result<Document> {
    let mut reader = Reader::new(file.clone(), notes);
    reader.parse(bytes, "SystemStructureDescription", SSD, limits, |reader, root| {
        content(reader, root, location, file)
    })?
}

fn content(
    reader: &mut Reader<'_>,
    root: &xml::Element,
    location: Location,
    file: Arc<str>,
) -> Result<Document> {
    let attributes: Vec<&str> = ["version", "name"].into_iter().chain(META).collect();
    let children = ["System", "Enumerations", "Units", "DefaultExperiment", "Annotations"];
    reader.check_known(root, &attributes, &children);
    let version = reader.version(root);
    let name = reader.required(root, "name").unwrap_or_default();
    let definitions = reader.definitions(root);
    let mut settings = reader.settings(root);
    let (mut start, mut stop) = (None, None);
    let mut places = Vec::new();
    if let Some(experiment) = root.child("DefaultExperiment") {
        reader.check_known(&experiment, &["startTime", "stopTime"], &[]);
        start = reader.number(&experiment, "startTime");
        stop = reader.number(&experiment, "stopTime");
        let line = Some(experiment.line() as usize);
        let place = Place::File { path: file.as_ref().into(), line, text: None };
        places.extend(["system.start", "system.stop"].map(|key| (key, place.clone())));
        if !settings.iter().any(|(key, _)| key == "step") {
            settings.extend(reader.step_of_osp(&experiment));
        }
        if let (Some(start), Some(stop)) = (start, stop)
            && stop <= start
        {
            reader
                .warning(experiment.line(), "the stop time of the default experiment is not after its start");
        }
    }
    if let Some(second) = root.children_named("System").nth(1) {
        reader.error(second.line(), "there is a second root system");
    }
    let system = root.child("System").and_then(|node| reader.system(&node, &definitions));
    reader.finish();
    let Some(system) = system else {
        let place = Place::File { path: file.as_ref().into(), line: Some(root.line() as usize), text: None };
        return Err(Error::new(Code::SspSchema, "the description has no root system with a name").at(place));
    };
    Ok(Document { location, file, name, version, definitions, start, stop, places, system, settings })
}
