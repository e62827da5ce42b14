//! Collects all mistakes of a project, and gives each its place.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use costep_core::quantity::{one_word, rewrite_times};
use costep_core::{Code, Error, Place};

use crate::dialect::Dialect;
use crate::document::Origin;
use crate::overrides::Override;

/// Nobody reads more; a file that is not a project at all has one per line.
const MAX_ERRORS: usize = 100;

/// Names beyond this length are not compared with others: the comparison costs the product of the lengths.
const MAX_COMPARED: usize = 100;

/// Candidates beyond this number are not compared: a chain of a million parts has two million outputs.
const MAX_CANDIDATES: usize = 10_000;

/// The mistakes found so far.
pub(crate) struct Problems<'a> {
    file: Option<&'a Path>,
    text: &'a str,
    line_starts: Vec<usize>,
    overrides: &'a [Override],
    /// Places of a draft.
    places: Vec<Place>,
    /// What the file is.
    dialect: Dialect,
    /// With the byte offset by which they are sorted.
    errors: Vec<(usize, Error)>,
    left_out: usize,
    /// Lines that are not valid TOML: what else is wrong there is a consequence.
    broken_lines: HashSet<usize>,
    /// What is allowed but probably not meant.
    pub(crate) warnings: Vec<Error>,
    /// What is worth knowing before a run.
    pub(crate) advice: Vec<Error>,
}

impl<'a> Problems<'a> {
    pub(crate) fn new(file: Option<&'a Path>, text: &'a str, overrides: &'a [Override]) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(i, _)| i + 1);
        Self {
            file,
            text,
            line_starts: std::iter::once(0).chain(after_breaks).collect(),
            overrides,
            places: Vec::new(),
            dialect: Dialect::Project,
            errors: Vec::new(),
            left_out: 0,
            broken_lines: HashSet::new(),
            warnings: Vec::new(),
            advice: Vec::new(),
        }
    }

    /// With the places that values of a draft came from.
    pub(crate) fn with_places(self, places: Vec<Place>) -> Self {
        Self { places, ..self }
    }

    /// With hints in the words of another file than a project.
    pub(crate) fn in_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// What the file is, for hints in its words.
    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Adds a mistake made at `origin`. It is only put into words if it is among the first.
    pub(crate) fn report(&mut self, origin: Origin, error: impl FnOnce() -> Error) {
        if let Origin::File(offset) = origin
            && self.broken_lines.contains(&self.line_at(offset))
        {
            return;
        }
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        let position = match origin {
            Origin::File(offset) | Origin::Draft(offset) => offset,
            Origin::Flag(_) | Origin::Nowhere => usize::MAX,
        };
        let placed = self.placed(origin, error());
        self.errors.push((position, placed));
    }

    /// Adds something that is allowed but probably not meant.
    pub(crate) fn warn(&mut self, origin: Origin, warning: impl FnOnce() -> Error) {
        if self.warnings.len() < MAX_ERRORS {
            let placed = self.placed(origin, warning());
            self.warnings.push(placed);
        }
    }

    /// The same of what names its place itself.
    pub(crate) fn warn_unplaced(&mut self, warning: Error) {
        if self.warnings.len() < MAX_ERRORS {
            self.warnings.push(warning);
        }
    }

