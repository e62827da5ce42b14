//! `costep stability`: does the coupled system forget perturbations? By the map of one macro step (`spectral.rs`) or, for
//! methods that learn during the run, by Bohl exponents.

use std::process::ExitCode;

use costep::pages::{BohlPage, check_page_file, write_page};
use costep::{BohlStudy, Code, Error, System};
use costep_analysis::{BohlExponent, Plant};
use costep_core::Result;
use costep_core::quantity::format_time;

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
    show_warnings(&project.warnings, &args.system.named(), output);
    stop::listen();
    check_place(args, law.is_some(), &project.groups[0].method.label())?;
    let Some(law) = law else {
        spectral::run(&system, args, output)?;
        return Ok(supervision::exit_code(0));
    };
    let study = system.bohl_study(law, &windows, stop::flag())?;
    let found = Found { system: &system, study };
    if output.json {
        print_json(&found.study.to_json(&system))?
    } else {
        found.tell()?
    }
    if let Some(file) = &args.report {
        let BohlStudy { recorded, exponents } = &found.study;
        let page = BohlPage { system: &system, recorded, exponents, command: &command() };
        write_page(file, &page.page())?;
        output.remark(&file.display().to_string());
    }
    Ok(supervision::exit_code(0))
}

/// Spectral radii and Bohl exponents have options of their own: one that would change nothing is refused.
fn check_place(args: &StabilityArgs, is_bohl: bool, method: &str) -> Result<()> {
    if !is_bohl {
        let Some(window) = args.windows.first() else { return Ok(()) };
        let message = format!("`--windows {window}` has no place beside `{method}`");
        return Err(Error::new(Code::CommandLine, message)
            .because("windows are of Bohl exponents; this method is judged by spectral radii, at each of `--steps`")
            .hint("leave `--windows` out, or choose a method that learns: `--method prestep --models rls`"));
    }
    let nyquist = args.nyquist.as_ref().map(|file| file.display().to_string());
    let by_models = args.by_models.then(String::new);
    let given = [
        ("--methods", args.methods.clone()),
        ("--steps", args.steps.clone()),
        ("--at", args.at.clone()),
        ("--by-models", by_models),
        ("--nyquist", nyquist),
    ];
    let Some((flag, value)) = given.into_iter().find_map(|(flag, value)| Some((flag, value?))) else {
        return Ok(());
    };
    let message = format!("`{}` has no place beside `{method}`", format!("{flag} {value}").trim_end());
    let instead = match flag {
        "--steps" => "; `--step` gives the step of the run",
        "--at" => "; exponents are of the whole run, and tell from when on it is worst",
        _ => "",
    };
    Err(Error::new(Code::CommandLine, message)
        .because("it learns during the run and is judged by Bohl exponents, others by spectral radii")
        .hint(format!("leave `{flag}` out, or choose another method by `--method zoh`{instead}")))
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
    system: &'a System,
    study: BohlStudy,
}

impl Found<'_> {
    fn tell(&self) -> Result<()> {
        let (project, recorded) = (self.system.project(), &self.study.recorded);
        let step = project.model.experiment.step;
        let time = |step: usize| short(self.study.time(self.system, step));
        say!(
            "{}: {} at {}, {} macro steps from {} s on, {} states, subsystems as {}\n",
            project.name,
            project.groups[0].method.label(),
            format_time(step),
            recorded.steps.len(),
            time(0),
            recorded.units.len(),
            recorded.plant.text()
        )?;
        let row = |found: &BohlExponent| {
            vec![
                Cell::new(found.window.to_string()),
                Cell::styled(format!("{:.4}", found.beta), if found.beta < 1.0 { GOOD } else { BAD }),
                Cell::new(format!("{:+.3e} 1/s", found.rate(step))),
                Cell::styled(format!("{} s", time(found.worst)), FAINT),
            ]
        };
        let rows: Vec<_> = self.study.exponents.iter().map(row).collect();
        say!("{}", render(&["window p", "beta(p)", "ln(beta)/h", "worst from"], &rows))?;
        match self.study.decays() {
            Some(window) => {
                say!("{}  beta({window}) < 1: {}", paint(GOOD, "DECAYS"), meaning(recorded.plant, window))
            }
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
