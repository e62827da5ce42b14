//! A whole recording in memory.

use std::collections::BTreeMap;
use std::path::Path;

use costep_core::{Error, Result};

use crate::column::{Column, unknown_column};
use crate::message::Header;
use crate::select::selected;
use crate::stream::{BatchStream, Ending};

/// The rows of a recording, by column.
#[derive(Debug)]
pub struct Table {
    header: Header,
    /// One vector per column, all of the same length.
    values: Vec<Vec<f64>>,
    ending: Ending,
}

impl Table {
    /// Reads a recording. One that ends early (its run was killed, or still goes on) or that is damaged further
    /// on is not an error: the rows before are there and [`complete`](Self::complete) is false.
    pub fn open(path: &Path) -> Result<Self> {
        let mut stream = BatchStream::open(path)?;
        let mut values = vec![Vec::new(); stream.header().columns.len()];
        while let Some(batch) = stream.next_batch()? {
            for (index, column) in values.iter_mut().enumerate() {
                column.extend(batch.column(index).iter());
            }
        }
        let ending = stream.ending();
        Ok(Self { header: stream.into_header(), values, ending })
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
    pub fn rows(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    /// Whether the recording was finished and is free of (visible) damage.
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

    /// All columns with their values.
    pub fn into_columns(self) -> impl Iterator<Item = (Column, Vec<f64>)> {
        self.header.columns.into_iter().zip(self.values)
    }

    /// A copy of the values of a column.
    pub fn column(&self, name: &str) -> Result<Vec<f64>> {
        self.values(name).map(<[f64]>::to_vec)
    }

    /// The columns that match names and patterns such as `engine.*`, in the order of the patterns, without `t`; no
    /// pattern selects all.
    pub fn select(&self, patterns: &[String]) -> Result<Vec<(&Column, &[f64])>> {
        let indices = selected(self.columns(), patterns)?;
        Ok(indices.into_iter().skip(1).map(|k| (&self.columns()[k], self.values[k].as_slice())).collect())
    }

    /// The values of a column.
    pub fn values(&self, name: &str) -> Result<&[f64]> {
        match self.columns().iter().position(|column| column.name == name) {
            Some(index) => Ok(&self.values[index]),
            None => {
                Err(unknown_column(format!("the recording has no column `{name}`"), name, self.columns()))
            }
        }
    }
}
