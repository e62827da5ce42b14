//! For which platforms an FMU has binaries, and where the one for this platform is.

use std::collections::BTreeMap;

use costep_core::{Code, Error, Result};

use crate::archive::Archive;
use crate::description::FmiVersion;
use crate::text::listed;

/// A platform with its names up to FMI 2.0 and in 3.0.
struct Known {
    v2: Option<&'static str>,
    v3: &'static str,
    words: &'static str,
}

const KNOWN: &[Known] = &[
    Known { v2: Some("linux64"), v3: "x86_64-linux", words: "Linux, 64 bits" },
    Known { v2: Some("linux32"), v3: "x86-linux", words: "Linux, 32 bits" },
    Known { v2: None, v3: "aarch64-linux", words: "Linux on ARM, 64 bits" },
    Known { v2: None, v3: "aarch32-linux", words: "Linux on ARM, 32 bits" },
    Known { v2: None, v3: "riscv64-linux", words: "Linux on RISC-V, 64 bits" },
    Known { v2: Some("win64"), v3: "x86_64-windows", words: "Windows, 64 bits" },
    Known { v2: Some("win32"), v3: "x86-windows", words: "Windows, 32 bits" },
    Known { v2: None, v3: "aarch64-windows", words: "Windows on ARM" },
    Known { v2: Some("darwin64"), v3: "x86_64-darwin", words: "macOS on Intel" },
    Known { v2: None, v3: "aarch64-darwin", words: "macOS on Apple silicon" },
];

/// The architectures and systems that names of FMI 3.0 are made of.
const ARCHITECTURES: [&str; 8] =
    ["aarch32", "aarch64", "riscv32", "riscv64", "x86", "x86_64", "ppc32", "ppc64"];
const SYSTEMS: [&str; 3] = ["darwin", "linux", "windows"];

/// A folder of binaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// Name of the folder in `binaries`, `linux64` or `x86_64-linux`.
    pub folder: String,
    /// Names of the files right inside that look like shared libraries.
    pub libraries: Vec<String>,
}

impl Platform {
    /// The platform for people, if it is known: `Linux, 64 bits`.
    pub fn words(&self) -> Option<&'static str> {
        KNOWN.iter().find(|known| known.v2 == Some(&self.folder) || known.v3 == self.folder).map(|k| k.words)
    }

    /// Whether the standard has this name, in one of its versions.
    pub(crate) fn is_standard(&self, version: FmiVersion) -> bool {
        match version {
            // Names of FMI 3.0 are common in older FMUs for platforms that have no name there.
            FmiVersion::V1 | FmiVersion::V2 => KNOWN.iter().any(|k| k.v2.unwrap_or(k.v3) == self.folder),
            FmiVersion::V3 => {
                let mut parts = self.folder.splitn(3, '-');
                let (architecture, system) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
                ARCHITECTURES.contains(&architecture) && SYSTEMS.contains(&system)
            }
        }
    }
}

/// The name of this platform in FMI 3.0, `x86_64-linux`.
pub fn this_platform() -> String {
    let architecture = match std::env::consts::ARCH {
        "arm" => "aarch32",
        "powerpc64" => "ppc64",
        other => other,
    };
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{architecture}-{system}")
}

/// The folder in `binaries` that an FMU of this version keeps its library for this platform in.
pub fn platform_folder(version: FmiVersion) -> String {
    folders(version).swap_remove(0)
}

/// The folders in which binaries for this platform may be, the preferred one first.
pub(crate) fn folders(version: FmiVersion) -> Vec<String> {
    let v3 = this_platform();
    let v2 = KNOWN.iter().find(|known| known.v3 == v3).and_then(|known| known.v2);
    match version {
        FmiVersion::V3 => vec![v3],
        FmiVersion::V1 | FmiVersion::V2 => v2.map(str::to_owned).into_iter().chain([v3]).collect(),
    }
}

