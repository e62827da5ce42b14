//! Chores of the project: `cargo xtask test` runs every check, `cargo xtask python` those of the Python package alone,
//! `cargo xtask bench` the benchmarks, `cargo xtask fuzz [--minutes M] [--coverage] [--count] [TARGET ...]` reads hostile inputs,
//! `cargo xtask kills` kills runs, `cargo xtask sanitize [PART]` and `cargo xtask soak [SCALE]` look for what tests do not
//! show, `cargo xtask sbom` lists what the program is made of, `cargo xtask reproducible` builds it twice and compares,
//! `cargo xtask book [--write]` builds the book in docs/.

mod book;
mod fuzz;
mod python;
mod reproducible;
mod sanitize;
mod sbom;
mod soak;

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let passed = match task.as_str() {
        "test" => test(),
        "python" => python::test(&std::env::args().skip(2).collect::<Vec<_>>()),
        "wheel" => python::wheel(),
        "bench" => cargo(&[&["bench", "--package", "costep-benches"], &SPEED[..]].concat()),
        "fuzz" => fuzz::run(&std::env::args().skip(2).collect::<Vec<_>>()),
        "sbom" => sbom::run(),
        "reproducible" => reproducible::run(),
        "kills" => kills(),
        "sanitize" => sanitize::run(std::env::args().nth(2).as_deref()),
        "soak" => soak::run(std::env::args().nth(2).as_deref()),
        "book" => book::run(std::env::args().nth(2).as_deref()),
        _ => {
            eprintln!(
                "usage: cargo xtask test | python [PYTEST ARGUMENTS] | wheel | bench | fuzz [--minutes M] [--coverage] [--count] [--without TARGET] [TARGET ...] | fuzz --table | kills | sanitize [PART] | soak [SCALE] | sbom | reproducible | book [--write]"
            );
            false
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Those that measure speed; the others measure how accurate `identified` is, for minutes.
const SPEED: [&str; 10] = [
    "--bench",
    "engine",
    "--bench",
    "methods",
    "--bench",
    "identification",
    "--bench",
    "fmu",
    "--bench",
    "isolation",
];

/// Format, lints, tests, documentation and its tests, dependencies. Optional tools are used where they are
/// installed.
fn test() -> bool {
    let all = ["--workspace", "--all-targets"];
    optional("fmt", &["fmt", "--all", "--check"])
        && optional("clippy", &[&["clippy"], &all[..], &["--quiet", "--", "--deny", "warnings"]].concat())
        && optional("clippy", &LIBRARY_OF_FMUS)
        && browser()
        && tests(&all)
        && cargo(&["test", "--workspace", "--doc", "--quiet"])
        && documentation()
        && dependencies()
        && python::test(&[])
}

/// A hundred kills of each kind of run, at random moments.
fn kills() -> bool {
    let arguments =
        ["test", "--package", "costep-cli", "--test", "kills", "--", "--nocapture", "--test-threads", "1"];
    println!("xtask: COSTEP_KILLS=100 cargo {}", arguments.join(" "));
    let mut command = Command::new("cargo");
    command.args(arguments).env("COSTEP_KILLS", "100");
    command.status().is_ok_and(|status| status.success())
}

/// The documentation of all crates, without a warning.
fn documentation() -> bool {
    let arguments = ["doc", "--workspace", "--no-deps", "--quiet"];
    println!("xtask: cargo {}", arguments.join(" "));
    let mut command = Command::new("cargo");
    command.args(arguments).env("RUSTDOCFLAGS", "--deny warnings");
    command.status().is_ok_and(|status| status.success())
}

/// The C functions of exported FMUs are a feature that is off in the workspace.
const LIBRARY_OF_FMUS: [&str; 8] =
    ["clippy", "--package", "costep-fmu-runtime", "--features", "library", "--", "--deny", "warnings"];

/// Licences, bans and sources always; advisories where their database can be fetched.
fn dependencies() -> bool {
    let advisories = has("deny") && quiet(&["deny", "fetch", "db"]);
    let checks: &[&str] = if advisories { &["advisories"] } else { &[] };
    let base = ["deny", "--log-level", "error", "check", "bans", "licenses", "sources"];
    optional("deny", &[&base[..], checks].concat())
}

/// The browser that tests of pages need, where it can be installed; without it they say so and pass.
fn browser() -> bool {
    let runs = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    if runs("chromium", &["--version"]) || !runs("apt-get", &["--version"]) {
        return true;
    }
    println!("xtask: apt-get install chromium");
    let install = ["install", "--yes", "--no-install-recommends", "chromium"];
    if !runs("apt-get", &["update"]) || !runs("apt-get", &install) {
        println!("xtask: chromium cannot be installed: pages are not tried in a browser");
    }
    true
}

/// With nextest where it is installed, else with cargo's own runner. Benchmarks are built, not run.
fn tests(all: &[&str]) -> bool {
    if has("nextest") {
        cargo(&["nextest", "run", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
            && cargo(&[&["build", "--quiet"], all].concat())
    } else {
        cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
            && cargo(&[&["build", "--quiet"], all].concat())
    }
}

fn optional(tool: &str, arguments: &[&str]) -> bool {
    if has(tool) {
        return cargo(arguments);
    }
    println!("xtask: cargo {tool} is not installed, skipped");
    true
}

fn has(tool: &str) -> bool {
    quiet(&[tool, "--version"])
}

fn quiet(arguments: &[&str]) -> bool {
    Command::new("cargo").args(arguments).output().is_ok_and(|output| output.status.success())
}

fn cargo(arguments: &[&str]) -> bool {
    println!("xtask: cargo {}", arguments.join(" "));
    Command::new("cargo").args(arguments).status().is_ok_and(|status| status.success())
}
