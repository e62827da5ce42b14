//! What several coupling methods use.

pub mod extrapolation;
pub(crate) mod interface;
pub(crate) mod legendre;
pub(crate) mod models;
pub(crate) mod output_form;
pub(crate) mod response;
pub mod seen_outputs;
