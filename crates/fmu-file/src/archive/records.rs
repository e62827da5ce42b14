//! The records of a zip archive, as far as FMUs may use them: no parts on several disks, stored or deflated files
//! only. Every number is checked before it is used; the two headers of an entry have to agree.

use std::io::{self, BufReader, Read, SeekFrom};

use costep_core::{Code, Error, Result};

use super::kind::{FOLDER, check_kind, unix_kind};
use super::{Source, copies, name, zip64};
use crate::limits::Limits;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
const END_LEN: usize = 22;

/// General purpose bits that have to be the same in both headers: encrypted, sizes behind the data, strong
/// encryption, masked headers.
const ENCRYPTED: u16 = 1 << 0;
const SIZES_BEHIND: u16 = 1 << 3;
const PATCHED: u16 = 1 << 5;
const STRONG_ENCRYPTION: u16 = 1 << 6;
const UTF8: u16 = 1 << 11;
const MASKED: u16 = 1 << 13;

/// How the data of an entry is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Stored,
    Deflated,
}

/// One entry, both of its headers read and found to agree.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) method: Method,
    pub(crate) crc: u32,
    pub(crate) packed: u64,
    pub(crate) size: u64,
    /// First byte of the data.
    pub(crate) data: u64,
    pub(crate) executable: bool,
    /// A folder that is not written as folders are.
    pub(crate) is_odd: bool,
    /// Some of its numbers are given by a Zip64 field.
    is_wide: bool,
    local: u64,
    raw_name: Vec<u8>,
    flags: u16,
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// An error of the archive with its place in the file.
pub(super) fn flaw(code: Code, byte: u64, what: impl Into<String>) -> Error {
    Error::new(code, what).because(format!("noticed at byte {byte} of the file"))
}

pub(super) fn damaged(byte: u64, what: impl Into<String>) -> Error {
    flaw(Code::ArchiveDamaged, byte, what)
}

pub(super) fn refused(byte: u64, what: impl Into<String>) -> Error {
    flaw(Code::ArchiveRefused, byte, what)
}

fn unreadable(cause: io::Error) -> Error {
    Error::new(Code::FileNotReadable, "the archive cannot be read").because(cause)
}

/// Reads exactly these bytes, or says at which byte the file ends too early.
pub(super) fn read_at(source: &mut dyn Source, at: u64, buffer: &mut [u8]) -> Result<()> {
    source.seek(SeekFrom::Start(at)).map_err(unreadable)?;
    source.read_exact(buffer).map_err(|cause| match cause.kind() {
        io::ErrorKind::UnexpectedEof => damaged(at, "the archive ends within a record"),
        _ => unreadable(cause),
    })
}

/// Where the central directory is.
struct Directory {
    start: u64,
    end: u64,
    entries: usize,
    is_wide: bool,
}

/// What is unusual about an archive and does no harm.
#[derive(Default)]
pub(crate) struct Oddities {
    /// The first folder that is not written as folders are, as it is written, and the number of them.
    pub(crate) folders: Option<(String, usize)>,
    /// It has records of the Zip64 kind.
    pub(crate) is_zip64: bool,
}

/// Reads all entries of an archive of `length` bytes.
pub(crate) fn read(source: &mut dyn Source, length: u64, limits: &Limits) -> Result<(Vec<Record>, Oddities)> {
    let directory = find_directory(source, length, limits)?;
    let mut records = read_directory(source, &directory, limits)?;
    let mut odd = records.iter().filter(|record| record.is_odd);
    let folders = odd.next().map(|first| {
        let name = name::decode(&first.raw_name, false).unwrap_or_default();
        (name::shown(&name), 1 + odd.count())
    });
    let mut copies = copies::take(&mut records);
    check_together(&records, &directory, limits)?;
    for record in records.iter_mut().chain(&mut copies) {
        read_local(source, record, directory.start)?;
    }
    match copies.is_empty() {
        true => check_overlap(&records)?,
        false => check_overlap(&[&records[..], &copies].concat())?,
    }
    let is_zip64 = directory.is_wide || records.iter().any(|record| record.is_wide);
    Ok((records, Oddities { folders, is_zip64 }))
}

