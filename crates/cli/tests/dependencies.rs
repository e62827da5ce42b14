//! Every crate of others is named in docs/dependencies.md with a reason, and nothing else is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The part of the page below a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    rest.split("\n## ").next().unwrap()
}

/// Words in backquotes of a text.
fn quoted(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// Cells of the rows of a table.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

#[test]
fn every_crate_of_others_has_a_reason_to_be_trusted() {
    let page = read("docs/dependencies.md");
    let chosen = rows(section(&page, "Chosen here"));
    let brought = rows(section(&page, "Brought by them"));
    for row in chosen.iter().chain(&brought) {
        assert!(row.iter().all(|cell| !cell.is_empty()), "an empty cell: {row:?}");
    }
    let names =
        chosen.iter().flat_map(|row| quoted(row[0])).chain(brought.iter().flat_map(|row| quoted(row[2])));
    let named: BTreeSet<String> = names.collect();
    let lock = read("Cargo.lock");
    let packages = lock.split("[[package]]").filter(|package| package.contains("\nsource = "));
    let name = |package: &str| Some(package.split_once("\nname = \"")?.1.split('"').next()?.to_owned());
    let locked: BTreeSet<String> = packages.filter_map(name).collect();
    assert!(locked.len() > 100);
    let differing: Vec<&String> = locked.symmetric_difference(&named).collect();
    assert!(differing.is_empty(), "in Cargo.lock or in docs/dependencies.md, not in both: {differing:?}");
}

#[test]
fn chosen_crates_are_those_of_the_manifests_and_code_at_build_time_is_named() {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--offline",
            "--format-version",
            "1",
            "--filter-platform",
            "x86_64-unknown-linux-gnu",
        ])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata in JSON");
    let packages = metadata["packages"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (own, foreign): (Vec<&Value>, Vec<&Value>) =
        packages.iter().partition(|package| package["source"].is_null());
    let mut direct: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for dependency in own.iter().flat_map(|package| package["dependencies"].as_array().unwrap()) {
        if !dependency["source"].is_null() {
            let features = direct.entry(text(&dependency["name"])).or_default();
            features.extend(dependency["features"].as_array().unwrap().iter().map(text));
            features.extend((dependency["uses_default_features"] == true).then(|| "default".into()));
        }
    }
    let page = read("docs/dependencies.md");
    let features = |cell: &str| cell.split(", ").filter(|name| *name != "none").map(str::to_owned).collect();
    let chosen = rows(section(&page, "Chosen here"));
    let chosen: BTreeMap<String, BTreeSet<String>> =
        chosen.iter().filter_map(|row| Some((quoted(row[0]).next()?, features(row[4])))).collect();
    for name in direct.keys().chain(chosen.keys()) {
        assert_eq!(
            direct.get(name),
            chosen.get(name),
            "features of `{name}` by the manifests, and in the document"
        );
    }
    let kinds = |package: &Value| {
        package["targets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|target| target["kind"].to_string())
            .collect::<String>()
    };
    let is_run =
        |package: &&&Value| ["custom-build", "proc-macro"].iter().any(|kind| kinds(package).contains(kind));
    let run: BTreeSet<String> = foreign.iter().filter(is_run).map(|package| text(&package["name"])).collect();
    let named: BTreeSet<String> = quoted(section(&page, "Code that runs while building")).collect();
    let differing: Vec<&String> = run.symmetric_difference(&named).collect();
    assert!(
        differing.is_empty(),
        "code that runs while building and docs/dependencies.md differ in: {differing:?}"
    );
}
