//! `costep stability`: does the coupled system forget perturbations? By the map of one macro step (`spectral.rs`) or, for
//! methods that learn during the run, by Bohl exponents.

use std::process::ExitCode;

use costep::pages::{BohlPage, check_page_file, write_page};
use costep::{Code, Error, Project, head};
use costep_analysis::{BohlExponent, Plant, RecordedLoop, bohl_exponent};
use costep_core::Result;
use costep_core::quantity::format_time;
use serde_json::{Value, json};

use crate::args::StabilityArgs;
use crate::failure::Failure;
use crate::phrases::show_warnings;
use crate::stop;
use crate::style::{BAD, FAINT, GOOD, Output, paint, print_json, say};
use crate::supervision;
use crate::table::{Cell, render};
use crate::verbs::report::command;
use crate::verbs::spectral;

pub(crate) fn run(args: &StabilityArgs, output: Output) -> Result<ExitCode, Failure> {
    args.report.as_deref().map_or(Ok(()), check_page_file)?;
    let windows = windows(&args.windows)?;
    let system = args.system.open(args.coupling.overrides())?;
    let project = system.project();
    // Methods that learn during the run have another map at every step.
    let law = match (args.bohl, system.loop_law()) {
        (true, law) => Some(law?),
        (false, law) => law.ok(),
    };
    if let Some(code) = supervision::elsewhere(project, None, None, output)? {
        return Ok(code);
    }
    show_warnings(&project.warnings, &args.system.system, output);
    stop::listen();
    let Some(law) = law else {
        spectral::run(&system, args, output)?;
        return Ok(supervision::exit_code(0));
    };
    let recorded = system.record_loop(law, stop::flag())?;
    let found = Found::new(project, recorded, windows)?;
    if output.json {
        print_json(&found.to_json())?
    } else {
        found.tell()?
    }
    if let Some(file) = &args.report {
        let Found { recorded, exponents, .. } = &found;
        let page = BohlPage { system: &system, recorded, exponents, command: &command() };
        write_page(file, &page.page())?;
        output.remark(&file.display().to_string());
    }
    Ok(supervision::exit_code(0))
}

/// The windows that were asked for.
fn windows(texts: &[String]) -> Result<Vec<usize>> {
    let window = |text: &String| match text.trim().parse() {
        Ok(0) | Err(_) => Err(Error::new(Code::CommandLine, format!("`{text}` is not a number of steps"))
            .hint("write `--windows 10,100`")),
        Ok(window) => Ok(window),
    };
    texts.iter().map(window).collect()
}

/// What came out.
struct Found<'a> {
    project: &'a Project,
    recorded: RecordedLoop,
    exponents: Vec<BohlExponent>,
}

impl<'a> Found<'a> {
    fn new(project: &'a Project, recorded: RecordedLoop, asked: Vec<usize>) -> Result<Self> {
        let steps = recorded.steps.len();
        if let Some(window) = asked.iter().find(|window| **window > steps) {
            let message =
                format!("a window of {window} steps does not fit: models are available for {steps} steps");
            return Err(Error::new(Code::BadValue, message).hint(
                "a smaller window, a later end (`--t-end`) or a shorter learning phase (`learning=STEPS`)",
            ));
        }
        let windows = if asked.is_empty() { usual_windows(steps) } else { asked };
        let exponent = |window: &usize| {
            stop::check()?;
            bohl_exponent(&recorded.steps, *window).ok_or_else(|| {
                Error::new(Code::NotFinite, format!("the products over {window} steps are not finite"))
            })
        };
        let exponents = windows.iter().map(exponent).collect::<Result<_>>()?;
        Ok(Self { project, recorded, exponents })
    }

    /// The least window that was asked for over which everything decays.
    fn decays(&self) -> Option<usize> {
        self.exponents.iter().filter(|found| found.beta < 1.0).map(|found| found.window).min()
    }

    fn time(&self, step: usize) -> f64 {
        self.project.model.experiment.time(self.recorded.first + step as u64)
    }

    fn to_json(&self) -> Value {
        let step = self.project.model.experiment.step;
        let of = |found: &BohlExponent| {
            json!({
                "window": found.window,
                "beta": found.beta,
                "rate": found.rate(step),
                "worst_start": self.time(found.worst),
            })
        };
        let [full, modified, signal] = self.recorded.phases;
        let mut object = head(self.project, None);
        object.insert("method".into(), json!(self.project.groups[0].method.label()));
        object.insert("step".into(), json!(step));
        object.insert("from".into(), json!(self.time(0)));
        object.insert("steps".into(), json!(self.recorded.steps.len()));
        object.insert("states".into(), json!(self.recorded.units.len()));
        object.insert("plant".into(), json!(self.recorded.plant.text()));
        object.insert("phases".into(), json!({ "full": full, "modified": modified, "signal": signal }));
        object.insert("bohl".into(), self.exponents.iter().map(of).collect());
        object.insert("decays_within".into(), json!(self.decays()));
        Value::Object(object)
    }

    fn tell(&self) -> Result<()> {
        let step = self.project.model.experiment.step;
        say!(
            "{}: {} at {}, {} macro steps from {} s on, {} states, subsystems as {}\n",
            self.project.name,
            self.project.groups[0].method.label(),
            format_time(step),
            self.recorded.steps.len(),
            short(self.time(0)),
            self.recorded.units.len(),
            self.recorded.plant.text()
        )?;
        let row = |found: &BohlExponent| {
            vec![
                Cell::new(found.window.to_string()),
                Cell::styled(format!("{:.4}", found.beta), if found.beta < 1.0 { GOOD } else { BAD }),
                Cell::new(format!("{:+.3e} 1/s", found.rate(step))),
                Cell::styled(format!("{} s", short(self.time(found.worst))), FAINT),
            ]
        };
        let rows: Vec<_> = self.exponents.iter().map(row).collect();
        say!("{}", render(&["window p", "beta(p)", "ln(beta)/h", "worst from"], &rows))?;
        match self.decays() {
            Some(window) => say!(
                "{}  beta({window}) < 1: {}",
                paint(GOOD, "DECAYS"),
                meaning(self.recorded.plant, window)
            ),
            None => say!(
                "{}  beta(p) is not below 1 for any of these windows: longer ones may show more",
                paint(BAD, "NOT SHOWN")
            ),
        }
    }
}

/// What decay of the linear maps says, and what not.
fn meaning(plant: Plant, window: usize) -> String {
    match plant {
        Plant::Local => format!(
            "every small perturbation of this run is smaller {window} steps later, by the subsystems linearised at every step"
        ),
        Plant::Identified => format!(
            "in the identified models every perturbation is smaller {window} steps later.\nThey stand in for \
             subsystems without local models: identification errors, and dynamics not visible in outputs, \
             are not judged"
        ),
    }
}

/// A time with four digits.
fn short(time: f64) -> String {
    let rounded: f64 = format!("{time:.3e}").parse().unwrap_or(time);
    rounded.to_string()
}

/// 10, 20, 50, 100 ... as long as they fit; the whole run if that is shorter.
fn usual_windows(steps: usize) -> Vec<usize> {
    let decades = std::iter::successors(Some(10usize), |decade| decade.checked_mul(10));
    let windows: Vec<_> = decades
        .take_while(|decade| *decade <= steps)
        .flat_map(|decade| [decade, 2 * decade, 5 * decade])
        .collect();
    let fitting: Vec<_> = windows.into_iter().filter(|window| *window <= steps).collect();
    if fitting.is_empty() { vec![steps] } else { fitting }
}
