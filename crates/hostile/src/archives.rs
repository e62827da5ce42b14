//! Archives that are changed as archives: entries and their contents, with checksums and lengths that are right, so that
//! readers get past them.

use std::io::{Cursor, Read, Write};

use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use crate::mutation::{LARGEST, Random, changed};

/// Names that readers look for, and some that they refuse.
const NAMES: [&str; 14] = [
    "modelDescription.xml",
    "SystemStructure.ssd",
    "p.ssv",
    "a.fmu",
    "terminalsAndIcons/terminalsAndIcons.xml",
    "a/../b",
    "./",
    "resources/",
    "x\\y",
    "/x",
    "binaries/linux64/M.so",
    "binaries/x86_64-linux/M.so",
    "a",
    "A",
];

/// Further ones of an archive are left out.
const MOST_ENTRIES: usize = 200;

type Entry = (String, Vec<u8>);

/// An archive of entries; nothing if a name is not possible.
pub(crate) fn archive<'a>(
    entries: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    method: CompressionMethod,
) -> Option<Vec<u8>> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(name, SimpleFileOptions::default().compression_method(method)).ok()?;
        writer.write_all(content).ok()?;
    }
    Some(writer.finish().ok()?.into_inner())
}

/// What an archive holds, as far as `zip` reads it.
pub(crate) fn entries(bytes: &[u8]) -> Vec<Entry> {
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else { return Vec::new() };
    let count = archive.len().min(MOST_ENTRIES);
    let entry = |index| {
        let file = archive.by_index(index).ok()?;
        let name = file.name().ok()?.into_owned();
        let mut content = Vec::new();
        file.take(LARGEST as u64).read_to_end(&mut content).ok()?;
        Some((name, content))
    };
    (0..count).filter_map(entry).collect()
}

/// An archive with other entries, or another content of one; nothing if these bytes are none.
pub(crate) fn changed_archive(
    bytes: &[u8],
    seeds: &[Vec<u8>],
    words: &[&str],
    random: &mut Random,
) -> Option<Vec<u8>> {
    let mut entries = entries(bytes);
    for _ in 0..=random.below(2) {
        let place = random.below(entries.len());
        let name = random.pick(&NAMES).map_or(String::new(), |name| (*name).into());
        let entry = entries.get_mut(place)?;
        match random.below(6) {
            0 => entry.0 = name,
            1 => {
                let copy = (name, entry.1.clone());
                entries.push(copy);
            }
            2 => drop(entries.remove(place)),
            _ => entry.1 = changed(std::mem::take(&mut entry.1), seeds, words, random),
        }
    }
    let method = [CompressionMethod::Stored, CompressionMethod::Deflated][random.below(2)];
    archive(entries.iter().map(|(name, content)| (name.as_str(), &content[..])), method)
}
