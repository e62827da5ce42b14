//! A checksum in every message, so that a flipped bit is seen and not plotted.
//!
//! An Arrow message is `[mark | metadata length | metadata | body]`, and the metadata may be padded: readers look at what
//! their offsets lead to, and at nothing behind. The last eight bytes of the metadata are ours: [`MARK`] and the
//! CRC-32 of all other metadata and of the body. Recordings without it are read as ever.

use crate::frames::PREFIX;

const MARK: [u8; 4] = *b"CRC1";
const LENGTH: usize = 8;

/// Where the body of a whole message begins.
fn body_at(message: &[u8]) -> Option<usize> {
    let length = message.get(4..PREFIX)?.try_into().ok().map(u32::from_le_bytes)?;
    Some(PREFIX + length as usize).filter(|at| *at <= message.len())
}

/// Makes room for the checksum in a message without one.
pub(crate) fn make_room(message: &mut Vec<u8>) {
    let Some(body) = body_at(message) else { return };
    message.splice(body..body, [0; LENGTH]);
    let length = (body - PREFIX + LENGTH) as u32;
    message[4..PREFIX].copy_from_slice(&length.to_le_bytes());
}

/// Writes the checksum of a message where there is room for it.
pub(crate) fn seal(message: &mut [u8]) {
    let Some(body) = body_at(message).filter(|body| *body >= PREFIX + LENGTH) else { return };
    let sum = sum(&message[PREFIX..body - LENGTH], &message[body..]);
    message[body - LENGTH..body - LENGTH + 4].copy_from_slice(&MARK);
    message[body - LENGTH + 4..body].copy_from_slice(&sum.to_le_bytes());
}

/// Whether a message is as it was written, or has no checksum.
pub(crate) fn is_right(metadata: &[u8], body: &[u8]) -> bool {
    let Some((metadata, [mark @ .., a, b, c, d])) = metadata.split_last_chunk::<LENGTH>() else {
        return true;
    };
    *mark != MARK || u32::from_le_bytes([*a, *b, *c, *d]) == sum(metadata, body)
}

fn sum(metadata: &[u8], body: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(metadata);
    sum.update(body);
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_seen() {
        let mut message = vec![0xFF, 0xFF, 0xFF, 0xFF, 16, 0, 0, 0];
        message.extend(0..40);
        make_room(&mut message);
        seal(&mut message);
        assert_eq!((message.len(), message[4]), (56, 24));
        assert!(is_right(&message[8..32], &message[32..]));
        for bit in (8 * 8..56 * 8).filter(|bit| !(24 * 8..28 * 8).contains(bit)) {
            let mut flipped = message.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_right(&flipped[8..32], &flipped[32..]), "bit {bit}");
        }
        // Without the mark there is no checksum.
        assert!(is_right(&[0; 16], &[1]) && is_right(&[0; 3], &[1]));
    }
}
