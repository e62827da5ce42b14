//! From text to a document, with everything that is not valid TOML reported.

use costep_core::quantity::{parse_time, split_quantity, with_point};
use costep_core::{Code, Error};
use toml::de::{DeTable, DeValue};

use crate::document::{self, Node, Origin, Table, Value};
use crate::keys::{self, Kind};
use crate::problems::{Problems, shortened};

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
        problems.report_syntax(offset(&errors[0]), || not_a_project(text, &errors[0]));
        return None;
    }
    // It is the same mistake in all of them, and everything else a consequence.
    let mut typographic = errors.iter().filter_map(|error| Some((error, with_straight_quotes(text, error)?)));
    if let Some((error, line)) = typographic.next() {
        let more = typographic.filter(|(_, other)| *other != line).count();
        problems.report_syntax(offset(error), || typographic_quotes(&line, more));
        return None;
    }
    // What stands behind a bracket that is not closed is read as a part of the value.
    let open = open_bracket(text).filter(|(at, _)| errors.iter().any(|error| offset(error) >= *at));
    let mut said: Vec<String> = Vec::new();
    // What would be a consequence of nothing is the mistake itself.
    let is_first = |index: usize| index == 0 && !errors.iter().any(|error| worth_saying(&error));
    let worth = errors.iter().enumerate().filter(|(index, error)| worth_saying(error) || is_first(*index));
    for (_, error) in worth.filter(|(_, error)| open.is_none_or(|(at, _)| offset(error) < at)) {
        if let Some((list, offset)) = doubled(text, error) {
            // It is the same mistake in all of them.
            if !said.contains(&list) {
                problems.report_syntax(offset, || single_brackets(&list));
                said.push(list);
            }
            continue;
        }
        problems.report_syntax(offset(error), || in_our_words(text, error));
    }
    if let Some((at, bracket)) = open {
        problems.report_syntax(at, || not_closed(bracket));
    }
    drop_long_keys(&mut root, problems);
    flatten_names(&mut root);
    harmless.then_some(root)
}

fn offset(error: &toml::de::Error) -> usize {
    error.span().map_or(0, |span| span.start)
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
    line_of(text, error).trim_start().starts_with('[')
}

/// Whether it is in one such as `[[connect]]`, which is right: something before it is not.
fn is_double_header(text: &str, error: &toml::de::Error) -> bool {
    line_of(text, error).trim_start().starts_with("[[")
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

/// The line of an error.
fn line_of<'a>(text: &'a str, error: &toml::de::Error) -> &'a str {
    let start = text.get(..offset(error)).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default()
}

/// Where the first bracket of a value is that is still open as the next table begins, or the text ends.
fn open_bracket(text: &str) -> Option<(usize, char)> {
    let (mut open, mut begin) = (Vec::new(), 0);
    if text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    for line in text.split_inclusive('\n') {
        if is_header_line(line) {
            if !open.is_empty() {
                break;
            }
        } else {
            note_brackets(line, begin, &mut open);
        }
        begin += line.len();
    }
    open.first().copied()
}

/// Whether a line begins a table: names without quotes are no items of lists.
fn is_header_line(line: &str) -> bool {
    let name = line.trim_start().trim_start_matches('[');
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '"' | ' ');
    name.len() < line.trim_start().len()
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.split([']', '#']).next().is_some_and(|name| name.trim_end().chars().all(is_name))
}

/// Brackets that a line opens and closes, but for those in quotes and comments.
fn note_brackets(line: &str, begin: usize, open: &mut Vec<(usize, char)>) {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(end), _) if c == end && !escaped => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') => return,
            (None, '{' | '[') => open.push((begin + at, c)),
            (None, '}' | ']') => _ = open.pop(),
            _ => {}
        }
        escaped = false;
    }
}

fn not_closed(bracket: char) -> Error {
    let end = if bracket == '{' { '}' } else { ']' };
    Error::new(Code::Syntax, format!("`{bracket}` is not closed"))
        .because("what follows is read as a part of this value")
        .hint(format!("write `{end}` where the value ends"))
}

/// The same without blanks and comment.
fn content_of<'a>(text: &'a str, error: &toml::de::Error) -> &'a str {
    line_of(text, error).split('#').next().unwrap_or_default().trim()
}

