//! Cost of a macro step with FMUs, next to a bare loop in C over the same FMUs: dlopen, fmi2SetReal, fmi2DoStep,
//! fmi2GetReal, nothing else. Method zoh, one thread, guards on; with and without recording of every signal.
//!
//! And what users get: a step of `costep run`, and the time to load many FMUs.
//!
//! `cargo bench -p costep-benches --bench fmu` prints ratios, measured in turn in one run. Needs a C compiler. Sizes of the
//! ring may be chosen: `-- 2 10`, and one of the two parts: `-- engine`, `-- program`.
#![allow(missing_docs)]

mod bare;
mod fmus;
mod program;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bare::Bare;
use costep_core::{Connection, Experiment, Subsystem};
use costep_engine::{Engine, Scheduling, System};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, FmuLibrary};
use costep_fmu_file::{Fmu, Values};
use costep_methods::MethodSpec;
use costep_results::{Column, Recording};
use fmus::{Kind, Subject};

const STEP: f64 = 1e-3;
const ROUNDS: usize = 60;
/// Steps of FMUs per round.
const WORK: usize = 40_000;
const WIDTH: usize = 1000;

fn load(file: &Path) -> Arc<FmuLibrary> {
    FmuLibrary::load(&mut Fmu::open(file).expect("a valid FMU")).expect("a library")
}

fn lag(library: &Arc<FmuLibrary>, i: usize) -> Box<dyn Subsystem> {
    let parameters = vec![("x0".to_owned(), Values::Float64(vec![(i % 5) as f64]))];
    let options = CoSimulationOptions { parameters, ..CoSimulationOptions::default() };
    Box::new(CoSimulationSubsystem::new(library, &format!("lag{i}"), &options).expect("an instance"))
}

fn engine(subsystems: Vec<Box<dyn Subsystem>>, connections: Vec<Connection>) -> Engine {
    Engine::new(System {
        scheduling: Scheduling::Parallel,
        ..System::new(
            subsystems,
            connections,
            (MethodSpec::parse("zoh").expect("a method").build(), Box::new(costep_ident::Exact::new(1))),
            Experiment { start: 0.0, stop: 1e6, step: STEP },
        )
    })
    .expect("a valid system")
}

fn connection(output: usize, input: usize) -> Connection {
    Connection { output, input, gain: 1.0 }
}

fn ring(library: &Arc<FmuLibrary>, n: usize) -> Engine {
    let connections = (0..n).map(|i| connection((i + n - 1) % n, i)).collect();
    engine((0..n).map(|i| lag(library, i)).collect(), connections)
}

fn pair(library: &Arc<FmuLibrary>) -> Engine {
    let wide = |name| -> Box<dyn Subsystem> {
        Box::new(CoSimulationSubsystem::new(library, name, &Default::default()).expect("an instance"))
    };
    let connections = (0..2 * WIDTH).map(|j| connection((j + WIDTH) % (2 * WIDTH), j)).collect();
    engine(vec![wide("a"), wide("b")], connections)
}

/// Writes every input and output of every step.
struct Recorder {
    recording: Recording,
}

impl Recorder {
    fn new(engine: &Engine, file: &Path) -> Self {
        let signals = engine.outputs().len() + engine.coupled().len();
        let names = (0..signals).map(|i| format!("signal{i}"));
        let columns: Vec<_> =
            std::iter::once("t".to_owned()).chain(names).map(|name| Column { name, unit: None }).collect();
        Self { recording: Recording::create(file, &columns, &[]).expect("a file") }
    }

    fn write(&mut self, engine: &Engine) {
        let fill = |row: &mut [f64]| {
            let (outputs, inputs) = row[1..].split_at_mut(engine.outputs().len());
            outputs.copy_from_slice(engine.outputs());
            engine.inputs_at_end(inputs);
            row[0] = engine.time();
        };
        self.recording.row_with(fill).expect("room on the disk");
    }
}

