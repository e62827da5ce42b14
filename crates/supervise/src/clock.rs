//! How long FMUs have been in their calls, by looks at their slots now and then.

use std::time::{Duration, Instant};

use costep_fmi::trace::{SlotData, SlotView};

/// Longest time for ending an FMU.
const GRACE: Duration = Duration::from_secs(10);
/// Time counted between two looks at most: while this process was suspended, so was the other.
const LONGEST_TICK: Duration = Duration::from_secs(1);

/// A call that is this many times as long as the longest before it, and no shorter than this, hardly returns.
const OVERLONG: u32 = 4;
const LEAST_OVERLONG: Duration = Duration::from_secs(2);

/// How long an FMU has been in the same call.
struct Since {
    word: u64,
    is_call: bool,
    time: Duration,
}

impl Since {
    fn now(view: SlotView<'_>) -> Self {
        Self { word: view.word, is_call: view.call.is_some(), time: Duration::ZERO }
    }
}

/// Looks at slots.
pub(crate) struct CallClock {
    calls: Vec<Since>,
    last: Instant,
    /// How long no FMU has entered, left or been in a call.
    quiet: Duration,
    /// The longest call that was left, as far as looks show.
    longest: Duration,
}

impl CallClock {
    pub(crate) fn new() -> Self {
        Self { calls: Vec::new(), last: Instant::now(), quiet: Duration::ZERO, longest: Duration::ZERO }
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
                self.calls.push(Since::now(view));
            }
            let since = &mut self.calls[index];
            if since.word != view.word {
                if since.is_call {
                    self.longest = self.longest.max(since.time);
                }
                *since = Since::now(view);
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

    /// The FMU that has been in its call far longer than calls took so far, and how long.
    pub(crate) fn overlong(&self, slots: &[SlotData]) -> Option<(usize, Duration)> {
        let index = self.lasting(slots, LEAST_OVERLONG.max(self.longest * OVERLONG))?;
        Some((index, self.calls[index].time))
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn slow_calls_are_not_overlong() {
        let slots = [const { SlotData::new() }; 1];
        let mut clock = CallClock::new();
        clock.hung(&slots, SECOND);
        // Bytes of a call in the place of a slot need another process; the time of the last one is enough here.
        clock.calls[0] = Since { word: 1 << 8, is_call: true, time: 7 * SECOND };
        clock.hung(&slots, SECOND);
        assert_eq!(clock.longest, 7 * SECOND);
        clock.hung(&slots, 60 * SECOND);
        assert_eq!((clock.longest, clock.overlong(&slots)), (7 * SECOND, None));
    }
}
