//! `costep inspect`: a card of an FMU, without running any of it.

use std::process::ExitCode;

use costep_core::quantity::format_time;
use costep_fmi::required_functions;
use costep_fmu_file::{Causality, CoSimulation, Finding, Fmu, Interface, ModelDescription, Severity};
use costep_import::Format;
use serde_json::{Value, json};

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::phrases::count;
use crate::style::{BAD, GOOD, Output, STRONG, WARN, paint, print_json, say};
use crate::verbs::{inspect_project, inspect_ssp};

pub(crate) fn run(args: &InspectArgs, output: Output) -> Result<ExitCode, Failure> {
    if let Some(format) = Format::of(&args.file) {
        return inspect_ssp::run(&args.file, format, args.allow_outside, output);
    }
    if inspect_project::is_meant(&args.file) {
        return inspect_project::run(&args.file, output);
    }
    let mut fmu = Fmu::open(&args.file)?;
    let mut findings = fmu.validate();
    findings.extend(fmu.validate_libraries(required_functions)?);
    if output.json {
        print_json(&to_json(&fmu, &findings))?;
    } else {
        card(&fmu)?;
        list(&findings)?;
    }
    let has_errors = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if has_errors { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What the FMU offers, as (words, yes or no).
fn abilities(description: &ModelDescription) -> Vec<(&'static str, bool)> {
    let kind: Option<&Interface> = description.interfaces().next();
    let has = |flag: fn(&Interface) -> bool| kind.is_some_and(flag);
    let steps = |flag: fn(&CoSimulation) -> bool| description.co_simulation.as_ref().is_some_and(flag);
    vec![
        ("variable step", steps(|cs| cs.can_handle_variable_communication_step_size)),
        ("rollback", has(|kind| kind.can_get_and_set_state)),
        ("input derivatives", steps(|cs| cs.can_interpolate_inputs)),
        ("intermediate update", steps(|cs| cs.provides_intermediate_update)),
        ("directional derivatives", has(|kind| kind.provides_directional_derivatives)),
        ("adjoint derivatives", has(|kind| kind.provides_adjoint_derivatives)),
        ("output derivatives", steps(|cs| cs.max_output_derivative_order > 0)),
        ("event mode", steps(|cs| cs.has_event_mode)),
        ("only one instance per process", has(|kind| kind.can_be_instantiated_only_once_per_process)),
    ]
}

fn kinds(description: &ModelDescription) -> Vec<&'static str> {
    [
        ("co-simulation", description.co_simulation.is_some()),
        ("model exchange", description.model_exchange.is_some()),
        ("scheduled execution", description.scheduled_execution.is_some()),
    ]
    .into_iter()
    .filter_map(|(kind, offered)| offered.then_some(kind))
    .collect()
}

/// Signals that are shown; `--json` lists all.
const SHOWN: usize = 20;

fn card(fmu: &Fmu) -> Result<(), Failure> {
    let description = fmu.description();
    let tool = description.origin.generation_tool.as_deref().unwrap_or("an unknown tool");
    let platforms: Vec<_> = fmu.platforms().into_iter().map(|platform| platform.folder).collect();
    say!(
        "{}    FMI {} {}   \"{}\" by {tool}   platforms: {}",
        paint(STRONG, fmu.path().display()),
        description.fmi_version_text,
        kinds(description).join(" and "),
        description.model_name,
        if platforms.is_empty() { "none".into() } else { platforms.join(" ") },
    )?;
    let abilities = abilities(description);
    let words: Vec<_> =
        abilities.iter().map(|(what, yes)| format!("{what} {}", if *yes { "yes" } else { "no" })).collect();
    say!("can      {}", words.join(" | "))?;
    let experiment = &description.default_experiment;
    let time = |value: Option<f64>| value.map_or_else(|| "-".into(), format_time);
    say!(
        "default  {} to {}, step {}, tolerance {}",
        time(experiment.start_time.or(Some(0.0))),
        time(experiment.stop_time),
        time(experiment.step_size),
        experiment.tolerance.map_or_else(|| "-".into(), |tolerance| format!("{tolerance:e}")),
    )?;
    say!("states   {}", description.number_of_states())?;
    for (title, causality) in
        [("inputs", Causality::Input), ("outputs", Causality::Output), ("set", Causality::Parameter)]
    {
        let signals = || description.with_causality(causality);
        let names: Vec<_> = signals().take(SHOWN).map(|i| signal(description, i)).collect();
        say!("{title:<8} {}", shortened(&names, signals().count()))?;
    }
    Ok(())
}

/// A variable with its unit and, for outputs, the inputs with direct feedthrough to it.
fn signal(description: &ModelDescription, index: usize) -> String {
    let variable = &description.variables()[index];
    let unit = variable.attributes.unit.as_deref().filter(|unit| !unit.is_empty());
    let mut text = match unit {
        Some(unit) => format!("{} [{unit}]", variable.name),
        None => variable.name.clone(),
    };
    if variable.causality == Causality::Output {
        let inputs: Vec<_> = description.with_causality(Causality::Input).collect();
        let direct = &description.feedthrough(&inputs, &[index])[0];
        let name = |j: &usize| description.variables()[inputs[*j]].name.as_str();
        let names: Vec<_> = direct.iter().take(SHOWN).map(name).collect();
        let more = match direct.len() - names.len() {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        if !names.is_empty() {
            text += &format!(" (direct: {}{more})", names.join(", "));
        }
    }
    text
}

/// The first names of so many.
fn shortened(names: &[String], all: usize) -> String {
    let (shown, rest) = (names.join("   "), all - names.len());
    match (names.is_empty(), rest) {
        (true, _) => "none".into(),
        (_, 0) => shown,
        _ => format!("{shown}   and {rest} more (--json lists all)"),
    }
}

fn list(findings: &[Finding]) -> Result<(), Failure> {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    for finding in findings {
        let style = if finding.severity == Severity::Error { BAD } else { WARN };
        say!("  {}", paint(style, finding))?;
    }
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let verdict = if errors == 0 { paint(GOOD, "valid") } else { paint(BAD, "not valid") };
    say!("checks   {verdict}, {}, {}", count(errors, "error"), count(warnings, "warning"))?;
    Ok(())
}

fn to_json(fmu: &Fmu, findings: &[Finding]) -> Value {
    let description = fmu.description();
    let variables = |causality: Causality| -> Vec<Value> {
        let describe = |i: usize| {
            let variable = &description.variables()[i];
            json!({
                "name": variable.name,
                "value_reference": variable.value_reference,
                "type": format!("{:?}", variable.kind),
                "unit": variable.attributes.unit.as_deref(),
            })
        };
        description.with_causality(causality).map(describe).collect()
    };
    let abilities: serde_json::Map<_, _> =
        abilities(description).into_iter().map(|(what, yes)| (what.replace(' ', "_"), json!(yes))).collect();
    let findings: Vec<_> = findings
        .iter()
        .map(|finding| {
            json!({
                "severity": format!("{:?}", finding.severity).to_lowercase(),
                "code": finding.code.entry().id,
                "message": finding.message,
                "line": finding.line,
            })
        })
        .collect();
    json!({
        "file": fmu.path().display().to_string(),
        "fmi_version": description.fmi_version_text,
        "model_name": description.model_name,
        "kinds": kinds(description),
        "platforms": fmu.platforms().into_iter().map(|platform| platform.folder).collect::<Vec<_>>(),
        "abilities": abilities,
        "states": description.number_of_states(),
        "inputs": variables(Causality::Input),
        "outputs": variables(Causality::Output),
        "parameters": variables(Causality::Parameter),
        "findings": findings,
    })
}