/// All folders of binaries in an archive, in alphabetic order.
pub fn platforms(archive: &Archive) -> Vec<Platform> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in archive.entries() {
        let Some((folder, file)) = entry.name.strip_prefix("binaries/").and_then(|rest| rest.split_once('/'))
        else {
            continue;
        };
        let libraries = found.entry(folder).or_default();
        let is_library = [".so", ".dll", ".dylib"].iter().any(|extension| file.ends_with(extension));
        if is_library && !file.contains('/') {
            libraries.push(file.to_owned());
        }
    }
    found.into_iter().map(|(folder, libraries)| Platform { folder: folder.to_owned(), libraries }).collect()
}

/// Names shown in a message.
const SHOWN: usize = 12;

impl Platform {
    /// The shared library for this platform in its folder, if it is the only one there.
    pub(crate) fn only_library(&self) -> Option<&str> {
        let mut libraries =
            self.libraries.iter().filter(|library| library.ends_with(std::env::consts::DLL_SUFFIX));
        libraries.next().filter(|_| libraries.next().is_none()).map(String::as_str)
    }
}

/// The entry of the shared library with this identifier for this platform. Where none has that name, the only
/// one there is: an FMU that was renamed with its library but not in its description.
pub(crate) fn library(archive: &Archive, version: FmiVersion, identifier: &str) -> Result<String> {
    let present = platforms(archive);
    let file = format!("{identifier}{}", std::env::consts::DLL_SUFFIX);
    let folders = folders(version);
    let here = || present.iter().filter(|platform| folders.contains(&platform.folder));
    for folder in &folders {
        let entry = format!("binaries/{folder}/{file}");
        if archive.contains(&entry) {
            return Ok(entry);
        }
    }
    let only = here().find_map(|platform| Some((&platform.folder, platform.only_library()?)));
    if let Some((folder, library)) = only {
        return Ok(format!("binaries/{folder}/{library}"));
    }
    let (message, cause) = match here().next() {
        Some(platform) => {
            let holds = match platform.libraries.as_slice() {
                [] => "it holds no shared library".to_owned(),
                libraries => format!("it holds {}", listed(libraries, SHOWN, String::clone)),
            };
            (format!("the FMU has no `{file}` in binaries/{}", platform.folder), holds)
        }
        None => {
            let cause = if !present.is_empty() {
                let words = present.iter().map(|platform| match platform.words() {
                    Some(words) => format!("{} ({words})", platform.folder),
                    None => platform.folder.clone(),
                });
                let words: Vec<String> = words.collect();
                format!("it has binaries for {}", listed(&words, SHOWN, String::clone))
            } else if archive.entries().any(|entry| entry.name.starts_with("sources/") && !entry.is_folder())
            {
                "it has sources only".to_owned()
            } else {
                "it has neither binaries nor sources".to_owned()
            };
            (format!("the FMU has no binary for this platform, {}", this_platform()), cause)
        }
    };
    let hint = format!(
        "export the FMU for this platform, or compile its sources: {version} has the library in binaries/{}/{file}",
        folders[0]
    );
    Err(Error::new(Code::NoBinary, message).in_file(archive.path()).because(cause).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_platforms_belong_to_a_version() {
        let standard = |folder: &str, version| {
            Platform { folder: folder.into(), libraries: Vec::new() }.is_standard(version)
        };
        for (folder, v2, v3) in [
            ("linux64", true, false),
            ("win32", true, false),
            ("x86_64-linux", false, true),
            ("aarch64-darwin", true, true),
            ("x86_64-windows-msvc140mt", false, true),
            ("Linux64", false, false),
        ] {
            assert_eq!(standard(folder, FmiVersion::V2), v2, "{folder}");
            assert_eq!(standard(folder, FmiVersion::V3), v3, "{folder}");
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn linux_has_two_names_in_fmi_2() {
        assert_eq!(folders(FmiVersion::V2), ["linux64", "x86_64-linux"]);
        assert_eq!(folders(FmiVersion::V3), ["x86_64-linux"]);
    }
}
