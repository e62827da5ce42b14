//! An FMU for Co-Simulation as a subsystem.

mod clocks;
mod events;
pub(crate) mod input_routing;
pub(crate) mod linear;
pub(crate) mod signals;
mod signature;
mod steps;
mod subsystem;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use costep_core::{Capabilities, Code, Description, Error, Linearisation, PortSize, Result};
use costep_fmu_file::settings::{self, Moment, Setting};
use costep_fmu_file::{FmiVersion, ModelDescription, Values};

use crate::call::instance::Instance;
use crate::call::intermediate::{Exchanged, Samples};
use crate::call::library::{DEFAULT_TIMEOUT, FmuLibrary};
use crate::call::log::Message;
use crate::call::states::FmuState;
use crate::variations::SignalVariations;
use events::Events;
use linear::Linear;
use signals::Signals;
use signature::Signature;
use steps::InputDerivatives;

pub use input_routing::{InputRouting, is_tunable};

/// Highest order of input polynomials.
const MAX_ORDER: usize = 8;

/// How an FMU is used.
#[derive(Clone, Debug, Default)]
pub struct CoSimulationOptions {
    /// Values of parameters, inputs and start values, by name. `Float64` and `Int64` fit any type of number that
    /// holds the value; an enumeration also takes the name of an item.
    pub parameters: Vec<(String, Values)>,
    /// Highest order of input polynomials to hand over, if the FMU interpolates its inputs. None = what an
    /// annotation for costep says, else 1 in FMI 1 and 2, where the FMU evaluates them and the standard has
    /// no attribute for it; 8 in FMI 3.
    pub input_order: Option<usize>,
    /// Tolerance for the solver of the FMU.
    pub tolerance: Option<f64>,
    /// Debug messages. None = as few as give a reason for errors: off in FMI 1 and 2, where errors are
    /// reported anyway, on in FMI 3, where else nothing is.
    pub logging: Option<bool>,
    /// How long a call into the FMU may take before whoever watches this process ends it. Zero = as long as it wants;
    /// None = [`DEFAULT_TIMEOUT`].
    pub step_timeout: Option<Duration>,
    /// The state is stored before every step, so that a step that the FMU discards can be done again in shorter ones.
    /// Without it this happens only where the coupling method has the state stored anyway.
    pub retry_discarded: bool,
    /// How inputs reach it.
    pub routing: InputRouting,
    /// What is continuous or discrete against its description.
    pub variations: SignalVariations,
    /// Sizes of ports that are not those of its description.
    pub sizes: Vec<PortSize>,
}

