//! Names of entries: how their bytes are read, and which of them are refused.

use crate::text::shorten;

/// Longest name in characters.
const MAX_CHARS: usize = 1024;
/// Longest part between two slashes in bytes, the limit of common file systems.
const MAX_PART_BYTES: usize = 255;
/// Most parts of a name.
const MAX_PARTS: usize = 64;

/// The upper half of code page 437, in which names without the mark for UTF-8 are written.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// The name as text. Names that are marked as UTF-8 have to be UTF-8; of the others those that happen to be
/// are taken as such.
pub(crate) fn decode(bytes: &[u8], marked_utf8: bool) -> Option<String> {
    match std::str::from_utf8(bytes) {
        Ok(name) => Some(name.to_owned()),
        Err(_) if marked_utf8 => None,
        Err(_) => Some(
            bytes
                .iter()
                .map(|byte| match byte.checked_sub(0x80) {
                    None => char::from(*byte),
                    Some(upper) => CP437.chars().nth(upper.into()).unwrap_or('?'),
                })
                .collect(),
        ),
    }
}

/// The name that a folder has here, if this is one: tools also write `./`, parts that say nothing, `\\` between parts, and
/// nothing at the end where the attributes say what it is. The archive itself has the empty name.
pub(crate) fn folder(name: &str, is_marked: bool) -> Option<String> {
    let is_folder = name.ends_with(['/', '\\']) || (is_marked && !name.is_empty());
    if !is_folder || name.starts_with(['/', '\\']) {
        return None;
    }
    let parts = name.split(['/', '\\']).filter(|part| !["", "."].contains(part));
    Some(parts.flat_map(|part| [part, "/"]).collect())
}

/// Why a name is refused, if it is. The names that remain stay below any folder they are joined to, on every
/// operating system.
pub(crate) fn flaw(name: &str) -> Option<String> {
    let parts = || name.strip_suffix('/').unwrap_or(name).split('/');
    let reason = if name.is_empty() {
        "it is empty"
    } else if name.chars().count() > MAX_CHARS {
        return Some(format!("it is longer than {MAX_CHARS} characters"));
    } else if name.starts_with('/') {
        "it is an absolute path"
    } else if name.contains('\\') {
        "it contains a backslash; zip archives separate folders by `/`"
    } else if name.contains(':') {
        "it contains a colon, as drive letters do"
    } else if name.chars().any(char::is_control) {
        "it contains a control character"
    } else if parts().any(|part| part == "..") {
        "it leads out of the archive by `..`"
    } else if parts().any(|part| part.is_empty() || part == ".") {
        "it contains an empty part or `.`"
    } else if parts().any(|part| part.len() > MAX_PART_BYTES) {
        return Some(format!("a part of it is longer than {MAX_PART_BYTES} bytes"));
    } else if parts().count() > MAX_PARTS {
        return Some(format!("it has more than {MAX_PARTS} parts"));
    } else {
        return None;
    };
    Some(reason.to_owned())
}

/// A name for messages: short, without control characters.
pub(crate) fn shown(name: &str) -> String {
    shorten(name, 80)
}

/// Finds two entries that would become the same file, on file systems that ignore case too, or a file that is
/// also used as a folder. Returns the indices of the pair.
pub(crate) fn collision<'a>(names: impl Iterator<Item = &'a str>) -> Option<(usize, usize)> {
    // U+0001 is not part of any accepted name and sorts before all that is, so a folder's contents follow it.
    let mut keys: Vec<(String, bool, usize)> = names
        .enumerate()
        .map(|(index, name)| {
            let path = name.strip_suffix('/').unwrap_or(name);
            (path.to_lowercase().replace('/', "\u{1}"), name.len() > path.len(), index)
        })
        .collect();
    keys.sort();
    keys.windows(2).find_map(|pair| {
        let [(first, first_is_folder, i), (second, _, j)] = pair else { return None };
        let same = first == second;
        let file_as_folder = !first_is_folder
            && second.strip_prefix(first.as_str()).is_some_and(|rest| rest.starts_with('\u{1}'));
        (same || file_as_folder).then_some((*i.min(j), *i.max(j)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_page_has_its_128_characters() {
        assert_eq!(CP437.chars().count(), 128);
        assert_eq!(decode(b"gr\x81n", false).as_deref(), Some("grün"));
        assert_eq!(decode("grün".as_bytes(), false).as_deref(), Some("grün"));
        assert_eq!(decode(b"gr\x81n", true), None);
    }

    #[test]
    fn plain_names_pass() {
        for name in
            ["modelDescription.xml", "resources/", "resources/a b/c..d.txt", "binaries/linux64/M.so", "é"]
        {
            assert_eq!(flaw(name), None, "{name}");
        }
    }

    #[test]
    fn folders_are_spelt_in_one_way() {
        for (name, is_marked, expected) in [
            ("resources/", false, "resources/"),
            ("resources", true, "resources/"),
            ("./", false, ""),
            (".", true, ""),
            (".\\resources\\a\\", false, "resources/a/"),
            ("./a//b/", false, "a/b/"),
        ] {
            assert_eq!(folder(name, is_marked).as_deref(), Some(expected), "{name}");
        }
        for name in ["a", "./a", "a\\b", "", "/", "\\", "/etc/", "\\\\host\\"] {
            assert_eq!(folder(name, false), None, "{name}");
        }
        for name in ["../", "a\\..\\..\\b\\", "C:\\"] {
            let name = folder(name, false).unwrap();
            assert!(flaw(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let long = "x".repeat(MAX_CHARS + 1);
        let part = "x".repeat(MAX_PART_BYTES + 1);
        let deep = "x/".repeat(MAX_PARTS + 1);
        for name in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../x",
            "a/../../x",
            "a/..",
            "a\\..\\x",
            "C:/x",
            "C:x",
            "a\0b",
            "a\nb",
            "./x",
            "a//b",
            "//host/share",
            "a/.",
            &long,
            &part,
            &deep,
        ] {
            assert!(flaw(name).is_some(), "{name}");
        }
    }

    #[test]
    fn entries_that_become_one_file_collide() {
        let collide = |names: &[&str]| collision(names.iter().copied());
        assert_eq!(collide(&["a", "b", "a/"]), Some((0, 2)));
        assert_eq!(collide(&["x", "Resources/Map.txt", "resources/map.TXT"]), Some((1, 2)));
        assert_eq!(collide(&["a", "a-b", "a/b"]), Some((0, 2)));
        assert_eq!(collide(&["a/", "a-b", "a/b", "a/c/d", "ab"]), None);
    }
}
