//! What is shown of FMUs. Each has a slot of its own, so that those on different threads do not disturb each
//! other. Entering and leaving a call are one plain store each. FMUs that are stepped in a batch share one more
//! slot, which says whose turn it is: a single place that stays in the cache. Without a watcher the slots are
//! ordinary memory that nobody reads.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::call::Call;
use crate::copies::ending_copies;
use crate::unwinding::stopping_exceptions;

/// Bytes kept of a name.
const NAME: usize = 96;
/// Bytes kept of the last message of an FMU.
const MESSAGE: usize = 328;
/// Slots of a process that nobody watches.
const UNWATCHED: usize = 256;
/// The low bits of a slot's word hold the call.
const CALL_BITS: u32 = 8;
/// In the word of a batch the number of the FMU's slot comes next.
const MEMBER_BITS: u32 = 24;
const ROUND_SHIFT: u32 = CALL_BITS + MEMBER_BITS;

/// What is shown of one FMU.
///
/// It may lie in memory that another process writes: it consists of atomic integers only, so that any bytes are
/// a value, true or wrong.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct SlotData {
    /// Number of calls so far and the present one: changes with every call. Of a batch: round, slot and call.
    word: AtomicU64,
    /// Longest time of a call in ms; 0 = no limit.
    limit: AtomicU64,
    /// 1, 2 or 3.
    version: AtomicU32,
    name_length: AtomicU32,
    message_length: AtomicU32,
    /// Odd while the message is written.
    message_turn: AtomicU32,
    /// 1 = the slot of a batch.
    is_batch: AtomicU32,
    name: [AtomicU8; NAME],
    message: [AtomicU8; MESSAGE],
}

impl Default for SlotData {
    fn default() -> Self {
        Self::new()
    }
}

impl SlotData {
    /// A slot of nobody.
    pub const fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            version: AtomicU32::new(0),
            name_length: AtomicU32::new(0),
            message_length: AtomicU32::new(0),
            message_turn: AtomicU32::new(0),
            is_batch: AtomicU32::new(0),
            name: [const { AtomicU8::new(0) }; NAME],
            message: [const { AtomicU8::new(0) }; MESSAGE],
        }
    }

    /// What it says, as far as it can be believed. `all` are the slots of its process.
    pub fn read<'a>(&'a self, all: &'a [Self]) -> SlotView<'a> {
        let word = self.word.load(Relaxed);
        let member = (word >> CALL_BITS) as usize & ((1 << MEMBER_BITS) - 1);
        let member = if self.is_batch.load(Relaxed) == 0 { None } else { all.get(member) };
        SlotView {
            word,
            call: Call::from_number((word & ((1 << CALL_BITS) - 1)) as u8),
            fmu: member.unwrap_or(self),
        }
    }

    fn limit(&self) -> Option<Duration> {
        Some(self.limit.load(Relaxed)).filter(|limit| *limit > 0).map(Duration::from_millis)
    }

    /// The name of the FMU.
    pub fn name(&self) -> String {
        text(&self.name, &self.name_length)
    }

    /// The last message of the FMU.
    pub fn message(&self) -> Option<String> {
        let message = text(&self.message, &self.message_length);
        (!message.is_empty()).then_some(message)
    }
}

/// One look at a slot.
#[derive(Clone, Copy, Debug)]
pub struct SlotView<'a> {
    /// Equal in two looks = no call was entered or left between them.
    pub word: u64,
    /// The call the FMU is in.
    pub call: Option<Call>,
    /// The slot with the name and the last message of the FMU.
    pub fmu: &'a SlotData,
}

impl SlotView<'_> {
    /// `fmi2DoStep`.
    pub fn call_name(&self) -> Option<String> {
        self.call.map(|call| call.full_name(self.fmu.version.load(Relaxed)))
    }

    /// How long the call may take.
    pub fn limit(&self) -> Option<Duration> {
        self.fmu.limit()
    }
}

