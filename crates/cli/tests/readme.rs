//! Every command of the README and of the book works, in the order in which a reader meets them, and prints what is
//! shown there.
//!
//! A page runs in a folder of its own, which begins as a copy of the example that it names by
//! `<!-- run in examples/NAME -->`. `COSTEP_UPDATE_BOOK=1` writes what is printed now below commands that show
//! something (a `?` for a start), unless that has a line `...`, and renews the pictures that commands of a page make;
//! to be read before it is committed.

mod common;
#[path = "../../fmu-export/tests/common/python.rs"]
mod python;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Done, Sandbox, finished};

/// A command of a console block and the lines shown below it.
struct Shown {
    command: String,
    output: Vec<String>,
    /// The lines of the page that `output` is.
    lines: std::ops::Range<usize>,
}

/// What is run of a page; all other commands build or install something.
fn as_run(command: &str) -> Option<String> {
    let ours = command.strip_prefix("cargo run --release -- ").map(|arguments| format!("costep {arguments}"));
    let known =
        ["costep ", "pythonfmu ", "awk ", "cp ", "sed "].iter().any(|program| command.starts_with(program));
    ours.or_else(|| known.then(|| command.to_owned()))
}

fn commands(page: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let (mut in_block, mut is_ours) = (false, false);
    for (number, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block && line.trim() == "```console";
            is_ours = false;
        } else if let (true, Some(command)) = (in_block, line.strip_prefix("$ ")) {
            let ours = as_run(command.split("  #").next().unwrap_or_default().trim_end());
            is_ours = ours.is_some();
            let lines = number + 1..number + 1;
            shown.extend(ours.map(|command| Shown { command, output: Vec::new(), lines }));
        } else if let (true, true, Some(last)) = (in_block, is_ours, shown.last_mut()) {
            last.output.push(line.into());
            last.lines.end = number + 1;
        }
    }
    shown
}

/// A line without what differs from machine to machine: blanks, wall times, numbers with all their digits.
fn essence(line: &str) -> String {
    // Shares of the wall time, and counts of solvers that choose their own steps.
    if let Some(word) = ["time", "solvers"].iter().find(|word| line.starts_with(&format!("{word}  "))) {
        return (*word).into();
    }
    let mut words: Vec<_> = line.split_whitespace().collect();
    if let [.., number, "ms" | "s" | "us"] = words[..]
        && number.parse::<f64>().is_ok()
    {
        words.truncate(words.len() - 2);
    }
    if let ["done", "in", _, _, count, "macro", "steps", ..] = words[..] {
        return format!("done in {count} macro steps");
    }
    // Steps that `check --probe` has timed, digits that rounding changes, and differences that are rounding.
    let timed = words.contains(&"repeatable");
    let varies = |word: &&str| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        word.parse::<f64>().is_ok_and(|value| timed || digits >= 10 || (value != 0.0 && value.abs() < 1e-11))
    };
    words.retain(|word| !(varies(word) || timed && matches!(*word, "ms" | "us")));
    words.join(" ")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let place = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &place);
        } else {
            fs::copy(&entry, place).unwrap();
        }
    }
}

/// A page on its way through its commands.
struct Reading {
    page: String,
    text: String,
    sandbox: Sandbox,
    path: std::ffi::OsString,
}

impl Reading {
    /// `None` where the page needs Python and that is left out.
    fn open(page: &str) -> Option<Self> {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let bin = Path::new(env!("CARGO_BIN_EXE_costep")).parent().unwrap();
        let mut paths = vec![bin.to_path_buf()];
        if text.contains("$ pythonfmu ") {
            if python::skipped() {
                return None;
            }
            let requirements = root().join("crates/fmu-export/tests/python/requirements.txt");
            let interpreter = python::environment("python", &requirements);
            paths.extend(interpreter.parent().map(Path::to_path_buf));
        }
        paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let sandbox = Sandbox::new();
        if let Some(folder) = example_of(page) {
            copy(&root().join(folder), &sandbox.path(""));
        }
        Some(Self { page: page.into(), text, sandbox, path: std::env::join_paths(paths).unwrap() })
    }

    /// Standard output and error in the order in which they come.
    fn run(&self, shown: &Shown) -> Done {
        let mut shell = self.sandbox.program("sh", ["-c", &format!("exec 2>&1; {}", shown.command)]);
        shell.env("PATH", &self.path).env("PYTHONDONTWRITEBYTECODE", "1");
        let mut done = finished(shell, shown.command.trim_start_matches("costep "));
        let folder = format!("{}/", self.sandbox.path("").display()).replace("//", "/");
        done.stdout = done.stdout.replace(&folder, "");
        done
    }

    fn check(&self, shown: &Shown, done: &Done) {
        let code = format!("[exit code {}]", done.status.code().unwrap_or(-1));
        assert!(done.status.success() || shown.output.contains(&code), "{}", done.story());
        let printed: Vec<_> = done.stdout.lines().map(essence).collect();
        for line in shown.output.iter().filter(|line| **line != code).map(|line| essence(line)) {
            let stands = line == "..." || line.is_empty() || printed.contains(&line);
            assert!(stands, "{} shows `{line}`\n{}", self.page, done.story());
        }
    }

    /// The lines that belong below a command.
    fn renewed(shown: &Shown, done: &Done) -> Vec<String> {
        let mut lines: Vec<_> = done.stdout.lines().map(|line| line.trim_end().to_owned()).collect();
        if !done.status.success() {
            lines.push(format!("[exit code {}]", done.status.code().unwrap_or(-1)));
        }
        let last_blank = shown.output.last().is_some_and(String::is_empty);
        lines.extend(last_blank.then(String::new));
        lines
    }

