//! The description of a coupled system, whatever it is made of: built-in models, equations of a user, FMUs.
//!
//! A [`SystemDescription`] lists [`Component`]s and connections. From it come the subsystems of a coupled
//! run, the members of a monolithic one, and the [`Whole`](costep_integrate::Whole) that references are
//! computed with.

mod component;
mod description;
mod loops;
mod steady;

pub use component::{Component, MakeTrial, TrialPart, Variation};
pub use description::SystemDescription;
pub use loops::direct_loops;
pub use steady::StartedAt;