impl CoSimulationOptions {
    fn limit(&self) -> Option<Duration> {
        Some(self.step_timeout.unwrap_or(DEFAULT_TIMEOUT)).filter(|limit| !limit.is_zero())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Made, reset or ended.
    Instantiated,
    /// In initialisation mode.
    Initialising,
    /// Initialised: steps can be done.
    Stepping,
    /// Ended; only a reset helps.
    Terminated,
}

/// An instance of an FMU for Co-Simulation.
pub struct CoSimulationSubsystem {
    instance: Instance,
    phase: Phase,
    /// Inputs follow polynomials by intermediate update (FMI 3).
    follows: bool,
    /// There are ports of other types than 64 bits with a point, or inputs on ways of their own.
    mixed: bool,
    /// Highest order of input derivatives that the FMU was given in the last step.
    given: usize,
    /// A batch notes down what it did when somebody looks.
    time: Cell<f64>,
    /// Outputs inside the last step, if asked for.
    samples: Option<Box<Samples>>,
    linear: Option<Box<Linear>>,
    /// Events and early returns, if the FMU has any (FMI 3).
    events: Option<Box<Events>>,
    inputs: Signals,
    outputs: Signals,
    description: Description,
    /// What the FMU can really do.
    capabilities: Capabilities,
    /// Input the FMU has at the present time; kept if there is a local model. In FMI 1 that of the
    /// initialisation.
    active: RefCell<Vec<f64>>,
    derivatives: InputDerivatives,
    settings: Vec<Setting>,
    tolerance: Option<f64>,
    /// Discarded steps are done again in shorter ones.
    retries: bool,
    saved: Saved,
    /// State at the start of the last step and its time, if discarded steps are done again.
    before: (FmuState, f64),
}

/// What belongs to the last snapshot.
struct Saved {
    state: FmuState,
    /// Not a number: there is none.
    time: f64,
    active: Vec<f64>,
    /// Order of input derivatives.
    given: usize,
    /// Time at which the FMU had asked for the end by then; not a number = it had not.
    end: f64,
}

impl CoSimulationSubsystem {
    /// Makes an instance of an FMU under a name.
    pub fn new(library: &Arc<FmuLibrary>, name: &str, options: &CoSimulationOptions) -> Result<Self> {
        let fmu = library.description();
        let interface = &library.co_simulation().interface;
        let Signature { settings, inputs, declared, outputs, follows, linear, promised, mut description } =
            Signature::of(fmu, library.co_simulation(), name, options)?;
        let logging = options.logging.unwrap_or(fmu.fmi_version == FmiVersion::V3);
        let samples = promised.micro_samples.is_some();
        let exchanged = (follows || samples).then(|| Exchanged {
            inputs: if follows { inputs.followed() } else { Default::default() },
            outputs: if samples { (outputs.references.clone(), outputs.width()) } else { Default::default() },
            row: outputs.total(),
            order: MAX_ORDER,
        });
        let instance = Instance::new(library, name, logging, exchanged, options.limit())?;
        // The description promises; the library has to have the functions too.
        let rollback = promised.rollback && instance.can_store_states();
        let by_columns = interface.provides_directional_derivatives && instance.has_directional();
        let by_rows = interface.provides_adjoint_derivatives && instance.has_adjoint();
        let lacks_derivatives = interface.provides_derivatives() && !by_columns && !by_rows;
        let linearisation = if lacks_derivatives { Linearisation::None } else { promised.linearisation };
        if !follows && !instance.takes_input_derivatives() {
            description.input_order = 0;
        }
        // States are also read where finite differences with rollback may take the place of derivatives.
        let mut linear = match linearisation {
            Linearisation::Feedthrough if interface.provides_derivatives() => {
                Some(Linear::feedthrough((&inputs, &outputs)))
            }
            level => linear.filter(|_| rollback || level == Linearisation::Full),
        };
        if let Some(linear) = &mut linear {
            if !by_columns {
                linear.use_adjoint();
            }
            linear.set_euler_step(settings::euler_step(fmu, &settings).unwrap_or(0.0));
        }
        let states = linear.as_ref().map_or(0, Linear::states);
        // FMI 1 is initialised again if its inputs change before the first step.
        let is_first = fmu.fmi_version == FmiVersion::V1;
        let active = vec![0.0; if linear.is_some() || is_first { inputs.total() } else { 0 }];
        Ok(Self {
            events: Events::of(&instance, &declared),
            derivatives: InputDerivatives::new(inputs.followed(), &description),
            capabilities: Capabilities { rollback, linearisation, states, ..promised },
            description,
            mixed: inputs.is_mixed() || outputs.is_mixed(),
            inputs,
            outputs,
            follows,
            samples: None,
            phase: Phase::Instantiated,
            time: Cell::new(0.0),
            saved: Saved {
                state: FmuState::none(),
                time: f64::NAN,
                active: active.clone(),
                given: 0,
                end: f64::NAN,
            },
            given: 0,
            active: RefCell::new(active),
            linear: linear.map(Box::new),
            settings,
            tolerance: options.tolerance,
            retries: options.retry_discarded && rollback,
            before: (FmuState::none(), f64::NAN),
            instance,
        })
    }

    /// What an instance would look like from outside, by the model description alone: nothing is loaded or called.
    pub fn describe(
        fmu: &ModelDescription,
        name: &str,
        options: &CoSimulationOptions,
    ) -> Result<Description> {
        Self::outline(fmu, name, options).map(|(description, _)| description)
    }

