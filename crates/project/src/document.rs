//! The parsed project file: plain values, each with the place it came from.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file, at this byte.
    File(usize),
    /// This override.
    Flag(usize),
    /// This place of a draft.
    Draft(usize),
    /// Nobody wrote it.
    Nowhere,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// A value of a project file.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Real(f64),
    Truth(bool),
    Date,
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// What it is, for people.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Integer(_) | Self::Real(_) => "a number",
            Self::Truth(_) => "true or false",
            Self::Date => "a date or time of day",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_origin: Origin,
    pub(crate) node: Node,
}

/// Keys and values, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

impl Table {
    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value of a key, to be changed.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
    }

    /// The table of a key, if it is one.
    pub(crate) fn table(&self, key: &str) -> Option<&Table> {
        match self.get(key).map(|node| &node.value) {
            Some(Value::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// The table of a key, if it is one, to be changed.
    pub(crate) fn table_mut(&mut self, key: &str) -> Option<&mut Table> {
        match self.get_mut(key).map(|node| &mut node.value) {
            Some(Value::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// The text of a key, if it is one.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key).map(|node| &node.value) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Puts a value in the place of an old one or at the end.
    pub(crate) fn set(&mut self, key: &str, node: Node) {
        let entry = Entry { key: key.into(), key_origin: node.origin, node };
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    /// The value of a key, which becomes an empty table if there is none.
    pub(crate) fn get_or_table(&mut self, key: &str, origin: Origin) -> &mut Node {
        let index = self.entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
            self.set(key, Node { value: Value::Table(Table::default()), origin });
            self.entries.len() - 1
        });
        &mut self.entries[index].node
    }

    /// Turns tables inside into dotted keys: `{ s2.F = 1 }` becomes `{ "s2.F" = 1 }`, which means the same to
    /// whoever writes names of signals or parameters without quotes.
    pub(crate) fn flatten(&mut self) {
        let mut flat = Vec::new();
        for entry in std::mem::take(&mut self.entries) {
            match entry.node.value {
                Value::Table(mut inner) => {
                    inner.flatten();
                    flat.extend(
                        inner
                            .entries
                            .into_iter()
                            .map(|inner| Entry { key: format!("{}.{}", entry.key, inner.key), ..inner }),
                    );
                }
                _ => flat.push(entry),
            }
        }
        self.entries = flat;
    }

    /// Gives tables inside of tables dotted keys: `[port.s2.F]` becomes `[port."s2.F"]`. Tables with values stay.
    pub(crate) fn join_tables(&mut self) {
        let is_table = |entry: &Entry| matches!(entry.node.value, Value::Table(_));
        let mut joined = Vec::new();
        for mut entry in std::mem::take(&mut self.entries) {
            match &mut entry.node.value {
                Value::Table(inner) if !inner.entries.is_empty() && inner.entries.iter().all(is_table) => {
                    inner.join_tables();
                    let deeper = std::mem::take(&mut inner.entries).into_iter();
                    joined.extend(
                        deeper.map(|inner| Entry { key: format!("{}.{}", entry.key, inner.key), ..inner }),
                    );
                }
                _ => joined.push(entry),
            }
        }
        self.entries = joined;
    }
}

/// The table with places given by `origin` from byte offsets.
pub(crate) fn table(parsed: &DeTable<'_>, origin: &dyn Fn(usize) -> Origin) -> Table {
    let mut entries: Vec<_> =
        parsed.iter().map(|(key, value)| (key.span().start, key.get_ref(), value)).collect();
    entries.sort_by_key(|(start, ..)| *start);
    let entry = |(start, key, value): (usize, &std::borrow::Cow<'_, str>, &_)| Entry {
        key: key.to_string(),
        key_origin: origin(start),
        node: node(value, origin),
    };
    Table { entries: entries.into_iter().map(entry).collect() }
}

/// The value with places given by `origin` from byte offsets.
pub(crate) fn node(parsed: &Spanned<DeValue<'_>>, origin: &dyn Fn(usize) -> Origin) -> Node {
    let value = match parsed.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => number(integer),
        // What cannot be read becomes NaN, which every reader of numbers refuses.
        DeValue::Float(real) => Value::Real(real.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(truth) => Value::Truth(*truth),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(items.iter().map(|item| node(item, origin)).collect()),
        DeValue::Table(inner) => Value::Table(table(inner, origin)),
    };
    Node { value, origin: origin(parsed.span().start) }
}

/// Integers beyond 64 bits are still numbers.
fn number(integer: &DeInteger<'_>) -> Value {
    i64::from_str_radix(integer.as_str(), integer.radix())
        .map(Value::Integer)
        .unwrap_or_else(|_| Value::Real(integer.as_str().parse().unwrap_or(f64::NAN)))
}