/// The line of an error if it begins a table, as one before it does, whose number is given.
fn first_header<'a>(text: &'a str, error: &toml::de::Error) -> Option<(&'a str, usize)> {
    let header = content_of(text, error);
    let line = text.get(..offset(error))?.matches('\n').count();
    let same = |line: &str| line.split('#').next().is_some_and(|line| line.trim() == header);
    let first = text.lines().take(line).position(same)?;
    header.starts_with('[').then_some((header, first + 1))
}

/// What stands behind `=` in the line of an error.
fn value_of_line<'a>(text: &'a str, error: &toml::de::Error) -> Option<&'a str> {
    Some(content_of(text, error).split_once('=')?.1.trim())
}

/// `0.1` of a line `stop = 0,1`, in quotes if a unit follows.
fn comma_corrected(text: &str, error: &toml::de::Error) -> Option<String> {
    // In `{ m1 = 20,5 }` what follows the comma is taken for the next key.
    let values = content_of(text, error).split('=').skip(1);
    let corrected = values.map(|value| first_item(value).trim_end_matches('}')).find_map(with_point)?;
    let corrected = corrected.trim();
    Some(match corrected.parse::<f64>() {
        Ok(_) => corrected.to_owned(),
        Err(_) => format!("\"{corrected}\""),
    })
}

/// `20,5` of a value before another key, `20,5, c1`.
fn first_item(value: &str) -> &str {
    let begins_key = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_alphabetic() || c == '"');
    let ends = value.match_indices(',').map(|(end, _)| end).find(|end| begins_key(&value[end + 1..]));
    value[..ends.unwrap_or(value.len())].trim()
}

/// What to do about a number with a unit: times are text, other numbers have none.
fn without_unit(text: &str, error: &toml::de::Error, quantity: &str) -> Option<String> {
    let (number, unit) = split_quantity(quantity)?;
    let is_value = content_of(text, error).starts_with("set");
    (is_value || parse_time(quantity).is_err()).then(|| {
        let unit = shortened(unit);
        format!("numbers are written without a unit: {number}, converted if `{unit}` is not the unit of what it is for")
    })
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

/// What to write in a line as other languages have it.
fn slip_of_line(line: &str) -> Option<&'static str> {
    let value = line.split_once('=')?.1.trim();
    let values = || value.split(['=', ',', '{', '}', '[', ']', ' ']).map(str::trim);
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) || word.starts_with('.');
    let lacks_digits =
        |word: &str| is_number(word) && (word.starts_with('.') || word.contains(".e") || word.ends_with('.'));
    Some(match value {
        _ if values().any(lacks_digits) => "a decimal point has digits before and behind it: 0.5, 1.0e5",
        _ if value.starts_with('[') && value.contains('=') => {
            "keys with values stand in braces: { a = 1, b = 2 }"
        }
        _ if value.contains(',') && value.contains('=') => "each key has a line of its own",
        _ => return None,
    })
}

/// Quotes that word processors and web pages make of straight ones.
const TYPOGRAPHIC_QUOTES: [char; 11] = ['“', '”', '„', '‟', '«', '»', '‘', '’', '‚', '‹', '›'];

/// The line of an error with straight quotes in the place of typographic ones.
fn with_straight_quotes(text: &str, error: &toml::de::Error) -> Option<String> {
    let line = content_of(text, error);
    line.contains(TYPOGRAPHIC_QUOTES).then(|| line.replace(TYPOGRAPHIC_QUOTES, "\""))
}

fn typographic_quotes(line: &str, more: usize) -> Error {
    let others = match more {
        0 => String::new(),
        1 => ", and in 1 more line".to_owned(),
        more => format!(", and in {more} more lines"),
    };
    Error::new(Code::Syntax, "these quotes are typographic ones, as word processors and web pages make them")
        .hint(format!("write straight quotes: {}{others}", shortened(line)))
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
    if let Some(header) = keys::named(&found).filter(|_| is_duplicate(error) && is_double_header(text, error))
    {
        return Error::new(Code::Duplicate, format!("`[[{found}]]` in double brackets is a list"))
            .hint(format!("each has a table of its own name: write `{header}`"));
    }
    if let Some((header, first)) = first_header(text, error).filter(|_| is_duplicate(error)) {
        return Error::new(Code::Duplicate, format!("`{header}` is given twice, first in line {first}"))
            .hint("put all keys into one of them, or give this one another name");
    }
    if is_duplicate(error) {
        return Error::new(Code::Duplicate, format!("`{found}` is given twice in the same table"))
            .hint("keep one of them; the name of a part or group may be used once");
    }
    if is_unquoted(error) {
        return Error::new(Code::Syntax, "a value is not valid TOML").hint(match found.is_empty() {
            _ if found.contains(" //") => "comments begin with `#`".into(),
            true => "write a value after `=`".into(),
            false => without_unit(text, error, &found)
                .unwrap_or_else(|| format!("strings need quotes: \"{found}\"")),
        });
    }
    if let Some(value) = unquoted_quantity(text, error) {
        let said = Error::new(Code::Syntax, format!("`{}` is not valid TOML", shortened(value)));
        return match without_unit(text, error, value) {
            Some(hint) => said.hint(hint),
            None => said
                .because("a number with a unit is text")
                .hint(format!("strings need quotes: \"{}\"", shortened(value))),
        };
    }
    if let Some(corrected) = comma_corrected(text, error) {
        return Error::new(Code::Syntax, "a number has a decimal comma")
            .hint(format!("write a decimal point: {}", shortened(&corrected)));
    }
    if let Some(quote) = missing_quote(error) {
        return Error::new(Code::Syntax, "a text in quotes is not closed in its line")
            .hint(format!("close the text with `{quote}`"));
    }
    Error::new(Code::Syntax, "the file is not valid TOML")
        .because(error.message())
        .hint(syntax_hint(text, error))
}

