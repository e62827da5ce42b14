//! Steps of an FMU: alone, and what it notes down about those in a batch.

use costep_core::{Code, Description, Error, InputSegment, Interval, Result, StepOutcome};

use super::events::Kept;
use super::signals::Followed;
use super::{CoSimulationSubsystem, Phase};
use crate::call::lockstep::Interruption;
use crate::call::states::FmuState;
use crate::trace::Call;

/// How often a discarded step is halved.
const MOST_HALVINGS: u32 = 10;

/// Derivatives of the inputs that are set, in the order of their order, for one call per step.
#[derive(Debug, Default)]
pub(super) struct InputDerivatives {
    /// Places of these inputs among all. Where they are used, in FMI 1 and 2, each has one element.
    places: Vec<usize>,
    references: Vec<u32>,
    orders: Vec<i32>,
    values: Vec<f64>,
}

impl InputDerivatives {
    /// Those of inputs that are held over a step stay out.
    pub(super) fn new(inputs: Followed, description: &Description) -> Self {
        let order = description.input_order;
        let each = inputs.references.into_iter().zip(inputs.places);
        let follows = |(_, place): &(u32, usize)| description.order_of_input(*place) > 0;
        let (references, places): (Vec<u32>, Vec<usize>) = each.filter(follows).unzip();
        let count = references.len() * order;
        let orders = (1..=order as i32).flat_map(|a| std::iter::repeat_n(a, references.len()));
        let (references, values) = (references.repeat(order), vec![0.0; count]);
        Self { places, orders: orders.collect(), references, values }
    }
}

impl CoSimulationSubsystem {
    /// No state before the start of this interval will be put back. That at its start may be: it is the present one, of
    /// which the FMU is not told. Some FMUs stand still as long as they may have to go back.
    #[inline]
    fn no_return(&self, interval: Interval) -> bool {
        self.saved.time.is_nan() || self.saved.time >= interval.start
    }

    /// Whether the next step needs no more than to set inputs, to step and to get outputs.
    pub(crate) fn is_ready_for_rounds(&self) -> bool {
        let is_usual = self.phase == Phase::Stepping && !self.retries && self.samples.is_none();
        let goes_on = self.instance.alive().and_then(|()| self.instance.goes_on()).is_ok();
        is_usual && self.given == 0 && self.saved.time.is_nan() && goes_on
    }

    /// Notes down a step that its batch has done, under these inputs.
    pub(crate) fn note_round(&self, time: f64, inputs: Option<&[f64]>) {
        self.time.set(time);
        if let Some(inputs) = inputs.filter(|_| self.keeps_inputs()) {
            self.active.borrow_mut().copy_from_slice(inputs);
        }
    }

    /// Whether it wants to know the inputs of its last step.
    pub(crate) fn keeps_inputs(&self) -> bool {
        self.linear.is_some()
    }

    /// Finishes a step that was begun by its batch and did not go as usual.
    #[cold]
    pub(crate) fn finish_step(
        &mut self,
        Interruption { call, status }: Interruption,
        interval: Interval,
        held: &[f64],
        y: &mut [f64],
    ) -> Result<StepOutcome> {
        let stepped = match call {
            Call::SetReals => {
                self.instance.check(status, call.name(self.instance.version()))?;
                self.instance.do_step(interval, true)
            }
            Call::DoStep => self.instance.has_stepped(status, interval),
            _ => {
                self.instance.check(status, call.name(self.instance.version()))?;
                Ok(interval.end)
            }
        };
        let reached = stepped.or_else(|error| self.do_again(interval, held, error))?;
        self.after_step(interval, held, y)?;
        Ok(StepOutcome { reached })
    }

    /// Reads the outputs after a step under held inputs.
    fn after_step(&mut self, interval: Interval, held: &[f64], y: &mut [f64]) -> Result<()> {
        self.time.set(interval.end);
        if self.linear.is_some() {
            self.active.get_mut().copy_from_slice(held);
        }
        self.get_outputs(y)
    }

