//! Rows to Arrow messages. Messages are made in memory and reach the file by one write each, so that the end
//! of the last whole batch is always known.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::column::Column;

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

/// Makes the messages of one stream.
pub(crate) struct Encoder {
    schema: SchemaRef,
    writer: StreamWriter<Vec<u8>>,
}

impl Encoder {
    /// An encoder that holds the header as its first [`message`](Self::message).
    pub(crate) fn new(columns: &[Column], metadata: BTreeMap<String, String>) -> Result<Self, ArrowError> {
        let schema = schema(columns, metadata);
        let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?;
        let writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options)?;
        Ok(Self { schema, writer })
    }

    /// The bytes made last.
    pub(crate) fn message(&self) -> &[u8] {
        self.writer.get_ref()
    }

    /// Makes the message of a batch from `rows`, row by row one after another.
    pub(crate) fn batch(&mut self, rows: &[f64]) -> Result<(), ArrowError> {
        let columns = transposed(rows, self.schema.fields().len());
        let arrays = columns.into_iter().map(|column| Arc::new(Float64Array::from(column)) as ArrayRef);
        let batch = RecordBatch::try_new(self.schema.clone(), arrays.collect())?;
        self.writer.get_mut().clear();
        self.writer.write(&batch)
    }

    /// Makes the end-of-stream mark.
    pub(crate) fn end(&mut self) -> Result<(), ArrowError> {
        self.writer.get_mut().clear();
        self.writer.finish()
    }
}

/// The columns of rows that lie one after another.
fn transposed(rows: &[f64], width: usize) -> Vec<Vec<f64>> {
    // rows of a block stay in the cache while all columns take their values from it
    const BLOCK_ROWS: usize = 32;
    let mut columns: Vec<_> = (0..width).map(|_| Vec::with_capacity(rows.len() / width)).collect();
    for block in rows.chunks(BLOCK_ROWS * width) {
        for (index, column) in columns.iter_mut().enumerate() {
            column.extend(block.chunks_exact(width).map(|row| row[index]));
        }
    }
    columns
}
