//! `costep reproduce`: what papers claim beside what comes out.

mod files;
mod page;

use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Instant;

use costep::pages::{check_page_file, write_page};
use costep_core::{Code, Error, Result};
use costep_reproduce::{Claimed, Computed, Data, Finding, STUDIES, Study, Verdict, Work, find};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::progress::many_runs;
use crate::stop;
use crate::style::{BAD, FAINT, GOOD, Output, STRONG, WARN, paint, print, print_json, say};
use crate::table::{Cell, render};
use files::Files;
use page::StudyPage;

/// Width of running text.
const LINE: usize = 110;
const VERDICTS: [Verdict; 3] = [Verdict::Reproduces, Verdict::InTrend, Verdict::DoesNot];

pub(crate) fn run(args: &ReproduceArgs, output: Output) -> Result<ExitCode, Failure> {
    args.report.as_deref().map_or(Ok(()), check_page_file)?;
    stop::listen();
    let mut page = StudyPage::default();
    if args.ids.is_empty() && output.json {
        print_json(&STUDIES.iter().map(head).collect::<Vec<_>>())?;
    } else if args.ids.is_empty() {
        list()?;
    }
    let mut results = Vec::new();
    for study in named(&args.ids)? {
        results.push(reproduce(study, args, output, &mut page)?);
    }
    match &results[..] {
        _ if !output.json => {}
        [] => {}
        [one] if args.ids.len() == 1 => print_json(one)?,
        all => print_json(&json!({ "studies": all }))?,
    }
    if let Some(file) = &args.report {
        write_page(file, &page.page())?;
        output.remark(&file.display().to_string());
    }
    // A claim that does not reproduce is a result, not a failure.
    Ok(ExitCode::SUCCESS)
}

/// The studies of these names, `all` for all of them: before the first is computed.
fn named(ids: &[String]) -> Result<Vec<&'static Study>> {
    match ids {
        [id] if id == "all" => Ok(STUDIES.iter().collect()),
        ids => ids.iter().map(|id| find(id)).collect(),
    }
}

fn list() -> Result<()> {
    let row = |study: &Study| {
        vec![Cell::styled(study.id, STRONG), Cell::new(study.title), Cell::styled(study.source, FAINT)]
    };
    print(&render(&["id", "", "source"], &STUDIES.iter().map(row).collect::<Vec<_>>()))?;
    say!("\n  `costep reproduce ID` reproduces one.")
}

/// Gives a study for machines, and for the page: computes it, unless the folder has it and `--resume` says that this will do.
fn reproduce(
    study: &'static Study,
    args: &ReproduceArgs,
    output: Output,
    page: &mut StudyPage,
) -> Result<Value> {
    let files = Files::new(&args.out, study)?;
    let stored = if args.resume { files.stored(study, args.quick) } else { None };
    let result = match stored {
        Some(result) => {
            output.remark(&format!("{}: as it is in {}", study.id, files.result.display()));
            result
        }
        None => compute(study, args, output, &files)?,
    };
    if args.report.is_some() {
        page.add(study, &result, files.picture()?);
    }
    Ok(result)
}

