//! No coupling at all: native models and FMUs for Model Exchange are solved as one system by one integrator, with
//! connections that hold at every instant.
//!
//! It replaces the subsystems, so that it is not a coupling method: who builds an engine asks [`is_monolithic`], makes the
//! parts members of one system (`Model::members`) and lets [`hold`] fill inputs that nobody looks at.

use costep_core::{
    Code, Condition, CouplingMethod, Deviations, Error, MethodEntry, ModelsSpec, Options, Request, Result,
    Signals, StepContext, SystemView, choice, options,
};

use crate::registry::MethodSpec;
use crate::zoh;

/// Beside the registry: it works with members only, not with every subsystem.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "monolithic",
    title: "all parts solved as one system",
    summary: "Native models and FMUs for Model Exchange are solved as one system of equations by one integrator, with \
              all their events; connections hold at every instant, in the order in which outputs depend on inputs. There \
              is no coupling error. Not for Co-Simulation FMUs, and not together with other methods.",
    equations: "x' = f(t, x, u),  y = g(t, x, u),  u = L y + r(t)",
    source: "classical",
    convergence_order: 0,
    deviations: Deviations::NONE,
    models: &[],
    options: MonolithicOptions::SPECS,
    papers: None,
    build,
};

choice! {
    /// The integrator of the whole.
    pub enum Integrator {
        /// Backward differentiation formulas.
        Bdf = "bdf",
        /// Adams-Moulton formulas.
        Adams = "adams",
        /// Dormand-Prince 5(4).
        Dopri5 = "dopri5",
        /// That of the project.
        Project = "project",
    }
}

const OWN_TOLERANCE: Condition =
    Condition::on("solver", &[Integrator::Bdf.word(), Integrator::Adams.word(), Integrator::Dopri5.word()]);

options! {
    /// What users choose from.
    pub struct MonolithicOptions {
        /// the integrator; `project`: that of the project, with its own settings
        solver: Integrator;
        /// relative tolerance of the integrator
        tolerance: f64 = 1e-8 in 1e-14..=0.1, only [OWN_TOLERANCE];
    }
}

/// Whether the parts are to be solved as one.
pub fn is_monolithic(spec: &MethodSpec) -> bool {
    spec.entry.id == ENTRY.id
}

/// What fills the inputs of members.
pub fn hold() -> Result<MethodSpec> {
    MethodSpec::of(&zoh::ENTRY, Vec::new())
}

fn build(_options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    Box::new(Refused)
}

/// A system whose parts are not one cannot be run with it.
struct Refused;

impl CouplingMethod for Refused {
    fn request(&self) -> Request {
        Request::default()
    }

    fn prepare(&mut self, _system: &SystemView<'_>) -> Result<()> {
        Err(Error::new(
            Code::NeedsMissing,
            "`monolithic` is for whole systems, not for groups of connections",
        )
        .hint("give it in [method], without groups"))
    }

    fn pre_step(&mut self, _step: &StepContext, _signals: &mut Signals<'_>) -> Result<()> {
        Err(Error::new(Code::Bug, "`monolithic` was asked for inputs"))
    }
}
