//! The framing of an Arrow IPC stream: `[0xFFFFFFFF | metadata length | metadata | body]`, repeated, then a
//! metadata length of zero as the end mark.
//!
//! Arrow's own stream reader takes a missing end mark for an end, so it cannot tell a run that was killed from one
//! that finished. And here no length is believed: memory grows with the bytes that really arrive, so a corrupt
//! length costs at most the size of the file.

use std::io::{self, Read};

use arrow_ipc::{Message, MetadataVersion, root_as_message};

use crate::checksum;

const CONTINUATION: [u8; 4] = [0xFF; 4];

/// Bytes before the metadata of a message: the mark and the length.
pub(crate) const PREFIX: usize = 8;

/// No honest message describes itself in more; it is enough for about 300,000 columns.
const MAX_METADATA: u64 = 64 << 20;

/// What is reserved before the first byte has been read.
const FIRST_RESERVE: u64 = 1 << 20;

/// What [`Frames::read_next`] found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A whole message; [`Frames::metadata`] and [`Frames::body`] hold it.
    Message,
    /// The end mark, and nothing behind it.
    End,
    /// The source ended without an end mark, perhaps within a message.
    Cut,
    /// These bytes are not a message; the flaw is named.
    Garbage(String),
}

/// Reads one message after another into buffers that are used again.
pub(crate) struct Frames<R> {
    source: R,
    position: u64,
    metadata: Vec<u8>,
    body: Vec<u8>,
}

impl<R: Read> Frames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, position: 0, metadata: Vec::new(), body: Vec::new() }
    }

    /// The metadata of the message read last, not yet verified for any other use than its body length.
    pub(crate) fn metadata(&self) -> &[u8] {
        &self.metadata
    }

    /// The body of the message read last.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Number of bytes of the source up to the end of the message read last.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Reads the next message. An error is one of the operating system; bad content is not an error here.
    pub(crate) fn read_next(&mut self) -> io::Result<Frame> {
        let metadata_length = match self.read_prefix()? {
            Ok(length) => length,
            Err(frame) => return Ok(frame),
        };
        if !read_whole(&mut self.source, &mut self.metadata, metadata_length)? {
            return Ok(Frame::Cut);
        }
        let body_length = match body_length(&self.metadata) {
            Ok(length) => length,
            Err(flaw) => return Ok(Frame::Garbage(flaw)),
        };
        if !read_whole(&mut self.source, &mut self.body, body_length)? {
            return Ok(Frame::Cut);
        }
        if !checksum::is_right(&self.metadata, &self.body) {
            return Ok(Frame::Garbage("the checksum of a message is wrong: bytes of it have changed".into()));
        }
        self.position = self.position.saturating_add(8 + metadata_length).saturating_add(body_length);
        Ok(Frame::Message)
    }

    /// The length of the metadata that follows, or how the stream ends here.
    fn read_prefix(&mut self) -> io::Result<Result<u64, Frame>> {
        let mut prefix = Vec::with_capacity(PREFIX);
        let whole = read_whole(&mut self.source, &mut prefix, PREFIX as u64)?;
        let (mark, length) = prefix.split_at(prefix.len().min(4));
        if !CONTINUATION.starts_with(mark) {
            return Ok(Err(Frame::Garbage("a message does not start with the mark of Arrow streams".into())));
        }
        let Ok(length) = <[u8; 4]>::try_from(length) else {
            debug_assert!(!whole);
            return Ok(Err(Frame::Cut));
        };
        match u64::from(u32::from_le_bytes(length)) {
            0 => self.read_end().map(Err),
            length if length > MAX_METADATA || length % 8 != 0 => {
                Ok(Err(Frame::Garbage(format!("a message claims {length} bytes of metadata"))))
            }
            length => Ok(Ok(length)),
        }
    }

    /// A zero in place of a length is the end only if nothing follows.
    fn read_end(&mut self) -> io::Result<Frame> {
        let mut rest = Vec::new();
        Ok(match read_whole(&mut self.source, &mut rest, 1)? {
            true => Frame::Garbage("there are bytes after the end marker".into()),
            false => Frame::End,
        })
    }
}

/// Verifies the metadata of a message and takes its body length.
fn body_length(metadata: &[u8]) -> Result<u64, String> {
    let message = verified(metadata)?;
    u64::try_from(message.bodyLength()).map_err(|_| "a message claims a negative length".into())
}

/// The message behind metadata, checked so that no access to it can fail.
pub(crate) fn verified(metadata: &[u8]) -> Result<Message<'_>, String> {
    // the verifier's own text is a trace over many lines, of no use to a user
    let message = root_as_message(metadata).map_err(|_| "the metadata of a message is corrupt".to_owned())?;
    match message.version() {
        MetadataVersion::V5 => Ok(message),
        other => Err(format!("version {} of the Arrow format is not supported", other.0 + 1)),
    }
}

/// Fills `buffer` with `length` bytes; false if the source ends before. Memory grows with what arrives.
fn read_whole(source: &mut impl Read, buffer: &mut Vec<u8>, length: u64) -> io::Result<bool> {
    buffer.clear();
    buffer.reserve(length.min(FIRST_RESERVE) as usize);
    source.take(length).read_to_end(buffer)?;
    Ok(buffer.len() as u64 == length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(bytes: &[u8]) -> Frame {
        Frames::new(bytes).read_next().expect("a slice has no read errors")
    }

    #[test]
    fn nothing_and_half_a_prefix_are_cuts() {
        assert_eq!(first(&[]), Frame::Cut);
        assert_eq!(first(&[0xFF, 0xFF]), Frame::Cut);
        assert_eq!(first(&[0xFF, 0xFF, 0xFF, 0xFF, 0]), Frame::Cut);
    }

    #[test]
    fn the_end_mark_is_the_end_only_at_the_end() {
        assert_eq!(first(&[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]), Frame::End);
        assert!(matches!(first(&[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 7]), Frame::Garbage(_)));
    }

    #[test]
    fn a_wrong_mark_or_length_is_garbage() {
        assert!(matches!(first(b"ARROW1\0\0"), Frame::Garbage(_)));
        assert!(matches!(first(&[0xFF, 0xFF, 0xFF, 0xFF, 0xF8, 0xFF, 0xFF, 0x7F]), Frame::Garbage(_)));
        assert!(matches!(first(&[0xFF, 0xFF, 0xFF, 0xFF, 7, 0, 0, 0]), Frame::Garbage(_)));
    }
}
