//! Requests and answers: each side sleeps until it is its turn.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

use costep_fmi::trace::{self, SlotData};

use super::bell::Bell;
use crate::memory::SharedMemory;

/// Numbers that come with a request or an answer.
pub(super) const WORDS: usize = 16;
/// One for the library, one for the instance, and some to spare.
const SLOTS: usize = 4;
const SLOTS_AT: usize = 1024;
/// Where the rest of the memory begins.
pub(super) const END: usize = 4096;

const _: () = assert!(SLOTS_AT + SLOTS * size_of::<SlotData>() <= END);

macro_rules! requests {
    ($($name:ident)*) => {
        /// What the other process is asked for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub(super) enum Request { $($name),* }

        impl Request {
            const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

requests! {
    Start Initialise InitialOutputs Begin Step MoreSamples Snapshot Restore Release LocalModel ReadState Record
    Save MoreBytes TakeBytes Load Terminate End
}

/// The head of the shared memory.
#[repr(C)]
pub(crate) struct Control {
    /// Number of the present request.
    request: Bell,
    kind: AtomicU32,
    unused: [AtomicU32; 14],
    /// Number of the last request that was answered.
    answer: Bell,
    /// 0 = done, else it was not possible.
    failed: AtomicU32,
    slots: AtomicU32,
    /// Bytes of messages that came with the answer.
    messages: AtomicU32,
    also_unused: [AtomicU32; 12],
    words: [AtomicU64; WORDS],
}

/// Shared memory with a head by which two processes take turns.
pub(super) struct Mailbox {
    pub(super) memory: SharedMemory,
}

impl Mailbox {
    pub(super) fn create(length: usize) -> std::io::Result<Self> {
        Ok(Self { memory: SharedMemory::create(length.max(END))? })
    }

    pub(super) fn open(file: OwnedFd) -> std::io::Result<Self> {
        let memory = SharedMemory::open(file)?;
        if memory.length() < END {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        Ok(Self { memory })
    }

    pub(super) fn file(&self) -> std::io::Result<BorrowedFd<'_>> {
        self.memory.file()
    }

    fn control(&self) -> &Control {
        &self.memory.values::<Control>(0, 1)[0]
    }

    /// The slots that the other process has used.
    pub(super) fn slots(&self) -> &[SlotData] {
        let used = self.control().slots.load(Relaxed) as usize;
        self.memory.values(SLOTS_AT, used.min(SLOTS))
    }

    /// Gives the slots of this process out of this memory from now on.
    pub(super) fn show(&'static self) -> bool {
        trace::show(self.memory.values(SLOTS_AT, SLOTS), &self.control().slots)
    }

    pub(super) fn word(&self, index: usize) -> u64 {
        self.control().words[index].load(Relaxed)
    }

    pub(super) fn set_word(&self, index: usize, value: u64) {
        self.control().words[index].store(value, Relaxed);
    }

    pub(super) fn real(&self, index: usize) -> f64 {
        f64::from_bits(self.word(index))
    }

    pub(super) fn set_reals<const N: usize>(&self, values: [f64; N]) {
        values.iter().enumerate().for_each(|(index, value)| self.set_word(index, value.to_bits()));
    }

    /// Hands a request over.
    pub(super) fn ask(&self, request: Request) {
        let control = self.control();
        control.kind.store(request as u32, Relaxed);
        control.request.ring(control.request.number().wrapping_add(1));
    }

    /// Waits for the answer; false if it has not come after some time.
    pub(super) fn is_answered(&self, patience: Duration) -> bool {
        let control = self.control();
        control.answer.has_rung(control.request.number(), patience)
    }

    /// Says that so many bytes of messages come with the next answer.
    pub(super) fn set_messages(&self, length: usize) {
        self.control().messages.store(length as u32, Relaxed);
    }

    /// Number of bytes of messages that came with the answer, once.
    pub(super) fn take_messages(&self) -> usize {
        let messages = &self.control().messages;
        match messages.load(Relaxed) {
            0 => 0,
            length => {
                messages.store(0, Relaxed);
                length as usize
            }
        }
    }

    /// Whether the answer says that it was not possible.
    pub(super) fn has_failed(&self) -> bool {
        self.control().failed.load(Relaxed) > 0
    }

    /// Waits for the next request after number `last`: its number, and what it is, if that is known.
    pub(super) fn next(&self, last: u32) -> (u32, Option<Request>) {
        let control = self.control();
        let turn = control.request.next(last);
        (turn, Request::ALL.get(control.kind.load(Relaxed) as usize).copied())
    }

    /// Answers a request.
    pub(super) fn answer(&self, turn: u32, failed: bool) {
        let control = self.control();
        control.failed.store(failed.into(), Relaxed);
        control.answer.ring(turn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sides_take_turns() {
        let (here, _) = (Mailbox::create(0).unwrap(), ());
        let there = Mailbox::open(here.file().unwrap().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!(here.memory.length(), END);
        let other = std::thread::spawn(move || {
            let mut last = 0;
            for _ in 0..1000 {
                let (turn, request) = there.next(last);
                assert_eq!(request, Some(Request::Step));
                there.set_word(1, there.word(0) + 1);
                there.answer(turn, turn.is_multiple_of(2));
                last = turn;
            }
        });
        for k in 0..1000 {
            here.set_word(0, k);
            here.ask(Request::Step);
            while !here.is_answered(Duration::from_secs(1)) {}
            assert_eq!((here.word(1), here.has_failed()), (k + 1, k % 2 == 1));
        }
        other.join().unwrap();
        // Nobody is there any more.
        here.ask(Request::End);
        assert!(!here.is_answered(Duration::from_millis(1)));
    }

    #[test]
    fn lies_are_harmless() {
        let mailbox = Mailbox::create(0).unwrap();
        mailbox.control().slots.store(u32::MAX, Relaxed);
        assert_eq!(mailbox.slots().len(), SLOTS);
        mailbox.control().kind.store(u32::MAX, Relaxed);
        mailbox.control().request.ring(7);
        assert_eq!(mailbox.next(0), (7, None));
        // Memory that could be made shorter would kill whoever reads it.
        assert!(rustix::fs::ftruncate(mailbox.file().unwrap(), 0).is_err());
    }
}
