//! Builds the shared library of exported FMUs and hands its place to the compiler, which embeds it.
//!
//! Cargo cannot (yet) make the shared library of one package an input of another, so it is called a second time
//! here, with a target folder of its own. The library is always optimised: FMUs are for use, whatever this
//! program is built for. All profiles share it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages it is made of.
const SOURCES: [&str; 5] = ["core", "linalg", "integrate", "models", "fmu-runtime"];

fn main() {
    // Where it is now: the compiled script may be older than the place of the checkout.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let crates = Path::new(&here).parent().expect("a folder of crates").to_owned();
    let root = crates.parent().expect("a workspace");
    for package in SOURCES {
        let inputs = ["src", "data", "Cargo.toml"].map(|name| crates.join(package).join(name));
        for input in inputs.iter().filter(|input| input.exists()) {
            println!("cargo::rerun-if-changed={}", input.display());
        }
    }
    println!("cargo::rerun-if-changed={}", root.join("Cargo.toml").display());
    println!("cargo::rerun-if-changed={}", root.join("Cargo.lock").display());
    println!("cargo::rustc-env=COSTEP_FMU_RUNTIME={}", build(root).display());
}

/// Builds it; returns where it is.
fn build(root: &Path) -> PathBuf {
    let (host, target) = (variable("HOST"), variable("TARGET"));
    let mut cargo = Command::new(variable("CARGO"));
    cargo.current_dir(root);
    // Settings of the outer call, of clippy and of wrappers are not meant for the library.
    for (name, _) in env::vars_os() {
        let name_text = name.to_string_lossy();
        let is_config = name_text.starts_with("CARGO_HOME") || name_text.starts_with("CARGO_NET");
        if (name_text.starts_with("CARGO") && !is_config) || name_text.starts_with("RUSTC_W") {
            cargo.env_remove(&name);
        }
    }
    let replaced = replaced_places();
    if !replaced.is_empty() {
        cargo.env("CARGO_ENCODED_RUSTFLAGS", replaced);
    }
    cargo.args(["rustc", "--quiet", "--release", "--lib", "--crate-type", "cdylib"]);
    cargo.args(["--package", "costep-fmu-runtime", "--features", "library"]);
    cargo.args(["--message-format", "json-render-diagnostics", "--target-dir"]).arg(target_folder());
    if host != target {
        cargo.args(["--target", &target]);
    }
    let output = cargo.args(["--", "-C", "strip=symbols"]).output().expect("cargo can be started");
    let messages = String::from_utf8_lossy(&output.stdout);
    let library = messages.lines().rev().find_map(library_in);
    match library {
        Some(library) if output.status.success() => library,
        _ => panic!("the library of FMUs was not built:\n{}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Those flags of the outer call that replace places of this machine by names, for builds that are the same elsewhere.
fn replaced_places() -> String {
    const SEPARATOR: &str = "\u{1f}";
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_wanted = |flag: &&str| flag.starts_with("--remap-path-prefix=");
    flags.split(SEPARATOR).filter(is_wanted).collect::<Vec<_>>().join(SEPARATOR)
}

/// A folder beside those of the profiles, so that they share it.
fn target_folder() -> PathBuf {
    let out = PathBuf::from(variable("OUT_DIR"));
    // <target>[/<triple>]/<profile>/build/<package>/out
    match out.ancestors().nth(4) {
        Some(target) => target.join("fmu-runtime"),
        None => out.join("fmu-runtime"),
    }
}

/// The file named in cargo's message about the library.
fn library_in(message: &str) -> Option<PathBuf> {
    let is_ours = message.contains("\"compiler-artifact\"") && message.contains("costep_fmu_runtime");
    let (_, files) = message.split_once("\"filenames\":[\"").filter(|_| is_ours)?;
    let mut files = files.split_once(']')?.0.split("\",\"").map(|file| file.trim_matches('"'));
    let library = files.find(|file| [".so", ".dylib", ".dll"].iter().any(|ending| file.ends_with(ending)))?;
    Some(PathBuf::from(library.replace("\\\\", "\\")))
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
