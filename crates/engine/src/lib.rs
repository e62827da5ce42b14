//! The engine: one macro-step loop for every coupling method and every kind of subsystem.
//!
//! An engine is a plan (what is known before the first step), a plant (what is stepped), an exchange (the signals) and a
//! ledger (where the run stands). `engine` is the loop; the length of the steps, scheduling, guards, divergence, initial
//! values, threads and checkpoints have a file each.

mod checkpoint;
mod checks;
mod clocks;
mod control;
pub mod divergence;
mod draft;
mod engine;
mod exchange;
mod gate;
mod guard;
mod initialise;
mod job;
mod ledger;
mod loops;
mod plan;
mod plant;
mod pool;
mod rates;
mod reach;
mod run;
mod schedule;
mod step_control;
mod substeps;
mod sync;
mod system;
mod threads;
mod units;

pub use checkpoint::{CHECKPOINTS, Checkpoints};
pub use control::{CONTROLS, ControlEntry, ControlSpec};
pub use engine::{Engine, MarkedState};
pub use guard::Bounds;
pub use rates::Rate;
pub use run::{Flow, Observer, StopFlag, TimeLimit};
pub use schedule::{Schedule, Scheduling};
pub use step_control::{ControlView, FixedSteps, InputTraits, ListedSteps, StepControl, StepCounts};
pub use system::{Group, System, Threads};
