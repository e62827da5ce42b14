//! What a recording holds, read batch by batch: its rows are counted, not kept.

use std::collections::BTreeMap;
use std::path::Path;

use costep_core::{Error, Result};

use crate::column::Column;
use crate::message::{Batch, Header};
use crate::stream::{BatchStream, Ending};

/// What a recording holds, without its values.
#[derive(Debug)]
pub struct Summary {
    header: Header,
    rows: u64,
    span: Option<(f64, f64)>,
    ending: Ending,
}

/// What was noted with a recording when it began, read without its rows.
pub fn read_metadata(path: &Path) -> Result<BTreeMap<String, String>> {
    Ok(BatchStream::open(path)?.header().metadata.clone())
}

impl Summary {
    /// Reads a recording to its end. One that ends early or is damaged further on is not an error, as for
    /// [`Table::open`](crate::Table::open).
    pub fn read(path: &Path) -> Result<Self> {
        Self::scan(BatchStream::open(path)?, |_| ())
    }

    /// The same for one that was opened, looking at every batch.
    pub(crate) fn scan(mut stream: BatchStream, mut look: impl FnMut(&Batch<'_>)) -> Result<Self> {
        let mut span: Option<(f64, f64)> = None;
        while let Some(batch) = stream.next_batch()? {
            if let Some(last) = batch.rows().checked_sub(1) {
                let times = batch.column(0);
                span = Some((span.map_or(times.at(0), |(first, _)| first), times.at(last)));
            }
            look(&batch);
        }
        let (rows, ending) = (stream.rows(), stream.ending());
        Ok(Self { header: stream.into_header(), rows, span, ending })
    }

    /// The columns; the first is `t`.
    pub fn columns(&self) -> &[Column] {
        &self.header.columns
    }

    /// What was recorded about the run: method, step, versions and so on.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.header.metadata
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// First and last time; nothing without rows.
    pub fn span(&self) -> Option<(f64, f64)> {
        self.span
    }

    /// Whether the recording was finished and is free of damage.
    pub fn complete(&self) -> bool {
        self.ending == Ending::Complete
    }

    /// What is wrong behind the last row, if it is more than a missing end.
    pub fn damage(&self) -> Option<&Error> {
        match &self.ending {
            Ending::Damaged(error) => Some(error),
            Ending::Complete | Ending::Cut => None,
        }
    }
}
