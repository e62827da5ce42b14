//! The writer of recordings.
//!
//! Rows gather in memory and go to the file as a batch of at most [`Recording::MAX_ROWS`] rows, at the latest
//! with the first row that comes [`Recording::MAX_AGE`] after the last batch. A batch is handed to the operating
//! system by one write, so it survives the death of the process; about once per second it is also synced to the
//! disk, so that it survives a power loss.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use costep_core::{Code, Error, Result};

use crate::clock;
use crate::column::{Column, check_columns};
use crate::encoding::Encoder;
use crate::replace::{Replacement, sync_folder};
use crate::stream::{BatchStream, Ending, not_readable};

/// Bytes that a batch may have before it is written early: wide systems would otherwise gather gigabytes,
/// and stop for their writing.
const MAX_BATCH_BYTES: usize = 8 << 20;

/// Writes a recording row by row. Dropped without [`finish`](Self::finish), it still writes the rows it has,
/// but the recording is then not marked as complete.
pub struct Recording {
    path: PathBuf,
    file: File,
    encoder: Encoder,
    /// Values of a row.
    width: usize,
    /// Rows not yet written, one after another; never grows beyond what was reserved.
    buffer: Vec<f64>,
    /// Values at which the buffer counts as full.
    full: usize,
    rows: u64,
    /// Bytes of the file up to the end of the last whole batch.
    whole_bytes: u64,
    last_batch: Duration,
    last_sync: Duration,
    /// The first failure. Whatever comes after it is refused, because the file would have a gap.
    failure: Option<Error>,
    finished: bool,
    /// Whether this file system says how many names a file has, so that zero means: removed.
    counts_names: bool,
}

impl Recording {
    /// Rows of a batch at most.
    pub const MAX_ROWS: usize = 4096;

    /// Wall time after which the next row also writes the batch.
    pub const MAX_AGE: Duration = Duration::from_secs(1);

    /// Starts a recording, in place of any file of this name. `columns` begins with `t`. The header is written
    /// at once, so that the file opens even if no row is ever written.
    pub fn create(path: &Path, columns: &[Column], metadata: &[(String, String)]) -> Result<Self> {
        check_columns(columns).map_err(|flaw| bug(path, &flaw))?;
        let encoder = encoder(path, columns, metadata.iter().cloned().collect())?;
        let file = File::create(path).map_err(|cause| failed(path, cause))?;
        let mut recording = Self::writing_to(file, path, columns.len(), encoder);
        recording.write_message()?;
        sync_folder(path);
        Ok(recording)
    }

    /// Goes on with a recording after its first `keep_rows` rows; the rest is dropped. The kept rows are copied
    /// to a temporary file that then replaces the old one, so that a failure leaves the old one as it was.
    /// The columns must be those of the recording.
    pub fn resume(path: &Path, columns: &[Column], keep_rows: u64) -> Result<Self> {
        let mut old = BatchStream::open(path)?;
        require_same_columns(path, &old.header().columns, columns)?;
        let encoder = encoder(path, columns, old.header().metadata.clone())?;
        let kept = find_rows(path, &mut old, keep_rows)?;

        let (mut file, replacement) = Replacement::beside(path).map_err(|cause| failed(path, cause))?;
        copy_start(path, &mut file, kept.whole_bytes)?;
        let mut recording = Self::writing_to(file, path, columns.len(), encoder);
        recording.whole_bytes = kept.whole_bytes;
        recording.rows = kept.whole_rows;
        for row in kept.last_rows.chunks_exact(columns.len()) {
            recording.row(row)?;
        }
        recording.flush()?;
        replacement.commit(&recording.file).map_err(|cause| failed(path, cause))?;
        Ok(recording)
    }

    fn writing_to(file: File, path: &Path, width: usize, encoder: Encoder) -> Self {
        let full = width * (MAX_BATCH_BYTES / size_of::<f64>() / width).clamp(1, Self::MAX_ROWS);
        Self {
            path: path.to_owned(),
            counts_names: !has_no_name(&file),
            file,
            encoder,
            width,
            buffer: Vec::with_capacity(full),
            full,
            rows: 0,
            whole_bytes: 0,
            last_batch: clock::now(),
            last_sync: clock::now(),
            failure: None,
            finished: false,
        }
    }

    /// Takes a row: one value per column, `t` first. Allocates nothing unless a batch is due.
    ///
    /// Age is looked at only here: before a step that may take long, call [`flush`](Self::flush).
    pub fn row(&mut self, values: &[f64]) -> Result<()> {
        self.refuse_after_failure()?;
        if values.len() != self.width {
            let flaw = format!("a row has {} values for {} columns", values.len(), self.width);
            return Err(bug(&self.path, &flaw));
        }
        self.buffer.extend_from_slice(values);
        self.rows += 1;
        if self.buffer.len() >= self.full || clock::now().saturating_sub(self.last_batch) >= Self::MAX_AGE {
            self.write_batch()?;
        }
        Ok(())
    }

    /// Hands all rows taken so far to the operating system.
    pub fn flush(&mut self) -> Result<()> {
        self.refuse_after_failure()?;
        match self.buffer.is_empty() {
            true => Ok(()),
            false => self.write_batch(),
        }
    }

