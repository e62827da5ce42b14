//! Files that are named by a whole path of another machine, and where they lie here.

use std::fs;
use std::path::{Path, PathBuf};

/// Files of folders that are looked through for one, and folders below folders.
const MOST: usize = 2000;
const DEEPEST: usize = 6;
/// Bytes of a path that is looked for, and parts of its end that are tried.
const LONGEST: usize = 4096;
const TRIED: usize = 16;

/// Whether a text is an absolute path of Windows: `C:\models\a.fmu`, `file:///C:/models/a.fmu`, `\\server\models\a.fmu`.
pub fn is_windows_path(text: &str) -> bool {
    let path = without_scheme(text);
    let path = path.strip_prefix('/').unwrap_or(path);
    let has_drive = matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    has_drive || path.starts_with("\\\\")
}

fn without_scheme(text: &str) -> &str {
    text.strip_prefix("file://").unwrap_or(text)
}

/// The parts of a path of any system.
pub(crate) fn parts(text: &str) -> Vec<&str> {
    let parts = without_scheme(text).split(['/', '\\']);
    parts.filter(|part| !part.is_empty() && *part != "." && *part != ".." && !part.contains(':')).collect()
}

/// The file below a folder that a whole path of another place means: that with the longest end of it, else one of its name alone.
/// Nothing for a longer path than systems have; only its last parts are tried.
pub fn below(folder: &Path, text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let parts = parts(text);
    let ends = (parts.len().saturating_sub(TRIED)..parts.len()).map(|first| parts[first..].join("/"));
    ends.into_iter().find(|end| folder.join(end).is_file()).or_else(|| named(folder, parts.last()?))
}

/// A file of this name in the folders below.
fn named(folder: &Path, name: &str) -> Option<String> {
    let mut open = vec![(PathBuf::new(), 0)];
    let mut seen = 0;
    while let Some((inner, depth)) = open.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&inner)) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            let place = inner.join(entry.file_name());
            match entry.file_type() {
                _ if seen > MOST => return None,
                Ok(kind) if kind.is_file() && entry.file_name() == name => {
                    return place.to_str().map(str::to_owned);
                }
                Ok(kind) if kind.is_dir() && depth < DEEPEST => open.push((place, depth + 1)),
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_windows_are_known() {
        for path in ["C:/a.fmu", "d:\\models\\a.fmu", "file:///C:/a.fmu", "\\\\server\\a.fmu"] {
            assert!(is_windows_path(path), "{path}");
        }
        for path in ["a.fmu", "fmus\\a.fmu", "/home/a.fmu", "file:///home/a.fmu", "http://x/a.fmu", "c:a"] {
            assert!(!is_windows_path(path), "{path}");
        }
    }

    #[test]
    fn files_are_found_by_the_end_of_their_path_or_by_their_name() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        for file in ["fmus/IBK/Part1.fmu", "other/Part2.fmu", "Part1.txt"] {
            fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
            fs::write(folder.join(file), "").unwrap();
        }
        let found = |text: &str| below(folder, text);
        assert_eq!(found("C:\\Users\\me\\fmus\\IBK\\Part1.fmu").as_deref(), Some("fmus/IBK/Part1.fmu"));
        assert_eq!(found("/home/me/Part2.fmu").as_deref(), Some("other/Part2.fmu"));
        assert_eq!((found("C:/Part3.fmu"), found("C:/")), (None, None));
        let deep = |depth: usize| found(&("/x".repeat(depth) + "/other/Part2.fmu"));
        assert_eq!((deep(1000).as_deref(), deep(100_000)), (Some("other/Part2.fmu"), None));
    }
}
