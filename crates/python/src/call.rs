//! Calls of Python functions with arrays: the arrays are made once, over memory that both sides see.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use costep::{Cancel, Code, Error};
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PySlice, PyTuple};

use crate::columns::array_interface;

/// The first failure of Python code in a run, with the exception if there was one. Equations cannot give errors: this
/// is where theirs go.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    failed: Option<Failed>,
    /// What ends the work.
    cancel: Option<Cancel>,
}

/// An error, and the exception behind it.
pub(crate) struct Failed {
    pub(crate) error: Error,
    pub(crate) exception: Option<PyErr>,
}

impl Failure {
    /// Keeps a failure. Exceptions that are no errors, Ctrl-C for one, end the work, whatever it makes of failures.
    fn keep(&self, py: Python<'_>, failed: Failed) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_error = |raised: &PyErr| raised.is_instance_of::<PyException>(py);
        if let (Some(cancel), Some(false)) = (&kept.cancel, failed.exception.as_ref().map(is_error)) {
            cancel.raise();
        }
        kept.failed.get_or_insert(failed);
    }

    /// An error because of an exception, which is kept.
    pub(crate) fn raised(&self, py: Python<'_>, error: Error, raised: PyErr) -> Error {
        let error = error.because(raised.value(py));
        self.keep(py, Failed { error: error.clone(), exception: Some(raised) });
        error
    }

    /// Says what ends the work that is about to begin.
    pub(crate) fn ends(&self, cancel: &Cancel) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cancel = Some(cancel.clone());
    }

    /// Gives and forgets it.
    pub(crate) fn take(&self) -> Option<Failed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failed.take()
    }
}

/// Numbers that numpy sees as an array. They are atomic because Python may look at any time.
#[pyclass(frozen, module = "costep._costep")]
struct Shared(Arc<[AtomicU64]>);

#[pymethods]
impl Shared {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_interface(py, self.0.as_ptr() as usize, self.0.len(), false)
    }
}

/// A block of numbers and the array over it.
pub(crate) struct Block {
    memory: Arc<[AtomicU64]>,
    pub(crate) array: Py<PyAny>,
}

impl Block {
    pub(crate) fn new(py: Python<'_>, length: usize) -> PyResult<Self> {
        let memory: Arc<[AtomicU64]> = (0..length).map(|_| AtomicU64::new(0)).collect();
        let shared = Bound::new(py, Shared(memory.clone()))?;
        let array = py.import("numpy")?.call_method1("asarray", (shared,))?.unbind();
        Ok(Self { memory, array })
    }

    #[inline]
    pub(crate) fn set(&self, values: impl Iterator<Item = f64>) {
        self.memory.iter().zip(values).for_each(|(to, from)| to.store(from.to_bits(), Relaxed));
    }

    /// A copy of the array: Python code may keep what it is given.
    #[inline]
    pub(crate) fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array.bind(py).call_method0(intern!(py, "copy"))
    }

    #[inline]
    fn get(&self, values: &mut [f64]) {
        values.iter_mut().zip(&*self.memory).for_each(|(to, from)| *to = f64::from_bits(from.load(Relaxed)));
    }
}

/// A function of Python that gives so many numbers.
pub(crate) struct Function {
    /// For messages: `controller.step`.
    name: String,
    function: Py<PyAny>,
    result: Block,
    failure: Failure,
}

impl Function {
    pub(crate) fn new(
        py: Python<'_>,
        name: String,
        function: Bound<'_, PyAny>,
        results: usize,
        failure: &Failure,
    ) -> PyResult<Self> {
        let result = Block::new(py, results)?;
        Ok(Self { name, function: function.unbind(), result, failure: failure.clone() })
    }

    /// Calls it and takes over what it gives.
    pub(crate) fn call<'py, A: pyo3::call::PyCallArgs<'py>>(
        &self,
        py: Python<'py>,
        arguments: PyResult<A>,
        values: &mut [f64],
    ) -> Result<(), Error> {
        let given = arguments.and_then(|arguments| self.function.bind(py).call1(arguments));
        given.and_then(|given| self.take(py, &given, values)).map_err(|raised| self.failed(py, raised))
    }

    #[inline]
    fn take(&self, py: Python<'_>, given: &Bound<'_, PyAny>, values: &mut [f64]) -> PyResult<()> {
        if let ([value], Ok(number)) = (&mut *values, given.cast::<PyFloat>()) {
            *value = number.value();
            return Ok(());
        }
        if let Ok(list) = given.cast::<PyList>() {
            return self.take_each(list.iter(), list.len(), values);
        }
        if let Ok(tuple) = given.cast::<PyTuple>() {
            return self.take_each(tuple.iter(), tuple.len(), values);
        }
        match given.len() {
            Ok(length) if length == values.len() => {
                self.result.array.bind(py).set_item(PySlice::full(py), given)?;
                self.result.get(values);
                Ok(())
            }
            Ok(length) => Err(self.wrong_number(length, values.len())),
            Err(_) => match values {
                [value] => {
                    *value = given.extract()?;
                    Ok(())
                }
                _ => Err(self.wrong_number(1, values.len())),
            },
        }
    }

    fn take_each<'py>(
        &self,
        given: impl Iterator<Item = Bound<'py, PyAny>>,
        length: usize,
        values: &mut [f64],
    ) -> PyResult<()> {
        if length != values.len() {
            return Err(self.wrong_number(length, values.len()));
        }
        for (value, given) in values.iter_mut().zip(given) {
            *value = given.extract()?;
        }
        Ok(())
    }

    #[cold]
    fn wrong_number(&self, given: usize, wanted: usize) -> PyErr {
        let message = format!("`{}` gave {given} values instead of {wanted}", self.name);
        crate::errors::raise(Error::new(Code::PythonShape, message))
    }

    #[cold]
    fn failed(&self, py: Python<'_>, raised: PyErr) -> Error {
        let value = raised.value(py);
        let text_of = |attribute: &str| value.getattr(attribute).and_then(|text| text.extract::<String>());
        let is_shape = text_of("code").is_ok_and(|code| code == Code::PythonShape.entry().id);
        // What the function itself does with costep may go wrong too.
        if is_shape && value.is_instance_of::<crate::errors::Error>() {
            let error = Error::new(Code::PythonShape, text_of("message").unwrap_or_default());
            self.failure.keep(py, Failed { error: error.clone(), exception: None });
            return error;
        }
        let kind = value.get_type().qualname().map_or_else(|_| String::new(), |name| name.to_string());
        let message = format!("`{}` raised {kind}", self.name);
        self.failure.raised(py, Error::new(Code::PythonFailed, message), raised)
    }
}
