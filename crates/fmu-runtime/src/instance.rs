//! One instance of an FMU, whichever version of FMI it is called through.

use std::ops::Range;
use std::sync::Arc;

use costep_core::{Code, Error, InputPolynomials, Interval, LocalModel, Result};
use costep_integrate::{Ode, Sampler, Stepper};

use crate::plan::{Capability, Plan, Role};
use crate::requested_inputs::{REQUESTED_INSTANTS, RequestedInputs};

/// Highest order of input derivatives.
pub const MAX_ORDER: usize = 8;

/// Which interface of FMI it is used through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Integrated by itself.
    CoSimulation,
    /// Integrated by the importer.
    ModelExchange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LifecyclePhase {
    Instantiated,
    Initialising,
    /// Initialised: steps, events or continuous time.
    Running,
    Terminated,
}

/// An instance.
pub struct Instance {
    pub(crate) plan: Arc<Plan>,
    kind: Kind,
    pub(crate) phase: LifecyclePhase,
    /// All values in the order of [`Role`].
    pub(crate) values: Vec<f64>,
    /// Values before this one are valid, those from it on have to be computed.
    pub(crate) valid: usize,
    /// Values that can be set now.
    settable: Range<usize>,
    pub(crate) part: Box<dyn Ode>,
    pub(crate) stepper: Box<dyn Stepper>,
    /// Inputs over the next step; the order grows when the first derivative is set.
    pub(crate) inputs: InputPolynomials,
    pub(crate) order: usize,
    /// The last length of a step that was found possible.
    checked_step: f64,
    pub(crate) local_model: Option<Box<LocalModel>>,
    /// Made when inputs are first asked for inside a step.
    requested: Option<Box<RequestedInputs>>,
}

impl Instance {
    /// An instance with its start values.
    pub fn new(plan: &Arc<Plan>, kind: Kind) -> Result<Self> {
        let (part, stepper) = plan.build(&plan.parameters)?;
        let mut instance = Self {
            kind,
            phase: LifecyclePhase::Instantiated,
            values: vec![0.0; plan.width()],
            valid: 0,
            settable: 0..0,
            inputs: InputPolynomials::new(plan.range(Role::Input).len(), 0),
            order: 0,
            checked_step: f64::NAN,
            local_model: None,
            requested: None,
            plan: Arc::clone(plan),
            part,
            stepper,
        };
        instance.reset();
        Ok(instance)
    }

    /// Back to the start values.
    pub fn reset(&mut self) {
        self.values.fill(0.0);
        self.values[self.plan.range(Role::Parameter)].copy_from_slice(&self.plan.parameters);
        self.valid = self.plan.range(Role::State).start;
        self.order = 0;
        self.inputs.raw_mut().fill(0.0);
        self.enter(LifecyclePhase::Instantiated);
    }

    pub(crate) fn enter(&mut self, phase: LifecyclePhase) {
        self.phase = phase;
        let inputs = self.plan.range(Role::Input);
        self.settable = match phase {
            LifecyclePhase::Instantiated | LifecyclePhase::Initialising => 0..inputs.end,
            LifecyclePhase::Running => inputs,
            LifecyclePhase::Terminated => 0..0,
        };
    }

    /// Enters the initialisation at a time.
    pub fn enter_initialization(&mut self, start: f64) -> Result<()> {
        self.expect(LifecyclePhase::Instantiated)?;
        self.set_time(start)?;
        self.enter(LifecyclePhase::Initialising);
        self.compute(self.plan.range(Role::State).start)
    }

    /// Leaves it.
    pub fn exit_initialization(&mut self) -> Result<()> {
        self.expect(LifecyclePhase::Initialising)?;
        self.compute(self.plan.range(Role::State).start)?;
        self.enter(LifecyclePhase::Running);
        Ok(())
    }

    /// Ends the run.
    pub fn terminate(&mut self) -> Result<()> {
        self.expect(LifecyclePhase::Running)?;
        self.enter(LifecyclePhase::Terminated);
        Ok(())
    }

