//! Where local models of subsystems come from, one file per source.

mod exact;

pub use exact::Exact;
