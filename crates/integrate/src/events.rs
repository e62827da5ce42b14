//! Macro steps of equations with events, by any integrator.
//!
//! Between events the integrator takes inner steps. After each the event indicators are looked at; where
//! one has changed its domain, the instant is located on the interpolated solution and the step ends there
//! (state event). A known time event ends a stretch exactly at its time. The equations may want an event
//! after an inner step (step event), and inputs that jump at a communication point are one too (input
//! event). A change there and back again within one inner step is not seen, as FMI defines it.

use costep_core::{Code, Error, InputSegment, Interval, Result, StateReader, StateWriter};

use crate::equations::{AfterEvent, Equations, Events};
use crate::integrator::{Integrator, Start, Stretch};
use crate::roots::{Roots, changes};
use crate::sampler::Sampler;

/// Times are told apart down to this share of their size.
const RESOLUTION: f64 = 16.0 * f64::EPSILON;
/// Events closer than this share of the macro step make no progress.
const CLOSE: f64 = 1e-9;
/// Most events in a row that make no progress.
const MAX_CLOSE: usize = 100;
/// Most events in a macro step.
const MAX_EVENTS: usize = 100_000;

/// How many events there were, and inner steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// An indicator changed its domain.
    pub state: u64,
    /// The time of an announced event came.
    pub time: u64,
    /// The equations asked for it after an inner step.
    pub step: u64,
    /// Inputs jumped.
    pub input: u64,
    /// Inner steps.
    pub inner_steps: u64,
}

/// Finds and handles events. Holds what belongs to them between macro steps.
#[derive(Clone, Debug)]
pub struct EventDriver {
    now: Present,
    saved: Present,
    guard: Guard,
    roots: Roots,
    between: Vec<f64>,
    counts: EventCounts,
}

/// What is carried from step to step.
#[derive(Clone, Debug)]
struct Present {
    /// Event indicators at the last point; their domains are those the equations are frozen in.
    z: Vec<f64>,
    /// Inputs at the last point.
    u: Vec<f64>,
    /// Time of the next time event; infinite = none known.
    next: f64,
    /// Whether the last point was that of an event, after which integrators have to begin anew.
    is_event: bool,
}

impl Present {
    fn copy_from(&mut self, other: &Self) {
        self.is_event = other.is_event;
        self.z.copy_from_slice(&other.z);
        self.u.copy_from_slice(&other.u);
        self.next = other.next;
    }
}

impl EventDriver {
    /// For equations with this many states, inputs and event indicators.
    pub fn new(states: usize, inputs: usize, indicators: usize) -> Self {
        let (z, u) = (vec![0.0; indicators], vec![0.0; inputs]);
        let present = Present { z, u, next: f64::INFINITY, is_event: false };
        Self {
            saved: present.clone(),
            now: present,
            guard: Guard::default(),
            roots: Roots::new(indicators),
            between: vec![0.0; states],
            counts: EventCounts::default(),
        }
    }

    /// Starts a run at (t, x, u), after the first event, which the initialisation is.
    pub fn start(
        &mut self,
        equations: &mut dyn Equations,
        (t, x, u): (f64, &mut [f64], &[f64]),
        after: AfterEvent,
    ) -> Result<()> {
        self.guard = Guard::default();
        self.counts = EventCounts::default();
        self.now.u.copy_from_slice(u);
        self.now.is_event = false;
        self.settle(equations, (t, x), after)?;
        Ok(())
    }

    /// Advances x over a macro step.
    pub fn advance(
        &mut self,
        integrator: &mut dyn Integrator,
        equations: &mut dyn Equations,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        mut sampler: Option<&mut Sampler>,
    ) -> Result<()> {
        self.guard.new_step(interval);
        let mut stretch = Stretch::whole(interval, input);
        let mut start = self.begin(equations, &stretch, x)?;
        if let Some(sampler) = &mut sampler {
            sampler.start(&stretch, equations, x)?;
        }
        loop {
            self.limit(&mut stretch, interval);
            integrator.begin(&stretch, start, equations, x)?;
            let Some((s, t)) = self.cross(integrator, equations, &stretch, x, &mut sampler)? else {
                return Ok(());
            };
            self.handle(equations, (t, x))?;
            // The equations may have changed even where the states have not.
            start = Start::Event;
            if let Some(sampler) = &mut sampler {
                sampler.keep_at(&stretch, equations, (s, x))?;
            }
            if s >= stretch.length {
                self.now.is_event = true;
                return Ok(());
            }
            stretch.from = s;
        }
    }

