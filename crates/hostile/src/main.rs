//! `costep-hostile MINUTES [TARGET]`: reads hostile inputs for so long, and says how many there were of each target. What
//! ends in a panic is left in `fuzz/findings`, and the exit code is 1.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use costep_hostile::{Random, TARGETS, Target};

/// No input of a few kilobytes may take as long.
const SLOW: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let minutes: f64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let wanted = arguments.next();
    let chosen = || TARGETS.iter().filter(|target| wanted.as_ref().is_none_or(|name| name == target.name));
    let time = Duration::from_secs_f64(60.0 * minutes / chosen().count().max(1) as f64);
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    println!("| target | inputs | accepted | slowest | findings |\n|---|---|---|---|---|");
    let findings: usize = chosen().map(|target| attack(target, time, seed)).sum();
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Attacks a target for so long. Gives the number of findings.
fn attack(target: &Target, time: Duration, seed: u64) -> usize {
    let (seeds, mut random) = (target.seeds(), Random::new(seed));
    let (start, mut slowest) = (Instant::now(), Duration::ZERO);
    let (mut inputs, mut accepted, mut findings) = (0_u64, 0_u64, 0);
    while start.elapsed() < time {
        let input = target.input(&seeds, &mut random);
        let before = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| target.read(&input)));
        let took = before.elapsed();
        inputs += 1;
        accepted += u64::from(matches!(outcome, Ok(true)));
        slowest = slowest.max(took);
        if outcome.is_err() || took > SLOW {
            findings += 1;
            keep(target, &input, inputs);
        }
    }
    let share = 100.0 * accepted as f64 / inputs.max(1) as f64;
    println!("| `{}` | {inputs} | {share:.1} % | {slowest:.1?} | {findings} |", target.name);
    findings
}

fn keep(target: &Target, input: &[u8], number: u64) {
    let folder = "fuzz/findings";
    let file = format!("{folder}/{}-{number}", target.name);
    if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, input)) {
        eprintln!("{file}: {error}");
    }
}