/// Seconds per macro step: bare, engine, engine with recording. The best of rounds in turn, because other programs take
/// their share of the machine.
fn measure(mut bare: Bare, mut engines: [Engine; 2], fmus: usize, folder: &Path) -> [f64; 3] {
    let steps = (WORK / fmus).max(1);
    let mut recorder = Recorder::new(&engines[1], &folder.join("recording"));
    let mut best = [f64::MAX; 3];
    for _ in 0..ROUNDS {
        best[0] = best[0].min(bare.time(steps));
        let start = Instant::now();
        (0..steps).for_each(|_| engines[0].step().expect("lags do not fail"));
        best[1] = best[1].min(start.elapsed().as_secs_f64() / steps as f64);
        let start = Instant::now();
        for _ in 0..steps {
            engines[1].step().expect("lags do not fail");
            recorder.write(&engines[1]);
        }
        best[2] = best[2].min(start.elapsed().as_secs_f64() / steps as f64);
    }
    // Both have done the same: else the ratio means nothing.
    for engine in &engines {
        let (ours, theirs) = (engine.outputs()[0], bare.first_output);
        assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1e-9), "{ours} {theirs}");
    }
    best
}

fn print_row(name: &str, size: usize, fmus: usize, [bare, engine, recorded]: [f64; 3], bar: f64) {
    let per_fmu = |seconds: f64| 1e9 * seconds / fmus as f64;
    let verdict = |ratio: f64, bar: f64| if ratio <= bar { "" } else { " !" };
    let (plain, with) = (engine / bare, recorded / bare);
    println!(
        "{name:>12} {size:>6} {:>10.1} {:>10.1} {:>10.1} {plain:>8.2}{} (<= {bar}) {with:>8.2}{} (<= 3)",
        per_fmu(bare),
        per_fmu(engine),
        per_fmu(recorded),
        verdict(plain, bar),
        verdict(with, 3.0),
    );
}

/// Time and memory to load a thousand instances.
fn print_load(subject: &Subject, kind: Kind) {
    const COUNT: usize = 1000;
    let mut seconds = f64::MAX;
    let mut bytes = 0;
    for _ in 0..10 {
        let start = Instant::now();
        let mut engine = None;
        let memory = allocation_counter::measure(|| engine = Some(ring(&load(&subject.path), COUNT)));
        seconds = seconds.min(start.elapsed().as_secs_f64());
        bytes = memory.bytes_current;
    }
    println!(
        "{COUNT} instances of {} ({}): {:.1} ms (<= 50), {:.0} bytes each besides the FMU's own (<= 4096)",
        subject.name,
        kind.name(),
        1e3 * seconds,
        bytes as f64 / COUNT as f64
    );
}

fn print_engine(is_chosen: impl Fn(usize) -> bool, folder: &Path) {
    let program = Bare::compile(folder);
    println!("\nns per macro step and FMU, best of {ROUNDS} rounds in turn, method zoh, FMI 2.0");
    println!(
        "{:>12} {:>6} {:>10} {:>10} {:>10} {:>8} {:>16}",
        "library", "N", "bare C", "engine", "recording", "ratio", "with recording"
    );
    for kind in Kind::BOTH {
        let subject = Subject::new(kind, "Lag", folder);
        let library = load(&subject.path);
        for (n, bar) in [(2, 4.0), (10, 2.0), (100, 1.5), (1000, 1.5), (10_000, 1.5)] {
            if !is_chosen(n) {
                continue;
            }
            let bare = Bare::start(&program, &subject, "ring", n);
            let best = measure(bare, [ring(&library, n), ring(&library, n)], n, folder);
            print_row(&format!("Lag {}", kind.name()), n, n, best, bar);
        }
    }
    println!("\nns per macro step and FMU, two FMUs with {WIDTH} signals each way");
    for kind in Kind::BOTH {
        let subject = Subject::new(kind, &format!("Wide{WIDTH}"), folder);
        let library = load(&subject.path);
        let bare = Bare::start(&program, &subject, "wide", WIDTH);
        let best = measure(bare, [pair(&library), pair(&library)], WIDTH / 4, folder);
        print_row(&format!("Wide {}", kind.name()), WIDTH, 2, best, 2.0);
    }
    println!();
    for kind in Kind::BOTH {
        print_load(&Subject::new(kind, "Lag", folder), kind);
    }
}

fn main() {
    // Cargo hands over `--bench`; the tables of ratios are all there is.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, file, n, steps] = &arguments[..]
        && word == "steps"
    {
        let number = |text: &str| text.parse().expect("a number");
        return program::step_ring(file.as_ref(), number(n), number(steps));
    }
    let sizes: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let is_chosen = |size: usize| sizes.is_empty() || sizes.contains(&size);
    let is_only = |part: &str| arguments.iter().any(|argument| argument == part);
    let folder = tempfile::tempdir().expect("a folder");
    if !is_only("program") {
        print_engine(is_chosen, folder.path());
    }
    if !is_only("engine") {
        program::print(is_chosen, folder.path());
    }
}
