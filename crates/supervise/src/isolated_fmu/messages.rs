//! What FMUs in processes of their own have to say: gathered there between two answers, told here.

use std::sync::{Mutex, PoisonError};

use costep_core::{Result, StateReader, StateWriter};
use costep_fmi::{Message, Notice, Status, listen, tell};

use crate::isolated::NEWS;

/// Bytes of messages that go over between two answers with their words; of further ones the number.
const MOST: usize = NEWS - 1024;
/// Bytes of a message beside its words: status and lengths.
const HEAD: usize = 3 * size_of::<u64>();
/// Statuses by number, the last one for all that the standard does not know.
const STATUSES: usize = 7;

static BACKLOG: Mutex<Backlog> =
    Mutex::new(Backlog { any: false, messages: Vec::new(), bytes: 0, further: [0; STATUSES], warned: 0 });

#[derive(Default)]
struct Backlog {
    any: bool,
    messages: Vec<Message>,
    /// What they take on their way.
    bytes: usize,
    further: [u64; STATUSES],
    warned: u64,
}

impl Backlog {
    /// With its words as long as there is room: those of a flood are the first ones, without gaps.
    fn add(&mut self, message: &Message) {
        let bytes = HEAD + message.category.len() + message.text.len();
        self.bytes = self.bytes.saturating_add(bytes);
        match self.bytes <= MOST {
            true => self.messages.push(message.clone()),
            false => self.further[number(message.status)] += 1,
        }
    }
}

/// Gathers the notices of this process from now on.
pub(super) fn gather() {
    listen(|_, notice| {
        let mut backlog = BACKLOG.lock().unwrap_or_else(PoisonError::into_inner);
        backlog.any = true;
        match notice {
            Notice::Logged(message) => backlog.add(message),
            Notice::Further(status, count) => backlog.further[number(status)] += count,
            Notice::Warned(_) => backlog.warned += 1,
        }
    });
}

/// Everything since the last call as bytes, at most `room` of them; nothing if there was nothing.
pub(super) fn take(room: usize) -> Vec<u8> {
    let mut backlog = BACKLOG.lock().unwrap_or_else(PoisonError::into_inner);
    if !backlog.any {
        return Vec::new();
    }
    let mut backlog = std::mem::take(&mut *backlog);
    loop {
        let bytes = write(&backlog);
        if bytes.len() <= room || backlog.messages.is_empty() {
            return bytes;
        }
        for message in backlog.messages.drain(backlog.messages.len() / 2..) {
            backlog.further[number(message.status)] += 1;
        }
    }
}

/// Tells what came from the process of an instance. Bytes that are not from [`take`] say nothing.
pub(super) fn tell_of(instance: &str, bytes: &[u8]) {
    let Ok(backlog) = read(bytes) else { return };
    for message in &backlog.messages {
        tell(instance, Notice::Logged(message));
    }
    for (status, count) in backlog.further.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        tell(instance, Notice::Further(Status::from_raw(status as i32), count));
    }
    for _ in 0..backlog.warned.min(1_000_000) {
        tell(instance, Notice::Warned("call in its own process"));
    }
}

fn number(status: Status) -> usize {
    match status {
        Status::Ok => 0,
        Status::Warning => 1,
        Status::Discard => 2,
        Status::Error => 3,
        Status::Fatal => 4,
        Status::Pending => 5,
        Status::Unknown(_) => 6,
    }
}

fn write(backlog: &Backlog) -> Vec<u8> {
    let mut out = StateWriter::default();
    out.integer(backlog.messages.len() as u64);
    for message in &backlog.messages {
        out.integer(number(message.status) as u64);
        out.block(message.category.as_bytes());
        out.block(message.text.as_bytes());
    }
    backlog.further.iter().for_each(|count| out.integer(*count));
    out.integer(backlog.warned);
    out.into_bytes()
}

fn read(bytes: &[u8]) -> Result<Backlog> {
    let from = &mut StateReader::new(bytes);
    let mut backlog = Backlog::default();
    for _ in 0..from.index(bytes.len() / HEAD + 1)? {
        let status = Status::from_raw(from.index(STATUSES)? as i32);
        let [category, text] =
            [from.block()?, from.block()?].map(|text| String::from_utf8_lossy(text).into_owned());
        backlog.messages.push(Message { status, category, text });
    }
    for count in &mut backlog.further {
        *count = from.integer()?;
    }
    backlog.warned = from.integer()?;
    Ok(backlog)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_logged() {
        let message =
            |text: &str| Message { status: Status::Warning, category: "c".into(), text: text.into() };
        let backlog = Backlog {
            any: true,
            messages: vec![message("ä"), message("")],
            bytes: 0,
            further: [0, 1, 2, 3, 4, 5, u64::MAX],
            warned: 3,
        };
        let bytes = write(&backlog);
        let arrived = read(&bytes).unwrap();
        assert_eq!(
            (arrived.messages, arrived.further, arrived.warned),
            (backlog.messages, backlog.further, 3)
        );
        assert!((0..bytes.len()).all(|length| read(&bytes[..length]).is_err()));
    }

    #[test]
    fn of_a_flood_the_first_messages_go_over_and_the_others_are_counted() {
        let mut backlog = Backlog { any: true, ..Backlog::default() };
        let long = Message { status: Status::Ok, category: String::new(), text: "x".repeat(1 << 20) };
        let short = Message { text: "short".into(), ..long.clone() };
        (0..10).for_each(|_| backlog.add(&long));
        backlog.add(&short);
        assert_eq!((backlog.messages.len(), backlog.further[0]), (7, 4));
        assert!(write(&backlog).len() <= NEWS);
    }
}