/// What a file that is no archive seems to be by its first bytes, and what to do then.
fn in_the_place_of_a_zip(start: &[u8]) -> (&'static str, Option<&'static str>) {
    let text =
        String::from_utf8_lossy(start).trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    let is_markup = text.starts_with('<') && !text.starts_with("<?xml");
    let starts_with = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    if text.starts_with("version https://git-lfs.github.com") {
        return (
            "it is a pointer of Git LFS, which stands for the file until that is fetched",
            Some("fetch the file: `git lfs install`, then `git lfs pull` in its repository"),
        );
    }
    if is_markup {
        return (
            "it is a web page or other markup, as a download that failed leaves it",
            Some("download the file itself, not the page that shows it"),
        );
    }
    if starts_with(&["<?xml"]) {
        return (
            "it is an XML file, perhaps the model description of an unpacked FMU",
            Some(
                "give the .fmu file itself, or zip the content of its folder: modelDescription.xml is at the top",
            ),
        );
    }
    if start.starts_with(b"Rar!") || start.starts_with(&[0x1f, 0x8b]) || start.starts_with(b"7z\xbc\xaf") {
        return (
            "it is an archive of another kind",
            Some("pack its content as a zip archive, as FMI asks for"),
        );
    }
    let is_code = starts_with(&["import ", "from ", "class ", "def ", "#", "\"\"\""]);
    let is_text = start.is_ascii() && start.first().is_some_and(u8::is_ascii_graphic);
    match (is_code, is_text) {
        (true, _) => (
            "it is text, as code is",
            Some("give the .fmu file itself; `pythonfmu build -f FILE.py` makes one of Python code"),
        ),
        (_, true) => (
            "it is text",
            Some("give the .fmu file itself; a download that was cut or refused may leave a text"),
        ),
        _ => ("it does not start like one", None),
    }
}

fn find_directory(source: &mut dyn Source, length: u64, limits: &Limits) -> Result<Directory> {
    let mut start = [0; 4];
    let not_zip = |why: &str| Error::new(Code::NotAnFmu, "the file is not a zip archive").because(why);
    if length == 0 {
        return Err(not_zip("it is empty"));
    }
    let known = start.len().min(usize::try_from(length).unwrap_or(usize::MAX));
    read_at(source, 0, &mut start[..known])?;
    if ![LOCAL, END].contains(&u32_at(&start, 0)) {
        let mut beginning = [0; 64];
        let seen = beginning.len().min(usize::try_from(length).unwrap_or(usize::MAX));
        read_at(source, 0, &mut beginning[..seen])?;
        let (why, hint) = in_the_place_of_a_zip(&beginning[..seen]);
        let error = not_zip(why);
        return Err(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        });
    }
    // The end record is followed only by a comment, whose length it states.
    let tail_len = length.min((END_LEN + usize::from(u16::MAX)) as u64);
    let tail_start = length - tail_len;
    let mut tail = vec![0; tail_len as usize];
    read_at(source, tail_start, &mut tail)?;
    let ends: Vec<usize> = (0..(tail.len() + 1).saturating_sub(END_LEN))
        .filter(|at| {
            u32_at(&tail, *at) == END && at + END_LEN + usize::from(u16_at(&tail, at + 20)) == tail.len()
        })
        .collect();
    let at = match ends.as_slice() {
        [at] => *at,
        [] => {
            return Err(damaged(length, "the archive has no end record at its end")
                .hint("the file was cut, or something was appended to it; copy it again"));
        }
        [first, ..] => {
            return Err(refused(tail_start + *first as u64, "the archive has two end records"));
        }
    };
    let (record, byte) = (&tail[at..], tail_start + at as u64);
    let (entries, size, offset) = (u16_at(record, 10), u32_at(record, 12), u32_at(record, 16));
    if u16_at(record, 4) != 0 || u16_at(record, 6) != 0 || u16_at(record, 8) != entries {
        return Err(refused(byte, "the archive is one part of several, which FMI and SSP do not allow"));
    }
    let wide = zip64::end(source, byte, (entries, size, offset))?;
    let is_wide = wide.is_some();
    let (entries, size, start, end) = match wide {
        Some(wide) => (wide.entries, wide.size, wide.start, wide.byte),
        None => (entries.into(), size.into(), offset.into(), byte),
    };
    if entries > limits.entries as u64 {
        let what = format!("the archive has {entries} entries; the limit is {}", limits.entries);
        return Err(flaw(Code::ArchiveLimit, byte, what));
    }
    if start.checked_add(size) != Some(end) {
        return Err(damaged(byte, "the end record does not point to the directory before it")
            .hint("bytes were lost, inserted or put before the archive; copy it again"));
    }
    Ok(Directory { start, end, entries: entries as usize, is_wide })
}

