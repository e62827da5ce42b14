//! `costep inspect`: a card of an FMU, without running any of it.

use std::path::Path;
use std::process::ExitCode;

use costep::{PROJECT_COPY, RECORDING};
use costep_core::quantity::format_time;
use costep_fmi::required_functions;
use costep_fmu_file::settings::allowed;
use costep_fmu_file::{
    Causality, CoSimulation, Finding, Fmu, Interface, ModelDescription, Number, Severity, Values, Variable,
    short,
};
use costep_import::{Format, system_in};
use serde_json::{Value, json};

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::phrases::count;
use crate::style::{BAD, GOOD, Output, STRONG, WARN, paint, print, print_json, say};
use crate::table::{Cell, render};
use crate::verbs::new::PROJECT;
use crate::verbs::{inspect_project, inspect_ssp};

pub(crate) fn run(args: &InspectArgs, output: Output) -> Result<ExitCode, Failure> {
    if let Some(format) = Format::of(&args.file) {
        return inspect_ssp::run(&args.file, format, args.allow_outside, output);
    }
    let is_bare =
        |folder: &Path| [PROJECT, PROJECT_COPY, RECORDING].iter().all(|name| !folder.join(name).is_file());
    if args.file.is_dir()
        && is_bare(&args.file)
        && let Some(file) = system_in(&args.file)?
        && let Some(format) = Format::of(&file)
    {
        return inspect_ssp::run(&file, format, args.allow_outside, output);
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
        card(&fmu, args.all)?;
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

/// Signals that are shown; `--all` and `--json` list all.
const SHOWN: usize = 20;

fn card(fmu: &Fmu, all: bool) -> Result<(), Failure> {
    let description = fmu.description();
    let tool = description.origin.generation_tool.as_deref().unwrap_or("an unknown tool");
    let platforms: Vec<_> = fmu.platforms().into_iter().map(|platform| platform.folder).collect();
    say!(
        "{}    FMI {} {}   \"{}\" by {}   platforms: {}",
        paint(STRONG, fmu.path().display()),
        description.fmi_version_text,
        kinds(description).join(" and "),
        description.model_name,
        tool.strip_prefix("by ").unwrap_or(tool),
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
    let total = description.variables().len();
    let hidden = INNER.iter().map(|role| description.with_causality(*role).count()).sum::<usize>();
    let option = if hidden > 0 && !all { " (--all lists them)" } else { "" };
    let kinds = Some(by_causality(description)).filter(|kinds| !kinds.is_empty());
    let kinds = kinds.map_or_else(String::new, |kinds| format!(": {kinds}"));
    say!("has      {}{kinds}{option}", count(total, "variable"))?;
    let inner = all.then_some(("inner", &INNER[..]));
    for (title, roles) in LISTED.into_iter().chain(inner) {
        let variables: Vec<usize> = roles.iter().flat_map(|role| description.with_causality(*role)).collect();
        if variables.is_empty() {
            say!("{title:<8} none")?;
            continue;
        }
        say!("{title}")?;
        let most = if all { usize::MAX } else { SHOWN };
        let rows: Vec<_> = variables.iter().take(most).map(|i| row(description, *i)).collect();
        print(&render(&["name", "type", "unit", "start", "range", "meaning"], &rows))?;
        if let rest @ 1.. = variables.len() - rows.len() {
            say!("  and {rest} more (--all lists them)")?;
        }
    }
    Ok(())
}

/// What is listed, under which title.
const LISTED: [(&str, &[Causality]); 3] = [
    ("inputs", &[Causality::Input]),
    ("outputs", &[Causality::Output]),
    ("set", &[Causality::StructuralParameter, Causality::Parameter]),
];

/// What is listed only if all is.
const INNER: [Causality; 3] = [Causality::CalculatedParameter, Causality::Local, Causality::Independent];

/// How many variables there are of each kind.
fn by_causality(description: &ModelDescription) -> String {
    let kinds = [
        (Causality::Input, "input", "inputs"),
        (Causality::Output, "output", "outputs"),
        (Causality::StructuralParameter, "structural parameter", "structural parameters"),
        (Causality::Parameter, "parameter", "parameters"),
        (Causality::CalculatedParameter, "calculated parameter", "calculated parameters"),
        (Causality::Local, "local", "local"),
        (Causality::Independent, "independent", "independent"),
    ];
    let counted = kinds.map(|(causality, one, many)| match description.with_causality(causality).count() {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {many}")),
    });
    counted.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A variable as a line of the table. Types are those of FMI 3.0, in all versions.
fn row(description: &ModelDescription, index: usize) -> Vec<Cell> {
    let variable = &description.variables()[index];
    let attributes = &variable.attributes;
    let unit = attributes.unit.as_deref().filter(|unit| !unit.is_empty());
    let size = if variable.is_array() { format!(" x {}", variable.elements) } else { String::new() };
    let range = match (attributes.min, attributes.max) {
        (None, None) => "-".into(),
        (min, max) => allowed(min, max),
    };
    let meaning: Vec<String> = [
        items(description, variable),
        variable.description.as_deref().map(short),
        direct(description, index),
    ]
    .into_iter()
    .flatten()
    .collect();
    vec![
        Cell::new(short(&variable.name)),
        Cell::new(format!("{}{size}", variable.kind)),
        Cell::new(unit.map_or_else(|| "-".into(), short)),
        Cell::new(variable.start.as_ref().map_or_else(|| "-".into(), shown)),
        Cell::new(range),
        Cell::new(meaning.join("; ")),
    ]
}

/// Start values, of an array the first few.
fn shown(values: &Values) -> String {
    const FEW: usize = 4;
    let mut words: Vec<String> = match values {
        Values::String(words) => words.iter().take(FEW).map(|word| format!("\"{}\"", short(word))).collect(),
        Values::Boolean(words) => words.iter().take(FEW).map(bool::to_string).collect(),
        Values::Binary(_) => vec!["bytes".into()],
        numbers => (0..numbers.len().min(FEW)).filter_map(|i| numbers.number(i)).map(as_written).collect(),
    };
    if values.len() > FEW {
        words.push("...".into());
    }
    words.join(" ")
}

fn as_written(number: f64) -> String {
    Number::Float(number).to_string()
}

/// The items of an enumeration with their values.
fn items(description: &ModelDescription, variable: &Variable) -> Option<String> {
    let declared = &description.types[variable.declared_type?];
    let shown =
        declared.items.iter().take(SHOWN).map(|item| format!("{} = {}", short(&item.name), item.value));
    let more = (declared.items.len() > SHOWN).then(|| "...".to_owned());
    (!declared.items.is_empty()).then(|| shown.chain(more).collect::<Vec<_>>().join(", "))
}

/// The inputs with direct feedthrough to an output.
fn direct(description: &ModelDescription, index: usize) -> Option<String> {
    if description.variables()[index].causality != Causality::Output {
        return None;
    }
    let inputs: Vec<_> = description.with_causality(Causality::Input).collect();
    let direct = &description.feedthrough(&inputs, &[index])[0];
    let name = |j: &usize| short(&description.variables()[inputs[*j]].name);
    let names: Vec<_> = direct.iter().take(SHOWN).map(name).collect();
    let more = match direct.len() - names.len() {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    (!names.is_empty()).then(|| format!("direct: {}{more}", names.join(", ")))
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
                "start": variable.start.as_ref().map(start_to_json),
                "min": variable.attributes.min.map(|min| min.to_f64()),
                "max": variable.attributes.max.map(|max| max.to_f64()),
                "items": items_to_json(description, variable),
                "description": variable.description.as_deref(),
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
        "structural_parameters": variables(Causality::StructuralParameter),
        "calculated_parameters": variables(Causality::CalculatedParameter),
        "locals": variables(Causality::Local),
        "independent": variables(Causality::Independent),
        "findings": findings,
    })
}

/// The start value, of an array all that are written.
fn start_to_json(values: &Values) -> Value {
    let mut all: Vec<Value> = match values {
        Values::String(words) => words.iter().map(|word| json!(word)).collect(),
        Values::Boolean(words) => words.iter().map(|word| json!(word)).collect(),
        Values::Binary(bytes) => bytes.iter().map(|bytes| json!(bytes)).collect(),
        Values::Float64(_) | Values::Float32(_) => {
            (0..values.len()).map(|i| json!(values.number(i))).collect()
        }
        whole => (0..whole.len()).map(|i| json!(whole.number(i).map(|number| number as i64))).collect(),
    };
    if all.len() == 1 { all.remove(0) } else { json!(all) }
}

/// Names and values of the items of an enumeration; nothing of other types.
fn items_to_json(description: &ModelDescription, variable: &Variable) -> Value {
    let declared = variable.declared_type.map(|at| &description.types[at]);
    match declared.filter(|declared| !declared.items.is_empty()) {
        None => Value::Null,
        Some(declared) => declared.items.iter().map(|item| (item.name.clone(), json!(item.value))).collect(),
    }
}
