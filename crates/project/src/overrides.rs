//! Overrides of the command line: they change the document before it is checked.

use costep_core::{Code, Error, OptionSpec, Result, Value as OptionValue};
use costep_methods::{MethodSpec, Methods};
use costep_models::ModelEntry;

use crate::document::{Node, Origin, Table, Value};
use crate::groups::misnamed;
use crate::keys::{self, Key};
use crate::models;
use crate::parse::{self, MAX_KEY};
use crate::problems::{Problems, shortened, suggest, suggested};
use crate::registry::Registry;

/// The method of a group that does not name one.
pub(crate) const DEFAULT_METHOD: &str = "auto";

/// Tables of parts, and their keys that are not parameters.
const PART_KINDS: [(&str, &[Key]); 2] = [("native", keys::NATIVE), ("fmu", keys::FMU)];

/// A value given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Where it goes: `step.size`, `parameters.ck`, `method.alpha`; short forms are `ck` for a parameter of a
    /// built-in model and `s1.ck` for one of a part. `method` and `group.NAME` take `nepce:alpha=0.5`,
    /// `models` takes `rls:n=2`.
    pub path: String,
    /// The value, as in a project file but text needs no quotes.
    pub value: String,
    /// The flag as the user wrote it, for messages.
    pub flag: String,
}

impl Override {
    /// `path = value`, given by `flag`.
    pub fn new(path: impl Into<String>, value: impl Into<String>, flag: impl Into<String>) -> Self {
        Self { path: path.into(), value: value.into(), flag: flag.into() }
    }

    /// Lets references of a system structure lead anywhere.
    pub fn allow_outside() -> Self {
        Self::new(ALLOW_OUTSIDE, "true", "--allow-outside")
    }

    /// Whether it only says in which process an FMU runs. A parameter of this name is taken for it too; its value is in the project.
    pub(crate) fn says_where_it_runs(&self) -> bool {
        self.path.trim().ends_with(".isolation")
    }

    /// Whether it is this one. It says how files are read, and changes nothing in them.
    pub(crate) fn allows_outside(&self) -> bool {
        self.path == ALLOW_OUTSIDE
    }
}

const ALLOW_OUTSIDE: &str = "--allow-outside";

/// Changes the document by all overrides, in their order.
pub(crate) fn apply(
    root: &mut Table,
    registry: &Registry,
    overrides: &[Override],
    problems: &mut Problems<'_>,
) {
    for (index, given) in overrides.iter().enumerate().filter(|(_, given)| !given.allows_outside()) {
        let origin = Origin::Flag(index);
        if let Err(error) = apply_one(root, registry, given, origin) {
            problems.report(origin, || error);
        }
    }
}

fn apply_one(root: &mut Table, registry: &Registry, given: &Override, origin: Origin) -> Result<()> {
    let path = resolved(root, registry, split_path(&given.path)?)?;
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let mut node = parse::value(&given.value, origin);
    match (&names[..], &node.value) {
        (["method"] | ["group", _], Value::Text(text)) => {
            let spec = read_text(text, Code::UnknownMethod, |text| {
                let id = text.split(':').next().unwrap_or_default();
                registry.method(text).map_err(|error| match error.code() {
                    Code::UnknownMethod => misnamed(error, id, registry.methods()),
                    _ => error,
                })
            })?;
            if spec.names_models() {
                drop_models_of_file(root);
            }
            node = method_table(root, &names, &spec, origin);
        }
        (["models"], Value::Text(text)) => {
            let spec = read_text(text, Code::BadOption, |text| registry.methods().sources().parse(text))?;
            drop_sources_of_file(root, registry.methods());
            node = table(models::SOURCE, spec.entry.id, spec.given(), origin);
        }
        _ => {}
    }
    drop_dependents(root, &names, &node.value);
    insert(root, &names, node)
}

/// The names of a path: separated by dots, in quotes if they contain one.
fn split_path(path: &str) -> Result<Vec<String>> {
    let mut names = vec![String::new()];
    let mut quote = None;
    for letter in path.trim().chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '.') => names.push(String::new()),
            _ => names.iter_mut().last().into_iter().for_each(|name| name.push(letter)),
        }
    }
    if quote.is_some() || names.iter().any(|name| name.is_empty() || name.len() > MAX_KEY) {
        return Err(Error::new(Code::CommandLine, format!("`{}` is not a path", shortened(path)))
            .hint("write names with dots between them, as in `step.size` or `parameters.ck`"));
    }
    Ok(names)
}

