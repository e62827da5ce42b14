//! What the messages of a recording say: the header (columns, units, run metadata) and where in its body a
//! batch keeps its columns.
//!
//! Arrow's decoder (60.1) panics when a column lies outside of its batch, as it does after a flipped bit. A
//! recording needs one type only, so it is read here, with every number checked against what is really there.

use std::collections::BTreeMap;

use arrow_ipc::{Endianness, Field, KeyValue, MessageHeader, Precision};

use crate::column::{Column, check_columns};
use crate::encoding::UNIT;
use crate::frames::verified;

/// Bytes of an `f64`.
pub(crate) const VALUE: usize = 8;

/// What the first message says.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) columns: Vec<Column>,
    pub(crate) metadata: BTreeMap<String, String>,
}

impl Header {
    /// Reads the header, or says why these bytes are not one.
    pub(crate) fn parse(message: &[u8]) -> Result<Self, String> {
        let mut texts = Texts { left: message.len() };
        let schema = verified(message)?.header_as_schema().ok_or("it does not start with a schema")?;
        if schema.endianness() != Endianness::Little {
            return Err("its numbers are big-endian".into());
        }
        let fields = schema.fields().ok_or("it has no columns")?;
        let columns = fields.iter().map(|field| texts.column(field)).collect::<Result<Vec<_>, _>>()?;
        check_columns(&columns)?;
        let metadata = texts.pairs(schema.custom_metadata().into_iter().flatten())?;
        Ok(Self { columns, metadata })
    }
}

/// Copies texts out of a message, but never more than the message is long: entries that share their bytes
/// could multiply a small file to gigabytes.
struct Texts {
    left: usize,
}

impl Texts {
    fn copy(&mut self, text: &str) -> Result<String, String> {
        self.left = self.left.checked_sub(text.len()).ok_or("its texts overlap")?;
        Ok(text.to_owned())
    }

    fn column(&mut self, field: Field<'_>) -> Result<Column, String> {
        let name = self.copy(field.name().unwrap_or_default())?;
        let is_double =
            field.type_as_floating_point().is_some_and(|kind| kind.precision() == Precision::DOUBLE);
        if !is_double || field.dictionary().is_some() {
            return Err(format!("the column `{name}` is not made of 64-bit floating-point numbers"));
        }
        let unit = self.pairs(field.custom_metadata().into_iter().flatten())?.remove(UNIT);
        Ok(Column { name, unit })
    }

    fn pairs<'a>(
        &mut self,
        pairs: impl Iterator<Item = KeyValue<'a>>,
    ) -> Result<BTreeMap<String, String>, String> {
        pairs
            .map(|pair| {
                let key = self.copy(pair.key().unwrap_or_default())?;
                Ok((key, self.copy(pair.value().unwrap_or_default())?))
            })
            .collect()
    }
}

/// Where a batch keeps its values. Used again for every batch.
#[derive(Debug, Default)]
pub(crate) struct BatchLayout {
    rows: usize,
    /// Byte of the body at which each column starts.
    starts: Vec<usize>,
}

impl BatchLayout {
    /// Byte of the body at which each column starts.
    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Reads the description of a batch of `columns` columns and checks it against the length of its body.
    pub(crate) fn parse(&mut self, message: &[u8], body_length: usize, columns: usize) -> Result<(), String> {
        let message = verified(message)?;
        if message.header_type() != MessageHeader::RecordBatch {
            return Err("a message is not a batch of rows".into());
        }
        let batch = message.header_as_record_batch().ok_or("a batch is empty")?;
        if batch.compression().is_some() {
            return Err("a batch is compressed".into());
        }
        let (Some(nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else {
            return Err("a batch has no columns".into());
        };
        // each column has two buffers: which values are missing (of no length: none), and the values
        if nodes.len() != columns || buffers.len() != 2 * columns {
            return Err("a batch has another number of columns than the header".into());
        }
        self.rows = rows_that_fit(batch.length(), columns, body_length)?;
        if nodes.iter().any(|node| node.length() != batch.length() || node.null_count() != 0) {
            return Err("a batch has columns with missing values".into());
        }
        self.starts.clear();
        for buffer in buffers.iter().skip(1).step_by(2) {
            self.starts.push(start_within(buffer.offset(), buffer.length(), self.rows * VALUE, body_length)?);
        }
        Ok(())
    }
}

/// The number of rows, if all columns together are no longer than the body. (Buffers that overlap could
/// otherwise multiply a small file to gigabytes.)
fn rows_that_fit(rows: i64, columns: usize, body_length: usize) -> Result<usize, String> {
    usize::try_from(rows)
        .ok()
        .filter(|rows| rows.checked_mul(columns * VALUE).is_some_and(|needed| needed <= body_length))
        .ok_or_else(|| format!("a batch claims {rows} rows"))
}

/// The start of a buffer that holds at least `needed` bytes and lies within the body.
fn start_within(offset: i64, length: i64, needed: usize, body_length: usize) -> Result<usize, String> {
    usize::try_from(offset)
        .ok()
        .filter(|start| start.checked_add(needed).is_some_and(|end| end <= body_length))
        .filter(|_| usize::try_from(length).is_ok_and(|length| length >= needed))
        .ok_or_else(|| "a column of a batch lies outside of it".into())
}

/// The rows of one batch, in the buffers of the reader.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    layout: &'a BatchLayout,
    body: &'a [u8],
}

impl<'a> Batch<'a> {
    /// `layout` was parsed for this `body`.
    pub(crate) fn new(layout: &'a BatchLayout, body: &'a [u8]) -> Self {
        Self { layout, body }
    }

    pub(crate) fn rows(&self) -> usize {
        self.layout.rows
    }

    /// The values of a column. They are not aligned in memory, so there is no slice of them.
    pub(crate) fn column(&self, index: usize) -> Values<'a> {
        let start = self.layout.starts[index];
        Values(self.body[start..start + self.rows() * VALUE].as_chunks().0)
    }
}

/// The values of a column of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a>(&'a [[u8; VALUE]]);

impl<'a> Values<'a> {
    pub(crate) fn at(&self, row: usize) -> f64 {
        f64::from_le_bytes(self.0[row])
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = f64> + use<'a> {
        self.0.iter().map(|bytes| f64::from_le_bytes(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_must_fit_into_the_body() {
        assert_eq!(rows_that_fit(3, 2, 48), Ok(3));
        assert_eq!(rows_that_fit(0, 2, 0), Ok(0));
        for rows in [4, -1, i64::MAX, i64::MIN] {
            assert!(rows_that_fit(rows, 2, 48).is_err());
        }
    }

    #[test]
    fn columns_must_lie_within_the_body() {
        assert_eq!(start_within(24, 24, 24, 48), Ok(24));
        for (offset, length) in [(25, 24), (-1, 24), (i64::MAX, 24), (24, 23), (24, -1)] {
            assert!(start_within(offset, length, 24, 48).is_err());
        }
    }

    #[test]
    fn shared_texts_are_refused() {
        let mut texts = Texts { left: 5 };
        assert!(texts.copy("abc").is_ok());
        assert!(texts.copy("abc").is_err());
    }
}