    /// The override with this number.
    pub(crate) fn given(&self, index: usize) -> Option<&'a Override> {
        self.overrides.get(index)
    }

    /// Adds something that is worth knowing before a run.
    pub(crate) fn advise(&mut self, origin: Origin, advice: impl FnOnce() -> Error) {
        if self.advice.len() < MAX_ERRORS {
            let placed = self.placed(origin, advice());
            self.advice.push(placed);
        }
    }

    /// Adds a line that is not valid TOML, once per line.
    pub(crate) fn report_syntax(&mut self, offset: usize, error: impl FnOnce() -> Error) {
        self.report(Origin::File(offset), error);
        let line = self.line_at(offset);
        self.broken_lines.insert(line);
    }

    /// Whether further mistakes are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    /// Whether nothing was wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The folder that names of files are relative to: that of the project file.
    pub(crate) fn folder(&self) -> PathBuf {
        self.file.and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default()
    }

    /// `line 12`, or the flag, for messages about two places.
    pub(crate) fn place_name(&self, origin: Origin) -> String {
        match origin {
            Origin::File(offset) => format!("line {}", self.line_at(offset)),
            Origin::Flag(index) => self.flag(index),
            Origin::Draft(index) => match self.places.get(index) {
                Some(Place::File { path, line: Some(line), .. }) => format!("{}:{line}", path.display()),
                Some(Place::File { path, .. }) => path.display().to_string(),
                _ => "another place".into(),
            },
            Origin::Nowhere => "the model".into(),
        }
    }

    /// All mistakes in the order of the file. There is at least one, since nobody asks otherwise.
    pub(crate) fn into_errors(self) -> Vec<Error> {
        self.into_errors_and_warnings().0
    }

    /// The same, and the warnings.
    pub(crate) fn into_errors_and_warnings(mut self) -> (Vec<Error>, Vec<Error>) {
        self.errors.sort_by_key(|(position, _)| *position);
        let mut errors: Vec<_> = self.errors.into_iter().map(|(_, error)| error).collect();
        if self.left_out > 0 {
            let message = format!("and {} more errors", self.left_out);
            errors.push(Error::new(Code::BadValue, message).hint("fix the first ones and check again"));
        }
        if errors.is_empty() {
            errors.push(Error::new(Code::Bug, "the project was refused without a reason"));
        }
        (errors, self.warnings)
    }

    /// An error with its place, or with the option that gave what it is about.
    pub(crate) fn placed(&self, origin: Origin, error: Error) -> Error {
        let error = self.in_its_spelling(origin, self.dialect.reword(error));
        match (origin, self.file) {
            (Origin::Flag(index), _) => {
                let given = format!("given by `{}`", self.flag(index));
                let cause = match &error.details().cause {
                    Some(cause) => format!("{cause}; {given}"),
                    None => given,
                };
                error.because(cause)
            }
            (Origin::File(offset), Some(path)) => {
                let line = self.line_at(offset);
                error.at(Place::File { path: path.into(), line: Some(line), text: self.line_text(line) })
            }
            (Origin::Draft(index), _) if index < self.places.len() => error.at(self.places[index].clone()),
            (_, Some(path)) => error.in_file(path),
            (_, None) => error,
        }
    }

    /// Times that the hint says to write, as they are written there: in quotes, or with their flag as one word.
    fn in_its_spelling(&self, origin: Origin, error: Error) -> Error {
        let Some(hint) = error.details().hint.clone().filter(|_| error.code() == Code::BadQuantity) else {
            return error;
        };
        let written = match origin {
            Origin::File(_) => rewrite_times(&hint, |time| format!("\"{time}\"")),
            Origin::Flag(index) => {
                let given = self.overrides.get(index);
                let flag = given.and_then(|given| given.flag.strip_suffix(given.value.as_str()));
                rewrite_times(&hint, |time| format!("{}{}", flag.unwrap_or_default(), one_word(time)))
            }
            Origin::Draft(_) | Origin::Nowhere => hint,
        };
        error.hint(written)
    }

    fn flag(&self, index: usize) -> String {
        self.overrides.get(index).map_or_else(String::new, |given| shortened(&given.flag))
    }

    fn line_at(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    fn line_text(&self, line: usize) -> Option<String> {
        let rest = self.text.get(*self.line_starts.get(line - 1)?..)?;
        rest.lines().next().map(shortened)
    }
}

/// Letters that are shown of a text or a list.
const MAX_SHOWN: usize = 120;

/// As many items of a list as fit on a line, whole, at least one; and how many are left.
pub(crate) fn first_of_list(items: impl ExactSizeIterator<Item = String>) -> (String, usize) {
    let (count, mut shown, mut text) = (items.len(), 0, String::new());
    for item in items {
        if shown > 0 && text.len() + item.len() > MAX_SHOWN {
            break;
        }
        text += if shown > 0 { ", " } else { "" };
        text += &item;
        shown += 1;
    }
    (text, count - shown)
}

/// A text that fits on a line.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}

/// Adds "did you mean", unless names or lists are so long that it would take too long.
pub(crate) fn suggest<'a>(error: Error, wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    if wrong.len() > MAX_COMPARED {
        return error;
    }
    error.suggest(wrong, known.into_iter().take(MAX_CANDIDATES))
}

/// The name that the hint of an error suggests.
pub(crate) fn suggested(error: &Error) -> Option<&str> {
    error.details().hint.as_deref()?.strip_prefix("did you mean `")?.strip_suffix("`?")
}
