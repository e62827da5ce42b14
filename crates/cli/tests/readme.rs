//! Every command of the README and of the guide works, in the order in which a reader meets them, and prints what is
//! shown there.

mod common;

use std::path::Path;

use common::{Done, Sandbox, finished};

/// A command of a console block and the lines shown below it.
struct Shown {
    command: String,
    output: Vec<String>,
}

fn commands(readme: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let (mut in_block, mut is_ours) = (false, false);
    for line in readme.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block && line.trim() == "```console";
            is_ours = false;
        } else if let (true, Some(command)) = (in_block, line.strip_prefix("$ ")) {
            let ours = command
                .strip_prefix("cargo run --release -- ")
                .or_else(|| command.strip_prefix("costep "))
                .map(|arguments| format!("costep {arguments}"));
            is_ours = ours.is_some();
            shown.extend(ours.map(|command| Shown { command, output: Vec::new() }));
        } else if let (true, true, Some(last)) = (in_block, is_ours, shown.last_mut()) {
            last.output.push(line.into());
        }
    }
    shown
}

/// A line without what differs from machine to machine: blanks and the wall time at its end.
fn essence(line: &str) -> String {
    let mut words: Vec<_> = line.split_whitespace().collect();
    if let [.., number, "ms" | "s"] = words[..]
        && number.parse::<f64>().is_ok()
    {
        words.truncate(words.len() - 2);
    }
    words.join(" ")
}

/// Runs the commands of a page one after another in one folder.
fn read_along(page: &str, mut look: impl FnMut(&Shown, &Done)) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_costep")).parent().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin.to_path_buf()).chain(std::env::split_paths(&others));
    let paths = std::env::join_paths(paths).unwrap();
    let sandbox = Sandbox::new();
    let commands = commands(&text);
    assert!(!commands.is_empty(), "{page}");
    for shown in commands {
        let mut shell = sandbox.program("sh", ["-c", &shown.command]);
        shell.env("PATH", &paths);
        look(&shown, &finished(shell, shown.command.trim_start_matches("costep ")));
    }
}

fn works_and_prints_what_is_shown(page: &str) {
    read_along(page, |shown, done| {
        assert!(done.status.success(), "{}", done.story());
        let printed: Vec<_> = done.stdout.lines().chain(done.stderr.lines()).map(essence).collect();
        for line in shown.output.iter().map(|line| essence(line)) {
            let stands = line == "..." || line.is_empty() || printed.contains(&line);
            assert!(stands, "{page} shows `{line}`\n{}", done.story());
        }
    });
}

#[test]
fn the_readme_works_and_shows_what_is_printed() {
    works_and_prints_what_is_shown("README.md");
}

#[test]
fn the_guide_works_and_shows_what_is_printed() {
    works_and_prints_what_is_shown("docs/guide.md");
}

#[test]
fn the_readme_is_short() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    assert!(std::fs::read_to_string(path).unwrap().lines().count() <= 120);
}

#[test]
fn commands_are_found_in_console_blocks_only() {
    let readme = "$ costep no\n```console\n$ cargo run --release -- demo\nout 1\n$ cargo xtask test\nno\n```\n\
                  ```sh\n$ costep no\n```\n```console\n$ costep run x\n```\n";
    let found: Vec<_> = commands(readme).into_iter().map(|shown| (shown.command, shown.output)).collect();
    assert_eq!(found, [("costep demo".into(), vec!["out 1".into()]), ("costep run x".into(), vec![])]);
    assert_eq!(essence("  zoh   500 us  stable   1.1e-1    0.7 ms"), "zoh 500 us stable 1.1e-1");
}
