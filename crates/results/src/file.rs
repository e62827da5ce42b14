//! The file of a recording: whole batches, one after another.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use costep_core::{Code, Error, Result};

use crate::clock;
use crate::encoding::Encoder;

/// Wall time after which the next batch is also synced to the disk.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A file to which batches are appended. After the first failure nothing may follow, because there would be a gap.
pub(crate) struct BatchFile {
    path: PathBuf,
    /// Nothing if it is opened anew for every batch.
    file: Option<File>,
    identity: Identity,
    encoder: Encoder,
    /// Bytes of the file up to the end of the last whole batch.
    whole_bytes: u64,
    last_sync: Duration,
    /// Whether this file system says how many names a file has, so that zero means: removed.
    counts_names: bool,
}

impl BatchFile {
    /// A file that has so many bytes already, whole batches of messages of this encoder.
    pub(crate) fn new(file: File, path: &Path, encoder: Encoder, whole_bytes: u64) -> Self {
        let (counts_names, identity) = (!has_no_name(&file), Identity::of(&file));
        let (path, file, last_sync) = (path.to_owned(), Some(file), clock::now());
        Self { path, file, identity, encoder, whole_bytes, last_sync, counts_names }
    }

    /// The file, if it is open.
    pub(crate) fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Has the file open from now on only while it is written: foreign code in this process may close files and write to
    /// them by number. What is no ordinary file stays open.
    pub(crate) fn detach(&mut self) {
        let is_ordinary = self.file.as_ref().is_some_and(|file| file.metadata().is_ok_and(|m| m.is_file()));
        // That code may also change the present folder.
        if let (true, Ok(path)) = (is_ordinary, std::path::absolute(&self.path)) {
            (self.path, self.file) = (path, None);
        }
    }

    /// The file as it was left, opened anew.
    fn reopen(&self) -> Result<File> {
        let mut options = OpenOptions::new();
        #[cfg(target_os = "linux")]
        {
            // A pipe that foreign code has put there would be waited for.
            use std::os::unix::fs::OpenOptionsExt;
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
        }
        let file = options.append(true).open(&self.path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => failed(&self.path, "the file was removed while it was written"),
            _ => failed(&self.path, cause),
        })?;
        let file = out_of_reach(file).map_err(|cause| failed(&self.path, cause))?;
        let length =
            file.metadata().map(|metadata| metadata.len()).map_err(|cause| failed(&self.path, cause))?;
        if Identity::of(&file) != self.identity {
            return Err(failed(&self.path, "the file was replaced while it was written"));
        }
        if length != self.whole_bytes {
            let flaw = format!(
                "it has {length} bytes, {} were written: something else changes it",
                self.whole_bytes
            );
            return Err(failed(&self.path, flaw));
        }
        Ok(file)
    }

    /// Appends rows that lie one after another as a batch.
    pub(crate) fn append(&mut self, rows: &[f64]) -> Result<()> {
        self.encoder.batch(rows).map_err(|cause| failed(&self.path, cause))?;
        let sync = clock::now().saturating_sub(self.last_sync) >= SYNC_INTERVAL;
        self.write_message(sync)
    }

    /// Appends the end mark and waits until all is on the disk.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.encoder.end().map_err(|cause| failed(&self.path, cause))?;
        self.write_message(true)
    }

    /// Writes the message that the encoder holds, and waits until it is on the disk if `sync`.
    pub(crate) fn write_message(&mut self, sync: bool) -> Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = self.reopen()?;
                return self.write_to(&file, sync);
            }
        };
        let outcome = self.write_to(&file, sync);
        self.file = Some(file);
        outcome
    }

    /// Half a message is removed, so that the file stays valid.
    fn write_to(&mut self, mut file: &File, sync: bool) -> Result<()> {
        if let Err(cause) = file.write_all(self.encoder.message()) {
            // if this fails too, the reader takes the half message for a cut end
            let _ = file.set_len(self.whole_bytes);
            return Err(failed(&self.path, cause));
        }
        self.whole_bytes += self.encoder.message().len() as u64;
        if sync { self.sync(file) } else { Ok(()) }
    }

    fn sync(&mut self, file: &File) -> Result<()> {
        if self.counts_names && has_no_name(file) {
            return Err(failed(&self.path, "the file was removed while it was written"));
        }
        let synced = file.sync_data();
        self.last_sync = clock::now();
        match synced {
            Err(cause) if !cannot_sync(&cause) => Err(failed(&self.path, cause)),
            _ => Ok(()),
        }
    }
}

/// Why a recording cannot be written.
pub(crate) fn failed(path: &Path, cause: impl std::fmt::Display) -> Error {
    Error::new(Code::RecordingFailed, format!("cannot write the recording `{}`", path.display()))
        .in_file(path)
        .because(cause)
}

/// Pipes and devices have no disk to sync to, and some file systems no way to ask for it.
pub(crate) fn cannot_sync(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
}

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity(Option<(u64, u64)>);

impl Identity {
    #[cfg(unix)]
    fn of(file: &File) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(file.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    fn of(_: &File) -> Self {
        Self(None)
    }
}

/// The same file under a number that nobody takes for standard output, even where foreign code has closed that.
#[cfg(target_os = "linux")]
fn out_of_reach(file: File) -> io::Result<File> {
    const FIRST: i32 = 100;
    match rustix::io::fcntl_dupfd_cloexec(&file, FIRST) {
        Ok(moved) => Ok(moved.into()),
        // Where so few files are allowed it stays where it is.
        Err(rustix::io::Errno::INVAL) => Ok(file),
        Err(cause) => Err(cause.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn out_of_reach(file: File) -> io::Result<File> {
    Ok(file)
}

/// Whether the file was removed or replaced: it can still be written, but nobody would ever find it.
#[cfg(unix)]
fn has_no_name(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

#[cfg(not(unix))]
fn has_no_name(_: &File) -> bool {
    false
}
