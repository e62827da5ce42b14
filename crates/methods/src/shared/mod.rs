//! What several coupling methods use.

pub mod extrapolation;
pub(crate) mod interface;
pub(crate) mod law;
pub(crate) mod legendre;
pub(crate) mod models;
pub(crate) mod packed;
pub(crate) mod per_subsystem;
pub(crate) mod response;
pub mod seen_outputs;
pub(crate) mod sizes;