    /// The same, with the number of its states, at most.
    pub fn outline(
        fmu: &ModelDescription,
        name: &str,
        options: &CoSimulationOptions,
    ) -> Result<(Description, usize)> {
        let Some(kind) = &fmu.co_simulation else {
            return Err(Error::new(Code::FmuInterface, "the FMU is not for Co-Simulation"));
        };
        let Signature { description, promised, .. } = Signature::of(fmu, kind, name, options)?;
        Ok((description, promised.states))
    }

    /// What an instance can do at most, by the model description alone.
    pub fn promises(
        fmu: &ModelDescription,
        name: &str,
        options: &CoSimulationOptions,
    ) -> Option<Capabilities> {
        let kind = fmu.co_simulation.as_ref()?;
        Signature::of(fmu, kind, name, options).ok().map(|signature| signature.promised)
    }

    /// The last messages of the FMU, the oldest first.
    pub fn messages(&self) -> Vec<Message> {
        self.instance.messages()
    }

    /// Number of messages of the FMU so far, those not kept included.
    pub fn message_count(&self) -> u64 {
        self.instance.message_count()
    }

    /// Number of calls that returned Warning.
    pub fn warnings(&self) -> u64 {
        self.instance.warnings()
    }

    /// Derivatives of all Float64 outputs with respect to time at the end of the last step, elements of arrays one by one.
    /// An error if the FMU does not offer derivatives of this order.
    pub fn output_derivatives(&self, order: u32, values: &mut [f64]) -> Result<()> {
        self.instance.alive()?;
        let offered = self.instance.library.co_simulation().max_output_derivative_order;
        let Some(wanted) = i32::try_from(order).ok().filter(|_| (1..=offered).contains(&order)) else {
            let what = format!("derivatives of outputs of order {order} are not offered, at most {offered}");
            return Err(self.instance.error(Code::NeedsMissing, &what));
        };
        assert_eq!(values.len(), self.outputs.width());
        let orders = vec![wanted; self.outputs.references.len()];
        self.instance.get_output_derivatives(&self.outputs.references, &orders, values)?;
        self.outputs.turn_derivatives(values);
        Ok(())
    }

    /// The library it is an instance of.
    pub fn library(&self) -> &Arc<FmuLibrary> {
        &self.instance.library
    }

    fn set(&self, moment: Moment) -> Result<()> {
        for setting in self.settings.iter().filter(|setting| setting.moment == moment) {
            self.instance.set_setting(setting)?;
        }
        Ok(())
    }

    /// What has to be set again on an instance that was put back.
    fn set_up_again(&mut self, u: &[f64]) -> Result<()> {
        self.set(Moment::Before)?;
        self.set(Moment::Within)?;
        self.set_inputs(u)
    }

    #[inline]
    fn set_inputs(&self, u: &[f64]) -> Result<()> {
        if self.mixed {
            return self.inputs.set(&self.instance, u);
        }
        if u.is_empty() { Ok(()) } else { self.instance.set_reals(&self.inputs.references, u) }
    }

    #[inline]
    fn get_outputs(&self, y: &mut [f64]) -> Result<()> {
        if self.mixed {
            return self.outputs.get(&self.instance, y);
        }
        if y.is_empty() { Ok(()) } else { self.instance.get_reals(&self.outputs.references, y) }
    }

    /// Leaves the initialisation, if that has not been done.
    #[inline]
    fn start(&mut self) -> Result<()> {
        if self.phase == Phase::Stepping { self.instance.alive() } else { self.start_slowly() }
    }

    #[cold]
    fn start_slowly(&mut self) -> Result<()> {
        self.instance.alive()?;
        if self.phase != Phase::Initialising {
            return Err(self.instance.error(Code::Bug, "it is used before its initialisation"));
        }
        self.instance.exit_initialization()?;
        self.phase = Phase::Stepping;
        match &mut self.events {
            Some(events) => events.start(&self.instance, self.time.get()),
            None => Ok(()),
        }
    }
}
