//! What exists to follow a paper to the letter, apart from what users choose from: options, tables of
//! optimal values, and laws that the papers have with identified models. `costep methods ID` lists these
//! options by themselves.
//!
//! `thesis.rs` has the variants of \[T\] that `prestep` can be asked for, `learnt/` what `prestep`, `mbcorr`
//! and `predictive` do with discrete models that are identified while the run goes.

pub(crate) mod learnt;
pub(crate) mod thesis;

pub use learnt::options::{Fallback, PhaseOptions};
pub use learnt::phases::Phase;
pub use learnt::prestep::{CUT, DiscreteForm, ErrorEquation};