/// The full path of a short one.
fn resolved(root: &Table, registry: &Registry, mut path: Vec<String>) -> Result<Vec<String>> {
    let has_parts = PART_KINDS.iter().any(|(kind, _)| root.table(kind).is_some());
    let kind_of = |name: &str| {
        let is_of = |kind: &str| root.table(kind).is_some_and(|parts| parts.get(name).is_some());
        PART_KINDS.iter().map(|(kind, _)| *kind).find(|kind| is_of(kind))
    };
    let head = path[0].clone();
    if keys::has(keys::ROOT, &head) {
        match head.as_str() {
            "method" | "models" => {}
            _ if path.len() == 1 => return Err(table_named(&head)),
            kind if PART_KINDS.iter().any(|(part, _)| *part == kind) => {
                let is_key =
                    |key: &str| PART_KINDS.iter().any(|(part, keys)| *part == kind && keys::has(keys, key));
                if path.len() > 2 && !is_key(&path[2]) {
                    path.insert(2, "set".into());
                }
                join_from(&mut path, 3);
            }
            "guard" => join_from(&mut path, 2),
            "port" => {
                // The last name is the key, all before it the port.
                let key = path.pop().unwrap_or_default();
                join_from(&mut path, 1);
                path.push(key);
            }
            _ => {}
        }
        return Ok(path);
    }
    if path.len() == 1 && !has_parts {
        let is_parameter = |model: &ModelEntry| model.parameters.iter().any(|spec| spec.name == head);
        let model = root.table("system").and_then(|system| system.text("model"));
        let model = model.and_then(|id| registry.model(id).ok());
        if let Some(error) = key_of_table(&head).filter(|_| model.is_some_and(|model| !is_parameter(model))) {
            return Err(error);
        }
        return Ok(vec!["parameters".into(), head]);
    }
    if let (None, Some((kind, part))) = (kind_of(&head), only_part(root)) {
        // Of a single part everything else can be a name, with dots in it or not.
        let name = path.join(".");
        return Ok(vec![kind.into(), part.into(), "set".into(), name]);
    }
    if let Some(kind) = kind_of(&head).filter(|_| path.len() > 1) {
        path.splice(0..1, [kind.into(), head, "set".into()]);
        join_from(&mut path, 3);
        return Ok(path);
    }
    Err(unknown_path(root, &path))
}

/// Kind and name of the part of a system that has one only.
fn only_part(root: &Table) -> Option<(&'static str, &str)> {
    if root.table("linear").is_some_and(|parts| !parts.entries.is_empty()) {
        return None;
    }
    let tables = PART_KINDS.iter().filter_map(|(kind, _)| Some((*kind, root.table(kind)?)));
    let mut parts =
        tables.flat_map(|(kind, table)| table.entries.iter().map(move |entry| (kind, entry.key.as_str())));
    parts.next().filter(|_| parts.next().is_none())
}

/// Makes one name, with dots, of all names from `start` on.
fn join_from(path: &mut Vec<String>, start: usize) {
    if path.len() > start {
        let joined = path.drain(start..).collect::<Vec<_>>().join(".");
        path.push(joined);
    }
}

fn table_named(name: &str) -> Error {
    Error::new(Code::CommandLine, format!("`{name}` is a table, not a value"))
        .hint(format!("write `{name}.KEY=VALUE`"))
}

/// The error for a key that is written without its table: `stop` for `system.stop`.
fn key_of_table(name: &str) -> Option<Error> {
    let (header, _) = keys::owner(name)?;
    let path = format!("{}.{name}", header.trim_matches(['[', ']']));
    let error = Error::new(Code::UnknownKey, format!("`{name}` is a key of {header}"));
    let flag = match path.as_str() {
        "system.stop" => ", or `--t-end ...`",
        "step.size" => ", or `--step ...`",
        _ => "",
    };
    Some(error.hint(format!("write `--set {path}=...`{flag}")))
}

fn unknown_path(root: &Table, path: &[String]) -> Error {
    let written = path.join(".");
    let parts: Vec<&str> = PART_KINDS
        .iter()
        .flat_map(|(kind, _)| root.table(kind))
        .flat_map(|table| &table.entries)
        .map(|entry| entry.key.as_str())
        .collect();
    if let Some(error) = key_of_table(&path[0]).filter(|_| path.len() == 1) {
        return error;
    }
    if path.len() == 1 {
        let part = if let [part] = parts[..] { part } else { "PART" };
        return Error::new(Code::UnknownParameter, format!("`{written}` does not say of which part"))
            .hint(format!("write `{part}.{written}`; parts: {}", shortened(&parts.join(", "))));
    }
    let error = Error::new(Code::UnknownKey, format!("nothing is called `{}`", shortened(&written)));
    let tables: Vec<&str> = keys::names(keys::ROOT).collect();
    let error = suggest(error, &path[0], tables.into_iter().chain(parts.iter().copied()));
    match root.table("system").and_then(|system| system.text("model")) {
        Some(model) if suggested(&error).is_none() => error.hint(format!(
            "parameters of the whole model `{}` are written without a part: `{}=...`",
            shortened(model),
            path[1]
        )),
        None if suggested(&error).is_none() && !parts.is_empty() => {
            error.hint(format!("write `PART.NAME=VALUE`; parts: {}", shortened(&parts.join(", "))))
        }
        _ => error,
    }
}

