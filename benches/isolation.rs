//! What a macro step costs where FMUs share the process of the run, have processes of their own, or sandboxes.
//!
//! `cargo bench -p costep-benches --bench isolation` prints the tables of docs/howto/isolation.md: the two-mass oscillator as two
//! FMUs, method zoh, by the program itself. Every round runs each way once, a sandbox right beside the process that it is compared
//! with, forwards and backwards in turns; what counts is the median of the ratios of such neighbours. Computing is that of all
//! processes of a run. Processes that wait for each other are woken sooner or later by where the system puts them, which stays for
//! a run and has nothing to do with the sandbox; so time is taken on one core too, where there is nothing to choose.
//! `COSTEP_PROGRAM` names another program than the one of the same profile, which is built if it is not there.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use costep_benches::cpu_time;
use costep_fmu_export::{Options, export};

const ROUNDS: usize = 25;
/// Of a short run, whose computing is that of start and end, and of a long one.
const STEPS: [usize; 2] = [500, 20_000];
/// Most that a sandbox may cost beside a process.
const BAR: f64 = 1.1;

/// Which FMUs are apart, and how.
const WAYS: [(&str, &str, &str); 5] = [
    ("both with the run", "none", "none"),
    ("one in its own process", "none", "process"),
    ("one in a sandbox", "none", "sandbox"),
    ("both in processes of their own", "process", "process"),
    ("both in sandboxes", "sandbox", "sandbox"),
];

/// Rows of that table that are compared: without and with a sandbox.
const PAIRS: [(usize, usize); 2] = [(1, 2), (3, 4)];

/// Where the processes of a run may be.
#[derive(Clone, Copy, PartialEq)]
enum Cores {
    All,
    One,
}

/// What a macro step takes, in s.
#[derive(Clone, Copy)]
struct Cost {
    computing: f64,
    time: f64,
}

fn program() -> PathBuf {
    if let Some(program) = std::env::var_os("COSTEP_PROGRAM") {
        return program.into();
    }
    // This benchmark is target/PROFILE/deps/isolation-*.
    let own = std::env::current_exe().expect("a path");
    let folder = own.ancestors().nth(2).expect("the folder of the profile");
    let profile = if folder.ends_with("release") { "release" } else { "dev" };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--package", "costep-cli", "--profile", profile]);
    assert!(build.status().expect("cargo").success(), "{build:?}");
    folder.join("costep")
}

fn write_project(folder: &Path) -> PathBuf {
    export("dual-mass", &[], None, &Options::default(), folder).expect("the FMUs are exported");
    let text = "[system]\nstop = \"1 s\"\n[step]\nsize = \"10 us\"\n[method]\nid = \"zoh\"\n[fmu.s1]\nfile = \"s1.fmu\"\n\
                [fmu.s2]\nfile = \"s2.fmu\"\n[[connect]]\nfrom = \"s2.F\"\nto = \"s1.F\"\n\
                [[connect]]\nfrom = \"s1.x\"\nto = \"s2.x\"\n[[connect]]\nfrom = \"s1.v\"\nto = \"s2.v\"\n";
    let path = folder.join("system.toml");
    std::fs::write(&path, text).expect("room on the disk");
    path
}

/// Computing and time of a run, in s; its start and its end count for the computing alone.
fn run(program: &Path, project: &Path, (first, second): (&str, &str), steps: usize, cores: Cores) -> Cost {
    let mut command = match cores {
        Cores::All => Command::new(program),
        Cores::One => {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", "0"]).arg(program);
            command
        }
    };
    command.arg("run").arg(project).args(["--set", &format!("fmu.s1.isolation={first}")]);
    command.args(["--set", &format!("fmu.s2.isolation={second}"), "--t-end", &format!("{}us", 10 * steps)]);
    command.args(["--no-record", "--no-verify", "--threads", "1", "--reference", "none", "--json"]);
    let before = cpu_time::of_children();
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    let computing = cpu_time::of_children() - before;
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["macro_steps"], steps);
    Cost { computing, time: json["wall_s"].as_f64().expect("a time") }
}

/// Costs of a macro step in every round, way by way.
fn measure(program: &Path, project: &Path, cores: Cores) -> Vec<Vec<Cost>> {
    let mut costs = vec![Vec::new(); WAYS.len()];
    for round in 0..ROUNDS {
        for turn in 0..WAYS.len() {
            let way = if round % 2 == 0 { turn } else { WAYS.len() - 1 - turn };
            let (_, first, second) = WAYS[way];
            let [short, long] = STEPS.map(|steps| run(program, project, (first, second), steps, cores));
            let computing = (long.computing - short.computing) / (STEPS[1] - STEPS[0]) as f64;
            costs[way].push(Cost { computing, time: long.time / STEPS[1] as f64 });
        }
    }
    costs
}

/// Lower quartile, median and upper quartile.
fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[quarter * (values.len() - 1) / 4])
}

/// Ratios of neighbours, and whether their median meets the bar.
fn ratios(process: &[Cost], sandbox: &[Cost], of: fn(&Cost) -> f64) -> String {
    let [lower, median, upper] = quartiles(sandbox.iter().zip(process).map(|(a, b)| of(a) / of(b)));
    let mark = if median <= BAR { "" } else { " !" };
    format!("{median:.2} ({lower:.2} to {upper:.2}){mark}")
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let (program, project) = (program(), write_project(folder.path()));
    let has_taskset = Command::new("taskset").arg("--version").stdout(Stdio::null()).status().is_ok();
    let all = measure(&program, &project, Cores::All);
    let one = if has_taskset { measure(&program, &project, Cores::One) } else { Vec::new() };
    println!("| FMUs | time of a macro step | computing | time on one core |\n|---|---|---|---|");
    let median = |costs: &[Cost], of: fn(&Cost) -> f64| 1e6 * quartiles(costs.iter().map(of))[1];
    for (way, (name, ..)) in WAYS.iter().enumerate() {
        let alone =
            one.get(way).map_or("".into(), |costs| format!("{:.1} us", median(costs, |cost| cost.time)));
        let (time, computing) =
            (median(&all[way], |cost| cost.time), median(&all[way], |cost| cost.computing));
        println!("| {name} | {time:.1} us | {computing:.1} us | {alone} |");
    }
    println!(
        "\n| median of {ROUNDS} ratios (middle half), at most {BAR} | time | computing | time on one core |\n|---|---|---|---|"
    );
    for (process, sandbox) in PAIRS {
        let [time, computing]: [fn(&Cost) -> f64; 2] = [|cost| cost.time, |cost| cost.computing];
        let of_all = |of| ratios(&all[process], &all[sandbox], of);
        let alone = one.get(process).zip(one.get(sandbox));
        let alone = alone.map_or("".into(), |(process, sandbox)| ratios(process, sandbox, time));
        let names = (WAYS[sandbox].0, WAYS[process].0);
        println!("| {} over {} | {} | {} | {alone} |", names.0, names.1, of_all(time), of_all(computing));
    }
}
