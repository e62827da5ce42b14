//! `costep export-fmu`: the parts of a model as FMUs.

use std::process::ExitCode;

use costep_core::{Code, Error, Result};
use costep_fmu_export::{Capability, Exported, Options, export};
use costep_fmu_file::FmiVersion;
use serde_json::json;

use crate::args::ExportFmuArgs;
use crate::failure::Failure;
use crate::style::{Output, print, print_json};
use crate::table::{Cell, render};

pub(crate) fn run(args: &ExportFmuArgs, output: Output) -> Result<ExitCode, Failure> {
    let written =
        export(&args.model, &parameters(&args.set)?, args.part.as_deref(), &options(args)?, &args.out)?;
    if output.json {
        let fmu = |fmu: &Exported| {
            json!({
                "part": fmu.part,
                "file": fmu.path.display().to_string(),
                "variables": fmu.variables,
                "driven": fmu.driven,
            })
        };
        print_json(&json!({
            "model": args.model,
            "fmi": args.fmi,
            "fmus": written.iter().map(fmu).collect::<Vec<_>>(),
        }))?;
    } else if !output.quiet {
        let row = |fmu: &Exported| {
            let file = fmu.path.display().to_string();
            vec![Cell::new(&fmu.part), Cell::new(file), Cell::new(fmu.variables.to_string())]
        };
        print(&render(&["part", "file", "variables"], &written.iter().map(row).collect::<Vec<_>>()))?;
    }
    for fmu in written.iter().filter(|fmu| !fmu.driven.is_empty()) {
        let names: Vec<_> = fmu.driven.iter().map(|name| format!("`{name}`")).collect();
        output.remark(&format!(
            "{} drives {} of `{}` by external inputs that are not part of the FMU: add them where you couple it, as `[[external]]`",
            args.model,
            names.join(", "),
            fmu.part
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn options(args: &ExportFmuArgs) -> Result<Options> {
    let version = match args.fmi.as_str() {
        "2" | "2.0" => FmiVersion::V2,
        "3" | "3.0" => FmiVersion::V3,
        other => return Err(Error::new(Code::CommandLine, format!("there is no FMI {other}")).hint("2 or 3")),
    };
    let kind = if args.black_box { "cs" } else { args.kind.as_str() };
    let (co_simulation, model_exchange) = match kind {
        "cs" => (true, false),
        "me" => (false, true),
        "both" => (true, true),
        other => {
            let error = Error::new(Code::CommandLine, format!("unknown kind of FMU `{other}`"));
            return Err(error.hint("cs (Co-Simulation), me (Model Exchange) or both"));
        }
    };
    let names = || Capability::ALL.map(Capability::name);
    for name in &args.without {
        if !names().contains(&name.as_str()) {
            let error = Error::new(Code::UnknownName, format!("unknown capability `{name}`"));
            return Err(error.suggest(name, names()));
        }
    }
    let none = args.bare || args.black_box;
    let left_out = |capability: Capability| none || args.without.iter().any(|n| n == capability.name());
    let capabilities = Capability::ALL.into_iter().filter(|capability| !left_out(*capability)).collect();
    Ok(Options { version, co_simulation, model_exchange, capabilities })
}

fn parameters(set: &[String]) -> Result<Vec<(String, f64)>> {
    let parameter = |text: &String| {
        let read = text.split_once('=').and_then(|(name, value)| {
            Some((
                name.trim().to_owned(),
                value.trim().parse::<f64>().ok().filter(|value| value.is_finite())?,
            ))
        });
        read.ok_or_else(|| {
            Error::new(Code::CommandLine, format!("`--set {text}` is not a name and a number"))
                .hint("write `--set ck=2e5`")
        })
    };
    set.iter().map(parameter).collect()
}
