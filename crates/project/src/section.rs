//! Reads a table of the project file key by key, and reports what is unknown, missing or of the wrong kind.

use std::fmt::Display;

use costep_core::quantity::{parse_time_with_unit, split_quantity, with_point};
use costep_core::{Code, Error};

use crate::document::{Entry, Node, Origin, Table, Value};
use crate::keys::{self, Key, Kind, Known};
use crate::problems::{Problems, shortened, suggest, suggested};

/// No name or quantity is longer.
const MAX_TEXT: usize = 500;

static EMPTY: Table = Table { entries: Vec::new() };

/// A table of the project file with its name for messages.
#[derive(Clone)]
pub(crate) struct Section<'a> {
    table: &'a Table,
    label: String,
    /// Where it begins.
    pub(crate) origin: Origin,
    /// Keys that unknown ones probably mean: saying that they are missing would only repeat it.
    misspelt: Vec<String>,
}

impl<'a> Section<'a> {
    /// A table whose keys are all known. A missing table is an empty one.
    pub(crate) fn open<K: Known>(
        node: Option<&'a Node>,
        label: impl Into<String>,
        known: &'static [K],
        problems: &mut Problems<'_>,
    ) -> Self {
        Self::open_where(node, label, known, &|_| None, problems)
    }

    /// The same where keys that are unknown here may have a meaning elsewhere: `meant` says how they are written.
    pub(crate) fn open_where<K: Known>(
        node: Option<&'a Node>,
        label: impl Into<String>,
        known: &'static [K],
        meant: &dyn Fn(&Entry) -> Option<String>,
        problems: &mut Problems<'_>,
    ) -> Self {
        let section = Self::open_free(node, label, problems);
        let misspelt = refuse_keys(section.table, &section.label, known, meant, problems);
        Self { misspelt, ..section }
    }

    /// A table whose keys are names or checked elsewhere.
    pub(crate) fn open_free(
        node: Option<&'a Node>,
        label: impl Into<String>,
        problems: &mut Problems<'_>,
    ) -> Self {
        let label = label.into();
        let (table, origin) = match node {
            None => (&EMPTY, Origin::Nowhere),
            Some(Node { value: Value::Table(table), origin }) => (table, *origin),
            Some(other) => {
                problems.report(other.origin, || {
                    let error = wrong_kind(&label, &other.value, "a table");
                    let is_doubled = matches!(other.value, Value::List(_)) && label.starts_with('[');
                    match &other.value {
                        _ if is_doubled => error.hint(match keys::named(label.trim_matches(['[', ']'])) {
                            Some(header) => format!("each has a table of its own name: write `{header}`"),
                            None => format!("write `{label}`, in single brackets"),
                        }),
                        Value::Text(id) if label == "[method]" => {
                            error.hint(format!("write `[method]` and below it `id = \"{}\"`", shortened(id)))
                        }
                        Value::Text(file) if label.starts_with("[fmu.") => error.hint(format!(
                            "write `{label}` and below it `file = \"{}\"`, in the place of this line",
                            shortened(file)
                        )),
                        _ if label.starts_with('[') => {
                            error.hint(format!("write `{label}` and its keys below it, `key = value`"))
                        }
                        _ => error.hint("write { key = value, ... }"),
                    }
                });
                (&EMPTY, other.origin)
            }
        };
        Self { table, label, origin, misspelt: Vec::new() }
    }

