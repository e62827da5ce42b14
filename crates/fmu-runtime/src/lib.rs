//! The shared library inside every FMU that costep exports, for FMI 2.0 and 3.0, Co-Simulation and Model
//! Exchange.
//!
//! It knows all models; a text among the FMU's resources ([`Plan`]) says which part of which model it is, with
//! which parameters, and which value reference stands for what. So an FMU is made by packing files: no
//! compiler is needed. Every FMU holds its own copy of the library, so that several of them do not meet.
//!
//! | module | role |
//! |---|---|
//! | `subjects` | the systems that only tests and benchmarks use: a lag and a wide one |
//! | `plan` | the text that says what the FMU is |
//! | `instance` | an instance: values, phases, steps |
//! | `asked` | inputs that the importer is asked for inside a step (FMI 3) |
//! | `derivatives` | directional and adjoint derivatives |
//! | `stored` | stored states and their bytes |
//! | `abi` | what the C functions share; `fmi2`, `fmi3`, `fmi3_step` the functions |

mod derivatives;
mod instance;
mod plan;
mod requested_inputs;
mod stored;
mod test_systems;

#[cfg(feature = "library")]
mod abi;
#[cfg(feature = "library")]
mod fmi2;
#[cfg(feature = "library")]
mod fmi3;
#[cfg(feature = "library")]
mod fmi3_step;

pub use instance::{Instance, Kind, MAX_ORDER};
pub use plan::{Capability, PLAN_FILE, Plan, Role, folder_of_uri};
pub use requested_inputs::{REQUESTED_INSTANTS, instant};
pub use stored::Stored;
pub use test_systems::{TEST_SYSTEMS, find};