fn read_directory(source: &mut dyn Source, directory: &Directory, limits: &Limits) -> Result<Vec<Record>> {
    source.seek(SeekFrom::Start(directory.start)).map_err(unreadable)?;
    let mut reader = BufReader::new(source.take(directory.end - directory.start));
    let mut records = Vec::with_capacity(directory.entries.min(limits.entries));
    let mut byte = directory.start;
    let mut variable = Vec::new();
    for _ in 0..directory.entries {
        let mut fixed = [0; CENTRAL_LEN];
        let cut = |cause: io::Error| match cause.kind() {
            io::ErrorKind::UnexpectedEof => damaged(byte, "the directory of the archive is cut"),
            _ => unreadable(cause),
        };
        reader.read_exact(&mut fixed).map_err(cut)?;
        if u32_at(&fixed, 0) != CENTRAL {
            return Err(damaged(byte, "an entry of the directory does not start as it should"));
        }
        let lengths = [28, 30, 32].map(|at| usize::from(u16_at(&fixed, at)));
        variable.resize(lengths.iter().sum(), 0);
        reader.read_exact(&mut variable).map_err(cut)?;
        let (raw_name, rest) = variable.split_at(lengths[0]);
        records.push(parse_central(&fixed, raw_name, &rest[..lengths[1]], byte)?);
        byte += (CENTRAL_LEN + variable.len()) as u64;
    }
    if byte != directory.end {
        return Err(damaged(byte, "the directory holds more than the entries it announces"));
    }
    Ok(records)
}

