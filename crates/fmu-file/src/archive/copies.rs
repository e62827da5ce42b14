//! Entries of which nothing is made: the folder `./` of the archive itself, and what is packed twice. Some build scripts do
//! that with files that nobody runs; anything else that is there twice is refused, because two readers of the archive could
//! see two contents.

use std::collections::HashSet;

use super::records::Record;

/// Folders whose files costep neither runs nor reads.
const UNUSED: [&str; 4] = ["extra/", "documentation/", "sources/", "terminalsAndIcons/"];

/// Takes out the archive itself and what is a folder or an unused file and is there before with the same name, size and checksum.
pub(super) fn take(records: &mut Vec<Record>) -> Vec<Record> {
    let mut seen = HashSet::new();
    let is_copy = |record: &mut Record| {
        let may_be =
            record.name.ends_with('/') || UNUSED.iter().any(|folder| record.name.starts_with(folder));
        record.name.is_empty() || may_be && !seen.insert((record.name.clone(), record.size, record.crc))
    };
    records.extract_if(.., is_copy).collect()
}
