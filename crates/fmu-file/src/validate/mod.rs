//! What is wrong with an FMU that can be read. Each file holds one group of rules of the standard; the
//! findings of reading come first.

mod arrays;
mod files;
mod interfaces;
mod names;
mod structure;
mod types;
mod variables;

use crate::archive::Archive;
use crate::description::ModelDescription;
use crate::finding::{Finding, Report};

/// Everything that is wrong with a model description, errors first.
pub fn validate(description: &ModelDescription) -> Vec<Finding> {
    rules(description).into_findings()
}

/// The same with the files of the FMU.
pub fn validate_fmu(description: &ModelDescription, archive: &Archive) -> Vec<Finding> {
    let mut report = rules(description);
    files::check(description, archive, &mut report);
    report.into_findings()
}

fn rules(description: &ModelDescription) -> Report {
    let mut report = description.report.clone();
    interfaces::check(description, &mut report);
    names::check(description, &mut report);
    types::check(description, &mut report);
    variables::check(description, &mut report);
    arrays::check(description, &mut report);
    structure::check(description, &mut report);
    report
}
