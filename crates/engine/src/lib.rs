//! The engine: one macro-step loop for every coupling method and every kind of subsystem.
//!
//! `engine` is the loop; scheduling, guards, initial values, threads and checkpoints have a file each.

mod blame;
mod checkpoint;
mod checks;
mod clocks;
mod engine;
mod guard;
mod initialise;
mod job;
mod pool;
mod rows;
mod run;
mod schedule;
mod substeps;
mod system;
mod threads;

pub use checkpoint::Checkpoints;
pub use engine::Engine;
pub use guard::Bounds;
pub use run::{Flow, Observer, StopFlag, TimeLimit};
pub use schedule::{Schedule, Scheduling};
pub use system::{Group, System, Threads};
