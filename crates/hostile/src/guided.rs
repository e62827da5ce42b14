//! Inputs that libFuzzer makes: those that reach new edges of the code are kept and changed further.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use costep_hostile::{Counts, Target};

use crate::FINDINGS;

/// More findings of one target are for the next run.
const MOST_FINDINGS: usize = 5;

/// Runs libFuzzer on a target for so long, again after each finding.
pub(crate) fn attack(program: &Path, target: &Target, seeds: &[Vec<u8>], time: Duration) -> (Counts, usize) {
    let corpus = Path::new("fuzz/corpus").join(target.name);
    let dictionary = corpus.with_extension("dict");
    let made = std::fs::create_dir_all(&corpus).and_then(|()| {
        let mut files = seeds.iter().enumerate();
        files.try_for_each(|(number, seed)| std::fs::write(corpus.join(format!("seed-{number}")), seed))?;
        std::fs::write(&dictionary, dictionary_of(target))
    });
    if let Err(error) = made {
        eprintln!("{}: {error}", corpus.display());
        return (Counts::default(), 1);
    }
    let (start, mut counts, mut findings) = (Instant::now(), Counts::default(), 0);
    while let Some(left) = time.checked_sub(start.elapsed()).filter(|left| left.as_secs() > 0)
        && findings < MOST_FINDINGS
    {
        let mut command = Command::new(program);
        command
            .env("COSTEP_HOSTILE", target.name)
            .arg(&corpus)
            .arg(format!("-dict={}", dictionary.display()));
        command
            .arg(format!("-max_total_time={}", left.as_secs()))
            .arg(format!("-artifact_prefix={FINDINGS}/{}-", target.name));
        command.args(["-max_len=16384", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]);
        let Ok(output) = command.stdout(Stdio::null()).output() else {
            eprintln!("{} cannot be started", program.display());
            return (counts, findings + 1);
        };
        let said = String::from_utf8_lossy(&output.stderr);
        counts.guided += after(&said, "stat::number_of_executed_units:").unwrap_or(0);
        counts.edges = counts.edges.max(after(&said, " cov:").unwrap_or(0));
        if !output.status.success() {
            findings += 1;
            eprintln!(
                "{}",
                said.lines()
                    .filter(|line| line.contains("panicked")
                        || line.contains("ERROR")
                        || line.contains("Test unit written"))
                    .collect::<Vec<_>>()
                    .join("\n")
            );
        }
    }
    (counts, findings)
}

/// The number behind the last of some words.
fn after(text: &str, words: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once(words)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The words of a target as libFuzzer reads them.
fn dictionary_of(target: &Target) -> String {
    let mut text = String::new();
    for word in target.words() {
        let _ =
            writeln!(text, "\"{}\"", word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>());
    }
    text
}
