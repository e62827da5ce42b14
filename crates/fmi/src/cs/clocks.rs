//! Clocks that follow time (FMI 3): the importer has them tick. Triggered clocks depend on other clocks and are not
//! supported; [`ModelDescription::unsupported`](costep_fmu_file::ModelDescription::unsupported) lists them.

use costep_core::{Result, StateReader, StateWriter};
use costep_fmu_file::{Causality, Clock, IntervalVariability, ModelDescription};

use crate::call::instance::Instance;

/// Part of a step by which a tick may come early: round-off of times.
pub(crate) const TICK_TOLERANCE: f64 = 1e-9;

/// When a clock ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rhythm {
    /// First after `shift`, then each `interval`; the FMU tells the interval if it is not a number.
    Periodic { shift: f64, interval: f64 },
    /// The FMU tells the interval at each tick.
    Changing,
    /// The FMU may tell at any event when it ticks, once.
    Countdown,
}

/// A clock that follows time.
#[derive(Clone, Copy, Debug)]
struct TimeClock {
    reference: u32,
    rhythm: Rhythm,
    /// Time its count starts from.
    origin: f64,
    /// Number of its next tick, from the origin on.
    count: u64,
    /// Time of its next tick; infinite = not known.
    next: f64,
}

/// The clocks of an instance that follow time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks(Vec<TimeClock>);

impl Clocks {
    /// All input clocks that are not triggered.
    pub(crate) fn of(description: &ModelDescription) -> Self {
        let clocks = description.variables().iter().filter_map(|variable| {
            let clock = variable.clock.as_deref().filter(|_| variable.causality == Causality::Input)?;
            let rhythm = rhythm(clock)?;
            let reference = variable.value_reference;
            Some(TimeClock { reference, rhythm, origin: 0.0, count: 0, next: f64::INFINITY })
        });
        Self(clocks.collect())
    }

    /// Sets all of them going at the start of a run.
    pub(crate) fn start(&mut self, instance: &Instance, t: f64) -> Result<()> {
        for clock in &mut self.0 {
            (clock.origin, clock.count, clock.next) = (t, 0, f64::INFINITY);
            if let Rhythm::Periodic { shift, interval } = &mut clock.rhythm {
                if interval.is_nan() {
                    *interval = instance.interval(clock.reference)?.unwrap_or(f64::INFINITY);
                }
                (clock.origin, clock.next) = (t + *shift, t + *shift);
            }
        }
        self.ask(instance, t)
    }

    /// Time of the next tick; infinite if there is none.
    pub(crate) fn next(&self) -> f64 {
        self.0.iter().map(|clock| clock.next).fold(f64::INFINITY, f64::min)
    }

    /// Has all clocks tick that are due up to a time, once, in event mode.
    pub(crate) fn tick(&mut self, instance: &Instance, due: f64) -> Result<()> {
        for clock in &mut self.0 {
            if clock.next <= due {
                instance.tick(&[clock.reference])?;
                clock.count += 1;
                clock.next = match clock.rhythm {
                    Rhythm::Periodic { interval, .. } => clock.origin + clock.count as f64 * interval,
                    Rhythm::Changing | Rhythm::Countdown => f64::INFINITY,
                };
            }
        }
        Ok(())
    }

    /// Asks the FMU for intervals, after discrete states were updated.
    pub(crate) fn ask(&mut self, instance: &Instance, t: f64) -> Result<()> {
        for clock in &mut self.0 {
            let asks = match clock.rhythm {
                Rhythm::Periodic { .. } => false,
                Rhythm::Changing => clock.next == f64::INFINITY,
                Rhythm::Countdown => true,
            };
            if asks && let Some(interval) = instance.interval(clock.reference)? {
                clock.next = t + interval;
            }
        }
        Ok(())
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        for clock in &self.0 {
            out.reals(&[clock.origin, clock.next]);
            out.integer(clock.count);
        }
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        for clock in &mut self.0 {
            let mut times = [0.0; 2];
            from.reals(&mut times)?;
            (clock.origin, clock.next) = (times[0], times[1]);
            clock.count = from.integer()?;
        }
        Ok(())
    }
}

/// When a clock ticks; nothing for triggered ones and for those without a valid period.
fn rhythm(clock: &Clock) -> Option<Rhythm> {
    let fraction = |counter: Option<u64>| Some(counter? as f64 / clock.resolution? as f64);
    let shift = clock.shift_decimal.or_else(|| fraction(clock.shift_counter)).unwrap_or(0.0);
    let interval = clock.interval_decimal.or_else(|| fraction(clock.interval_counter));
    match clock.interval_variability? {
        IntervalVariability::Constant | IntervalVariability::Fixed | IntervalVariability::Tunable => {
            let interval = interval.unwrap_or(f64::NAN);
            let is_valid = shift >= 0.0 && shift.is_finite() && (interval > 0.0 || interval.is_nan());
            is_valid.then_some(Rhythm::Periodic { shift, interval })
        }
        IntervalVariability::Changing => Some(Rhythm::Changing),
        IntervalVariability::Countdown => Some(Rhythm::Countdown),
        IntervalVariability::Triggered => None,
    }
}
