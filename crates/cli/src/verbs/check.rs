//! `costep check`: everything that is wrong with a system, or probably not meant.

use std::process::ExitCode;

use costep_analysis::{ProbeReport, probe};
use costep_core::{Code, Error, Layout};
use costep_methods::{MethodSpec, monolithic};
use costep_project::{Project, Source};
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::failure::{Failure, to_json};
use crate::style::{BAD, GOOD, Output, STRONG, WARN, paint, print_error, print_json, say};
use crate::supervision;
use crate::table::{number, wall};
use crate::words::count;

pub(crate) fn run(args: &CheckArgs, output: Output) -> Result<ExitCode, Failure> {
    let source = Source::find(&args.system.system)?;
    let overrides = args.system.overrides()?;
    let (project, errors, warnings) = match costep_project::examine(&source, &overrides) {
        Ok(mut project) => {
            let mut warnings = std::mem::take(&mut project.warnings);
            warnings.append(&mut project.advice);
            let errors = impossible_methods(&project);
            (Some(project).filter(|_| errors.is_empty()), errors, warnings)
        }
        Err(refusal) => (None, refusal.errors, refusal.warnings),
    };
    if let Some(project) = project.as_ref().filter(|_| args.probe)
        && let Some(code) = supervision::elsewhere(project, None, None, output)?
    {
        return Ok(code);
    }
    let probes = match &project {
        Some(project) if args.probe => probe_all(project),
        _ => Vec::new(),
    };
    let bad_probes = probes.iter().filter(|probe| !probe.is_good()).count();
    if output.json {
        let list = |errors: &[Error]| errors.iter().map(to_json).collect::<Vec<_>>();
        let probes: Vec<_> = probes.iter().map(Card::to_json).collect();
        let object = json!({
            "ok": errors.is_empty() && bad_probes == 0,
            "errors": list(&errors),
            "warnings": list(&warnings),
            "probes": args.probe.then_some(probes),
        });
        print_json(&object)?;
    } else {
        errors.iter().chain(&warnings).for_each(print_error);
        for card in &probes {
            card.print()?;
        }
        summary(project.as_ref(), &errors, &warnings, bad_probes)?;
    }
    let first = errors.first().map(|error| error.code().entry().exit.code());
    let strict = (args.strict && !warnings.is_empty()).then_some(1);
    let failed = (bad_probes > 0).then_some(costep_core::ExitClass::Model.code());
    Ok(supervision::exit_code(first.or(failed).or(strict).unwrap_or(0)))
}

/// Methods of the project that work only with what costep integrates, where there is something else. Not an error of the
/// project itself: a run may name another method.
fn impossible_methods(project: &Project) -> Vec<Error> {
    let foreign = project.model.parts.iter().find(|part| !part.can_be_component());
    let Some(foreign) = foreign else { return Vec::new() };
    let name = &foreign.description().name;
    let needs_all =
        |method: &&MethodSpec| monolithic::is_monolithic(method) || method.build().needs().environments;
    let refuse = |method: &MethodSpec| {
        let message = format!(
            "`{}` is not possible with `{name}`, which costep does not integrate itself",
            method.entry.id
        );
        let error = Error::new(Code::NeedsMissing, message)
            .because(
                "it is for native models and FMUs for Model Exchange that are not in a process of their own",
            )
            .hint(
                "write `interface = \"me\"` for FMUs that offer it, or choose `predictive` or `identified`",
            );
        match &project.source {
            Source::File(path) => error.in_file(path),
            Source::Builtin(_) => error,
        }
    };
    project.groups.iter().map(|group| &group.method).filter(needs_all).map(refuse).collect()
}

fn summary(
    project: Option<&Project>,
    errors: &[Error],
    warnings: &[Error],
    bad_probes: usize,
) -> Result<(), Error> {
    let found = format!("{}, {}", count(errors.len(), "error"), count(warnings.len(), "warning"));
    match project {
        Some(_) if bad_probes > 0 => {
            say!("{}   {}, {found}", paint(BAD, "failed"), count(bad_probes, "part"))
        }
        Some(project) => say!(
            "{}   {}, {}, {found}",
            paint(GOOD, "ok"),
            count(project.model.parts.len(), "part"),
            count(project.model.connections.len(), "connection"),
        ),
        None => say!("{found}"),
    }
}

/// What was found out about one part by calling it.
struct Card {
    name: String,
    report: Result<ProbeReport, Error>,
}

impl Card {
    /// Nothing contradicts what the part says about itself.
    fn is_good(&self) -> bool {
        self.report.as_ref().is_ok_and(|report| {
            report.repeatable != Some(false)
                && report.taken_back != Some(false)
                && !report.derivatives_differ()
        })
    }

    fn to_json(&self) -> Value {
        match &self.report {
            Err(error) => json!({ "part": self.name, "error": to_json(error) }),
            Ok(report) => json!({
                "part": self.name,
                "error": null,
                "repeatable": report.repeatable,
                "taken_back": report.taken_back,
                "step_s": report.step_s,
                "derivative_error": report.derivative_error,
                "only_one_instance": report.only_one_instance,
            }),
        }
    }

    fn print(&self) -> Result<(), Error> {
        let name = paint(STRONG, &self.name);
        let report = match &self.report {
            Ok(report) => report,
            Err(error) => {
                say!("{name}   {}", paint(BAD, "failed"))?;
                print_error(error);
                return Ok(());
            }
        };
        let word = |verdict: Option<bool>, no: &str| match verdict {
            Some(true) => paint(GOOD, "yes"),
            Some(false) => paint(BAD, "NO"),
            None => paint(WARN, no),
        };
        let derivatives = match report.derivative_error {
            None => "not offered".into(),
            Some(error) if report.derivatives_differ() => {
                paint(BAD, format!("DIFFER by {} from a step", number(Some(error))))
            }
            Some(error) => paint(GOOD, format!("agree with a step up to {}", number(Some(error)))),
        };
        say!(
            "{name}   step {}   repeatable {}   can be taken back {}   derivatives {derivatives}",
            wall(report.step_s),
            word(report.repeatable, "unknown: only one instance is allowed"),
            word(report.taken_back, "not offered"),
        )
    }
}

/// Calls every part on its own, with its inputs at their initial values.
fn probe_all(project: &Project) -> Vec<Card> {
    let inputs = initial_inputs(project);
    let layout: Layout = project.model.layout();
    let (solver, experiment) = (&project.model.solver, &project.model.experiment);
    let report = |i: usize| {
        let u = inputs.as_ref().map_err(Clone::clone)?;
        probe(&*project.model.parts[i], solver, experiment, &u[layout.input_range(i)])
    };
    let name = |i: usize| project.model.parts[i].description().name.clone();
    (0..project.model.parts.len()).map(|i| Card { name: name(i), report: report(i) }).collect()
}

/// The consistent initial inputs of the coupled system.
fn initial_inputs(project: &Project) -> Result<Vec<f64>, Error> {
    let engine = crate::session::engine(project, &crate::session::Choice::of(project), false)?;
    Ok(engine.coupled().to_vec())
}
