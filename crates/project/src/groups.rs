//! `[method]` and `[group.NAME]`: which coupling method forms which inputs.

use costep_core::{Code, Error, InputSet};
use costep_methods::registry::all_options;
use costep_methods::{MethodSpec, Methods};

use crate::asked::Asker;
use crate::components::check_name;
use crate::connections::GroupRequest;
use crate::document::{Entry, Node, Origin, Table, Value};
use crate::keys;
use crate::models::{self, Models, names_a_file, read_options};
use crate::overrides::DEFAULT_METHOD;
use crate::problems::{Problems, shortened, suggest, suggested};
use crate::registry::Registry;
use crate::section::Section;
use crate::settings::order_by_name;
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

/// Methods by their labels, and who asked for them.
type AskedMethods = Vec<(String, Asker)>;

/// A group while its inputs are being collected.
struct Draft<'a> {
    name: &'a str,
    method: Option<MethodSpec>,
    section: Section<'a>,
}

/// Reads all groups, the default one first. Nothing if something was wrong.
pub(crate) fn read(
    root: &Table,
    registry: &Registry,
    wishes: &[GroupRequest],
    models: Option<&Models>,
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Option<(Vec<GroupSpec>, AskedMethods)> {
    let drafts = read_drafts(root, registry, models, problems);
    let method_origin = drafts[0].section.origin_of("id");
    let asked = drafts.iter().filter_map(|draft| {
        let asker = Asker::of(draft.section.origin_of("id"), problems)?;
        Some((draft.method.as_ref()?.label(), asker))
    });
    let asked: AskedMethods = asked.collect();
    let owners = assign(&drafts, wishes, signals, problems);
    let mut groups = Vec::new();
    for (index, draft) in drafts.into_iter().enumerate() {
        let inputs: Vec<_> = (0..owners.len()).filter(|input| owners[*input] == index).collect();
        if inputs.is_empty() && index > 0 {
            // Inputs that are wrong have been told.
            let is_meant = draft
                .section
                .get("inputs")
                .is_some_and(|node| !matches!(&node.value, Value::List(items) if items.is_empty()));
            if !signals.incomplete() && !is_meant {
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
    let groups: Vec<_> = groups.into_iter().map(group).collect::<Option<_>>()?;
    models::warn_if_unused(models, &groups, method_origin, problems);
    Some((groups, asked))
}

fn read_drafts<'a>(
    root: &'a Table,
    registry: &Registry,
    models: Option<&Models>,
    problems: &mut Problems<'_>,
) -> Vec<Draft<'a>> {
    let default = (DEFAULT_GROUP, root.get("method"));
    let mut drafts = vec![draft(default, "[method]".into(), false, (registry, models), problems)];
    for Entry { key, key_origin, node } in
        Section::open_free(root.get("group"), "[group]", problems).entries()
    {
        check_name(key, "group", *key_origin, problems);
        if key == DEFAULT_GROUP {
            problems.report(*key_origin, || {
                Error::new(Code::Duplicate, format!("the group `{DEFAULT_GROUP}` is reserved for [method]"))
                    .hint("give it another name")
            });
        }
        let label = format!("[group.{}]", shortened(key));
        drafts.push(draft((key, Some(node)), label, true, (registry, models), problems));
    }
    drafts
}

fn draft<'a>(
    (name, node): (&'a str, Option<&'a Node>),
    label: String,
    has_inputs: bool,
    (registry, models): (&Registry, Option<&Models>),
    problems: &mut Problems<'_>,
) -> Draft<'a> {
    let section = Section::open_free(node, label, problems);
    let is_option = |entry: &&Entry| entry.key != "id" && !(has_inputs && entry.key == "inputs");
    let options = section.entries().iter().filter(is_option);
    let method = read_method(&section, options, (registry, models), problems);
    Draft { name, method, section }
}

