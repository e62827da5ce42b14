//! Which format a file is of: by its ending, else by how it begins.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Place, Result};

/// A format of systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// .ssp and .ssd.
    Ssp,
    /// OspSystemStructure.xml.
    Osp,
    /// .msim.
    MasterSim,
    /// JSON of INTO-CPS and Maestro.
    MultiModel,
}

/// No text of a system is larger.
const MAX_BYTES: u64 = 64 << 20;
/// As much of a file as tells what it is.
const BEGINNING: u64 = 64 << 10;

impl Format {
    /// The format of a file; nothing if it does not look like a system of another tool.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("ssp" | "ssd") => return Some(Self::Ssp),
            Some("msim") => return Some(Self::MasterSim),
            Some("toml" | "fmu") => return None,
            _ => {}
        }
        let beginning = beginning(path)?;
        match beginning.trim_start_matches('\u{feff}').trim_start().chars().next()? {
            '<' if beginning.contains("OspSystemStructure") => Some(Self::Osp),
            '<' if beginning.contains("SystemStructureDescription") => Some(Self::Ssp),
            '{' => Some(Self::MultiModel),
            _ => None,
        }
    }
}

/// The one file in a folder that is a system by its name, beside projects. An error if there are several.
pub fn system_in(folder: &Path) -> Result<Option<PathBuf>> {
    for usual in ["OspSystemStructure.xml", "SystemStructure.ssd"] {
        let file = folder.join(usual);
        if file.is_file() {
            return Ok(Some(file));
        }
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_system =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == "msim" || ending == "ssp");
    let mut found: Vec<PathBuf> = entries.filter(is_system).collect();
    found.sort();
    if found.len() > 1 {
        let names: Vec<_> = found.iter().take(5).map(|file| file.display().to_string()).collect();
        return Err(Error::new(Code::FileNotReadable, format!("`{}` has several systems", folder.display()))
            .hint(format!("name one of them: {}", names.join(", "))));
    }
    Ok(found.pop())
}

fn beginning(path: &Path) -> Option<String> {
    // Asked before it is opened: opening a pipe would wait for somebody to write into it.
    if !fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The bytes of a file that is no larger than texts of systems are.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let unreadable = |cause: String| {
        Error::new(Code::FileNotReadable, format!("`{}` cannot be read", path.display())).because(cause)
    };
    let about = fs::metadata(path).map_err(|cause| unreadable(cause.to_string()))?;
    if !about.is_file() {
        return Err(unreadable("it is not a file".into()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|cause| unreadable(cause.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable(format!("it has more than {} MB", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}

/// The same as text.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let place = Place::File { path: path.into(), line: Some(line), text: None };
        Error::new(Code::SspSchema, "the file is not UTF-8 text").because(error.utf8_error()).at(place)
    })
}

/// A name for a system that has none: that of its file, or of the folder if the file is called like all of
/// its kind.
pub(crate) fn name_of(path: &Path) -> String {
    const USUAL: [&str; 4] = ["OspSystemStructure", "mm", "multimodel", "coe"];
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if !USUAL.contains(&stem.as_str()) {
        return stem;
    }
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let folder = whole.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    folder.unwrap_or(stem)
}
