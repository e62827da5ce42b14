//! The libraries that a shared library asks the loader of the system for, and which of them it would not find. Nothing
//! is loaded, and nothing is said about libraries that those need in turn.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::elf;

/// Where loaders look without being told.
const FOLDERS: [&str; 6] = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"];
/// The libraries that the system knows, by their names.
const CACHE: &str = "/etc/ld.so.cache";
const ORIGINS: [&str; 2] = ["$ORIGIN", "${ORIGIN}"];

/// Libraries that are not found on this machine, for a library in this folder of an archive; `has` says whether there is such an
/// entry. Nothing where the platform has another loader than that of Linux.
pub(crate) fn not_found(bytes: &[u8], folder: &str, has: impl Fn(&str) -> bool) -> Vec<String> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let Some(needs) = elf::needs(bytes) else { return Vec::new() };
    let (cache, known) = (fs::read(CACHE).unwrap_or_default(), folders());
    let own = || needs.folders.iter().flat_map(|list| list.split(':'));
    let is_found = |name: &&String| {
        if name.contains('/') {
            return Path::new(name).exists();
        }
        let own = own().any(|path| match ORIGINS.iter().find_map(|origin| path.strip_prefix(origin)) {
            Some(rest) => inside(folder, rest).is_some_and(|inner| has(&format!("{inner}{name}"))),
            None => !path.is_empty() && Path::new(path).join(name).exists(),
        });
        own || known.iter().any(|path| path.join(name).exists()) || is_listed(name, &cache)
    };
    needs.libraries.iter().filter(|name| !is_found(name)).cloned().collect()
}

/// Where the loader looks on this machine: what the user says, what is usual, what the system is set up for, and where the
/// libraries of this very program are.
fn folders() -> BTreeSet<PathBuf> {
    let told = env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let told = told.split(':').filter(|path| !path.is_empty()).map(PathBuf::from);
    let several = format!("{}-linux-gnu", env::consts::ARCH);
    let usual = FOLDERS.iter().flat_map(|folder| [PathBuf::from(folder), Path::new(folder).join(&several)]);
    let files = fs::read_dir("/etc/ld.so.conf.d").into_iter().flatten().flatten().map(|file| file.path());
    let texts = files.chain(["/etc/ld.so.conf".into()]).filter_map(|file| fs::read_to_string(file).ok());
    let set_up = texts.flat_map(|text| {
        text.lines()
            .map(str::trim)
            .filter(|line| line.starts_with('/'))
            .map(PathBuf::from)
            .collect::<Vec<_>>()
    });
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let loaded = maps.lines().filter_map(|line| {
        let file = Path::new(&line[line.find('/')?..]);
        let is_library = file.file_name()?.to_string_lossy().contains(".so");
        file.parent().filter(|_| is_library).map(Path::to_owned)
    });
    told.chain(usual).chain(set_up).chain(loaded).collect()
}

/// A folder of an archive, seen from another one; both end with `/`. Nothing if it is outside.
fn inside(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.iter().flat_map(|part| [*part, "/"]).collect())
}

/// Whether a name is among those of the cache, alone or at the end of a path.
fn is_listed(name: &str, cache: &[u8]) -> bool {
    let name = name.as_bytes();
    let is_here =
        |window: &[u8]| matches!(window[0], 0 | b'/') && window[1..].strip_prefix(name) == Some(&[0]);
    cache.windows(name.len() + 2).any(is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_an_archive_are_followed_inside_only() {
        assert_eq!(inside("binaries/linux64/", ""), Some("binaries/linux64/".into()));
        assert_eq!(inside("binaries/linux64/", "/../../resources/./lib"), Some("resources/lib/".into()));
        assert_eq!(inside("binaries/linux64/", "/../../.."), None);
    }

    #[test]
    fn names_of_the_cache_are_whole() {
        let cache = b"glibc-ld.so.cache1.1\0/lib/libm.so.6\0libz.so.1\0";
        assert!(["libm.so.6", "libz.so.1"].iter().all(|name| is_listed(name, cache)));
        assert!(["m.so.6", "libm.so", "libc.so.6"].iter().all(|name| !is_listed(name, cache)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_this_program_needs_is_found_and_what_nobody_has_is_not() {
        let program = fs::read(env::current_exe().unwrap()).unwrap();
        assert!(elf::needs(&program).is_some_and(|needs| !needs.libraries.is_empty()));
        assert_eq!(not_found(&program, "binaries/linux64/", |_| false), Vec::<String>::new());
        let mark = b"\0libc.so.6\0";
        let at = program.windows(mark.len()).position(|window| window == mark).unwrap();
        let mut changed = program.clone();
        changed[at + 4] = b'q';
        assert_eq!(not_found(&changed, "binaries/linux64/", |_| false), ["libq.so.6"]);
        for length in [0, 63, 64, 1000, program.len() / 2] {
            assert!(not_found(&program[..length], "", |_| false).is_empty(), "{length}");
        }
    }
}