    pub(super) fn do_one_step(
        &mut self,
        interval: Interval,
        u: InputSegment<'_>,
        y: &mut [f64],
    ) -> Result<StepOutcome> {
        self.start()?;
        self.instance.goes_on()?;
        if self.records() || u.order().max(self.given) > 0 {
            return self.step_with_more(interval, u, y);
        }
        if self.retries {
            // Not where `snapshot` stores: somebody may want to go back further.
            self.instance.get_state(&mut self.before.0)?;
            self.before.1 = interval.start;
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
        let exchanges = self.records() || (self.follows && u.order() > 0);
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
                    true => error.hint("`retry_discarded` needs constant inputs: choose a method that holds them, such as `zoh`"),
                    false => error,
                });
            }
        };
        self.time.set(interval.end);
        if self.linear.is_some() {
            u.evaluate(interval.length, self.active.get_mut());
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
        let (stored, stored_at) = self.stored();
        if stored.is_none() || stored_at != interval.start || !self.can_shorten() {
            return Err(match last.code() {
                Code::FmuDiscard if self.capabilities.rollback && self.can_shorten() => last.hint(
                    "try a smaller step, or write `retry_discarded = true` to repeat it in shorter ones",
                ),
                _ => last,
            });
        }
        for halvings in 1..=MOST_HALVINGS {
            if last.code() != Code::FmuDiscard {
                break;
            }
            self.instance.set_state(self.stored().0)?;
            self.restore_events(if self.retries { Kept::Step } else { Kept::Snapshot });
            match self.in_pieces(interval, held, 1 << halvings) {
                Ok(reached) => return Ok(reached),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The state that a discarded step is done again from, and its time.
    fn stored(&self) -> (&FmuState, f64) {
        if self.retries { (&self.before.0, self.before.1) } else { (&self.saved.state, self.saved.time) }
    }

    /// Whether outputs inside the next step are recorded.
    fn records(&self) -> bool {
        self.samples.as_ref().is_some_and(|samples| !samples.paused)
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

    pub(super) fn store_events(&mut self, place: Kept) {
        if let Some(events) = &mut self.events {
            events.store(place);
        }
    }

    pub(super) fn restore_events(&mut self, place: Kept) {
        if let Some(events) = &mut self.events {
            events.restore(place);
        }
    }

    fn in_pieces(&mut self, interval: Interval, held: &[f64], pieces: usize) -> Result<f64> {
        let mut reached = interval.start;
        for piece in interval.split(pieces) {
            if piece.start != interval.start {
                self.instance.goes_on()?;
            }
            self.give_inputs(piece.start, held)?;
            let no_return = piece.start == interval.start && self.no_return(piece);
            reached = self.advance(piece, no_return)?;
            if reached != piece.end {
                break;
            }
        }
        Ok(reached)
    }

    /// Readies the exchange of values inside a step.
    #[inline(never)]
    fn begin_exchange(&self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<()> {
        if self.records() {
            self.get_outputs(y)?;
        }
        self.instance.exchange().begin(interval, u, y);
        Ok(())
    }

    #[inline(never)]
    fn finish_exchange(&mut self, interval: Interval, y: &[f64]) -> Result<()> {
        let mut exchange = self.instance.exchange();
        let asked = exchange.finish(interval.end, y);
        if let Some(samples) = self.samples.as_mut().filter(|samples| !samples.paused) {
            samples.buffer.copy_from(exchange.samples());
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
        let InputDerivatives { places, references, orders, values } = &mut self.derivatives;
        let (width, order) = (places.len(), u.order().max(self.given));
        self.given = u.order();
        let mut factorial = 1.0;
        for a in 1..=order {
            factorial *= a as f64;
            let place = &mut values[(a - 1) * width..a * width];
            if a <= u.order() {
                let all = u.coefficients(a);
                place.iter_mut().zip(&*places).for_each(|(value, place)| *value = factorial * all[*place]);
            } else {
                place.fill(0.0);
            }
        }
        let count = order * width;
        if count == 0 {
            return Ok(());
        }
        self.instance.set_input_derivatives(&references[..count], &orders[..count], &values[..count])
    }
}
