//! Calls into the shared library of an FMU. All `unsafe` code of this crate is in this module; what leaves it is safe
//! to use, as far as the FMU itself behaves.

pub(crate) mod batch;
mod ending;
pub(crate) mod events;
pub(crate) mod exchange;
pub(crate) mod ffi1;
pub(crate) mod ffi2;
pub(crate) mod ffi3;
mod first;
pub(crate) mod floating_point;
pub(crate) mod instance;
mod instantiate;
pub(crate) mod intermediate;
pub(crate) mod library;
pub(crate) mod live;
pub(crate) mod lockstep;
pub(crate) mod log;
pub(crate) mod preload;
mod python_code;
mod shared;
pub(crate) mod states;
mod step;
mod store;
pub(crate) mod symbols;
pub(crate) mod texts;
mod values;
