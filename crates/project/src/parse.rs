//! From text to a document, with everything that is not valid TOML reported.

use costep_core::{Code, Error};
use toml::de::{DeTable, DeValue};

use crate::document::{self, Node, Origin, Table, Value};
use crate::keys::{self, Kind};
use crate::problems::{Problems, shortened, with_point};

/// No key is longer. Longer ones would only cost time when they are compared with known ones.
pub(crate) const MAX_KEY: usize = 200;

/// The document, or nothing if so much is wrong with the text that further messages would only be
/// consequences.
pub(crate) fn document(text: &str, problems: &mut Problems<'_>) -> Option<Table> {
    let (parsed, errors) = DeTable::parse_recoverable(text);
    // A table given twice makes one of two: neither its keys nor what refers to it can be judged.
    let mixed_tables = errors.iter().any(|error| is_duplicate(error) && is_header(text, error));
    let harmless = !mixed_tables && errors.iter().all(|error| is_duplicate(error) || is_unquoted(error));
    let worth_saying = |error: &&_| {
        let is_consequence =
            is_duplicate(error) && (!is_header(text, error) || is_double_header(text, error));
        !(mixed_tables && is_consequence) || doubled(text, error).is_some()
    };
    let mut root = document::table(parsed.get_ref(), &Origin::File);
    // A text of another kind has something wrong in every line; one is enough to tell so.
    let is_project = root.entries.iter().any(|entry| keys::has(keys::ROOT, &entry.key));
    if errors.len() > 2 && !is_project {
        let offset = errors[0].span().map_or(0, |span| span.start);
        problems.report_syntax(offset, || not_a_project(text, &errors[0]));
        return None;
    }
    let mut said: Vec<String> = Vec::new();
    // What would be a consequence of nothing is the mistake itself.
    let is_first = |index: usize| index == 0 && !errors.iter().any(|error| worth_saying(&error));
    let worth = errors.iter().enumerate().filter(|(index, error)| worth_saying(error) || is_first(*index));
    for (_, error) in worth {
        let offset = error.span().map_or(0, |span| span.start);
        if let Some((list, offset)) = doubled(text, error) {
            // It is the same mistake in all of them.
            if !said.contains(&list) {
                problems.report_syntax(offset, || single_brackets(&list));
                said.push(list);
            }
            continue;
        }
        problems.report_syntax(offset, || in_our_words(text, error));
    }
    drop_long_keys(&mut root, problems);
    flatten_names(&mut root);
    harmless.then_some(root)
}

/// The value of an override: as in a project file if possible, else the text itself.
pub(crate) fn value(text: &str, origin: Origin) -> Node {
    match DeValue::parse(text) {
        Ok(parsed) => document::node(&parsed, &|_| origin),
        Err(_) => Node { value: Value::Text(text.into()), origin },
    }
}

/// The parser goes on after these with what was meant.
fn is_duplicate(error: &toml::de::Error) -> bool {
    error.message().starts_with("duplicate key")
}

/// Whether the error is in a line such as `[native.a]`.
fn is_header(text: &str, error: &toml::de::Error) -> bool {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    before.rsplit('\n').next().is_some_and(|start| start.trim_start().starts_with('['))
}

/// Whether it is in one such as `[[connect]]`, which is right: something before it is not.
fn is_double_header(text: &str, error: &toml::de::Error) -> bool {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    before.rsplit('\n').next().is_some_and(|start| start.trim_start().starts_with("[["))
}

/// The list whose items are written in single brackets, `connect` for `[connect]` given twice, and where one is.
fn doubled(text: &str, error: &toml::de::Error) -> Option<(String, usize)> {
    let span = error.span()?;
    let name = text.get(span.clone())?;
    let is_list = keys::ROOT.iter().any(|key| key.name == name && matches!(key.kind, Kind::List(_)));
    if !(is_duplicate(error) && is_header(text, error) && is_list) {
        return None;
    }
    let at = if is_double_header(text, error) { single_header(text, name)? } else { span.start };
    Some((name.to_owned(), at))
}

/// Where a line such as `[connect]` is.
fn single_header(text: &str, name: &str) -> Option<usize> {
    let header = format!("[{name}]");
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if line.split('#').next().is_some_and(|line| line.trim() == header) {
            return Some(offset + line.len() - line.trim_start().len() + 1);
        }
        offset += line.len();
    }
    None
}

/// What stands behind `=` in the line of an error.
fn value_of_line<'a>(text: &'a str, error: &toml::de::Error) -> Option<&'a str> {
    let at = error.span()?.start;
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..)?.lines().next()?;
    Some(line.split_once('=')?.1.split('#').next()?.trim())
}

/// `0.1` of a line `stop = 0,1`, in quotes if a unit follows.
fn comma_corrected(text: &str, error: &toml::de::Error) -> Option<String> {
    let corrected = with_point(value_of_line(text, error)?)?;
    Some(if corrected.parse::<f64>().is_ok() { corrected } else { format!("\"{corrected}\"") })
}

