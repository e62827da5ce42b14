//! `cargo xtask fuzz [--minutes M] [--coverage] [--count] [--without TARGET] [TARGET ...]`: hostile inputs for all readers,
//! or some. By default those that `crates/hostile` makes by chance; with `--coverage` libFuzzer makes them, guided by the
//! code that they reach. `--count` adds what was read to `fuzz/tally.csv`; `cargo xtask fuzz --table` prints the table of it.

use std::path::Path;
use std::process::Command;

use crate::cargo;

/// Valid files that inputs are made of: those of this project, and of others where they are beside it.
const SEEDS: [&str; 3] = ["examples", "../shared/real", "../../shared/real"];

/// What has the compiler count edges of the code as libFuzzer wants it. All of it is known to the stable toolchain.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

/// Where code is built that is not for the machine that builds it: build scripts stay as they are.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs it with these arguments.
pub(crate) fn run(arguments: &[String]) -> bool {
    let with_coverage = arguments.iter().any(|argument| argument == "--coverage");
    let program = format!("target/fuzz/{TARGET}/release/reader");
    let guided = if with_coverage { vec!["--guided", &program] } else { Vec::new() };
    let seeds =
        SEEDS.iter().filter(|folder| Path::new(folder).is_dir()).flat_map(|folder| ["--seeds", folder]);
    // The profile of the tests: what overflows or breaks an assertion is a finding.
    let start = ["run", "--quiet", "--package", "costep-hostile", "--"];
    let own = arguments.iter().map(String::as_str).filter(|argument| *argument != "--coverage");
    (!with_coverage || build_with_coverage())
        && cargo(&start.into_iter().chain(seeds).chain(guided).chain(own).collect::<Vec<_>>())
}

fn build_with_coverage() -> bool {
    let arguments = [
        "build",
        "--release",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target-dir",
        "target/fuzz",
        "--target",
        TARGET,
    ];
    println!("xtask: RUSTFLAGS=... cargo {}", arguments.join(" "));
    Command::new("cargo")
        .args(arguments)
        .env("RUSTFLAGS", COVERAGE)
        .status()
        .is_ok_and(|status| status.success())
}
