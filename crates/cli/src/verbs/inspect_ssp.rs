//! A card of a system structure: its components and connections, and everything that is wrong or not used.

use std::path::Path;
use std::process::ExitCode;

use costep_core::quantity::format_time;
use costep_core::{Code, Error};
use costep_fmu_file::PrivateFolder;
use costep_import::Format;
use costep_project::ssp::reach;
use costep_ssp::{Flat, Note, Severity, Value};
use serde_json::json;

use crate::failure::Failure;
use crate::phrases::count;
use crate::style::{BAD, GOOD, Output, STRONG, WARN, paint, print_json, say};

pub(crate) fn run(path: &Path, format: Format, outside: bool, output: Output) -> Result<ExitCode, Failure> {
    let folder = PrivateFolder::new().map_err(|cause| {
        Error::new(Code::FileNotReadable, "cannot create a temporary folder").because(cause)
    })?;
    let flat = costep_import::open(path, format, folder.path(), reach(path, outside))?;
    if output.json {
        print_json(&to_json(path, &flat))?;
    } else {
        card(path, &flat)?;
        list(&flat.notes)?;
    }
    Ok(exit_code(&flat.notes))
}

/// Not 0 if the system cannot be run as intended.
pub(crate) fn exit_code(notes: &[Note]) -> ExitCode {
    let wrong = notes.iter().any(|note| note.severity == Severity::Error);
    if wrong { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

fn card(path: &Path, flat: &Flat) -> Result<(), Failure> {
    let time = |time: Option<f64>| time.map_or_else(|| "-".into(), format_time);
    let format = format!("{} {}", flat.format, flat.version);
    say!("{}    {}   \"{}\"", paint(STRONG, path.display()), format.trim_end(), flat.name)?;
    say!("default  {} to {}", time(flat.start), time(flat.stop))?;
    for component in &flat.components {
        let file = component.file.file_name().unwrap_or_default().to_string_lossy();
        let set: Vec<_> = component
            .set
            .iter()
            .take(SHOWN)
            .map(|set| format!("{} = {}", set.name, shown(&set.value)))
            .collect();
        let more = component.set.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        say!("part     {} ({file})   {}{more}", component.name, set.join(", "))?;
    }
    for link in flat.links.iter().take(10 * SHOWN) {
        let name =
            |(component, port): &(usize, String)| format!("{}.{port}", flat.components[*component].name);
        let map = match (link.factor, link.offset) {
            (1.0, 0.0) => String::new(),
            (factor, 0.0) => format!("   * {factor}"),
            (factor, offset) => format!("   * {factor} + {offset}"),
        };
        say!("connect  {} -> {}{map}", name(&link.from), name(&link.to))?;
    }
    for signal in &flat.signals {
        let (part, file) = (&flat.components[signal.to.0].name, signal.file.file_name().unwrap_or_default());
        say!("external {} of {} -> {part}.{}", signal.column, file.to_string_lossy(), signal.to.1)?;
    }
    for (key, value) in &flat.settings {
        say!("setting  {key} = {value}")?;
    }
    Ok(())
}

/// Most values of a component in one line.
const SHOWN: usize = 10;

fn shown(value: &Value) -> String {
    let list = |items: Vec<String>| {
        if items.len() == 1 { items.concat() } else { format!("[{}]", items.join(", ")) }
    };
    match value {
        Value::Real(values) => list(values.iter().map(f64::to_string).collect()),
        Value::Integer(values) => list(values.iter().map(i64::to_string).collect()),
        Value::Boolean(values) => list(values.iter().map(bool::to_string).collect()),
        Value::Text(values) => list(values.clone()),
    }
}

/// All notes, and how many of each kind.
pub(crate) fn list(notes: &[Note]) -> Result<(), Failure> {
    for note in notes {
        let text = match note.severity {
            Severity::Error => paint(BAD, note),
            Severity::Warning => paint(WARN, note),
            Severity::Remark => note.to_string(),
        };
        say!("  {text}")?;
    }
    let of = |severity| notes.iter().filter(|note| note.severity == severity).count();
    let errors = of(Severity::Error);
    let verdict =
        if errors == 0 { paint(GOOD, "can be run") } else { paint(BAD, "cannot be run as intended") };
    let (warnings, remarks) = (of(Severity::Warning), of(Severity::Remark));
    let (errors, warnings) = (count(errors, "error"), count(warnings, "warning"));
    say!("checks   {verdict}, {errors}, {warnings}, {}", count(remarks, "remark"))?;
    Ok(())
}

/// Notes as JSON.
pub(crate) fn notes_to_json(notes: &[Note]) -> serde_json::Value {
    let one = |note: &Note| {
        json!({
            "severity": note.severity.to_string(),
            "code": note.shown_code().entry().id,
            "message": note.message,
            "element": note.element,
            "file": &*note.file,
            "line": note.line,
        })
    };
    notes.iter().map(one).collect()
}

fn to_json(path: &Path, flat: &Flat) -> serde_json::Value {
    let name = |(component, port): &(usize, String)| format!("{}.{port}", flat.components[*component].name);
    let parts: Vec<_> = flat
        .components
        .iter()
        .map(|component| {
            let set: serde_json::Map<_, _> =
                component.set.iter().map(|set| (set.name.clone(), json!(shown(&set.value)))).collect();
            let file = component.file.file_name().unwrap_or_default().to_string_lossy();
            json!({ "name": component.name, "file": file, "set": set })
        })
        .collect();
    let links: Vec<_> = flat
        .links
        .iter()
        .map(|link| {
            json!({ "from": name(&link.from), "to": name(&link.to), "factor": link.factor, "offset": link.offset })
        })
        .collect();
    let signals: Vec<_> = flat
        .signals
        .iter()
        .map(|signal| json!({ "file": signal.file.display().to_string(), "column": signal.column, "to": name(&signal.to) }))
        .collect();
    json!({
        "file": path.display().to_string(),
        "format": flat.format,
        "ssp_version": flat.version,
        "name": flat.name,
        "start": flat.start,
        "stop": flat.stop,
        "components": parts,
        "connections": links,
        "externals": signals,
        "notes": notes_to_json(&flat.notes),
    })
}
