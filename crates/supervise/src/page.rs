//! The page that a watched process and its watcher share: header, slots of FMUs, the last rows of the recording.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use costep_fmi::trace::{self, SlotData};

use crate::memory::SharedMemory;
use crate::voice::{self, Ends, Voice};

/// Slots of a watched process; further FMUs share the last one.
const SLOTS: usize = 16_384;
const SLOTS_AT: usize = 4096;
const ROWS_AT: usize = SLOTS_AT + SLOTS * size_of::<SlotData>();
/// Bytes for rows: as many as a recording has at most that are not written, one batch that gathers and one on its way.
const ROW_BYTES: usize = 16 << 20;
const VOICE_AT: usize = ROWS_AT + ROW_BYTES;
const TEXTS_AT: usize = VOICE_AT + size_of::<Ends>();
const LENGTH: usize = TEXTS_AT + voice::ROOM;
/// Rows of these two batches.
const MOST_ROWS: usize = 2 * 4096;

/// How far the run is. Written by the process that hosts FMUs, except for `stop`.
#[repr(C)]
pub(crate) struct Header {
    /// Accepted macro steps.
    pub(crate) step: AtomicU64,
    /// Bits of the time they lead to.
    pub(crate) time: AtomicU64,
    /// The secret + 1 + exit code: the process came to its own end.
    outcome: AtomicU64,
    /// What only watcher and watched process know, until that one has read it: what code of FMUs writes here is no end.
    secret: AtomicU64,
    /// How often the watcher asks to stop.
    pub(crate) stop: AtomicU64,
    /// Bits of the time of the last checkpoint.
    pub(crate) checkpoint: AtomicU64,
    /// Number of checkpoints.
    pub(crate) checkpoints: AtomicU64,
    /// Rows given to the recording, and values of a row.
    pub(crate) rows: AtomicU64,
    pub(crate) width: AtomicU64,
    /// Slots that have been used.
    pub(crate) slots: AtomicU32,
    /// 1 once the run is complete and only its verdict is to come.
    pub(crate) verifies: AtomicU32,
}

/// A status page.
pub(crate) struct Page {
    memory: SharedMemory,
    secret: u64,
}

impl Page {
    pub(crate) fn create() -> std::io::Result<Self> {
        // Random, and never so small that a count could be taken for it.
        let secret = RandomState::new().build_hasher().finish() | 1 << 63;
        let page = Self { memory: SharedMemory::create(LENGTH)?, secret };
        page.header().secret.store(secret, Relaxed);
        Ok(page)
    }

    /// The page that another process handed over.
    pub(crate) fn open(file: OwnedFd) -> std::io::Result<Self> {
        let memory = SharedMemory::open(file)?;
        if memory.length() == LENGTH {
            let mut page = Self { memory, secret: 0 };
            page.secret = page.header().secret.swap(0, Relaxed);
            Ok(page)
        } else {
            Err(std::io::ErrorKind::InvalidData.into())
        }
    }

