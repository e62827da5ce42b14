//! How long FMUs have been in their calls, by looks at their slots now and then.

use std::time::{Duration, Instant};

use costep_fmi::trace::SlotData;

/// Longest time for ending an FMU.
const GRACE: Duration = Duration::from_secs(10);
/// Time counted between two looks at most: while this process was suspended, so was the other.
const LONGEST_TICK: Duration = Duration::from_secs(1);

/// How long an FMU has been in the same call.
struct Since {
    word: u64,
    time: Duration,
}

/// Looks at slots.
pub(crate) struct CallClock {
    calls: Vec<Since>,
    last: Instant,
    /// How long no FMU has entered, left or been in a call.
    quiet: Duration,
}

impl CallClock {
    pub(crate) fn new() -> Self {
        Self { calls: Vec::new(), last: Instant::now(), quiet: Duration::ZERO }
    }

    /// Time since the last look, as far as it counts.
    pub(crate) fn tick(&mut self) -> Duration {
        let now = Instant::now();
        let tick = (now - self.last).min(LONGEST_TICK);
        self.last = now;
        tick
    }

    /// The FMU that has been in the same call for so long, whatever it may.
    pub(crate) fn lasting(&self, slots: &[SlotData], time: Duration) -> Option<usize> {
        let is_in_call = |(index, since): &(usize, &Since)| {
            since.time >= time && slots.get(*index).is_some_and(|slot| slot.read(slots).call.is_some())
        };
        self.calls.iter().enumerate().find(is_in_call).map(|(index, _)| index)
    }

    /// The FMU that has been in a call for longer than it may, and its limit.
    pub(crate) fn hung(&mut self, slots: &[SlotData], tick: Duration) -> Option<(usize, Duration)> {
        let (mut found, mut is_quiet) = (None, true);
        for (index, slot) in slots.iter().enumerate() {
            let view = slot.read(slots);
            is_quiet &=
                view.call.is_none() && self.calls.get(index).is_some_and(|since| since.word == view.word);
            if self.calls.len() <= index {
                self.calls.push(Since { word: view.word, time: Duration::ZERO });
            }
            let since = &mut self.calls[index];
            if since.word != view.word {
                *since = Since { word: view.word, time: Duration::ZERO };
                continue;
            }
            since.time += tick;
            let (Some(call), Some(limit)) = (view.call, view.limit()) else { continue };
            let limit = if call.is_ending() { limit.min(GRACE) } else { limit };
            if since.time > limit {
                found = Some((index, limit));
            }
        }
        self.quiet = if is_quiet { self.quiet + tick } else { Duration::ZERO };
        found
    }

    /// How long no FMU has entered, left or been in a call.
    pub(crate) fn quiet(&self) -> Duration {
        self.quiet
    }
}

/// The longest that any call may take; nothing if there is no limit.
pub(crate) fn longest_limit(slots: &[SlotData]) -> Option<Duration> {
    slots.iter().filter_map(|slot| slot.read(slots).limit()).max()
}
