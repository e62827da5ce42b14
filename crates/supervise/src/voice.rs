//! What a watched process has to say itself, on its way to standard output and error of its watcher: bytes in memory that
//! both share. Through a file, an FMU could close it, write into it, or fill it.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Bytes that may be on their way.
pub(crate) const ROOM: usize = 1 << 20;
/// Bytes of a piece of text at most.
const PIECE: usize = 64 << 10;
/// Bytes before a piece: where it goes, and its length.
const HEAD: usize = 5;
/// Time between two looks whether there is room again.
const PAUSE: Duration = Duration::from_millis(1);

/// Where a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Numbers of all bytes written and read so far.
#[repr(C)]
pub(crate) struct Ends {
    written: AtomicU64,
    read: AtomicU64,
}

/// The memory of texts.
pub(crate) struct Voice<'a> {
    pub(crate) ends: &'a Ends,
    pub(crate) bytes: &'a [AtomicU8],
}

/// Held by whoever speaks.
static SPEAKING: Mutex<()> = Mutex::new(());

impl Voice<'_> {
    fn place(&self, number: u64) -> &AtomicU8 {
        &self.bytes[(number % self.bytes.len() as u64) as usize]
    }

    /// Code of an FMU may have written over both ends: then there is room.
    fn has_no_room(&self, written: u64, needed: u64) -> bool {
        let (left, room) = (written.wrapping_sub(self.ends.read.load(Acquire)), self.bytes.len() as u64);
        left <= room && left + needed > room
    }

    /// Says a text. Waits while there is no room for it.
    pub(crate) fn say(&self, stream: Stream, text: &[u8]) {
        let _turn = SPEAKING.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in text.chunks(PIECE) {
            let mut written = self.ends.written.load(Relaxed);
            let needed = (HEAD + piece.len()) as u64;
            while self.has_no_room(written, needed) {
                std::thread::sleep(PAUSE);
            }
            let length = (piece.len() as u32).to_le_bytes();
            for byte in [stream as u8].iter().chain(&length).chain(piece) {
                self.place(written).store(*byte, Relaxed);
                written = written.wrapping_add(1);
            }
            self.ends.written.store(written, Release);
        }
    }

    /// Hears what was said since. What cannot be is passed over: the other process may have been made to write anything.
    pub(crate) fn hear(&self, mut tell: impl FnMut(Stream, &[u8])) {
        let (written, mut read) = (self.ends.written.load(Acquire), self.ends.read.load(Relaxed));
        let left = |read: u64| written.wrapping_sub(read);
        if left(read) > self.bytes.len() as u64 {
            read = written;
        }
        let byte = |number: u64| self.place(number).load(Relaxed);
        while left(read) >= HEAD as u64 {
            let stream = if byte(read) == Stream::Out as u8 { Stream::Out } else { Stream::Err };
            let length = [1, 2, 3, 4].map(|k| byte(read.wrapping_add(k)));
            let length = u64::from(u32::from_le_bytes(length));
            let start = read.wrapping_add(HEAD as u64);
            if length > left(start) {
                read = written;
                break;
            }
            let text: Vec<u8> = (0..length).map(|k| byte(start.wrapping_add(k))).collect();
            tell(stream, &text);
            read = start.wrapping_add(length);
        }
        self.ends.read.store(read, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(length: usize) -> (Ends, Vec<AtomicU8>) {
        let ends = Ends { written: AtomicU64::new(0), read: AtomicU64::new(0) };
        (ends, (0..length).map(|_| AtomicU8::new(0)).collect())
    }

    #[test]
    fn texts_longer_than_the_memory_arrive_whole() {
        let (ends, bytes) = memory(ROOM);
        let text: Vec<u8> = (0..5 * ROOM + 7).map(|k| (k % 251) as u8).collect();
        let mut heard = Vec::new();
        std::thread::scope(|scope| {
            let voice = Voice { ends: &ends, bytes: &bytes };
            let said = text.clone();
            scope.spawn(move || voice.say(Stream::Out, &said));
            let voice = Voice { ends: &ends, bytes: &bytes };
            while heard.len() < text.len() {
                voice.hear(|stream, text| {
                    assert_eq!(stream, Stream::Out);
                    heard.extend_from_slice(text);
                });
            }
        });
        assert!(heard == text);
    }

    #[test]
    fn lies_are_passed_over() {
        let (ends, bytes) = memory(64);
        let voice = Voice { ends: &ends, bytes: &bytes };
        for written in [u64::MAX, 65, 64, 5] {
            bytes.iter().for_each(|byte| byte.store(0xFF, Relaxed));
            ends.written.store(written, Relaxed);
            ends.read.store(0, Relaxed);
            voice.hear(|_, text| panic!("{text:?}"));
            assert_eq!(ends.read.load(Relaxed), written);
        }
        voice.say(Stream::Err, b"still here");
        voice.hear(|stream, text| assert_eq!((stream, text), (Stream::Err, &b"still here"[..])));
    }
}
