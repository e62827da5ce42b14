//! The table of crates in ARCHITECTURE.md is that of the workspace, by `cargo metadata`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const HEAD: &str = "| layer | crate | depends on | what it is |\n|---|---|---|---|\n";

/// A crate of the workspace.
struct Member {
    /// Name of its folder.
    name: String,
    description: String,
    /// Names of the packages it depends on, tests and benchmarks left out.
    dependencies: Vec<String>,
}

/// The crates of the workspace by the names of their packages.
fn members() -> BTreeMap<String, Member> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata in JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    let names: Vec<String> = packages.iter().map(|package| text(&package["name"])).collect();
    let member = |package: &Value| {
        let mut dependencies: Vec<String> = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .filter(|dependency| dependency["kind"] != "dev")
            .map(|dependency| text(&dependency["name"]))
            .filter(|name| names.contains(name))
            .collect();
        dependencies.sort();
        dependencies.dedup();
        let manifest = text(&package["manifest_path"]);
        let folder = Path::new(&manifest).parent().and_then(Path::file_name).expect("a folder");
        let name = folder.to_string_lossy().into_owned();
        Member { name, description: text(&package["description"]), dependencies }
    };
    packages.iter().map(|package| (text(&package["name"]), member(package))).collect()
}

/// How many crates are one on top of the other below this one.
fn layer(members: &BTreeMap<String, Member>, package: &str) -> usize {
    let below = members[package].dependencies.iter().map(|name| 1 + layer(members, name));
    below.max().unwrap_or(0)
}

/// The table, the highest layer first.
fn table(members: &BTreeMap<String, Member>) -> String {
    let mut rows: Vec<(usize, &Member)> =
        members.iter().map(|(package, member)| (layer(members, package), member)).collect();
    rows.sort_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.name.cmp(&second.name)));
    let mut text = HEAD.to_owned();
    for (layer, Member { name, description, dependencies }) in rows {
        let dependencies: Vec<&str> = dependencies.iter().map(|name| members[name].name.as_str()).collect();
        text += &format!("| {layer} | `{name}` | {} | {description} |\n", dependencies.join(", "));
    }
    text
}

#[test]
fn the_table_of_crates_is_that_of_the_workspace() {
    let members = members();
    assert!(members.len() > 15, "{} crates", members.len());
    for (package, member) in &members {
        assert!(!member.description.is_empty(), "{package} has no description in its Cargo.toml");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let document = std::fs::read_to_string(path).expect("ARCHITECTURE.md");
    let (_, rest) = document.split_once(HEAD).expect("a table of crates");
    let rows = rest.lines().take_while(|line| line.starts_with('|')).flat_map(|line| [line, "\n"]);
    let written: String = [HEAD].into_iter().chain(rows).collect();
    let expected = table(&members);
    assert!(written == expected, "the table of crates in ARCHITECTURE.md should be\n\n{expected}");
}

#[test]
fn files_of_systems_are_read_without_loaders_integrators_and_processes() {
    let members = members();
    let mut open = vec!["costep-ssp"];
    let mut below = Vec::new();
    while let Some(package) = open.pop() {
        below.push(package);
        open.extend(members[package].dependencies.iter().map(String::as_str));
    }
    below.sort_unstable();
    below.dedup();
    assert_eq!(below, ["costep-core", "costep-fmu-file", "costep-ssp"]);
}
