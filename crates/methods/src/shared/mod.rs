//! What several coupling methods use.

pub mod extrapolation;
pub mod smoothing;
