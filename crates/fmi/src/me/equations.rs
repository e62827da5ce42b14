//! An FMU for Model Exchange as equations with events.

use costep_core::{Code, Description, Differences, Error, LocalModel, ModelOrigin, Result};
use costep_fmu_file::settings::Setting;
use costep_fmu_file::{ModelDescription, Variability};
use costep_integrate::{AfterEvent, Equations, Events, Lifecycle};

use crate::call::instance::Instance;
use crate::cs::linear::Linear;
use crate::cs::signals::Signals;

use super::lifecycle::{Phase, Saved};
use super::signature::RollbackBy;

/// Most iterations of one event.
const MAX_ITERATIONS: usize = 1_000;
/// Of times that are sums, relative to them.
const ROUND_OFF: f64 = 8.0 * f64::EPSILON;

/// How the local model is computed.
#[derive(Debug)]
pub(crate) enum Slopes {
    /// From directional derivatives.
    Directional(Box<Linear>),
    /// From differences.
    Differences(Box<DifferenceMemory>),
}

/// Memory for differences.
#[derive(Debug)]
pub(crate) struct DifferenceMemory {
    pub(crate) differences: Differences,
    /// Typical sizes of states and inputs.
    pub(crate) nominal_x: Vec<f64>,
    pub(crate) nominal_u: Vec<f64>,
    pub(crate) y: Vec<f64>,
}

/// What the FMU has been told. It is not told again.
#[derive(Clone, Debug)]
pub(crate) struct SentValues {
    /// Time; not a number = nothing yet.
    pub(crate) t: f64,
    /// Inputs.
    pub(crate) u: Vec<f64>,
    /// Time of the last event: there is no way back over it.
    pub(crate) last_event: f64,
}

impl SentValues {
    pub(super) fn copy_from(&mut self, other: &Self) {
        (self.t, self.last_event) = (other.t, other.last_event);
        self.u.copy_from_slice(&other.u);
    }
}

/// The continuous ones of inputs of which others are discrete.
#[derive(Debug)]
pub(crate) struct SomeInputs {
    references: Vec<u32>,
    /// Places in the vector of all inputs, the sign that the FMU has them with, and the values there.
    places: Vec<usize>,
    signs: Vec<f64>,
    values: Vec<f64>,
}

impl SomeInputs {
    /// None if all inputs are continuous.
    pub(super) fn of(fmu: &ModelDescription, inputs: &Signals) -> Option<Box<Self>> {
        let (mut references, mut places, mut signs, mut place) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for ((variable, reference), count) in
            inputs.variables.iter().zip(&inputs.references).zip(&inputs.elements)
        {
            let described = &fmu.variables()[*variable];
            if described.variability == Variability::Continuous && inputs.sets(*variable) {
                references.push(*reference);
                places.extend(place..place + count);
                signs.resize(places.len(), if described.is_negated() { -1.0 } else { 1.0 });
            }
            place += count;
        }
        let values = vec![0.0; places.len()];
        let all = references.len() == inputs.references.len() && !inputs.is_mixed();
        (!all).then(|| Box::new(Self { references, places, signs, values }))
    }

    fn set(&mut self, instance: &Instance, u: &[f64], sent: &mut [f64]) -> Result<()> {
        let mut is_new = false;
        for ((place, sign), value) in self.places.iter().zip(&self.signs).zip(&mut self.values) {
            is_new |= sent[*place] != u[*place];
            (*value, sent[*place]) = (sign * u[*place], u[*place]);
        }
        if is_new { instance.set_reals(&self.references, &self.values) } else { Ok(()) }
    }
}

/// An FMU for Model Exchange as equations, in continuous-time mode unless an event is being handled.
pub struct FmuEquations {
    pub(super) description: Description,
    pub(super) phase: Phase,
    pub(super) instance: Instance,
    pub(super) settings: Vec<Setting>,
    pub(super) inputs: Signals,
    pub(super) outputs: Signals,
    /// One name per state.
    pub(super) state_names: Vec<String>,
    pub(super) indicators: usize,
    pub(super) nominal: Vec<f64>,
    /// Those inputs that can be set between events, if not all can.
    pub(super) continuous_inputs: Option<Box<SomeInputs>>,
    pub(super) wants_completed_steps: bool,
    /// It has announced a time event.
    pub(super) has_times: bool,
    pub(super) sent: SentValues,
    /// None only while it is being used.
    pub(super) slopes: Option<Slopes>,
    /// Why the last evaluation was not possible.
    pub(super) discarded: Option<Error>,
    /// A state whose nominal value was not positive; 1 is used instead.
    pub(super) bad_nominal: Option<usize>,
    pub(super) rollback: RollbackBy,
    pub(super) saved: Saved,
}