    /// Writes what is left and the end mark, and waits until all is on the disk. Returns the number of rows.
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        self.finished = true;
        self.encoder.end().map_err(|cause| failed(&self.path, cause))?;
        self.write_message()?;
        self.sync()?;
        Ok(self.rows)
    }

    /// Rows taken so far, written or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn write_batch(&mut self) -> Result<()> {
        self.last_batch = clock::now();
        if let Err(cause) = self.encoder.batch(&self.buffer) {
            return Err(self.fail(cause));
        }
        self.buffer.clear();
        self.write_message()?;
        match clock::now().saturating_sub(self.last_sync) >= Self::MAX_AGE {
            true => self.sync(),
            false => Ok(()),
        }
    }

    /// Writes the message that the encoder holds. Half a message is taken back, so that the file stays valid.
    fn write_message(&mut self) -> Result<()> {
        if let Err(cause) = self.file.write_all(self.encoder.message()) {
            // if this fails too, the reader takes the half message for a cut end
            let _ = self.file.set_len(self.whole_bytes);
            return Err(self.fail(cause));
        }
        self.whole_bytes += self.encoder.message().len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        if self.counts_names && has_no_name(&self.file) {
            return Err(self.fail("the file was removed while it was written"));
        }
        let synced = self.file.sync_data();
        self.last_sync = clock::now();
        match synced {
            Err(cause) if !cannot_sync(&cause) => Err(self.fail(cause)),
            _ => Ok(()),
        }
    }

    fn fail(&mut self, cause: impl std::fmt::Display) -> Error {
        let error = failed(&self.path, cause);
        self.failure = Some(error.clone());
        error
    }

    fn refuse_after_failure(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(failure) => Err(failure.clone()),
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // a run that ends by an error keeps what it recorded; there is nobody left to tell of a second error
        if !self.finished {
            let _ = self.flush();
        }
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// The part of a recording to go on with.
struct Kept {
    /// Bytes and rows of the header and the batches that are kept as a whole.
    whole_bytes: u64,
    whole_rows: u64,
    /// The rows kept from the batch in which the cut lies, one after another.
    last_rows: Vec<f64>,
}

fn find_rows(path: &Path, old: &mut BatchStream, keep_rows: u64) -> Result<Kept> {
    let width = old.header().columns.len();
    let mut kept = Kept { whole_bytes: old.position(), whole_rows: 0, last_rows: Vec::new() };
    while kept.whole_rows < keep_rows {
        let Some(batch) = old.next_batch()? else { return Err(too_few_rows(path, old, keep_rows)) };
        let missing = keep_rows - kept.whole_rows;
        if (batch.rows() as u64) > missing {
            for row in 0..missing as usize {
                kept.last_rows.extend((0..width).map(|column| batch.column(column).at(row)));
            }
            break;
        }
        (kept.whole_rows, kept.whole_bytes) = (old.rows(), old.position());
    }
    Ok(kept)
}

/// Copies the bytes of the batches kept as a whole: the same bits, and fast.
fn copy_start(path: &Path, target: &mut File, length: u64) -> Result<()> {
    let source = File::open(path).map_err(|cause| not_readable(path, cause))?;
    match io::copy(&mut source.take(length), target) {
        Ok(copied) if copied == length => Ok(()),
        Ok(_) => Err(failed(path, "the old recording changed while it was copied")),
        Err(cause) => Err(failed(path, cause)),
    }
}

fn require_same_columns(path: &Path, recorded: &[Column], wanted: &[Column]) -> Result<()> {
    let show = |column: Option<&Column>| match column {
        Some(Column { name, unit: Some(unit) }) => format!("`{name}` in {unit}"),
        Some(Column { name, unit: None }) => format!("`{name}`"),
        None => "nothing".into(),
    };
    let longest = recorded.len().max(wanted.len());
    match (0..longest).find(|index| recorded.get(*index) != wanted.get(*index)) {
        None => Ok(()),
        Some(index) => Err(Error::new(
            Code::CheckpointForeign,
            format!(
                "column {} of the recording is {}, but this run records {}",
                index + 1,
                show(recorded.get(index)),
                show(wanted.get(index))
            ),
        )
        .in_file(path)),
    }
}

fn too_few_rows(path: &Path, old: &BatchStream, keep_rows: u64) -> Error {
    if let Ending::Damaged(error) = old.ending() {
        return error;
    }
    let rows = old.rows();
    Error::new(Code::RecordingDamaged, format!("the recording has {rows} rows, {keep_rows} are needed"))
        .in_file(path)
        .hint("start the run anew, or resume it from an older checkpoint")
}

fn encoder(path: &Path, columns: &[Column], metadata: BTreeMap<String, String>) -> Result<Encoder> {
    Encoder::new(columns, metadata).map_err(|cause| failed(path, cause))
}

fn failed(path: &Path, cause: impl std::fmt::Display) -> Error {
    Error::new(Code::RecordingFailed, format!("cannot write the recording `{}`", path.display()))
        .in_file(path)
        .because(cause)
}

fn bug(path: &Path, flaw: &str) -> Error {
    Error::new(Code::Bug, "a recording was used wrongly").in_file(path).because(flaw)
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
