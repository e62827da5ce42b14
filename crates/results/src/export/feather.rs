//! Feather version 2, which is the file format of Arrow: pandas, polars, R and Julia read it.

use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;

use super::Failure;
use crate::encoding::schema;
use crate::stream::BatchStream;

/// Writes the selected columns.
pub(super) fn write(stream: &mut BatchStream, indices: &[usize], file: &File) -> Result<(), Failure> {
    let header = stream.header();
    let columns: Vec<_> = indices.iter().map(|index| header.columns[*index].clone()).collect();
    let schema = schema(&columns, header.metadata.clone());
    let mut writer = FileWriter::try_new(BufWriter::new(file), &schema)?;
    while let Some(batch) = stream.next_batch()? {
        let arrays = indices
            .iter()
            .map(|index| Arc::new(Float64Array::from_iter_values(batch.column(*index).iter())) as ArrayRef);
        writer.write(&RecordBatch::try_new(schema.clone(), arrays.collect())?)?;
    }
    writer.finish()?;
    Ok(())
}
