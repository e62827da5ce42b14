//! `costep reproduce`: what papers claim beside what comes out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Instant;

use costep::pages::{check_page_file, how_to_reproduce, write_page};
use costep_core::{Code, Error, Result};
use costep_report::{Page, Section, Table, TableCell, Tone};
use costep_reproduce::{Claimed, Computed, Data, Finding, STUDIES, Study, Verdict, Work, find};
use costep_results::write_file;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::progress::many_runs;
use crate::stop;
use crate::style::{BAD, FAINT, GOOD, Output, STRONG, WARN, paint, print, print_json, say};
use crate::table::{Cell, render};
use crate::verbs::report::command;

/// Width of running text.
const LINE: usize = 110;

pub(crate) fn run(args: &ReproduceArgs, output: Output) -> Result<ExitCode, Failure> {
    args.report.as_deref().map_or(Ok(()), check_page_file)?;
    stop::listen();
    let mut page = StudyPage::default();
    match (args.id.as_deref(), output.json) {
        (None, true) => print_json(&STUDIES.iter().map(head).collect::<Vec<_>>())?,
        (None, false) => list()?,
        (Some("all"), _) => {
            let mut results = Vec::new();
            for study in STUDIES {
                results.push(reproduce(study, args, output, &mut page)?);
            }
            if output.json {
                print_json(&json!({ "studies": results }))?;
            }
        }
        (Some(id), _) => {
            let result = reproduce(find(id)?, args, output, &mut page)?;
            if output.json {
                print_json(&result)?;
            }
        }
    }
    if let Some(file) = &args.report {
        write_page(file, &page.page(args.quick))?;
        output.remark(&file.display().to_string());
    }
    // A claim that does not reproduce is a result, not a failure.
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<()> {
    let row = |study: &Study| {
        vec![Cell::styled(study.id, STRONG), Cell::new(study.title), Cell::styled(study.source, FAINT)]
    };
    print(&render(&["id", "", "source"], &STUDIES.iter().map(row).collect::<Vec<_>>()))?;
    say!("\n  `costep reproduce ID` reproduces one.")
}

/// Computes a study, writes its files, prints it for people and gives it for machines.
fn reproduce(
    study: &'static Study,
    args: &ReproduceArgs,
    output: Output,
    page: &mut StudyPage,
) -> Result<Value> {
    let files = Files::new(&args.out, study)?;
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
    write_file(&files.data, computed.data.to_csv().as_bytes())?;
    write_file(&files.plot, computed.figure.to_svg().as_bytes())?;
    let findings: Vec<_> = study
        .claims
        .iter()
        .zip(&computed.measured)
        .map(|(claim, found)| Finding::new(claim, found))
        .collect();
    if !output.json {
        print(&text(study, &findings, &computed))?;
        output.remark(&format!("{}\n{}", files.data.display(), files.plot.display()));
    }
    if args.report.is_some() {
        page.add(study, &findings, &computed);
    }
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
    Ok(object)
}

/// The page of all that was reproduced.
#[derive(Default)]
struct StudyPage {
    sections: Vec<Section>,
    overview: Vec<Vec<TableCell>>,
    counts: [usize; 3],
}

impl StudyPage {
    fn add(&mut self, study: &Study, findings: &[Finding], computed: &Computed) {
        let counts = count(findings);
        self.counts.iter_mut().zip(counts).for_each(|(sum, own)| *sum += own);
        let numbers = counts.map(|number| TableCell::from(number.to_string()));
        let names = [study.id, study.title, study.source].map(TableCell::from);
        self.overview.push(names.into_iter().chain(numbers).collect());
        let row = |finding: &Finding| {
            let verdict = TableCell::toned(finding.verdict.text(), tone(finding.verdict));
            let texts = [finding.claim.text, finding.claim.place, &finding.claimed, &finding.reproduced];
            texts
                .into_iter()
                .map(TableCell::from)
                .chain([verdict, finding.tolerance.as_str().into()])
                .collect()
        };
        let head = ["claim", "place", "paper", "reproduced", "verdict", "judged by"];
        let table = Table::new(format!("Claims of {}", study.source), head).rows(findings.iter().map(row));
        let section = Section::new(format!("{}: {}", study.id, study.title)).text(study.setup).table(table);
        let section = section.picture(computed.figure.clone());
        self.sections.push(computed.remarks.iter().fold(section, |section, remark| section.text(remark)));
    }

    fn page(self, is_quick: bool) -> Page {
        let [all, trend, not] = self.counts;
        let tone = if not == 0 { Tone::Good } else { Tone::Doubtful };
        let sentence = format!(
            "{} claims: {all} reproduce, {trend} in trend, {not} do not{}.",
            all + trend + not,
            if is_quick { "; a quick look, with coarser grids" } else { "" }
        );
        let head = ["study", "what", "source", "reproduce", "in trend", "do not"];
        let overview = Table::new("Claims by study", head).rows(self.overview);
        let page = Page::new("Published results, computed again")
            .footer(format!("Made by costep {}.", env!("CARGO_PKG_VERSION")))
            .verdict(tone, format!("{all} of {}", all + trend + not), sentence)
            .section(Section::new("All studies").table(overview));
        self.sections.into_iter().fold(page, Page::section).section(how_to_reproduce(None, &command()))
    }
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Reproduces => Tone::Good,
        Verdict::InTrend => Tone::Doubtful,
        Verdict::DoesNot => Tone::Bad,
    }
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

/// Where a study is written.
struct Files {
    data: PathBuf,
    plot: PathBuf,
}

impl Files {
    /// Makes the folder at once: not after a minute of work.
    fn new(folder: &Path, study: &Study) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|cause| {
            Error::new(Code::FileNotReadable, "cannot make the folder").in_file(folder).because(cause)
        })?;
        let file = |ending: &str| folder.join(format!("{}.{ending}", study.id));
        Ok(Self { data: file("csv"), plot: file("svg") })
    }
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
    [Verdict::Reproduces, Verdict::InTrend, Verdict::DoesNot]
        .map(|verdict| findings.iter().filter(|finding| finding.verdict == verdict).count())
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
