//! Hostile bytes for every reader of files: what is read, from which seeds, changed how.
//!
//! A [`Target`] takes any bytes and must neither panic nor hang; whether they are accepted is another question. Three
//! drivers share the targets: the tests of this crate (a fixed number of inputs from a fixed seed), its program (for as many
//! minutes as wanted, `cargo xtask fuzz`), and the coverage-guided ones in `fuzz/` (`cargo fuzz`).

mod mutation;
mod seeds;
mod targets;

pub use mutation::{Random, mutated};
pub use targets::{TARGETS, Target, target};
