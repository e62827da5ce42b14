//! The zip archive of an FMU. All entries are checked when it is opened, before one byte is unpacked; what is
//! really unpacked is counted and compared with what was announced.

mod copies;
mod entry_reader;
mod kind;
mod name;
mod not_there;
mod records;
mod zip64;

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Place, Result};

use crate::fmu::unpacked_fmu;
use crate::folder::HeldFile;
use crate::limits::Limits;
use entry_reader::EntryReader;
pub use not_there::{name_hint, not_there};
use records::{Oddities, Record};

/// A file or bytes in memory.
pub(crate) trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

/// An entry of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Path inside the archive, its parts separated by `/`. The name of a folder ends with it.
    pub name: &'a str,
    /// Unpacked size in bytes.
    pub size: u64,
}

impl Entry<'_> {
    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.name.ends_with('/')
    }
}

/// An open archive whose entries are checked: names stay inside, no links, nothing twice, headers agree, sizes
/// are within the limits.
pub struct Archive {
    path: PathBuf,
    source: Box<dyn Source>,
    records: Vec<Record>,
    oddities: Oddities,
    /// Indices of the records in the order of their names.
    by_name: Vec<usize>,
    limits: Limits,
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("path", &self.path).field("entries", &self.records.len()).finish()
    }
}

