//! What is wrong with a model description that can still be read.

use std::fmt;
use std::path::Path;

use costep_core::{Code, Error, Place};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The standard is not followed, but what is meant is clear. The FMU can be used.
    Warning,
    /// Something is ambiguous or missing that an importer relies on. The FMU should not be used.
    Error,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The stable code, `E0120` and following.
    pub code: Code,
    /// One sentence that names the variable or element concerned.
    pub message: String,
    /// Line of modelDescription.xml, counted from 1.
    pub line: Option<u32>,
}

/// How findings end that name the library that is used in the place of another.
pub(crate) const IS_USED: &str = " is used";

/// How findings begin about outputs and states that a model description leaves out where it lists what is computed at the start.
pub(crate) const UNLISTED: &str = "not listed among the initial unknowns";

impl Finding {
    /// Whether it is about what only other tools read: costep asks for all values at the start, whatever is listed. What
    /// PythonFMU makes has none of these lists.
    pub fn concerns_others(&self) -> bool {
        self.code == Code::FmuStructure && self.message.starts_with(UNLISTED)
    }

    /// Whether another library is run than the one that the model description names.
    pub fn names_other_library(&self) -> bool {
        self.code == Code::FmuFiles && self.message.ends_with(IS_USED)
    }

    /// The same as an error, for those who refuse the FMU because of it.
    pub fn into_error(self, fmu: &Path) -> Error {
        Error::new(self.code, self.message).at(Place::File {
            path: fmu.join("modelDescription.xml"),
            line: self.line.map(|line| line as usize),
            text: None,
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}[{}]: {}", self.code.entry().id, self.message)?;
        match self.line {
            Some(line) => write!(f, " (line {line})"),
            None => Ok(()),
        }
    }
}

/// A list of findings that does not grow without bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    findings: Vec<Finding>,
    more: [usize; 2],
}

impl Report {
    /// So many of each severity are kept; of the others only the number.
    const KEPT: usize = 500;

    pub(crate) fn error(&mut self, code: Code, line: u32, message: impl Into<String>) {
        self.push(Severity::Error, code, line, message.into());
    }

    pub(crate) fn warning(&mut self, code: Code, line: u32, message: impl Into<String>) {
        self.push(Severity::Warning, code, line, message.into());
    }

    /// A warning whose text is made only if it is kept, for what may come very often.
    pub(crate) fn warning_by(&mut self, code: Code, line: u32, message: impl FnOnce() -> String) {
        let kept = self.more[Severity::Warning as usize] < Self::KEPT;
        self.push(Severity::Warning, code, line, if kept { message() } else { String::new() });
    }

    /// Adds a finding; line 0 stands for an unknown one.
    fn push(&mut self, severity: Severity, code: Code, line: u32, message: String) {
        let number = &mut self.more[severity as usize];
        *number += 1;
        if *number <= Self::KEPT {
            let line = (line > 0).then_some(line);
            self.findings.push(Finding { severity, code, message, line });
        }
    }

    /// All findings, errors first, each kind by line.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let mut findings = self.findings;
        findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.line));
        for (severity, number) in [(Severity::Error, self.more[1]), (Severity::Warning, self.more[0])] {
            if number > Self::KEPT {
                let message = format!("{} more of this kind are not listed", number - Self::KEPT);
                findings.push(Finding { severity, code: Code::FmuSchema, message, line: None });
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_bounded_and_puts_errors_first() {
        let mut report = Report::default();
        for line in (1..2000).rev() {
            report.warning(Code::FmuUnit, line, "unit");
        }
        report.error(Code::FmuDuplicate, 7, "name");
        let findings = report.into_findings();
        assert_eq!(findings.len(), Report::KEPT + 2);
        assert_eq!(findings[0].to_string(), "error[E0120]: name (line 7)");
        assert_eq!(findings.last().unwrap().message, "1499 more of this kind are not listed");
    }
}