    /// Takes over the inputs of a new macro step; a jump of them is an event.
    fn begin(
        &mut self,
        equations: &mut dyn Equations,
        stretch: &Stretch<'_>,
        x: &mut [f64],
    ) -> Result<Start> {
        let jumped = self.now.u != stretch.input.coefficients(0);
        let due = self.now.next <= stretch.start;
        let was_event = std::mem::take(&mut self.now.is_event);
        if !jumped && !due {
            return Ok(if was_event { Start::Event } else { Start::Communication });
        }
        self.now.u.copy_from_slice(stretch.input.coefficients(0));
        self.counts.input += u64::from(jumped);
        self.counts.time += u64::from(due);
        let after = self.handle(equations, (stretch.start, x))?;
        let begins_anew = after.states_changed || due || was_event;
        Ok(if begins_anew { Start::Event } else { Start::Communication })
    }

    /// Ends a stretch at the next time event, if that comes within the macro step.
    fn limit(&self, stretch: &mut Stretch<'_>, interval: Interval) {
        (stretch.to, stretch.end) = (interval.length, interval.end);
        if self.now.next < interval.end - resolution(interval.end) {
            (stretch.to, stretch.end) = (self.now.next - interval.start, self.now.next);
        }
    }

    /// Takes inner steps until the end of the macro step or the next event. Gives position and time of the
    /// event.
    fn cross(
        &mut self,
        integrator: &mut dyn Integrator,
        equations: &mut dyn Equations,
        stretch: &Stretch<'_>,
        x: &mut [f64],
        sampler: &mut Option<&mut Sampler>,
    ) -> Result<Option<(f64, f64)>> {
        let mut from = stretch.from;
        loop {
            let mut s = integrator.inner_step(stretch, equations, x)?;
            self.counts.inner_steps += 1;
            check_finite(equations, stretch.time(s), x)?;
            stretch.input.evaluate(s, &mut self.now.u);
            let is_state_event = self.look_for_event(integrator, equations, stretch, (from, &mut s), x)?;
            if let Some(sampler) = sampler {
                sampler.after_step(stretch, integrator, equations, (s, x))?;
                if is_state_event && s < stretch.to && !integrator.has_fixed_steps() {
                    sampler.keep_at(stretch, equations, (s, x))?;
                }
            }
            let mut t = stretch.time(s);
            let events = of(equations)?;
            let is_step_event = events.wants_completed_steps() && events.step_completed(t, x, &self.now.u)?;
            let is_time_event = s >= stretch.to && self.now.next <= stretch.end + resolution(stretch.end);
            self.counts.state += u64::from(is_state_event);
            self.counts.step += u64::from(is_step_event);
            if is_time_event {
                self.counts.time += 1;
                t = t.max(self.now.next);
            }
            if is_state_event || is_step_event || is_time_event {
                return Ok(Some((s, t)));
            }
            if s >= stretch.to {
                return Ok(None);
            }
            from = s;
        }
    }

    /// Whether an indicator has changed its domain in the inner step from `from` to `s`. If so, the point
    /// is moved back to where that happened.
    fn look_for_event(
        &mut self,
        integrator: &mut dyn Integrator,
        equations: &mut dyn Equations,
        stretch: &Stretch<'_>,
        (from, s): (f64, &mut f64),
        x: &mut [f64],
    ) -> Result<bool> {
        let Self { now: Present { z, u, .. }, roots, between, .. } = self;
        if z.is_empty() {
            return Ok(false);
        }
        of(equations)?.event_indicators(stretch.time(*s), x, u, roots.end())?;
        if !changes(z, roots.end()) {
            z.copy_from_slice(roots.end());
            return Ok(false);
        }
        let tolerance = resolution(stretch.end).max(RESOLUTION * stretch.length);
        // As long as the state: beside a model of the rest of the system that is longer.
        between.resize(x.len(), 0.0);
        let found = roots.locate(z, (from, *s), tolerance, |at, z| {
            integrator.interpolate(stretch, equations, at, between)?;
            stretch.input.evaluate(at, u);
            of(equations)?.event_indicators(stretch.time(at), between, u, z)
        })?;
        if found < *s {
            integrator.interpolate(stretch, equations, found, x)?;
            *s = found;
        }
        stretch.input.evaluate(*s, u);
        Ok(true)
    }

    /// Handles an event at a time and all that follow at the same instant.
    fn handle(&mut self, equations: &mut dyn Equations, (t, x): (f64, &mut [f64])) -> Result<AfterEvent> {
        self.guard.note(equations, t, self.now.next)?;
        let after = of(equations)?.event(t, x, &self.now.u)?;
        self.settle(equations, (t, x), after)
    }

