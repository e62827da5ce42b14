//! `costep-hostile [--minutes M] [--count] [--seeds FOLDER] [--guided PROGRAM] [--without TARGET] [TARGET ...]`: reads
//! hostile inputs for so long, and says how many there were of each target. `--count` adds them to `fuzz/tally.csv`,
//! `--table` prints the table of all that was counted, `--guided` has them made by the libFuzzer in PROGRAM. What ends in
//! a panic, or takes too long, is left in `fuzz/findings`, and the exit code is 1.

mod by_chance;
mod guided;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use costep_hostile::{Counts, FoundSeeds, TARGETS, Tally, Target};

/// Where inputs that were not survived are left.
const FINDINGS: &str = "fuzz/findings";

/// What is asked for.
#[derive(Default)]
struct Wishes {
    minutes: f64,
    counts: bool,
    table: bool,
    guided: Option<PathBuf>,
    seeds: Vec<FoundSeeds>,
    without: Vec<String>,
    targets: Vec<String>,
}

impl Wishes {
    fn read() -> Self {
        let mut wishes = Self { minutes: 5.0, ..Self::default() };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_default();
            match argument.as_str() {
                "--minutes" => wishes.minutes = value().parse().unwrap_or(5.0),
                "--count" => wishes.counts = true,
                "--table" => wishes.table = true,
                "--guided" => wishes.guided = Some(value().into()),
                "--seeds" => wishes.seeds.push(FoundSeeds::below(value().as_ref())),
                "--without" => wishes.without.push(value()),
                _ => wishes.targets.push(argument),
            }
        }
        wishes
    }

    fn is_wanted(&self, target: &Target) -> bool {
        let is_in = |names: &[String]| names.iter().any(|name| name == target.name);
        !is_in(&self.without) && (self.targets.is_empty() || is_in(&self.targets))
    }

    fn seeds(&self, target: &Target) -> Vec<Vec<u8>> {
        let found = self.seeds.iter().flat_map(|seeds| seeds.of(target.name)).cloned();
        target.seeds().into_iter().chain(found).collect()
    }
}

fn main() -> ExitCode {
    let wishes = Wishes::read();
    let mut tally = Tally::open(".".as_ref());
    if wishes.table {
        print!("{}", tally.table());
        return ExitCode::SUCCESS;
    }
    let targets: Vec<&Target> = TARGETS.iter().filter(|target| wishes.is_wanted(target)).collect();
    let time = Duration::from_secs_f64(60.0 * wishes.minutes / targets.len().max(1) as f64);
    if let Err(error) = std::fs::create_dir_all(FINDINGS) {
        eprintln!("{FINDINGS}: {error}");
    }
    println!("| target | seeds | inputs | accepted | slowest | findings |\n|---|---|---|---|---|---|");
    let mut findings = 0;
    for target in targets {
        let seeds = wishes.seeds(target);
        let (counts, found) = match &wishes.guided {
            Some(program) => guided::attack(program, target, &seeds, time),
            None => by_chance::attack(target, &seeds, time),
        };
        let Counts { by_chance, accepted, guided, slowest, .. } = counts;
        let slowest = Duration::from_micros(slowest);
        println!(
            "| `{}` | {} | {} | {accepted} | {slowest:.1?} | {found} |",
            target.name,
            seeds.len(),
            by_chance + guided
        );
        if let (true, Err(error)) = (wishes.counts, tally.add(target.name, &counts)) {
            eprintln!("fuzz/tally.csv: {error}");
        }
        findings += found;
    }
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
