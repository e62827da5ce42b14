//! `cargo xtask fuzz`: hostile inputs for all readers, or one. By default those of `crates/hostile`, on any toolchain; with
//! `--coverage` by `cargo fuzz`, which needs a nightly one.

use std::process::Command;

use crate::cargo;

/// Runs it with these arguments.
pub(crate) fn run(arguments: &[String]) -> bool {
    let after = |flag: &str| {
        let place = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(place + 1).cloned()
    };
    let minutes = after("--minutes").unwrap_or_else(|| "5".into());
    let with_coverage = arguments.iter().any(|argument| argument == "--coverage");
    let target = arguments.iter().find(|argument| !argument.starts_with("--") && **argument != minutes);
    if with_coverage {
        return by_coverage(&minutes, target.map(String::as_str));
    }
    let all = ["run", "--quiet", "--release", "--package", "costep-hostile", "--", &minutes];
    cargo(&all.into_iter().chain(target.map(String::as_str)).collect::<Vec<_>>())
}

/// All targets one after the other, each for its share of the time.
fn by_coverage(minutes: &str, wanted: Option<&str>) -> bool {
    let list = Command::new("cargo").args(["+nightly", "fuzz", "list"]).output();
    let Some(list) = list.ok().filter(|list| list.status.success()) else {
        eprintln!("xtask: `cargo +nightly fuzz` is missing: cargo install cargo-fuzz");
        return false;
    };
    let names = String::from_utf8_lossy(&list.stdout).into_owned();
    let names: Vec<&str> = names.lines().filter(|name| wanted.is_none_or(|wanted| wanted == *name)).collect();
    let seconds = minutes.parse::<f64>().unwrap_or(5.0) * 60.0 / names.len().max(1) as f64;
    let time = format!("-max_total_time={}", seconds.ceil());
    let run = |name: &str| {
        let flags = ["-max_len=65536", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"];
        let start = ["+nightly", "fuzz", "run", "--release", name, "--"];
        cargo(&start.into_iter().chain([time.as_str()]).chain(flags).collect::<Vec<_>>())
    };
    // All are run, also after one that finds something.
    !names.is_empty() && names.into_iter().filter(|name| !run(name)).count() == 0
}
