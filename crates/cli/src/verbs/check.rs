//! `costep check`: everything that is wrong with a system, or probably not meant.

use std::process::ExitCode;

use costep::{Error, Project, Registry, Source, System};
use serde_json::json;

use crate::args::{CheckArgs, confine_all};
use crate::failure::{Failure, to_json};
use crate::phrases::count;
use crate::style::{BAD, GOOD, Output, paint, print_error, print_json, say};
use crate::supervision;
use crate::verbs::probes::{self, Probes};

pub(crate) fn run(args: &CheckArgs, output: Output) -> Result<ExitCode, Failure> {
    let source = Source::find(&args.system.system)?;
    let mut overrides = args.system.overrides()?;
    let registry = Registry::standard();
    let mut examined = registry.examine(&source, &overrides);
    if let (true, Ok(project)) = (args.sandbox, &examined) {
        overrides.extend(confine_all(project));
        examined = registry.examine(&source, &overrides);
    }
    let (system, errors, warnings) = match examined {
        Ok(mut project) => {
            let mut warnings = std::mem::take(&mut project.warnings);
            warnings.append(&mut project.advice);
            let system = System::new(project, registry);
            warnings.extend(system.limited_methods());
            let mut errors = system.impossible_methods();
            errors.extend(system.missing_capabilities());
            errors.extend(system.project().libraries_not_found());
            (Some(system).filter(|_| errors.is_empty()), errors, warnings)
        }
        Err(refusal) => (None, refusal.errors, refusal.warnings),
    };
    if let (Some(system), Some(task)) = (&system, &args.probe_task) {
        return probes::do_task(system, task);
    }
    let probes = match &system {
        Some(system) if args.probe => probes::of(system, output)?,
        _ => Probes::default(),
    };
    let errors: Vec<Error> = errors.into_iter().chain(probes.error).collect();
    let (probes, rates, project) = (probes.cards, probes.rates, system.as_ref().map(System::project));
    let bad_probes = probes.iter().filter(|card| !card.is_good).count();
    if output.json {
        let list = |errors: &[Error]| errors.iter().map(to_json).collect::<Vec<_>>();
        let probes: Vec<_> = probes.iter().map(|card| &card.json).collect();
        let object = json!({
            "ok": errors.is_empty() && bad_probes == 0,
            "errors": list(&errors),
            "warnings": list(&warnings),
            "open_inputs": project.map(Project::open_inputs),
            "probes": args.probe.then_some(probes),
            "rates": rates,
        });
        print_json(&object)?;
    } else {
        errors.iter().for_each(print_error);
        if !output.quiet {
            warnings.iter().for_each(print_error);
        }
        for card in &probes {
            card.print()?;
        }
        probes::print_rates(&rates)?;
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
            let these = if bad_probes == 1 { "its probe" } else { "their probes" };
            say!(
                "{}   {} failed {these}; {found} in the project",
                paint(BAD, "failed"),
                count(bad_probes, "part")
            )
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
