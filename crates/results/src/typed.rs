//! Tables of words, numbers and truths as Parquet.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use costep_core::Result;
use parquet::arrow::ArrowWriter;

use crate::export::{Failure, not_writable, parquet::properties};
use crate::replace::write_whole;

/// A column of one type; what is missing is null.
#[derive(Clone, Debug, PartialEq)]
pub enum TypedColumn {
    /// Integers.
    Integers(Vec<i64>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Words.
    Words(Vec<Option<String>>),
    /// True or false.
    Truths(Vec<bool>),
}

impl TypedColumn {
    fn array(&self) -> ArrayRef {
        match self {
            Self::Integers(values) => Arc::new(Int64Array::from(values.clone())),
            Self::Numbers(values) => Arc::new(Float64Array::from(values.clone())),
            Self::Words(values) => Arc::new(StringArray::from_iter(values)),
            Self::Truths(values) => Arc::new(BooleanArray::from(values.clone())),
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Integers(_) => DataType::Int64,
            Self::Numbers(_) => DataType::Float64,
            Self::Words(_) => DataType::Utf8,
            Self::Truths(_) => DataType::Boolean,
        }
    }
}

/// Writes columns of equal length as a Parquet file, which appears whole or not at all.
pub fn write_parquet(
    target: &Path,
    columns: &[(String, TypedColumn)],
    metadata: &[(String, String)],
) -> Result<()> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(name, column.data_type(), true)).collect();
    let schema = Arc::new(Schema::new_with_metadata(
        fields,
        metadata.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
    ));
    let arrays = columns.iter().map(|(_, column)| column.array()).collect();
    let write = |file: &std::fs::File| -> Result<(), Failure> {
        let mut writer = ArrowWriter::try_new(file, schema.clone(), Some(properties(columns.len())))?;
        writer.write(&RecordBatch::try_new(schema.clone(), arrays)?)?;
        writer.close()?;
        Ok(())
    };
    write_whole(target, write).map_err(|failure| match failure {
        Failure::Source(error) => error,
        Failure::Target(cause) => not_writable(target, cause),
    })
}
