//! `[method]` and `[group.NAME]`: which coupling method forms which inputs.

use costep_core::{Code, Error, InputSet, OptionKind, OptionSpec, Value as OptionValue};
use costep_methods::MethodSpec;

use crate::connections::GroupWish;
use crate::document::{Entry, Node, Origin, Table, Value};
use crate::overrides::DEFAULT_METHOD;
use crate::parts::check_name;
use crate::problems::{Problems, shortened, suggest};
use crate::section::Section;
use crate::signals::{Side, Signals};

/// The name of the group of all inputs that are in no other.
pub(crate) const DEFAULT_GROUP: &str = "default";

/// Inputs that share a coupling method.
#[derive(Clone)]
pub struct GroupSpec {
    /// Its name.
    pub name: String,
    /// The method.
    pub method: MethodSpec,
    /// The inputs. The groups of a project together hold every input once.
    pub inputs: InputSet,
}

/// A group while its inputs are being collected.
struct Draft<'a> {
    name: &'a str,
    method: Option<MethodSpec>,
    section: Section<'a>,
}

/// Reads all groups, the default one first. Nothing if something was wrong.
pub(crate) fn read(
    root: &Table,
    wishes: &[GroupWish],
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Option<Vec<GroupSpec>> {
    let drafts = read_drafts(root, problems);
    let owners = assign(&drafts, wishes, signals, problems);
    let mut groups = Vec::new();
    for (index, draft) in drafts.into_iter().enumerate() {
        let inputs: Vec<_> = (0..owners.len()).filter(|input| owners[*input] == index).collect();
        if inputs.is_empty() && index > 0 {
            if !signals.incomplete() {
                problems.warn(draft.section.origin, || {
                    Error::new(Code::EmptyGroup, format!("the group `{}` has no inputs", draft.name))
                        .hint("name it in a connection, `group = ...`, or give it `inputs`; or remove it")
                });
            }
            continue;
        }
        groups.push((draft.name.to_owned(), draft.method, inputs));
    }
    let alone = groups.len() == 1;
    let group = |(name, method, inputs): (String, Option<MethodSpec>, _)| {
        let inputs = if alone { InputSet::All(owners.len()) } else { InputSet::Some(inputs) };
        Some(GroupSpec { name, method: method?, inputs })
    };
    groups.into_iter().map(group).collect()
}

fn read_drafts<'a>(root: &'a Table, problems: &mut Problems<'_>) -> Vec<Draft<'a>> {
    let mut drafts = vec![draft(DEFAULT_GROUP, root.get("method"), "[method]".into(), false, problems)];
    for Entry { key, key_origin, node } in
        Section::open_free(root.get("group"), "[group]", problems).entries()
    {
        check_name(key, "group", *key_origin, problems);
        if key == DEFAULT_GROUP {
            problems.report(*key_origin, || {
                Error::new(Code::Duplicate, format!("the group `{DEFAULT_GROUP}` is the one of [method]"))
                    .hint("give it another name")
            });
        }
        let label = format!("[group.{}]", shortened(key));
        drafts.push(draft(key, Some(node), label, true, problems));
    }
    drafts
}

fn draft<'a>(
    name: &'a str,
    node: Option<&'a Node>,
    label: String,
    has_inputs: bool,
    problems: &mut Problems<'_>,
) -> Draft<'a> {
    let section = Section::open_free(node, label, problems);
    let is_option = |entry: &&Entry| entry.key != "id" && !(has_inputs && entry.key == "inputs");
    let options: Vec<_> = section.entries().iter().filter(is_option).collect();
    let method = read_method(&section, &options, problems);
    Draft { name, method, section }
}

