//! What `costep advise` chooses beside the best of a full grid. Prints the rows of the tables of `docs/advise.md`, or writes them there.
//!
//! `cargo bench -p costep-benches --bench advise -- [--write] [--real FOLDER]`
//!
//! FOLDER has systems of other tools, as in `costep_benches::advise::REAL`.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};

use costep_benches::advise::{HEAD, built_in, real};

/// What follows is written by this program.
const MARK: &str = "<!-- written by the benchmark `advise` -->\n";

fn main() {
    let (mut page, mut folder) = (None::<PathBuf>, None::<PathBuf>);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--write" => page = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/advise.md")),
            "--real" => folder = words.next().map(Into::into),
            // Cargo says so.
            "--bench" => {}
            other => {
                eprintln!("unknown word `{other}`");
                std::process::exit(1);
            }
        }
    }
    let head = page.as_ref().map(|page| std::fs::read_to_string(page).unwrap_or_default());
    let head = head.as_deref().and_then(|old| old.split(MARK).next()).unwrap_or_default();
    let mut text = format!("{head}{MARK}");
    // Whoever stops it keeps the rows that are there.
    let mut take = |title: &str, row: String| {
        eprint!("{row}");
        let section = format!("\n### {title}\n\n{HEAD}");
        if !text.contains(&section) {
            text += &section;
        }
        text += &row;
        let written = page.as_ref().map_or(Ok(()), |page| std::fs::write(page, &text));
        if let Err(error) = written {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    if let Some(folder) = folder {
        real(&folder, |row| take("FMUs of others", row));
    }
    built_in(|row| take("Built-in systems", row));
}
