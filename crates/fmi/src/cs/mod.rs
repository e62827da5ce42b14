//! An FMU for Co-Simulation as a subsystem.

mod clocks;
mod events;
pub(crate) mod linear;
pub(crate) mod settings;
pub(crate) mod signals;

use std::sync::Arc;
use std::time::Duration;

use costep_core::{
    Capabilities, Code, Description, Error, Experiment, InputSegment, Interval, LocalModel, MicroSamples,
    MicroSampling, Result, Row, StateReader, StateWriter, StepOutcome, Subsystem,
};
use costep_supervise::Call;

use crate::call::instance::Instance;
use crate::call::intermediate::{Exchanged, Samples};
use crate::call::library::{DEFAULT_TIMEOUT, FmuLibrary};
use crate::call::log::Message;
use crate::call::row::{Interruption, Place};
use crate::call::states::FmuState;
use crate::description::interface::CoSimulation;
use crate::description::value::Values;
use crate::description::words::Causality;
use crate::description::{FmiVersion, ModelDescription};
use events::{Events, Kept};
use linear::Linear;
use settings::{Moment, Setting};
use signals::Signals;

pub use settings::fit_value;
pub use signals::port_kind;

/// How often a discarded step is halved.
const MOST_HALVINGS: u32 = 10;
/// Highest order of input polynomials.
const MAX_ORDER: usize = 8;

/// How an FMU is used.
#[derive(Clone, Debug, Default)]
pub struct CoSimulationOptions {
    /// Values of parameters, inputs and start values, by name. `Float64` and `Int64` fit any type of number that
    /// holds the value; an enumeration also takes the name of an item.
    pub parameters: Vec<(String, Values)>,
    /// Highest order of input polynomials to hand over, if the FMU interpolates its inputs. None = what an annotation for
    /// costep says, else 1 in FMI 2, where the FMU evaluates them and the standard has no attribute for it; 8 in FMI 3.
    pub input_order: Option<usize>,
    /// Tolerance for the solver of the FMU.
    pub tolerance: Option<f64>,
    /// Debug messages. None = as few as give a reason for errors: off in FMI 2, where errors are reported anyway, on in
    /// FMI 3, where else nothing is.
    pub logging: Option<bool>,
    /// How long a call into the FMU may take before whoever watches this process ends it. Zero = as long as it wants;
    /// None = [`DEFAULT_TIMEOUT`].
    pub step_timeout: Option<Duration>,
    /// The state is stored before every step, so that a step that the FMU discards can be done again in shorter ones.
    /// Without it this happens only where the coupling method has the state stored anyway.
    pub retry_discarded: bool,
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
    /// There are ports of other types than 64 bits with a point.
    mixed: bool,
    /// Whether the communication step may change, and of what its solver's steps are, if these are fixed.
    any_step: bool,
    /// Highest order of input derivatives that the FMU was given in the last step.
    given: usize,
    /// Start of the interval that the stored state is of.
    saved_time: f64,
    time: f64,
    /// Outputs inside the last step, if asked for.
    samples: Option<Box<Samples>>,
    linear: Option<Box<Linear>>,
    /// Events and early returns, if the FMU has any (FMI 3).
    events: Option<Box<Events>>,
    inputs: Signals,
    outputs: Signals,
    description: Description,
    inner_step: Option<f64>,
    /// Input the FMU has at the present time; kept if there is a local model.
    active: Vec<f64>,
    saved_active: Vec<f64>,
    /// Order of input derivatives in the stored state.
    saved_given: usize,
    derivatives: InputDerivatives,
    settings: Vec<Setting>,
    tolerance: Option<f64>,
    /// Discarded steps are done again in shorter ones.
    retries: bool,
    saved: FmuState,
    /// State at the start of the last step and its time, if discarded steps are done again.
    before: FmuState,
    before_time: f64,
}

/// Derivatives of inputs in the order of their order, for one call per step.
#[derive(Debug, Default)]
struct InputDerivatives {
    references: Vec<u32>,
    orders: Vec<i32>,
    values: Vec<f64>,
}

impl InputDerivatives {
    fn new(references: &[u32], order: usize) -> Self {
        let count = references.len() * order;
        let orders = (1..=order as i32).flat_map(|a| std::iter::repeat_n(a, references.len()));
        Self { references: references.repeat(order), orders: orders.collect(), values: vec![0.0; count] }
    }
}

