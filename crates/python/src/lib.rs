//! The extension module `costep._costep`: what the Python package in `python/costep` is built on. Systems come in as
//! recipes in JSON, results go out as columns that numpy and Arrow read where they are, and errors as exceptions.
//!
//! | module | role |
//! |---|---|
//! | `recipe` | a system as the package describes it, and as costep loads it |
//! | `core` | a loaded system: run, started, compared, drawn |
//! | `waiting` | long work that heeds Ctrl-C and shows how far it is |
//! | `child` | work on FMUs in a second process, which this one looks after |
//! | `columns` | results, read by numpy and Arrow without a copy |
//! | `stepper` | a run step by step |
//! | `pool` | many runs on all cores |
//! | `analysis` | checks, models, stability and advice of systems with parts in Python |
//! | `pages` | results and comparisons as HTML |
//! | `code_part`, `code_method`, `call` | parts and coupling methods that are written in Python |
//! | `errors` | errors as exceptions |
//!
//! Nothing here is `unsafe`: memory is shown to Python by its address, and is kept alive by the object that shows it.
//!
//! Linux only, as processes for FMUs are: elsewhere the crate is empty.

#![cfg(target_os = "linux")]

mod analysis;
mod call;
mod child;
mod code_method;
mod code_part;
mod columns;
mod core;
mod errors;
mod pages;
mod pool;
mod recipe;
mod settings;
mod stepper;
mod waiting;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Does what a command line says, the name of the program first, and gives the exit code.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| match child::task_of(&words) {
        Some(task) => child::serve(&task),
        None => number(costep_cli::main(words)),
    })
}

/// The number behind an exit code.
fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(u8::MAX)
}

/// Says how `python -m costep` is started, so that FMUs can have processes of their own.
#[pyfunction]
fn launched_by(interpreter: PathBuf, arguments: Vec<OsString>) {
    costep_supervise::launched_by(interpreter, arguments);
    costep_supervise::offer_workers();
}

/// A time with a unit, `5 ms`, in seconds.
#[pyfunction]
fn parse_time(text: &str) -> PyResult<f64> {
    costep_core::quantity::parse_time(text).map_err(errors::raise)
}

/// Times as a list or a range, `1ms..5ms:5`, in seconds.
#[pyfunction]
fn parse_times(text: &str) -> PyResult<Vec<f64>> {
    costep::parse_times(text).map_err(errors::raise)
}

/// A time in seconds as short text: `5 ms`.
#[pyfunction]
fn format_time(seconds: f64) -> String {
    costep_core::quantity::format_time(seconds)
}

/// What the package `costep` is built on. Not for others: it changes with the package.
#[pymodule]
fn _costep(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", errors::class(module.py())?)?;
    module.add_class::<core::Core>()?;
    module.add_class::<columns::Columns>()?;
    module.add_class::<columns::Memory>()?;
    module.add_class::<stepper::Stepper>()?;
    module.add_class::<stepper::State>()?;
    module.add_class::<pool::Pool>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(launched_by, module)?)?;
    module.add_function(wrap_pyfunction!(parse_time, module)?)?;
    module.add_function(wrap_pyfunction!(parse_times, module)?)?;
    module.add_function(wrap_pyfunction!(format_time, module)?)?;
    module.add_function(wrap_pyfunction!(columns::read_recording, module)?)?;
    module.add_function(wrap_pyfunction!(pages::run_page, module)?)?;
    module.add_function(wrap_pyfunction!(pages::comparison_page, module)?)?;
    module.add_function(wrap_pyfunction!(analysis::stability, module)?)?;
    module.add_function(wrap_pyfunction!(analysis::check, module)?)?;
    module.add_function(wrap_pyfunction!(analysis::export_ssp, module)?)?;
    module.add_function(wrap_pyfunction!(analysis::identify, module)?)?;
    module.add_function(wrap_pyfunction!(analysis::advise, module)?)?;
    module.add_function(wrap_pyfunction!(waiting::heed_signals, module)?)?;
    module.add_function(wrap_pyfunction!(stepper::forked, module)?)
}
