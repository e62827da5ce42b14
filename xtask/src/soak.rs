//! `cargo xtask soak [SCALE]`: long runs, many FMUs, many signals, a large recording, weeks of simulated time. Prints the
//! rows of docs/reliability.md; fails where memory or time per step grows, or a time is not exact. A scale below 1 does less of it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cargo;

/// What may differ between a run and one that is ten times as long, by other work on the machine: memory in MB, time per step.
const MORE_MEMORY: f64 = 2.0;
const SLOWER: f64 = 1.5;

/// What a command took.
struct Cost {
    /// Most memory of it and all processes it started, in MB.
    memory: f64,
    /// Seconds of computing: other work on the machine does not count.
    seconds: f64,
}

struct Soak {
    folder: PathBuf,
    program: PathBuf,
    failures: Vec<String>,
}

/// Runs all of it.
pub(crate) fn run(scale: Option<&str>) -> bool {
    let Ok(scale) = scale.unwrap_or("1").parse::<f64>() else {
        eprintln!("xtask: usage: cargo xtask soak [SCALE], such as 0.01");
        return false;
    };
    let folder = Path::new("target/soak");
    let _ = std::fs::remove_dir_all(folder);
    let built = cargo(&["build", "--quiet", "--package", "costep-cli"]);
    let (Ok(()), Ok(program)) =
        (std::fs::create_dir_all(folder), Path::new("target/debug/costep").canonicalize())
    else {
        return false;
    };
    let mut soak = Soak { folder: folder.into(), program, failures: Vec::new() };
    println!("| what | memory | computing | command |\n|---|---|---|---|");
    let passed = built && soak.all(scale).is_some();
    println!();
    soak.failures.iter().for_each(|failure| eprintln!("xtask: {failure}"));
    let _ = std::fs::remove_dir_all(folder);
    passed && soak.failures.is_empty() && loads((1e4 * scale) as u32)
}

impl Soak {
    fn all(&mut self, scale: f64) -> Option<()> {
        self.steps(1e8 * scale)?;
        self.recording(1.6e7 * scale)?;
        self.weeks(4.0 * scale)?;
        self.fmus((1e4 * scale) as usize)?;
        let parts = 5e4 * scale;
        self.row(
            &format!("a chain of {parts} parts, three connections each"),
            &format!("run chain --set n={parts} --method zoh --step 1ms --t-end 10ms --no-record --no-verify --reference none"),
        )?;
        Some(())
    }

    fn steps(&mut self, steps: f64) -> Option<()> {
        let row = |soak: &mut Self, steps: f64| {
            let line = format!(
                "run dual-mass --step 1us --method zoh --t-end {}s --no-record --no-verify --reference none",
                steps / 1e6
            );
            soak.row(&format!("{steps:e} macro steps"), &line)
        };
        let (few, many) = (row(self, steps / 10.0)?, row(self, steps)?);
        if many.memory > few.memory + MORE_MEMORY {
            self.failures.push(format!("memory grows from {:.1} to {:.1} MB", few.memory, many.memory));
        }
        if many.seconds > 10.0 * few.seconds * SLOWER {
            self.failures.push(format!(
                "{steps:e} steps take {:.1} s, a tenth of them {:.1} s",
                many.seconds, few.seconds
            ));
        }
        Some(())
    }

    fn recording(&mut self, rows: f64) -> Option<()> {
        let line = format!(
            "run dual-mass --step 1us --method zoh --t-end {}s --no-verify --reference none --out big",
            rows / 1e6
        );
        self.row(&format!("{rows:e} rows recorded"), &line)?;
        let bytes = std::fs::metadata(self.folder.join("big/results.arrows")).ok()?.len();
        self.row(&format!("... {:.2} GB, inspected", bytes as f64 * 1e-9), "inspect big")?;
        self.row("... its columns listed", "export big --list")?;
        self.row("... plotted", "plot big")?;
        std::fs::remove_dir_all(self.folder.join("big")).ok()
    }

    /// Every second of weeks is recorded, and has to be that very number.
    fn weeks(&mut self, weeks: f64) -> Option<()> {
        let seconds = (weeks * 7.0 * 86400.0).round();
        let line = format!(
            "run three-tanks --step 1s --method zoh --t-end {seconds}s --no-verify --reference none --out weeks"
        );
        self.row(&format!("{weeks} weeks of simulated time, {seconds:e} steps"), &line)?;
        self.row("... its times exported", "export weeks --to weeks.csv --signals t")?;
        let text = std::fs::read_to_string(self.folder.join("weeks.csv")).ok()?;
        let times = text.lines().skip(1).filter_map(|line| line.split(',').next()?.parse::<f64>().ok());
        let exact = times.enumerate().take_while(|(k, time)| *k as f64 == *time).count();
        if exact as f64 != seconds + 1.0 {
            self.failures.push(format!("{exact} of {} times are exact", seconds + 1.0));
        }
        Some(())
    }

