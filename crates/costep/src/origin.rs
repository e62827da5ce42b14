//! The project file that a recorded run began with, and whether it still says the same.

use std::fs;
use std::path::{Component, Path, PathBuf};

use costep_core::quantity::format_time;
use costep_core::{Code, Error, Result};
use costep_project::{Changes, Override, Project, Source, file_mark};
use costep_results::read_metadata;
use serde::{Deserialize, Serialize};

use crate::folder::{PROJECT_COPY, RECORDING, RunFolder};
use crate::shell_word;
use crate::system::{System, default_folder};

/// The name under which a recording says where its project came from, for `costep resume`.
pub const ORIGIN: &str = "origin";

/// Where the project of a run came from.
#[derive(Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The file, as it is reached from the folder of the run: both may have been moved together.
    file: PathBuf,
    /// Size and checksum of the file.
    mark: (u64, u32),
    /// What was changed on the way, with the flags of a command line.
    overridden: Vec<(String, String, String)>,
    /// What became of it.
    project: String,
}

impl Origin {
    /// That of a project which was read from a file; nothing where there is none, or it is the copy in the folder of the run.
    pub(crate) fn of(project: &Project, folder: &RunFolder) -> Option<Self> {
        let Source::File(source) = &project.source else { return None };
        let file = fs::canonicalize(folder.meant(source)).ok()?;
        let place = fs::canonicalize(folder.absolute()).ok()?;
        let words = |given: &Override| (given.path.clone(), given.value.clone(), given.flag.clone());
        Some(Self {
            mark: file_mark(&file).ok()?,
            overridden: project.origin.overridden.as_ref()?.iter().map(words).collect(),
            project: project.to_toml_in(folder.reached()),
            file: way(&place, &file),
        })
        .filter(|origin| origin.file != Path::new(PROJECT_COPY))
    }

    /// Nothing for a file whose name is no text: what JSON cannot name is not looked for again.
    pub(crate) fn to_json(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// That of the recording in a folder; one that cannot be read is refused later, with its reason.
    fn in_folder(folder: &RunFolder) -> Option<Self> {
        let notes = read_metadata(&folder.absolute().join(RECORDING)).ok()?;
        serde_json::from_str(notes.get(ORIGIN)?).ok()
    }

    fn overrides(&self) -> Vec<Override> {
        self.overridden.iter().map(|(path, value, flag)| Override::new(path, value, flag)).collect()
    }

    /// The command that starts the run again.
    fn command(&self, (file, now): (&Path, Option<&Project>), folder: &RunFolder) -> String {
        let flags: String = self.overridden.iter().map(|(.., flag)| format!(" {flag}")).collect();
        let is_usual = now.is_some_and(|now| is_same(&default_folder(now), folder.absolute()));
        let out = if is_usual { String::new() } else { format!(" --out {}", shell_word(folder.path())) };
        format!("costep run {}{flags}{out}", shell_word(file))
    }
}

/// Why a project is another one than that of the run.
pub(crate) struct Changed {
    error: Error,
    /// What starts the run again, where that is known.
    command: Option<String>,
    /// The stop time that the project has now, if it can be read.
    stop: Option<f64>,
}

impl From<Error> for Changed {
    fn from(error: Error) -> Self {
        Self { error, command: None, stop: None }
    }
}

impl Changed {
    /// The error for a run that could go on if nothing had changed.
    pub(crate) fn error(self) -> Error {
        match self.command {
            Some(command) => self.error.hint(format!("put back what was there, or begin anew: `{command}`")),
            None => self.error,
        }
    }