fn text(bytes: &[AtomicU8], length: &AtomicU32) -> String {
    let length = (length.load(Relaxed) as usize).min(bytes.len());
    let bytes: Vec<u8> = bytes[..length].iter().map(|byte| byte.load(Relaxed)).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn set_text(bytes: &[AtomicU8], length: &AtomicU32, text: &str) {
    let mut end = text.len().min(bytes.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    length.store(0, Relaxed);
    bytes.iter().zip(text.bytes()).for_each(|(to, from)| to.store(from, Relaxed));
    length.store(text.len() as u32, Relaxed);
}

/// The slots of this process.
struct Board {
    slots: &'static [SlotData],
    /// How many have been used, where a watcher looks.
    used: Option<&'static AtomicU32>,
    free: Mutex<Free>,
}

#[derive(Default)]
struct Free {
    given: usize,
    returned: Vec<usize>,
}

static BOARD: OnceLock<Board> = OnceLock::new();
static UNWATCHED_SLOTS: [SlotData; UNWATCHED] = [const { SlotData::new() }; UNWATCHED];

/// From now on slots are given where a watcher sees them; `used` tells it how many. Where there are fewer slots
/// than FMUs, the last one is shared. False if this process has given slots already, or if there are none.
pub fn show(slots: &'static [SlotData], used: &'static AtomicU32) -> bool {
    !slots.is_empty() && BOARD.set(Board { slots, used: Some(used), free: Mutex::default() }).is_ok()
}

/// The slots of this process; if nobody watches it, some that nobody reads.
fn board() -> &'static Board {
    BOARD.get_or_init(|| Board { slots: &UNWATCHED_SLOTS, used: None, free: Mutex::default() })
}

impl Board {
    fn take(&self) -> usize {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = free.returned.pop() {
            return index;
        }
        let index = free.given;
        free.given += 1;
        match self.used {
            Some(used) => used.store(free.given.min(self.slots.len()) as u32, Relaxed),
            // Nobody reads them.
            None => return index % self.slots.len(),
        }
        index.min(self.slots.len() - 1)
    }

    /// Whether a watched slot may belong to several FMUs. Those that nobody watches do no harm.
    fn is_shared(&self, index: usize) -> bool {
        self.used.is_some() && index + 1 == self.slots.len()
    }

    fn give_back(&self, index: usize) {
        if self.used.is_some() && !self.is_shared(index) {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).returned.push(index);
        }
    }
}

/// What is shown of one FMU: its name, the call it is in, its last message.
#[derive(Debug)]
pub struct Slot {
    data: &'static SlotData,
    index: usize,
    /// Number of calls so far, in the bits above the call.
    calls: Cell<u64>,
}

impl Slot {
    /// A slot for an FMU of this name and version of FMI. `limit` is how long a call may take.
    pub fn new(name: &str, version: u32, limit: Option<Duration>) -> Self {
        let board = board();
        let index = board.take();
        let data = &board.slots[index];
        let calls = data.word.load(Relaxed) >> CALL_BITS << CALL_BITS;
        data.is_batch.store(0, Relaxed);
        data.version.store(version, Relaxed);
        data.limit.store(limit.map_or(0, |limit| (limit.as_millis() as u64).max(1)), Relaxed);
        data.message_length.store(0, Relaxed);
        set_text(&data.name, &data.name_length, name);
        Self { data, index, calls: Cell::new(calls) }
    }

    /// Does something that is a call into the FMU. An exception that leaves it ends the process while it is still seen in
    /// which call that was, and so does a copy of the process that comes out of it.
    #[inline(always)]
    pub fn during<R>(&self, call: Call, work: impl FnOnce() -> R) -> R {
        let calls = self.calls.get().wrapping_add(1 << CALL_BITS);
        self.calls.set(calls);
        self.data.word.store(calls | call as u64, Relaxed);
        let result = ending_copies(|| stopping_exceptions(work));
        self.data.word.store(calls, Relaxed);
        result
    }

    /// A handle for those who pass on messages of the FMU.
    pub fn messages(&self) -> MessageSlot {
        MessageSlot(self.data)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        board().give_back(self.index);
    }
}

/// Shows whose turn it is among FMUs that are stepped together by one thread.
#[derive(Debug)]
pub struct BatchSlot {
    data: &'static SlotData,
    index: usize,
    /// Number of rounds so far, in the bits above slot and call.
    rounds: u64,
}

/// An FMU in the slot of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchMember(u64);

