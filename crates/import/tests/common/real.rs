//! Files of other tools for tests; also included by the tests of other crates.

use std::path::{Path, PathBuf};

/// A file or folder below `shared/real`, if that is beside the checkout or the folder around it; says so if it is not.
pub(crate) fn real_files(part: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = ["..", "../.."].map(|up| root.join(up).join("shared/real").join(part));
    let found = places.into_iter().find(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: there is no shared/real/{part} beside the checkout");
    }
    found.and_then(|path| path.canonicalize().ok())
}
