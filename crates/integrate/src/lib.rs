//! Integrators for subsystems that are given as equations: one file each.
//!
//! [`Equations`] are what integrators see: x' = f(t, x, u), y = g(t, x, u), of a native model ([`Ode`]), of
//! an FMU for Model Exchange, or of a [`Whole`] system, with [`Events`] where there are some.
//! [`Integrator`] takes inner steps and interpolates between their ends; [`EventDriver`] finds and handles
//! events with any of them. [`Integrated`] makes a [`costep_core::Subsystem`] of equations and a
//! [`Solver`]. A new integrator is a file that implements [`Integrator`] and a variant of [`Solver`].

mod answer;
mod dopri5;
mod environment;
mod equations;
mod euler;
mod events;
mod exact_lti;
mod inner_steps;
mod integrated;
mod integrator;
mod linear;
mod linear_implicit;
pub mod multistep;
mod ode;
mod rk4;
mod roots;
mod sampler;
mod solver;
mod stepper;
mod whole;

pub use equations::{AfterEvent, Equations, Events, Lifecycle};
pub use events::{EventCounts, EventDriver};
pub use integrated::Integrated;
pub use integrator::{DIAGNOSTICS, Integrator, Start, Stretch};
pub use linear::Linear;
pub use ode::{Ode, Renamable};
pub use sampler::{Path, Sampler};
pub use solver::{Solver, SolverEntry, SolverSetting, Solvers};
pub use stepper::Stepper;
pub use whole::{Whole, members};
