//! Numbers that stand for texts and bytes.
//!
//! Signals are numbers. A text is exchanged as a number that follows from its content alone, so that runs are the same
//! whatever the order of things; the content is looked up where it is needed. The numbers are smaller than all normal ones:
//! measures and methods that sum over all signals do not see them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A text or bytes.
pub(crate) type Content = Arc<[u8]>;

/// Numbers are the bits of subnormal numbers: 52 of them.
const MASK: u64 = (1 << 52) - 1;

static KNOWN: Mutex<Option<HashMap<u64, Weak<[u8]>>>> = Mutex::new(None);

/// The number of a content, which is known as long as somebody keeps it. Nothing if another content has the same number.
pub(crate) fn keep(content: &Content) -> Option<f64> {
    let number = hash(content);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if known.len() == known.capacity() {
        known.retain(|_, content| content.strong_count() > 0);
    }
    match known.get(&number).and_then(Weak::upgrade) {
        Some(other) if other != *content => return None,
        // Whoever keeps the other one may let it go before this one.
        _ => known.insert(number, Arc::downgrade(content)),
    };
    Some(f64::from_bits(number))
}

/// The content of a number.
pub(crate) fn find(number: f64) -> Option<Content> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.as_ref()?.get(&number.to_bits())?.upgrade()
}

/// FNV-1a over 64 bits, folded to 52; never 0, which stands for nothing.
fn hash(content: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in content {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    ((hash ^ (hash >> 52)) & MASK).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_contents_as_long_as_these_are_kept() {
        let contents: Vec<Content> = (0..1000).map(|k| Arc::from(format!("text {k}").as_bytes())).collect();
        let numbers: Vec<f64> = contents.iter().map(|content| keep(content).unwrap()).collect();
        for (content, number) in contents.iter().zip(&numbers) {
            assert!(number.is_subnormal() && *number > 0.0);
            assert_eq!(find(*number).as_ref(), Some(content));
            // The same content is the same number, whoever has it.
            assert_eq!(keep(&Arc::from(&content[..])), Some(*number));
        }
        drop(contents);
        assert!(find(numbers[0]).is_none());
        assert!(keep(&Arc::from(&b""[..])).unwrap() > 0.0);
    }
}
