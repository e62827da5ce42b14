//! Whether a shared library can be loaded on this platform, by its header alone: nothing of it is executed.

use std::collections::HashSet;

/// Bytes of the file that are looked at: the header and, where linkers put it, the table of segments.
pub(crate) const LOOKED_AT: u64 = 4096;

const HEADER: usize = 64;
const SEGMENT: usize = 56;
const SHARED_OBJECT: u64 = 3;
const LOADED_SEGMENT: u64 = 1;

/// Numbers of architectures (`e_machine`) and their names in Rust.
const MACHINES: [(u64, &str, &str); 8] = [
    (3, "x86", "x86, 32 bits"),
    (20, "powerpc", "PowerPC"),
    (21, "powerpc64", "PowerPC, 64 bits"),
    (22, "s390x", "S/390"),
    (40, "arm", "ARM, 32 bits"),
    (62, "x86_64", "x86, 64 bits"),
    (183, "aarch64", "ARM, 64 bits"),
    (243, "riscv64", "RISC-V"),
];

/// What is wrong with a library of so many bytes that begins like this; nothing if it can be loaded by what its header says.
/// Says nothing about platforms of 32 bits.
pub(crate) fn fault(start: &[u8], size: u64) -> Option<String> {
    if !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
        return None;
    }
    if start.is_empty() {
        return Some("the file is empty".into());
    }
    if !start.starts_with(b"\x7fELF") {
        return Some(format!("it is not an ELF file but {}", kind(start)));
    }
    let header = match start.get(..HEADER) {
        Some(header) if matches!((header[4], header[5]), (1 | 2, 1 | 2)) => header,
        _ => return Some("its ELF header is damaged".into()),
    };
    let read = |at: usize, length: usize| number(header, at, length);
    let machine = read(18, 2);
    let known = MACHINES.iter().find(|(number, ..)| *number == machine);
    if header[4] != 2 || known.is_none_or(|(_, name, _)| *name != std::env::consts::ARCH) {
        let words = known.map_or("an unknown architecture", |(.., words)| words);
        return Some(format!("it is for {words}, this machine is {}", std::env::consts::ARCH));
    }
    if read(16, 2) != SHARED_OBJECT {
        return Some("it is an ELF file but not a shared library".into());
    }
    let (table, entry, count) = (read(32, 8), read(54, 2) as usize, read(56, 2) as usize);
    let end = table.checked_add((entry * count) as u64);
    if count == 0 || entry < SEGMENT || end.is_none_or(|end| end > size) {
        return Some("its table of segments is damaged or cut off".into());
    }
    // A table further on is left to the loader.
    let table = start.get(table as usize..)?.get(..entry * count)?;
    let is_cut = |segment: &[u8]| {
        let end = number(segment, 8, 8).checked_add(number(segment, 32, 8));
        number(segment, 0, 4) == LOADED_SEGMENT && end.is_none_or(|end| end > size)
    };
    table.chunks_exact(entry).any(is_cut).then(|| "it is cut off: a segment ends beyond the file".into())
}

const SECTION: usize = 64;
const DYNAMIC_SYMBOLS: u64 = 11;
const SYMBOL: usize = 24;

/// What the first section of a kind contains, and the names that it refers to; nothing if a table is missing or damaged.
fn section_with_names(bytes: &[u8], kind: u64) -> Option<(&[u8], &[u8])> {
    let header = bytes.get(..HEADER).filter(|header| header.starts_with(b"\x7fELF\x02\x01"))?;
    let (table, entry, count) =
        (number(header, 40, 8), number(header, 58, 2) as usize, number(header, 60, 2) as usize);
    let sections = slice(bytes, table, (entry * count) as u64).filter(|_| entry >= SECTION)?;
    let section = |index: usize| sections.get(index * entry..)?.get(..SECTION);
    let contents = |section: &[u8]| slice(bytes, number(section, 24, 8), number(section, 32, 8));
    let found = (0..count).filter_map(section).find(|section| number(section, 4, 4) == kind)?;
    Some((contents(found)?, contents(section(number(found, 40, 4) as usize)?)?))
}

