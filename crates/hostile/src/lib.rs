//! Hostile bytes for every reader of files: what is read, from which seeds, changed how.
//!
//! A [`Target`] takes any bytes and must neither panic nor hang; whether they are accepted is another question. Three
//! drivers share the targets: the tests of this crate (a fixed number of inputs from a fixed seed), its program (for as many
//! minutes as wanted, `cargo xtask fuzz`), and libFuzzer, which is guided by coverage (`fuzz/`, `cargo xtask fuzz --coverage`).

mod archives;
mod found;
mod mutation;
mod seeds;
mod tally;
mod targets;

pub use found::FoundSeeds;
pub use mutation::Random;
pub use tally::{Counts, Tally};
pub use targets::{MOST_MEMORY, Outcome, TARGETS, Target, target};
