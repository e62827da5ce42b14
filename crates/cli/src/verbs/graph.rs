//! `costep graph`: a system as a picture of blocks and wires.

use std::path::PathBuf;
use std::process::ExitCode;

use costep::{Code, Error, Project};
use costep_results::write_file;
use serde_json::json;

use crate::args::GraphArgs;
use crate::failure::Failure;
use crate::phrases::{argument, count};
use crate::style::{Output, print_json};

/// More blocks than this make no picture.
const MOST_BLOCKS: usize = 400;

pub(crate) fn run(args: &GraphArgs, output: Output) -> Result<ExitCode, Failure> {
    let system = args.system.open(Vec::new())?;
    let (project, model) = (system.project(), &system.project().model);
    if model.parts.len() > MOST_BLOCKS {
        let message = format!("{} parts make no picture", model.parts.len());
        return Err(Error::new(Code::BadValue, message).hint(format!("at most {MOST_BLOCKS}")).into());
    }
    let target = args.out.clone().unwrap_or_else(|| default_file(project));
    if target.extension().is_none_or(|ending| ending != "svg") {
        let message = format!("`{}` does not end in .svg", target.display());
        let named = target.with_extension("svg");
        return Err(Error::new(Code::CommandLine, message)
            .hint(format!("write `--out {}`", argument(&named)))
            .into());
    }
    write_file(&target, system.diagram().to_svg().as_bytes())?;
    let named = |loops: Vec<Vec<String>>| json!(loops);
    let (loops, direct) = (loops(project), direct_loops(project));
    if output.json {
        print_json(&json!({
            "file": target.display().to_string(),
            "parts": model.parts.len(),
            "connections": model.connections.len(),
            "loops": named(loops),
            "direct_loops": named(direct),
        }))?;
    } else {
        let place = if args.out.is_none() { " in the present folder (`--out` names another)" } else { "" };
        output.remark(&format!(
            "wrote {}{place}: {}, {}, {}, {} with direct feedthrough throughout",
            target.display(),
            count(model.parts.len(), "part"),
            count(model.connections.len(), "connection"),
            count(loops.len(), "loop"),
            direct.len()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn default_file(project: &Project) -> PathBuf {
    let name: String =
        project.name.chars().map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' }).collect();
    PathBuf::from(format!("{name}.svg"))
}

/// The parts of every loop, by their names.
fn loops(project: &Project) -> Vec<Vec<String>> {
    let name = |part: &usize| project.model.parts[*part].description().name.clone();
    project.model.loops().iter().map(|parts| parts.iter().map(name).collect()).collect()
}

/// The outputs of every loop with direct feedthrough throughout, by their names.
fn direct_loops(project: &Project) -> Vec<Vec<String>> {
    let layout = project.model.layout();
    let name = |output: &usize| {
        let part = layout.output_owner(*output);
        let description = project.model.parts[part].description();
        format!(
            "{}.{}",
            description.name,
            description.outputs[*output - layout.output_range(part).start].name
        )
    };
    project.model.direct_loops().iter().map(|outputs| outputs.iter().map(name).collect()).collect()
}
