//! What users get: `costep run` of a ring of FMUs from a project file, next to the engine's own figure.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use costep_benches::cpu_time;

use crate::fmus::{Kind, Subject};
use crate::{STEP, load, ring};

/// FMUs of the rings.
const SIZES: [usize; 4] = [2, 100, 1000, 10_000];
/// Rounds in turn, of which the best counts.
const ROUNDS: usize = 6;
/// Steps of FMUs in the shorter one of two runs: CPU time is known in hundredths of seconds.
const WORK: usize = 50_000_000;
/// CPU time of loading the largest ring in seconds, at most.
const MOST_LOAD: f64 = 0.5;

/// The program, built if it is not.
fn program() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--quiet", "--package", "costep-cli"]);
    assert!(build.status().expect("cargo").success(), "{build:?}");
    // This benchmark is target/release/deps/fmu-*.
    let own = std::env::current_exe().expect("a path");
    own.ancestors().nth(2).expect("the folder of the profile").join("costep")
}

/// A project with the ring that [`ring`] makes.
fn write_project(subject: &Subject, n: usize, folder: &Path) -> PathBuf {
    let mut text = format!(
        "[system]\nstop = \"1 s\"\n[step]\nsize = \"{STEP} s\"\n[method]\nid = \"zoh\"\n\
         [schedule]\nkind = \"parallel\"\n[run]\nthreads = 1\n"
    );
    let file = subject.path.display();
    for i in 0..n {
        let (before, x0) = ((i + n - 1) % n, i % 5);
        write!(text, "[fmu.lag{i}]\nfile = \"{file}\"\nset = {{ x0 = {x0}.0 }}\n").expect("a text");
        write!(text, "[[connect]]\nfrom = \"lag{before}.y\"\nto = \"lag{i}.u\"\n").expect("a text");
    }
    let path = folder.join(format!("ring{n}.toml"));
    std::fs::write(&path, text).expect("room on the disk");
    path
}

/// The steps of a ring by the engine alone, in a process of its own like those of the program.
pub(crate) fn step_ring(file: &Path, n: usize, steps: usize) {
    let mut engine = ring(&load(file), n);
    (0..steps).for_each(|_| engine.step().expect("lags do not fail"));
}

/// CPU time of a command in seconds, with that of the processes it starts itself.
fn cpu_of(command: &mut Command) -> f64 {
    let before = cpu_time::of_children();
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {output:?}");
    cpu_time::of_children() - before
}

fn cpu_of_run(program: &Path, project: &Path, steps: usize) -> f64 {
    let end = format!("{}s", STEP * steps as f64);
    cpu_of(Command::new(program).arg("run").arg(project).args([
        "--no-record",
        "--no-verify",
        "--t-end",
        &end,
    ]))
}

fn cpu_of_engine(subject: &Subject, n: usize, steps: usize) -> f64 {
    let own = std::env::current_exe().expect("a path");
    cpu_of(Command::new(own).arg("steps").arg(&subject.path).args([n.to_string(), steps.to_string()]))
}

/// CPU time per macro step of the program and of the engine in seconds: the difference between a run and one twice as long,
/// so that their start does not count.
fn measure(program: &Path, subject: &Subject, n: usize, folder: &Path) -> [f64; 2] {
    let (project, steps) = (write_project(subject, n, folder), WORK / n);
    let mut best = [[f64::MAX; 2]; 2];
    for _ in 0..ROUNDS {
        for (length, steps) in [steps, 2 * steps].into_iter().enumerate() {
            best[0][length] = best[0][length].min(cpu_of_run(program, &project, steps));
            best[1][length] = best[1][length].min(cpu_of_engine(subject, n, steps));
        }
    }
    best.map(|[short, long]| (long - short) / steps as f64)
}

/// Prints the ratios of both, and the CPU time of loading the largest ring.
pub(crate) fn print(is_chosen: impl Fn(usize) -> bool, folder: &Path) {
    let program = program();
    println!("\nns of CPU per macro step and FMU, best of {ROUNDS} rounds in turn, one thread, no recording");
    println!("{:>12} {:>6} {:>10} {:>10} {:>8}", "library", "N", "costep run", "engine", "ratio");
    let subject = Subject::new(Kind::C, "Lag", folder);
    for n in SIZES.into_iter().filter(|n| is_chosen(*n)) {
        let [program, engine] =
            measure(&program, &subject, n, folder).map(|seconds| 1e9 * seconds / n as f64);
        let ratio = program / engine;
        let mark = if ratio <= 1.3 { "" } else { " !" };
        println!("{:>12} {n:>6} {program:>10.1} {engine:>10.1} {ratio:>8.2}{mark} (<= 1.3)", "Lag C");
    }
    let most = SIZES[SIZES.len() - 1];
    let project = write_project(&subject, most, folder);
    let seconds = (0..ROUNDS).map(|_| cpu_of_run(&program, &project, 1)).fold(f64::MAX, f64::min);
    println!("\n{most} instances of Lag: {seconds:.2} s of CPU to load, step once and free (<= {MOST_LOAD})");
}
