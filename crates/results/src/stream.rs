//! A recording read batch by batch, with the memory of one batch.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Result};

use crate::frames::{Frame, Frames};
use crate::message::{Batch, BatchLayout, Header};

/// How a recording ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ending {
    /// With the end mark: its run finished.
    Complete,
    /// Without: its run goes on or was killed.
    Cut,
    /// With bytes that are not a batch; the error tells more.
    Damaged(Error),
}

/// Reads a recording from its start to its end or to the first damage.
pub(crate) struct BatchStream {
    path: PathBuf,
    frames: Frames<BufReader<File>>,
    header: Header,
    layout: BatchLayout,
    rows: u64,
    ending: Option<Ending>,
}

impl BatchStream {
    /// Opens a file and reads its header.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        // Asked before it is opened: opening a pipe would wait for somebody to write into it.
        if !path.metadata().map_err(|cause| not_readable(path, cause))?.is_file() {
            return Err(not_readable(path, io::Error::other("it is not a file")));
        }
        let file = File::open(path).map_err(|cause| not_readable(path, cause))?;
        let mut frames = Frames::new(BufReader::new(file));
        let header = match frames.read_next().map_err(|cause| not_readable(path, cause))? {
            Frame::Message => Header::parse(frames.metadata()),
            Frame::End => Err("it has no header".into()),
            Frame::Cut => Err("it ends within its header".into()),
            Frame::Garbage(flaw) => Err(flaw),
        }
        .map_err(|flaw| not_a_recording(path, flaw))?;
        Ok(Self {
            path: path.to_owned(),
            frames,
            header,
            layout: BatchLayout::default(),
            rows: 0,
            ending: None,
        })
    }

    /// What stands in front of the rows.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    pub(crate) fn into_header(self) -> Header {
        self.header
    }

    /// Bytes of the file up to the end of the batch read last.
    pub(crate) fn position(&self) -> u64 {
        self.frames.position()
    }

    /// Rows read so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The next batch, or nothing at the [`ending`](Self::ending). Only the operating system causes an error.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch<'_>>> {
        if self.ending.is_some() {
            return Ok(None);
        }
        self.ending = self.advance()?;
        if self.ending.is_some() {
            return Ok(None);
        }
        let batch = Batch::new(&self.layout, self.frames.body());
        self.rows += batch.rows() as u64;
        Ok(Some(batch))
    }

    /// How the recording ends; of use after [`next_batch`](Self::next_batch) returned nothing.
    pub(crate) fn ending(&self) -> Ending {
        self.ending.clone().unwrap_or(Ending::Cut)
    }

    /// Reads one message; returns how the stream ends if it is not a batch.
    fn advance(&mut self) -> Result<Option<Ending>> {
        let batch_start = self.frames.position();
        let flaw = match self.frames.read_next().map_err(|cause| not_readable(&self.path, cause))? {
            Frame::End => return Ok(Some(Ending::Complete)),
            Frame::Cut => return Ok(Some(Ending::Cut)),
            Frame::Garbage(flaw) => flaw,
            Frame::Message => {
                let (message, body) = (self.frames.metadata(), self.frames.body());
                match self.layout.parse(message, body.len(), self.header.columns.len()) {
                    Ok(()) => return Ok(None),
                    Err(flaw) => flaw,
                }
            }
        };
        Ok(Some(Ending::Damaged(damaged(&self.path, self.rows, batch_start, &flaw))))
    }
}

fn damaged(path: &Path, rows: u64, byte: u64, flaw: &str) -> Error {
    Error::new(Code::RecordingDamaged, format!("the recording is damaged after its first {rows} rows"))
        .in_file(path)
        .because(format!("byte {byte}: {flaw}"))
        .hint("the rows before the damage can be read and exported")
}

fn not_a_recording(path: &Path, flaw: String) -> Error {
    Error::new(Code::NotARecording, format!("`{}` is not a costep recording", path.display()))
        .in_file(path)
        .because(flaw)
        .hint("recordings are written by `costep run`")
}

/// The error for a file that cannot be read.
pub(crate) fn not_readable(path: &Path, cause: io::Error) -> Error {
    if cause.kind() == io::ErrorKind::NotFound {
        return Error::new(Code::FileNotReadable, format!("`{}` does not exist", path.display()))
            .in_file(path)
            .looked_for(path)
            .hint("check the path; `costep run --out DIR` makes recordings");
    }
    Error::new(Code::FileNotReadable, format!("cannot read `{}`", path.display()))
        .in_file(path)
        .because(cause)
}
