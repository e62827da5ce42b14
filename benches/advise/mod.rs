//! What `costep advise` chooses beside the best of a full grid of methods and steps.

use std::path::Path;
use std::time::Duration;

use costep::{Advice, Advising, Comparison, Errors, MacroSteps, RunReport, System, Trial, Verdict};
use costep_core::quantity::format_time;

use crate::cpu_time;

/// Errors that are asked for.
pub const ERRORS: [f64; 2] = [1e-2, 1e-3];

/// Wall time per advice: so much that a busy machine comes to the end of the search too.
const TIME: Duration = Duration::from_secs(600);

/// Steps per decade of the grid, and its shortest step relative to one that costs as much as the choice.
const PER_DECADE: f64 = 10.0;
const BEYOND: f64 = 1.3;

/// The longest step of a grid has so many macro steps: fewer have no verdict.
const FEWEST: f64 = 10.0;

/// Systems of other tools, below the folder of such files, and the stop time where it is not their own. Only such whose FMUs return from
/// every call: nobody watches over this process. (Those of OSP's dp-ship do not; the program says so.)
pub const REAL: &[(&str, &str, Option<&str>)] = &[
    ("libcosim quarter truck", "libcosim/tests/data/fmi2/quarter_truck/OspSystemStructure.xml", Some("4s")),
    ("OSP mass, spring, damper", "osp-demo-cases/tutorial-fmus/OspSystemStructure.xml", Some("10s")),
    (
        "MasterSim predator, prey",
        "mastersim/data/tests/linux64/Lotka_Volterra_System/LV_Richardson_noiter.msim",
        None,
    ),
    (
        "MasterSim control loop",
        "mastersim/data/tests/linux64/Math_003_control_loop/Math003_GaussJacobi_1iters_fixedStep.msim",
        None,
    ),
];

/// The choice for a system, and the best of a grid.
pub struct Row {
    /// The system.
    pub name: String,
    /// The error asked for.
    pub asked: f64,
    /// What was advised.
    pub advice: Advice,
    /// CPU time of the advice in s.
    pub cpu: f64,
    /// The advised run, measured like the grid; nothing where there is none, or its steps vary.
    pub again: Option<RunReport>,
    /// The run of the grid with the fewest calls and the error asked for.
    pub best: Option<RunReport>,
    /// Runs of the grid.
    pub runs: usize,
}

impl Row {
    /// Asks for advice, and runs a grid of all methods over all steps that cost no more than it.
    pub fn new(name: &str, system: &System, asked: f64) -> Result<Self, Errors> {
        let before = cpu_time::of_this_process();
        let advice = system.advise(&Advising::new().error(asked).time(TIME))?;
        let cpu = cpu_time::of_this_process() - before;
        let again = match &advice.choice {
            Some(Trial { method, steps: MacroSteps::Equal(step), .. }) => {
                let comparison = Comparison::new().method(method.as_str()).steps(&[*step]);
                system.compare(&comparison)?.reports.pop()
            }
            _ => None,
        };
        let steps = grid(system, &advice);
        let compared = system.compare(&Comparison::new().only_possible().steps(&steps))?;
        let reaches = |report: &&RunReport| {
            report.verdict == Verdict::Stable && report.errors.eps_mono.is_some_and(|error| error <= asked)
        };
        let best = compared.reports.iter().filter(reaches).min_by_key(|report| report.work.subsystem_steps);
        let (best, runs) = (best.cloned(), compared.reports.len());
        Ok(Self { name: name.into(), asked, advice, cpu, again, best, runs })
    }

    /// Calls of the choice over those of the best of the grid.
    pub fn factor(&self) -> Option<f64> {
        let choice = self.advice.choice.as_ref()?;
        Some(choice.calls as f64 / self.best.as_ref()?.work.subsystem_steps as f64)
    }

    /// The row of a table.
    fn text(&self) -> String {
        let (choice, error, calls) = match &self.advice.choice {
            Some(choice) => {
                let own = choice.error.map_or(f64::NAN, |error| error.value);
                let again = self.again.as_ref().and_then(|report| report.errors.eps_mono).unwrap_or(own);
                let choice_text = format!("{}, {}", choice.method, choice.steps.text());
                (choice_text, format!("{again:.1e}"), choice.calls.to_string())
            }
            None => ("nothing".into(), "-".into(), "-".into()),
        };
        let best = self.best.as_ref().map_or("nothing | - | -".into(), |best| {
            let error = best.errors.eps_mono.unwrap_or(f64::NAN);
            let (step, calls) = (format_time(best.step), best.work.subsystem_steps);
            format!("{}, {step} | {error:.1e} | {calls}", best.method)
        });
        let factor = self.factor().map_or("-".into(), |factor| format!("{factor:.2}"));
        format!(
            "| {} | {:e} | {choice} | {error} | {calls} | {} | {:.2} | {best} | {} | {factor} |\n",
            self.name,
            self.asked,
            self.advice.trials.len(),
            self.cpu,
            self.runs,
        )
    }
}

/// Steps on a scale that has nothing to do with that of the search, down to what a run that costs a little more than the choice has.
fn grid(system: &System, advice: &Advice) -> Vec<f64> {
    let model = &system.project().model;
    let span = model.experiment.stop - model.experiment.start;
    let longest = span / FEWEST;
    let inner = if model.has_equations() { model.solver.inner_step() } else { None };
    let calls = advice.choice.as_ref().map_or(1e4, |choice| choice.calls as f64);
    let steps = BEYOND * calls / model.parts.len() as f64;
    let shortest = (span / steps).max(inner.unwrap_or(0.0));
    let count = (PER_DECADE * (longest / shortest).log10()).ceil().max(0.0) as i32;
    (0..=count)
        .map(|k| longest * 10f64.powf(-f64::from(k) / PER_DECADE))
        .filter(|step| *step >= shortest)
        .collect()
}

/// Head of the tables.
pub const HEAD: &str = "| system | error asked for | advised | its error | its calls | trials | CPU s | best of the grid | its error | \
                        its calls | runs | factor |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";

/// The rows of the built-in systems, one after the other.
pub fn built_in(mut take: impl FnMut(String)) {
    for asked in ERRORS {
        for model in costep_models::MODELS {
            let row = System::open(model.id).and_then(|system| Row::new(model.id, &system, asked));
            take(row.map_or_else(|errors| failed(model.id, asked, &errors), |row| row.text()));
        }
    }
}

/// The rows of systems of other tools, in the folder that has their files.
pub fn real(folder: &Path, mut take: impl FnMut(String)) {
    for asked in ERRORS {
        for (name, file, stop) in REAL {
            let opening = System::opening(folder.join(file));
            let opening = stop.iter().fold(opening, |opening, stop| opening.set("system.stop", *stop));
            // Some have a tolerance; a grid has steps of one length.
            let opening = opening.set("step.control", "fixed");
            let row = opening.open().and_then(|system| Row::new(name, &system, asked));
            take(row.map_or_else(|errors| failed(name, asked, &errors), |row| row.text()));
        }
    }
}

fn failed(name: &str, asked: f64, errors: &Errors) -> String {
    let message = errors.first().details().message.replace('|', "/");
    format!("| {name} | {asked:e} | {message} | | | | | | | | | - |\n")
}