    pub(crate) fn file(&self) -> std::io::Result<BorrowedFd<'_>> {
        self.memory.file()
    }

    /// What the watched process says.
    pub(crate) fn voice(&self) -> Voice<'_> {
        let ends = &self.memory.values::<Ends>(VOICE_AT, 1)[0];
        Voice { ends, bytes: self.memory.values(TEXTS_AT, voice::ROOM) }
    }

    #[inline]
    pub(crate) fn header(&self) -> &Header {
        &self.memory.values::<Header>(0, 1)[0]
    }

    /// Says that the watched process comes to its own end, with this exit code.
    pub(crate) fn finish(&self, code: u8) {
        self.header().outcome.store(self.secret.wrapping_add(1 + u64::from(code)), Relaxed);
    }

    /// The exit code with which it came to its own end, if it did.
    pub(crate) fn finished(&self) -> Option<u8> {
        let code = self.header().outcome.load(Relaxed).wrapping_sub(self.secret).checked_sub(1)?;
        code.try_into().ok()
    }

    /// Macro steps done, and the time they have led to, as last shown.
    pub(crate) fn progress(&self) -> (u64, f64) {
        let header = self.header();
        (header.step.load(Relaxed).saturating_sub(1), f64::from_bits(header.time.load(Relaxed)))
    }

    /// The slots that have been used.
    pub(crate) fn slots(&self) -> &[SlotData] {
        let used = self.header().slots.load(Relaxed) as usize;
        self.memory.values(SLOTS_AT, used.min(SLOTS))
    }

    /// Gives the slots of this process out of this page from now on.
    pub(crate) fn show(&'static self) -> bool {
        trace::show(self.memory.values(SLOTS_AT, SLOTS), &self.header().slots)
    }

    fn ring(&self) -> &[AtomicU64] {
        self.memory.values(ROWS_AT, ROW_BYTES / size_of::<u64>())
    }

    /// Rows of this width that find place.
    fn room(width: usize) -> usize {
        (ROW_BYTES / size_of::<u64>()).checked_div(width).unwrap_or(0).min(MOST_ROWS)
    }

    /// Takes the next row of a recording, so that it is not lost if this process is.
    pub(crate) fn keep_row(&self, number: u64, row: &[f64]) {
        let room = Self::room(row.len());
        if room == 0 {
            return;
        }
        let place = (number % room as u64) as usize * row.len();
        let ring = &self.ring()[place..place + row.len()];
        ring.iter().zip(row).for_each(|(to, from)| to.store(from.to_bits(), Relaxed));
        self.header().width.store(row.len() as u64, Relaxed);
        self.header().rows.store(number + 1, Release);
    }

    /// The rows from number `from` on, one after another, as far as they are still here.
    pub(crate) fn rows_from(&self, from: u64, width: usize) -> Vec<f64> {
        let (rows, room) = (self.header().rows.load(Acquire), Self::room(width) as u64);
        if width as u64 != self.header().width.load(Relaxed) || rows <= from || rows - from > room {
            return Vec::new();
        }
        let place = |row: u64| (row % room) as usize * width;
        let values = |row: u64| self.ring()[place(row)..place(row) + width].iter();
        (from..rows).flat_map(values).map(|bits| f64::from_bits(bits.load(Relaxed))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rows_are_there() {
        let page = Page::create().unwrap();
        assert!(page.rows_from(0, 2).is_empty());
        for row in 0..10_000 {
            page.keep_row(row, &[row as f64, -1.0]);
        }
        assert_eq!(page.rows_from(9_998, 2), [9_998.0, -1.0, 9_999.0, -1.0]);
        assert_eq!(page.rows_from(10_000 - MOST_ROWS as u64, 2).len(), 2 * MOST_ROWS);
        assert!(page.rows_from(10_000, 2).is_empty());
        assert!(page.rows_from(1, 2).is_empty(), "a gap");
        assert!(page.rows_from(9_998, 3).is_empty(), "another width");
        // Too wide to be kept.
        page.keep_row(0, &vec![0.0; ROW_BYTES / 8 + 1]);
        assert_eq!(page.header().width.load(Relaxed), 2);
        // An end is one of its own only with the secret.
        assert_eq!(page.finished(), None);
        for lie in [1, 2, u64::MAX] {
            page.header().outcome.store(lie, Relaxed);
            assert_eq!(page.finished(), None);
        }
        let there = Page::open(page.file().unwrap().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!(page.header().secret.load(Relaxed), 0);
        there.finish(3);
        assert_eq!(page.finished(), Some(3));
        // Lies are harmless.
        page.header().slots.store(u32::MAX, Relaxed);
        page.header().rows.store(u64::MAX, Relaxed);
        assert_eq!(page.slots().len(), SLOTS);
        assert!(page.rows_from(3, 2).is_empty());
    }
}
