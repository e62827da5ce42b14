//! Inputs made of seeds by chance, repeatable.

/// Repeatable numbers (xorshift).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Another sequence for every seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below this one, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end.max(1)
    }

    /// One of some.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.below(all.len())) }
    }
}

/// Numbers as texts that readers meet too seldom.
const NUMBERS: [&str; 18] = [
    "0",
    "-0",
    "-1",
    "1e308",
    "1e309",
    "-1e309",
    "NaN",
    "inf",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "9223372036854775808",
    "99999999999999999999999999",
    "1e-400",
    "0x10",
    "",
    " ",
    "\u{FFFD}",
];

/// Most changes of one input.
const CHANGES: usize = 6;
/// No input grows beyond this.
pub(crate) const LARGEST: usize = 64 << 10;

/// A seed, changed by chance.
pub(crate) fn mutated(seeds: &[Vec<u8>], words: &[&str], random: &mut Random) -> Vec<u8> {
    let seed = random.pick(seeds).cloned().unwrap_or_default();
    changed(seed, seeds, words, random)
}

/// Bytes with a few changes: bits, ranges, words, numbers, parts of another seed, elements and attributes of XML.
pub(crate) fn changed(mut bytes: Vec<u8>, seeds: &[Vec<u8>], words: &[&str], random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(CHANGES) {
        change(&mut bytes, seeds, words, random);
        bytes.truncate(LARGEST);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&str], random: &mut Random) {
    let (start, end) = range(bytes.len(), random);
    match random.below(11) {
        0 if !bytes.is_empty() => {
            let place = random.below(bytes.len());
            bytes[place] ^= 1 << random.below(8);
        }
        1 if !bytes.is_empty() => {
            let place = random.below(bytes.len());
            bytes[place] = [0, 1, 0x7f, 0x80, 0xff, b'<', b'"', b'\n'][random.below(8)];
        }
        2 => drop(bytes.drain(start..end)),
        3 => bytes.truncate(start),
        4 => {
            let copy = bytes[start..end].to_vec();
            bytes.splice(start..start, copy);
        }
        5 => {
            let word = random.pick(words).copied().unwrap_or_default();
            bytes.splice(start..start, word.bytes());
        }
        6 => replace_number(bytes, random),
        7 => {
            let other = random.pick(seeds).cloned().unwrap_or_default();
            let (from, to) = range(other.len(), random);
            bytes.splice(start..end, other[from..to].iter().copied());
        }
        8 => move_element(bytes, random),
        _ => move_attribute(bytes, random),
    }
}

/// A short range.
fn range(length: usize, random: &mut Random) -> (usize, usize) {
    let start = random.below(length + 1);
    let longest = [1, 4, 16, 200][random.below(4)];
    (start, (start + random.below(longest + 1)).min(length))
}

/// Another number in the place of one in a text.
fn replace_number(bytes: &mut Vec<u8>, random: &mut Random) {
    let from = random.below(bytes.len() + 1);
    let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit).map(|place| from + place) else {
        return;
    };
    let is_part = |byte: &u8| byte.is_ascii_digit() || b".eE+-".contains(byte);
    let length = bytes[start..].iter().take_while(|byte| is_part(byte)).count();
    let number = random.pick(&NUMBERS).copied().unwrap_or_default();
    bytes.splice(start..start + length, number.bytes());
}

/// An element of XML, or a line, in the place of another one.
fn move_element(bytes: &mut Vec<u8>, random: &mut Random) {
    let mark = if bytes.contains(&b'<') { b'<' } else { b'\n' };
    let places: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] == mark).collect();
    let element = |random: &mut Random| {
        let index = random.below(places.len().max(1));
        let start = places.get(index).copied().unwrap_or(0);
        start..places.get(index + 1).copied().unwrap_or(bytes.len())
    };
    let (from, to) = (element(random), element(random));
    let copy = bytes[from].to_vec();
    bytes.splice(to, copy);
}

/// Where an attribute of XML starts, with the blank before it, and where its value is.
struct Attribute {
    start: usize,
    value: std::ops::Range<usize>,
}

fn attributes(bytes: &[u8]) -> Vec<Attribute> {
    let attribute = |equals: usize| {
        let start = bytes[..equals].iter().rposition(u8::is_ascii_whitespace)?;
        let length = bytes[equals + 2..].iter().position(|byte| *byte == b'"')?;
        Some(Attribute { start, value: equals + 2..equals + 2 + length })
    };
    let places = bytes.windows(2).enumerate().filter(|(_, pair)| *pair == b"=\"");
    places.filter_map(|(equals, _)| attribute(equals)).collect()
}

/// An attribute of XML is removed, moved to another element, or gets the value of another one: documents stay well-formed,
/// so that what they say is wrong, not how.
fn move_attribute(bytes: &mut Vec<u8>, random: &mut Random) {
    let all = attributes(bytes);
    let (Some(from), Some(to)) = (random.pick(&all), random.pick(&all)) else { return };
    let text = bytes[from.start..=from.value.end].to_vec();
    match random.below(3) {
        0 => drop(bytes.drain(from.start..=from.value.end)),
        1 => drop(bytes.splice(to.start..to.start, text)),
        _ => {
            let value = bytes[from.value.clone()].to_vec();
            bytes.splice(to.value.clone(), value);
        }
    }
}
