//! Events of an FMU for Co-Simulation (FMI 3): inside a communication step it is stepped from event to event, and at each
//! of them its discrete states are brought up to date.
//!
//! Events are those the FMU returns early for, times it announces, ticks of clocks that follow time, and changes of inputs
//! that are not continuous. Without an event mode a step that the FMU leaves early is only continued.

use costep_core::quantity::plain_time;
use costep_core::{Code, Interval, Port, Result, StateReader, StateWriter, Variation};

use crate::call::instance::Instance;
use crate::cs::clocks::{Clocks, TICK_TOLERANCE};

/// Iterations of one event after which an FMU has lost its way.
const MOST_UPDATES: u32 = 1_000;
/// Pieces of a step after which an FMU has lost its way.
const MOST_PIECES: u32 = 1_000_000;
/// Pieces in a row in which time stands still.
const MOST_STANDSTILLS: u32 = 100;

/// What is ahead of an instance.
#[derive(Clone, Debug)]
struct Ahead {
    /// Time of the next event that the FMU has announced; infinite = none.
    event: f64,
    clocks: Clocks,
    /// The inputs as they were last set.
    u: Vec<f64>,
}

/// The events of one instance.
#[derive(Debug)]
pub(crate) struct Events {
    /// Event mode is used.
    has_mode: bool,
    /// Steps may have any length, so that they can end at time events.
    any_step: bool,
    /// Places of inputs whose changes are events.
    discrete: Vec<usize>,
    ahead: Ahead,
    /// As it was when the state of the FMU was stored: for whoever goes back, and for steps that are done again.
    stored: [Ahead; 2],
}

/// One of the two states of an FMU that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// By a snapshot.
    Snapshot,
    /// Before the present step.
    Step,
}

impl Events {
    /// Nothing for an instance that completes all its steps and handles its events by itself. The inputs are
    /// as its model description declares them: that is what it treats as events.
    pub(crate) fn of(instance: &Instance, inputs: &[Port]) -> Option<Box<Self>> {
        let library = &instance.library;
        if !instance.has_event_mode && !library.might_return_early() {
            return None;
        }
        let is_discrete =
            |(at, port): (usize, &Port)| (port.variation != Variation::Continuous).then_some(at);
        let discrete: Vec<usize> = inputs.iter().enumerate().filter_map(is_discrete).collect();
        let u = if discrete.is_empty() { Vec::new() } else { vec![f64::NAN; inputs.len()] };
        let clocks = Clocks::of(library.description());
        let ahead = Ahead { event: f64::INFINITY, clocks, u };
        Some(Box::new(Self {
            has_mode: instance.has_event_mode,
            any_step: library.co_simulation().can_handle_variable_communication_step_size,
            discrete,
            stored: [ahead.clone(), ahead.clone()],
            ahead,
        }))
    }

    /// After the initialisation: the FMU is in event mode, and clocks may tick at once.
    pub(crate) fn start(&mut self, instance: &Instance, t: f64) -> Result<()> {
        if self.has_mode {
            self.ahead.clocks.start(instance, t)?;
            self.handle_all(instance, t, t)?;
        }
        Ok(())
    }

    /// Remembers inputs that were set in the initialisation.
    pub(crate) fn note_inputs(&mut self, u: &[f64]) {
        if !self.discrete.is_empty() {
            self.ahead.u.copy_from_slice(u);
        }
    }

    /// Whether these inputs differ from the last ones in one that is not continuous. They count as set from now on.
    pub(crate) fn is_input_event(&mut self, u: &[f64]) -> bool {
        let is_event = self.has_mode && self.discrete.iter().any(|at| self.ahead.u[*at] != u[*at]);
        if is_event {
            self.ahead.u.copy_from_slice(u);
        }
        is_event
    }

    /// Sets inputs as an event.
    pub(crate) fn with_inputs(
        &mut self,
        instance: &Instance,
        t: f64,
        set: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        instance.step_to_event_mode()?;
        set()?;
        self.handle_all(instance, t, t)?;
        instance.goes_on()
    }