    /// The tables in it, each under a name of the user. Keys that stand beside them, for want of a name, are reported once.
    pub(crate) fn named(
        &self,
        known: &'static [Key],
        example: &str,
        problems: &mut Problems<'_>,
    ) -> Vec<&'a Entry> {
        let is_nameless = |entry: &&Entry| {
            !matches!(entry.node.value, Value::Table(_) | Value::List(_))
                && (keys::has(known, &entry.key) || entry.key == "name")
        };
        let (nameless, named): (Vec<_>, Vec<_>) = self.entries().iter().partition(is_nameless);
        if let Some(first) = nameless.first() {
            problems.report(first.key_origin, || {
                let message =
                    format!("`{}` stands in {}, which names nothing", shortened(&first.key), self.label);
                let name = self.table.text("name").map_or_else(|| "NAME".into(), shortened);
                Error::new(Code::Missing, message)
                    .because("each part and each port has a table of its own, with its name")
                    .hint(format!(
                        "write `{}` in the place of `{}`",
                        example.replace("NAME", &name),
                        self.label
                    ))
            });
        }
        named
    }

    /// How it is written, for messages.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// All keys with their values.
    pub(crate) fn entries(&self) -> &'a [Entry] {
        &self.table.entries
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key)
    }

    /// Where a key is, or the table if it is not.
    pub(crate) fn origin_of(&self, key: &str) -> Origin {
        self.get(key).map_or(self.origin, |node| node.origin)
    }

    /// The text of a key.
    pub(crate) fn text(&self, key: &str, problems: &mut Problems<'_>) -> Option<&'a str> {
        text(self.get(key)?, &self.what(key), problems)
    }

    /// The number of a key.
    pub(crate) fn number(&self, key: &str, problems: &mut Problems<'_>) -> Option<f64> {
        number(self.get(key)?, &self.what(key), problems)
    }

    /// The time of a key in seconds.
    pub(crate) fn time(&self, key: &str, problems: &mut Problems<'_>) -> Option<f64> {
        time(self.get(key)?, &self.what(key), problems)
    }

    /// The Boolean of a key.
    pub(crate) fn truth(&self, key: &str, problems: &mut Problems<'_>) -> Option<bool> {
        let node = self.get(key)?;
        match node.value {
            Value::Truth(truth) => Some(truth),
            _ => {
                problems.report(node.origin, || {
                    let word = match &node.value {
                        Value::Text(text)
                            if matches!(text.to_lowercase().as_str(), "false" | "no" | "off") =>
                        {
                            "false"
                        }
                        Value::Integer(0) => "false",
                        _ => "true",
                    };
                    let error = wrong_kind(&self.what(key), &node.value, "true or false");
                    error.hint(format!("write `{key} = {word}`, without quotes"))
                });
                None
            }
        }
    }

    /// The list of texts of a key; wrong items are reported and left out.
    pub(crate) fn texts(&self, key: &str, problems: &mut Problems<'_>) -> Option<Vec<(&'a str, Origin)>> {
        let node = self.get(key)?;
        if let Value::Text(word) = &node.value
            && matches!(word.as_str(), "all" | "*")
        {
            problems.report(node.origin, || {
                wrong_kind(&self.what(key), &node.value, "a list").hint("write [\"*\"], or leave it out")
            });
            return None;
        }
        let items = list(node, &self.what(key), problems)?;
        let what = format!("an item of {}", self.what(key));
        Some(items.iter().filter_map(|item| Some((text(item, &what, problems)?, item.origin))).collect())
    }

    /// Reports a key that has to be there, unless it is.
    pub(crate) fn require(&self, key: &str, hint: &str, problems: &mut Problems<'_>) {
        if self.get(key).is_none() && !self.is_misspelt(key) {
            problems.report(self.origin, || {
                Error::new(Code::Missing, format!("{} needs `{key}`", self.label)).hint(hint)
            });
        }
    }

    /// Whether a key is probably there, but not spelt right.
    pub(crate) fn is_misspelt(&self, key: &str) -> bool {
        self.misspelt.iter().any(|misspelt| misspelt == key)
    }

    fn what(&self, key: &str) -> String {
        format!("`{key}` in {}", self.label)
    }
}

/// Reports all keys that have no meaning, so that a misspelt setting is never ignored silently. Gives the keys
/// that are probably meant.
pub(crate) fn refuse_unknown_keys<K: Known>(
    table: &Table,
    label: &str,
    known: &'static [K],
    problems: &mut Problems<'_>,
) -> Vec<String> {
    refuse_keys(table, label, known, &|_| None, problems)
}