    /// Pictures of the page that its commands have made.
    fn pictures(&self) -> Vec<(PathBuf, PathBuf)> {
        let folder = root().join(&self.page);
        let targets = self.text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let svgs = targets.filter(|target| target.ends_with(".svg"));
        svgs.map(|target| {
            (self.sandbox.path(Path::new(target).file_name().unwrap()), folder.with_file_name(target))
        })
        .filter(|(made, _)| made.exists())
        .collect()
    }
}

/// Runs the commands of a page one after another in one folder.
fn works_and_prints_what_is_shown(page: &str) {
    let Some(reading) = Reading::open(page) else { return };
    let update = std::env::var_os("COSTEP_UPDATE_BOOK").is_some();
    let commands = commands(&reading.text);
    assert!(!commands.is_empty(), "{page}");
    let mut lines: Vec<String> = reading.text.lines().map(str::to_owned).collect();
    let mut changes = Vec::new();
    for shown in commands {
        let done = reading.run(&shown);
        let is_fixed = SELECTED.contains(&page)
            || shown.output.is_empty()
            || shown.output.iter().any(|line| line == "...");
        if update && !is_fixed {
            changes.push((shown.lines.clone(), Reading::renewed(&shown, &done)));
        } else {
            reading.check(&shown, &done);
        }
    }
    for (range, new) in changes.into_iter().rev() {
        lines.splice(range, new);
    }
    for (made, kept) in reading.pictures() {
        if update {
            fs::create_dir_all(kept.parent().unwrap()).unwrap();
            fs::copy(made, &kept).unwrap();
        }
        assert!(kept.exists(), "{page} shows {}", kept.display());
    }
    if update {
        fs::write(root().join(page), lines.join("\n") + "\n").unwrap();
    }
}

/// Pages that show some of the lines only, chosen by hand.
const SELECTED: [&str; 2] = ["README.md", "docs/guide.md"];

/// Pages with commands and the tests that run them: each has one, and each runs once.
macro_rules! pages {
    ($($test:ident $page:literal)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(#[test]
        fn $test() {
            works_and_prints_what_is_shown($page);
        })*
    };
}

pages! {
    the_readme_works_and_shows_what_is_printed "README.md"
    the_guide_works_and_shows_what_is_printed "docs/guide.md"
    advice_works_and_shows_what_is_printed "docs/advise.md"
    step_control_works_and_shows_what_is_printed "docs/step-control.md"
    ssp_works_and_shows_what_is_printed "docs/ssp.md"
    imports_work_and_show_what_is_printed "docs/import.md"
    choosing_works_and_shows_what_is_printed "docs/choose.md"
    signals_work_and_show_what_is_printed "docs/howto/external-signals.md"
    units_work_and_show_what_is_printed "docs/howto/units.md"
    python_fmus_work_and_show_what_is_printed "docs/howto/python-fmus.md"
    isolation_works_and_shows_what_is_printed "docs/howto/isolation.md"
    resume_works_and_shows_what_is_printed "docs/howto/resume.md"
    the_tutorial_works_and_shows_what_is_printed "docs/tutorial.md"
    pi_plant_works_and_shows_what_is_printed "docs/systems/pi-plant.md"
    thermostat_works_and_shows_what_is_printed "docs/systems/thermostat.md"
    motor_drive_works_and_shows_what_is_printed "docs/systems/motor-drive.md"
    three_tanks_works_and_shows_what_is_printed "docs/systems/three-tanks.md"
    quarter_truck_works_and_shows_what_is_printed "docs/systems/quarter-truck.md"
}

/// The folder in examples/ whose copy a page runs in.
fn example_of(page: &str) -> Option<String> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    text.split_once("<!-- run in ").and_then(|(_, rest)| Some(rest.split_once(" -->")?.0.to_owned()))
}

/// What a chapter shows can be tried in its folder; the README takes no files.
#[test]
fn every_chapter_with_commands_has_a_folder_in_examples() {
    let chapters = PAGES.iter().filter(|page| **page != "README.md");
    let used: Vec<_> = chapters.map(|page| example_of(page).unwrap_or_else(|| panic!("{page}"))).collect();
    for folder in fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path()) {
        let is_project = folder.is_dir() && !folder.join("Cargo.toml").exists();
        let name = format!("examples/{}", folder.file_name().unwrap().display());
        // Plans are run by the experiments that the book describes.
        assert!(!is_project || name == "examples/plans" || used.contains(&name), "no chapter runs {name}");
    }
}

#[test]
fn every_page_with_commands_is_run() {
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let has_commands = !commands(&fs::read_to_string(&path).unwrap()).is_empty();
                let is_run = PAGES.iter().any(|page| path == root().join(page));
                assert!(!has_commands || is_run, "add a line to `pages!` for {}", path.display());
            }
        }
    }
}

#[test]
fn the_readme_is_short() {
    assert!(fs::read_to_string(root().join("README.md")).unwrap().lines().count() <= 120);
}

#[test]
fn commands_are_found_in_console_blocks_only() {
    let readme = "$ costep no\n```console\n$ cargo run --release -- demo\nout 1\n$ cargo xtask test\nno\n```\n\
                  ```sh\n$ costep no\n```\n```console\n$ costep run x  # why\n```\n";
    let found: Vec<_> = commands(readme).into_iter().map(|shown| (shown.command, shown.output)).collect();
    assert_eq!(found, [("costep demo".into(), vec!["out 1".into()]), ("costep run x".into(), vec![])]);
    assert_eq!(essence("  zoh   500 us  stable   1.1e-1    0.7 ms"), "zoh 500 us stable 1.1e-1");
    assert_eq!(essence("done in 0.3 ms   80 macro steps   13498.1x real time"), "done in 80 macro steps");
}
