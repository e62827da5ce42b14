//! A file in costep, in a process of its own, and how its outputs compare.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use costep_core::{Code, Error, Result};
use costep_fmu_file::{ModelDescription, PrivateFolder};
use costep_results::Table;
use serde_json::{Value, json};

use super::files::{Interface, Kind, Subject};
use super::peer::{Peer, Trajectories};
use crate::supervision;

/// What a try may cost.
pub(super) struct Limits {
    /// Wall time in costep, and again in FMPy.
    pub(super) time: Duration,
    /// Communication steps of an FMU.
    pub(super) steps: u32,
}

/// From when, how long, by which steps.
pub(super) struct Horizon {
    pub(super) start: f64,
    pub(super) step: f64,
    pub(super) steps: u32,
}

impl Horizon {
    /// As the FMU proposes, for so many steps at most.
    fn of(description: &ModelDescription, most: u32) -> Self {
        const STEPS_OF_AN_EXPERIMENT: f64 = 500.0;
        let experiment = &description.default_experiment;
        let fixed =
            description.co_simulation.as_ref().and_then(|interface| interface.fixed_internal_step_size);
        let usable = |value: &f64| value.is_finite() && *value > 0.0;
        let start = experiment.start_time.filter(|start| start.is_finite()).unwrap_or(0.0);
        let length = experiment.stop_time.map(|stop| stop - start).filter(usable).unwrap_or(1.0);
        let step = experiment.step_size.filter(usable).or(fixed.filter(usable));
        let step = step.unwrap_or(length / STEPS_OF_AN_EXPERIMENT);
        let steps = (length / step).round().clamp(1.0, f64::from(most)) as u32;
        Self { start, step, steps }
    }

    pub(super) fn stop(&self) -> f64 {
        self.start + f64::from(self.steps) * self.step
    }
}

/// How a file fared in costep.
pub(super) enum Outcome {
    /// To the end, or until the FMU asked for it.
    Runs(Option<String>),
    /// Until the time was up.
    Stopped(String),
    /// Codes and first messages of errors.
    Fails(String),
}

impl Outcome {
    /// Whether it ran as far as it was let, and what is to be said about that.
    pub(super) fn said(&self) -> (bool, Option<&String>) {
        match self {
            Self::Runs(remark) => (true, remark.as_ref()),
            Self::Stopped(remark) => (true, Some(remark)),
            Self::Fails(reason) => (false, Some(reason)),
        }
    }
}

/// A line of the page.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) reads: bool,
    pub(super) outcome: Outcome,
    /// What a run says of the coupling of a system.
    pub(super) verdict: Option<String>,
    /// Largest difference of an output from that of FMPy, as a share of its largest value there; or why FMPy has none.
    pub(super) peer: Option<Result<f64, String>>,
    /// How much it may differ.
    tolerance: f64,
    pub(super) warnings: Vec<String>,
}

impl Row {
    pub(super) fn differs(&self) -> bool {
        matches!(&self.peer, Some(Ok(deviation)) if *deviation > self.tolerance)
            && matches!(self.outcome, Outcome::Runs(_))
    }

    pub(super) fn to_json(&self) -> Value {
        let (runs, remark) = self.outcome.said();
        json!({
            "file": self.name,
            "kind": self.kind,
            "reads": self.reads,
            "runs": runs,
            "verdict": self.verdict,
            "deviation": self.peer.as_ref().and_then(|peer| peer.as_ref().ok()),
            "differs": self.differs(),
            "fmpy_error": self.peer.as_ref().and_then(|peer| peer.as_ref().err()),
            "remark": remark,
            "warnings": self.warnings,
        })
    }
}

/// Tries a file.
pub(super) fn row(subject: &Subject, limits: &Limits, peer: Option<&Peer>) -> Result<Row> {
    let folder = PrivateFolder::new().map_err(|cause| {
        Error::new(Code::FileNotReadable, "no folder for results can be made").because(cause)
    })?;
    let mut row = Row {
        name: subject.name.clone(),
        kind: subject.kind(),
        reads: true,
        outcome: Outcome::Runs(None),
        verdict: None,
        peer: None,
        tolerance: 0.0,
        warnings: Vec::new(),
    };
    match &subject.kind {
        Kind::Unreadable(error) => {
            (row.reads, row.outcome) =
                (false, Outcome::Fails(brief(error.code().entry().id, &error.details().message)));
        }
        Kind::System(_) => {
            let said = run(&subject.path, &[], limits, folder.path(), &mut row)?;
            // Of a run that did not come to its end there is nothing to be judged.
            let whole = matches!(row.outcome, Outcome::Runs(_));
            row.verdict = said["verdict"].as_str().filter(|_| whole).map(str::to_owned);
        }
        Kind::Fmu { interface, description } => {
            let horizon = Horizon::of(description, limits.steps);
            let extra = options(*interface, &horizon, &subject.path);
            run(&subject.path, &extra, limits, folder.path(), &mut row)?;
            // That inputs stay at their start values is the rule here.
            row.warnings.retain(|code| code != Code::OpenInputs.entry().id);
            // The same method with the same values; an integrator of one's own is as accurate as it is told to be.
            row.tolerance = if *interface == Interface::CoSimulation { 1e-12 } else { 1e-5 };
            if let Some(peer) = peer {
                let theirs = peer.simulate(&subject.path, *interface, &horizon, limits.time, folder.path());
                let ours = Table::open(&folder.path().join("results.arrows")).ok();
                let name = costep_project::component_name(&subject.path);
                let ended = matches!(&row.outcome, Outcome::Runs(Some(_)));
                row.peer = Some(theirs.map(|theirs| deviation(ours.as_ref(), &name, &theirs, ended)));
            }
        }
    }
    Ok(row)
}

