//! `costep doe`: a full factorial plan, its analysis of variance and its ascending sorting.

mod analysis;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use costep::pages::{DoePage, check_page_file, write_page};
use costep::{
    Campaign, CampaignRow, Code, Error, Errors, Plan, PlanAnalysis, Registry, RunFolder, RunTable, ShardSpec,
    Source, failures,
};
use costep_experiments::threads;
use costep_import::Format;
use serde_json::{Value, json};

use crate::args::DoeArgs;
use crate::failure::{Failure, to_json};
use crate::phrases::{argument, count, show_warnings};
use crate::progress::many_runs;
use crate::stop;
use crate::style::{Output, print, print_error, print_json, say};
use crate::supervision;
use crate::table::wall;
use crate::verbs::report::command;
use analysis::Analysis;

/// The word that stands for a merge in place of a plan.
const MERGE: &str = "merge";

/// The name that a plan in a folder has by custom.
const PLAN: &str = "plan.toml";

/// Plans that come with costep.
const PLANS: [(&str, &str); 3] = [
    ("genser2020-tab3.4", include_str!("../../../../../examples/plans/genser2020-tab3.4.toml")),
    ("genser2020-tab3.10", include_str!("../../../../../examples/plans/genser2020-tab3.10.toml")),
    ("genser2020-tab3.11", include_str!("../../../../../examples/plans/genser2020-tab3.11.toml")),
];

pub(crate) fn run(args: &DoeArgs, output: Output) -> Result<ExitCode, Failure> {
    let (name, shards) = match (args.plan.as_str(), &args.more[..]) {
        (MERGE, [plan, shards @ ..]) => (plan.to_string_lossy().into_owned(), Some(shards)),
        (MERGE, []) => {
            return Err(Error::new(Code::CommandLine, "no plan is given")
                .hint("write `costep doe merge PLAN DIR...`")
                .into());
        }
        (_, [extra, ..]) => {
            return Err(Error::new(Code::CommandLine, format!("`{}` is one too many", extra.display()))
                .hint("one plan; `costep doe merge PLAN DIR...` puts shards together")
                .into());
        }
        (plan, []) => (plan.to_owned(), None),
    };
    if args.print {
        let text = builtin(&name)?;
        if output.json { print_json(&json!({ "text": text })) } else { print(text) }?;
        return Ok(ExitCode::SUCCESS);
    }
    args.report.as_deref().map_or(Ok(()), check_page_file)?;
    let campaign = campaign(&name, args)?;
    let project = campaign.system().project();
    if shards.is_none()
        && let Some(code) = supervision::elsewhere_at_any_cost(project, output)?
    {
        return Ok(code);
    }
    show_warnings(&project.warnings, &argument(Path::new(&campaign.plan().system)), output);
    let folder =
        args.out.clone().unwrap_or_else(|| PathBuf::from(format!("costep-{}", campaign.plan().name)));
    let lock = RunFolder::lock(&folder)?;
    let start = Instant::now();
    let rows = match shards {
        Some(shards) => merged(&campaign, &folder, shards, output)?,
        None => {
            let shard = args.shard.as_deref().map_or(Ok(ShardSpec::WHOLE), ShardSpec::parse)?;
            let threads = args.jobs.unwrap_or_else(threads).max(1);
            let table = RunTable::open(&folder, &campaign, shard, args.fresh)?;
            let done = run_missing(&campaign, table, threads, output)?;
            if shard != ShardSpec::WHOLE {
                return shard_done(&campaign, shard, &done, output);
            }
            done
        }
    };
    let places = (&*folder, args.report.as_deref());
    let code = conclude(&campaign, &rows, places, start.elapsed().as_secs_f64(), output)?;
    drop(lock);
    Ok(supervision::exit_code(code))
}

fn builtin(name: &str) -> Result<&'static str, Error> {
    PLANS.iter().find(|(id, _)| *id == name).map(|(_, text)| *text).ok_or_else(|| {
        let message = format!("there is no file `{name}`, and no plan of costep is called so");
        Error::new(Code::UnknownName, message).suggest(name, PLANS.iter().map(|(id, _)| *id))
    })
}

