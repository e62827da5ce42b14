//! What each verb prints, word for word: the files in `snapshots/` are sessions of a shell, each in a folder of its own.
//!
//! A line that begins with `$ ` is a command. Below it stand what it printed to standard output, what it printed to
//! standard error (marked by `! `), and its exit code unless that is 0. What differs from run to run is replaced by
//! words in brackets. `COSTEP_UPDATE_SNAPSHOTS=1` rewrites the files, to be read before they are committed.

mod common;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Sandbox, finished};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// Name and text of all sessions, in the order of their names.
fn sessions() -> Vec<(PathBuf, String)> {
    let mut files: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), fs::read_to_string(file).unwrap())).collect()
}

fn commands(session: &str) -> impl Iterator<Item = &str> {
    session.lines().filter_map(|line| line.strip_prefix("$ "))
}

/// Runs the commands of a session and gives its text with what they print now.
fn played(session: &str) -> String {
    let sandbox = Sandbox::new();
    let bin = Path::new(env!("CARGO_BIN_EXE_costep")).parent().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin.to_path_buf()).chain(std::env::split_paths(&others));
    let paths = std::env::join_paths(paths).unwrap();
    let head = session.lines().take_while(|line| !line.starts_with("$ "));
    let mut text: String = head.map(|line| format!("{line}\n")).collect();
    for line in commands(session) {
        let mut shell = sandbox.program("sh", ["-c", line]);
        shell.env("PATH", &paths).env("COLUMNS", "100").env("LC_ALL", "C");
        let done = finished(shell, line);
        let _ = writeln!(text, "$ {line}");
        let mut filter = Filter::new(sandbox.path(""));
        done.stdout
            .lines()
            .filter(|line| !tells_of_slowness(line))
            .for_each(|line| text.push_str(&(filter.line(line) + "\n")));
        let mut filter = Filter::new(sandbox.path(""));
        done.stderr
            .lines()
            .filter(|line| !tells_of_slowness(line))
            .for_each(|line| text.push_str(&format!("! {}\n", filter.line(line))));
        if !done.status.success() {
            let _ = writeln!(text, "[{}]", done.status);
        }
        text.push('\n');
    }
    text
}

/// Where the machine is busy, it is told what a command has taken besides its runs.
fn tells_of_slowness(line: &str) -> bool {
    line.starts_with("besides  ") || line.contains(" for the steps of the runs, ")
}

/// Replaces what differs between runs and machines.
struct Filter {
    folder: String,
    /// Inside of a table whose last column is a time.
    has_times: bool,
    /// Inside of the times of a run in JSON, which end at a brace behind so many blanks.
    in_times: Option<usize>,
}

impl Filter {
    fn new(folder: PathBuf) -> Self {
        let folder = folder.display().to_string();
        Self { folder: folder.trim_end_matches('/').into(), has_times: false, in_times: None }
    }

    fn line(&mut self, line: &str) -> String {
        let line = line.trim_end().replace(&self.folder, "[FOLDER]");
        let line = line.replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
        let line = line.replace(std::env::consts::ARCH, "[ARCH]").replace("-0.00 %", "+0.00 %");
        if line.starts_with("time  ") {
            return "time     [SHARES]".into();
        }
        let indent = line.len() - line.trim_start().len();
        if line.trim() == "\"times\": {" {
            self.in_times = Some(indent);
        } else if self.in_times == Some(indent) {
            self.in_times = None;
        }
        let is_time = |key: &str| line.trim_start().starts_with(&format!("\"{key}\":"));
        let is_measured =
            self.in_times.is_some() || ["wall_s", "real_time_factor"].iter().any(|key| is_time(key));
        let line = numbers_replaced(&line, |number, after| {
            let mantissa = number.split('e').next().unwrap().trim_end_matches(['0', '.']);
            let digits = mantissa.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0');
            if is_measured || after.starts_with("x real time") {
                Some("[MEASURED]")
            } else if digits.count() > 6 && number.contains('.') {
                // Rounding may differ in the last digits.
                Some("[FLOAT]")
            } else {
                None
            }
        });
        if line.contains("done in ") || line.contains("repeatable") {
            return line.split("   ").map(without_time).collect::<Vec<_>>().join("   ");
        }
        let cells = line.split_whitespace().count();
        if line.ends_with("  time") {
            self.has_times = true;
        } else if self.has_times && cells > 2 {
            let cut = line.rfind("  ").map_or(0, |at| at + 2);
            return format!("{}[TIME]", &line[..cut]);
        } else {
            self.has_times = false;
        }
        line
    }
}

