//! Where local models of subsystems come from, one file per source; `sources.rs` lists them.

pub mod convert;
mod exact;
mod finite_difference;
mod renewal;
pub mod sources;

pub use exact::Exact;
pub use finite_difference::FiniteDifference;
pub use renewal::Refresh;
