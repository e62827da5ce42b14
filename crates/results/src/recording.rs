//! The writer of recordings.
//!
//! Rows gather in memory and go to the file as a batch of at most [`Recording::MAX_ROWS`] rows, at the latest
//! with the first row that comes [`Recording::MAX_AGE`] after the last batch (or the eighth, if they come fast). A batch is
//! handed to the operating system by one write, so it survives the death of the process; about once per second it is also
//! synced to the disk, so that it survives a power loss. Full batches are written by a thread while the next one gathers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use costep_core::{Code, Error, Result};

use crate::batch_writer::{BatchWriter, Rows};
use crate::clock;
use crate::column::{Column, check_columns};
use crate::encoding::Encoder;
use crate::file::{BatchFile, failed};
use crate::replace::{Replacement, sync_folder};
use crate::stream::{BatchStream, Ending, not_readable};

/// Bytes that a batch may have before it is written early: wide systems would otherwise gather gigabytes,
/// and stop for their writing.
const MAX_BATCH_BYTES: usize = 8 << 20;

/// The first rows of a batch have their age looked at, of later ones one in so many.
const YOUNG: usize = 64;
const SELDOM: u64 = 8;

/// Writes a recording row by row. Dropped without [`finish`](Self::finish), it still writes the rows it has,
/// but the recording is then not marked as complete.
pub struct Recording {
    path: PathBuf,
    writer: BatchWriter,
    /// Values of a row.
    width: usize,
    /// Rows not yet handed on; never more than there was room for from the start.
    gathered: Rows,
    rows: u64,
    /// Rows of the present batch at which its age is looked at next.
    look_at: u64,
    last_batch: Duration,
    /// The first failure. Whatever comes after it is refused, because the file would have a gap.
    failure: Option<Error>,
    finished: bool,
}

impl Recording {
    /// Rows of a batch at most. While one gathers another one may be on its way: a kill loses no more than 4,096.
    pub const MAX_ROWS: usize = 2048;

    /// Wall time after which the next row also writes the batch.
    pub const MAX_AGE: Duration = Duration::from_secs(1);

    /// Starts a recording, in place of any file of this name. `columns` begins with `t`. The header is written
    /// at once, so that the file opens even if no row is ever written.
    pub fn create(path: &Path, columns: &[Column], metadata: &[(String, String)]) -> Result<Self> {
        check_columns(columns).map_err(|flaw| bug(path, &flaw))?;
        let encoder = encoder(path, columns, metadata.iter().cloned().collect())?;
        let file = File::create(path).map_err(|cause| failed(path, cause))?;
        let mut file = BatchFile::new(file, path, encoder, 0);
        file.write_message(false)?;
        sync_folder(path);
        Ok(Self::writing_to(file, path, columns.len()))
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
        let file = BatchFile::new(file, path, encoder, kept.whole_bytes);
        let mut recording = Self::writing_to(file, path, columns.len());
        recording.rows = kept.whole_rows;
        for row in kept.last_rows.chunks_exact(columns.len()) {
            recording.row(row)?;
        }
        recording.flush()?;
        if let Some(file) = recording.writer.file()?.file() {
            replacement.commit(file).map_err(|cause| failed(path, cause))?;
        }
        Ok(recording)
    }

    fn writing_to(file: BatchFile, path: &Path, width: usize) -> Self {
        let rows = (MAX_BATCH_BYTES / size_of::<f64>() / width).clamp(1, Self::MAX_ROWS);
        Self {
            path: path.to_owned(),
            writer: BatchWriter::new(file),
            width,
            gathered: Rows::new(rows * width),
            rows: 0,
            look_at: 0,
            last_batch: clock::now(),
            failure: None,
            finished: false,
        }
    }

    /// Has the file open from now on only while it is written, for processes with foreign code inside: a stray `close` or
    /// `write` does not reach it. Whatever changes the file all the same is seen with the next batch.
    pub fn detached(mut self) -> Result<Self> {
        self.writer.file()?.detach();
        // Foreign code may also change the present folder.
        self.path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        Ok(self)
    }

    /// Takes a row: one value per column, `t` first. Allocates nothing unless a batch is due.
    ///
    /// Age is looked at only here: before a step that may take long, call [`flush`](Self::flush).
    pub fn row(&mut self, values: &[f64]) -> Result<()> {
        if values.len() != self.width {
            let flaw = format!("a row has {} values for {} columns", values.len(), self.width);
            return Err(bug(&self.path, &flaw));
        }
        self.row_with(|row| row.copy_from_slice(values))
    }

    /// Takes a row as [`row`](Self::row) does: `fill` puts it where it stays, one value per column.
    #[inline]
    pub fn row_with(&mut self, fill: impl FnOnce(&mut [f64])) -> Result<()> {
        self.refuse_after_failure()?;
        fill(self.gathered.next(self.width));
        self.rows += 1;
        if self.gathered.is_full() {
            self.hand_over()
        } else if self.rows >= self.look_at {
            self.look_at_age()
        } else {
            Ok(())
        }
    }

    /// Hands all rows taken so far to the operating system.
    pub fn flush(&mut self) -> Result<()> {
        self.refuse_after_failure()?;
        self.write()
    }

    /// Writes what is left and the end mark, and waits until all is on the disk. Returns the number of rows.
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        self.finished = true;
        self.writer.file()?.end()?;
        Ok(self.rows)
    }

    /// The same, and reads all again: an error if it is not what was written.
    pub fn finish_and_verify(self) -> Result<u64> {
        let path = self.path.clone();
        let rows = self.finish()?;
        let mut written = BatchStream::open(&path)?;
        while written.next_batch()?.is_some() {}
        match written.ending() {
            Ending::Complete if written.rows() == rows => Ok(rows),
            Ending::Damaged(error) => Err(error),
            Ending::Complete | Ending::Cut => {
                let flaw = format!("{rows} rows were written, {} are there", written.rows());
                Err(failed(&path, flaw))
            }
        }
    }

    /// Rows taken so far, written or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Has a full batch written while the next one gathers.
    #[cold]
    fn hand_over(&mut self) -> Result<()> {
        self.begin_batch();
        let outcome = self.writer.hand_over(&mut self.gathered);
        self.note(outcome)
    }

    /// Writes a batch that has become old. Rows that come fast are not all looked at: the clock takes longer than one.
    #[cold]
    fn look_at_age(&mut self) -> Result<()> {
        if clock::now().saturating_sub(self.last_batch) >= Self::MAX_AGE {
            return self.write();
        }
        self.look_at = self.rows + if self.gathered.rows(self.width) < YOUNG { 1 } else { SELDOM };
        Ok(())
    }

    /// Writes the rows gathered so far, and waits for it.
    fn write(&mut self) -> Result<()> {
        self.begin_batch();
        let outcome = match self.gathered.is_empty() {
            true => self.writer.file().map(|_| ()),
            false => self.writer.write(&mut self.gathered),
        };
        self.note(outcome)
    }

    fn begin_batch(&mut self) {
        self.last_batch = clock::now();
        self.look_at = 0;
    }

    fn note(&mut self, outcome: Result<()>) -> Result<()> {
        outcome.inspect_err(|error| self.failure = Some(error.clone()))
    }

    #[inline]
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
        .hint("start the run again, or resume it from an older checkpoint")
}

fn encoder(path: &Path, columns: &[Column], metadata: BTreeMap<String, String>) -> Result<Encoder> {
    Encoder::new(columns, metadata).map_err(|cause| failed(path, cause))
}

fn bug(path: &Path, flaw: &str) -> Error {
    Error::new(Code::Bug, "a recording was used wrongly").in_file(path).because(flaw)
}
