//! `costep new`: a project of FMUs.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use costep_core::quantity::format_time;
use costep_core::{Code, Error};
use costep_fmu_file::{Fmu, Terminal};
use costep_import::Format;
use costep_project::{NewFmu, Project, Proposed, Source, component_name, new_project, proposed_times};
use serde_json::json;

use crate::args::NewArgs;
use crate::failure::{Failure, to_json};
use crate::phrases::{argument, count};
use crate::style::{Output, print_error, print_json, say};

/// The file of a project.
pub(super) const PROJECT: &str = "system.toml";

pub(crate) fn run(args: &NewArgs, output: Output) -> Result<ExitCode, Failure> {
    if args.dir.is_file() {
        return Err(folder_is_missing(args).into());
    }
    if is_fmu(&args.dir) && !args.dir.exists() {
        return Err(named_like_an_fmu(args).into());
    }
    if args.dir.extension().is_some_and(|ending| ending == "toml") && !args.dir.exists() {
        return Err(names_a_file(args).into());
    }
    let file = args.dir.join(PROJECT);
    if file.exists() {
        let error = Error::new(Code::Exists, format!("`{}` exists", file.display()));
        return Err(error.hint("choose another folder, or edit what is there").into());
    }
    let mut fmus = open_all(&args.fmus)?;
    // They help with proposals: without them there are others.
    let terminals: Vec<_> = fmus.iter_mut().map(terminals_or_warning).collect();
    let names = names(&args.fmus);
    fs::create_dir_all(&args.dir).map_err(|cause| unwritable(&args.dir, cause))?;
    let files = place_all(args)?;
    let originals: Vec<_> = args.fmus.iter().map(|path| original(args, path)).collect();
    let described: Vec<NewFmu<'_>> = fmus
        .iter()
        .zip(names.iter().zip(&files).zip(terminals.iter().zip(&originals)))
        .map(|(fmu, ((name, file), (terminals, original)))| NewFmu {
            name,
            file,
            copied_from: original.as_deref(),
            fmu,
            terminals,
        })
        .collect();
    let project = args.dir.file_name().map_or_else(|| "system".into(), |name| name.to_string_lossy());
    write_new(&file, new_project(&project, &described).as_bytes())?;
    let proposed = proposed_times(&described);
    // Those that are used where they are have no original elsewhere.
    let copies = files.iter().zip(&originals).filter(|(_, original)| original.is_some());
    let mut copied: Vec<String> = copies.map(|(file, _)| file.clone()).collect();
    let mut seen = HashSet::new();
    copied.retain(|file| seen.insert(file.clone()));
    report(&file, &copied, proposed, output)
}

/// What was chosen where no FMU says how long to run, and where to change it.
fn chosen_times(project: &Project, proposed: Proposed, file: &Path) -> Option<String> {
    if proposed.stop {
        return None;
    }
    let run = &project.model.experiment;
    let (stop, step, file) = (format_time(run.stop), format_time(run.step), argument(file));
    Some(match proposed.step {
        true => format!("no FMU proposes a stop time: the run stops at {stop}; edit `stop` in {file}"),
        false => format!(
            "no FMU proposes a stop time or a step: the run stops at {stop}, in steps of {step}; edit `stop` and `size` in {file}"
        ),
    })
}

fn is_fmu(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("fmu"))
}

/// The error of the name of an FMU where the new folder should be named: a folder of such a name would be taken for an FMU ever after.
fn named_like_an_fmu(args: &NewArgs) -> Error {
    let files: Vec<_> = [&args.dir].into_iter().chain(&args.fmus).map(|file| argument(file)).collect();
    Error::new(
        Code::CommandLine,
        format!("`{}` is the name of an FMU, not of a new folder", args.dir.display()),
    )
    .because("the first argument is the folder to make")
    .hint(format!("`costep new rig {}`", files.join(" ")))
}

/// The error of a new folder that is named as a project file is.
fn names_a_file(args: &NewArgs) -> Error {
    let folder = args.dir.with_extension("");
    let files: Vec<_> = args.fmus.iter().map(|file| argument(file)).collect();
    Error::new(
        Code::CommandLine,
        format!("`{}` is to be a folder, and has the name of a file", args.dir.display()),
    )
    .because("the first argument is the folder to make; the project in it is a system.toml")
    .hint(format!("`costep new {} {}`", argument(&folder), files.join(" ")))
}

