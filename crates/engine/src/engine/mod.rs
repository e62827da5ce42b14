//! The macro-step loop.
//!
//! ```text
//! +-> method.pre_step     input polynomials <- f(history, outputs)          per group of connections
//! |   stage by stage      known inputs interpolated, subsystems stepped     in parallel, disjoint slices
//! |   guard.check         finite? within bounds? end time reached?
//! |   method.post_step -> Repeat: restore, again | Reject: restore, again with a shorter step | Accept
//! +-- outputs, history and coupled inputs move on to where the step control goes next
//! ```
//!
//! A method may ask for a macro step in equal parts; each is then done like a step of its own.
//!
//! After the first steps (which fill the caches of integrators and methods, and may start threads) nothing in here
//! takes memory, a lock or a look at a name.

mod arrive;
mod build;
mod failed_trials;
mod halves;
mod state;
mod step;
mod view;

pub use state::MarkedState;

use costep_core::ModelSource;

pub(crate) use failed_trials::FailedTrials;

use crate::exchange::Exchange;
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::plant::Plant;
use crate::step_control::Pace;
use crate::system::Group;

/// A coupled system on its way through time.
pub struct Engine {
    plan: Plan,
    plant: Plant,
    exchange: Exchange,
    ledger: Ledger,
    /// Methods with the inputs that they form.
    groups: Vec<Group>,
    /// Local models of the subsystems.
    models: Box<dyn ModelSource>,
    pace: Pace,
    /// What was known before it was built.
    notes: Vec<String>,
}
