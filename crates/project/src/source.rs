//! What the user named: a built-in model or a file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Place, Result};
use costep_fmu_file::unpacked_fmu;
use costep_models::{MODELS, ModelEntry};

use crate::foreign;

/// The file that makes a folder a project.
const PROJECT_FILE: &str = "system.toml";

/// No project is that large; a recording named by mistake may be.
const MAX_BYTES: u64 = 32 << 20;

/// Where a system comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A built-in model, by its id.
    Builtin(String),
    /// A project file.
    File(PathBuf),
}

impl Source {
    /// Finds what the user means: a file, a folder with a system.toml, or the id of a built-in model.
    pub fn find(text: &str) -> Result<Self> {
        Self::find_among(text, &MODELS.iter().collect::<Vec<_>>())
    }

    /// The same with these models.
    pub(crate) fn find_among(text: &str, models: &[&ModelEntry]) -> Result<Self> {
        let path = Path::new(text);
        if path.is_dir() {
            let file = path.join(PROJECT_FILE);
            if file.exists() {
                return Ok(Self::File(file));
            }
            if let Some(system) = costep_import::system_in(path)? {
                return Ok(Self::File(system));
            }
        } else if path.exists() {
            return Ok(Self::File(path.into()));
        }
        if models.iter().any(|entry| entry.id == text) {
            return Ok(Self::Builtin(text.into()));
        }
        Err(not_found(text, path, models))
    }
}

fn not_found(text: &str, path: &Path, models: &[&ModelEntry]) -> Error {
    const WHAT_IT_MAY_BE: &str = "a project is a TOML file or a folder with a system.toml";
    const SYSTEMS: &str =
        "a folder with a system.toml, an OspSystemStructure.xml, a SystemStructure.ssd or one .msim";
    if path.is_dir() {
        let message = format!("the folder `{text}` has no {PROJECT_FILE}");
        return Error::new(Code::FileNotReadable, message).looked_for(&path.join(PROJECT_FILE)).hint(
            folder_of_run(path).or_else(|| unpacked_fmu(path)).or_else(|| projects_within(path)).or_else(|| project_of_fmus(path)).unwrap_or_else(|| {
                format!(
                    "a project is a TOML file or {SYSTEMS}; `costep new rig a.fmu b.fmu` makes one of FMUs"
                )
            }),
        );
    }
    if text.contains(['/', '\\']) || text.ends_with(".toml") {
        return unreadable(path, fs::metadata(path).err().unwrap_or_else(|| io::ErrorKind::NotFound.into()));
    }
    let here = Path::new(".");
    let error = Error::new(Code::UnknownModel, format!("`{text}` is neither a built-in model nor a file"))
        .looked_for(path)
        .suggest(
            text,
            models.iter().map(|entry| entry.id).chain(projects_in(here).iter().map(String::as_str)),
        );
    if let Some(file) = system_called(text) {
        return error.hint(format!("did you mean `{file}`?"));
    }
    match error.details().hint.clone() {
        Some(suggestion) => error.hint(format!("{suggestion} - or name a file: {WHAT_IT_MAY_BE}")),
        None => error.hint(WHAT_IT_MAY_BE),
    }
}

/// What to do with the folder of a run where a project is wanted.
fn folder_of_run(folder: &Path) -> Option<String> {
    let project = folder.join("run.toml");
    let hint = || {
        let (folder, project) = (folder.display(), project.display());
        format!(
            "it is the folder of a run: its project is `{project}`; `costep report {folder}` shows the run"
        )
    };
    project.is_file().then(hint)
}

/// The projects that lie in the folders of this one, if there are some.
fn projects_within(folder: &Path) -> Option<String> {
    const NAMED: usize = 4;
    let projects = projects_in(folder);
    let first = folder.join(projects.first()?);
    let more = if projects.len() > NAMED { ", ..." } else { "" };
    let named = projects.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("`, `");
    let first = first.strip_prefix(".").unwrap_or(&first).display();
    Some(format!("there are projects in folders of it, `{named}`{more}: name one, such as `{first}`"))
}

/// The file here that is called so but for its ending, and may be a system.
fn system_called(name: &str) -> Option<String> {
    const ENDINGS: [&str; 7] = ["toml", "ssp", "ssd", "msim", "fmu", "json", "xml"];
    ENDINGS.iter().map(|ending| format!("{name}.{ending}")).find(|file| Path::new(file).is_file())
}

/// Names of the folders with a project in a folder.
fn projects_in(folder: &Path) -> Vec<String> {
    const LOOKED_AT: usize = 1000;
    let folders = fs::read_dir(folder).into_iter().flatten().take(LOOKED_AT).flatten();
    let is_project = |folder: &Path| {
        folder.join(PROJECT_FILE).is_file()
            || costep_import::system_in(folder).is_ok_and(|system| system.is_some())
    };
    let projects = folders.filter(|folder| folder.path().is_dir() && is_project(&folder.path()));
    let mut names: Vec<_> = projects.filter_map(|folder| folder.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// How to make a project of the FMUs in a folder, if there are some.
fn project_of_fmus(folder: &Path) -> Option<String> {
    let is_fmu = |path: &PathBuf| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("fmu"));
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let count = files.filter(is_fmu).count();
    let fmus = if count == 1 { "an FMU".to_owned() } else { format!("{count} FMUs") };
    let folder = folder.display();
    (count > 0).then(|| format!("it has {fmus}: `costep new rig {folder}/*.fmu` makes a project of them"))
}

/// The text of a project file.
pub(crate) fn read(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    // Asked before it is opened: opening a pipe would wait for somebody to write into it.
    if is_pipe(path) {
        return Err(unreadable(path, io::Error::other("it is a pipe, not a file")));
    }
    // A limit on what is read, not on the size the system reports: devices report none.
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("`{}` is too large for a project file", path.display());
        return Err(Error::new(Code::FileNotReadable, message)
            .in_file(path)
            .hint(format!("at most {} MB", MAX_BYTES >> 20)));
    }
    foreign::refuse(path, &bytes)?;
    String::from_utf8(bytes).map_err(|error| not_text(path, &error))
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_path: &Path) -> bool {
    false
}

/// The project file that a path stands for.
pub(crate) fn project_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(PROJECT_FILE) } else { path.into() }
}

/// The name of a project that does not say its own: that of its file, or of its folder.
pub(crate) fn default_name(path: &Path) -> Option<String> {
    let named = if path.ends_with(PROJECT_FILE) { path.parent()?.file_name() } else { path.file_stem() };
    named.map(|name| name.to_string_lossy().into_owned())
}

fn unreadable(path: &Path, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::NotFound {
        return costep_fmu_file::not_there(path);
    }
    Error::new(Code::FileNotReadable, format!("`{}` cannot be read", path.display())).because(error)
}

fn not_text(path: &Path, error: &std::string::FromUtf8Error) -> Error {
    let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    Error::new(Code::Syntax, "the file is not UTF-8 text")
        .because(error.utf8_error())
        .at(Place::File { path: path.into(), line: Some(line), text: None })
        .hint("a project is a text file in UTF-8: save it so, or give another file")
}