fn refuse_keys<K: Known>(
    table: &Table,
    label: &str,
    known: &'static [K],
    elsewhere: &dyn Fn(&Entry) -> Option<String>,
    problems: &mut Problems<'_>,
) -> Vec<String> {
    let mut meant = Vec::new();
    for entry in table.entries.iter().filter(|entry| !keys::has(known, &entry.key)) {
        problems.report(entry.key_origin, || {
            let message = format!("unknown key `{}` in {label}", shortened(&entry.key));
            let error = Error::new(Code::UnknownKey, message);
            if let Some(hint) = elsewhere(entry) {
                return error.hint(hint);
            }
            let error = match keys::of_other_tools(&entry.key).find(|key| keys::has(known, key)) {
                Some(key) => error.hint(format!("did you mean `{key}`?")),
                None => match misplaced(entry, label).or_else(|| keys::hint_of(label, &entry.key)) {
                    Some(hint) => error.hint(hint),
                    None => suggest(error, &entry.key, keys::names(known)),
                },
            };
            let error = match parameter(entry, label).filter(|_| suggested(&error).is_none()) {
                Some(hint) => error.hint(hint),
                None => error,
            };
            meant.extend(suggested(&error).map(str::to_owned));
            match error.details().hint.is_none() {
                true => {
                    error.hint(format!("known here: {}", keys::names(known).collect::<Vec<_>>().join(", ")))
                }
                false => error,
            }
        });
    }
    meant
}

/// Where a key belongs that stands in the wrong table, or that is the name of a table.
fn misplaced(entry: &Entry, label: &str) -> Option<String> {
    let key = entry.key.as_str();
    let owner = keys::of_other_tools(key).find_map(keys::owner).or_else(|| keys::owner(key));
    if let Some((table, key)) = owner
        && keys::ROOT.iter().any(|table| keys::header(table) == label)
        && table != label
    {
        return Some(format!("it is `{}` of {table}: {}", key.name, key.help));
    }
    let table = keys::ROOT.iter().find(|table| table.name == key)?;
    let header = keys::named(key).unwrap_or_else(|| keys::header(table));
    Some(match &entry.node.value {
        Value::Text(id) if key == "method" => {
            format!("it is a table of its own: write `[method]` and below it `id = \"{}\"`", shortened(id))
        }
        _ => format!("it is a table of its own: write `{header}` and its keys below it"),
    })
}

/// How a parameter is set that stands among the keys of a part.
fn parameter(entry: &Entry, label: &str) -> Option<String> {
    let value = match &entry.node.value {
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => format!("{value:?}"),
        _ => return None,
    };
    let is_part = label.starts_with("[fmu.") || label.starts_with("[native.");
    is_part.then(|| format!("parameters are set so: `set = {{ {} = {value} }}`", shortened(&entry.key)))
}

/// Reports tables that have no meaning: what they probably are, or which there are.
pub(crate) fn refuse_unknown_tables(root: &Table, problems: &mut Problems<'_>) {
    for entry in root.entries.iter().filter(|entry| !keys::has(keys::ROOT, &entry.key)) {
        problems.report(entry.key_origin, || unknown_table(entry));
    }
}

fn unknown_table(entry: &Entry) -> Error {
    let name = shortened(&entry.key);
    let is_table = matches!(entry.node.value, Value::Table(_) | Value::List(_));
    let message = match is_table {
        true => format!("unknown table `[{name}]` in the project file"),
        false => format!("`{name}` stands in no table of the project file"),
    };
    let error = Error::new(Code::UnknownKey, message);
    let inner = keys::ROOT.iter().filter_map(|table| match table.kind {
        Kind::Table(keys) | Kind::Schedule(keys) => Some(keys::names(keys)),
        _ => None,
    });
    let other_words = keys::TABLES_OF_OTHERS.iter().flat_map(|(_, words)| words.iter().copied());
    let known: Vec<&str> =
        keys::names(keys::ROOT).chain(inner.flatten()).chain(other_words.filter(|_| is_table)).collect();
    let near = suggest(Error::new(Code::UnknownKey, ""), &entry.key, known);
    let tables: Vec<String> = keys::ROOT.iter().map(keys::header).collect();
    let tables = format!("tables: {}", tables.join(", "));
    let word = suggested(&near).unwrap_or_default();
    let meant = keys::table_of_others(word).unwrap_or(word);
    match keys::owner(meant) {
        _ if is_table && keys::has(keys::ROOT, meant) => {
            let header = keys::ROOT.iter().find(|table| table.name == meant).map(keys::header);
            error.hint(format!("did you mean `{}`? - {tables}", header.unwrap_or_default()))
        }
        Some((table, key)) => {
            error.hint(format!("`{}` is a key of {table}, {}; {tables}", key.name, key.help))
        }
        None => error.hint(tables),
    }
}

