//! What has changed in a project since a run of it began.

use std::collections::BTreeMap;
use std::path::Path;

use costep_core::{Code, Error};

use crate::document::{Node, Origin, Table, Value};
use crate::parse;
use crate::problems::{Problems, shortened};
use crate::source;
use crate::write;

/// Changes that one message names.
const NAMED: usize = 3;

/// Tables that change what is written and how it is computed, not what comes out.
const WITHOUT_EFFECT: [&str; 2] = ["record", "run"];

/// Keys of FMUs of the same kind.
const WITHOUT_EFFECT_OF_FMUS: [&str; 4] = ["isolation", "step_timeout", "log", "validate"];

/// What two effective projects differ in.
#[derive(Debug, Default)]
pub struct Changes {
    /// What gives other results, as an error that names it.
    pub refused: Option<Error>,
    /// Names of what gives the same results.
    pub harmless: Vec<String>,
}

impl Changes {
    /// Compares the text of a project as it was ([`Project::to_toml_in`](crate::Project::to_toml_in)) with the one that `source`
    /// gives now, whose lines are named. Names of systems and places of files do not count: what is in files is compared by
    /// [`Project::file_marks`](crate::Project::file_marks).
    pub fn between(then: &str, now: &str, source: &Path) -> Self {
        let (then, now) = (values(then), values(now));
        let keys = then.keys().chain(now.keys().filter(|key| !then.contains_key(*key)));
        let differing = keys.filter(|key| {
            let is_part_of_it =
                key.len() > 2 && is_list(&key[0]) && text_of(&then, &key[..2]) != text_of(&now, &key[..2]);
            !is_place_or_name(key) && !is_part_of_it && text_of(&then, key) != text_of(&now, key)
        });
        let (harmless, effective): (Vec<&Key>, Vec<&Key>) = differing.partition(|key| has_no_effect(key));
        let harmless = harmless.into_iter().map(|key| shown_key(key)).collect();
        Self { refused: refusal(&effective, (&then, &now), source), harmless }
    }
}

/// Names from the root to a value.
type Key = Vec<String>;

struct Leaf {
    /// The whole value.
    text: String,
    origin: Origin,
}

fn text_of<'a>(side: &'a BTreeMap<Key, Leaf>, key: &[String]) -> Option<&'a str> {
    side.get(key).map(|leaf| leaf.text.as_str())
}

fn refusal(
    keys: &[&Key],
    (then, now): (&BTreeMap<Key, Leaf>, &BTreeMap<Key, Leaf>),
    source: &Path,
) -> Option<Error> {
    let first = keys.first()?;
    let change = |key: &&Key| {
        let (then, now) = (then.get(*key), now.get(*key));
        let name = shown_key(key);
        let text = |leaf: Option<&Leaf>| {
            leaf.map_or("not given".into(), |leaf| format!("`{}`", shortened(&leaf.text)))
        };
        match (is_list(&key[0]) && key.len() == 2, then.is_some()) {
            (true, true) => format!("{name} is not there any more"),
            (true, false) => format!("{name} was not there"),
            (false, _) => format!("{name} was {}, now it is {}", text(then), text(now)),
        }
    };
    let mut cause = keys.iter().take(NAMED).map(change).collect::<Vec<_>>().join("; ");
    if keys.len() > NAMED {
        cause += &format!("; and {} more", keys.len() - NAMED);
    }
    let error =
        Error::new(Code::CheckpointForeign, "the project has changed since the run began").because(cause);
    Some(placed(error, first, source))
}

/// With the line of the key or of the table that it is missing in, if the file has lines.
fn placed(error: Error, key: &[String], source: &Path) -> Error {
    let is_text = source.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    let Some(text) = source::read(source).ok().filter(|_| is_text) else { return error.in_file(source) };
    let mut problems = Problems::new(Some(source), &text, &[]);
    let Some(root) = parse::document(&text, &mut problems) else { return error.in_file(source) };
    let written = leaves(&root);
    let line = (1..=key.len()).rev().find_map(|length| {
        let starts = |leaf: &&(Key, Leaf)| joined(&leaf.0).starts_with(&joined(&key[..length]));
        written.iter().find(starts).map(|(_, leaf)| leaf.origin)
    });
    match line {
        Some(origin) => problems.placed(origin, error),
        None => error.in_file(source),
    }
}

fn joined(key: &[String]) -> String {
    key.join(".") + "."
}

/// `[system] stop`, `[fmu.a] set.ck`, `[[connect]] a.y -> b.u gain`.
fn shown_key(key: &[String]) -> String {
    match key {
        [list, item] if is_list(list) => format!("[[{list}]] {item}"),
        [list, item, rest @ ..] if is_list(list) => format!("[[{list}]] {item} {}", rest.join(".")),
        [table, name, key, rest @ ..] => {
            let deeper = rest.iter().fold(key.clone(), |all, name| format!("{all}.{name}"));
            format!("[{table}.{name}] {deeper}")
        }
        [table, key] => format!("[{table}] {key}"),
        _ => key.join("."),
    }
}

fn is_list(table: &str) -> bool {
    ["connect", "external"].contains(&table)
}

