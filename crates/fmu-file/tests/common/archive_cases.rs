//! Malformed archives, made by hand: not a zip, cut, names that lead elsewhere, links, bombs, contradictions.

use costep_core::Code;

use super::xml::{SMALL_2, SMALL_3, changed};
use super::{File, Zip, end_record, fmu, library};

/// A malformed FMU and the code it has to end with.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) code: Code,
}

fn case(name: impl Into<String>, bytes: Vec<u8>, code: Code) -> Case {
    Case { name: name.into(), bytes, code }
}

/// The small FMU of FMI 2 with one more entry.
fn with(file: File) -> Vec<u8> {
    let mut zip = fmu(2, SMALL_2);
    zip.files.push(file);
    zip.bytes()
}

/// The small FMU of FMI 2, its archive changed.
fn edited(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = fmu(2, SMALL_2).bytes();
    change(&mut bytes);
    bytes
}

/// Position of the last occurrence.
fn last(bytes: &[u8], mark: &[u8]) -> usize {
    bytes.windows(mark.len()).rposition(|window| window == mark).unwrap()
}

fn first(bytes: &[u8], mark: &[u8]) -> usize {
    bytes.windows(mark.len()).position(|window| window == mark).unwrap()
}

/// Row 1: not a zip, empty, cut, damaged.
pub(crate) fn damaged() -> Vec<Case> {
    use Code::{ArchiveDamaged, NoModelDescription, NotAnFmu};
    let whole = fmu(2, SMALL_2).bytes();
    let length = whole.len();
    let directory = first(&whole, b"PK\x01\x02");
    let end = last(&whole, b"PK\x05\x06");
    let cut = |at: usize| whole[..at].to_vec();
    let mut cases = vec![
        case("empty file", Vec::new(), NotAnFmu),
        case("one byte", b"P".to_vec(), NotAnFmu),
        case("text", b"this is not an FMU, sorry\n".to_vec(), NotAnFmu),
        case("bare xml", SMALL_2.as_bytes().to_vec(), NotAnFmu),
        case("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec(), NotAnFmu),
        case("zeros", vec![0; 4096], NotAnFmu),
        case("ones", vec![0xFF; 100_000], NotAnFmu),
        case("bytes before the archive", edited(|b| drop(b.splice(0..0, *b"#!/bin/sh\n"))), NotAnFmu),
        case("only the first mark", b"PK\x03\x04".to_vec(), ArchiveDamaged),
        case("first mark and garbage", [b"PK\x03\x04".to_vec(), vec![7; 300]].concat(), ArchiveDamaged),
        case("an empty archive", end_record(0, 0, 0, b""), NoModelDescription),
        case("an end record that announces entries", end_record(3, 0, 0, b""), ArchiveDamaged),
        case("cut in the first header", cut(12), ArchiveDamaged),
        case("cut in the data", cut(200), ArchiveDamaged),
        case("cut before the directory", cut(directory), ArchiveDamaged),
        case("cut in the directory", cut(directory + 20), ArchiveDamaged),
        case("cut before the end record", cut(end), ArchiveDamaged),
        case("cut in the end record", cut(end + 10), ArchiveDamaged),
        case("last byte missing", cut(length - 1), ArchiveDamaged),
        case("bytes behind the end", edited(|b| b.extend(b"more")), ArchiveDamaged),
        case("directory elsewhere", edited(|b| b[end + 16] ^= 0x10), ArchiveDamaged),
        case("directory behind the end", edited(|b| b[end + 19] = 0x70), ArchiveDamaged),
        case("size of the directory", edited(|b| b[end + 12] += 1), ArchiveDamaged),
        case("fewer entries than announced", edited(|b| (b[end + 8], b[end + 10]) = (9, 9)), ArchiveDamaged),
        case("more entries than announced", edited(|b| (b[end + 8], b[end + 10]) = (2, 2)), ArchiveDamaged),
        case("mark of the directory", edited(|b| b[directory] = b'Q'), ArchiveDamaged),
        case("mark of a header", edited(|b| b[1] = b'Q'), Code::NotAnFmu),
        case("length of a name in the directory", edited(|b| b[directory + 29] = 0xFF), ArchiveDamaged),
    ];
    let entry = |change: fn(&mut File)| {
        let mut zip = fmu(2, SMALL_2);
        change(&mut zip.files[0]);
        zip.bytes()
    };
    let both = |change: fn(&mut super::Header)| {
        let mut zip = fmu(2, SMALL_2);
        zip.files[0] = zip.files[0].clone().both(change);
        zip.bytes()
    };
    let stored = File::stored("modelDescription.xml", SMALL_2);
    cases.extend([
        case("offset of an entry", entry(|f| f.offset = Some(5)), ArchiveDamaged),
        case("offset behind the file", entry(|f| f.offset = Some(0x7FFF_FFFF)), ArchiveDamaged),
        case("checksum", both(|h| h.crc ^= 1), ArchiveDamaged),
        case("checksum of stored data", Zip::new([stored.both(|h| h.crc = 0)]).bytes(), ArchiveDamaged),
        case("deflated data", entry(|f| f.data[40] ^= 0xFF), ArchiveDamaged),
        case(
            "deflated data is random",
            entry(|f| f.data.iter_mut().for_each(|b| *b ^= 0xA5)),
            ArchiveDamaged,
        ),
        case("longer than announced", both(|h| h.size -= 1), ArchiveDamaged),
        case("shorter than announced", both(|h| h.size += 1), ArchiveDamaged),
        case("packed data is cut", both(|h| h.packed -= 9), ArchiveDamaged),
        case("stored as deflated", both(|h| h.method = 0), ArchiveDamaged),
    ]);
    cases
}

/// Row 2: names that lead elsewhere.
pub(crate) fn names() -> Vec<Case> {
    let long = "a/".repeat(513) + "x";
    let deep = "deep/".repeat(100) + "x";
    let part = "x".repeat(300);
    let names: [&[u8]; 18] = [
        b"../evil",
        b"resources/../../evil",
        b"resources/..",
        b"/etc/evil",
        b"//host/evil",
        b"C:/evil",
        b"C:evil",
        b"..\\evil",
        b"resources\\evil",
        b"resources/ev\0il",
        b"resources/ev\nil",
        b"",
        b"./evil",
        b"resources//evil",
        b"resources/\xFF\xFE",
        long.as_bytes(),
        deep.as_bytes(),
        part.as_bytes(),
    ];
    names
        .into_iter()
        .map(|name| {
            let file = File::stored("x", b"evil").both(|header| header.name = name.to_vec());
            let shown: String = String::from_utf8_lossy(name).chars().take(30).collect();
            case(format!("name {shown:?}"), with(file), Code::ArchiveRefused)
        })
        .chain(folders_elsewhere())
        .collect()
}

/// Folders may be written in many ways; where they lead is what counts.
fn folders_elsewhere() -> Vec<Case> {
    let names =
        ["../", "..\\", "resources\\..\\..\\x\\", "/", "\\", "\\\\host\\", "C:\\x\\", "./../", "a\0\\"];
    let folder = |name: &&str| {
        let file = File::stored("x", b"").both(|header| header.name = name.as_bytes().to_vec());
        case(format!("folder {name:?}"), with(file.mode(0o040_755)), Code::ArchiveRefused)
    };
    let link = case("folder of a link", with(File::stored("./", b"").mode(0o120_777)), Code::ArchiveRefused);
    let full = with(File::stored("resources\\f\\", "x").mode(0o040_755));
    let full = case("folder with contents, unusually written", full, Code::ArchiveRefused);
    names.iter().map(folder).chain([link, full]).collect()
}

/// Row 3: links and other things that are not files.
pub(crate) fn links() -> Vec<Case> {
    let kind = |name: &str, mode: u32| {
        case(name, with(File::stored("resources/l", "/etc").mode(mode)), Code::ArchiveRefused)
    };
    let extra = |name: &str, extra: &[u8]| {
        let file = File::stored("resources/l", "x").both(|header| header.extra = extra.to_vec());
        case(name, with(file), Code::ArchiveRefused)
    };
    let mut through = fmu(2, SMALL_2);
    through.files.push(File::stored("resources/l", "/tmp").mode(0o120_777));
    through.files.push(File::stored("resources/l/evil", "evil"));
    let reparse = File::stored("resources/l", "x").with(|f| (f.made_by, f.external) = (10 << 8, 0x400));
    vec![
        kind("symbolic link", 0o120_777),
        kind("pipe", 0o010_644),
        kind("device", 0o020_644),
        kind("block device", 0o060_644),
        kind("socket", 0o140_644),
        kind("a file that says it is a folder", 0o040_755),
        case("symbolic link, then through it", through.bytes(), Code::ArchiveRefused),
        case("reparse point", with(reparse), Code::ArchiveRefused),
        extra("hard link", b"\x0d\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0/etc"),
        extra("link of another kind", b"\x6e\x75\x12\0\0\0\0\0\xff\xa1\x04\0\0\0\0\0\0\0/etc"),
        case("a folder with contents", with(File::stored("resources/f/", "x").mode(0)), Code::ArchiveRefused),
    ]
}

/// Row 4: archives that unpack to more than they should.
pub(crate) fn bombs() -> Vec<Case> {
    let zeros = |size: usize| vec![0; size];
    let lie = File::deflated("resources/bomb", zeros(50 << 20)).both(|header| header.size = 1000);
    let mut lying_description = fmu(2, SMALL_2);
    let padded = format!("{SMALL_2}{}", " ".repeat(20 << 20));
    lying_description.files[0] = File::deflated("modelDescription.xml", padded).both(|h| h.size = 4000);
    let mut many = fmu(2, SMALL_2);
    many.files.extend((0..20_001).map(|index| File::stored(&format!("resources/{index}"), b"")));
    let mut small_ones = fmu(2, SMALL_2);
    let zero = File::deflated("x", zeros(1 << 20));
    small_ones
        .files
        .extend((0..50).map(|index| {
            zero.clone().both(|header| header.name = format!("resources/{index}").into_bytes())
        }));
    let mut overlapping = fmu(2, SMALL_2);
    let shared = File::stored("resources/a", b"shared");
    let start = Zip::new(overlapping.files.clone()).bytes();
    let start = first(&start, b"PK\x01\x02") as u32;
    overlapping.files.push(shared.clone());
    let twin = shared.with(|f| f.offset = Some(start));
    overlapping.files.push(twin.with(|f| f.data.clear()));
    // The second entry claims to contain the third one.
    let mut nested = fmu(2, SMALL_2);
    let inner = Zip::new([File::stored("resources/b", b"inner")]).bytes();
    let inside = &inner[..first(&inner, b"PK\x01\x02")];
    nested.files.push(File::stored("resources/a", inside));
    let at = first(&Zip::new(nested.files.clone()).bytes(), inside) as u32;
    nested.files.push(File::stored("resources/b", b"inner").with(|f| f.offset = Some(at)));
    let zip64 = end_record(u16::MAX, u32::MAX, u32::MAX, b"");
    vec![
        case("10 MB of zeros", with(File::deflated("resources/bomb", zeros(10 << 20))), Code::ArchiveLimit),
        case(
            "description of zeros",
            {
                let mut zip = fmu(2, SMALL_2);
                zip.files[0] = File::deflated("modelDescription.xml", zeros(10 << 20));
                zip.bytes()
            },
            Code::ArchiveLimit,
        ),
        case("50 MB that claim to be 1 kB", with(lie), Code::ArchiveDamaged),
        case("description that claims to be small", lying_description.bytes(), Code::ArchiveDamaged),
        case("20,005 entries", many.bytes(), Code::ArchiveLimit),
        case("50 times 1 MiB of zeros", small_ones.bytes(), Code::ArchiveLimit),
        case("two entries, one data", overlapping.bytes(), Code::ArchiveRefused),
        case("an entry inside another", nested.bytes(), Code::ArchiveRefused),
        case(
            "Zip64 with 10^6 entries",
            [b"PK\x03\x04".to_vec(), vec![0; 100], zip64].concat(),
            Code::ArchiveLimit,
        ),
        case(
            "an entry of the Zip64 kind",
            with(File::stored("resources/a", b"x").with(|f| f.central.size = u32::MAX)),
            Code::ArchiveLimit,
        ),
        case(
            "4 GB that are not there",
            {
                let file = File::stored("resources/a", b"x");
                with(file.both(|h| (h.size, h.packed) = (0xFFFF_0000, 0xFFFF_0000)))
            },
            Code::ArchiveDamaged,
        ),
    ]
}

/// Row 5: duplicates, contradictions, encryption.
pub(crate) fn contradictions() -> Vec<Case> {
    let twice = |first: &str, second: &str| {
        let mut zip = fmu(2, SMALL_2);
        zip.files.push(File::stored(first, b"1"));
        zip.files.push(File::stored(second, b"2"));
        zip.bytes()
    };
    let local = |name: &str, change: fn(&mut super::Header)| {
        let file = File::deflated("resources/a", b"aaaaaaaa").with(|f| change(&mut f.local));
        case(format!("headers differ in {name}"), with(file), Code::ArchiveRefused)
    };
    let flags = |name: &str, bit: u16| {
        let file = File::stored("resources/a", b"a").both(|h| h.flags |= bit);
        case(name, with(file), Code::ArchiveRefused)
    };
    let method = |name: &str, method: u16| {
        let file = File::stored("resources/a", b"a").both(|h| h.method = method);
        case(name, with(file), Code::ArchiveRefused)
    };
    let end = last(&fmu(2, SMALL_2).bytes(), b"PK\x05\x06");
    let wrong_behind = File::deflated("resources/a", b"aaaa").streamed(true).with(|f| f.behind[5] ^= 1);
    let none_behind = File::deflated("resources/a", b"aaaa").streamed(true).with(|f| f.behind.clear());
    let mut second_end = fmu(2, SMALL_2);
    second_end.comment = end_record(0, 0, 0, b"");
    vec![
        case("modelDescription.xml twice", twice("modelDescription.xml", "y"), Code::ArchiveRefused),
        case("the same name twice", twice("resources/a", "resources/a"), Code::ArchiveRefused),
        case("names that differ in case", twice("resources/a", "Resources/A"), Code::ArchiveRefused),
        case("file and folder of one name", twice("resources/a", "resources/a/b"), Code::ArchiveRefused),
        local("name", |h| h.name[0] = b'X'),
        local("length of the name", |h| h.name.push(b'X')),
        local("method", |h| h.method = 0),
        local("size", |h| h.size += 1),
        local("packed size", |h| h.packed += 1),
        local("checksum", |h| h.crc ^= 1),
        local("encryption", |h| h.flags |= 1),
        local("sizes behind the data", |h| h.flags |= 8),
        case("wrong sizes behind the data", with(wrong_behind), Code::ArchiveRefused),
        case("no sizes behind the data", with(none_behind), Code::ArchiveRefused),
        flags("encrypted", 1),
        flags("strongly encrypted", 1 << 6),
        flags("masked", 1 << 13),
        flags("a patch", 1 << 5),
        method("bzip2", 12),
        method("zstd", 93),
        method("aes", 99),
        case("on another disk", edited(|b| b[end + 4] = 1), Code::ArchiveRefused),
        case("part of the entries", edited(|b| b[end + 8] = 1), Code::ArchiveRefused),
        case("two end records", second_end.bytes(), Code::ArchiveRefused),
    ]
}

/// An extra field with sizes of eight bytes.
pub(crate) fn wide_field(values: &[u64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    [&[1, 0, bytes.len() as u8, 0][..], &bytes].concat()
}

/// An archive with the end records of the Zip64 kind, the entries, size and start of whose directory are changed.
pub(crate) fn wide_end(mut bytes: Vec<u8>, open: bool, change: impl FnOnce(&mut [u64; 3])) -> Vec<u8> {
    let end = last(&bytes, b"PK\x05\x06");
    let start = first(&bytes, b"PK\x01\x02");
    let mut numbers = [u64::from(bytes[end + 10]), (end - start) as u64, start as u64];
    change(&mut numbers);
    let mut records = b"PK\x06\x06".to_vec();
    records.extend(44_u64.to_le_bytes());
    records.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    [numbers[0], numbers[0], numbers[1], numbers[2]].iter().for_each(|n| records.extend(n.to_le_bytes()));
    records.extend(b"PK\x06\x07\0\0\0\0");
    records.extend((end as u64).to_le_bytes());
    records.extend([1, 0, 0, 0]);
    if open {
        bytes[end + 8..end + 20].fill(0xFF);
    }
    bytes.splice(end..end, records);
    bytes
}

/// Row 5 as well: Zip64 records that contradict others, and names in extra fields.
pub(crate) fn wide() -> Vec<Case> {
    const OPEN: u32 = u32::MAX;
    let file = || File::stored("resources/a", b"aaaa");
    let local = |name: &str, values: &[u64]| {
        let extra = wide_field(values);
        let file = file().with(|f| (f.local.size, f.local.packed, f.local.extra) = (OPEN, OPEN, extra));
        case(format!("Zip64 in front of the data: {name}"), with(file), Code::ArchiveRefused)
    };
    let central = |name: &str, values: &[u64], code: Code| {
        let extra = wide_field(values);
        let file = file().with(|f| (f.central.size, f.central.packed, f.central.extra) = (OPEN, OPEN, extra));
        case(format!("Zip64 in the directory: {name}"), with(file), code)
    };
    let ends = |name: &str, open: bool, change: fn(&mut [u64; 3]), code: Code| {
        case(format!("Zip64 end: {name}"), wide_end(fmu(2, SMALL_2).bytes(), open, change), code)
    };
    let renamed = |name: &str, target: &[u8], local: bool| {
        let mut extra = vec![0x75, 0x70, 5 + target.len() as u8, 0, 1, 0, 0, 0, 0];
        extra.extend(target);
        let file = file().with(|f| (if local { &mut f.local } else { &mut f.central }).extra = extra);
        case(format!("an extra field with a name {name}"), with(file), Code::ArchiveRefused)
    };
    let twice = [wide_field(&[4, 4]), wide_field(&[5, 5])].concat();
    let elsewhere = {
        let mut bytes = wide_end(fmu(2, SMALL_2).bytes(), true, |_| {});
        let locator = last(&bytes, b"PK\x06\x07");
        bytes[locator + 8] ^= 1;
        bytes
    };
    vec![
        local("another size", &[5, 4]),
        local("another packed size", &[4, 1 << 40]),
        local("one size", &[4]),
        central("another size", &[5, 4], Code::ArchiveDamaged),
        central("sizes beyond the file", &[1 << 40, 1 << 40], Code::ArchiveLimit),
        central("sizes that add up to zero", &[u64::MAX - 3, u64::MAX - 3], Code::ArchiveLimit),
        central("no sizes", &[], Code::ArchiveLimit),
        central("an offset as well", &[4, 4, u64::MAX - 8], Code::ArchiveLimit),
        case(
            "two Zip64 fields",
            with(file().with(|f| (f.central.size, f.central.packed, f.central.extra) = (OPEN, OPEN, twice))),
            Code::ArchiveLimit,
        ),
        ends("10^18 entries", true, |n| n[0] = 1_000_000_000_000_000_000, Code::ArchiveLimit),
        ends("other entries than the usual end", false, |n| n[0] += 1, Code::ArchiveRefused),
        ends("another size of the directory", true, |n| n[1] -= 1, Code::ArchiveDamaged),
        ends("a directory behind the file", true, |n| n[2] = u64::MAX, Code::ArchiveDamaged),
        ends("more entries than there are", true, |n| n[0] += 1, Code::ArchiveDamaged),
        case("Zip64 end elsewhere", elsewhere, Code::ArchiveDamaged),
        renamed("that leads elsewhere, in the directory", b"../evil", false),
        renamed("that leads elsewhere, in front of the data", b"../evil", true),
        renamed("that is another one", b"resources/b", false),
    ]
}

/// Row 11 and what is wrong with the identifier of the library.
pub(crate) fn binaries() -> Vec<Case> {
    let without = |version: u32, text: &str, names: &[&str]| {
        let mut zip = fmu(version, text);
        zip.files.retain(|file| file.central.name.starts_with(b"model"));
        zip.files.extend(names.iter().map(|name| File::stored(name, b"x")));
        zip.bytes()
    };
    let identifier = |name: &str| {
        let text = changed(
            SMALL_2,
            r#"<CoSimulation modelIdentifier="Engine"/>"#,
            &format!(r#"<CoSimulation modelIdentifier="{name}"/>"#),
        );
        case(format!("identifier {name:.20}"), fmu(2, &text).bytes(), Code::BadDescription)
    };
    let [wrong_case, other] = ["engine", "motor"].map(|name| library(2, name));
    vec![
        case("sources only", without(2, SMALL_2, &["sources/all.c"]), Code::NoBinary),
        case("32 bits only", without(2, SMALL_2, &["binaries/linux32/Engine.so"]), Code::NoBinary),
        case("another processor", without(3, SMALL_3, &["binaries/ppc64-linux/Engine.so"]), Code::NoBinary),
        case("nothing at all", without(3, SMALL_3, &[]), Code::NoBinary),
        case("libraries of other names", without(2, SMALL_2, &[&wrong_case, &other]), Code::NoBinary),
        case("library in a folder of its own", without(2, SMALL_2, &["binaries/Engine.so"]), Code::NoBinary),
        identifier("../../evil"),
        identifier("/tmp/evil"),
        identifier("a/b"),
        identifier("a\\b"),
        identifier(".a"),
        identifier("a b"),
        identifier(""),
        identifier("&#x0a;"),
        identifier(&"x".repeat(257)),
    ]
}
