//! Every command of the README works, in the order in which a reader meets them, and prints what is shown there.

mod common;

use std::path::Path;

use common::{Desk, Done, finished};

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

/// Runs the commands of the README one after another in one folder.
fn read_along(mut look: impl FnMut(&Shown, &Done)) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(path).unwrap_or_default();
    let bin = Path::new(env!("CARGO_BIN_EXE_costep")).parent().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin.to_path_buf()).chain(std::env::split_paths(&others));
    let paths = std::env::join_paths(paths).unwrap();
    let desk = Desk::new();
    for shown in commands(&readme) {
        let mut shell = desk.program("sh", ["-c", &shown.command]);
        shell.env("PATH", &paths);
        look(&shown, &finished(shell, shown.command.trim_start_matches("costep ")));
    }
}

#[test]
fn every_command_of_the_readme_works() {
    read_along(|_, done| assert!(done.status.success(), "{}", done.story()));
}

#[test]
fn the_readme_shows_what_is_printed() {
    read_along(|shown, done| {
        let printed: Vec<_> = done.stdout.lines().chain(done.stderr.lines()).map(essence).collect();
        for line in shown.output.iter().map(|line| essence(line)) {
            let stands = line == "..." || line.is_empty() || printed.contains(&line);
            assert!(stands, "the README shows `{line}`\n{}", done.story());
        }
    });
}

#[test]
fn commands_are_found_in_console_blocks_only() {
    let readme = "$ costep no\n```console\n$ cargo run --release -- demo\nout 1\n$ cargo xtask test\nno\n```\n\
                  ```sh\n$ costep no\n```\n```console\n$ costep run x\n```\n";
    let found: Vec<_> = commands(readme).into_iter().map(|shown| (shown.command, shown.output)).collect();
    assert_eq!(found, [("costep demo".into(), vec!["out 1".into()]), ("costep run x".into(), vec![])]);
    assert_eq!(essence("  zoh   500 us  stable   1.1e-1    0.7 ms"), "zoh 500 us stable 1.1e-1");
}