fn is_place_or_name(key: &[String]) -> bool {
    match key {
        [table, _, last] => last == "file" && (table == "fmu" || table == "external"),
        [table, last] => table == "system" && last == "name",
        _ => false,
    }
}

fn has_no_effect(key: &[String]) -> bool {
    let is_of_fmus = |last: &String| WITHOUT_EFFECT_OF_FMUS.contains(&last.as_str());
    match key {
        [table, _, last] if table == "fmu" => is_of_fmus(last),
        [table, ..] => WITHOUT_EFFECT.contains(&table.as_str()),
        [] => true,
    }
}

fn values(text: &str) -> BTreeMap<Key, Leaf> {
    let mut problems = Problems::new(None, text, &[]);
    parse::document(text, &mut problems)
        .map_or_else(BTreeMap::new, |root| leaves(&root).into_iter().collect())
}

/// All values with the names that lead to them, in the order of the text.
fn leaves(root: &Table) -> Vec<(Key, Leaf)> {
    let mut found = Vec::new();
    for entry in &root.entries {
        match &entry.node.value {
            Value::List(items) if is_list(&entry.key) => {
                for item in items {
                    let key = vec![entry.key.clone(), item_name(item)];
                    found.push((key.clone(), Leaf { text: "there".into(), origin: item.origin }));
                    collect(key, item, &mut found);
                }
            }
            _ => collect(vec![entry.key.clone()], &entry.node, &mut found),
        }
    }
    found
}

fn collect(key: Key, node: &Node, found: &mut Vec<(Key, Leaf)>) {
    let Value::Table(table) = &node.value else {
        return found.push((key, Leaf { text: whole(&node.value), origin: node.origin }));
    };
    for entry in &table.entries {
        let deeper = key.iter().cloned().chain([entry.key.clone()]).collect();
        collect(deeper, &entry.node, found);
    }
}

/// What tells one connection or external input from another.
fn item_name(item: &Node) -> String {
    let Value::Table(table) = &item.value else { return String::new() };
    let to = table.text("to").unwrap_or_default();
    table.text("from").map_or_else(|| to.into(), |from| format!("{from} -> {to}"))
}

fn whole(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => write::real(*real),
        Value::Truth(truth) => truth.to_string(),
        Value::Date => "a date".into(),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| whole(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let pairs =
                table.entries.iter().map(|entry| format!("{} = {}", entry.key, whole(&entry.node.value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEN: &str = "[system]\nname = \"a\"\nstop = \"20 s\"\n[fmu.a]\nfile = \"x/a.fmu\"\nset = { ck = 1.0 }\n[[connect]]\nfrom = \"a.y\"\nto = \"b.u\"\n[record]\nevery = \"1 s\"\n";

    fn changes(edit: impl Fn(&str) -> String) -> (Option<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("system.toml");
        let now = edit(THEN);
        std::fs::write(&file, &now).unwrap();
        let found = Changes::between(THEN, &now, &file);
        (found.refused.map(|error| error.to_string()), found.harmless)
    }

    #[test]
    fn what_changes_results_is_refused_with_key_and_line() {
        for (then, now, line, says) in [
            ("20 s", "25 s", 3, "[system] stop was `20 s`, now it is `25 s`"),
            ("ck = 1.0", "ck = 2.0", 6, "[fmu.a] set.ck was `1.0`, now it is `2.0`"),
            ("ck = 1.0", "dk = 2.0", 6, "[fmu.a] set.ck was `1.0`, now it is not given"),
            ("\"b.u\"", "\"b.v\"", 7, "[[connect]] a.y -> b.u is not there any more"),
        ] {
            let (refused, harmless) = changes(|text| text.replace(then, now));
            let refused = refused.unwrap();
            assert!(refused.contains(says), "{refused}");
            assert!(refused.contains(&format!("system.toml:{line}")) || now.contains("b.v"), "{refused}");
            assert!(harmless.is_empty());
        }
    }

    #[test]
    fn long_texts_are_compared_to_their_ends() {
        let long = "x".repeat(200);
        let then = THEN.replace("ck = 1.0", &format!("path = \"{long}a\""));
        let now = THEN.replace("ck = 1.0", &format!("path = \"{long}b\""));
        let refused = Changes::between(&then, &now, Path::new("system.toml")).refused.unwrap().to_string();
        assert!(refused.contains("[fmu.a] set.path was `xxx") && !refused.contains(&long), "{refused}");
    }

    #[test]
    fn what_gives_the_same_results_is_not_refused() {
        let (refused, harmless) = changes(|text| format!("# more\n{text}"));
        assert_eq!((refused, harmless), (None, Vec::new()));
        let (refused, harmless) = changes(|text| text.replace("1 s", "2 s").replace("20 s", "20s"));
        assert!(refused.is_some() && harmless == ["[record] every"], "{harmless:?}");
        let moved = |text: &str| text.replace("x/a.fmu", "a.fmu").replace("name = \"a\"", "name = \"b\"");
        assert_eq!(changes(moved), (None, Vec::new()));
        let isolated = |text: &str| text.replace("set =", "isolation = \"none\"\nset =");
        assert_eq!(changes(isolated), (None, vec!["[fmu.a] isolation".into()]));
    }
}
