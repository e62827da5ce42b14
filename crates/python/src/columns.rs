//! Results as columns. Numpy and Arrow read them where they are: each column is one block of memory, which lives as long
//! as anybody looks at it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::BufferBuilder;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, ArrowPrimitiveType, Float64Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema};
use costep::{Error, Results, System};
use costep_results::Table;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use serde::{Deserialize, Serialize};

use crate::errors;

/// Name and unit of a column.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Head {
    name: String,
    unit: Option<String>,
}

impl Head {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }
}

/// A table of numbers, by column; the first is time.
#[pyclass(frozen, module = "costep._costep")]
#[derive(Clone)]
pub(crate) struct Columns {
    heads: Vec<Head>,
    values: Vec<Float64Array>,
}

/// A column where it is: numpy makes an array of it without a copy.
#[pyclass(frozen, module = "costep._costep")]
pub(crate) struct Memory(Float64Array);

#[pymethods]
impl Memory {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = self.0.values();
        array_interface(py, values.as_ptr() as usize, values.len(), true)
    }
}

/// What numpy wants to know of a block of numbers.
pub(crate) fn array_interface(
    py: Python<'_>,
    address: usize,
    length: usize,
    is_constant: bool,
) -> PyResult<Bound<'_, PyDict>> {
    let interface = PyDict::new(py);
    interface.set_item("version", 3)?;
    interface.set_item("typestr", "<f8")?;
    interface.set_item("shape", (length,))?;
    interface.set_item("data", (address, is_constant))?;
    Ok(interface)
}

impl Columns {
    /// The outputs of a run.
    pub(crate) fn of(results: &Results, system: &System) -> Result<Self, Error> {
        let mut columns = Self::new([time_head()].into(), vec![results.times().to_vec()]);
        let units = system.project().model.parts.iter().flat_map(|part| {
            part.description().outputs.iter().map(|port| port.unit.clone()).collect::<Vec<_>>()
        });
        for (name, unit) in results.names().iter().zip(units) {
            let values = results.output(name)?;
            let unit = unit.filter(|unit| !unit.is_empty());
            columns.heads.push(Head { name: name.clone(), unit });
            columns.values.push(Float64Array::from(values));
        }
        Ok(columns)
    }

    /// Nothing but the names of columns.
    pub(crate) fn empty(system: &System) -> Self {
        let heads: Vec<Head> = std::iter::once(time_head())
            .chain(system.outputs().into_iter().map(|name| Head { name, unit: None }))
            .collect();
        let values = vec![Vec::new(); heads.len()];
        Self::new(heads, values)
    }

    fn new(heads: Vec<Head>, values: Vec<Vec<f64>>) -> Self {
        Self { heads, values: values.into_iter().map(Float64Array::from).collect() }
    }

    /// The rows of a recording.
    pub(crate) fn recorded(path: &Path) -> Result<Self, Error> {
        let columns = Table::open(path)?.into_columns();
        let (heads, values) =
            columns.map(|(column, values)| (Head { name: column.name, unit: column.unit }, values)).unzip();
        Ok(Self::new(heads, values))
    }

    pub(crate) fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.values.first().map_or(0, |column| column.values().len())
    }

    /// A column by its number; empty if there is none.
    pub(crate) fn values(&self, column: usize) -> &[f64] {
        self.values.get(column).map_or(&[], |column| column.values())
    }

    /// Writes all values, column by column.
    pub(crate) fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        for column in &self.values {
            for value in column.values().iter() {
                file.write_all(&value.to_le_bytes())?;
            }
        }
        file.flush()
    }

    /// Reads what [`Columns::write`] has written under these heads.
    pub(crate) fn read(path: &Path, heads: Vec<Head>) -> std::io::Result<Self> {
        const SIZE: usize = size_of::<f64>();
        let mut file = std::io::BufReader::new(std::fs::File::open(path)?);
        let rows = file.get_ref().metadata()?.len() as usize / SIZE / heads.len().max(1);
        let mut values = Vec::with_capacity(heads.len());
        for _ in &heads {
            let mut column = BufferBuilder::<<Float64Type as ArrowPrimitiveType>::Native>::new(rows);
            let mut bytes = [0; SIZE];
            for _ in 0..rows {
                file.read_exact(&mut bytes)?;
                column.append(f64::from_le_bytes(bytes));
            }
            values.push(Float64Array::new(column.finish().into(), None));
        }
        Ok(Self { heads, values })
    }

    fn batch(&self) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let field = |head: &Head| {
            let metadata: HashMap<_, _> =
                head.unit.iter().map(|unit| ("unit".to_owned(), unit.clone())).collect();
            Field::new(&head.name, DataType::Float64, false).with_metadata(metadata)
        };
        let schema = Schema::new(self.heads.iter().map(field).collect::<Vec<_>>());
        let arrays = self.values.iter().map(|values| Arc::new(values.clone()) as ArrayRef).collect();
        RecordBatch::try_new(Arc::new(schema), arrays)
    }
}

fn time_head() -> Head {
    Head { name: "t".into(), unit: Some("s".into()) }
}

#[pymethods]
impl Columns {
    /// Columns of bytes, as [`Columns::__reduce__`] gives them.
    #[new]
    fn from_bytes(names: Vec<String>, units: Vec<Option<String>>, values: Vec<Vec<u8>>) -> Self {
        let heads = names.into_iter().zip(units).map(|(name, unit)| Head { name, unit }).collect();
        let number = |bytes: &[u8; size_of::<f64>()]| f64::from_le_bytes(*bytes);
        let column = |bytes: Vec<u8>| bytes.as_chunks().0.iter().map(number).collect();
        Self::new(heads, values.into_iter().map(column).collect())
    }

    /// Everything it is made of, for pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = |column: &Float64Array| {
            let bytes: Vec<u8> = column.values().iter().flat_map(|value| value.to_le_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        let values: Vec<_> = self.values.iter().map(bytes).collect();
        let parts = (self.names(), self.units(), values);
        Ok((py.get_type::<Self>(), parts).into_pyobject(py)?.into_any())
    }

    /// Names of all columns; the first is `t`.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.heads.iter().map(|head| head.name.as_str()).collect()
    }

    /// Units of all columns.
    #[getter]
    fn units(&self) -> Vec<Option<&str>> {
        self.heads.iter().map(|head| head.unit.as_deref()).collect()
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.rows()
    }

    /// A column by its number.
    fn column(&self, index: usize) -> Option<Memory> {
        self.values.get(index).cloned().map(Memory)
    }

    /// All columns as a stream of Arrow.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // It is allowed to give another schema than the one that is asked for.
        drop(requested_schema);
        let batch = self.batch().map_err(|cause| errors::misuse(cause.to_string(), "report this"))?;
        let schema = batch.schema();
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// The columns of a recording.
#[pyfunction]
pub(crate) fn read_recording(py: Python<'_>, path: PathBuf) -> PyResult<Columns> {
    py.detach(|| Columns::recorded(&path)).map_err(errors::raise)
}

impl Columns {
    /// The solution that runs are compared with.
    pub(crate) fn solved(solution: &costep::Solution, names: &[String]) -> Self {
        let (mut heads, mut values) = (vec![time_head()], vec![solution.times().to_vec()]);
        for name in names {
            let points = solution.points(name).into_iter().flatten();
            values.push(points.map(|(_, value)| value).collect());
            heads.push(Head { name: name.clone(), unit: None });
        }
        Self::new(heads, values)
    }
}