fn parse_central(fixed: &[u8], raw_name: &[u8], extra: &[u8], byte: u64) -> Result<Record> {
    let flags = u16_at(fixed, 8);
    let Some(name) = name::decode(raw_name, flags & UTF8 != 0) else {
        return Err(refused(byte, "the name of an entry is not UTF-8 although it says so"));
    };
    let shown = name::shown(&name);
    let stated = [24, 20, 42].map(|at| u32_at(fixed, at));
    let ([size, packed, local], is_wide) = zip64::widened(stated, extra)
        .map_err(|why| flaw(Code::ArchiveLimit, byte, format!("the entry `{shown}` is refused: {why}")))?;
    let kind = unix_kind(fixed);
    let (name, is_respelt) = match name::folder(&name, kind == FOLDER).filter(|_| size == 0) {
        Some(folder) => (folder.clone(), folder != name),
        None => (name, false),
    };
    if let Some(reason) = name::flaw(&name).filter(|_| !(is_respelt && name.is_empty())) {
        return Err(refused(byte, format!("the entry `{shown}` is refused: {reason}")));
    }
    if flags & (ENCRYPTED | STRONG_ENCRYPTION | MASKED) != 0 {
        return Err(refused(
            byte,
            format!("the entry `{shown}` is encrypted, which FMI and SSP do not allow"),
        ));
    }
    let method = match u16_at(fixed, 10) {
        0 => Method::Stored,
        8 => Method::Deflated,
        other => {
            let what = format!("the entry `{shown}` is packed by method {other}");
            return Err(
                refused(byte, what).hint("FMI and SSP allow only stored (0) and deflated (8) entries")
            );
        }
    };
    if flags & PATCHED != 0 {
        return Err(refused(byte, format!("the entry `{shown}` is a patch of another file")));
    }
    if u16_at(fixed, 34) != 0 {
        return Err(flaw(Code::ArchiveLimit, byte, format!("the entry `{shown}` is on another disk")));
    }
    if zip64::has_other_name(raw_name, extra) {
        return Err(refused(byte, format!("an extra field gives the entry `{shown}` another name")));
    }
    let mode = check_kind(fixed, extra, &name).map_err(|kind| {
        refused(byte, format!("the entry `{shown}` is {kind}; only plain files are allowed"))
    })?;
    let is_folder = name.is_empty() || name.ends_with('/');
    if is_folder && size != 0 {
        return Err(refused(byte, format!("the folder `{shown}` has contents of its own")));
    }
    if method == Method::Stored && packed != size {
        return Err(damaged(byte, format!("the stored entry `{shown}` has two different sizes")));
    }
    Ok(Record {
        method,
        crc: u32_at(fixed, 16),
        packed,
        size,
        data: 0,
        executable: mode & 0o100 != 0,
        is_odd: is_respelt || (is_folder && ![0, FOLDER].contains(&kind)),
        is_wide,
        local,
        raw_name: raw_name.to_vec(),
        flags,
        name,
    })
}

/// Checks what concerns several entries, before any of them is looked at closer.
fn check_together(records: &[Record], directory: &Directory, limits: &Limits) -> Result<()> {
    let (mut packed, mut size) = (0_u64, 0_u64);
    for record in records {
        packed = packed.saturating_add(record.packed);
        size = size.saturating_add(record.size);
        if !limits.allows_ratio(record.packed, record.size) {
            let what = format!(
                "the entry `{}` unpacks from {} to {} bytes; the limit is {} to 1",
                name::shown(&record.name),
                record.packed,
                record.size,
                limits.ratio
            );
            return Err(flaw(Code::ArchiveLimit, record.local, what));
        }
    }
    if size > limits.total_size {
        let what = format!("the archive unpacks to {size} bytes; the limit is {}", limits.total_size);
        return Err(flaw(Code::ArchiveLimit, directory.start, what));
    }
    if !limits.allows_ratio(packed, size) {
        let what =
            format!("the archive unpacks from {packed} to {size} bytes; the limit is {} to 1", limits.ratio);
        return Err(flaw(Code::ArchiveLimit, directory.start, what));
    }
    if let Some((i, j)) = name::collision(records.iter().map(|record| record.name.as_str())) {
        let [first, second] = [i, j].map(|index| name::shown(&records[index].name));
        let what = if first == second {
            format!("the archive holds `{first}` twice")
        } else {
            format!("the entries `{first}` and `{second}` exclude each other")
        };
        return Err(refused(records[j].local, what).hint("upper and lower case count as the same"));
    }
    Ok(())
}

