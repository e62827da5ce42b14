//! Inputs made of seeds by chance.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use costep_hostile::{Counts, Random, Target};
use rustix::time::{ClockId, clock_gettime};

use crate::FINDINGS;

/// No input of a few kilobytes may take as long.
const SLOW: Duration = Duration::from_secs(5);
/// Between two looks at the clock.
const INPUTS: usize = 256;

/// Where the last panic was.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Time that this thread has computed: other work on the machine does not count.
fn computed() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Attacks a target for so long. Gives what was counted and the number of different findings.
pub(crate) fn attack(target: &Target, seeds: &[Vec<u8>], time: Duration) -> (Counts, usize) {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or(String::new(), ToString::to_string);
        *PLACE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = place;
    }));
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64);
    let (mut random, words, start) = (Random::new(seed), target.words(), Instant::now());
    let (mut counts, mut places) = (Counts::default(), BTreeSet::new());
    while start.elapsed() < time {
        for _ in 0..INPUTS {
            let input = target.input(seeds, &words, &mut random);
            let before = computed();
            let outcome = catch_unwind(AssertUnwindSafe(|| target.read(&input)));
            let took = computed() - before;
            counts.by_chance += 1;
            counts.slowest = counts.slowest.max(took.as_micros() as u64);
            if let Ok(outcome) = outcome {
                counts.accepted += u64::from(outcome.accepted);
                counts.memory = counts.memory.max(outcome.memory);
            }
            let place = match outcome {
                Err(_) => PLACE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone(),
                Ok(_) if took > SLOW => "slow".into(),
                Ok(_) => continue,
            };
            if places.insert(place.clone()) {
                keep(target, &input, &place);
            }
        }
    }
    (counts, places.len())
}

fn keep(target: &Target, input: &[u8], place: &str) {
    let place = place.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let file = format!("{FINDINGS}/{}-{place}", target.name);
    eprintln!("{file}");
    if let Err(error) = std::fs::write(&file, input) {
        eprintln!("{file}: {error}");
    }
}