/// Computes a study, writes its files, prints it for people.
fn compute(study: &'static Study, args: &ReproduceArgs, output: Output, files: &Files) -> Result<Value> {
    let bar: OnceLock<ProgressBar> = OnceLock::new();
    let progress = |done: usize, all: usize| {
        bar.get_or_init(|| many_runs(output, all)).set_position(done as u64);
        stop::check()
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let start = Instant::now();
    let outcome = (study.compute)(&Work { threads, quick: args.quick, progress: &progress });
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    let computed = outcome?;
    let wall = start.elapsed().as_secs_f64();
    if computed.measured.len() != study.claims.len() {
        return Err(Error::new(Code::Bug, format!("`{}` did not measure every claim", study.id)));
    }
    files.write_plots(&computed)?;
    let findings: Vec<_> = study
        .claims
        .iter()
        .zip(&computed.measured)
        .map(|(claim, found)| Finding::new(claim, found))
        .collect();
    let mut object = head(study);
    object["quick"] = json!(args.quick);
    object["claims"] = findings.iter().map(to_json).collect();
    let [all, trend, not] = count(&findings);
    object["verdicts"] =
        json!({ "reproduces": all, "reproduces in trend": trend, "does not reproduce": not });
    object["remarks"] = json!(computed.remarks);
    object["files"] =
        json!({ "data": files.data.display().to_string(), "plot": files.plot.display().to_string() });
    object["wall_s"] = json!(wall);
    object["table"] = table(&computed.data);
    object["costep"] = json!(env!("CARGO_PKG_VERSION"));
    files.write_result(&object)?;
    if !output.json {
        print(&text(study, &findings, &computed))?;
        output.remark(&format!("{}\n{}", files.data.display(), files.plot.display()));
    }
    Ok(object)
}

/// The rows of a table whose rows have names; none for curves, which are in the file.
fn table(data: &Data) -> Value {
    let row = |(name, values): (&str, &[f64])| {
        let cells =
            data.columns().iter().skip(1).zip(values).map(|(column, value)| (column.clone(), json!(value)));
        let name = (data.columns()[0].clone(), json!(name));
        Value::Object(std::iter::once(name).chain(cells).collect())
    };
    data.named_rows().map(row).collect()
}

fn text(study: &Study, findings: &[Finding], computed: &Computed) -> String {
    let mut text = format!("{}  {}, {}\n\n", paint(STRONG, study.id), study.title, study.source);
    text += &(paragraph("  ", study.setup) + "\n");
    let rows: Vec<_> = findings
        .iter()
        .enumerate()
        .map(|(k, finding)| {
            let cells = [&(k + 1).to_string(), finding.claim.text, &finding.claimed, &finding.reproduced];
            cells.into_iter().map(Cell::new).chain([verdict(finding.verdict)]).collect()
        })
        .collect();
    text += &render(&["", "claim", "paper", "reproduced", "verdict"], &rows);
    text += "\n  judged by\n";
    for (numbers, tolerance) in criteria(findings) {
        text += &paragraph("    ", &format!("{numbers}: {tolerance}"));
    }
    for remark in &computed.remarks {
        text += &("\n".to_owned() + &paragraph("  ", remark));
    }
    let [all, trend, not] = count(findings);
    text +=
        &format!("\n  claims: {} in all, {all} reproduce, {trend} in trend, {not} do not\n", findings.len());
    text
}

/// How many reproduce, reproduce in trend, do not.
fn count(findings: &[Finding]) -> [usize; 3] {
    VERDICTS.map(|verdict| findings.iter().filter(|finding| finding.verdict == verdict).count())
}

/// The numbers of the claims with the same criterion, and the criterion.
fn criteria(findings: &[Finding]) -> Vec<(String, &str)> {
    let mut criteria: Vec<(String, &str)> = Vec::new();
    for (k, finding) in findings.iter().enumerate() {
        match criteria.iter_mut().find(|(_, tolerance)| *tolerance == finding.tolerance) {
            Some((numbers, _)) => *numbers += &format!(", {}", k + 1),
            None => criteria.push(((k + 1).to_string(), &finding.tolerance)),
        }
    }
    criteria
}

/// Text in lines that fit.
fn paragraph(indent: &str, text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::from(indent);
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() >= LINE && line.trim() != "" {
            lines += &(line.trim_end().to_owned() + "\n");
            line = String::from(indent);
        }
        line += word;
        line.push(' ');
    }
    lines + line.trim_end() + "\n"
}

fn verdict(verdict: Verdict) -> Cell {
    let style = match verdict {
        Verdict::Reproduces => GOOD,
        Verdict::InTrend => WARN,
        Verdict::DoesNot => BAD,
    };
    Cell::styled(verdict.text(), style)
}

fn head(study: &Study) -> Value {
    json!({ "id": study.id, "title": study.title, "source": study.source, "setup": study.setup })
}

fn to_json(finding: &Finding) -> Value {
    let (value, unit) = match &finding.claim.claimed {
        Claimed::Number { value, unit } => (Some(*value), Some(*unit)),
        Claimed::Statement(_) => (None, None),
    };
    json!({
        "claim": finding.claim.text,
        "place": finding.claim.place,
        "claimed": finding.claimed,
        "reproduced": finding.reproduced,
        "claimed_value": value,
        "reproduced_value": finding.value,
        "unit": unit,
        "tolerance": finding.tolerance,
        "verdict": finding.verdict.text(),
    })
}