impl FmuEquations {
    /// Moves the FMU to (t, x, u).
    fn place(&mut self, t: f64, x: &[f64], u: &[f64]) -> Result<()> {
        self.set_time(t)?;
        match &mut self.continuous_inputs {
            None => self.set_inputs(u)?,
            Some(some) => some.set(&self.instance, u, &mut self.sent.u)?,
        }
        if x.is_empty() { Ok(()) } else { self.instance.set_states(x) }
    }

    fn set_time(&mut self, t: f64) -> Result<()> {
        // Sums of times have round-off, and there is no way back over an event.
        let t = t.max(self.sent.last_event);
        if self.instance.end().is_some_and(|end| t > end + ROUND_OFF * t.abs()) {
            return Err(self.instance.has_ended());
        }
        if t != self.sent.t {
            self.instance.set_time(t)?;
            self.sent.t = t;
        }
        Ok(())
    }

    /// Sets the inputs, if they are others than before. Not all can be set between events.
    pub(super) fn set_inputs(&mut self, u: &[f64]) -> Result<()> {
        if u != self.sent.u {
            self.inputs.set(&self.instance, u)?;
            self.sent.u.copy_from_slice(u);
        }
        Ok(())
    }

    /// An evaluation that the FMU discards is one that is not possible here: its values are not numbers, so
    /// that the integrator tries a shorter step.
    fn evaluated(&mut self, outcome: Result<()>, values: &mut [f64]) -> Result<()> {
        match outcome {
            Err(error) if error.code() == Code::FmuDiscard => {
                values.fill(f64::NAN);
                self.discarded = Some(error);
                Ok(())
            }
            other => other,
        }
    }

    /// Handles an event at (t, x, u).
    fn handle_event(&mut self, t: f64, x: &mut [f64], u: &[f64]) -> Result<AfterEvent> {
        self.set_time(t)?;
        if !x.is_empty() {
            self.instance.set_states(x)?;
        }
        self.instance.enter_event_mode()?;
        self.set_inputs(u)?;
        let after = self.iterate(t, x)?;
        self.sent.last_event = self.sent.t;
        Ok(after)
    }

    /// Iterates in event mode until nothing changes any more, then enters continuous-time mode. Gives the
    /// states if they have changed.
    pub(super) fn iterate(&mut self, t: f64, x: &mut [f64]) -> Result<AfterEvent> {
        let (mut values_changed, mut nominals_changed, mut next) = (false, false, None);
        for iteration in 0.. {
            let update = self.instance.update_discrete_states()?;
            values_changed |= update.values_changed;
            nominals_changed |= update.nominals_changed;
            next = update.next;
            if update.terminate {
                self.instance.set_end(t);
            }
            if update.terminate || !update.again {
                break;
            }
            if iteration == MAX_ITERATIONS {
                let message = format!("the event of `{}` at t = {t} s does not end", self.description.name);
                return Err(Error::new(Code::EventsWithoutEnd, message)
                    .because(format!("its discrete states changed {MAX_ITERATIONS} times")));
            }
        }
        self.instance.enter_continuous_time_mode()?;
        if next.is_some_and(f64::is_nan) {
            let what = format!("the time of its next event after t = {t} s is not a number");
            return Err(self.instance.error(Code::FmuError, &what));
        }
        if values_changed && !x.is_empty() {
            self.instance.get_states(x)?;
        }
        if nominals_changed {
            self.read_nominals()?;
        }
        Ok(AfterEvent { states_changed: values_changed, next })
    }

    /// Asks for the nominal values of the states. One that is not positive, which it has to be, is taken as
    /// 1.
    pub(super) fn read_nominals(&mut self) -> Result<()> {
        if self.nominal.is_empty() {
            return Ok(());
        }
        self.instance.get_nominals(&mut self.nominal)?;
        for (state, nominal) in self.nominal.iter_mut().enumerate() {
            if !(*nominal > 0.0 && nominal.is_finite()) {
                *nominal = 1.0;
                self.bad_nominal.get_or_insert(state);
            }
        }
        Ok(())
    }

    /// A, B, C, D at (t, x, u), x and x'.
    fn fill(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        let Some(mut slopes) = self.slopes.take() else { return Ok(()) };
        let outcome = match &mut slopes {
            Slopes::Directional(linear) => {
                self.place(t, x, u).and_then(|()| linear.fill(&self.instance, &self.inputs, (u, u), model))
            }
            Slopes::Differences(memory) => {
                let DifferenceMemory { differences, nominal_x, nominal_u, y } = &mut **memory;
                nominal_x.copy_from_slice(&self.nominal);
                let outcome =
                    differences.fill((x, u), (nominal_x, nominal_u), (model, y), |x, u, x_dot, y| {
                        self.evaluate(t, x, u, x_dot, y)
                    });
                self.forget_slopes_of_others(model);
                outcome
            }
        };
        self.slopes = Some(slopes);
        outcome
    }

