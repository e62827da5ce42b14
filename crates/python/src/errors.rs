//! Errors as exceptions.

use costep::{Code, Errors, error_to_json};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use serde_json::{Value, json};

use crate::call::Failed;

pyo3::create_exception!(
    costep,
    Error,
    pyo3::exceptions::PyException,
    "What went wrong, with `code`, `message`, `place`, `cause` and `hint`; `errors` has all mistakes of a system."
);

/// The class of exceptions: those that others make have its attributes too.
pub(crate) fn class(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let class = py.get_type::<Error>();
    for attribute in ["code", "message", "hint"] {
        class.setattr(attribute, "")?;
    }
    for attribute in ["place", "cause", "result"] {
        class.setattr(attribute, py.None())?;
    }
    class.setattr("errors", PyTuple::empty(py))?;
    Ok(class)
}

/// An error as the package knows it: that of the JSON contract, and its text.
pub(crate) fn to_json(error: &costep::Error) -> Value {
    let mut object = error_to_json(error);
    object["text"] = json!(error.to_string());
    object
}

/// The exception for an error.
pub(crate) fn raise(error: costep::Error) -> PyErr {
    raise_json(&[to_json(&error)])
}

/// The exception for all mistakes of a system.
pub(crate) fn raise_all(errors: &Errors) -> PyErr {
    raise_json(&errors.iter().map(to_json).collect::<Vec<_>>())
}

/// The exception for a use of an object that is not possible.
pub(crate) fn misuse(message: impl Into<String>, hint: &str) -> PyErr {
    raise(costep::Error::new(Code::PythonMisuse, message).hint(hint))
}

/// The exception for errors that are JSON already.
pub(crate) fn raise_json(errors: &[Value]) -> PyErr {
    let text = |error: &Value| error["text"].as_str().unwrap_or_default().to_owned();
    let exception = Error::new_err(errors.iter().map(text).collect::<Vec<_>>().join("\n"));
    let filled = Python::attach(|py| fill(py, exception.value(py).as_any(), errors));
    filled.err().unwrap_or(exception)
}

fn fill(py: Python<'_>, value: &Bound<'_, PyAny>, errors: &[Value]) -> PyResult<()> {
    let first = errors.first().unwrap_or(&Value::Null);
    for (attribute, key) in [("code", "code"), ("message", "message"), ("cause", "cause"), ("hint", "help")] {
        value.setattr(attribute, first[key].as_str())?;
    }
    value.setattr("place", to_python(py, &first["place"])?)?;
    value.setattr("errors", to_python(py, &json!(errors))?)?;
    value.setattr("result", py.None())
}

/// The exception for a failure of Python code, at the place of the error that it led to.
pub(crate) fn raise_because(py: Python<'_>, failed: Failed, at: &costep::Error) -> PyErr {
    let place = at.details().place.clone();
    let exception = raise(failed.error.at(place));
    match failed.exception {
        // Those that are no errors, Ctrl-C for one, go on as they are.
        Some(cause) if !cause.is_instance_of::<pyo3::exceptions::PyException>(py) => cause,
        cause => {
            exception.set_cause(py, cause);
            exception
        }
    }
}

/// JSON as objects of Python.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
