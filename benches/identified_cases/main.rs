//! `identified` with nothing set, beside holds and NEPCE, on many cases: claims with their criteria, and tables and figures
//! in `costep-reproduce/`. Progress goes to stderr.
//!
//! `cargo bench -p costep-benches --bench identified_cases [-- identified-default | identified-drawn] [quick]`
#![allow(missing_docs)]

use std::fs;
use std::io::IsTerminal;
use std::path::Path;

use costep_benches::identified_cases::{CHOSEN, DRAWN};
use costep_core::Result;
use costep_reproduce::{Finding, Study, Verdict, Work};

/// Where tables and figures go; the folder of `costep reproduce`.
const FOLDER: &str = "costep-reproduce";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let quick = words.iter().any(|word| word == "quick");
    let wanted = |study: &Study| words.iter().all(|word| word == "quick" || word == study.id);
    // Cargo starts benchmarks in their package's folder.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(FOLDER);
    fs::create_dir_all(&folder).expect("a folder for tables and figures");
    for study in [&CHOSEN, &DRAWN].into_iter().filter(|study| wanted(study)) {
        report(study, quick, &folder).expect("runs that end or diverge");
    }
}

/// Computes a study, writes its files and prints it.
fn report(study: &'static Study, quick: bool, folder: &Path) -> Result<()> {
    let shown = std::io::stderr().is_terminal();
    let progress = |done: usize, all: usize| {
        if shown {
            eprint!("\r{done} of {all} cases");
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let computed = (study.compute)(&Work { threads, quick, progress: &progress })?;
    println!("\n{}  {}, {}\n\n  {}\n", study.id, study.title, study.source, study.setup);
    let mut verdicts = Vec::new();
    for (k, (claim, measured)) in study.claims.iter().zip(&computed.measured).enumerate() {
        let finding = Finding::new(claim, measured);
        println!("  {}  {} ({})", k + 1, claim.text, claim.place);
        println!("     claimed: {}; judged by: {}", finding.claimed, finding.tolerance);
        println!("     found: {}: {}", finding.reproduced, finding.verdict.text());
        verdicts.push(finding.verdict);
    }
    computed.remarks.iter().for_each(|remark| println!("\n  {remark}"));
    let count = |verdict| verdicts.iter().filter(|found| **found == verdict).count();
    println!(
        "\n  claims: {} in all, {} reproduce, {} in trend, {} do not",
        verdicts.len(),
        count(Verdict::Reproduces),
        count(Verdict::InTrend),
        count(Verdict::DoesNot)
    );
    for (ending, text) in [("csv", computed.data.to_csv()), ("svg", computed.figure.to_svg())] {
        let file = folder.join(format!("{}.{ending}", study.id));
        fs::write(&file, text).expect("a file can be written");
        println!("{}", file.display());
    }
    Ok(())
}
