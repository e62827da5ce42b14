//! `cargo xtask reproducible`: builds the program twice, from two clones at two places, and compares bit by bit. Fails where the
//! two differ, or where the program names a place of this machine: then builds on two machines would differ.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Two places of different depth and length.
const PLACES: [&str; 2] = ["one", "another/place/with-a-long-name"];

/// Builds and compares.
pub(crate) fn run() -> bool {
    let folder = Path::new("target/reproducible");
    let _ = std::fs::remove_dir_all(folder);
    let programs: Vec<Option<Vec<u8>>> = PLACES.iter().map(|place| build(&folder.join(place))).collect();
    let [Some(first), Some(second)] = &programs[..] else {
        eprintln!("xtask: a build failed");
        return false;
    };
    let differing =
        first.iter().zip(second).filter(|(a, b)| a != b).count() + first.len().abs_diff(second.len());
    let places = [folder.canonicalize().unwrap_or_default(), cargo_home()];
    let named: Vec<&PathBuf> = places.iter().filter(|place| names(first, place)).collect();
    println!(
        "xtask: {} and {} bytes, {differing} differ, places of this machine in them: {named:?}",
        first.len(),
        second.len()
    );
    let passed = differing == 0 && named.is_empty();
    if passed {
        let _ = std::fs::remove_dir_all(folder);
    }
    passed
}

fn cargo_home() -> PathBuf {
    let home = || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cargo");
    std::env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from)
}

/// The program as a clone at this place gives it. Whatever the compiler writes down of places is replaced by names that are
/// the same everywhere; the library of exported FMUs is built with the same flags (`crates/fmu-export/build.rs`).
fn build(place: &Path) -> Option<Vec<u8>> {
    std::fs::create_dir_all(place).ok()?;
    let place = place.canonicalize().ok()?;
    let clone = Command::new("git").args(["clone", "--quiet", "."]).arg(&place).status().ok()?;
    let replaced = |place: &Path, name: &str| format!("--remap-path-prefix={}={name}", place.display());
    let flags = [replaced(&place, "/costep"), replaced(&cargo_home(), "/cargo")].join(" ");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--package", "costep-cli"]).current_dir(&place);
    // Cargo tells the one that it starts where it is itself.
    cargo.env("RUSTFLAGS", &flags).env_remove("CARGO_TARGET_DIR").env_remove("CARGO_MANIFEST_DIR");
    println!(
        "xtask: in {}: RUSTFLAGS=\"{flags}\" cargo build --release --locked --package costep-cli",
        place.display()
    );
    let built = clone.success() && cargo.status().ok()?.success();
    built.then(|| std::fs::read(place.join("target/release/costep")).ok()).flatten()
}

fn names(program: &[u8], place: &Path) -> bool {
    let place = place.as_os_str().as_encoded_bytes();
    !place.is_empty() && program.windows(place.len()).any(|part| part == place)
}
