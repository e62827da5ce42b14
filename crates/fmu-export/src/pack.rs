//! The archive of an FMU.

use std::io::{self, Cursor, Write as _};
use std::path::Path;

use costep_fmu_file::{FmiVersion, platform_folder};
use costep_fmu_runtime::PLAN_FILE;
use zip::write::SimpleFileOptions;

/// The shared library of all FMUs.
const LIBRARY: &[u8] = include_bytes!(env!("COSTEP_FMU_RUNTIME"));

/// Writes an FMU. A file that is already there is replaced as a whole.
pub(crate) fn pack(
    path: &Path,
    version: FmiVersion,
    identifier: &str,
    description: &str,
    plan: &str,
) -> io::Result<()> {
    let library =
        format!("binaries/{}/{identifier}{}", platform_folder(version), std::env::consts::DLL_SUFFIX);
    let resource = format!("resources/{PLAN_FILE}");
    let part = path.with_extension("fmu.part");
    // In memory: a writer to a full disk has a complaint of its own when it is dropped.
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    // The same export gives the same bytes: entries carry no time of day.
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o755);
    let entries: [(&str, &[u8]); 3] =
        [("modelDescription.xml", description.as_bytes()), (&resource, plan.as_bytes()), (&library, LIBRARY)];
    let written = (|| {
        for (name, bytes) in entries {
            archive.start_file(name, options)?;
            archive.write_all(bytes)?;
        }
        std::fs::write(&part, archive.finish()?.into_inner())?;
        std::fs::rename(&part, path)
    })();
    if written.is_err() {
        // What is half written is of no use.
        let _ = std::fs::remove_file(&part);
    }
    written
}
