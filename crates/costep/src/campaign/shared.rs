//! What several runs need and one of them makes: the last few are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Values by their keys.
pub(super) struct Shared<T> {
    kept: Mutex<VecDeque<(usize, Arc<OnceLock<T>>)>>,
    room: usize,
}

impl<T> Shared<T> {
    /// Keeps so many.
    pub(super) fn new(room: usize) -> Self {
        Self { kept: Mutex::default(), room: room.max(1) }
    }

    /// The value of a key; whoever asks first makes it, others wait for it.
    pub(super) fn get(&self, key: usize, make: impl FnOnce() -> T) -> Arc<OnceLock<T>> {
        let cell = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let place = kept.iter().position(|(of, _)| *of == key);
            // The one that was asked for last is dropped last.
            let entry = place.and_then(|place| kept.remove(place)).unwrap_or_else(|| (key, Arc::default()));
            let cell = entry.1.clone();
            kept.push_back(entry);
            if kept.len() > self.room {
                kept.pop_front();
            }
            cell
        };
        cell.get_or_init(make);
        cell
    }

    /// The value that a cell got.
    pub(super) fn value(cell: &OnceLock<T>) -> &T {
        cell.get().expect("cells are handed out with their value")
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn values_are_made_once_and_the_oldest_go_first() {
        let (shared, made) = (Shared::new(2), Cell::new(0));
        let get = |key: usize| {
            let cell = shared.get(key, || {
                made.set(made.get() + 1);
                10 * key
            });
            *Shared::value(&cell)
        };
        assert_eq!([1, 2, 1, 2, 1].map(get), [10, 20, 10, 20, 10]);
        assert_eq!(made.get(), 2);
        // 3 takes the place of 2.
        assert_eq!([3, 1, 2].map(get), [30, 10, 20]);
        assert_eq!(made.get(), 4);
    }
}