/// The plan of a file or one that comes with costep, with the changes of the command line.
fn campaign(name: &str, args: &DoeArgs) -> Result<Campaign, Errors> {
    let registry = Registry::standard();
    let file = Path::new(name);
    if let Some(error) = system_in_place_of_plan(name) {
        return Err(error.into());
    }
    let mut plan = match builtin(name) {
        Ok(text) if !file.exists() => Plan::from_toml(text, Path::new(&format!("{name}.toml")), &registry)?,
        Err(error) if !file.exists() && !name.ends_with(".toml") => return Err(error.into()),
        _ => Plan::open(file, &registry)?,
    };
    plan.changes.extend(args.changes()?);
    Campaign::new(plan, registry)
}

/// The error of a system where a plan should be named, with a plan for it.
fn system_in_place_of_plan(name: &str) -> Option<Error> {
    let file = Path::new(name);
    let is_folder = file.is_dir();
    if is_folder && file.join(PLAN).is_file() {
        let plan = argument(&file.join(PLAN));
        return Some(no_plan(name, "a folder").hint(format!("`costep doe {plan}`")));
    }
    // A plan for what is no system would help nobody.
    if let (true, Err(error)) = (is_folder, Source::find(name)) {
        return Some(error);
    }
    let is_model = !file.exists() && Registry::standard().model(name).is_ok();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let kind = match () {
        () if is_folder => "a folder",
        () if is_model => "a built-in model",
        () if ends(&[".fmu"]) && file.exists() => "an FMU",
        () if file.is_file() && Format::of(file).is_some() => "a system",
        () => return None,
    };
    let example = format!(
        "a plan is a file that names system and factors, for example plan.toml with\n\n    [plan]\n    system = {name:?}\n    \
         methods = [\"zoh\", \"nepce\"]\n    steps = [\"1 ms\", \"2 ms\"]\n\n  and then `costep doe plan.toml`; \
         `costep doe genser2020-tab3.4 --print` prints a larger one. Without a plan: `costep map {} --steps 1ms,2ms`",
        argument(file)
    );
    Some(no_plan(name, kind).hint(example))
}

fn no_plan(name: &str, kind: &str) -> Error {
    Error::new(Code::CommandLine, format!("`{name}` is {kind}, not a plan of runs"))
        .because("`costep doe` runs all combinations of the levels of factors, which a plan lists")
}

/// Does the runs that are not in the table yet, and gives all rows.
pub(super) fn run_missing(
    campaign: &Campaign,
    mut table: RunTable,
    threads: usize,
    output: Output,
) -> Result<Vec<CampaignRow>, Error> {
    let missing = table.missing();
    if !table.is_empty() {
        output.remark(&format!("{} kept, {} to do", count(table.len(), "row"), missing.len()));
    }
    stop::listen();
    let bar = many_runs(output, table.len() + missing.len());
    bar.set_position(table.len() as u64);
    bar.reset_eta();
    let outcome = campaign.run(&missing, threads, stop::flag(), &mut |row| {
        table.push(campaign, row)?;
        bar.inc(1);
        Ok(())
    });
    bar.finish_and_clear();
    let file = argument(table.path());
    // Without an end it still writes what it has.
    let rows = outcome.and_then(|()| table.finish());
    rows.map_err(|error| error.hint(format!("the same command goes on after the rows in {file}")))
}

fn shard_done(
    campaign: &Campaign,
    shard: ShardSpec,
    rows: &[CampaignRow],
    output: Output,
) -> Result<ExitCode, Failure> {
    if output.json {
        let object = json!({ "plan": campaign.plan().name, "shard": shard.index, "shards": shard.count, "runs": rows.len() });
        print_json(&object)?;
    } else {
        say!("shard {} of {}: {}", shard.index, shard.count, count(rows.len(), "run"))?;
        output.remark("`costep doe merge PLAN DIR...` puts the shards together");
    }
    Ok(supervision::exit_code(0))
}

