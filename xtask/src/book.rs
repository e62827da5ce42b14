//! The book: docs/ as HTML in target/book. mdBook is installed into the target folder when it is asked for the first
//! time, so that nobody who does not read HTML compiles it; building needs no network.

use std::path::Path;
use std::process::Command;

/// The version that the book is written for.
const VERSION: &str = "0.5.4";
const FOLDER: &str = "target/mdbook";

/// Builds the book. With `--write`, pages, listings and pictures that the program makes are written anew before.
pub(crate) fn run(word: Option<&str>) -> bool {
    match word {
        Some("--write") => write() && build(),
        None => build(),
        Some(other) => {
            eprintln!("xtask: unknown word `{other}`; usage: cargo xtask book [--write]");
            false
        }
    }
}

/// Pictures first: the pages look for them.
fn write() -> bool {
    let pictures = ["run", "--package", "costep", "--example", "method_pictures", "docs/img/methods"];
    let pages = ["test", "--package", "costep-cli", "--test", "book", "--test", "readme"];
    done(Command::new("cargo").args(pictures))
        && done(Command::new("cargo").args(pages).env("COSTEP_UPDATE_BOOK", "1"))
}

fn build() -> bool {
    let program = Path::new(FOLDER).join(if cfg!(windows) { "bin/mdbook.exe" } else { "bin/mdbook" });
    let version = Command::new(&program).arg("--version").output();
    let is_there = version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION));
    let install = ["install", "mdbook", "--version", VERSION, "--locked", "--no-default-features"];
    let made = is_there
        || done(Command::new("cargo").args(install).args(["--features", "search", "--root", FOLDER]));
    made && done(Command::new(&program).arg("build")) && {
        println!("xtask: open target/book/index.html");
        true
    }
}

fn done(command: &mut Command) -> bool {
    println!("xtask: {command:?}");
    command.status().is_ok_and(|status| status.success())
}
