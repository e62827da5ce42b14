//! What `costep advise` chooses beside the best of a full grid. Prints the rows of the tables of `docs/advise.md`, or writes them there.
//!
//! `cargo bench -p costep-benches --bench advise -- [--write] [--real FOLDER]`
//!
//! FOLDER has systems of other tools, as in `costep_benches::advise::REAL`: then they are measured, else the built-in ones.
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
    let (title, mut rows) =
        (if folder.is_some() { "FMUs of others" } else { "Built-in systems" }, String::new());
    // Whoever stops it keeps the rows that are there.
    let take = |row: String| {
        eprint!("{row}");
        rows += &row;
        let written = page.as_ref().map_or(Ok(()), |page| write(page, title, &rows));
        if let Err(error) = written {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    match folder {
        Some(folder) => real(&folder, take),
        None => built_in(take),
    }
}

/// Writes the table of this title into the page; that of the other title stays.
fn write(page: &Path, title: &str, rows: &str) -> std::io::Result<()> {
    let old = std::fs::read_to_string(page)?;
    let (head, tables) = old.split_once(MARK).unwrap_or((&old, ""));
    let others = tables.split("\n### ").skip(1).filter(|table| !table.starts_with(title));
    let mut sections: Vec<String> = others.map(|table| format!("\n### {}\n", table.trim_end())).collect();
    sections.push(format!("\n### {title}\n\n{HEAD}{rows}"));
    sections.sort_by_key(|section| section.contains("Built-in"));
    std::fs::write(page, format!("{head}{MARK}{}", sections.concat()))
}