/// The rows of shards; those that are missing are an error, after the others have been written.
fn merged(
    campaign: &Campaign,
    folder: &Path,
    places: &[PathBuf],
    output: Output,
) -> Result<Vec<CampaignRow>, Error> {
    let own = [folder.to_path_buf()];
    let places = if places.is_empty() { &own[..] } else { places };
    let files: Vec<PathBuf> =
        places.iter().map(|place| files_of(place)).collect::<Result<Vec<_>, _>>()?.concat();
    let table = RunTable::merge(folder, campaign, &files)?;
    output.remark(&format!("{} of {}", count(table.len(), "row"), count(files.len(), "file")));
    let missing = table.missing().len();
    let rows = table.finish()?;
    if missing > 0 {
        let message = format!("{missing} of {} runs are missing", campaign.runs());
        return Err(Error::new(Code::RowsMissing, message).in_file(folder));
    }
    Ok(rows)
}

/// A file of rows, or those of shards in a folder.
fn files_of(place: &Path) -> Result<Vec<PathBuf>, Error> {
    if place.is_file() {
        return Ok(vec![place.into()]);
    }
    let unreadable = |cause: std::io::Error| {
        Error::new(Code::FileNotReadable, "cannot read the folder").in_file(place).because(cause)
    };
    let entries = std::fs::read_dir(place).map_err(unreadable)?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("rows-") && name.ends_with(".arrows")
    });
    files.sort();
    if files.is_empty() {
        return Err(Error::new(Code::FileNotReadable, "the folder has no rows of shards")
            .in_file(place)
            .hint("`costep doe PLAN --shard 1/4 --out DIR` writes them"));
    }
    Ok(files)
}

/// Writes and prints what follows from the rows. Gives the exit code.
fn conclude(
    campaign: &Campaign,
    rows: &[CampaignRow],
    (folder, report): (&Path, Option<&Path>),
    wall_s: f64,
    output: Output,
) -> Result<u8, Error> {
    let parquet = folder.join("rows.parquet");
    campaign.write_parquet(&parquet, rows)?;
    let failed = failed_runs(rows);
    let found = match &failed {
        None => Some(Analysis(PlanAnalysis::of(campaign, rows))),
        Some(_) => None,
    };
    let mut files = vec![parquet];
    if let Some(found) = &found {
        files.extend(found.write(campaign, folder)?);
    }
    if let Some(file) = report {
        let analysis = found.as_ref().map(|found| &found.0);
        write_page(file, &DoePage { campaign, rows, analysis, command: &command() }.page())?;
        files.push(file.into());
    }
    let diverged = rows.iter().filter(|row| row.has_diverged()).count();
    if output.json {
        let mut object = json!({
            "plan": campaign.plan().name,
            "system": campaign.system().name(),
            "error": campaign.plan().analysis.error,
            "runs": rows.len(),
            "diverged": diverged,
            "failed": failures(rows).iter().map(|(code, count)| json!({ "code": code, "runs": count })).collect::<Vec<_>>(),
            "wall_s": wall_s,
        });
        if let Some(found) = &found {
            found.add_to(campaign, &mut object);
        }
        object["files"] = files.iter().map(|file| file.display().to_string()).collect::<Value>();
        object["warnings"] = failed.iter().map(to_json).collect();
        print_json(&object)?;
    } else {
        let (name, system) = (&campaign.plan().name, campaign.system().name());
        let runs = format!("{} runs of {system}   {diverged} diverged", rows.len());
        say!("{name}: {runs}   done in {}\n", wall(wall_s))?;
        if let Some(found) = &found {
            print(&found.text(campaign))?;
        }
        failed.iter().for_each(print_error);
        files.iter().for_each(|file| output.remark(&file.display().to_string()));
    }
    Ok(0)
}

/// The warning about runs that have no error to be analysed.
fn failed_runs(rows: &[CampaignRow]) -> Option<Error> {
    let without = rows.iter().filter(|row| row.eps_mono.is_none() && !row.has_diverged()).count();
    if without == 0 {
        return None;
    }
    let codes: Vec<String> =
        failures(rows).iter().map(|(code, count)| format!("{count} with {code}")).collect();
    let message =
        format!("{without} of {} runs have no error: effects and optimum cannot be computed", rows.len());
    let error = Error::new(Code::RunsFailed, message);
    Some(if codes.is_empty() {
        error.because("they have no reference")
    } else {
        error.because(codes.join(", "))
    })
}
