//! Integrators for subsystems that are given as equations: one file each. [`Native`] makes a
//! [`costep_core::Subsystem`] of an [`Ode`] and a [`Solver`].

mod composite;
mod dopri5;
mod euler;
mod exact_lti;
pub mod multistep;
mod native;
mod ode;
mod rk4;
mod solver;

pub use composite::Composite;
pub use native::Native;
pub use ode::{Ode, Part, Renamable};
pub use solver::{Integrator, Solver};