/// The error of a file where the new folder should be named.
fn folder_is_missing(args: &NewArgs) -> Error {
    let (files, others): (Vec<_>, Vec<_>) =
        [&args.dir].into_iter().chain(&args.fmus).partition(|file| file.is_file());
    // What is no file is perhaps the folder, in the wrong place.
    let folder = others.first().map_or_else(|| "rig".into(), |folder| argument(folder));
    let files: Vec<_> = files.into_iter().map(|file| argument(file)).collect();
    Error::new(Code::Exists, format!("`{}` is a file, not a new folder", args.dir.display()))
        .because("the first argument is the folder to make")
        .hint(format!("`costep new {folder} {}`", files.join(" ")))
}

/// Opens every FMU, and reports all that cannot be.
fn open_all(paths: &[PathBuf]) -> Result<Vec<Fmu>, Failure> {
    let (mut fmus, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match whole_system(path).map_or_else(|| Fmu::open(path), Err) {
            Ok(fmu) => fmus.push(fmu),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(fmus) } else { Err(errors.into()) }
}

/// The error of a system of several parts, where an FMU should be named.
fn whole_system(path: &Path) -> Option<Error> {
    let file = argument(path);
    let error = |what: &str| {
        Error::new(Code::NotAnFmu, format!("`{}` is {what}, not an FMU", path.display())).in_file(path)
    };
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) && path.is_file() {
        let error = error("a project file");
        return Some(error.hint(format!("name the FMUs that it names; `costep run {file}` runs it")));
    }
    Format::of(path).filter(|_| path.is_file()).map(|_| {
        let error = error("a system of another tool");
        error.hint(format!(
            "`costep import {file} --out rig` makes a project of it, `costep run {file}` runs it"
        ))
    })
}

fn terminals_or_warning(fmu: &mut Fmu) -> Vec<Terminal> {
    costep_import::terminals(fmu).unwrap_or_else(|error| {
        let message = format!("its terminals are not used: {}", error.details().message);
        print_error(&Error::new(Code::FmuRule, message).in_file(fmu.path()));
        Vec::new()
    })
}

/// A plain word for each FMU: its file name, with a number where it is not the only one.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut name = |path: &PathBuf| {
        let stem = component_name(path);
        loop {
            let count = seen.entry(stem.clone()).or_insert(0);
            *count += 1;
            let name = if *count == 1 { stem.clone() } else { format!("{stem}_{count}") };
            if name == stem || !seen.contains_key(&name) {
                seen.entry(name.clone()).or_insert(1);
                return name;
            }
        }
    };
    paths.iter().map(&mut name).collect()
}

/// Copies the FMUs into the folder, or names them where they are; gives their files as the project writes them.
fn place_all(args: &NewArgs) -> Result<Vec<String>, Error> {
    let mut copied: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut files = Vec::new();
    for path in &args.fmus {
        let real = fs::canonicalize(path).map_err(|cause| {
            Error::new(Code::FileNotReadable, "cannot be read").in_file(path).because(cause)
        })?;
        if args.no_copy {
            files.push(as_text(&real)?);
            continue;
        }
        let name = PathBuf::from(real.file_name().unwrap_or(real.as_os_str()));
        as_text(&name)?;
        match copied.iter().find(|(_, other)| **other == name).map(|(source, _)| source.clone()) {
            Some(source) if source == real => {}
            Some(source) => {
                let message = format!("two FMUs have the file name `{}`", name.display());
                return Err(Error::new(Code::Exists, message)
                    .because(format!("{} and {}", source.display(), real.display()))
                    .hint("rename one of them, or use `--no-copy`"));
            }
            None => copy_new(&real, &args.dir.join(&name))?,
        }
        copied.insert(real, name.clone());
        files.push(as_text(&name)?);
    }
    Ok(files)
}