/// Reads a method or source with options, unless it is too long to be one.
fn read_text<T>(text: &str, code: Code, parse: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    const MAX_TEXT: usize = 1000;
    if text.len() > MAX_TEXT {
        return Err(Error::new(code, format!("unknown coupling method or source `{}`", shortened(text))));
    }
    parse(text)
}

/// The table that `nepce:alpha=0.5` stands for; the inputs of a group stay.
fn method_table(root: &Table, path: &[&str], spec: &MethodSpec, origin: Origin) -> Node {
    let mut node = table("id", spec.entry.id, spec.given(), origin);
    if let (["group", name], Value::Table(table)) = (path, &mut node.value)
        && let Some(inputs) = root.table("group").and_then(|groups| groups.table(name)?.get("inputs"))
    {
        table.set("inputs", inputs.clone());
    }
    node
}

/// A name under this key, and options beside it.
fn table(key: &str, id: &str, given: &[(String, OptionValue)], origin: Origin) -> Node {
    let mut table = Table::default();
    table.set(key, Node { value: Value::Text(id.into()), origin });
    for (name, value) in given {
        table.set(name, Node { value: option_value(value), origin });
    }
    Node { value: Value::Table(table), origin }
}

/// Whoever names a source with the method does not mean the models of the file.
fn drop_models_of_file(root: &mut Table) {
    root.entries.retain(|entry| entry.key != "models" || from_flag(entry.key_origin));
}

/// Whoever names a source beside the method does not mean those that the file names with methods.
fn drop_sources_of_file(root: &mut Table, methods: &Methods) {
    let of_source = |key: &str| {
        key == models::SOURCE || methods.sources().iter().any(|source| names_option(source.options, key))
    };
    let drop_from = |table: &mut Table| {
        let method = methods.find(table.text("id").unwrap_or(DEFAULT_METHOD));
        let is_own = |key: &str| method.as_ref().is_ok_and(|entry| names_option(entry.options, key));
        table
            .entries
            .retain(|entry| from_flag(entry.key_origin) || is_own(&entry.key) || !of_source(&entry.key));
    };
    root.table_mut("method").into_iter().for_each(drop_from);
    for entry in root.table_mut("group").into_iter().flat_map(|groups| &mut groups.entries) {
        if let Value::Table(table) = &mut entry.node.value {
            drop_from(table);
        }
    }
}

fn names_option(specs: &[OptionSpec], name: &str) -> bool {
    specs.iter().any(|spec| spec.name == name)
}

fn from_flag(origin: Origin) -> bool {
    matches!(origin, Origin::Flag(_))
}

fn option_value(value: &OptionValue) -> Value {
    match value {
        OptionValue::Bool(truth) => Value::Truth(*truth),
        OptionValue::Integer(integer) => Value::Integer(*integer),
        OptionValue::Real(real) => Value::Real(*real),
        OptionValue::Text(text) => Value::Text(text.clone()),
    }
}

/// Who chooses another method does not mean the file's options for it, and so on. What other overrides set
/// stays, so that their order does not matter.
fn drop_dependents(root: &mut Table, path: &[&str], value: &Value) {
    let Value::Text(chosen) = value else { return };
    let keep_flags = |table: &mut Table, kept: &str| {
        table.entries.retain(|entry| from_flag(entry.key_origin) || entry.key == kept);
    };
    match path {
        ["system", "model"] => {
            let same = root.table("system").and_then(|system| system.text("model")) == Some(chosen);
            if let Some(parameters) = root.table_mut("parameters").filter(|_| !same) {
                keep_flags(parameters, "");
            }
        }
        ["method", "id"] | ["group", _, "id"] => {
            let table = match path {
                [_, name, _] => root.table_mut("group").and_then(|groups| groups.table_mut(name)),
                _ => root.table_mut("method"),
            };
            if let Some(table) = table.filter(|t| t.text("id").unwrap_or(DEFAULT_METHOD) != chosen) {
                keep_flags(table, "inputs");
            }
        }
        ["models", models::SOURCE] => {
            if let Some(table) = root.table_mut("models").filter(|t| t.text(models::SOURCE) != Some(chosen)) {
                keep_flags(table, "");
            }
        }
        ["schedule", "kind"] if chosen != "sequential" => {
            if let Some(schedule) = root.table_mut("schedule") {
                schedule.entries.retain(|entry| from_flag(entry.key_origin) || entry.key != "order");
            }
        }
        _ => {}
    }
}

fn insert(root: &mut Table, path: &[&str], node: Node) -> Result<()> {
    let Some((last, before)) = path.split_last() else { return Ok(()) };
    let mut table = root;
    for (depth, name) in before.iter().enumerate() {
        table = match &mut table.get_or_table(name, node.origin).value {
            Value::Table(inner) => inner,
            Value::List(_) => {
                let message = format!("`{}` is a list", path[..=depth].join("."));
                return Err(Error::new(Code::CommandLine, message).hint("change it in the project file"));
            }
            _ => {
                let message = format!("`{}` has no keys", path[..=depth].join("."));
                return Err(Error::new(Code::CommandLine, message));
            }
        };
    }
    table.set(last, node);
    Ok(())
}
