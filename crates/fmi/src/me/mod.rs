//! An FMU for Model Exchange as a subsystem that costep integrates.
//!
//! Inputs are polynomials of time and exact at every evaluation. Jumps of them at communication points are
//! events, as are changes of event indicators, announced times and wishes after inner steps; see
//! [`EventDriver`](costep_integrate::EventDriver).

mod equations;
mod lifecycle;
mod memoryless;
mod signature;

use std::sync::Arc;
use std::time::Duration;

use costep_core::{
    Capable, Code, Description, Error, Linearised, ModelOrigin, Persistence, PortSize, Result, Rollback,
    StateReader, StateWriter, Subsystem, Wrapper,
};
use costep_fmu_file::{ModelDescription, Values, settings};
use costep_integrate::{Equations, EventCounts, Integrated, Solver};

use crate::call::library::FmuLibrary;
use crate::call::log::Message;
use crate::cs::InputRouting;
use crate::variations::SignalVariations;
use signature::{RollbackBy, Signature};

pub use equations::FmuEquations;

/// How an FMU is used.
#[derive(Clone, Debug)]
pub struct ModelExchangeOptions {
    /// Values of parameters, inputs and start values, by name, as for Co-Simulation.
    pub parameters: Vec<(String, Values)>,
    /// The integrator.
    pub solver: Solver,
    /// Debug messages. None = as few as give a reason for errors.
    pub logging: Option<bool>,
    /// How long a call into the FMU may take, as for Co-Simulation.
    pub step_timeout: Option<Duration>,
    /// How inputs reach it.
    pub routing: InputRouting,
    /// What is continuous or discrete against its description. Inputs that change at events only stay
    /// discrete.
    pub variations: SignalVariations,
    /// Sizes of ports that are not those of its description.
    pub sizes: Vec<PortSize>,
}

impl Default for ModelExchangeOptions {
    fn default() -> Self {
        Self {
            parameters: Vec::new(),
            solver: Solver::Dopri5(1e-8),
            logging: None,
            step_timeout: None,
            routing: InputRouting::default(),
            variations: SignalVariations::default(),
            sizes: Vec::new(),
        }
    }
}

/// An instance of an FMU for Model Exchange with an integrator.
pub struct ModelExchangeSubsystem {
    inner: Integrated<FmuEquations>,
}

impl ModelExchangeSubsystem {
    /// Makes an instance of an FMU under a name. The library has been loaded for Model Exchange.
    pub fn new(library: &Arc<FmuLibrary>, name: &str, options: &ModelExchangeOptions) -> Result<Self> {
        let equations = FmuEquations::new(library, name, options)?;
        Ok(Self { inner: Integrated::new(equations, &options.solver)? })
    }

    /// What an instance would look like from outside, by the model description alone: nothing is loaded or
    /// called.
    pub fn describe(
        fmu: &ModelDescription,
        name: &str,
        options: &ModelExchangeOptions,
    ) -> Result<Description> {
        Self::outline(fmu, name, options).map(|(description, _)| description)
    }

    /// The same, with its number of states.
    pub fn outline(
        fmu: &ModelDescription,
        name: &str,
        options: &ModelExchangeOptions,
    ) -> Result<(Description, usize)> {
        let Some(kind) = &fmu.model_exchange else {
            return Err(Error::new(Code::FmuInterface, "the FMU is not for Model Exchange"));
        };
        let signature = Signature::of(fmu, kind, name, options)?;
        Ok((signature.description, signature.states))
    }