impl BatchSlot {
    /// A slot for a batch. Nothing if all are taken.
    pub fn new() -> Option<Self> {
        let board = board();
        let index = board.take();
        if board.is_shared(index) {
            return None;
        }
        let data = &board.slots[index];
        data.is_batch.store(1, Relaxed);
        Some(Self { data, index, rounds: data.word.load(Relaxed) >> ROUND_SHIFT << ROUND_SHIFT })
    }

    /// How the FMU of a slot is called here.
    pub fn member(slot: &Slot) -> BatchMember {
        BatchMember((slot.index as u64) << CALL_BITS)
    }

    /// Begins a round: every FMU of the batch once.
    #[inline(always)]
    pub fn round(&mut self) -> Round<'_> {
        self.rounds = self.rounds.wrapping_add(1 << ROUND_SHIFT);
        Round { word: &self.data.word, round: self.rounds }
    }
}

impl Drop for BatchSlot {
    fn drop(&mut self) {
        self.data.word.store(self.rounds, Relaxed);
        self.data.is_batch.store(0, Relaxed);
        board().give_back(self.index);
    }
}

/// One round through a batch. When it ends, no FMU is in a call.
#[derive(Debug)]
pub struct Round<'a> {
    word: &'a AtomicU64,
    round: u64,
}

impl Round<'_> {
    /// From now on this FMU is in this call, and no other one is in any.
    #[inline(always)]
    pub fn enter(&self, member: BatchMember, call: Call) {
        self.word.store(self.round | member.0 | call as u64, Relaxed);
    }
}

impl Drop for Round<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.word.store(self.round, Relaxed);
    }
}

/// Where the last message of an FMU is shown. FMUs may log from several threads.
#[derive(Clone, Copy, Debug)]
pub struct MessageSlot(&'static SlotData);

impl MessageSlot {
    /// Shows a message. If another thread is at it, that one's counts.
    pub fn show(&self, text: &str) {
        let turn = &self.0.message_turn;
        let now = turn.load(Relaxed);
        let free = now.is_multiple_of(2);
        if free && turn.compare_exchange(now, now.wrapping_add(1), Relaxed, Relaxed).is_ok() {
            set_text(&self.0.message, &self.0.message_length, text);
            turn.store(now.wrapping_add(2), Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_shows_the_call_it_is_in() {
        let slot = Slot::new("brake", 2, Some(Duration::from_millis(1500)));
        let before = slot.data.read(&[]);
        assert!(before.call.is_none());
        slot.during(Call::DoStep, || {
            let inside = slot.data.read(&[]);
            assert_eq!(inside.call_name().unwrap(), "fmi2DoStep");
            assert_eq!(inside.limit(), Some(Duration::from_millis(1500)));
            assert_ne!(inside.word, before.word);
        });
        let after = slot.data.read(&[]);
        assert!(after.call.is_none() && after.word != before.word);
        slot.messages().show(&"ä".repeat(MESSAGE));
        assert_eq!((slot.data.name(), slot.data.message().unwrap().len()), ("brake".into(), MESSAGE));
    }

    #[test]
    fn a_batch_shows_whose_turn_it_is() {
        let fmus = ["brake", "wheel"].map(|name| Slot::new(name, 2, Some(Duration::from_secs(3))));
        let all = board().slots;
        let mut batch = BatchSlot::new().unwrap();
        let data = batch.data;
        let mut words = Vec::new();
        for _ in 0..2 {
            let round = batch.round();
            for fmu in &fmus {
                round.enter(BatchSlot::member(fmu), Call::DoStep);
                let view = data.read(all);
                assert_eq!(view.fmu.name(), fmu.data.name());
                assert_eq!(
                    (view.call_name().unwrap(), view.limit()),
                    ("fmi2DoStep".into(), Some(Duration::from_secs(3)))
                );
                words.push(view.word);
            }
            drop(round);
            assert!(data.read(all).call.is_none());
        }
        words.dedup();
        assert_eq!(words.len(), 4);
    }

    #[test]
    fn lies_about_lengths_are_harmless() {
        let data = SlotData::new();
        data.name_length.store(u32::MAX, Relaxed);
        data.word.store(u64::MAX, Relaxed);
        data.is_batch.store(7, Relaxed);
        assert_eq!(data.name().len(), NAME);
        assert!(data.read(&[]).call.is_none());
    }
}
