//! Integrators for subsystems that are given as equations: one file each.
//!
//! [`Dynamics`] is what integrators see: x' = f(t, x, u), of native equations or of an FMU for Model Exchange;
//! [`Hybrid`] adds events. [`Integrator`] takes inner steps and interpolates between their ends; [`EventDriver`] finds
//! and handles events with any of them. [`Native`] makes a [`costep_core::Subsystem`] of an [`Ode`] and a [`Solver`].
//! A new integrator is a file that implements [`Integrator`] and a variant of [`Solver`].

mod answer;
mod beside;
mod composite;
mod dopri5;
mod dynamics;
mod euler;
mod events;
mod exact_lti;
mod inner_steps;
mod integrator;
mod linear;
pub mod multistep;
mod native;
mod ode;
mod rk4;
mod roots;
mod solver;
mod stepper;
mod whole;

pub use answer::{Answer, StateDifferences, solver_beside};
pub use composite::Composite;
pub use dynamics::{AfterEvent, Dynamics, Hybrid};
pub use events::{EventCounts, EventDriver};
pub use integrator::{DIAGNOSTICS, Integrator, Sampler, Start, Stretch};
pub use linear::Linear;
pub use native::Native;
pub use ode::{Ode, Part, Renamable};
pub use solver::Solver;
pub use stepper::{Path, Stepper};
pub use whole::{Component, members};
