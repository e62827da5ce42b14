//! FMUs: models that other tools export by the FMI standard, versions 2.0 and 3.0.

mod archive;
mod limits;

pub use archive::{Archive, Entry};
pub use limits::Limits;