impl Archive {
    /// Opens a file and checks its entries, with the default [`Limits`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Limits::default())
    }

    /// Opens a file and checks its entries.
    pub fn open_with(path: impl AsRef<Path>, limits: Limits) -> Result<Self> {
        let path = path.as_ref();
        let not_readable = |cause: io::Error| not_readable(path, &cause);
        // Asked before it is opened: opening a pipe would wait for somebody to write into it.
        let about = fs::metadata(path).map_err(not_readable)?;
        if !about.is_file() {
            let what = if about.is_dir() { "it is a folder, not a file" } else { "it is not a file" };
            let error = not_readable(io::Error::other(what));
            let hint = unpacked_fmu(path)
                .unwrap_or_else(|| format!("name a file in it: `{}/*.fmu`", path.display()));
            return Err(if about.is_dir() { error.hint(hint) } else { error });
        }
        let file = File::open(path).map_err(not_readable)?;
        let length = file.metadata().map_err(not_readable)?.len();
        Self::new(path, Box::new(HeldFile::new(file)), length, limits)
    }

    /// The same for bytes in memory; the path is for messages only.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: Vec<u8>, limits: Limits) -> Result<Self> {
        let length = bytes.len() as u64;
        Self::new(path.as_ref(), Box::new(Cursor::new(bytes)), length, limits)
    }

    fn new(path: &Path, mut source: Box<dyn Source>, length: u64, limits: Limits) -> Result<Self> {
        let (records, oddities) =
            records::read(&mut *source, length, &limits).map_err(|error| placed(error, path))?;
        let mut by_name: Vec<usize> = (0..records.len()).collect();
        by_name.sort_by(|a, b| records[*a].name.cmp(&records[*b].name));
        Ok(Self { path: path.to_owned(), source, records, oddities, by_name, limits })
    }

    /// The file it was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The limits it was opened with.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What is unusual about it and does no harm, if something is.
    pub fn remark(&self) -> Option<String> {
        let folders = self.oddities.folders.as_ref().map(|(first, count)| {
            let others = if *count > 1 { format!(" and {} more are", count - 1) } else { " is".to_owned() };
            format!("the folder `{first}`{others} not written as zip archives have folders")
        });
        let zip64 = self.oddities.is_zip64.then(|| "the archive is of the Zip64 kind".to_owned());
        let remarks: Vec<String> = folders.into_iter().chain(zip64).collect();
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    /// All entries, in the order of the archive.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.records.iter().map(|record| Entry { name: &record.name, size: record.size })
    }

    /// Whether there is an entry of exactly this name.
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<usize> {
        let at = self.by_name.binary_search_by(|index| self.records[*index].name.as_str().cmp(name)).ok()?;
        Some(self.by_name[at])
    }

    /// Reads one entry as a stream. Reading fails with an error that [`crate::as_error`] turns back into ours,
    /// as soon as the data turns out to be damaged or longer than announced; the checksum is compared at the
    /// end.
    pub(crate) fn reader(&mut self, name: &str) -> Result<Option<EntryReader<'_>>> {
        let Some(index) = self.find(name) else { return Ok(None) };
        EntryReader::new(&mut *self.source, &self.records[index])
            .map(Some)
            .map_err(|cause| not_readable(&self.path, &cause))
    }

    /// Reads one entry into memory, if it exists. Entries of more than `limit` bytes are refused.
    pub fn read(&mut self, name: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        let Some(index) = self.find(name) else { return Ok(None) };
        let size = self.records[index].size;
        if size > limit {
            let what = format!("the entry `{name}` has {size} bytes; the limit here is {limit}");
            return Err(Error::new(Code::ArchiveLimit, what).in_file(&self.path));
        }
        let path = self.path.clone();
        let Some(mut reader) = self.reader(name)? else { return Ok(None) };
        // The size is what the archive claims, so memory is taken only as data really comes.
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|cause| reading_failed(&path, &cause))?;
        Ok(Some(bytes))
    }

    /// Unpacks the entries for which `wanted` is true into an existing folder that should be empty: no file is
    /// ever overwritten. Returns the number of files.
    pub fn extract(&mut self, folder: &Path, mut wanted: impl FnMut(&str) -> bool) -> Result<usize> {
        let mut files = 0;
        for record in &self.records {
            if !wanted(&record.name) {
                continue;
            }
            // The name was checked when the archive was opened, so the path stays below the folder; no link
            // is ever created there, so it stays there on disk too.
            let target = folder.join(&record.name);
            let parent = if record.name.ends_with('/') { Some(target.as_path()) } else { target.parent() };
            if let Some(parent) = parent {
                fs::create_dir_all(parent).map_err(|cause| not_written(parent, &cause))?;
            }
            if record.name.ends_with('/') {
                continue;
            }
            let mut reader = EntryReader::new(&mut *self.source, record)
                .map_err(|cause| not_readable(&self.path, &cause))?;
            let mut file =
                create(&target, record.executable).map_err(|cause| not_written(&target, &cause))?;
            let mut buffer = vec![0; 1 << 16];
            loop {
                let count = reader.read(&mut buffer).map_err(|cause| reading_failed(&self.path, &cause))?;
                if count == 0 {
                    break;
                }
                file.write_all(&buffer[..count]).map_err(|cause| not_written(&target, &cause))?;
            }
            files += 1;
        }
        Ok(files)
    }
}

/// A new file that its owner may run if the archive says so.
fn create(path: &Path, executable: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(if executable { 0o700 } else { 0o600 });
    }
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)
}

/// Our own error that travelled through a reader of the standard library.
pub(crate) fn as_error(cause: &io::Error) -> Option<Error> {
    cause.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).cloned()
}

/// The error of a failed read: our own if it is one, else that of the operating system.
pub(crate) fn reading_failed(path: &Path, cause: &io::Error) -> Error {
    as_error(cause).map_or_else(|| not_readable(path, cause), |error| placed(error, path))
}

/// Adds the file to an error that names no place yet.
pub(crate) fn placed(error: Error, path: &Path) -> Error {
    match error.details().place {
        Place::Nowhere => error.in_file(path),
        _ => error,
    }
}

fn not_readable(path: &Path, cause: &io::Error) -> Error {
    if cause.kind() == io::ErrorKind::NotFound {
        return not_there(path);
    }
    Error::new(Code::FileNotReadable, format!("cannot read `{}`", path.display()))
        .in_file(path)
        .because(cause)
}

fn not_written(path: &Path, cause: &io::Error) -> Error {
    Error::new(Code::FileNotReadable, format!("cannot write `{}`", path.display()))
        .in_file(path)
        .because(cause)
}