/// What is known of an instance before it is made.
struct Signature {
    settings: Vec<Setting>,
    /// Values of structural parameters.
    sizes: Vec<(usize, u64)>,
    inputs: Signals,
    outputs: Signals,
    follows: bool,
    /// Of the local model.
    states: usize,
    description: Description,
}

impl Signature {
    fn of(
        fmu: &ModelDescription,
        kind: &CoSimulation,
        name: &str,
        options: &CoSimulationOptions,
    ) -> Result<Self> {
        let settings = settings::settings(fmu, &options.parameters)?;
        let sizes = settings::sizes(&settings);
        let inputs = Signals::of(fmu, Causality::Input, &sizes)?;
        let outputs = Signals::of(fmu, Causality::Output, &sizes)?;
        let exchanges = |signals: &Signals| {
            kind.provides_intermediate_update
                && signals.variables.iter().all(|variable| fmu.variables()[*variable].intermediate_update)
        };
        let (follows, samples) = (exchanges(&inputs), exchanges(&outputs));
        let input_order = match options.input_order {
            _ if !kind.can_interpolate_inputs && !follows => 0,
            Some(order) => order.min(MAX_ORDER),
            // In FMI 3 the polynomial is evaluated here, so that its order does not matter to the FMU.
            None if follows => MAX_ORDER,
            None => fmu.input_derivatives.unwrap_or(1).min(MAX_ORDER),
        };
        let linear = match kind.interface.provides_directional_derivatives {
            true => Linear::new(fmu, (&inputs, &outputs), &sizes)?,
            false => None,
        };
        let capabilities = Capabilities {
            rollback: kind.interface.can_get_and_set_state,
            input_order,
            local_model: linear.is_some(),
            micro_samples: samples.then_some(MicroSampling::End),
        };
        let description = Description {
            name: name.to_owned(),
            inputs: inputs.ports(fmu, &sizes),
            outputs: outputs.ports(fmu, &sizes),
            feedthrough: signals::feedthrough(fmu, &inputs, &outputs),
            capabilities,
        };
        let states = linear.map_or(0, |linear| linear.states());
        Ok(Self { settings, sizes, inputs, outputs, follows, states, description })
    }
}

