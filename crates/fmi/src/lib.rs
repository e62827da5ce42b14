//! FMUs as subsystems: models that other tools export by the FMI standard, versions 1.0, 2.0 and 3.0,
//! called.
//!
//! Their files are read by the crate `costep-fmu-file`.
//!
//! | module | role |
//! |---|---|
//! | `call` | the shared library, all `unsafe` code: `ffi1`, `ffi2`, `ffi3` its functions; `instance`, `exchange`, `states`, `values` calls of one instance; `intermediate`, `log` its callbacks |
//! | `copies` | copies of this process that FMUs make by `fork` |
//! | `cs` | an FMU for Co-Simulation as a subsystem |
//! | `leaving` | the end of a program that has called FMUs |
//! | `me` | an FMU for Model Exchange as a subsystem that costep integrates |
//! | `notice` | what FMUs have to say while they are called |
//! | `variations` | signals that are continuous or discrete against their description |
//! | `trace` | which FMU is in which call, for whoever watches this process |
//!
//! Instances of an FMU share its library:
//!
//! ```no_run
//! use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, FmuLibrary};
//! use costep_fmu_file::{Fmu, Values};
//!
//! # fn main() -> costep_core::Result<()> {
//! let library = FmuLibrary::load(&mut Fmu::open("engine.fmu")?)?;
//! let parameters = vec![("inertia".to_owned(), Values::Float64(vec![0.2]))];
//! let options = CoSimulationOptions { parameters, ..CoSimulationOptions::default() };
//! let left = CoSimulationSubsystem::new(&library, "left", &options)?;
//! let right = CoSimulationSubsystem::new(&library, "right", &options)?;
//! # Ok(())
//! # }
//! ```

mod call;
mod copies;
mod cs;
mod leaving;
mod me;
mod notice;
pub mod trace;
mod unwinding;
mod variations;

pub use call::library::{DEFAULT_TIMEOUT, FmuLibrary, model_identifier, required_functions};
#[doc(hidden)]
pub use call::log::formatted_with_any_arguments;
pub use call::log::{Message, Status};
pub use call::preload::{PYTHON_LIBRARY, missing_python, preload, python_of_environment};
pub use cs::{CoSimulationOptions, CoSimulationSubsystem, InputRouting, is_tunable};
pub use leaving::{flush_printed, leave, leave_at_once};
pub use me::{FmuEquations, ModelExchangeOptions, ModelExchangeSubsystem};
pub use notice::{Notice, hear_no_more, listen, tell, unheard};
pub use unwinding::stopping_exceptions;
pub use variations::SignalVariations;
