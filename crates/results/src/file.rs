//! The file of a recording: whole batches, one after another.

use std::fs::File;
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
    file: File,
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
        let counts_names = !has_no_name(&file);
        Self { path: path.to_owned(), file, encoder, whole_bytes, last_sync: clock::now(), counts_names }
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Appends rows that lie one after another as a batch.
    pub(crate) fn append(&mut self, rows: &[f64]) -> Result<()> {
        self.encoder.batch(rows).map_err(|cause| failed(&self.path, cause))?;
        self.write_message()?;
        match clock::now().saturating_sub(self.last_sync) >= SYNC_INTERVAL {
            true => self.sync(),
            false => Ok(()),
        }
    }

    /// Appends the end mark and waits until all is on the disk.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.encoder.end().map_err(|cause| failed(&self.path, cause))?;
        self.write_message()?;
        self.sync()
    }

    /// Writes the message that the encoder holds. Half a message is removed, so that the file stays valid.
    pub(crate) fn write_message(&mut self) -> Result<()> {
        if let Err(cause) = self.file.write_all(self.encoder.message()) {
            // if this fails too, the reader takes the half message for a cut end
            let _ = self.file.set_len(self.whole_bytes);
            return Err(failed(&self.path, cause));
        }
        self.whole_bytes += self.encoder.message().len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        if self.counts_names && has_no_name(&self.file) {
            return Err(failed(&self.path, "the file was removed while it was written"));
        }
        let synced = self.file.sync_data();
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

/// Pipes and devices have no disk to sync to.
fn cannot_sync(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
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