impl CoSimulationSubsystem {
    /// Makes an instance of an FMU under a name.
    pub fn new(library: &Arc<FmuLibrary>, name: &str, options: &CoSimulationOptions) -> Result<Self> {
        let fmu = library.description();
        let Signature { settings, sizes, inputs, outputs, follows, mut description, .. } =
            Signature::of(fmu, library.co_simulation(), name, options)?;
        let logging = options.logging.unwrap_or(fmu.fmi_version == FmiVersion::V3);
        let samples = description.capabilities.micro_samples.is_some();
        let exchanged = (follows || samples).then(|| Exchanged {
            inputs: if follows { (inputs.references.clone(), inputs.width()) } else { Default::default() },
            outputs: if samples { (outputs.references.clone(), outputs.width()) } else { Default::default() },
            row: outputs.total(),
            order: MAX_ORDER,
        });
        let instance = Instance::new(library, name, logging, exchanged, options.limit())?;
        let mixed = inputs.is_mixed() || outputs.is_mixed();
        // The description promises; the library has to have the functions too.
        let capabilities = &mut description.capabilities;
        capabilities.rollback &= instance.can_store_states();
        capabilities.local_model &= instance.has_directional();
        if !follows && !instance.takes_input_derivatives() {
            capabilities.input_order = 0;
        }
        let (input_order, rollback) = (capabilities.input_order, capabilities.rollback);
        // States are also read where finite differences with rollback may take the place of derivatives.
        let reads = capabilities.local_model || rollback;
        let mut linear = if reads { Linear::new(fmu, (&inputs, &outputs), &sizes)? } else { None };
        if let Some(linear) = &mut linear {
            linear.set_euler_step(settings::euler_step(fmu, &settings).unwrap_or(0.0));
        }
        let active = vec![0.0; if linear.is_some() { inputs.total() } else { 0 }];
        let events = Events::of(&instance, &description.inputs);
        Ok(Self {
            description,
            events,
            derivatives: InputDerivatives::new(&inputs.references, input_order),
            mixed,
            inputs,
            outputs,
            follows,
            samples: None,
            phase: Phase::Instantiated,
            any_step: library.co_simulation().can_handle_variable_communication_step_size,
            inner_step: library.co_simulation().fixed_internal_step_size.filter(|step| *step > 0.0),
            saved_time: f64::NAN,
            time: 0.0,
            saved_active: active.clone(),
            saved_given: 0,
            given: 0,
            active,
            linear: linear.map(Box::new),
            settings,
            tolerance: options.tolerance,
            retries: options.retry_discarded && rollback,
            saved: FmuState::none(),
            before: FmuState::none(),
            before_time: f64::NAN,
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

    /// The same, with the number of states of its local model.
    pub(crate) fn outline(
        fmu: &ModelDescription,
        name: &str,
        options: &CoSimulationOptions,
    ) -> Result<(Description, usize)> {
        let Some(kind) = &fmu.co_simulation else {
            return Err(Error::new(Code::FmuInterface, "the FMU is not for Co-Simulation"));
        };
        Signature::of(fmu, kind, name, options).map(|signature| (signature.description, signature.states))
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

    /// The library it is an instance of.
    pub fn library(&self) -> &Arc<FmuLibrary> {
        &self.instance.library
    }

    fn set(&self, moment: Moment) -> Result<()> {
        for setting in self.settings.iter().filter(|setting| setting.moment == moment) {
            self.instance.set_values(setting.reference, &setting.values)?;
        }
        Ok(())
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
            Some(events) => events.start(&self.instance, self.time),
            None => Ok(()),
        }
    }

    /// No state before the start of this interval will be put back.
    #[inline]
    fn no_return(&self, interval: Interval) -> bool {
        !self.retries && (self.saved_time.is_nan() || self.saved_time >= interval.start)
    }

    /// Whether the next step needs no more than to set inputs, to step and to get outputs.
    fn is_ready_for_plain_steps(&self) -> bool {
        let is_usual = self.phase == Phase::Stepping && !self.retries && self.samples.is_none();
        is_usual && self.given == 0 && self.saved_time.is_nan() && self.instance.alive().is_ok()
    }

    /// Notes down what it did in a row with others.
    fn catch_up(&mut self) {
        let Some(place) = &mut self.instance.place else { return };
        if let Some(missed) = place.missed() {
            self.time = missed.time;
            missed.copy_inputs(&mut self.active);
        }
        place.catch_up();
    }

    /// Steps alone until the row is whole again.
    fn leave_row(&mut self) {
        self.catch_up();
        self.instance.break_row_up();
    }

    /// Finishes a step that was begun in a row and did not go as usual.
    #[cold]
    fn finish_step(
        &mut self,
        Interruption { call, status }: Interruption,
        interval: Interval,
        held: &[f64],
        y: &mut [f64],
    ) -> Result<StepOutcome> {
        let stepped = match call {
            Call::SetReals => {
                self.instance.check(status, call.name(2))?;
                self.instance.do_step(interval, true)
            }
            Call::DoStep => self.instance.has_stepped(status, interval),
            _ => {
                self.instance.check(status, call.name(2))?;
                Ok(interval.end)
            }
        };
        let reached = stepped.or_else(|error| self.do_again(interval, held, error))?;
        self.after_step(interval, held, y)?;
        Ok(StepOutcome { reached })
    }

    /// Reads the outputs after a step under held inputs.
    fn after_step(&mut self, interval: Interval, held: &[f64], y: &mut [f64]) -> Result<()> {
        self.time = interval.end;
        if self.linear.is_some() {
            self.active.copy_from_slice(held);
        }
        self.get_outputs(y)
    }

    fn step_alone(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        self.start()?;
        if self.samples.is_some() || u.order().max(self.given) > 0 {
            return self.step_with_more(interval, u, y);
        }
        if self.retries {
            // Not where `snapshot` stores: somebody may want to go back further.
            self.instance.get_state(&mut self.before)?;
            self.before_time = interval.start;
            self.store_events(Kept::Step);
        }
        let held = u.coefficients(0);
        self.give_inputs(interval.start, held)?;
        let reached = match self.advance(interval, self.no_return(interval)) {
            Ok(reached) => reached,
            Err(error) => self.do_again(interval, held, error)?,
        };
        self.after_step(interval, held, y)?;
        Ok(StepOutcome { reached })
    }

    /// A step with input polynomials or with values exchanged inside.
    fn step_with_more(
        &mut self,
        interval: Interval,
        u: InputSegment<'_>,
        y: &mut [f64],
    ) -> Result<StepOutcome> {
        let exchanges = self.samples.is_some() || (self.follows && u.order() > 0);
        if exchanges {
            self.begin_exchange(interval, u, y)?;
        }
        self.give_inputs(interval.start, u.coefficients(0))?;
        if u.order().max(self.given) > 0 && !u.is_empty() && !self.follows {
            self.set_derivatives(u)?;
        }
        let reached = match self.advance(interval, self.no_return(interval)) {
            Ok(reached) => reached,
            Err(error) => {
                if exchanges {
                    self.instance.exchange().cancel();
                }
                let is_retried_elsewhere = self.retries && error.code() == Code::FmuDiscard;
                return Err(match is_retried_elsewhere {
                    true => error.hint("`retry_discarded` needs inputs that are held: choose a method that holds them, such as `zoh`"),
                    false => error,
                });
            }
        };
        self.time = interval.end;
        if self.linear.is_some() {
            u.evaluate(interval.length, &mut self.active);
        }
        self.get_outputs(y)?;
        if exchanges {
            self.finish_exchange(interval, y)?;
        }
        Ok(StepOutcome { reached })
    }

    /// Does a step that the FMU discarded again in shorter ones under held inputs, from the state stored at its start.
    #[cold]
    fn do_again(&mut self, interval: Interval, held: &[f64], error: Error) -> Result<f64> {
        let mut last = error;
        let stored = if self.retries { &self.before } else { &self.saved };
        let stored_at = if self.retries { self.before_time } else { self.saved_time };
        if stored.is_none() || stored_at != interval.start || !self.can_shorten() {
            return Err(match last.code() {
                Code::FmuDiscard if self.description.capabilities.rollback && self.can_shorten() => {
                    last.hint("try a smaller step, or write `retry_discarded = true` to have it done in shorter ones")
                }
                _ => last,
            });
        }
        for halvings in 1..=MOST_HALVINGS {
            if last.code() != Code::FmuDiscard || self.instance.wants_end() {
                break;
            }
            self.instance.set_state(if self.retries { &self.before } else { &self.saved })?;
            self.restore_events(if self.retries { Kept::Step } else { Kept::Snapshot });
            match self.in_pieces(interval, held, 1 << halvings) {
                Ok(reached) => return Ok(reached),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Whether the FMU takes steps of any length.
    fn can_shorten(&self) -> bool {
        self.instance.library.co_simulation().can_handle_variable_communication_step_size
    }

    /// Sets inputs at the start of a step; as an event, if one of them is not continuous and has changed.
    fn give_inputs(&mut self, t: f64, u: &[f64]) -> Result<()> {
        let Some(mut events) = self.events.take_if(|events| events.is_input_event(u)) else {
            return self.set_inputs(u);
        };
        let outcome = events.with_inputs(&self.instance, t, || self.set_inputs(u));
        self.events = Some(events);
        outcome
    }

    /// Advances over an interval, through all events in it; gives the time reached.
    #[inline]
    fn advance(&mut self, interval: Interval, no_return: bool) -> Result<f64> {
        match &mut self.events {
            Some(events) => events.advance(&self.instance, interval, no_return),
            None => self.instance.do_step(interval, no_return),
        }
    }

    fn store_events(&mut self, place: Kept) {
        if let Some(events) = &mut self.events {
            events.store(place);
        }
    }

    fn restore_events(&mut self, place: Kept) {
        if let Some(events) = &mut self.events {
            events.restore(place);
        }
    }

    fn in_pieces(&mut self, interval: Interval, held: &[f64], pieces: u32) -> Result<f64> {
        let length = interval.length / f64::from(pieces);
        let mut reached = interval.start;
        for piece in 1..=pieces {
            let end = if piece == pieces { interval.end } else { interval.start + f64::from(piece) * length };
            self.give_inputs(reached, held)?;
            let asked = Interval { start: reached, end, length };
            reached = self.advance(asked, false)?;
            if reached != end {
                break;
            }
        }
        Ok(reached)
    }

    /// Readies the exchange of values inside a step.
    #[inline(never)]
    fn begin_exchange(&self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<()> {
        if self.samples.is_some() {
            self.get_outputs(y)?;
        }
        self.instance.exchange().begin(interval, u, y);
        Ok(())
    }

    #[inline(never)]
    fn finish_exchange(&mut self, interval: Interval, y: &[f64]) -> Result<()> {
        let mut exchange = self.instance.exchange();
        let asked = exchange.finish(interval.end, y);
        if let Some(samples) = &mut self.samples {
            exchange.samples(&mut samples.times, &mut samples.outputs);
        }
        let failed = exchange.failed;
        drop(exchange);
        if let Some(status) = failed {
            self.instance.check(status, "call of intermediate update")?;
        }
        if asked {
            return Ok(());
        }
        let what = "the FMU does not ask for inputs inside a step, so that they cannot follow a polynomial";
        Err(self.instance.error(Code::NeedsMissing, what).hint("use a method that holds its inputs"))
    }

    /// Sets the derivatives of the inputs: a! times the coefficient of s^a. Those of the last step that are not given any
    /// more become zero.
    fn set_derivatives(&mut self, u: InputSegment<'_>) -> Result<()> {
        let InputDerivatives { references, orders, values } = &mut self.derivatives;
        // Others are held. In FMI 2 each variable has one element.
        let (width, order) = (self.inputs.references.len(), u.order().max(self.given));
        self.given = u.order();
        let mut factorial = 1.0;
        for a in 1..=order {
            factorial *= a as f64;
            let place = &mut values[(a - 1) * width..a * width];
            if a <= u.order() {
                place.iter_mut().zip(u.coefficients(a)).for_each(|(value, c)| *value = factorial * c);
            } else {
                place.fill(0.0);
            }
        }
        let count = order * width;
        self.instance.set_input_derivatives(&references[..count], &orders[..count], &values[..count])
    }
}

impl Subsystem for CoSimulationSubsystem {
    fn description(&self) -> &Description {
        &self.description
    }

    fn can_step_by(&self, length: f64) -> bool {
        let is_multiple = |step: f64| (length / step - (length / step).round()).abs() < 1e-6 * length / step;
        self.any_step && self.inner_step.is_none_or(|step| length >= 0.5 * step && is_multiple(step))
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.leave_row();
        if self.phase != Phase::Instantiated || self.instance.alive().is_err() {
            self.instance.reset()?;
            self.phase = Phase::Instantiated;
        }
        self.instance.alive()?;
        if self.settings.iter().any(|setting| setting.moment == Moment::Configuration) {
            self.instance.configuration(true)?;
            self.set(Moment::Configuration)?;
            self.instance.configuration(false)?;
        }
        self.set(Moment::Before)?;
        self.instance.enter_initialization(experiment, self.tolerance)?;
        self.phase = Phase::Initialising;
        self.time = experiment.start;
        self.saved_time = f64::NAN;
        self.given = 0;
        self.set(Moment::Within)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.instance.alive()?;
        if self.phase != Phase::Initialising {
            return Err(self
                .instance
                .error(Code::Bug, "initial outputs are asked for after the initialisation"));
        }
        self.set_inputs(u)?;
        if let Some(events) = &mut self.events {
            events.note_inputs(u);
        }
        if self.linear.is_some() {
            self.active.copy_from_slice(u);
        }
        self.get_outputs(y)
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        self.catch_up();
        let begun = self.instance.place.as_ref().and_then(Place::take_interruption);
        let outcome = match begun {
            Some(interruption) => self.finish_step(interruption, interval, u.coefficients(0), y),
            None => self.step_alone(interval, u, y),
        };
        if let Some(place) = &self.instance.place {
            place.report(self.is_ready_for_plain_steps());
        }
        outcome
    }

    fn join_row(&mut self, row: &mut Option<Box<dyn Row>>) -> bool {
        let place = std::ptr::from_ref(self).cast();
        let references = (&self.inputs.references[..], &self.outputs.references[..]);
        !self.mixed && self.instance.join_row(row, place, references, self.linear.is_some())
    }

    fn snapshot(&mut self) -> Result<()> {
        if !self.description.capabilities.rollback {
            return Err(self.unsupported("rollback"));
        }
        self.leave_row();
        self.start()?;
        self.instance.get_state(&mut self.saved)?;
        self.store_events(Kept::Snapshot);
        self.saved_time = self.time;
        self.saved_active.copy_from_slice(&self.active);
        self.saved_given = self.given;
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        if self.saved.is_none() || self.saved_time.is_nan() {
            return Err(self.unsupported("to go back without a stored state"));
        }
        self.leave_row();
        self.start()?;
        self.instance.set_state(&self.saved)?;
        self.restore_events(Kept::Snapshot);
        self.time = self.saved_time;
        self.active.copy_from_slice(&self.saved_active);
        self.given = self.saved_given;
        Ok(())
    }

    fn states(&self) -> usize {
        self.linear.as_ref().map_or(0, |linear| linear.states())
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.catch_up();
        // In initialisation mode directional derivatives are those of the initialisation.
        self.start()?;
        match &mut self.linear {
            Some(linear) if self.description.capabilities.local_model => {
                linear.fill(&self.instance, &self.inputs, (u, &self.active), model)
            }
            _ => Err(self.unsupported("a local model")),
        }
    }

    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        self.catch_up();
        self.start()?;
        match &mut self.linear {
            Some(linear) => linear.read_state(&self.instance, (u, &self.active), (x, x_dot)),
            None => Ok(false),
        }
    }

    fn record_micro_samples(&mut self, on: bool, experiment: &Experiment) {
        self.leave_row();
        let on = on && self.description.capabilities.micro_samples.is_some();
        let inner = self.instance.library.co_simulation().fixed_internal_step_size;
        let expected = inner.map_or(0.0, |inner| experiment.step / inner + 2.0) as usize;
        self.instance.exchange().set_record(on, expected);
        self.samples = on.then(Box::default);
    }

    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        self.samples.as_ref().map(|samples| samples.view())
    }

    fn save(&self, out: &mut StateWriter) -> Result<()> {
        self.instance.alive()?;
        let interface = &self.instance.library.co_simulation().interface;
        if !interface.can_serialize_state || !self.instance.can_serialize_states() {
            return Err(self.unsupported("checkpoints"));
        }
        let mut state = FmuState::none();
        self.instance.get_state(&mut state)?;
        let bytes = self.instance.serialize(&state);
        self.instance.free_state(&mut state);
        out.integer((self.phase == Phase::Stepping).into());
        let (mut time, mut active) = (self.time, self.active.clone());
        if let Some(missed) = self.instance.place.as_ref().and_then(Place::missed) {
            time = missed.time;
            missed.copy_inputs(&mut active);
        }
        out.real(time);
        out.reals(&active);
        out.integer(self.given as u64);
        out.block(&bytes?);
        if let Some(events) = &self.events {
            events.save(out);
        }
        self.outputs.save_texts(out);
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        if !self.instance.can_serialize_states() {
            return Err(self.unsupported("checkpoints"));
        }
        self.leave_row();
        let stepping = from.index(2)? == 1;
        if stepping {
            self.start()?;
        }
        self.time = from.real()?;
        from.reals(&mut self.active)?;
        self.given = from.index(self.description.capabilities.input_order + 1)?;
        let mut state = FmuState::none();
        self.instance.deserialize(from.block()?, &mut state)?;
        let outcome = self.instance.set_state(&state);
        self.instance.free_state(&mut state);
        self.saved_time = f64::NAN;
        if let Some(events) = &mut self.events {
            events.load(from)?;
        }
        self.outputs.load_texts(&self.instance, from)?;
        outcome
    }

    fn terminate(&mut self) {
        self.leave_row();
        if self.phase == Phase::Initialising && self.instance.alive().is_ok() {
            // Only an initialised FMU can be terminated.
            let _ = self.start_slowly();
        }
        if self.phase == Phase::Stepping {
            self.instance.terminate();
        }
        self.phase = Phase::Terminated;
    }
}

impl Drop for CoSimulationSubsystem {
    fn drop(&mut self) {
        // Then the instance is freed, and with the last one the library is unloaded and its folder removed.
        self.instance.free_state(&mut self.saved);
        self.instance.free_state(&mut self.before);
        if self.phase == Phase::Stepping {
            self.instance.terminate();
        }
    }
}
