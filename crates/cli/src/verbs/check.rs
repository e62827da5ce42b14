//! `costep check`: everything that is wrong with a system, or probably not meant.

use std::process::ExitCode;

use costep::{Error, PartProbe, Project, Registry, Source, System};
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::failure::{Failure, to_json};
use crate::phrases::count;
use crate::style::{BAD, GOOD, Output, STRONG, WARN, paint, print_error, print_json, say};
use crate::supervision;
use crate::table::{number, wall};

pub(crate) fn run(args: &CheckArgs, output: Output) -> Result<ExitCode, Failure> {
    let source = Source::find(&args.system.system)?;
    let overrides = args.system.overrides()?;
    let registry = Registry::standard();
    let (system, errors, warnings) = match registry.examine(&source, &overrides) {
        Ok(mut project) => {
            let mut warnings = std::mem::take(&mut project.warnings);
            warnings.append(&mut project.advice);
            let system = System::new(project, registry);
            let errors = system.impossible_methods();
            (Some(system).filter(|_| errors.is_empty()), errors, warnings)
        }
        Err(refusal) => (None, refusal.errors, refusal.warnings),
    };
    let project = system.as_ref().map(System::project);
    if let Some(project) = project.filter(|_| args.probe)
        && let Some(code) = supervision::elsewhere(project, None, None, output)?
    {
        return Ok(code);
    }
    let probes = match &system {
        Some(system) if args.probe => system.probe().into_iter().map(Card).collect(),
        _ => Vec::new(),
    };
    let bad_probes = probes.iter().filter(|Card(probe)| !probe.is_good()).count();
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
        summary(project, &errors, &warnings, bad_probes)?;
    }
    let first = errors.first().map(|error| error.code().entry().exit.code());
    let strict = (args.strict && !warnings.is_empty()).then_some(1);
    let failed = (bad_probes > 0).then_some(costep_core::ExitClass::Model.code());
    Ok(supervision::exit_code(first.or(failed).or(strict).unwrap_or(0)))
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
struct Card(PartProbe);

impl Card {
    fn to_json(&self) -> Value {
        match &self.0.report {
            Err(error) => json!({ "part": self.0.name, "error": to_json(error) }),
            Ok(report) => json!({
                "part": self.0.name,
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
        let name = paint(STRONG, &self.0.name);
        let report = match &self.0.report {
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
            "{name}   step {}   repeatable {}   rollback {}   derivatives {derivatives}",
            wall(report.step_s),
            word(report.repeatable, "unknown: only one instance is allowed"),
            word(report.taken_back, "not offered"),
        )
    }
}