fn read_method<'a>(
    section: &Section<'_>,
    options: impl Iterator<Item = &'a Entry>,
    (registry, models): (&Registry, Option<&Models>),
    problems: &mut Problems<'_>,
) -> Option<MethodSpec> {
    let id = match section.get("id") {
        Some(_) => section.text("id", problems)?,
        None => DEFAULT_METHOD,
    };
    let methods = registry.methods();
    let entry = methods.find(id);
    let entry = entry.map_err(|error| misnamed(error, id, methods));
    let entry = entry.map_err(|error| problems.report(section.origin_of("id"), || error)).ok()?;
    let known: Vec<&str> = all_options(entry, methods.sources()).map(|option| option.name).collect();
    let (misplaced, options): (Vec<_>, Vec<_>) =
        options.partition(|option| !known.contains(&option.key.as_str()) && is_misplaced(option, methods));
    for option in &misplaced {
        problems.report(option.key_origin, || misplaced_key(section.label(), option));
    }
    if !misplaced.is_empty() {
        return None;
    }
    let options = options.into_iter();
    let is_file = |name: &str| names_a_file(all_options(entry, methods.sources()), name);
    let check = |given| methods.spec(entry, given).map(|_| ());
    let given = read_options(options, is_file, check, problems);
    let spec = methods.spec(entry, given?).map_err(|error| problems.report(section.origin, || error)).ok()?;
    let spec = match models {
        Some(models) => {
            spec.with_models(&models.spec).map_err(|error| problems.report(models.origin, || error))
        }
        None => Ok(spec),
    };
    let spec = spec.ok()?;
    spec.warnings().for_each(|warning| problems.warn(section.origin, || warning));
    Some(spec)
}

/// Words that are written for `id`.
const WORDS_FOR_ID: [&str; 5] = ["method", "name", "kind", "type", "algorithm"];

/// Whether a key is no option: another word for `id`, or a key of [step].
fn is_misplaced(entry: &Entry, methods: &Methods) -> bool {
    match &entry.node.value {
        Value::Text(text) if WORDS_FOR_ID.contains(&entry.key.as_str()) => {
            methods.find(text.split(':').next().unwrap_or_default()).is_ok()
        }
        _ => keys::has(keys::STEP, &entry.key),
    }
}

fn misplaced_key(label: &str, entry: &Entry) -> Error {
    let key = shortened(&entry.key);
    match &entry.node.value {
        Value::Text(text) if WORDS_FOR_ID.contains(&entry.key.as_str()) => {
            Error::new(Code::BadOption, format!("the method in {label} is called `id`, not `{key}`"))
                .hint(format!("write `id = \"{}\"`", shortened(text)))
        }
        _ => Error::new(Code::BadOption, format!("`{key}` is no option of the method in {label}"))
            .hint(format!("`{key}` is a key of [step]: write it there")),
    }
}

/// Says of a name that is of no method what it is.
pub(crate) fn misnamed(error: Error, id: &str, methods: &Methods) -> Error {
    if let Some(word) = order_by_name(id) {
        return error
            .because(format!("`{}` is an order of stepping, with any method", shortened(id)))
            .hint(format!("write `kind = \"{word}\"` in [schedule], or `--schedule {word}`"));
    }
    let names: Vec<&str> = id.split(',').map(str::trim).collect();
    let are_methods = names.len() > 1 && names.iter().all(|name| methods.find(name).is_ok());
    match are_methods {
        true => error
            .because("a run has one method")
            .hint(format!("`costep compare SYSTEM --methods {}` compares them", names.join(","))),
        false => error,
    }
}

/// The group of each input.
fn assign(
    drafts: &[Draft<'_>],
    wishes: &[GroupRequest],
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Vec<usize> {
    let mut owners: Vec<Option<(usize, Origin)>> = vec![None; signals.names(Side::Input).len()];
    for wish in wishes {
        match drafts.iter().position(|draft| draft.name == wish.group) {
            Some(group) => claim(&mut owners, wish.input, (group, wish.origin), drafts, signals, problems),
            None => problems.report(wish.origin, || {
                let name = shortened(&wish.group);
                let error = Error::new(Code::UnknownName, format!("there is no group `{name}`"));
                let near = suggest(error, &wish.group, drafts.iter().skip(1).map(|draft| draft.name));
                match suggested(&near).is_some() {
                    true => near,
                    false => {
                        near.hint(format!("give it a method: `[group.{name}]` and below it `id = \"zoh\"`"))
                    }
                }
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