    /// Pairs of oscillators, each of two FMUs.
    fn fmus(&mut self, count: usize) -> Option<()> {
        self.quietly("export-fmu dual-mass --out pairs")?;
        let mut text = "[system]\nstop = \"20 ms\"\n[step]\nsize = \"1 ms\"\n".to_owned();
        for k in 0..count / 2 {
            write!(text, "[fmu.a{k}]\nfile = \"s1.fmu\"\n[fmu.b{k}]\nfile = \"s2.fmu\"\n").ok()?;
            for (from, to) in [
                (format!("a{k}.x"), format!("b{k}.x")),
                (format!("a{k}.v"), format!("b{k}.v")),
                (format!("b{k}.F"), format!("a{k}.F")),
            ] {
                write!(text, "[[connect]]\nfrom = \"{from}\"\nto = \"{to}\"\n").ok()?;
            }
        }
        std::fs::write(self.folder.join("pairs/system.toml"), text).ok()?;
        self.row(
            &format!("{count} FMUs in pairs, 20 macro steps"),
            "run pairs --no-verify --reference none --out pairs/out",
        )?;
        Some(())
    }

    /// A row of the table. A command that fails ends it.
    fn row(&mut self, what: &str, line: &str) -> Option<Cost> {
        let cost = self.quietly(line)?;
        println!("| {what} | {:.1} MB | {:.2} s | `costep {line}` |", cost.memory, cost.seconds);
        Some(cost)
    }

    fn quietly(&mut self, line: &str) -> Option<Cost> {
        let mut command = Command::new(&self.program);
        command.args(line.split_whitespace()).current_dir(&self.folder);
        let said = self.folder.join("said");
        command.stdout(Stdio::null()).stderr(std::fs::File::create(&said).ok()?);
        let mut child = command.spawn().ok()?;
        let start = Instant::now();
        let (mut memory, mut seconds) = (0.0_f64, 0.0_f64);
        let status = loop {
            let (now, computed) = family(child.id());
            (memory, seconds) = (memory.max(now), seconds.max(computed));
            if let Some(status) = child.try_wait().ok()? {
                break status;
            }
            std::thread::sleep(if start.elapsed() < Duration::from_secs(1) {
                Duration::from_millis(2)
            } else {
                Duration::from_millis(50)
            });
        };
        if !status.success() {
            let said = std::fs::read_to_string(said).unwrap_or_default();
            self.failures.push(format!("`costep {line}` ended with {status}\n{said}"));
            return None;
        }
        Some(Cost { memory, seconds })
    }
}

/// Memory in MB and seconds of computing of a process and all that it has started.
fn family(id: u32) -> (f64, f64) {
    /// Of what the kernel counts seconds in.
    const TICKS: f64 = 100.0;
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
    let status = read("status");
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse::<f64>().ok());
    let stat = read("stat");
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    // User and system time are numbers 14 and 15; the name is number 2.
    let ticks: f64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let children: String =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok()).collect();
    let children = children.split_whitespace().filter_map(|child| child.parse().ok()).map(family);
    children.fold((resident.unwrap_or(0.0) / 1024.0, ticks / TICKS), |(memory, seconds), (more, longer)| {
        (memory + more, seconds + longer)
    })
}

/// FMUs loaded and freed again and again, by a test that fails where memory or open files grow; no unpacked folder may stay.
fn loads(count: u32) -> bool {
    let arguments = [
        "test",
        "--quiet",
        "--package",
        "costep-fmi",
        "--test",
        "faults",
        "again_and_again",
        "--",
        "--ignored",
        "--nocapture",
    ];
    println!("xtask: COSTEP_LOADS={count} cargo {}", arguments.join(" "));
    let folder = Path::new("target").canonicalize().unwrap_or_default().join("soak-loads");
    let is_empty = || std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_none());
    let mut command = Command::new("cargo");
    command.args(arguments).env("COSTEP_LOADS", count.to_string()).env("TMPDIR", &folder);
    let passed = std::fs::create_dir_all(&folder).is_ok()
        && command.status().is_ok_and(|status| status.success())
        && is_empty();
    let _ = std::fs::remove_dir_all(&folder);
    passed
}
