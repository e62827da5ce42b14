//! The table of crates in ARCHITECTURE.md is that of the workspace, by `cargo metadata`; structs and traits stay small.

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

/// All files of Rust below a folder.
fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() && !entry.ends_with("target") {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

/// The structs and traits of a file as rustfmt writes them: the first line, and the number of fields or of methods that
/// have to be implemented.
fn sizes(text: &str) -> Vec<(&str, usize)> {
    let words = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(") ").map_or(rest, |(_, rest)| rest),
            None => rest.trim_start(),
        });
        line.strip_prefix("unsafe ").unwrap_or(line).to_owned()
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, first) in lines.iter().enumerate() {
        let kind = words(first);
        let is_struct = kind.starts_with("struct ");
        if !first.ends_with('{') || !(is_struct || kind.starts_with("trait ")) {
            continue;
        }
        let indent = first.len() - first.trim_start().len();
        let inner = lines[at + 1..].iter().take_while(|line| line.trim() != "}" || line.len() > indent + 1);
        let inner: Vec<&str> = inner.copied().collect();
        let is_member = |line: &&str| line.len() - line.trim_start().len() == indent + 4;
        let count = if is_struct {
            let is_field = |line: &&&str| {
                let name = words(line);
                let name = name.split(": ").next().unwrap_or_default();
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'#')
            };
            inner.iter().filter(|line| is_member(line) && line.contains(": ")).filter(is_field).count()
        } else {
            // The signature of a method without a body ends by a semicolon.
            let starts =
                (0..inner.len()).filter(|k| is_member(&inner[*k]) && words(inner[*k]).starts_with("fn "));
            let is_open = |k: usize| {
                let end = inner[k..].iter().find(|line| line.ends_with([';', '{', '}']));
                end.is_some_and(|line| line.ends_with(';'))
            };
            starts.filter(|k| is_open(*k)).count()
        };
        found.push((*first, count));
    }
    found
}

#[test]
fn no_struct_and_no_trait_is_too_large() {
    const FIELDS: usize = 20;
    const METHODS: usize = 8;
    let example = "pub(crate) struct A<'a> {\n    /// x: y\n    pub b: u8,\n    #[c]\n    d: Vec<(E, F)>,\n}\n\
                   pub trait G: H {\n    fn i(&self);\n    fn j(\n        &self,\n    ) -> K;\n    fn l(&self) {\n    }\n}\n";
    assert_eq!(sizes(example), [("pub(crate) struct A<'a> {", 2), ("pub trait G: H {", 2)]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "examples", "xtask", "benches"] {
        sources(&root.join(folder), &mut files);
    }
    let (mut seen, mut large) = (0, Vec::new());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source");
        for (first, count) in sizes(&text) {
            seen += 1;
            let most = if first.contains("struct ") { FIELDS } else { METHODS };
            if count > most {
                large.push(format!("{}: {} has {count}, the most is {most}", file.display(), first.trim()));
            }
        }
    }
    assert!(seen > 500, "{seen} structs and traits");
    assert!(large.is_empty(), "{}", large.join("\n"));
}
