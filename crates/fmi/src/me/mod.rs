//! An FMU for Model Exchange as a subsystem that costep integrates.
//!
//! Inputs are polynomials of time and exact at every evaluation. Jumps of them at communication points are events, as
//! are changes of event indicators, announced times and wishes after inner steps; see [`EventDriver`].

mod beside;
mod component;
mod dynamics;
mod memory;
mod signature;
mod subsystem;

use std::sync::Arc;
use std::time::Duration;

use costep_core::{Code, Description, Error, Linearised, MicroSampling, ModelOrigin, Result};
use costep_fmu_file::settings::{Moment, Setting};
use costep_fmu_file::{FmiVersion, ModelDescription, Values};
use costep_integrate::{AfterEvent, Dynamics, EventCounts, EventDriver, Integrator, Sampler, Solver};

use crate::call::instance::Instance;
use crate::call::library::{DEFAULT_TIMEOUT, FmuLibrary};
use crate::call::log::Message;
use crate::call::states::FmuState;
use crate::cs::InputWays;
use beside::Beside;
use dynamics::{FmuDynamics, MicroBuffer, Slopes, Told};
use signature::{RollbackBy, Signature, differences};

/// Room for samples at events, beyond those between.
const EVENT_SAMPLES: usize = 64;

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
    pub ways: InputWays,
}

