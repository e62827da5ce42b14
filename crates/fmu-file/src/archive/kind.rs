//! What an entry is, by its attributes: file, folder, or something that is refused.

use super::records::{u16_at, u32_at};

/// A folder in Unix modes.
pub(super) const FOLDER: u32 = 0o040_000;

/// What the Unix mode of an entry says it is; 0 if nothing.
pub(super) fn unix_kind(fixed: &[u8]) -> u32 {
    (u32_at(fixed, 38) >> 16) & 0o170_000
}

/// The Unix mode of an entry, or what it is if it is neither file nor folder. What a folder without contents says to be does
/// not matter, unless it is a link: nothing but a folder is made of it.
pub(super) fn check_kind(fixed: &[u8], extra: &[u8], name: &str) -> std::result::Result<u32, &'static str> {
    const REPARSE_POINT: u32 = 0x400;
    let external = u32_at(fixed, 38);
    let mode = external >> 16;
    let windows = matches!(u16_at(fixed, 4) >> 8, 0 | 10 | 11 | 14);
    let is_folder = name.is_empty() || name.ends_with('/');
    match unix_kind(fixed) {
        0o120_000 => return Err("a symbolic link"),
        _ if is_folder => {}
        0 | 0o100_000 => {}
        _ => return Err("neither a file nor a folder"),
    }
    if windows && external & REPARSE_POINT != 0 {
        return Err("a link");
    }
    // Two kinds of extra fields can carry the target of a link.
    let mut rest = extra;
    while rest.len() >= 4 {
        let (id, length) = (u16_at(rest, 0), usize::from(u16_at(rest, 2)));
        let Some(field) = rest.get(4..4 + length) else { break };
        let link = match id {
            0x000d => length > 12,
            0x756e => u32_at(field, 6) != 0 || u16_at(field, 4) & 0o170_000 == 0o120_000,
            _ => false,
        };
        if link {
            return Err("a link");
        }
        rest = &rest[4 + length..];
    }
    Ok(mode)
}
