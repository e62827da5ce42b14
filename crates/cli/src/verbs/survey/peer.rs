//! The same FMU in FMPy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use costep_core::{Code, Error, Result};

use super::files::Interface;
use super::trial::Horizon;

const SCRIPT: &str = include_str!("fmpy.py");

/// A Python interpreter that has FMPy.
pub(super) struct Peer {
    python: PathBuf,
    pub(super) version: String,
}

/// Outputs at communication points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Trajectories {
    pub(super) names: Vec<String>,
    /// Time, then the outputs.
    pub(super) rows: Vec<Vec<f64>>,
}

impl Peer {
    /// Asks the interpreter for its FMPy.
    pub(super) fn new(python: &Path) -> Result<Self> {
        let asked = Command::new(python).args(["-c", "import fmpy; print(fmpy.__version__)"]).output();
        let missing = |cause: String| {
            Error::new(Code::FileNotReadable, format!("`{}` has no FMPy", python.display()))
                .because(cause)
                .hint("python3 -m venv env && env/bin/pip install fmpy, then `--fmpy env/bin/python`")
        };
        let asked = asked.map_err(|cause| missing(cause.to_string()))?;
        if !asked.status.success() {
            return Err(missing(last_line(&asked.stderr)));
        }
        Ok(Self { python: python.into(), version: String::from_utf8_lossy(&asked.stdout).trim().into() })
    }

    /// Simulates an FMU; the reason as text if that fails.
    pub(super) fn simulate(
        &self,
        fmu: &Path,
        interface: Interface,
        horizon: &Horizon,
        limit: Duration,
        folder: &Path,
    ) -> Result<Trajectories, String> {
        let kind = match interface {
            Interface::CoSimulation => "CoSimulation",
            Interface::ModelExchange => "ModelExchange",
        };
        let (numbers, messages) = (folder.join("fmpy.txt"), folder.join("messages.txt"));
        let file = fs::File::create(&messages).map_err(|cause| cause.to_string())?;
        let mut command = Command::new(&self.python);
        command.args(["-c", SCRIPT]).arg(fmu).arg(kind);
        command.args([horizon.start, horizon.stop(), horizon.step].map(|number| format!("{number:e}")));
        command.arg(&numbers).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let ended = finish(&mut command, limit)?;
        match fs::read_to_string(&numbers) {
            Ok(text) => read(&text).ok_or_else(|| "the numbers cannot be read".into()),
            // Crashes leave no message.
            Err(_) => Err(fs::read(&messages)
                .ok()
                .map(|text| last_line(&text))
                .filter(|line| !line.is_empty())
                .unwrap_or_else(|| ended.to_string())),
        }
    }
}

/// Lets a program run for some time at most.
fn finish(command: &mut Command, limit: Duration) -> Result<std::process::ExitStatus, String> {
    const LOOK: Duration = Duration::from_millis(10);
    let mut child = command.spawn().map_err(|cause| cause.to_string())?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|cause| cause.to_string())? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            // If it has just ended by itself, so be it.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("stopped after {} s", limit.as_secs()));
        }
        thread::sleep(LOOK);
    }
}

fn read(text: &str) -> Option<Trajectories> {
    let (names, rows) = text.split_once('\n')?;
    let names = names.split('\t').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let row = |line: &str| line.split('\t').map(|number| number.parse().ok()).collect::<Option<Vec<f64>>>();
    Some(Trajectories { names, rows: rows.lines().map(row).collect::<Option<_>>()? })
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_read_too() {
        let text = read("y\n0.0\t1.5\n0.1\tnan\n").unwrap();
        assert_eq!((&text.names[..], text.rows.len()), (&["y".to_owned()][..], 2));
        assert!(text.rows[1][1].is_nan());
        assert_eq!(read("\n0.0\n").unwrap(), Trajectories { names: Vec::new(), rows: vec![vec![0.0]] });
        assert!(read("y\n0.0\tmany\n").is_none());
    }
}
