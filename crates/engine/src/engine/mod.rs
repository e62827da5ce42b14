//! The macro-step loop.
//!
//! ```text
//! +-> method.pre_step     input polynomials <- f(history, outputs)          per group of connections
//! |   stage by stage      known inputs interpolated, subsystems stepped     in parallel, disjoint slices
//! |   guard.check         finite? within bounds? end time reached?
//! |   method.post_step -> Repeat: restore, again | Accept
//! +-- outputs, history and coupled inputs move on; T^k = start + k h, never t += h
//! ```
//!
//! A method may ask for a macro step in equal parts; each is then done like a step of its own.
//!
//! After the first steps (which fill the caches of integrators and methods, and may start threads) nothing in here
//! takes memory, a lock or a look at a name.

/// What the subsystems of a stage are stepped with. A macro, because it borrows fields of the engine beside the
/// subsystems and their outputs.
macro_rules! job {
    ($engine:ident, $stage:expr, $interval:expr, $step:expr, $clocks:expr) => {
        $crate::job::Job {
            interval: $interval,
            step: $step,
            stage: &$engine.schedule.stages[$stage],
            descriptions: &$engine.descriptions,
            layout: &$engine.layout,
            coupling: &$engine.coupling,
            inputs: &$engine.inputs,
            segments: &$engine.segments,
            clocks: $clocks,
            environments: &$engine.environments,
        }
    };
}

mod arrive;
mod build;
mod plain;
mod state;
mod step;
mod view;

use costep_core::{
    Coupling, Description, EnvironmentModel, Experiment, External, History, InputPolynomials, Layout,
    ModelSource, SegmentPlace, Subsystem,
};

use crate::clocks::Clocks;
use crate::guard::Guard;
use crate::rows::Lane;
use crate::schedule::Schedule;
use crate::system::Group;
use crate::threads::ThreadChoice;

/// A coupled system on its way through time.
pub struct Engine {
    experiment: Experiment,
    subsystems: Vec<Box<dyn Subsystem>>,
    descriptions: Vec<Description>,
    layout: Layout,
    coupling: Coupling,
    externals: Vec<(usize, External)>,
    /// The inputs that `externals` end at, each once.
    external_inputs: Vec<usize>,
    groups: Vec<Group>,
    /// Number of diagnostic columns of each group.
    diagnostic_counts: Vec<usize>,
    /// Order of the polynomial of each input, by its group.
    input_orders: Vec<usize>,
    /// Where the inputs of each subsystem are, in the highest order of its groups.
    segments: Vec<SegmentPlace>,
    /// All inputs are the coupled ones, held over the step.
    holds: bool,
    /// Inputs of discrete signals, which no method forms.
    held: Vec<usize>,
    /// Whether an input is held at its mean where that is known, by its group.
    hold_known_mean: Vec<bool>,
    needs_known_means: bool,
    schedule: Schedule,
    /// Per stage.
    lanes: Vec<Vec<Lane>>,
    guard: Guard,
    threads: ThreadChoice,
    rollback: bool,
    /// The steps that follow are plain.
    plain: bool,
    /// Groups that form their coupled inputs themselves, may want steps in parts, look at the outcome of a step.
    forming: Vec<usize>,
    dividing: Vec<usize>,
    /// Of a macro step that is divided.
    parts: usize,
    looking_back: Vec<usize>,
    models: Box<dyn ModelSource>,
    needs_models: bool,
    /// The rest of the system as each subsystem sees it, if a method asks for it.
    environments: Vec<EnvironmentModel>,
    /// Room for means of outputs over the step.
    mean: Vec<f64>,
    /// u(T^k) at the end of the last step, if somebody needs it.
    u_end: Vec<f64>,
    /// Subsystems whose inputs may end otherwise than their polynomials.
    own_ends: Vec<usize>,

    /// Number of accepted steps; the engine stands at T^k.
    k: u64,
    resumed: bool,
    failed: bool,
    /// y^k and y^(k+1).
    y: Vec<f64>,
    y_next: Vec<f64>,
    /// z^k = L y^k + r(T^k).
    coupled: Vec<f64>,
    /// r(T^k) and r(T^(k+1)).
    external: Vec<f64>,
    external_next: Vec<f64>,
    history: History,
    inputs: InputPolynomials,
    /// Length of the step that `inputs` are of: h, that of a part, or 0 at the start.
    last_length: f64,
    subsystem_steps: u64,
    /// Macro steps that were done in parts.
    divided_steps: u64,
    /// Times of steps, and whether this step is timed.
    clocks: Clocks,
    timed: bool,
    /// Accepted steps of this process, and all, with those that were repeated.
    stepped: u64,
    attempts: u64,
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.subsystems.iter_mut().for_each(|subsystem| subsystem.terminate());
    }
}
