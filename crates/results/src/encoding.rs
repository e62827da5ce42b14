//! Rows to Arrow messages. Messages are made in memory and reach the file by one write each, so that the end
//! of the last whole batch is always known.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::checksum;
use crate::column::Column;
use crate::frames::PREFIX;
use crate::message::{BatchLayout, VALUE};

/// Key of the unit in the metadata of a field.
pub(crate) const UNIT: &str = "unit";

/// Bytes at which Arrow buffers start. Arrow's own default is 64, which triples the size of the one-row batches
/// of a slow simulation; 8 is the least the format allows and enough for `f64`.
const ALIGNMENT: usize = 8;

/// The Arrow schema of a recording.
pub(crate) fn schema(columns: &[Column], metadata: BTreeMap<String, String>) -> SchemaRef {
    let fields: Vec<Field> = columns.iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

fn field(column: &Column) -> Field {
    let field = Field::new(&column.name, DataType::Float64, false);
    match &column.unit {
        Some(unit) => field.with_metadata([(UNIT, unit.as_str())]),
        None => field,
    }
}

/// Makes the messages of one stream. Messages of equally many rows differ in their values only: the last one is kept,
/// and the values of the next batch are put in place of its own.
pub(crate) struct Encoder {
    schema: SchemaRef,
    writer: StreamWriter<Vec<u8>>,
    /// Rows of the batch whose message the writer holds; 0 if it holds another one.
    rows: usize,
    /// Byte of that message at which each column starts.
    starts: Vec<usize>,
}

impl Encoder {
    /// An encoder that holds the header as its first [`message`](Self::message).
    pub(crate) fn new(columns: &[Column], metadata: BTreeMap<String, String>) -> Result<Self, ArrowError> {
        let schema = schema(columns, metadata);
        let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?;
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options)?;
        checksum::make_room(writer.get_mut());
        checksum::seal(writer.get_mut());
        Ok(Self { schema, writer, rows: 0, starts: Vec::new() })
    }

    /// The bytes made last.
    pub(crate) fn message(&self) -> &[u8] {
        self.writer.get_ref()
    }

    /// Makes the message of a batch from `rows`, row by row one after another.
    pub(crate) fn batch(&mut self, rows: &[f64]) -> Result<(), ArrowError> {
        let width = self.schema.fields().len();
        if self.rows != rows.len() / width {
            self.make_room(rows.len() / width)?;
        }
        transpose(rows, width, &self.starts, self.writer.get_mut());
        checksum::seal(self.writer.get_mut());
        Ok(())
    }

    /// Makes the message of a batch of zeros.
    fn make_room(&mut self, rows: usize) -> Result<(), ArrowError> {
        self.rows = 0;
        let zeros: ArrayRef = Arc::new(Float64Array::from(vec![0.0; rows]));
        let columns = vec![zeros; self.schema.fields().len()];
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        self.writer.get_mut().clear();
        self.writer.write(&batch)?;
        checksum::make_room(self.writer.get_mut());
        self.starts = column_starts(self.writer.get_ref(), self.schema.fields().len())
            .map_err(|flaw| ArrowError::IpcError(format!("a message made by Arrow: {flaw}")))?;
        self.rows = rows;
        Ok(())
    }

    /// Makes the end-of-stream mark.
    pub(crate) fn end(&mut self) -> Result<(), ArrowError> {
        self.rows = 0;
        self.writer.get_mut().clear();
        self.writer.finish()
    }
}

/// Byte of a whole message at which each column starts.
fn column_starts(message: &[u8], columns: usize) -> Result<Vec<usize>, String> {
    let length = message.get(4..PREFIX).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    let body = PREFIX + length.ok_or("it has no length")? as usize;
    let metadata = message.get(PREFIX..body).ok_or("it ends within its metadata")?;
    let mut layout = BatchLayout::default();
    layout.parse(metadata, message.len() - body, columns)?;
    Ok(layout.starts().iter().map(|start| body + start).collect())
}

/// Puts rows that lie one after another into the columns of a message.
fn transpose(rows: &[f64], width: usize, starts: &[usize], message: &mut [u8]) {
    // rows of a block stay in the cache while all columns take their values from it
    const BLOCK_ROWS: usize = 32;
    for (number, block) in rows.chunks(BLOCK_ROWS * width).enumerate() {
        let (first, bytes) = (number * BLOCK_ROWS * VALUE, block.len() / width * VALUE);
        for (column, start) in starts.iter().enumerate() {
            let mut index = column;
            for place in message[start + first..][..bytes].as_chunks_mut::<VALUE>().0 {
                *place = block[index].to_le_bytes();
                index += width;
            }
        }
    }
}