/// Each option is checked by itself, so that all mistakes are found.
fn read_method(section: &Section<'_>, options: &[&Entry], problems: &mut Problems<'_>) -> Option<MethodSpec> {
    let id = match section.get("id") {
        Some(_) => section.text("id", problems)?,
        None => DEFAULT_METHOD,
    };
    if let Err(error) = costep_methods::find(id) {
        problems.report(section.origin_of("id"), || error);
        return None;
    }
    let mut given = Vec::new();
    let mut good = true;
    for entry in options {
        let checked = option_value(entry)
            .map(|value| found_from_here(id, entry, value, problems))
            .and_then(|value| MethodSpec::new(id, vec![(entry.key.clone(), value.clone())]).map(|_| value));
        match checked {
            Ok(value) => given.push((entry.key.clone(), value)),
            Err(error) => {
                good = false;
                problems.report(entry.key_origin, || error);
            }
        }
    }
    let spec = MethodSpec::new(id, given).map_err(|error| problems.report(section.origin, || error)).ok();
    let idle = spec.iter().flat_map(MethodSpec::idle_options);
    idle.for_each(|warning| problems.warn(section.origin, || warning));
    spec.filter(|_| good)
}

/// Names of files in a project are relative to it; those of the command line to the present folder.
fn found_from_here(id: &str, entry: &Entry, value: OptionValue, problems: &Problems<'_>) -> OptionValue {
    match value {
        OptionValue::Text(file)
            if matches!(entry.node.origin, Origin::File(_)) && names_a_file(id, &entry.key) =>
        {
            let path = problems.folder().join(file);
            OptionValue::Text(std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned())
        }
        value => value,
    }
}

/// Whether an option of a method is the path of a file.
pub(crate) fn names_a_file(id: &str, option: &str) -> bool {
    let is_file = |spec: &OptionSpec| spec.name == option && spec.kind == OptionKind::File;
    costep_methods::find(id).is_ok_and(|entry| entry.options.iter().any(is_file))
}

fn option_value(entry: &Entry) -> costep_core::Result<OptionValue> {
    match &entry.node.value {
        Value::Text(text) => Ok(OptionValue::Text(text.clone())),
        Value::Integer(integer) => Ok(OptionValue::Integer(*integer)),
        Value::Real(real) => Ok(OptionValue::Real(*real)),
        Value::Truth(truth) => Ok(OptionValue::Bool(*truth)),
        other => Err(Error::new(Code::BadOption, format!("option `{}` is {}", entry.key, other.kind()))
            .hint("options are numbers, words, true or false")),
    }
}

/// The group of each input.
fn assign(
    drafts: &[Draft<'_>],
    wishes: &[GroupWish],
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Vec<usize> {
    let mut owners: Vec<Option<(usize, Origin)>> = vec![None; signals.names(Side::Input).len()];
    for wish in wishes {
        match drafts.iter().position(|draft| draft.name == wish.group) {
            Some(group) => claim(&mut owners, wish.input, (group, wish.origin), drafts, signals, problems),
            None => problems.report(wish.origin, || {
                let error =
                    Error::new(Code::UnknownName, format!("unknown group `{}`", shortened(&wish.group)));
                suggest(error, &wish.group, drafts.iter().map(|draft| draft.name))
            }),
        }
    }
    for (group, draft) in drafts.iter().enumerate().skip(1) {
        for (pattern, origin) in draft.section.texts("inputs", problems).unwrap_or_default() {
            for input in signals.matching(Side::Input, pattern, origin, problems) {
                claim(&mut owners, input, (group, origin), drafts, signals, problems);
            }
        }
    }
    owners.iter().map(|owner| owner.map_or(0, |(group, _)| group)).collect()
}

fn claim(
    owners: &mut [Option<(usize, Origin)>],
    input: usize,
    claim: (usize, Origin),
    drafts: &[Draft<'_>],
    signals: &Signals,
    problems: &mut Problems<'_>,
) {
    match owners[input] {
        Some((owner, first)) if owner != claim.0 => {
            let place = problems.place_name(first);
            problems.report(claim.1, || {
                let (one, other) = (drafts[owner].name, drafts[claim.0].name);
                let name = &signals.names(Side::Input)[input];
                Error::new(Code::Conflict, format!("input `{name}` is in two groups, `{one}` and `{other}`"))
                    .hint(format!("it is put into `{one}` in {place}; an input has one method"))
            });
        }
        _ => owners[input] = Some(claim),
    }
}