/// Those of the functions that a library does not offer to others; nothing if it does not have the table that linkers
/// leave for tools, or has a damaged one.
pub(crate) fn missing<'a>(bytes: &[u8], required: &[&'a str]) -> Option<Vec<&'a str>> {
    let (symbols, names) = section_with_names(bytes, DYNAMIC_SYMBOLS)?;
    // No further than the longest name: a hostile table has millions of symbols and one name without an end.
    let longest = required.iter().map(|name| name.len()).max()?;
    let name = |symbol: &[u8]| {
        // Those of others that it uses are in the table as well, without a section.
        let is_own = number(symbol, 6, 2) != 0;
        let rest = names.get(number(symbol, 0, 4) as usize..).filter(|_| is_own)?;
        let end = rest.iter().take(longest + 1).position(|byte| *byte == 0)?;
        Some(&rest[..end])
    };
    let mut missing: HashSet<&[u8]> = required.iter().map(|name| name.as_bytes()).collect();
    for name in symbols.chunks_exact(SYMBOL).filter_map(name) {
        missing.remove(name);
    }
    Some(required.iter().copied().filter(|name| missing.contains(name.as_bytes())).collect())
}

const DYNAMIC: u64 = 6;
const DYNAMIC_ENTRY: usize = 16;
const NEEDED: u64 = 1;
/// Where libraries are looked for, as older and newer linkers write it.
const FOLDERS: [u64; 2] = [15, 29];
/// Most names that are read, and their length: a hostile table has millions.
const MOST_NEEDS: usize = 1000;
const LONGEST_NAME: usize = 4096;

/// What a library asks the loader for.
pub(crate) struct Needs {
    /// Names of other libraries.
    pub(crate) libraries: Vec<String>,
    /// Lists of folders to look for them in, separated by `:`.
    pub(crate) folders: Vec<String>,
}

/// What a library needs; nothing if its tables are missing or damaged.
pub(crate) fn needs(bytes: &[u8]) -> Option<Needs> {
    let (entries_of, names) = section_with_names(bytes, DYNAMIC)?;
    let name = |value: u64| {
        let rest = names.get(usize::try_from(value).ok()?..)?;
        let end = rest.iter().take(LONGEST_NAME).position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    };
    let entries = || {
        let all = entries_of.chunks_exact(DYNAMIC_ENTRY);
        all.map(|entry| (number(entry, 0, 8), number(entry, 8, 8)))
    };
    let named = |wanted: &[u64]| {
        let values = entries().filter(|(tag, _)| wanted.contains(tag)).take(MOST_NEEDS);
        values.filter_map(|(_, value)| name(value)).collect()
    };
    Some(Needs { libraries: named(&[NEEDED]), folders: named(&FOLDERS) })
}

fn slice(bytes: &[u8], at: u64, length: u64) -> Option<&[u8]> {
    let (at, length) = (usize::try_from(at).ok()?, usize::try_from(length).ok()?);
    bytes.get(at..at.checked_add(length)?)
}

/// A number in the byte order of the file.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    // The header of a foreign byte order is refused by its architecture.
    bytes[at..at + length].iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

