//! Verdicts without a reference against what is true, over a corpus of systems with drawn parameters and
//! steps; and the default against holds, ramps and NEPCE at equal numbers of steps. Prints the tables;
//! progress goes to stderr.
//!
//! `cargo bench -p costep-benches --bench trust -- [--seed 15] [--runs 1020] [--methods
//! zoh,nepce,foh,identified,auto] [--only WORD] [--case NUMBER] [--json FILE] [--table FILE] [--list]
//! [--threads N] [--no-verify] [--files FOLDER]`
//!
//! A folder may hold files of others: libcosim, osp-demo-cases, mastersim.
#![allow(missing_docs)]

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use costep::Verify;
use costep_benches::trust::{Case, Studied, cases, file_cases, json, kinds, markdown, study, verbose};
use costep_core::Result;
use costep_reproduce::Work;

/// What is asked for.
struct Asked {
    seed: u64,
    runs: usize,
    methods: Vec<String>,
    only: Option<String>,
    case: Option<usize>,
    json: Option<PathBuf>,
    table: Option<PathBuf>,
    list: bool,
    threads: usize,
    verify: Verify,
    files: Option<PathBuf>,
}

fn asked() -> std::result::Result<Asked, String> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut asked = Asked {
        seed: 15,
        runs: 1020,
        methods: ["zoh", "nepce", "foh", "identified", "auto"].map(Into::into).into(),
        only: None,
        case: None,
        json: None,
        table: None,
        list: false,
        threads,
        verify: Verify::Always,
        files: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse::<usize>().map_err(|error| format!("{text}: {error}"));
        match word.as_str() {
            "--seed" => asked.seed = number(value()?)? as u64,
            "--runs" => asked.runs = number(value()?)?,
            "--methods" => asked.methods = value()?.split(',').map(Into::into).collect(),
            "--only" => asked.only = Some(value()?),
            "--case" => asked.case = Some(number(value()?)?),
            "--json" => asked.json = Some(value()?.into()),
            "--table" => asked.table = Some(value()?.into()),
            "--threads" => asked.threads = number(value()?)?,
            "--no-verify" => asked.verify = Verify::Never,
            "--files" => asked.files = Some(value()?.into()),
            "--list" => asked.list = true,
            // Cargo says so.
            "--bench" => {}
            other => return Err(format!("unknown word `{other}`")),
        }
    }
    Ok(asked)
}

impl Asked {
    fn cases(&self) -> Result<Vec<Case>> {
        let count = self.runs.div_ceil(self.methods.len());
        // Systems of files are numbered from there on.
        let drawn = if self.files.is_some() { count } else { self.case.map_or(count, |case| case + 1) };
        let mut all = cases(drawn, self.seed)?;
        if let Some(folder) = &self.files {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
            all.extend(file_cases(&folder, count, self.seed).map_err(|errors| errors.first().clone())?);
        }
        let word = self.only.as_deref().unwrap_or("");
        all.retain(|case| self.case.is_none_or(|id| case.id == id));
        all.retain(|case| case.family.contains(word) || case.kind.contains(word));
        Ok(all)
    }

    fn command(&self) -> String {
        let mut command = format!(
            "cargo bench -p costep-benches --bench trust -- --seed {} --runs {} --methods {}",
            self.seed,
            self.runs,
            self.methods.join(",")
        );
        command += &self.only.as_ref().map_or(String::new(), |word| format!(" --only '{word}'"));
        command += if self.files.is_some() { " --files FOLDER" } else { "" };
        if self.verify == Verify::Never {
            command += " --no-verify";
        }
        command
    }
}

/// Cargo starts benchmarks in their package's folder: files are named from the root of the workspace.
fn write(file: &Path, text: String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    std::fs::write(&file, text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

fn main() {
    let asked = asked().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    if asked.list {
        kinds().iter().for_each(|(family, kind)| println!("{family}: {kind}"));
        return;
    }
    let cases = asked.cases().expect("parameters that are valid");
    let shown = std::io::stderr().is_terminal();
    let progress = |done: usize, all: usize| {
        if shown || done.is_multiple_of(20) {
            eprint!("\r{done} of {all} cases");
        }
        Ok(())
    };
    let work = Work { threads: asked.threads, quick: false, progress: &progress };
    let studied: Vec<Studied> = work
        .map(&cases, |case| study(case, &asked.methods, asked.verify))
        .expect("systems that can be built");
    eprintln!();
    if asked.case.is_some() {
        studied.iter().for_each(|of| println!("{}", verbose(of)));
        return;
    }
    let page = markdown(&studied, &asked.methods, &asked.command());
    print!("{page}");
    if let Some(file) = &asked.json {
        write(file, format!("{:#}\n", json(&studied, &asked.command())));
    }
    if let Some(file) = &asked.table {
        write(file, page);
    }
}