impl Default for ModelExchangeOptions {
    fn default() -> Self {
        Self {
            parameters: Vec::new(),
            solver: Solver::Dopri5(1e-8),
            logging: None,
            step_timeout: None,
            ways: InputWays::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Made, reset or ended.
    Instantiated,
    /// In initialisation mode.
    Initialising,
    /// In continuous-time mode: steps can be done.
    Stepping,
    /// Ended; only a reset helps.
    Terminated,
}

/// An instance of an FMU for Model Exchange with an integrator.
pub struct ModelExchangeSubsystem {
    description: Description,
    phase: Phase,
    t: f64,
    x: Vec<f64>,
    dynamics: FmuDynamics,
    integrator: Box<dyn Integrator<FmuDynamics>>,
    driver: EventDriver,
    sampling: MicroSampling,
    sampler: Option<Box<Sampler>>,
    /// Outputs inside the last real step, put aside during trial steps.
    paused: Option<Box<MicroBuffer>>,
    settings: Vec<Setting>,
    tolerance: Option<f64>,
    solver: Solver,
    /// Steps beside a model of the rest of the system.
    beside: Option<Box<Beside>>,
    /// As a part of a whole: it has announced a time event.
    has_times: bool,
    /// What a checkpoint holds for these, until they are made.
    beside_saved: Vec<u8>,
    /// Inner step of explicit Euler; 0 = another solver.
    euler_step: f64,
    rollback: RollbackBy,
    saved: Saved,
}

/// What belongs to the last snapshot.
struct Saved {
    /// Not a number: there is none.
    t: f64,
    x: Vec<f64>,
    told: Told,
    nominal: Vec<f64>,
    /// Time at which the FMU had asked for the end by then; not a number = it had not.
    end: f64,
    state: FmuState,
}

impl ModelExchangeSubsystem {
    /// Makes an instance of an FMU under a name. The library has been loaded for Model Exchange.
    pub fn new(library: &Arc<FmuLibrary>, name: &str, options: &ModelExchangeOptions) -> Result<Self> {
        let fmu = library.description();
        let kind = library.model_exchange();
        let mut signature = Signature::of(fmu, kind, name, options)?;
        let logging = options.logging.unwrap_or(fmu.fmi_version == FmiVersion::V3);
        let limit = Some(options.step_timeout.unwrap_or(DEFAULT_TIMEOUT)).filter(|limit| !limit.is_zero());
        let instance = Instance::new(library, name, logging, None, limit)?;
        // The description promises; the library has to have the functions too.
        if signature.rollback == RollbackBy::FmuState && !instance.can_store_states() {
            signature.rollback = RollbackBy::No;
        }
        let offers = &library.model_exchange().interface;
        let has_slopes = match offers.provides_directional_derivatives {
            true => instance.has_directional(),
            false => instance.has_adjoint(),
        };
        if matches!(signature.slopes, Slopes::Directional(_)) && !has_slopes {
            signature.slopes =
                differences(&signature.states, &signature.outputs, &signature.description.inputs);
        }
        let (states, inputs) = (signature.states.width(), signature.inputs.total());
        let told = Told { t: f64::NAN, u: vec![f64::NAN; inputs], last_event: f64::NEG_INFINITY };
        let mut dynamics = FmuDynamics {
            name: name.to_owned(),
            instance,
            inputs: signature.inputs,
            outputs: signature.outputs,
            state_names: signature.state_names,
            indicators: signature.indicators,
            nominal: vec![1.0; states],
            continuous_inputs: signature.continuous_inputs,
            wants_completed_steps: kind.needs_completed_integrator_step,
            may_go_back: false,
            told: told.clone(),
            micro: None,
            slopes: Some(signature.slopes),
            discarded: None,
            bad_nominal: None,
            rest: None,
        };
        let integrator = options.solver.integrator(&mut dynamics)?;
        Ok(Self {
            description: signature.description,
            phase: Phase::Instantiated,
            t: 0.0,
            x: vec![0.0; states],
            integrator,
            driver: EventDriver::new(states, inputs, signature.indicators),
            sampling: signature.sampling,
            sampler: None,
            paused: None,
            settings: signature.settings,
            tolerance: options.solver.tolerance(),
            solver: options.solver,
            beside: None,
            beside_saved: Vec::new(),
            has_times: false,
            euler_step: if let Solver::Euler(step) = options.solver { step } else { 0.0 },
            rollback: signature.rollback,
            saved: Saved {
                t: f64::NAN,
                x: vec![0.0; states],
                told,
                nominal: vec![1.0; states],
                end: f64::NAN,
                state: FmuState::none(),
            },
            dynamics,
        })
    }

    /// What an instance would look like from outside, by the model description alone: nothing is loaded or called.
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
        Ok((signature.description, signature.states.width()))
    }

    /// The last messages of the FMU, the oldest first.
    pub fn messages(&self) -> Vec<Message> {
        self.dynamics.instance.messages()
    }

    /// Number of calls that returned Warning.
    pub fn warnings(&self) -> u64 {
        self.dynamics.instance.warnings()
    }

    /// Events and inner steps since the start.
    pub fn events(&self) -> EventCounts {
        self.driver.counts()
    }

    /// The present states.
    pub fn state(&self) -> &[f64] {
        &self.x
    }

    /// The library it is an instance of.
    pub fn library(&self) -> &Arc<FmuLibrary> {
        &self.dynamics.instance.library
    }

    /// What a user may want to know and is no error.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.origin() == ModelOrigin::Differences && !self.x.is_empty() {
            notes
                .push("it has no directional derivatives: its local model is computed by differences".into());
        }
        if let Some(state) = self.dynamics.bad_nominal {
            let name = self.dynamics.state_name(state);
            notes.push(format!("the nominal value of `{name}` is not positive: 1 is used"));
        }
        if self.rollback == RollbackBy::OwnStates {
            notes.push("its state is put back by time, states and inputs: it has nothing discrete".into());
        }
        notes
    }

    fn instance(&self) -> &Instance {
        &self.dynamics.instance
    }

    fn set(&self, moment: Moment) -> Result<()> {
        for setting in self.settings.iter().filter(|setting| setting.moment == moment) {
            self.instance().set_values(setting.reference, &setting.values)?;
        }
        Ok(())
    }

    /// Leaves the initialisation, if that has not been done.
    #[inline]
    fn start(&mut self) -> Result<()> {
        if self.phase == Phase::Stepping { self.instance().alive() } else { self.start_slowly() }
    }

    #[cold]
    fn start_slowly(&mut self) -> Result<()> {
        let after = self.leave_initialisation()?;
        let u = self.dynamics.told.u.clone();
        self.driver.start(&mut self.dynamics, (self.t, &mut self.x, &u), after)?;
        self.phase = Phase::Stepping;
        Ok(())
    }

    /// Ends the initialisation and reads states and nominal values.
    fn leave_initialisation(&mut self) -> Result<AfterEvent> {
        self.instance().alive()?;
        if self.phase != Phase::Initialising {
            return Err(self.instance().error(Code::Bug, "it is used before its initialisation"));
        }
        self.instance().exit_initialization()?;
        // Now it is in event mode.
        let mut after = self.dynamics.iterate(self.t, &mut self.x)?;
        if !self.x.is_empty() {
            self.dynamics.instance.get_states(&mut self.x)?;
        }
        self.dynamics.read_nominals()?;
        (self.dynamics.told.t, self.dynamics.told.last_event) = (self.t, self.t);
        let mut u = self.dynamics.told.u.clone();
        if u.iter().any(|u| u.is_nan()) {
            // Nobody has asked for initial outputs: the inputs are what the FMU has.
            self.dynamics.inputs.get(&self.dynamics.instance, &mut u)?;
            self.dynamics.inputs.forget_mapped(&mut u);
            self.dynamics.told.u.copy_from_slice(&u);
        }
        after.states_changed = true;
        Ok(after)
    }

    /// Says why an evaluation was not possible, if that is what made an integrator give up.
    #[cold]
    fn explained(&mut self, error: Error) -> Error {
        match (error.code(), self.dynamics.discarded.take()) {
            (Code::StepTooSmall | Code::NotFinite, Some(discarded)) => {
                let details = discarded.details();
                let cause = match &details.cause {
                    Some(cause) => format!("{}: {cause}", details.message),
                    None => details.message.clone(),
                };
                error.because(cause)
            }
            _ => error,
        }
    }
}