    /// The error for a run that has reached its stop: putting back what was there would lead nowhere.
    pub(crate) fn complete(self, project: &Project) -> Error {
        let details = self.error.details();
        let ended = complete(project).at(details.place.clone());
        let cause = details.cause.as_deref().unwrap_or(&details.message);
        let stop = project.model.experiment.stop;
        let until = match self.stop {
            Some(now) if now > stop => format!("up to {}", format_time(now)),
            Some(_) => "as the project is now".into(),
            None => "once its mistakes are corrected".into(),
        };
        ended
            .because(format!("{cause}; runs that were stopped can be resumed, none beyond its stop"))
            .hint(format!("`{}` computes it again, {until}", self.command.as_deref().unwrap_or("costep run")))
    }
}

/// The error that a run has reached its stop.
pub(crate) fn complete(project: &Project) -> Error {
    let stop = format_time(project.model.experiment.stop);
    Error::new(
        Code::RunComplete,
        format!("the run is complete up to its stop of {stop}, there is nothing to resume"),
    )
}

/// Refuses to go on if the project that the run began with gives other results now. Gives remarks on what is not heeded.
pub(crate) fn require_unchanged(system: &System, folder: &RunFolder) -> Result<Vec<String>, Changed> {
    let Some(origin) = Origin::in_folder(folder) else { return Ok(Vec::new()) };
    let Ok(file) = fs::canonicalize(folder.absolute().join(&origin.file)) else {
        let name = origin.file.display();
        return Ok(vec![format!(
            "`{name}`, which the run began with, is not there: its copy {PROJECT_COPY} goes on"
        )]);
    };
    // Files that a project file names have marks of their own; other formats spread over several files.
    let is_whole = file.extension().is_some_and(|extension| extension == "toml");
    if is_whole && file_mark(&file).is_ok_and(|mark| mark == origin.mark) {
        return Ok(Vec::new());
    }
    let shown = from_here(&file);
    let changed = |error: Error, now: Option<&Project>| Changed {
        error,
        command: Some(origin.command((&shown, now), folder)),
        stop: now.map(|now| now.model.experiment.stop),
    };
    let now = match system.registry.load(&Source::File(shown.clone()), &origin.overrides()) {
        Ok(now) => now,
        Err(errors) => return Err(changed(unreadable(&errors, &shown), None)),
    };
    let changes = Changes::between(&origin.project, &now.to_toml_in(folder.reached()), &shown);
    let refused = match changes.refused {
        Some(error) => Some(error),
        None => other_files(&system.project, &now)?.map(|error| error.in_file(&shown)),
    };
    if let Some(error) = refused {
        return Err(changed(error, Some(&now)));
    }
    let unheeded = |name: &String| format!("{name} has changed: the run goes on as it began");
    Ok(changes.harmless.iter().map(unheeded).collect())
}

fn unreadable(errors: &[Error], file: &Path) -> Error {
    let error = Error::new(
        Code::CheckpointForeign,
        "the project has changed since the run began, and has mistakes now",
    );
    match errors.first() {
        Some(first) => error.because(&first.details().message).at(first.details().place.clone()),
        None => error.in_file(file),
    }
}

/// An FMU or a file of values that is another one than that of the run.
fn other_files(then: &Project, now: &Project) -> Result<Option<Error>> {
    let (then, now) = (then.file_marks()?, now.file_marks()?);
    let differing = then.lines().zip(now.lines()).find(|(then, now)| then != now);
    Ok(differing.map(|(then, now)| {
        Error::new(Code::CheckpointForeign, "the project has changed since the run began")
            .because(format!("it was `{then}`, now it is `{now}`"))
    }))
}

/// How a file is reached from a folder; both are without links.
fn way(folder: &Path, file: &Path) -> PathBuf {
    let same = folder.components().zip(file.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(same).map(|_| Component::ParentDir);
    up.chain(file.components().skip(same)).collect()
}

/// A path as it is typed here.
fn from_here(file: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(fs::canonicalize).unwrap_or_default();
    file.strip_prefix(here).unwrap_or(file).to_path_buf()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let one = if one.as_os_str().is_empty() { Path::new(".") } else { one };
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_up_and_down() {
        for (folder, file, expected) in [
            ("/a/b", "/a/b/system.toml", "system.toml"),
            ("/a/out", "/a/b/s.ssp", "../b/s.ssp"),
            ("/", "/x", "x"),
        ] {
            assert_eq!(way(Path::new(folder), Path::new(file)), Path::new(expected));
        }
    }
}
