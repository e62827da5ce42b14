//! Controlled steps: errors that tolerances lead to, and what they cost beside the best fixed step with the
//! same error. Prints the table of `docs/step-control.md`, or writes it to a file.
//!
//! `cargo bench -p costep-benches --bench step_control -- [--table FILE] [--truck FOLDER] [--fresh SEED]`
//!
//! FOLDER has the quarter truck of libcosim (tests/data/fmi2/quarter_truck). With `--fresh` nothing but systems that no constant was chosen on.
#![allow(missing_docs)]

use std::path::PathBuf;

use costep_benches::step_control::{fresh_tables, tables, truck_table};

fn main() {
    let (mut table, mut folder, mut seed) = (None::<PathBuf>, None::<PathBuf>, None::<u64>);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--table" => table = words.next().map(Into::into),
            "--truck" => folder = words.next().map(Into::into),
            "--fresh" => seed = words.next().and_then(|seed| seed.parse().ok()),
            // Cargo says so.
            "--bench" => {}
            other => {
                eprintln!("unknown word `{other}`");
                std::process::exit(1);
            }
        }
    }
    let mut text = seed.map_or_else(tables, fresh_tables);
    match folder.map(|folder| truck_table(&folder)) {
        Some(Ok(truck)) => text += &truck,
        Some(Err(error)) => eprintln!("{error}"),
        None => {}
    }
    match table {
        Some(path) => {
            std::fs::write(&path, text).unwrap_or_else(|error| eprintln!("{}: {error}", path.display()))
        }
        None => print!("{text}"),
    }
}
