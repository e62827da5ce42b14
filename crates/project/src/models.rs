//! `[models]`: where the coupling methods take models of the parts from, and the options of methods and
//! sources.

use std::path::Path;

use costep_core::{Code, Error, ModelsSpec, OptionKind, OptionSpec, Result, Value as OptionValue};
use costep_ident::sources::Sources;

use crate::document::{Entry, Origin, Table, Value};
use crate::groups::GroupSpec;
use crate::problems::Problems;
use crate::section::Section;

/// What `[models]` calls the source; every other key is one of its options.
pub(crate) const SOURCE: &str = "source";

/// `[models]` of a project.
pub(crate) struct Models {
    pub(crate) spec: ModelsSpec,
    /// Where it is said.
    pub(crate) origin: Origin,
}

/// Reads the table; none if there is none, an error if something is wrong with it.
pub(crate) fn read(
    root: &Table,
    sources: &Sources,
    problems: &mut Problems<'_>,
) -> Result<Option<Models>, ()> {
    let Some(node) = root.get("models") else { return Ok(None) };
    let section = Section::open_free(Some(node), "[models]", problems);
    section.require(SOURCE, "write for example source = \"exact\"; `costep methods` lists sources", problems);
    let id = section.text(SOURCE, problems).ok_or(())?;
    let entry = sources.find(id).map_err(|error| problems.report(section.origin_of(SOURCE), || error))?;
    let options = section.entries().iter().filter(|option| option.key != SOURCE);
    let is_file = |name: &str| names_a_file(entry.options, name);
    let check = |given| ModelsSpec::new(entry, given).map(|_| ());
    let given = read_options(options, is_file, check, problems).ok_or(())?;
    let spec = ModelsSpec::new(entry, given).map_err(|error| problems.report(section.origin, || error))?;
    spec.warnings().for_each(|warning| problems.warn(section.origin, || warning));
    Ok(Some(Models { spec, origin: section.origin_of(SOURCE) }))
}

/// Says that no method uses the models. Those of the file may stay where another method is chosen by a
/// flag.
pub(crate) fn warn_if_unused(
    models: Option<&Models>,
    groups: &[GroupSpec],
    method_origin: Origin,
    problems: &mut Problems<'_>,
) {
    let Some(models) = models else { return };
    let only_here = matches!((models.origin, method_origin), (Origin::File(_), Origin::Flag(_)));
    if only_here || groups.iter().any(|group| group.method.uses_models()) {
        return;
    }
    let labels: Vec<_> = groups.iter().map(|group| format!("`{}`", group.method.label())).collect();
    problems.warn(models.origin, || {
        Error::new(Code::OptionWithoutEffect, format!("models from `{}` have no effect", models.spec.label()))
            .because(format!("{} uses none that can be chosen", labels.join(" and ")))
            .hint("choose a method that works with them (`costep methods`), or leave them out")
    });
}

/// Whether a warning says that models have no effect: it is judged by the methods of the project.
pub fn is_of_idle_models(warning: &Error) -> bool {
    warning.code() == Code::OptionWithoutEffect && warning.details().message.starts_with("models from ")
}

/// The options of a method or source. Each is checked by itself, so that all mistakes are found.
pub(crate) fn read_options<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    is_file: impl Fn(&str) -> bool,
    check: impl Fn(Vec<(String, OptionValue)>) -> Result<()>,
    problems: &mut Problems<'_>,
) -> Option<Vec<(String, OptionValue)>> {
    let mut given = Vec::new();
    let mut good = true;
    for entry in entries {
        let checked = option_value(entry)
            .map(|value| found_from_here(entry, value, is_file(&entry.key), &problems.folder()))
            .and_then(|value| check(vec![(entry.key.clone(), value.clone())]).map(|()| value));
        match checked {
            Ok(value) => given.push((entry.key.clone(), value)),
            Err(error) => {
                good = false;
                problems.report(entry.key_origin, || error);
            }
        }
    }
    good.then_some(given)
}

/// Names of files in a project are relative to it; those of the command line to the present folder.
fn found_from_here(entry: &Entry, value: OptionValue, is_file: bool, folder: &Path) -> OptionValue {
    match value {
        OptionValue::Text(file) if is_file && matches!(entry.node.origin, Origin::File(_)) => {
            let path = folder.join(file);
            OptionValue::Text(std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned())
        }
        value => value,
    }
}

/// Whether an option of a table is the path of a file.
pub(crate) fn names_a_file<'a>(specs: impl IntoIterator<Item = &'a OptionSpec>, option: &str) -> bool {
    specs.into_iter().any(|spec| spec.name == option && spec.kind == OptionKind::File)
}

fn option_value(entry: &Entry) -> Result<OptionValue> {
    match &entry.node.value {
        Value::Text(text) => Ok(OptionValue::Text(text.clone())),
        Value::Integer(integer) => Ok(OptionValue::Integer(*integer)),
        Value::Real(real) => Ok(OptionValue::Real(*real)),
        Value::Truth(truth) => Ok(OptionValue::Bool(*truth)),
        other => {
            let error = Error::new(Code::BadOption, format!("option `{}` is {}", entry.key, other.kind()));
            Err(match (entry.key.as_str(), other) {
                ("options", _) => error.hint("write each option as a key of this table: `alpha = 1.0`"),
                ("parts" | "members" | "connections", Value::List(_)) => {
                    error.hint("the members of a group are its `inputs`: `inputs = [\"part.*\"]`")
                }
                _ => error.hint("options are numbers, words, true or false"),
            })
        }
    }
}