    /// Settings by which an instance starts in these states: they are start values of the state variables.
    pub fn start_values(
        fmu: &ModelDescription,
        options: &ModelExchangeOptions,
        mut x: &[f64],
    ) -> Result<Vec<(String, Values)>> {
        let sizes = settings::sizes(&settings::settings(fmu, &options.parameters)?);
        let mut values = Vec::new();
        for state in fmu.states() {
            let name = &fmu.variables()[state.state].name;
            let elements = settings::elements(fmu, state.state, &sizes)?;
            let (own, rest) = x.split_at_checked(elements).ok_or_else(|| not_listed(fmu))?;
            x = rest;
            let own = settings::fit_value(fmu, name, &Values::Float64(own.to_vec()));
            let own = own.map_err(|cause| {
                let cause = cause.details().cause.clone().unwrap_or_default();
                Error::new(Code::FmuValue, format!("its state `{name}` takes no start value: {cause}"))
            })?;
            values.push((name.clone(), own));
        }
        if x.is_empty() { Ok(values) } else { Err(not_listed(fmu)) }
    }

    /// The last messages of the FMU, the oldest first.
    pub fn messages(&self) -> Vec<Message> {
        self.inner.equations().instance.messages()
    }

    /// Number of calls that returned Warning.
    pub fn warnings(&self) -> u64 {
        self.inner.equations().instance.warnings()
    }

    /// Events and inner steps since the start.
    pub fn events(&self) -> EventCounts {
        self.inner.event_counts()
    }

    /// The present states.
    pub fn state(&self) -> &[f64] {
        self.inner.state()
    }

    /// The library it is an instance of.
    pub fn library(&self) -> &Arc<FmuLibrary> {
        &self.inner.equations().instance.library
    }

    /// What a user may want to know and is not an error.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let equations = self.inner.equations();
        if equations.model_origin() == ModelOrigin::Differences && equations.states() > 0 {
            notes
                .push("it has no directional derivatives: its local model is computed by differences".into());
        }
        if let Some(state) = equations.bad_nominal {
            let name = equations.state_name(state);
            notes.push(format!("the nominal value of `{name}` is not positive: 1 is used"));
        }
        if equations.rollback == RollbackBy::OwnStates {
            notes
                .push("its state is restored from time, states and inputs: it has no discrete states".into());
        }
        notes
    }
}

#[cold]
fn not_listed(fmu: &ModelDescription) -> Error {
    let name = &fmu.model_name;
    Error::new(
        Code::FmuValue,
        format!("the description of `{name}` does not say which variables its states are"),
    )
}

impl Wrapper for ModelExchangeSubsystem {
    fn inner(&self) -> &dyn Subsystem {
        &self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut self.inner
    }

    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        if self.inner.equations().rollback == RollbackBy::No { None } else { self.inner.rollback() }
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        if self.inner.equations().states() == 0 { None } else { self.inner.linearised() }
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        if self.inner.equations().can_be_saved() { Some(self) } else { None }
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        if self.inner.equations().can_be_saved() { Some(self) } else { None }
    }
}

impl Persistence for ModelExchangeSubsystem {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        let equations = self.inner.equations();
        let bytes = equations.state_bytes(self.inner.has_time_events())?;
        out.integer(self.inner.is_stepping().into());
        out.real(equations.instance.end().unwrap_or(f64::NAN));
        out.real(self.inner.time());
        out.real(equations.sent.last_event);
        out.reals(self.inner.state());
        out.reals(&equations.sent.u);
        self.inner.save_solver(out);
        out.block(&self.inner.environment_bytes());
        out.block(&bytes);
        equations.outputs.save_texts(out);
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        if from.index(2)? == 1 {
            self.inner.start()?;
        }
        let (end, t, last_event) = (from.real()?, from.real()?, from.real()?);
        let mut x = self.inner.state().to_vec();
        from.reals(&mut x)?;
        self.inner.set_state(t, &x);
        let mut u = vec![0.0; self.inner.equations().sent.u.len()];
        from.reals(&mut u)?;
        self.inner.load_solver(from)?;
        self.inner.set_environment_bytes(from.block()?);
        let bytes = from.block()?.to_vec();
        let equations = self.inner.equations_mut();
        equations.outputs.load_texts(&equations.instance, from)?;
        equations.put_back(&bytes, u, last_event)?;
        equations.instance.set_end(end);
        Ok(())
    }
}