/// What to write in the place of what is no TOML.
fn syntax_hint(text: &str, error: &toml::de::Error) -> String {
    let (message, line) = (error.message(), line_of(text, error).trim());
    let rest = text.get(offset(error)..).unwrap_or_default();
    let has_colon = line.split(['=', '#']).next().is_some_and(|key| key.contains(':'));
    if message.contains("escape") {
        return "`\\` begins an escape in \"...\": write paths with `/`, from the folder of the project: \"parts/plant.fmu\"".into();
    }
    if line.starts_with('[') && (message.starts_with("unclosed") || message.contains("unquoted key")) {
        return header_hint(line);
    }
    if message.starts_with("invalid boolean") {
        return "write `true` or `false`, in small letters".into();
    }
    if message.starts_with("key with no value") {
        let (key, value) = line.split_once([':', ' ']).unwrap_or((line, ""));
        let written = format!("{} = {}", key.trim(), value.trim_matches([' ', ':', '=']));
        return format!("a line is `key = value`: write `{}`", shortened(written.trim_end()));
    }
    if line.contains('{') && message.contains("key-value pairs") && has_colon_key(line) {
        return "write `=` in the place of `:`, as in { key = value, other = 2 }".into();
    }
    if message.contains("between key-value pairs") {
        return "separate them by commas: { key = value, other = 2 }".into();
    }
    match rest.chars().next() {
        Some('/') if rest.starts_with("//") => {
            "comments begin with `#`: write it in the place of `//`".into()
        }
        Some(sign @ (',' | ';')) if message.contains("expected newline") && is_last(rest) => {
            format!("nothing stands between lines: remove the `{sign}` at the end of this one")
        }
        _ if message.starts_with("extra `=`") => "a line is `key = value`: one `=` is enough".into(),
        _ if has_colon => "a line is `key = value`: write `=` in the place of `:`".into(),
        _ => {
            let slip = slip_of_line(content_of(text, error));
            slip.unwrap_or("a line is `key = value`, `[table]` or `[[item of a list]]`").into()
        }
    }
}

/// Whether nothing but a comment follows the first sign in its line.
fn is_last(rest: &str) -> bool {
    let behind = rest.lines().next().and_then(|line| line.get(1..)).unwrap_or_default().trim();
    behind.is_empty() || behind.starts_with('#')
}

/// Whether the first key in braces is followed by a colon.
fn has_colon_key(line: &str) -> bool {
    let keys = line.split_once('{').map_or("", |(_, inner)| inner);
    keys.split(['=', '"', '\'']).next().is_some_and(|key| key.contains(':'))
}

/// How a line that begins a table is written.
fn header_hint(line: &str) -> String {
    let name = line.split('#').next().unwrap_or_default().trim_matches(['[', ']', ' ']);
    let end = if line.starts_with("[[") { "]]" } else { "]" };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '"');
    match name.split_once('.') {
        _ if name.chars().all(is_plain) => {
            format!("close it: `{}{}{end}`", &"[["[..end.len()], shortened(name))
        }
        Some((kind, name)) => format!(
            "names with blanks or other signs need quotes: [{}.\"{}\"]",
            shortened(kind),
            shortened(name.trim_matches('"'))
        ),
        None => "names with blanks or other signs need quotes: [fmu.\"my pump\"]".into(),
    }
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
