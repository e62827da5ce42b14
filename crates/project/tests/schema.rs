//! What `costep schema` gives editors, judged by a validator that others wrote: it accepts every project of the repository and
//! refuses every malformed one of the tests, but for mistakes that no schema can see.

mod common;
#[path = "../../fmu-export/tests/common/python.rs"]
mod python;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::cases::{CASES, FMU_CASES, FMU_RIG};
use common::{RIG, WHOLE};
use costep_project::Registry;
use serde_json::{Value, json};

/// What the validator says against each project; nothing if it accepts it. Nothing at all where Python is left out.
fn complaints(projects: &[String]) -> Option<Vec<Option<String>>> {
    if python::skipped() {
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let interpreter = python::environment("schema-venv", &folder.join("requirements.txt"));
    // What is no TOML is no document: it counts as null, which is no table.
    let document =
        |text: &String| text.parse().map_or(Value::Null, |table| json_of(&toml::Value::Table(table)));
    let documents: Vec<Value> = projects.iter().map(document).collect();
    let task = json!({ "schema": Registry::standard().schema(), "documents": documents });
    let mut child = Command::new(interpreter)
        .arg(folder.join("validate.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(task.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// As editors see a project: JSON has no number for `inf` and `nan`.
fn json_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => json!(text),
        toml::Value::Integer(integer) => json!(integer),
        toml::Value::Float(real) => json!(real),
        toml::Value::Boolean(truth) => json!(truth),
        toml::Value::Datetime(date) => json!(date.to_string()),
        toml::Value::Array(items) => items.iter().map(json_of).collect(),
        toml::Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), json_of(value))).collect(),
    }
}

/// Files below a folder with this ending.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files(&entry, ending, found);
        } else if entry.extension().is_some_and(|extension| extension == ending) {
            found.push(entry);
        }
    }
}

/// Whether a text is a project: not a manifest, and not a plan of experiments.
fn is_project(text: &str) -> bool {
    let is_table = |table: &toml::Table, key: &str| table.get(key).is_some_and(toml::Value::is_table);
    text.parse().is_ok_and(|table: toml::Table| {
        ["system", "native", "fmu", "linear"].iter().any(|key| is_table(&table, key))
            && !table.contains_key("package")
    })
}

/// The projects among listings of a page. What is commented out there can be used too.
fn listings(page: &str) -> impl Iterator<Item = String> {
    page.split("\n```toml\n").skip(1).filter_map(|rest| rest.split("\n```").next()).map(str::to_owned)
}

#[test]
fn every_project_of_the_repository_is_accepted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut paths, mut pages) = (Vec::new(), vec![root.join("README.md")]);
    files(&root.join("examples"), "toml", &mut paths);
    files(&root.join("crates/cli"), "toml", &mut paths);
    files(&root.join("docs"), "md", &mut pages);
    let mut projects: Vec<(String, String)> = Vec::new();
    for path in paths {
        projects.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
    }
    for path in pages {
        let page = fs::read_to_string(&path).unwrap();
        projects.extend(listings(&page).map(|text| (path.display().to_string(), text)));
    }
    projects.retain(|(_, text)| is_project(text));
    let of_tests = [RIG, WHOLE, FMU_RIG].map(|text| ("of the tests".to_owned(), text.to_owned()));
    projects.extend(of_tests);
    assert!(projects.len() > 10, "{}", projects.len());
    let (names, texts): (Vec<_>, Vec<_>) = projects.into_iter().unzip();
    let Some(complaints) = complaints(&texts) else { return };
    let refused: Vec<_> =
        names.iter().zip(&complaints).filter(|(_, complaint)| complaint.is_some()).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

