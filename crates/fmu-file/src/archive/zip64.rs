//! Sizes and places of eight bytes (Zip64). FMI and SSP do without, and nothing here is as large as to need them, but some
//! tools write them for small files too. They are read where every place that gives a number gives the same one.

use costep_core::{Code, Error, Result};

use super::Source;
use super::records::{damaged, flaw, read_at, refused, u16_at, u32_at};

const END: u32 = 0x0606_4b50;
const LOCATOR: u32 = 0x0706_4b50;
const END_LEN: u64 = 56;
const LOCATOR_LEN: u64 = 20;
const FIELD: u16 = 1;
/// The field that gives an entry a second name.
const UNICODE_PATH: u16 = 0x7075;

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// The extra fields of an entry: kind and contents.
fn fields(extra: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = extra;
    std::iter::from_fn(move || {
        let field = rest.get(4..4 + usize::from(u16_at(rest, 2)))?;
        let id = u16_at(rest, 0);
        rest = &rest[4 + field.len()..];
        Some((id, field))
    })
}

/// Whether there is a field with sizes.
pub(super) fn has_sizes(extra: &[u8]) -> bool {
    fields(extra).any(|(id, _)| id == FIELD)
}

/// What the extra fields make of numbers of the header, in the order in which fields have them. A number that is not all
/// ones is given again by the field at most.
///
/// Whether there is such a field is the second answer.
pub(super) fn widened<const N: usize>(
    stated: [u32; N],
    extra: &[u8],
) -> std::result::Result<([u64; N], bool), &'static str> {
    let narrow = stated.map(u64::from);
    let is_open = |value: u64| value == u64::from(u32::MAX);
    let open = narrow.iter().filter(|value| is_open(**value)).count();
    let mut found = fields(extra).filter(|(id, _)| *id == FIELD).map(|(_, field)| field);
    let Some(field) = found.next() else {
        return if open == 0 { Ok((narrow, false)) } else { Err("it has no Zip64 field with its sizes") };
    };
    if found.next().is_some() {
        return Err("it has two Zip64 fields");
    }
    // Either the open numbers alone, or all up to the last that is given.
    let alone = field.len() == 8 * open;
    let whole = field.len() % 8 == 0 && field.len() / 8 <= N && field.len() >= 16;
    if !alone && !whole {
        return Err("its Zip64 field has another length than its header asks for");
    }
    let (mut wide, mut at) = (narrow, 0);
    for value in &mut wide {
        if alone && !is_open(*value) {
            continue;
        }
        if at < field.len() {
            let given = u64_at(field, at);
            at += 8;
            if !is_open(*value) && *value != given && given != 0 {
                return Err("its header and its Zip64 field differ");
            }
            *value = if is_open(*value) { given } else { *value };
        } else if is_open(*value) {
            return Err("its Zip64 field has another length than its header asks for");
        }
    }
    Ok((wide, true))
}

/// Whether an extra field gives an entry another name than its header does. Names that are not of ASCII have two spellings
/// for a reason; ours is that of the header.
pub(super) fn has_other_name(raw_name: &[u8], extra: &[u8]) -> bool {
    let mut names = fields(extra).filter(|(id, _)| *id == UNICODE_PATH).map(|(_, field)| field.get(5..));
    raw_name.is_ascii() && names.any(|name| name != Some(raw_name))
}

/// What the end record of an archive of the Zip64 kind says.
pub(super) struct End {
    /// Where it starts, which is where the directory ends.
    pub(super) byte: u64,
    pub(super) entries: u64,
    pub(super) size: u64,
    pub(super) start: u64,
}

