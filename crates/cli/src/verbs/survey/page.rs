//! What was found, as a page in Markdown, a table and a sentence.

use std::fmt::Write as _;

use costep_core::quantity::format_time;

use super::peer::Peer;
use super::trial::{Outcome, Row};
use crate::args::SurveyArgs;
use crate::phrases::count;
use crate::table::{Cell, number, render};

const HEADER: [&str; 7] = ["file", "kind", "reads", "runs", "verdict", "FMPy", "remarks"];

/// The page, with the command that makes it.
pub(super) fn markdown(args: &SurveyArgs, rows: &[Row], peer: Option<&Peer>) -> String {
    let mut page = String::from("# Compatibility\n\n");
    let folder = args.folder.file_name().unwrap_or(args.folder.as_os_str()).to_string_lossy();
    let limit = format_time(args.time_limit.as_secs_f64()).replace(' ', "");
    let with = if peer.is_some() { " --fmpy PYTHON" } else { "" };
    let _ = writeln!(
        page,
        "Written by `costep survey {folder} --steps {} --time-limit {limit}{with}`.\n",
        args.steps
    );
    let _ = writeln!(page, "{}\n", summary(rows, peer));
    page.push_str(
        "Each FMU alone, inputs at their start values, with the step and for the time it proposes, but at most as many steps\n\
         as `--steps` allows; each system as its file says, with the verdict of `costep run` on its coupling (from the\n\
         growth of its signals alone). `FMPy` is the largest difference of an output from that of FMPy, as a share of its largest value (Co-Simulation with the same steps; Model Exchange by integrators of their own with\n\
         a tolerance of 1e-10), or `fails` where FMPy does. Codes: `costep explain CODE`.\n\n",
    );
    let _ = writeln!(page, "| {} |\n|{}", HEADER.join(" | "), "---|".repeat(HEADER.len()));
    for row in rows {
        let cells = cells(row).map(|cell| cell.replace('|', "\\|").replace('<', "&lt;"));
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
    page
}

/// The table for a terminal.
pub(super) fn table(rows: &[Row], with_peer: bool) -> String {
    let shown = |at: &usize| with_peer || HEADER[*at] != "FMPy";
    let columns: Vec<usize> = (0..HEADER.len()).filter(shown).collect();
    let header: Vec<&str> = columns.iter().map(|at| HEADER[*at]).collect();
    let line = |row: &Row| {
        let cells = cells(row);
        columns.iter().map(|at| Cell::new(cells[*at].clone())).collect::<Vec<_>>()
    };
    render(&header, &rows.iter().map(line).collect::<Vec<_>>())
}

fn cells(row: &Row) -> [String; HEADER.len()] {
    let word = |yes: bool| if yes { "yes" } else { "NO" }.to_owned();
    let (runs, said) = row.outcome.said();
    let (peer, theirs) = match &row.peer {
        None => ("-".into(), None),
        Some(Err(reason)) => ("fails".into(), Some(format!("FMPy: {reason}"))),
        // As far as it came it was not compared.
        Some(Ok(_)) if matches!(row.outcome, Outcome::Stopped(_)) => ("-".into(), None),
        Some(Ok(deviation)) if runs => {
            let mark = if row.differs() { " !" } else { "" };
            (format!("{}{mark}", number(Some(*deviation))), None)
        }
        Some(Ok(_)) => ("runs".into(), None),
    };
    let warnings = (!row.warnings.is_empty()).then(|| row.warnings.join(" "));
    let remarks: Vec<String> = [said.cloned(), theirs, warnings].into_iter().flatten().collect();
    let verdict = row.verdict.clone().unwrap_or("-".into());
    let (name, kind) = (row.name.clone(), row.kind.clone());
    let cells = [name, kind, word(row.reads), word(runs), verdict, peer, remarks.join("; ")];
    cells.map(|cell| shown(&cell))
}

/// A file that has been tried, in a line.
pub(super) fn line(row: &Row) -> String {
    let (runs, _) = row.outcome.said();
    let end = match (runs, &row.verdict) {
        (false, _) => "fails".to_owned(),
        (true, Some(verdict)) => format!("runs, {verdict}"),
        (true, None) => "runs".to_owned(),
    };
    shown(&format!("{} ({}) {end}", row.name, row.kind))
}

/// Text on one line that changes nothing of a terminal: names of files are somebody else's.
pub(super) fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// How many of what.
pub(super) fn summary(rows: &[Row], peer: Option<&Peer>) -> String {
    let runs = |row: &&Row| row.outcome.said().0;
    let compared = |row: &&Row| matches!(row.outcome, Outcome::Runs(_));
    let total = |wanted: &dyn Fn(&&Row) -> bool| rows.iter().filter(wanted).count();
    let mut text = format!("{}: {} run", count(rows.len(), "case"), total(&|row| runs(row)));
    if let Some(peer) = peer {
        let simulated = |row: &&Row| matches!(&row.peer, Some(Ok(_)));
        let _ = write!(
            text,
            "; FMPy {} simulates {}, of which {} run in costep with the same results",
            peer.version,
            total(&|row| simulated(row)),
            total(&|row| simulated(row) && compared(row) && !row.differs())
        );
    }
    text + "."
}
