//! What a recorded run writes: a copy of the project, the recording, checkpoints.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use costep_analysis::BondWatch;
use costep_core::{Code, Error, Result};
use costep_engine::{Checkpoints, Engine};
use costep_project::{Project, Registry, Source};
use costep_results::Summary;

use crate::between::Between;
use crate::folder::{OUTCOME, PREVIOUS_RECORDING, PROJECT_COPY, RECORDING, RunFolder, unwritable};
use crate::origin::{self, ORIGIN, Origin};
use crate::recorder::{Plan, Recorder};
use crate::shell_word;

/// Prepares the folder: a copy of the project, the recording before this one kept under another name. `base` is the project without
/// the settings of the run.
pub(crate) fn begin(
    folder: &RunFolder,
    (base, project): (&Project, &Project),
    registry: &Registry,
    engine: &Engine,
    interval: Duration,
) -> Result<Recorder> {
    let (place, copy) = (folder.reached(), folder.project_copy());
    if !is_own_project(project, registry, folder)? {
        fs::write(place.join(PROJECT_COPY), project.to_toml_in(place))
            .map_err(|cause| unwritable(&copy, &cause))?;
    }
    folder.hold_copy()?;
    keep_previous(folder).map_err(|cause| unwritable(&folder.recording(), &cause))?;
    forget_beside(folder);
    let checkpoints = checkpoints(folder.absolute(), project, interval)?;
    let file = place.join(RECORDING);
    checkpoints.clear()?;
    let mut metadata = vec![
        ("system".into(), project.name.clone()),
        ("method".into(), project.groups[0].method.label()),
        ("costep".into(), env!("CARGO_PKG_VERSION").into()),
        ("project".into(), project.to_toml_in(place)),
    ];
    metadata.extend(Origin::of(base, folder).and_then(|origin| Some((ORIGIN.into(), origin.to_json()?))));
    Recorder::create(&file, engine, project, &metadata, Some(checkpoints))?
        .with_samples(&file, project, engine)
}

/// The recording of the run before gets its name.
fn keep_previous(folder: &RunFolder) -> std::io::Result<()> {
    let file = folder.absolute().join(RECORDING);
    if file.exists() { fs::rename(&file, folder.absolute().join(PREVIOUS_RECORDING)) } else { Ok(()) }
}

/// The same for a run that failed before its first row: what is there is not its result, and nobody should take it for that.
pub(crate) fn put_aside(folder: &RunFolder) {
    // The error of the run counts, not that of the folder.
    let _ = keep_previous(folder);
    forget_beside(folder);
}

/// Takes away what an earlier run has left beside its recording.
fn forget_beside(folder: &RunFolder) {
    Between::forget(&folder.absolute().join(RECORDING));
    // It is not there, or the run will say why nothing can be written here.
    let _ = fs::remove_file(folder.absolute().join(OUTCOME));
}

/// Whether the copy of the project would be the file the project was read from. It is never overwritten;
/// if it does not say the same as the project of this run, the run cannot live in this folder.
fn is_own_project(project: &Project, registry: &Registry, folder: &RunFolder) -> Result<bool> {
    let Source::File(source) = &project.source else { return Ok(false) };
    let (place, copy) = (folder.absolute(), folder.absolute().join(PROJECT_COPY));
    match (fs::canonicalize(folder.meant(source)), fs::canonicalize(&copy)) {
        (Ok(source), Ok(same)) if source == same => {}
        _ => return Ok(false),
    }
    let unchanged = registry
        .load(&Source::File(copy), &[])
        .is_ok_and(|written| written.to_toml_in(place) == project.to_toml_in(place));
    if unchanged {
        return Ok(true);
    }
    let message = "the project of this run would overwrite the file it came from";
    Err(Error::new(Code::FileNotReadable, message)
        .in_file(folder.project_copy())
        .hint("choose another folder with `--out DIR`"))
}

/// Checkpoints in a folder, by its place from the root: an FMU may go to another one.
pub(crate) fn checkpoints(folder: &Path, project: &Project, interval: Duration) -> Result<Checkpoints> {
    let identity = format!("{}{}", project.to_toml_in(folder), project.file_marks()?);
    Ok(Checkpoints::new(folder, identity, interval))
}

/// The project of a recorded run.
pub(crate) fn project_copy(folder: &Path) -> Result<PathBuf> {
    let copy = folder.join(PROJECT_COPY);
    if copy.is_file() {
        return Ok(copy);
    }
    if !folder.exists() {
        let message = format!("`{}` does not exist", folder.display());
        return Err(Error::new(Code::FileNotReadable, message)
            .looked_for(folder)
            .hint("`costep run --out DIR` makes the folder of a run"));
    }
    let error = Error::new(Code::FileNotReadable, "this is not the folder of a run").in_file(folder);
    if let Some(parent) =
        folder.parent().filter(|parent| folder.is_file() && parent.join(PROJECT_COPY).is_file())
    {
        let parent = if parent == Path::new("") { Path::new(".") } else { parent };
        return Err(error.hint(format!("it is a file in one: `costep resume {}`", shell_word(parent))));
    }
    Err(error.looked_for(&copy).hint(format!("it has no {PROJECT_COPY}; `costep run --out DIR` makes one")))
}

/// Whether the recording of a run goes to its stop time.
pub(crate) fn is_complete(folder: &Path, engine: &Engine, project: &Project) -> bool {
    let plan = Plan::new(engine, &project.record, &BondWatch::new(project.power_bonds()));
    let is_whole = |table: Summary| table.complete() && plan.is_whole(engine, &table);
    Summary::read(&folder.join(RECORDING)).is_ok_and(is_whole)
}

/// A folder beside this one that does not exist yet: `rig-2`.
fn beside(folder: &Path) -> PathBuf {
    let name = folder.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy());
    let numbered = |number: u32| folder.with_file_name(format!("{name}-{number}"));
    (2..).map(numbered).find(|other| !other.exists()).unwrap_or_else(|| numbered(2))
}

/// Says why a run cannot be resumed.
pub(crate) fn no_checkpoint(error: Error, folder: &Path, engine: &Engine, project: &Project) -> Error {
    if error.code() != Code::FileNotReadable {
        return error;
    }
    if is_complete(folder, engine, project) {
        return origin::complete(project).in_file(folder).hint(format!(
            "`costep plot {}` plots it, `costep run` starts it again: beyond that stop with a later `--t-end`",
            shell_word(folder)
        ));
    }
    let again = format!(
        "`costep run {} --out {}` starts it again and keeps what is recorded here",
        shell_word(&folder.join(PROJECT_COPY)),
        shell_word(&beside(folder))
    );
    match engine.save() {
        Err(impossible) => error.because(&impossible.details().message).hint(again),
        Ok(_) => error.hint(format!("the run ended before its first; {again}")),
    }
}
