//! Parquet with Snappy compression.

use std::fs::File;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::Failure;
use crate::encoding::schema;
use crate::stream::BatchStream;

/// A row group waits in memory until it is whole, so its rows are limited for wide recordings.
const MAX_ROW_GROUP_BYTES: usize = 128 << 20;

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        Self::Target(error.to_string())
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Self::Target(error.to_string())
    }
}

/// Writes the selected columns.
pub(super) fn write(stream: &mut BatchStream, indices: &[usize], file: &File) -> Result<(), Failure> {
    let header = stream.header();
    let columns: Vec<_> = indices.iter().map(|index| header.columns[*index].clone()).collect();
    let schema = schema(&columns, header.metadata.clone());
    let mut writer = ArrowWriter::try_new(file, schema.clone(), Some(properties(columns.len())))?;
    while let Some(batch) = stream.next_batch()? {
        let arrays = indices
            .iter()
            .map(|index| Arc::new(Float64Array::from_iter_values(batch.column(*index).iter())) as ArrayRef);
        writer.write(&RecordBatch::try_new(schema.clone(), arrays.collect())?)?;
    }
    writer.close()?;
    Ok(())
}

pub(crate) fn properties(columns: usize) -> WriterProperties {
    let rows = (MAX_ROW_GROUP_BYTES / size_of::<f64>() / columns).clamp(4096, 1 << 20);
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(rows))
        .build()
}
