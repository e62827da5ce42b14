//! What a macro step costs where FMUs share the process of the run, have processes of their own, or sandboxes.
//!
//! `cargo bench -p costep-benches --bench isolation` prints the table of docs/howto/isolation.md: the two-mass oscillator as two
//! FMUs, method zoh, by the program itself, in turns. Computing is that of all processes of a run; the time is the least that
//! was seen, since processes that wait for each other also wait for other work on the machine. `COSTEP_PROGRAM` names
//! another program than the one of the same profile, which is built if it is not there.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use costep_fmu_export::{Options, export};

const ROUNDS: usize = 15;
/// Of a short run, which may fit between other work on the machine, and of one that is long enough for its computing to be seen.
const STEPS: [usize; 2] = [3_000, 30_000];
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

/// CPU time in seconds of all processes that this one has started and that have ended.
fn cpu_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
    // The third field is the first one after the name; 16 and 17 are hundredths of seconds of children.
    let ticks = fields.split(' ').skip(13).take(2).map(|field| field.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / 100.0
}

/// Computing and time of the steps of a run, in s; its start and its end count for the computing alone.
fn run(program: &Path, project: &Path, (first, second): (&str, &str), steps: usize) -> Cost {
    let mut command = Command::new(program);
    command.arg("run").arg(project).args(["--set", &format!("fmu.s1.isolation={first}")]);
    command.args(["--set", &format!("fmu.s2.isolation={second}"), "--t-end", &format!("{}us", 10 * steps)]);
    command.args(["--no-record", "--no-verify", "--threads", "1", "--reference", "none", "--json"]);
    let before = cpu_of_children();
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    let computing = cpu_of_children() - before;
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["macro_steps"], steps);
    Cost { computing, time: json["wall_s"].as_f64().expect("a time") }
}

/// Rounds of a short and a long run. The difference of their computing has no start; it is added up, since it is known in
/// hundredths of seconds only. Of the time the least counts.
fn measure(program: &Path, project: &Path) -> Vec<Cost> {
    let mut costs = vec![Cost { computing: 0.0, time: f64::MAX }; WAYS.len()];
    for _ in 0..ROUNDS {
        for (cost, (_, first, second)) in costs.iter_mut().zip(WAYS) {
            let [short, long] = STEPS.map(|steps| run(program, project, (first, second), steps));
            cost.computing += long.computing - short.computing;
            let times = [short.time / STEPS[0] as f64, long.time / STEPS[1] as f64];
            cost.time = cost.time.min(times[0]).min(times[1]);
        }
    }
    let steps = (ROUNDS * (STEPS[1] - STEPS[0])) as f64;
    costs.into_iter().map(|cost| Cost { computing: cost.computing / steps, ..cost }).collect()
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let (program, project) = (program(), write_project(folder.path()));
    let costs = measure(&program, &project);
    println!("| FMUs | time of a macro step | computing |\n|---|---|---|");
    for ((name, ..), Cost { computing, time }) in WAYS.iter().zip(&costs) {
        println!("| {name} | {:.1} us | {:.1} us |", 1e6 * time, 1e6 * computing);
    }
    println!();
    for (apart, confined) in [(1, 2), (3, 4)] {
        let (process, sandbox) = (costs[apart], costs[confined]);
        let (time, computing) = (sandbox.time / process.time, sandbox.computing / process.computing);
        let mark = if time.max(computing) <= BAR { "" } else { " !" };
        println!(
            "{} over {}: {time:.2} in time, {computing:.2} in computing (<= {BAR}){mark}",
            WAYS[confined].0, WAYS[apart].0
        );
    }
}