/// Reads the header in front of the data and compares it with the one of the directory.
fn read_local(source: &mut dyn Source, record: &mut Record, limit: u64) -> Result<()> {
    let byte = record.local;
    let mut fixed = [0; LOCAL_LEN];
    let shown = name::shown(&record.name);
    if byte.saturating_add(LOCAL_LEN as u64) > limit {
        return Err(damaged(byte, format!("the entry `{shown}` starts after the last one")));
    }
    read_at(source, byte, &mut fixed)?;
    if u32_at(&fixed, 0) != LOCAL {
        return Err(damaged(byte, format!("the entry `{shown}` is not where the directory says")));
    }
    let name_len = usize::from(u16_at(&fixed, 26));
    let extra_len = usize::from(u16_at(&fixed, 28));
    record.data = byte + (LOCAL_LEN + name_len + extra_len) as u64;
    if record.data.saturating_add(record.packed) > limit {
        return Err(damaged(byte, format!("the data of the entry `{shown}` is cut")));
    }
    let differs =
        |what: &str| refused(byte, format!("the two headers of the entry `{shown}` differ in {what}"));
    if name_len != record.raw_name.len() {
        return Err(differs("the name"));
    }
    let mut variable = vec![0; name_len + extra_len];
    read_at(source, byte + LOCAL_LEN as u64, &mut variable)?;
    let (raw_name, extra) = variable.split_at(name_len);
    if raw_name != record.raw_name || zip64::has_other_name(raw_name, extra) {
        return Err(differs("the name"));
    }
    const COMPARED: u16 = ENCRYPTED | SIZES_BEHIND | STRONG_ENCRYPTION | MASKED;
    let flags = u16_at(&fixed, 6);
    if flags & COMPARED != record.flags & COMPARED {
        return Err(differs("the flags"));
    }
    let method = if record.method == Method::Stored { 0 } else { 8 };
    if u16_at(&fixed, 8) != method {
        return Err(differs("the method of packing"));
    }
    let stated = [u32_at(&fixed, 22), u32_at(&fixed, 18)];
    let widened = match zip64::widened(stated, extra) {
        // Sizes behind the data may be open in front of it.
        Err(_) if flags & SIZES_BEHIND != 0 && !zip64::has_sizes(extra) => Ok((stated.map(u64::from), false)),
        widened => widened,
    };
    let ([size, packed], is_wide) =
        widened.map_err(|why| refused(byte, format!("the entry `{shown}` is refused: {why}")))?;
    record.is_wide |= is_wide;
    let stated = [u32_at(&fixed, 14).into(), packed, size];
    let expected = [u64::from(record.crc), record.packed, record.size];
    if flags & SIZES_BEHIND == 0 {
        return if stated == expected { Ok(()) } else { Err(differs("size or checksum")) };
    }
    // Here the header may leave open what the record behind the data says.
    let open = |value: u64, expected: u64| [0, u64::from(u32::MAX), expected].contains(&value);
    if !stated.iter().zip(expected).all(|(value, expected)| open(*value, expected)) {
        return Err(differs("size or checksum"));
    }
    let mut behind = [0; 24];
    let start = record.data + record.packed;
    let available = behind.len().min(usize::try_from(limit - start).unwrap_or(usize::MAX));
    read_at(source, start, &mut behind[..available])?;
    let behind = &behind[..available];
    let unmarked = behind.strip_prefix(&DESCRIPTOR.to_le_bytes());
    let agrees =
        |bytes: &[u8]| descriptor(bytes, 4) == Some(expected) || descriptor(bytes, 8) == Some(expected);
    if agrees(behind) || unmarked.is_some_and(agrees) { Ok(()) } else { Err(differs("size or checksum")) }
}

/// Checksum and sizes behind the data, the sizes of so many bytes each.
fn descriptor(bytes: &[u8], width: usize) -> Option<[u64; 3]> {
    let wide = |at: usize| {
        let low = bytes.get(at..at + width)?;
        Some(low.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    bytes.get(..4)?;
    Some([u32_at(bytes, 0).into(), wide(4)?, wide(4 + width)?])
}

/// No byte belongs to two entries: overlapping ones unpack to far more than the file holds.
fn check_overlap(records: &[Record]) -> Result<()> {
    let mut extents: Vec<(u64, u64, usize)> =
        records.iter().enumerate().map(|(index, r)| (r.local, r.data + r.packed, index)).collect();
    extents.sort_unstable();
    match extents.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        None => Ok(()),
        Some(pair) => {
            let [first, second] = [pair[0].2, pair[1].2].map(|index| name::shown(&records[index].name));
            Err(refused(pair[1].0, format!("the entries `{first}` and `{second}` overlap in the file")))
        }
    }
}