fn kind(start: &[u8]) -> &'static str {
    match start {
        [b'M', b'Z', ..] => "a library of Windows",
        [0xCF | 0xCE, 0xFA, 0xED, 0xFE, ..] | [0xCA, 0xFE, 0xBA, 0xBE, ..] => "a library of macOS",
        _ if start.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) => "text",
        _ => "something else",
    }
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use super::*;

    fn own_program() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    #[test]
    fn a_library_of_this_machine_passes_and_damage_is_seen() {
        let bytes = own_program();
        let start = &bytes[..LOOKED_AT as usize];
        let size = bytes.len() as u64;
        // Programs are position-independent nowadays, which is the form of a shared library.
        assert_eq!(fault(start, size), None);
        assert!(fault(start, LOOKED_AT).unwrap().contains("cut off"));
        assert!(fault(b"", 0).unwrap().contains("empty"));
        assert!(fault(b"no library", 10).unwrap().contains("text"));
        assert!(fault(b"MZ\x90\x00", 4).unwrap().contains("Windows"));
        assert!(fault(&start[..40], 40).unwrap().contains("damaged"));
        let changed = |at: usize, byte: u8| {
            let mut copy = start.to_vec();
            copy[at] = byte;
            fault(&copy, size).unwrap()
        };
        assert!(changed(18, 8).contains("unknown architecture"));
        assert!(changed(16, 1).contains("not a shared library"));
        assert!(changed(56, 0).contains("table of segments"));
    }

    /// A library of a header, a segment, a table of symbols, their names, and a table of the two sections that these are.
    fn with_symbols(symbols: &[(u32, u16)], names: &[u8]) -> Vec<u8> {
        let mut bytes = own_program()[..HEADER].to_vec();
        let places = [HEADER + SEGMENT, HEADER + SEGMENT + SYMBOL * symbols.len()];
        let sections = places[1] + names.len();
        let mut put = |at: usize, value: usize, length: usize| {
            bytes[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
        };
        [(32, HEADER, 8), (54, SEGMENT, 2), (56, 1, 2)].into_iter().for_each(|(at, v, n)| put(at, v, n));
        [(40, sections, 8), (58, SECTION, 2), (60, 2, 2)].into_iter().for_each(|(at, v, n)| put(at, v, n));
        bytes.extend([0; SEGMENT]);
        for (name, section) in symbols {
            bytes.extend(name.to_le_bytes());
            bytes.extend([0, 0]);
            bytes.extend(section.to_le_bytes());
            bytes.extend([0; 16]);
        }
        bytes.extend(names);
        let kinds = [(DYNAMIC_SYMBOLS as u32, 1_u32), (3, 0)];
        for ((kind, link), (place, size)) in
            kinds.into_iter().zip([(places[0], SYMBOL * symbols.len()), (places[1], names.len())])
        {
            let mut section = [0; SECTION];
            section[4..8].copy_from_slice(&kind.to_le_bytes());
            section[24..32].copy_from_slice(&(place as u64).to_le_bytes());
            section[32..40].copy_from_slice(&(size as u64).to_le_bytes());
            section[40..44].copy_from_slice(&link.to_le_bytes());
            bytes.extend(section);
        }
        bytes
    }

    const NAMES: &[u8] = b"\0step\0reset\0other\0";

    #[test]
    fn functions_that_are_not_offered_are_named() {
        // `other` is used, not offered: it belongs to no section.
        let bytes = with_symbols(&[(0, 0), (1, 7), (6, 7), (12, 0)], NAMES);
        assert_eq!(fault(&bytes, bytes.len() as u64), None);
        assert_eq!(missing(&bytes, &["reset", "step"]), Some(vec![]));
        assert_eq!(missing(&bytes, &["step", "other", "set", "steps"]), Some(vec!["other", "set", "steps"]));
        // The end of a name may be the name of another symbol.
        assert_eq!(missing(&with_symbols(&[(8, 7)], NAMES), &["set"]), Some(vec![]));
        assert_eq!(missing(&bytes[..bytes.len() - 1], &["step"]), None);
    }

    #[test]
    fn a_name_without_an_end_takes_no_longer_than_one_with_an_end() {
        // 4e5 symbols that all start a name of 4e6 bytes: 1.6e12 steps for those who look for its end.
        let bytes = with_symbols(&vec![(0, 7); 400_000], &vec![b'a'; 4_000_000]);
        let start = std::time::Instant::now();
        assert_eq!(missing(&bytes, &["step"]), Some(vec!["step"]));
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }

    #[test]
    fn no_header_and_no_table_makes_it_panic() {
        let program = own_program()[..LOOKED_AT as usize].to_vec();
        let small = with_symbols(&[(0, 0), (1, 7), (6, 7), (12, 0)], NAMES);
        let (mut seed, mut answers) = (1_u64, [0; 3]);
        for original in [program, small] {
            let mut bytes = original.clone();
            for round in 0..40_000 {
                // Damage adds up for a while: from one byte to eight.
                if round % 8 == 0 {
                    bytes.copy_from_slice(&original);
                }
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                bytes[(seed >> 33) as usize % original.len().min(700)] = (seed >> 20) as u8;
                bytes[..4].copy_from_slice(b"\x7fELF");
                let length = (seed >> 40) as usize % bytes.len();
                let _ = (fault(&bytes, seed), fault(&bytes[..length], length as u64));
                let _ = missing(&bytes[..length], &["step", "reset"]);
                let answer = missing(&bytes, &["step", "reset"]);
                answers[answer.map_or(2, |missing| usize::from(!missing.is_empty()))] += 1;
            }
        }
        // All kinds of damage were met: harmless, to names or symbols, to the tables.
        assert!(answers.iter().all(|count| *count > 500), "{answers:?}");
    }
}