/// The quote that ends a text which begins in the line of the error and is not closed there.
fn missing_quote(error: &toml::de::Error) -> Option<char> {
    match error.message() {
        "invalid basic string, expected `\"`" => Some('"'),
        "invalid literal string, expected `'`" => Some('\''),
        _ => None,
    }
}

/// `5 ms` of a line `size = 5 ms`, if that is what is wrong with it.
fn unquoted_quantity<'a>(text: &'a str, error: &toml::de::Error) -> Option<&'a str> {
    let value = value_of_line(text, error)?;
    let digits = value.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-' | '_'))?;
    let unit = value[digits..].trim_start();
    let is_quantity = digits > 0 && unit.starts_with(|c: char| c.is_alphabetic() || c == '%');
    (is_quantity && !unit.contains(['"', '\'', ',', ']', '}']) && value.parse::<f64>().is_err())
        .then_some(value)
}

fn single_brackets(list: &str) -> Error {
    Error::new(
        Code::Syntax,
        format!("`[{list}]` in single brackets is one table, and there are more of them"),
    )
    .hint(format!("write `[[{list}]]`, in double brackets, before each of them"))
}

fn not_a_project(text: &str, first: &toml::de::Error) -> Error {
    let error = in_our_words(text, first);
    Error::new(Code::NotAProject, "this is not a project file: its lines are not valid TOML")
        .because(error.details().cause.clone().unwrap_or_else(|| error.details().message.clone()))
}

fn is_unquoted(error: &toml::de::Error) -> bool {
    error.message().starts_with("string values must be quoted")
}

fn in_our_words(text: &str, error: &toml::de::Error) -> Error {
    let found = error.span().and_then(|span| text.get(span)).map(shortened).unwrap_or_default();
    if is_duplicate(error) {
        return Error::new(Code::Duplicate, format!("`{found}` is given twice in the same table"))
            .hint("keep one of them; the name of a part or group may be used once");
    }
    if is_unquoted(error) {
        let error = Error::new(Code::Syntax, "a value is not valid TOML");
        return match found.is_empty() {
            true => error.hint("write a value after `=`"),
            false => error.hint(format!("strings need quotes: \"{found}\"")),
        };
    }
    if let Some(value) = unquoted_quantity(text, error) {
        return Error::new(Code::Syntax, format!("`{}` is not valid TOML", shortened(value)))
            .because("a number with a unit is text")
            .hint(format!("strings need quotes: \"{}\"", shortened(value)));
    }
    if let Some(corrected) = comma_corrected(text, error) {
        return Error::new(Code::Syntax, "a number has a decimal comma")
            .hint(format!("write a decimal point: {}", shortened(&corrected)));
    }
    if let Some(quote) = missing_quote(error) {
        return Error::new(Code::Syntax, "a text in quotes is not closed in its line")
            .hint(format!("close the text with `{quote}`"));
    }
    let hint = if error.message().contains("escape") {
        "`\\` begins an escape in \"...\": write paths with `/`, or in single quotes: 'C:\\parts\\plant.fmu'"
    } else if error.message().starts_with("unclosed table") {
        "names with blanks or other signs need quotes: [fmu.\"my pump\"]"
    } else {
        "a line is `key = value`, `[table]` or `[[item of a list]]`"
    };
    Error::new(Code::Syntax, "the file is not valid TOML").because(error.message()).hint(hint)
}

fn drop_long_keys(table: &mut Table, problems: &mut Problems<'_>) {
    table.entries.retain(|entry| {
        let fits = entry.key.chars().count() <= MAX_KEY;
        if !fits {
            problems.report(entry.key_origin, || {
                Error::new(Code::UnknownKey, format!("unknown key `{}`", shortened(&entry.key)))
                    .hint(format!("keys have at most {MAX_KEY} letters"))
            });
        }
        fits
    });
    table.entries.iter_mut().for_each(|entry| drop_long_keys_below(&mut entry.node, problems));
}

fn drop_long_keys_below(node: &mut Node, problems: &mut Problems<'_>) {
    match &mut node.value {
        Value::Table(table) => drop_long_keys(table, problems),
        Value::List(items) => items.iter_mut().for_each(|item| drop_long_keys_below(item, problems)),
        _ => {}
    }
}

/// Names of signals and parameters are keys with dots, with or without quotes.
fn flatten_names(root: &mut Table) {
    if let Some(bounds) = root.table_mut("guard").and_then(|guard| guard.table_mut("bounds")) {
        bounds.flatten();
    }
    if let Some(ports) = root.table_mut("port") {
        ports.join_tables();
    }
    for kind in ["native", "fmu"] {
        for part in root.table_mut(kind).into_iter().flat_map(|parts| &mut parts.entries) {
            if let Value::Table(part) = &mut part.node.value
                && let Some(set) = part.table_mut("set")
            {
                set.flatten();
            }
        }
    }
}
