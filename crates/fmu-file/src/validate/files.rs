//! Binaries and sources: where they are.

use costep_core::Code;

use crate::archive::Archive;
use crate::binary::{folders, platforms};
use crate::description::ModelDescription;
use crate::finding::{IS_USED, Report};
use crate::text::short;

pub(crate) fn check(description: &ModelDescription, archive: &Archive, report: &mut Report) {
    let version = description.fmi_version;
    let found = platforms(archive);
    let sources = archive.entries().any(|entry| entry.name.starts_with("sources/") && !entry.is_folder());
    if found.is_empty() && !sources {
        report.error(Code::FmuFiles, 0, "the FMU has neither binaries nor sources");
    }
    if let Some(remark) = archive.remark() {
        report.warning(Code::ArchiveRefused, 0, remark);
    }
    for platform in &found {
        let folder = short(&platform.folder);
        if !platform.is_standard(version) {
            report.warning(Code::FmuFiles, 0, format!("`binaries/{folder}` is not a platform of {version}"));
            continue;
        }
        let stem = |library: &str| library.rsplit_once('.').map(|(stem, _)| stem.to_owned());
        let present: Vec<String> = platform.libraries.iter().filter_map(|library| stem(library)).collect();
        let mut identifiers: Vec<&str> =
            description.interfaces().map(|interface| interface.model_identifier.as_str()).collect();
        identifiers.sort_unstable();
        identifiers.dedup();
        // Folders of a third part, `x86_64-windows-msvc140mt`, hold libraries for static linking.
        let shared = folder.split('-').count() < 3;
        for identifier in
            identifiers.into_iter().filter(|id| shared && !present.iter().any(|stem| stem == id))
        {
            let instead = platform.only_library().filter(|_| folders(version).contains(&platform.folder));
            let instead = instead.map_or_else(String::new, |name| format!("; `{}`{IS_USED}", short(name)));
            let message = format!("`binaries/{folder}` has no shared library `{identifier}`{instead}");
            report.warning(Code::FmuFiles, 0, message);
        }
    }
}
