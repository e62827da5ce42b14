//! What a row and its members know of each other: who is ready, how far the last round came, who has missed it.

use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};

use costep_core::Interval;

use crate::trace::Call;

/// What a row and its members know of each other. Used by one thread at a time; atomic because nobody proves that.
#[derive(Debug, Default)]
pub(super) struct RowState {
    /// Every member is ready for a plain step.
    pub(super) is_whole: AtomicBool,
    /// How many members were ready after the last step that they did alone, each counted once, and its number.
    pub(super) ready: AtomicUsize,
    pub(super) step_alone: AtomicU64,
    /// There is no row any more.
    pub(super) is_over: AtomicBool,
    /// Number of the last round, the bits of the time it led to, and how many members have done it. All have done the
    /// one before, or a step alone after it.
    round: AtomicU64,
    time: AtomicU64,
    time_before: AtomicU64,
    done: AtomicUsize,
    /// The call, 0 = none, that was not OK for the member that comes after those; and its status.
    pub(super) call: AtomicUsize,
    pub(super) status: AtomicU64,
    /// Bits of the inputs of the last round, if a member wants to know them.
    pub(super) inputs: OnceLock<Box<[AtomicU64]>>,
}

impl RowState {
    /// Notes down a round that the first `done` members have done.
    pub(super) fn publish(&self, interval: &Interval, done: usize) {
        self.round.store(self.round.load(Relaxed) + 1, Relaxed);
        self.time_before.store(self.time.load(Relaxed), Relaxed);
        self.time.store(interval.end.to_bits(), Relaxed);
        self.done.store(done, Relaxed);
    }
}

/// The place of an instance in a row.
#[derive(Debug)]
pub(crate) struct Place {
    shared: Arc<RowState>,
    index: usize,
    /// The last round that the instance knows of.
    seen: u64,
    /// The last step alone that it was counted in.
    counted: u64,
}

/// What an instance has missed: the round of its row that it did last.
pub(crate) struct Missed<'a> {
    pub(crate) time: f64,
    place: &'a Place,
}

impl Missed<'_> {
    /// The inputs that it had.
    pub(crate) fn copy_inputs(&self, inputs: &mut [f64]) {
        let Some(all) = self.place.shared.inputs.get() else { return };
        let own = &all[self.place.index * inputs.len()..];
        inputs.iter_mut().zip(own).for_each(|(to, from)| *to = f64::from_bits(from.load(Relaxed)));
    }
}

/// A call of a plain step that was not OK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interruption {
    pub(crate) call: Call,
    pub(crate) status: c_int,
}

/// More members than a row can have, and room to count on.
const NEVER: usize = usize::MAX / 2;

/// The calls of a plain step.
pub(super) const CALLS: [Call; 3] = [Call::SetReals, Call::DoStep, Call::GetReals];

impl Place {
    /// The place with this number of a new row.
    pub(super) fn new(shared: &Arc<RowState>, index: usize) -> Self {
        Self { shared: Arc::clone(shared), index, seen: 0, counted: 0 }
    }

    /// A round that its instance does not know of yet.
    pub(crate) fn missed(&self) -> Option<Missed<'_>> {
        let shared = &*self.shared;
        let unseen = shared.round.load(Relaxed) - self.seen;
        let time = match self.index < shared.done.load(Relaxed) {
            true if unseen > 0 => &shared.time,
            // The last round did not come as far as here.
            false if unseen > 1 => &shared.time_before,
            _ => return None,
        };
        Some(Missed { time: f64::from_bits(time.load(Relaxed)), place: self })
    }

    /// Now it knows of the last round.
    pub(crate) fn catch_up(&mut self) {
        self.seen = self.shared.round.load(Relaxed);
    }

    /// How far the row has come with a step that the instance is to finish.
    pub(crate) fn take_interruption(&self) -> Option<Interruption> {
        let shared = &*self.shared;
        if self.index != shared.done.load(Relaxed) {
            return None;
        }
        let call = shared.call.swap(0, Relaxed).checked_sub(1)?;
        Some(Interruption { call: *CALLS.get(call)?, status: shared.status.load(Relaxed) as c_int })
    }

    /// After a step alone: whether the next one can be plain.
    pub(crate) fn report(&mut self, is_ready: bool) {
        if self.shared.is_over.load(Relaxed) {
            return;
        }
        if is_ready {
            let step = self.shared.step_alone.load(Relaxed);
            if std::mem::replace(&mut self.counted, step) != step {
                self.shared.ready.fetch_add(1, Relaxed);
            }
        } else {
            self.break_up();
        }
    }

    /// The next step of the instance cannot be plain, or it is not known.
    pub(crate) fn break_up(&self) {
        self.shared.is_whole.store(false, Relaxed);
        // Also when it was counted as ready before, in a step alone that has not come to its end.
        self.shared.ready.store(NEVER, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(places: &[Place]) -> Vec<Option<f64>> {
        places.iter().map(|place| place.missed().map(|missed| missed.time)).collect()
    }

    #[test]
    fn a_round_that_is_interrupted_hides_no_earlier_one() {
        let shared = Arc::<RowState>::default();
        let mut places = [0, 1, 2].map(|index| Place::new(&shared, index));
        shared.publish(&Interval::new(0.0, 1.0), 1);
        assert_eq!(times(&places), [Some(1.0), None, None], "the first round of all");
        places.iter_mut().for_each(Place::catch_up);
        shared.publish(&Interval::new(1.0, 2.0), 3);
        places[0].catch_up();
        assert_eq!(times(&places), [None, Some(2.0), Some(2.0)]);
        shared.publish(&Interval::new(2.0, 3.0), 1);
        assert_eq!(times(&places), [Some(3.0), Some(2.0), Some(2.0)]);
        places.iter_mut().for_each(Place::catch_up);
        assert_eq!(times(&places), [None; 3]);
    }

    #[test]
    fn one_that_breaks_the_row_up_after_its_report_is_not_counted() {
        let shared = Arc::<RowState>::default();
        shared.step_alone.store(1, Relaxed);
        let mut places = [0, 1].map(|index| Place::new(&shared, index));
        places[0].report(true);
        places[0].break_up();
        places[1].report(true);
        assert!(shared.ready.load(Relaxed) > places.len());
    }

    #[test]
    fn one_that_reports_twice_is_counted_once_and_none_when_the_row_is_over() {
        let shared = Arc::<RowState>::default();
        shared.step_alone.store(1, Relaxed);
        let mut places = [0, 1].map(|index| Place::new(&shared, index));
        places[0].report(true);
        places[0].report(true);
        assert_eq!(shared.ready.load(Relaxed), 1);
        shared.is_over.store(true, Relaxed);
        places[1].report(true);
        assert_eq!(shared.ready.load(Relaxed), 1);
    }
}