    /// Derivatives and outputs. The outputs come first: FMUs of OpenModelica count as up to date once they have been asked
    /// for derivatives, and then give outputs of an earlier point.
    fn evaluate(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64], y: &mut [f64]) -> Result<()> {
        if !y.is_empty() {
            let outcome = self.outputs(t, x, u, y);
            self.evaluated(outcome, y)?;
        }
        self.derivatives(t, x, u, x_dot)
    }

    /// Differences of what is not smooth, or rounded to 32 bits, are not derivatives.
    fn forget_slopes_of_others(&self, model: &mut LocalModel) {
        let smooth = self.outputs.width();
        model.c[smooth * model.states..].fill(0.0);
        model.d[smooth * model.inputs..].fill(0.0);
    }
}

impl Equations for FmuEquations {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.nominal.len()
    }

    fn start(&mut self, t: f64, x: &mut [f64], u: &mut [f64]) -> Result<AfterEvent> {
        let after = self.leave_initialisation(t, x)?;
        u.copy_from_slice(&self.sent.u);
        Ok(after)
    }

    fn nominals(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.nominal);
    }

    fn derivatives(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        if x.iter().any(|x| !x.is_finite()) {
            // Nobody else's code has to cope with that.
            x_dot.fill(f64::NAN);
            return Ok(());
        }
        let outcome = self.place(t, x, u).and_then(|()| match x_dot {
            [] => Ok(()),
            _ => self.instance.get_derivatives(x_dot),
        });
        self.evaluated(outcome, x_dot)
    }

    fn outputs(&mut self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) -> Result<()> {
        if x.iter().any(|x| !x.is_finite()) {
            y.fill(f64::NAN);
            return Ok(());
        }
        let outcome = self.place(t, x, u).and_then(|()| self.outputs.get(&self.instance, y));
        // Who tries a shorter step instead wants to know why it was.
        outcome.inspect_err(|error| {
            if error.code() == Code::FmuDiscard {
                self.discarded = Some(error.clone());
            }
        })
    }

    /// Without states there is nothing to linearise about; outputs that pass inputs on have their slopes
    /// all the same.
    fn jacobians(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.fill(t, x, u, model)
    }

    fn exact_feedthrough(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<bool> {
        let Some(Slopes::Directional(mut linear)) =
            self.slopes.take_if(|slopes| matches!(slopes, Slopes::Directional(_)))
        else {
            return Ok(false);
        };
        let placed = self.place(t, x, u);
        let outcome = placed.and_then(|()| linear.fill_feedthrough(&self.instance, &self.inputs, model));
        self.slopes = Some(Slopes::Directional(linear));
        match outcome {
            // It could not be computed there.
            Err(error) if error.code() == Code::FmuDiscard => Ok(false),
            other => other.map(|()| true),
        }
    }

    fn state_name(&self, state: usize) -> String {
        let listed = self.state_names.get(state).cloned();
        let named = listed.or_else(|| self.instance.state_name(state, self.nominal.len()));
        named.unwrap_or_else(|| format!("x[{state}]"))
    }

    /// The derivatives come with the slopes.
    fn linearise(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.fill(t, x, u, model)?;
        model.nominal.copy_from_slice(&self.nominal);
        Ok(())
    }

    fn model_origin(&self) -> ModelOrigin {
        match self.slopes {
            Some(Slopes::Directional(_)) => ModelOrigin::Exact,
            _ => ModelOrigin::Differences,
        }
    }

    /// Says why an evaluation was not possible, if that is what made an integrator give up.
    #[cold]
    fn explain(&mut self, error: Error) -> Error {
        match (error.code(), self.discarded.take()) {
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

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }

    fn lifecycle(&mut self) -> Option<&mut dyn Lifecycle> {
        Some(self)
    }
}

impl Events for FmuEquations {
    fn indicators(&mut self) -> usize {
        self.indicators
    }

    fn event_indicators(&mut self, t: f64, x: &[f64], u: &[f64], z: &mut [f64]) -> Result<()> {
        self.place(t, x, u)?;
        self.instance.get_indicators(z)?;
        match z.iter().position(|z| z.is_nan()) {
            None => Ok(()),
            Some(indicator) => {
                let what = format!("its event indicator {indicator} is not a number at t = {t} s");
                Err(self.instance.error(Code::NotFinite, &what))
            }
        }
    }

    fn wants_completed_steps(&mut self) -> bool {
        self.wants_completed_steps
    }

    fn step_completed(&mut self, t: f64, x: &[f64], u: &[f64]) -> Result<bool> {
        self.place(t, x, u)?;
        let (event, terminate) = self.instance.completed_step(!self.saved.may_be_used)?;
        if terminate {
            self.instance.set_end(t);
        }
        Ok(event)
    }

    fn event(&mut self, t: f64, x: &mut [f64], u: &[f64]) -> Result<AfterEvent> {
        let after = self.handle_event(t, x, u)?;
        self.has_times |= after.next.is_some();
        Ok(after)
    }
}