    /// Advances over an interval, from event to event; gives the time reached.
    pub(crate) fn advance(&mut self, instance: &Instance, whole: Interval, no_return: bool) -> Result<f64> {
        let near = TICK_TOLERANCE * whole.length;
        let (mut t, mut standstills) = (whole.start, 0);
        for _ in 0..MOST_PIECES {
            let piece = self.piece(whole, t);
            let advance = instance.do_step_freely(piece, no_return)?;
            standstills = if advance.reached > t { 0 } else { standstills + 1 };
            t = advance.reached;
            if advance.ends {
                return instance.ends_in(whole, t);
            }
            if self.has_mode && (advance.event || self.next() <= t + near) {
                instance.step_to_event_mode()?;
                self.handle_all(instance, t, t + near)?;
                if let Some(end) = instance.end() {
                    return instance.ends_in(whole, end);
                }
            }
            // An FMU that says it is done and is elsewhere is the business of the engine.
            if t >= whole.end || (t != piece.end && !advance.early && !advance.event) {
                return Ok(t);
            }
            if standstills > MOST_STANDSTILLS || t.is_nan() {
                break;
            }
        }
        let [t, start, end] = [t, whole.start, whole.end].map(plain_time);
        let what = format!("it does not get beyond t = {t} s in the step from {start} s to {end} s");
        Err(instance.error(Code::FmuDiscard, &what))
    }

    /// Time of the next time event.
    fn next(&self) -> f64 {
        self.ahead.event.min(self.ahead.clocks.next())
    }

    /// The part of a step up to the next time event, or to its end.
    fn piece(&self, whole: Interval, t: f64) -> Interval {
        let next = self.next();
        let is_inside = next > t && next < whole.end - TICK_TOLERANCE * whole.length;
        let end = if self.any_step && is_inside { next } else { whole.end };
        // The length as it was asked for, if it is the whole one.
        let length = if t == whole.start && end == whole.end { whole.length } else { end - t };
        Interval { start: t, end, length }
    }

    /// All events up to the time `due`, also those that they cause at once, from event mode to step mode. No clock ticks
    /// twice in one of them. An FMU that asks for the end of the simulation stays in event mode.
    fn handle_all(&mut self, instance: &Instance, t: f64, due: f64) -> Result<()> {
        for _ in 0..MOST_UPDATES {
            self.handle(instance, t, due)?;
            if instance.end().is_some() {
                return Ok(());
            }
            instance.event_to_step_mode()?;
            if self.ahead.clocks.next() > due {
                return Ok(());
            }
            instance.step_to_event_mode()?;
        }
        Err(instance.error(Code::FmuError, &format!("its clocks tick endlessly at t = {} s", plain_time(t))))
    }

    /// Handles what has happened up to the time `due`, in event mode.
    fn handle(&mut self, instance: &Instance, t: f64, due: f64) -> Result<()> {
        self.ahead.clocks.tick(instance, due)?;
        for _ in 0..MOST_UPDATES {
            let update = instance.update_in_event_mode()?;
            if update.terminate {
                instance.set_end(t);
                return Ok(());
            }
            self.ahead.event = update.next.filter(|next| *next > t).unwrap_or(f64::INFINITY);
            self.ahead.clocks.ask(instance, t)?;
            if !update.again {
                return Ok(());
            }
        }
        let what =
            format!("its event at t = {} s does not converge after {MOST_UPDATES} iterations", plain_time(t));
        Err(instance.error(Code::FmuError, &what))
    }

    /// Keeps what is ahead together with a state of the FMU.
    pub(crate) fn store(&mut self, place: Kept) {
        self.stored[place as usize].clone_from(&self.ahead);
    }

    /// Goes back to what was ahead.
    pub(crate) fn restore(&mut self, place: Kept) {
        self.ahead.clone_from(&self.stored[place as usize]);
    }

    /// For a checkpoint.
    pub(crate) fn save(&self, out: &mut StateWriter) {
        out.real(self.ahead.event);
        out.reals(&self.ahead.u);
        self.ahead.clocks.save(out);
    }

    /// From a checkpoint.
    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.ahead.event = from.real()?;
        from.reals(&mut self.ahead.u)?;
        self.ahead.clocks.load(from)
    }
}