fn options(interface: Interface, horizon: &Horizon, path: &Path) -> Vec<String> {
    let name = costep_project::component_name(path);
    let mut options = vec![
        "--method=zoh".into(),
        format!("--step={:e}s", horizon.step),
        format!("--set=system.start={:e}s", horizon.start),
        format!("--t-end={:e}s", horizon.stop()),
        format!("--set=fmu.{name}.interface={}", interface.key()),
    ];
    if interface == Interface::ModelExchange {
        options.push(format!("--set=fmu.{name}.solver=dopri5:1e-10"));
    }
    options
}

/// Runs a file by this very program and notes what it says; also gives all of it.
fn run(path: &Path, extra: &[String], limits: &Limits, out: &Path, row: &mut Row) -> Result<Value> {
    let mut command = supervision::own_command()?;
    command.arg("run").args(extra).arg("--out").arg(out);
    command
        .args(["--json", "--reference", "none", "--time-limit"])
        .arg(format!("{}s", limits.time.as_secs_f64()));
    // Names of files may begin like a flag.
    command.arg("--").arg(path);
    let ended = command.stdin(Stdio::null()).output();
    let ended =
        ended.map_err(|cause| Error::new(Code::FileNotReadable, "cannot be started").because(cause))?;
    let said: Value = serde_json::from_slice(&ended.stdout).unwrap_or(Value::Null);
    row.warnings = codes(&said["system_warnings"]);
    let errors = said["errors"].as_array().into_iter().flatten();
    let first = errors.chain([&said["error"], &said["ended"]]).find(|error| error.is_object());
    let text = first.map(|error| {
        brief(error["code"].as_str().unwrap_or("-"), error["message"].as_str().unwrap_or("no message"))
    });
    let is = |code: Code| first.is_some_and(|error| error["code"] == code.entry().id);
    row.reads = said["rows"].is_u64() || !said["errors"].is_array();
    let has_rows = said["rows"].is_u64();
    row.outcome = match text {
        None if has_rows => Outcome::Runs(None),
        text if has_rows && is(Code::FmuEnds) => Outcome::Runs(text),
        Some(text) if has_rows && is(Code::TimeLimit) => Outcome::Stopped(text),
        Some(text) => Outcome::Fails(text),
        None => Outcome::Fails(format!("ended with {} and without a message", ended.status)),
    };
    Ok(said)
}

/// Codes of warnings, each once.
fn codes(warnings: &Value) -> Vec<String> {
    let all = warnings.as_array().into_iter().flatten();
    let mut codes: Vec<String> =
        all.filter_map(|warning| Some(warning["code"].as_str()?.to_owned())).collect();
    codes.sort();
    codes.dedup();
    codes
}

fn brief(code: &str, message: &str) -> String {
    format!("{code} {}", message.lines().next().unwrap_or_default())
}

/// The largest difference of an output, as a share of its largest value; infinite where one of both is no number, has not
/// come as far as the other or does not have the output.
fn deviation(ours: Option<&Table>, component: &str, theirs: &Trajectories, ended: bool) -> f64 {
    let Some(times) = ours.and_then(|ours| ours.values("t").ok()) else { return f64::INFINITY };
    // An FMU that asks for its end gets it at a communication point here, and at its event there.
    let rows = if ended { times.len().min(theirs.rows.len()) } else { theirs.rows.len() };
    if times.len() < rows || !ended && times.len() != rows || theirs.rows.is_empty() {
        return f64::INFINITY;
    }
    let theirs_at = |column: usize| theirs.rows[..rows].iter().map(move |row| row[column]);
    let mut worst = difference(times, theirs_at(0));
    for (column, name) in theirs.names.iter().enumerate() {
        let values = ours.and_then(|ours| ours.values(&format!("{component}.{name}")).ok());
        let share = values.map_or(f64::INFINITY, |values| difference(values, theirs_at(column + 1)));
        worst = worst.max(share);
    }
    worst
}

fn difference(ours: &[f64], theirs: impl Iterator<Item = f64> + Clone) -> f64 {
    let scale = theirs.clone().map(f64::abs).fold(f64::MIN_POSITIVE, f64::max);
    let share = |(ours, theirs): (&f64, f64)| match *ours == theirs || ours.is_nan() && theirs.is_nan() {
        true => 0.0,
        false if (ours - theirs).is_nan() => f64::INFINITY,
        false => (ours - theirs).abs() / scale,
    };
    ours.iter().zip(theirs).map(share).fold(0.0, f64::max)
}