/// The Zip64 end record in front of the usual one at `byte`, whose numbers are given too: entries, size, start of the
/// directory. None if there is none.
pub(super) fn end(source: &mut dyn Source, byte: u64, stated: (u16, u32, u32)) -> Result<Option<End>> {
    let open = [stated.0 == u16::MAX, stated.1 == u32::MAX, stated.2 == u32::MAX];
    let locator_at = byte.checked_sub(LOCATOR_LEN);
    let mut locator = [0; LOCATOR_LEN as usize];
    if let Some(at) = locator_at {
        read_at(source, at, &mut locator)?;
    }
    if u32_at(&locator, 0) != LOCATOR {
        return match open.contains(&true) {
            true => Err(missing(byte)),
            false => Ok(None),
        };
    }
    let at = locator_at.unwrap_or(0);
    let Some(record_at) = at.checked_sub(END_LEN).filter(|before| *before == u64_at(&locator, 8)) else {
        return Err(damaged(at, "the archive has no Zip64 end record where it says to have one"));
    };
    let mut record = [0; END_LEN as usize];
    read_at(source, record_at, &mut record)?;
    if u32_at(&record, 0) != END || u64_at(&record, 4) != END_LEN - 12 {
        return Err(damaged(record_at, "the archive has no Zip64 end record where it says to have one"));
    }
    let end = End {
        byte: record_at,
        entries: u64_at(&record, 32),
        size: u64_at(&record, 40),
        start: u64_at(&record, 48),
    };
    let disks = [u32_at(&locator, 4), u32_at(&record, 16), u32_at(&record, 20)];
    if disks != [0; 3] || u32_at(&locator, 16) > 1 || u64_at(&record, 24) != end.entries {
        let what = "the archive is one part of several, which FMI and SSP do not allow";
        return Err(refused(record_at, what));
    }
    let numbers = [u64::from(stated.0), stated.1.into(), stated.2.into()];
    let same = [end.entries, end.size, end.start];
    if (0..3).any(|index| !open[index] && numbers[index] != same[index]) {
        return Err(refused(record_at, "the two end records of the archive differ"));
    }
    Ok(Some(end))
}

fn missing(byte: u64) -> Error {
    flaw(Code::ArchiveLimit, byte, "the archive says that it is Zip64, without the end record of one")
        .hint("copy or export the file again; archives here have at most 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(values: &[u64]) -> Vec<u8> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        [&[1, 0, bytes.len() as u8, 0][..], &bytes].concat()
    }

    #[test]
    fn fields_give_what_headers_leave_open() {
        const OPEN: u32 = u32::MAX;
        let before = [9_u8, 0, 2, 0, 7, 7];
        for (stated, values, expected) in [
            ([5, 6, 7], None, Some([5, 6, 7])),
            ([OPEN, OPEN, 7], Some(vec![5, 6]), Some([5, 6, 7])),
            ([OPEN, OPEN, OPEN], Some(vec![5, 6, 7]), Some([5, 6, 7])),
            ([5, OPEN, 7], Some(vec![6]), Some([5, 6, 7])),
            ([5, OPEN, 7], Some(vec![5, 6, 7]), Some([5, 6, 7])),
            ([5, 6, 7], Some(vec![5, 6]), Some([5, 6, 7])),
            ([OPEN, 6, 7], None, None),
            ([5, 6, 7], Some(vec![5]), None),
            ([5, 6, 7], Some(vec![5, 9]), None),
            ([OPEN, OPEN, OPEN], Some(vec![5, 6]), None),
            ([OPEN, OPEN, 7], Some(vec![5]), None),
            ([OPEN, OPEN, 7], Some(vec![5, 6, 7, 0]), None),
        ] {
            let extra: Vec<u8> =
                values.iter().flat_map(|values| [&before[..], &field(values)].concat()).collect();
            let found = widened(stated, &extra).ok().map(|(values, _)| values);
            assert_eq!(found, expected, "{stated:?} {values:?}");
        }
        let twice = [field(&[5]), field(&[6])].concat();
        assert!(widened([OPEN, 6, 7], &twice).is_err());
    }

    #[test]
    fn a_second_name_is_seen() {
        let named = |name: &str| {
            [&[0x75, 0x70, 5 + name.len() as u8, 0, 1, 0, 0, 0, 0][..], name.as_bytes()].concat()
        };
        assert!(has_other_name(b"a/b", &named("../x")) && !has_other_name(b"a/b", &named("a/b")));
        assert!(!has_other_name(b"gr\x81n", &named("grün")) && !has_other_name(b"a", &[]));
    }
}
