//! Where the time goes: seconds in the steps of each subsystem, estimated from some of the steps.
//!
//! Two looks at the clock take longer than a step of a small subsystem. So steps that are long are all timed, others
//! only now and then: the mean of those stands for all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Macro steps at the start that are all timed. They fill caches, so they count only if the run is not longer.
const FIRST_STEPS: u64 = 4;
/// Of short steps one in so many is timed; more of them while the run is young, so that short runs have enough.
const SELDOM: u64 = 256;
/// The gap between two timed steps is this part of the steps so far, up to `SELDOM`.
const PART: u64 = 8;
/// Mean of a step in ns from which on all are timed.
const LONG_NANOSECONDS: u64 = 20_000;

/// The clock of one subsystem. Only one thread at a time steps it.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    nanoseconds: AtomicU64,
    calls: AtomicU64,
}

impl Clock {
    /// Times something.
    pub(crate) fn time<T>(&self, action: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let outcome = action();
        let elapsed = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(elapsed, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        outcome
    }

    fn mean(&self) -> f64 {
        let calls = self.calls.load(Ordering::Relaxed).max(1);
        self.nanoseconds.load(Ordering::Relaxed) as f64 / calls as f64
    }
}

/// The clocks of all subsystems.
#[derive(Debug)]
pub(crate) struct Clocks {
    clocks: Vec<Clock>,
    /// The next macro step to be timed.
    next: u64,
    /// The first macro steps have been forgotten.
    warm: bool,
}

impl Clocks {
    pub(crate) fn new(subsystems: usize) -> Self {
        let clocks = (0..subsystems).map(|_| Clock::default()).collect();
        Self { clocks, next: 0, warm: false }
    }

    /// Whether this macro step, the `count`-th of this process, is to be timed.
    #[inline]
    pub(crate) fn is_due(&self, count: u64) -> bool {
        count >= self.next
    }

    /// Notes that a macro step has been timed, and chooses the next.
    pub(crate) fn done(&mut self, count: u64) {
        if count < FIRST_STEPS {
            self.next = count + 1;
            return;
        }
        let mean = self.clocks.iter().map(Clock::mean).sum::<f64>() / self.clocks.len().max(1) as f64;
        let gap = if mean > LONG_NANOSECONDS as f64 { 1 } else { (count / PART).clamp(1, SELDOM) };
        self.next = count + gap;
    }

    /// Forgets the first steps when a later one is about to be timed.
    pub(crate) fn warm_up(&mut self, count: u64) {
        if !self.warm && count > 2 * FIRST_STEPS {
            self.warm = true;
            self.clocks.iter_mut().for_each(|clock| *clock = Clock::default());
        }
    }

    pub(crate) fn all(&self) -> &[Clock] {
        &self.clocks
    }

    /// Seconds of each subsystem in so many of its steps.
    pub(crate) fn seconds(&self, steps: u64) -> Vec<f64> {
        self.clocks.iter().map(|clock| 1e-9 * clock.mean() * steps as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_steps_are_timed_seldom_and_long_ones_always() {
        for (nanoseconds, few) in [(100, true), (50_000, false)] {
            let mut clocks = Clocks::new(2);
            let mut timed = 0;
            for count in 0..1000 {
                if clocks.is_due(count) {
                    clocks.warm_up(count);
                    for clock in clocks.all() {
                        clock.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
                        clock.calls.fetch_add(1, Ordering::Relaxed);
                    }
                    clocks.done(count);
                    timed += 1;
                }
            }
            assert_eq!(timed < 100, few, "{timed}");
            assert!(timed >= 10);
            let seconds = clocks.seconds(1000);
            assert!((seconds[0] - 1e-6 * nanoseconds as f64).abs() < 1e-12, "{seconds:?}");
        }
    }
}