/// The text of a value.
pub(crate) fn text<'a>(node: &'a Node, what: &dyn Display, problems: &mut Problems<'_>) -> Option<&'a str> {
    match &node.value {
        Value::Text(text) if text.len() > MAX_TEXT => {
            problems.report(node.origin, || {
                Error::new(Code::BadValue, format!("{what} is too long"))
                    .hint(format!("at most {MAX_TEXT} bytes"))
            });
            None
        }
        Value::Text(text) => Some(text),
        other => {
            problems.report(node.origin, || {
                let what = what.to_string();
                let error = wrong_kind(&what, other, "text");
                match (other, what.split_once("[[")) {
                    (Value::List(items), Some((_, table))) if items.len() > 1 => error
                        .hint(format!("write one text in quotes, and a table `[[{table}` for each of them")),
                    _ => error.hint(as_text(other)),
                }
            });
            None
        }
    }
}

/// How a value is written where text is wanted.
fn as_text(value: &Value) -> String {
    match value {
        Value::List(items) => match &items[..] {
            [Node { value: Value::Text(only), .. }] => {
                format!("write it without brackets: \"{}\"", shortened(only))
            }
            _ => "write one text in quotes, without brackets".into(),
        },
        _ => "write it in quotes".into(),
    }
}

/// The finite number of a value. Text that is a number counts, because overrides arrive as text.
pub(crate) fn number(node: &Node, what: &dyn Display, problems: &mut Problems<'_>) -> Option<f64> {
    let number = match &node.value {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Real(real) => Some(*real),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    };
    if number.is_none_or(|number| !number.is_finite()) {
        problems.report(node.origin, || match (number, &node.value) {
            (Some(number), _) => Error::new(Code::BadValue, format!("{what} is {number}"))
                .hint("only finite numbers can be used"),
            (None, Value::Text(text)) => {
                Error::new(Code::BadValue, format!("{what} is `{}`, not a number", shortened(text))).hint(
                    match with_point(text) {
                        Some(corrected) => format!("write a decimal point: {}", shortened(&corrected)),
                        None => match split_quantity(text) {
                            Some((number, _)) => format!(
                                "numbers are written without a unit: {number}, converted to the unit of what it is for"
                            ),
                            None => "write a plain number such as 2.5 or 1e-3".into(),
                        },
                    },
                )
            }
            (None, other) => wrong_kind(what, other, "a number"),
        });
        return None;
    }
    number
}

/// The time of a value in seconds.
fn time(node: &Node, what: &dyn Display, problems: &mut Problems<'_>) -> Option<f64> {
    match &node.value {
        Value::Text(_) => {
            let text = text(node, what, problems)?;
            let corrected =
                with_point(text).map(|corrected| format!("write a decimal point: \"{corrected}\""));
            parse_time_with_unit(text)
                .map_err(|error| {
                    problems.report(node.origin, || match corrected {
                        Some(hint) => error.hint(hint),
                        None => error,
                    });
                })
                .ok()
        }
        Value::Real(value) if !value.is_finite() => {
            problems.report(node.origin, || {
                Error::new(Code::BadValue, format!("{what} is {value}"))
                    .hint("only finite numbers can be used: write a number and a unit, as in \"10 s\"")
            });
            None
        }
        Value::Integer(_) | Value::Real(_) => number(node, what, problems),
        other => {
            problems.report(node.origin, || {
                wrong_kind(what, other, "a time").hint("write a number and a unit, as in \"5 ms\"")
            });
            None
        }
    }
}

/// The items of a list.
pub(crate) fn list<'a>(
    node: &'a Node,
    what: &dyn Display,
    problems: &mut Problems<'_>,
) -> Option<&'a [Node]> {
    match &node.value {
        Value::List(items) => Some(items),
        other => {
            problems.report(node.origin, || {
                let error = wrong_kind(what, other, "a list");
                match other {
                    Value::Text(text) => error.hint(format!("write [\"{}\"]", shortened(text))),
                    _ => error.hint("write [ ... ]"),
                }
            });
            None
        }
    }
}

fn wrong_kind(what: &dyn Display, found: &Value, wanted: &str) -> Error {
    let error = Error::new(Code::BadValue, format!("{what} is {}, not {wanted}", found.kind()));
    match (found, wanted) {
        (Value::Truth(_), "a number") => error.hint("write 1 for true, 0 for false"),
        (_, "a number") => error.hint("write one number, such as 2.5 or 1e-3, without brackets"),
        _ => error,
    }
}