/// Mistakes that a schema cannot see, by what is written or, if it is nothing, by what is missing; with the reason.
const UNSEEN: &[(&str, &[&str])] = &[
    (
        "what conditions say, and lengths that are compared",
        &[
            "stop_when = [\"a.x => 3\"]\nstop =",
            "stop_when = [\"time > 3\"]\nstop =",
            "tolerance = 1e-3\nmax = \"0.5 ms\"\nsize =",
        ],
    ),
    (
        "names are those of other tables, of files, or of variables inside FMUs",
        &[
            "group = \"fsat\"",
            "id = \"foh\"\ninputs = [\"*.q\"]",
            "id = \"foh\"\ninputs = [\"b.xx\"]",
            "[\"b\", \"c\", \"a\"]",
            "[\"b\"]",
            "from = \"b.G\"",
            "from = \"F\"",
            "from = \"native.b.F\"",
            "from = \"b.F -> a.F\"",
            "from = \"b.x\"",
            "to = \"b.y\"",
            "[\"a.*\", \"b.G\"]",
            "[\"c.*\"]",
            "{ b.G =",
            "[port.\"b.G\"]\nnominal = 1\n[record]",
            "[port.\"a.F\"]\nmin = 2\n[record]",
            "file = \"S1.fm\"",
            "file = \"gone/x.fmu\"",
            "file = \"folder.fmu\"",
            "file = \"text.fmu\"",
            "continuous = [\"u1\", \"uu2\"]",
            "discrete = [\"ck\"]",
            "cc = 2e6",
            "from = \"b.f2\"",
            "from = \"F\"",
            "from = \"b.ck\"",
            "to = \"a.v\"",
        ],
    ),
    (
        "what an FMU offers, or the type of its variable, is not in the project",
        &[
            "file = \"Exchange.fmu\"\ninterface = \"cs\"",
            "file = \"Exchange.fmu\"\nsolver = \"exact\"",
            "file = \"Exchange.fmu\"\nsolver = \"dopri5:2\"",
            "interface = \"me\"",
            "solver = \"euler\"",
            "c = \"stiff\"",
            "c = [1, 2]",
            "c = [1, true]",
            "v = 1.0",
            "stop = \"10 ms\"\n",
        ],
    ),
    (
        "two values are compared with each other",
        &[
            "\"-50 ms\"",
            "\"0 s\"",
            "start = 1\nstop =",
            "size = 1e-19",
            "[1, -1]",
            "[port.\"b.F\"]\nmin = 2\nmax = 1\n[record]",
            "table = [[0, 1], [0, 2]]",
            "discrete = [\"u1\"]\ncontinuous = [\"u1\"]",
            "step_timeout = 1e300",
        ],
    ),
    (
        "several tables have to fit together",
        &[
            "[group.slow]\ninputs = [\"b.v\"]\n[group.fast]",
            "to = \"b.v\"",
            "to = \"a.F\"\nbond",
            "from = \"a.v\"",
            "[native.a]\nmodel = \"dual-mass\"\npart = \"s1\"\n[fmu.b]",
        ],
    ),
];

#[test]
fn malformed_projects_are_refused_unless_only_their_meaning_is_wrong() {
    let cases = CASES.iter().map(|case| (RIG, case)).chain(FMU_CASES.iter().map(|case| (FMU_RIG, case)));
    let (texts, written): (Vec<_>, Vec<_>) = cases
        .map(|(rig, (old, new, ..))| (rig.replacen(old, new, 1), if new.is_empty() { *old } else { *new }))
        .unzip();
    let Some(complaints) = complaints(&texts) else { return };
    let unseen: Vec<&str> = UNSEEN.iter().flat_map(|(_, all)| *all).copied().collect();
    let accepted: Vec<_> =
        written.iter().zip(&complaints).filter(|(_, complaint)| complaint.is_none()).collect();
    let missed: Vec<_> = accepted.iter().filter(|(new, _)| !unseen.contains(new)).collect();
    assert!(missed.is_empty(), "the schema accepts {missed:#?}");
    let seen: Vec<_> = unseen.iter().filter(|new| !accepted.iter().any(|(other, _)| other == new)).collect();
    assert!(seen.is_empty(), "the schema does see {seen:#?}");
}