/// Where a copied FMU came from, as seen from the folder of the project; nothing of those that are used where they are.
fn original(args: &NewArgs, path: &Path) -> Option<String> {
    let (file, folder) = (fs::canonicalize(path).ok()?, fs::canonicalize(&args.dir).ok()?);
    if args.no_copy || file.parent() == Some(&folder) {
        return None;
    }
    let shared = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    // From the root there is no way that another machine has too.
    let seen = match shared {
        0 | 1 => file.clone(),
        _ => {
            let up = folder.components().skip(shared).map(|_| Component::ParentDir);
            up.chain(file.components().skip(shared)).collect::<PathBuf>()
        }
    };
    seen.to_str().map(str::to_owned)
}

/// The name of a file as a project file can write it.
fn as_text(path: &Path) -> Result<String, Error> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::new(Code::FileNotReadable, "the name of the file is not Unicode")
            .in_file(path)
            .hint("rename it: project files are text")
    })
}

/// Copies a file to a place where there is none, or the same one.
fn copy_new(from: &Path, to: &Path) -> Result<(), Error> {
    if fs::canonicalize(to).is_ok_and(|same| same == from) {
        return Ok(());
    }
    let bytes = fs::read(from)
        .map_err(|cause| Error::new(Code::FileNotReadable, "cannot be read").in_file(from).because(cause))?;
    if fs::read(to).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    write_new(to, &bytes)
}

/// Writes a file that does not exist yet.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| {
        // What is half written would be in the way of the next attempt.
        io::Write::write_all(&mut file, bytes).inspect_err(|_| drop(fs::remove_file(path)))
    });
    written.map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => Error::new(Code::Exists, format!("`{}` exists", path.display()))
            .hint("choose another folder, or `--no-copy`, which leaves FMUs where they are"),
        _ => unwritable(path, cause),
    })
}

fn unwritable(path: &Path, cause: io::Error) -> Error {
    Error::new(Code::FileNotReadable, "cannot write").in_file(path).because(cause)
}

/// Why no connection was proposed between several FMUs.
fn why_unconnected(project: &Project) -> Option<String> {
    let parts: Vec<_> = project.model.parts.iter().map(|part| part.description()).collect();
    if parts.len() < 2 || !project.model.connections.is_empty() {
        return None;
    }
    let has_inputs = parts.iter().any(|part| !part.inputs.is_empty());
    let has_outputs = parts.iter().any(|part| !part.outputs.is_empty());
    Some(match (has_outputs, has_inputs) {
        (true, true) => "nothing is connected: names and units do not tell what belongs together; system.toml shows how connections are written".into(),
        (true, false) => "nothing is connected: none of the FMUs has an input; export them with inputs to couple them".into(),
        (false, true) => "nothing is connected: none of the FMUs has an output; export them with outputs to couple them".into(),
        (false, false) => "nothing is connected: none of the FMUs has inputs or outputs".into(),
    })
}

/// Says what was written, and checks it at once.
fn report(file: &Path, copied: &[String], proposed: Proposed, output: Output) -> Result<ExitCode, Failure> {
    let loaded = costep_project::load(&Source::File(file.into()), &[]);
    let why = loaded.as_ref().ok().and_then(why_unconnected);
    let times = loaded.as_ref().ok().and_then(|project| chosen_times(project, proposed, file));
    let (connections, problems) = match loaded {
        Ok(project) => (Some(project.model.connections.len()), project.warnings),
        Err(errors) => (None, errors),
    };
    let dir = argument(file.parent().unwrap_or(Path::new("")));
    if output.json {
        let problems: Vec<_> = problems.iter().map(to_json).collect();
        let object = json!({ "project": file.display().to_string(), "connections": connections, "problems": problems });
        print_json(&object)?;
    } else {
        let shown = connections
            .map_or_else(String::new, |number| format!(", {} proposed", count(number, "connection")));
        say!("Wrote {}{shown}", file.display())?;
        problems.iter().for_each(print_error);
        why.iter().chain(&times).for_each(|text| output.remark(text));
        if !copied.is_empty() {
            output.remark(&format!(
                "copied into it: {}  (`--no-copy` refers to the FMUs where they are)",
                copied.join(", ")
            ));
        }
        output.remark(&format!("next: edit it, then  costep check {dir}  and  costep run {dir}"));
    }
    Ok(if connections.is_some() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