    /// Values of variables.
    #[inline]
    pub fn get(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        for (reference, value) in references.iter().zip(values) {
            let slot = self.plan.slot(*reference);
            if slot >= self.valid {
                self.compute(slot).map_err(|error| error_of(error, *reference))?;
            }
            *value = self.values[slot];
        }
        Ok(())
    }

    /// Sets parameters and inputs, as far as they can be set in this phase.
    #[inline]
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        let mut first = usize::MAX;
        for (reference, value) in references.iter().zip(values) {
            let slot = self.plan.slot(*reference);
            if !self.settable.contains(&slot) {
                return Err(refused(*reference));
            }
            self.values[slot] = *value;
            first = first.min(slot);
        }
        // Parameters decide on the initial state; everything else stands behind the states.
        let role = if first < self.plan.range(Role::Input).start { Role::State } else { Role::Output };
        self.valid = self.valid.min(self.plan.range(role).start);
        Ok(())
    }

    /// Computes what is missing up to this value.
    #[cold]
    #[inline(never)]
    pub(crate) fn compute(&mut self, slot: usize) -> Result<()> {
        let [state, time, output, derivative] =
            [Role::State, Role::Time, Role::Output, Role::Derivative].map(|role| self.plan.range(role).start);
        if slot >= self.values.len() {
            return Err(Error::new(Code::FmuValue, "there is no such variable"));
        }
        if self.valid <= state {
            self.rebuild()?;
            self.valid = output;
        }
        let (known, unknown) = self.values.split_at_mut(output);
        let (u, x) = (&known[self.plan.range(Role::Input)], &known[self.plan.range(Role::State)]);
        let t = known[time];
        let (y, x_dot) = unknown.split_at_mut(derivative - output);
        if slot >= output && self.valid <= output {
            self.part.outputs(t, x, u, y);
            self.valid = derivative;
        }
        if slot >= derivative && self.valid <= derivative {
            self.part.derivatives(t, x, u, x_dot);
            self.valid = self.values.len();
        }
        Ok(())
    }

    /// The equations with the present parameters, and their initial state.
    fn rebuild(&mut self) -> Result<()> {
        (self.part, self.stepper) = self.plan.build(&self.values[self.plan.range(Role::Parameter)])?;
        self.checked_step = f64::NAN;
        self.part.initial_state(&mut self.values[self.plan.range(Role::State)]);
        Ok(())
    }

    /// The equations with the present parameters, the state untouched.
    pub(crate) fn rebuild_equations(&mut self) -> Result<()> {
        let state = self.values[self.plan.range(Role::State)].to_vec();
        self.rebuild()?;
        self.values[self.plan.range(Role::State)].copy_from_slice(&state);
        Ok(())
    }

    /// Sets derivatives of inputs at the start of the next step. They stay until they are set again.
    pub fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<()> {
        self.need(Capability::InputDerivatives)?;
        let range = self.plan.range(Role::Input);
        self.make_room_for_polynomials();
        for ((reference, order), value) in references.iter().zip(orders).zip(values) {
            let slot = self.plan.slot(*reference);
            let order = usize::try_from(*order).unwrap_or(0);
            if !range.contains(&slot) || order == 0 || order > MAX_ORDER {
                let message = format!("derivative {order} of variable {reference} cannot be set");
                return Err(
                    Error::new(Code::FmuValue, message).hint(format!("orders 1 to {MAX_ORDER} of inputs"))
                );
            }
            let factorial: f64 = (1..=order).map(|a| a as f64).product();
            self.inputs.coefficients_mut(order)[slot - range.start] = value / factorial;
        }
        let used = |a: &usize| self.inputs.coefficients(*a).iter().any(|c| *c != 0.0);
        self.order = (1..=MAX_ORDER).rev().find(used).unwrap_or(0);
        Ok(())
    }

    /// Checks that a step can be done from here.
    #[inline]
    pub fn check_step(&mut self, start: f64, length: f64) -> Result<()> {
        if self.phase == LifecyclePhase::Running && length == self.checked_step && start.is_finite() {
            return Ok(());
        }
        self.check_step_slowly(start, length)
    }

    #[cold]
    fn check_step_slowly(&mut self, start: f64, length: f64) -> Result<()> {
        self.expect(LifecyclePhase::Running)?;
        if self.kind != Kind::CoSimulation {
            return Err(Error::new(Code::FmuInterface, "an instance for Model Exchange does not step"));
        }
        if !(start.is_finite() && length > 0.0 && length.is_finite()) {
            return Err(Error::new(
                Code::BadValue,
                format!("a step of {length} s from {start} s is not possible"),
            ));
        }
        self.check_same_step(length)?;
        self.stepper.integrator().check_step(length)?;
        self.checked_step = length;
        Ok(())
    }

    /// Refuses, where steps cannot vary, one that differs from the last by more than round-off.
    fn check_same_step(&self, length: f64) -> Result<()> {
        let first = self.checked_step;
        let same = first.is_nan() || (length - first).abs() <= 1e-9 * first;
        if same || self.plan.can(Capability::VariableStep) {
            return Ok(());
        }
        let message = format!("a step of {length} s after steps of {first} s is not possible");
        Err(Error::new(Code::BadValue, message).hint("this FMU cannot vary its communication step"))
    }

    /// Number of inner steps of a step.
    pub fn inner_steps(&self, length: f64) -> usize {
        self.stepper.integrator().points(length).saturating_sub(1).max(1)
    }

    /// Advances over an interval; [`Instance::check_step`] comes first.
    #[inline]
    pub fn advance(&mut self, interval: Interval) -> Result<()> {
        let (inputs, states) = (self.plan.range(Role::Input), self.plan.range(Role::State));
        let (count, end) = (inputs.len(), states.end);
        copy_few(&self.values[inputs.clone()], self.inputs.coefficients_mut(0));
        let segment = self.inputs.segment(0..count, self.order);
        self.stepper.advance(interval, segment, &mut self.values[states], None)?;
        // The time stands right behind the states, then comes what depends on them.
        self.values[end] = interval.end;
        self.valid = end + 1;
        if self.order > 0 {
            segment.evaluate(interval.length, &mut self.values[inputs]);
        }
        Ok(())
    }

    /// Takes the memory of inputs of the highest order.
    fn make_room_for_polynomials(&mut self) {
        if self.inputs.order() == 0 {
            self.inputs = InputPolynomials::new(self.plan.range(Role::Input).len(), MAX_ORDER);
        }
    }

    /// Whether inputs are held in each of the inner steps, which are equal.
    pub fn holds_inputs(&self) -> bool {
        self.stepper.integrator().holds_inputs()
    }

    /// Keeps the present inputs as those at an instant of the next step, of which there are [`REQUESTED_INSTANTS`].
    pub fn keep_inputs(&mut self, instant: usize) {
        let range = self.plan.range(Role::Input);
        let count = range.len();
        let asked = self.requested.get_or_insert_with(Box::default);
        asked.inputs.resize(REQUESTED_INSTANTS * count, 0.0);
        asked.inputs[instant * count..(instant + 1) * count].copy_from_slice(&self.values[range]);
    }

    /// Advances over an interval under the inputs that were kept. Gives the number of points inside that can be shown.
    pub fn advance_with_requested_inputs(&mut self, interval: Interval) -> Result<usize> {
        self.make_room_for_polynomials();
        let Some(mut asked) = self.requested.take() else { return Ok(0) };
        let order = asked.fit(interval.length, &mut self.inputs);
        let (inputs, states) = (self.plan.range(Role::Input), self.plan.range(Role::State));
        let segment = self.inputs.segment(0..inputs.len(), order);
        let room = || Box::new(Sampler::of_path(states.len(), inputs.len()));
        let sampler = asked.sampler.get_or_insert_with(room);
        sampler.clear();
        let outcome = self.stepper.advance(interval, segment, &mut self.values[states], Some(sampler));
        let points = sampler.path().map_or(0, |path| path.times.len());
        self.requested = Some(asked);
        self.inputs.raw_mut().fill(0.0);
        outcome.map(|()| points)
    }

    /// Moves to a point of the last step; gives its time.
    pub fn show(&mut self, point: usize) -> f64 {
        let sampler = self.requested.as_ref().and_then(|asked| asked.sampler.as_ref());
        let Some(path) = sampler.and_then(|sampler| sampler.path()) else { return f64::NAN };
        let (inputs, states) = (self.plan.range(Role::Input), self.plan.range(Role::State));
        let (m, n, end) = (inputs.len(), states.len(), states.end);
        self.values[states].copy_from_slice(&path.states[point * n..(point + 1) * n]);
        self.values[inputs].copy_from_slice(&path.inputs[point * m..(point + 1) * m]);
        // The time stands right behind the states, then comes what depends on them.
        self.values[end] = path.times[point];
        self.valid = end + 1;
        path.times[point]
    }

    /// Sets the time (Model Exchange).
    pub fn set_time(&mut self, time: f64) -> Result<()> {
        if !time.is_finite() {
            return Err(Error::new(Code::BadValue, format!("{time} is not a time")));
        }
        let place = self.plan.range(Role::Time).start;
        self.values[place] = time;
        self.valid = self.valid.min(place + 1);
        Ok(())
    }

    /// Sets the states (Model Exchange).
    pub fn set_states(&mut self, x: &[f64]) -> Result<()> {
        self.expect(LifecyclePhase::Running)?;
        let range = self.plan.range(Role::State);
        if x.len() != range.len() {
            return Err(wrong_count(x.len(), range.len()));
        }
        self.values[range].copy_from_slice(x);
        self.valid = self.valid.min(self.plan.range(Role::Output).start);
        Ok(())
    }

    /// All values of a role: states or derivatives.
    pub fn get_all(&mut self, role: Role, out: &mut [f64]) -> Result<()> {
        let range = self.plan.range(role);
        if out.len() != range.len() {
            return Err(wrong_count(out.len(), range.len()));
        }
        if range.end > self.valid && !range.is_empty() {
            self.compute(range.start)?;
        }
        out.copy_from_slice(&self.values[range]);
        Ok(())
    }

    /// Typical sizes of the states.
    pub fn nominals(&self, out: &mut [f64]) -> Result<()> {
        if out.len() != self.part.states() {
            return Err(wrong_count(out.len(), self.part.states()));
        }
        self.part.nominal_state(out);
        Ok(())
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.part.states()
    }

    /// An error unless it is in this phase.
    pub(crate) fn expect(&self, phase: LifecyclePhase) -> Result<()> {
        if self.phase == phase {
            return Ok(());
        }
        let message = format!("not allowed in the phase {:?}; it must be {phase:?}", self.phase);
        Err(Error::new(Code::FmuError, message))
    }

    /// An error unless the FMU was exported with this.
    pub(crate) fn need(&self, capability: Capability) -> Result<()> {
        if self.plan.can(capability) {
            return Ok(());
        }
        Err(Error::new(Code::NeedsMissing, format!("the FMU was exported without {}", capability.name())))
    }
}

#[cold]
fn refused(reference: u32) -> Error {
    Error::new(Code::FmuValue, format!("variable {reference} does not exist or cannot be set now"))
}

#[cold]
fn error_of(error: Error, reference: u32) -> Error {
    Error::new(Code::FmuValue, format!("variable {reference} cannot be read")).because(error)
}

#[cold]
fn wrong_count(count: usize, expected: usize) -> Error {
    Error::new(Code::FmuValue, format!("{count} values where {expected} are expected"))
}

/// Copies a few numbers without the call that a copy of unknown length is.
#[inline]
fn copy_few(from: &[f64], to: &mut [f64]) {
    match (from, to) {
        ([a], [x]) => *x = *a,
        ([a, b], [x, y]) => (*x, *y) = (*a, *b),
        (from, to) => to.copy_from_slice(from),
    }
}