/// `done in 1.2 ms` without the time.
fn without_time(words: &str) -> String {
    let mut words: Vec<_> = words.split(' ').collect();
    if let [.., number, "ns" | "us" | "ms" | "s" | "min" | "h"] = words[..]
        && number.parse::<f64>().is_ok()
    {
        words.truncate(words.len() - 2);
        words.push("[TIME]");
    }
    words.join(" ")
}

/// A line with other words in place of some numbers; what follows a number is known as well.
fn numbers_replaced(line: &str, replace: impl Fn(&str, &str) -> Option<&'static str>) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some(begin) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        text.push_str(&rest[..begin]);
        rest = &rest[begin..];
        let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || (is_number && c == '.');
        let mut end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        // The exponent may have a sign; a number may be followed by letters or end a sentence.
        if rest[..end].ends_with('e') && is_number && rest[end..].starts_with('-') {
            end += 1 + rest[end + 1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - end - 1);
        }
        while is_number && end > 1 && rest[..end].parse::<f64>().is_err() {
            end -= 1;
        }
        let (word, after) = rest.split_at(end);
        text.push_str(is_number.then(|| replace(word, after)).flatten().unwrap_or(word));
        rest = after;
    }
    text + rest
}

#[test]
fn every_verb_prints_what_is_committed() {
    let update = std::env::var_os("COSTEP_UPDATE_SNAPSHOTS").is_some();
    let mut differences = String::new();
    for (file, committed) in sessions() {
        let played = played(&committed);
        if update {
            fs::write(&file, &played).unwrap();
        } else if played != committed {
            let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file.file_name().unwrap());
            fs::write(&new, &played).unwrap();
            let diff = Command::new("diff").arg("-u").arg(&file).arg(&new).output().unwrap();
            differences += &String::from_utf8_lossy(&diff.stdout);
        }
    }
    assert!(
        differences.is_empty(),
        "{differences}\nIf this is meant: COSTEP_UPDATE_SNAPSHOTS=1 cargo test -p costep-cli --test snapshots"
    );
}

#[test]
fn every_verb_has_its_help_and_a_typical_run() {
    let sessions: Vec<_> = sessions().into_iter().map(|(_, text)| text).collect();
    let commands: Vec<_> = sessions.iter().flat_map(|text| commands(text)).collect();
    let help = Sandbox::new().run("--help").exits(0).stdout;
    let verbs =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs: Vec<_> = verbs.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(verbs.len() > 15, "{help}");
    for verb in verbs {
        let of_verb = |command: &&&str| command.starts_with(&format!("costep {verb}"));
        let of_verb: Vec<_> = commands.iter().filter(of_verb).collect();
        let helps = of_verb.iter().filter(|command| command.ends_with("--help")).count();
        assert!(verb == "help" || (helps > 0 && helps < of_verb.len()), "`{verb}` lacks a snapshot");
    }
}

#[test]
fn only_what_is_measured_is_replaced() {
    let mut filter = Filter::new("/tmp/x".into());
    for (line, expected) in [
        (
            "done in 1.2 ms   100 macro steps   2.5x real time",
            "done in [TIME]   100 macro steps   [MEASURED]x real time",
        ),
        ("  method  step  time", "  method  step  time"),
        ("  zoh     1 ms  0.9 ms", "  zoh     1 ms  [TIME]"),
        ("", ""),
        ("  zoh     1 ms  0.9 ms", "  zoh     1 ms  0.9 ms"),
        ("/tmp/x/rig: 2.3e2, 0.123456789e-4, 1000000000", "[FOLDER]/rig: 2.3e2, [FLOAT], 1000000000"),
        ("  \"wall_s\": 0.5,", "  \"wall_s\": [MEASURED],"),
        ("s1   step 3.4 us   repeatable yes", "s1   step [TIME]   repeatable yes"),
    ] {
        assert_eq!(filter.line(line), expected);
    }
}
