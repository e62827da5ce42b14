//! Export to other formats, batch by batch. The target appears whole or not at all.

mod csv;
mod feather;
pub(crate) mod parquet;

use std::fs::{self, File};
use std::io;
use std::path::Path;

use costep_core::{Code, Error, Result};

use crate::replace::write_whole;
use crate::select::selected;
use crate::stream::{BatchStream, Ending};

/// What an export did.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// Rows written.
    pub rows: u64,
    /// Whether the recording was finished; if not, its rows up to the cut were exported.
    pub complete: bool,
    /// What is wrong with the recording behind the last row exported, if it is more than a missing end.
    pub damage: Option<Error>,
}

/// Writes a recording as CSV: a header with the names, then one line per row, each number with as few digits as
/// give the same bits when read again. `select` lists names and patterns such as `engine.*`; nothing means all.
pub fn export_csv(source: &Path, target: &Path, select: &[String]) -> Result<Exported> {
    export(source, target, select, csv::write)
}

/// Writes a recording as Parquet, with units and run metadata. `select` is as for [`export_csv`].
pub fn export_parquet(source: &Path, target: &Path, select: &[String]) -> Result<Exported> {
    export(source, target, select, parquet::write)
}

/// Writes a recording as Feather (version 2, the file format of Arrow), with units and run metadata. `select` is as for
/// [`export_csv`].
pub fn export_feather(source: &Path, target: &Path, select: &[String]) -> Result<Exported> {
    export(source, target, select, feather::write)
}

/// Writes a file that appears whole or not at all.
pub fn write_file(target: &Path, content: &[u8]) -> Result<()> {
    use std::io::Write;
    write_whole(target, |mut file: &File| file.write_all(content))
        .map_err(|cause| not_writable(target, cause))
}

/// What stopped an export: something that already has its message, or the target.
pub(crate) enum Failure {
    Source(Error),
    Target(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Source(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Target(error.to_string())
    }
}

fn export(
    source: &Path,
    target: &Path,
    select: &[String],
    write: impl FnOnce(&mut BatchStream, &[usize], &File) -> Result<(), Failure>,
) -> Result<Exported> {
    let mut stream = BatchStream::open(source)?;
    let indices = selected(&stream.header().columns, select).map_err(|error| error.in_file(source))?;
    refuse_same_file(source, target)?;
    write_whole(target, |file| write(&mut stream, &indices, file)).map_err(|failure| match failure {
        Failure::Source(error) => error,
        Failure::Target(cause) => not_writable(target, cause),
    })?;
    let ending = stream.ending();
    Ok(Exported {
        rows: stream.rows(),
        complete: ending == Ending::Complete,
        damage: match ending {
            Ending::Damaged(error) => Some(error),
            Ending::Complete | Ending::Cut => None,
        },
    })
}

/// An export onto its own source would destroy the recording.
fn refuse_same_file(source: &Path, target: &Path) -> Result<()> {
    match (fs::canonicalize(source), fs::canonicalize(target)) {
        (Ok(source), Ok(target)) if source == target => {
            Err(not_writable(&target, "it is the recording itself")
                .hint("choose another name for the export"))
        }
        _ => Ok(()),
    }
}

pub(crate) fn not_writable(target: &Path, cause: impl std::fmt::Display) -> Error {
    let error = Error::new(Code::FileNotReadable, format!("cannot write `{}`", target.display()))
        .in_file(target)
        .because(cause);
    match target.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        Some(folder) => error.hint(format!(
            "there is no folder `{0}`: make it first, `mkdir -p {0}`, or name another one",
            folder.display()
        )),
        None => error,
    }
}