    /// Handles time events that are due at once, then takes note of indicators and the next time event.
    fn settle(
        &mut self,
        equations: &mut dyn Equations,
        (t, x): (f64, &mut [f64]),
        mut after: AfterEvent,
    ) -> Result<AfterEvent> {
        let mut t = t;
        while let Some(next) = after.next.filter(|next| *next <= t + resolution(t)) {
            // One slightly ahead is reached by waiting; the states do not change in so short a time.
            t = t.max(next);
            self.guard.note(equations, t, next)?;
            self.counts.time += 1;
            let more = of(equations)?.event(t, x, &self.now.u)?;
            after = AfterEvent { states_changed: after.states_changed || more.states_changed, ..more };
        }
        self.now.next = after.next.unwrap_or(f64::INFINITY);
        check_finite(equations, t, x)?;
        if !self.now.z.is_empty() {
            of(equations)?.event_indicators(t, x, &self.now.u, &mut self.now.z)?;
        }
        Ok(after)
    }

    /// Inputs at the last point.
    pub fn inputs(&self) -> &[f64] {
        &self.now.u
    }

    /// Time of the next time event, if one is known.
    pub fn next_event(&self) -> Option<f64> {
        self.now.next.is_finite().then_some(self.now.next)
    }

    /// Events and inner steps since the start.
    pub fn counts(&self) -> EventCounts {
        self.counts
    }

    /// Remembers what it carries from step to step.
    pub fn snapshot(&mut self) {
        self.saved.copy_from(&self.now);
    }

    /// Goes back to the last snapshot.
    pub fn restore(&mut self) {
        self.now.copy_from(&self.saved);
        self.guard = Guard::default();
    }

    /// Writes what it carries from step to step to a checkpoint.
    pub fn save(&self, out: &mut StateWriter) {
        out.reals(&self.now.z);
        out.reals(&self.now.u);
        out.real(self.now.next);
        out.integer(self.now.is_event.into());
    }

    /// Reads it back.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.now.z)?;
        from.reals(&mut self.now.u)?;
        self.now.next = from.real()?;
        self.now.is_event = from.index(2)? == 1;
        self.guard = Guard::default();
        Ok(())
    }
}

/// The events of equations that have some.
fn of(equations: &mut dyn Equations) -> Result<&mut dyn Events> {
    equations.events().ok_or_else(|| Error::new(Code::Bug, "equations have lost their events"))
}

/// Sees to it that events do not follow each other for ever.
#[derive(Clone, Copy, Debug)]
struct Guard {
    /// Time of the last event.
    last: f64,
    /// Events in a row without progress.
    close: usize,
    /// Events in this macro step.
    events: usize,
    /// Length of the macro step.
    length: f64,
}

impl Default for Guard {
    fn default() -> Self {
        Self { last: f64::NEG_INFINITY, close: 0, events: 0, length: 0.0 }
    }
}

impl Guard {
    fn new_step(&mut self, interval: Interval) {
        (self.events, self.length) = (0, interval.length);
    }

    fn note(&mut self, equations: &dyn Equations, t: f64, next: f64) -> Result<()> {
        let is_close = t - self.last <= CLOSE * self.length + resolution(t);
        self.close = if is_close { self.close + 1 } else { 0 };
        self.events += 1;
        self.last = t;
        if self.close <= MAX_CLOSE && self.events <= MAX_EVENTS {
            return Ok(());
        }
        let (count, span) = match self.close > MAX_CLOSE {
            true => (MAX_CLOSE, "without progress"),
            false => (MAX_EVENTS, "in one macro step"),
        };
        let message = format!("`{}` had {count} events {span} at t = {t} s", equations.description().name);
        let error = Error::new(Code::EventsWithoutEnd, message);
        Err(if next <= t {
            error.because(format!("it announced a time event at t = {next} s"))
        } else {
            error.because("event indicators keep changing sign")
        }
        .hint("the model chatters or bounces ever faster: give it a hysteresis or a threshold"))
    }
}

/// Smallest difference between times of this size.
fn resolution(t: f64) -> f64 {
    RESOLUTION * t.abs()
}

fn check_finite(equations: &dyn Equations, t: f64, x: &[f64]) -> Result<()> {
    match x.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(state) => Err(not_finite(equations, t, state, x[state])),
    }
}

#[cold]
fn not_finite(equations: &dyn Equations, t: f64, state: usize, value: f64) -> Error {
    let message = format!(
        "`{}` of `{}` became {value} at t = {t} s",
        equations.state_name(state),
        equations.description().name
    );
    Error::new(Code::NotFinite, message).hint("try a shorter inner step or a solver with error control")
}
