//! What is wrong with a system structure, or not kept of it. Nothing is ignored without a note.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use costep_core::{Code, Error, Place};

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something has no effect here, and none on the result.
    Remark,
    /// The standard is not followed, but what is meant is clear.
    Warning,
    /// The system cannot be simulated as it is meant.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Remark => "remark",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How much it matters.
    pub severity: Severity,
    /// The stable code.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// The element concerned, as a path of names: `rig/drive/engine`.
    pub element: String,
    /// The file, a path into the package: `rig.ssp/SystemStructure.ssd`.
    pub file: Arc<str>,
    /// Line of the file, counted from 1.
    pub line: Option<u32>,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

/// What to do about two sources of an input.
const ONE_SOURCE: &str = "remove one of the two in this file: an input has one source; the sum of two \
                          comes from an FMU, or in OSP a `<Sum>` among its functions";

impl Note {
    /// About an element in a line of a file; line 0 is none.
    pub fn new(
        (severity, code): (Severity, Code),
        message: String,
        (element, file, line): (String, Arc<str>, u32),
    ) -> Self {
        Self { severity, code, message, element, file, line: (line > 0).then_some(line), hint: None }
    }

    /// The code by which it is shown: warnings and remarks have codes of their own, whatever they are about.
    pub fn shown_code(&self) -> Code {
        match self.severity {
            Severity::Error => self.code,
            Severity::Warning => Code::SspWarning,
            Severity::Remark => Code::SspRemarks,
        }
    }

    /// The same as an error.
    pub fn to_error(&self) -> Error {
        let error = Error::new(self.shown_code(), self.message.clone()).at(Place::File {
            path: PathBuf::from(&*self.file),
            line: self.line.map(|line| line as usize),
            text: None,
        });
        // What project files say of units is no help here.
        let error = match self.shown_code() {
            Code::UnitMismatch => {
                error.hint("give the value in a unit of the same quantity, or correct the unit")
            }
            // Nor what they say of sums.
            Code::DoubleSource => error.hint(ONE_SOURCE),
            _ => error,
        };
        let error = self.hint.iter().fold(error, |error, hint| error.hint(hint));
        if self.element.is_empty() { error } else { error.because(format!("in `{}`", self.element)) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {} ({}", self.severity, self.shown_code().entry().id, self.message, self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.element.is_empty() {
            write!(f, ", in {}", self.element)?;
        }
        f.write_str(")")?;
        self.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

/// A list of notes that does not grow without bound.
#[derive(Debug, Default)]
pub struct Notes {
    notes: Vec<Note>,
    counts: [usize; 3],
}

impl Notes {
    /// So many of each severity are kept; of the others only the number.
    const KEPT: usize = 300;

    /// Adds a note, unless there are too many of its severity.
    pub fn push(&mut self, note: Note) {
        let count = &mut self.counts[note.severity as usize];
        *count += 1;
        if *count <= Self::KEPT {
            self.notes.push(note);
        }
    }

    /// All notes, the important ones first; `file` is that of a note about those that are not kept.
    pub fn into_list(self, file: &Arc<str>) -> Vec<Note> {
        let mut notes = self.notes;
        notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
        for severity in [Severity::Error, Severity::Warning, Severity::Remark] {
            let more = self.counts[severity as usize].saturating_sub(Self::KEPT);
            if more > 0 {
                let message = format!("{more} more notes of this kind are not listed");
                let (element, file) = (String::new(), file.clone());
                notes.push(Note {
                    severity,
                    code: Code::SspSchema,
                    message,
                    element,
                    file,
                    line: None,
                    hint: None,
                });
            }
        }
        notes
    }
}
