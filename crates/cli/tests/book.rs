//! The book in docs/ is whole: its summary lists every page, every link leads somewhere, and the pages that are written
//! by the program are what it would write now (`COSTEP_UPDATE_BOOK=1` writes them).

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Component, Path, PathBuf};

use costep_core::OptionSpec;
use costep_core::codes::CODES;
use costep_methods::registry::all;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn read(page: &str) -> String {
    fs::read_to_string(docs().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// All pages, as paths below docs/ with slashes.
fn pages() -> BTreeSet<String> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![docs()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let below = path.strip_prefix(docs()).unwrap();
                found.insert(below.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found
}

/// Text outside of code, where brackets are links.
fn prose(page: &str) -> String {
    let (mut in_code, mut text) = (false, String::new());
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            // Every second part is between backquotes.
            text.extend(line.split('`').step_by(2));
            text.push('\n');
        }
    }
    text
}

/// Targets of links and pictures that are not on the network.
fn links(page: &str) -> Vec<String> {
    let text = prose(page);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// Where a link of a page leads, as a path below docs/, and the part of the page.
fn target(page: &str, link: &str) -> (String, Option<String>) {
    let (file, part) = match link.split_once('#') {
        Some((file, part)) => (file, Some(part.to_owned())),
        None => (link, None),
    };
    if file.is_empty() {
        return (page.into(), part);
    }
    let mut path = PathBuf::from(page);
    path.pop();
    for component in Path::new(file).components() {
        match component {
            Component::ParentDir => assert!(path.pop(), "{page}: `{link}` leads out of the book"),
            other => path.push(other),
        }
    }
    (path.to_string_lossy().replace('\\', "/"), part)
}

/// The name that mdBook gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

#[test]
fn the_summary_lists_every_page_once() {
    let listed: Vec<_> = links(&read("SUMMARY.md")).iter().map(|link| target("SUMMARY.md", link).0).collect();
    let set: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(set.len(), listed.len(), "a page is listed twice: {listed:?}");
    let mut pages = pages();
    pages.remove("SUMMARY.md");
    assert_eq!(set, pages, "left what docs/SUMMARY.md lists, right what is there");
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    for page in pages() {
        for link in links(&read(&page)) {
            let (file, part) = target(&page, &link);
            assert!(docs().join(&file).exists(), "{page}: `{link}` leads nowhere");
            if let Some(part) = part {
                let text = read(&file);
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                let is_there = headings.any(|line| anchor(line.trim_start_matches('#')) == part);
                assert!(is_there, "{page}: `{link}`: {file} has no such heading");
            }
        }
    }
}

/// Compares a page with what the program writes, or writes it.
fn assert_written(page: &str, wanted: &str) {
    if std::env::var_os("COSTEP_UPDATE_BOOK").is_some() {
        fs::write(docs().join(page), wanted).unwrap();
    }
    assert!(
        read(page) == wanted,
        "docs/{page} is out of step with the program: `cargo xtask book --write` writes it"
    );
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[test]
fn the_page_of_codes_is_the_table() {
    let mut page = String::from(
        "# Error codes\n\n`costep explain E0203` shows one of them. Written from the table in `crates/core/src/codes.rs`; \
         codes keep their meaning. W are warnings: the run goes on.\n\n\
         | exit code | after |\n|---|---|\n| 1 | bad input: file, option, name, unit |\n| 2 | a model failed |\n\
         | 3 | the run diverged, is unstable or inaccurate |\n| 4 | a time limit |\n| 5 | a bug of costep |\n\
         | 130 | stopped by the user |\n",
    );
    let groups = [
        ("E01", "FMUs and SSPs"),
        ("W01", "FMUs and SSPs: warnings"),
        ("E02", "Projects and command line"),
        ("W02", "Projects and command line: warnings"),
        ("E03", "Coupling methods"),
        ("W03", "Coupling methods: warnings"),
        ("E04", "Subsystems while running"),
        ("W04", "Subsystems while running: warnings"),
        ("E05", "Recordings and checkpoints"),
        ("W05", "Recordings and checkpoints: warnings"),
        ("E06", "Guards of the run"),
        ("W06", "Guards of the run: warnings"),
        ("E07", "Analysis of many runs"),
        ("W07", "Analysis of many runs: warnings"),
        ("E09", "Bugs of costep"),
    ];
    for (start, title) in groups {
        let rows: Vec<_> = CODES.iter().filter(|entry| entry.id.starts_with(start)).collect();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n## {title}");
        for entry in rows {
            let (title, text) = (cell(entry.title), cell(entry.explanation));
            let _ =
                write!(page, "\n### {}\n\n**{title}.** {text} Exit code {}.", entry.id, entry.exit.code());
            let help = if entry.remedy.is_empty() {
                String::new()
            } else {
                format!(" Help: {}.", cell(entry.remedy))
            };
            let _ = writeln!(page, "{help}");
        }
    }
    for entry in CODES {
        assert!(page.contains(&format!("### {}\n", entry.id)), "{} has no group", entry.id);
    }
    assert_written("codes.md", &format!("{}\n", page.trim_end()));
}

fn option_rows(options: &[OptionSpec]) -> String {
    let row = |spec: &OptionSpec| {
        let (usual, allowed) = (spec.kind.default_value(), cell(&spec.kind.allowed()));
        format!("| `{}` | {usual} | {allowed} | {} |\n", spec.name, cell(spec.help))
    };
    options.iter().map(row).collect()
}

#[test]
fn every_method_has_its_picture_and_equations() {
    let mut page = String::from(
        "# Every method with its picture\n\nWritten from the registry of methods, as `costep methods ID` prints it; \
         [which to take](choose.md), [how they are used](methods.md). Symbols: T^k communication point, h macro step, \
         y^k outputs at T^k, z^k = L y^k what the inputs are connected to, u(t) input over the step, s = t - T^k, hat predicted.\n\n\
         The pictures show what a method makes of one input, the force on the wheel of the [quarter truck](systems/quarter-truck.md), \
         at a step of 4 ms: the wheel falls off a kerb at 0 ms. The dashed line is the monolithic solution; the closer the pieces follow \
         it, the smaller the coupling error. `cargo run --example method_pictures docs/img/methods` draws them.\n",
    );
    for entry in all() {
        let _ = writeln!(page, "\n## `{}`: {}\n\n{}\n", entry.id, entry.title, cell(entry.summary));
        let _ = writeln!(page, "```text\n{}\n```\n", entry.equations);
        let picture = format!("img/methods/{}.svg", entry.id);
        if !["auto", "monolithic"].contains(&entry.id) {
            assert!(
                docs().join(&picture).exists(),
                "`{}` has no picture: `cargo xtask book --write` draws it",
                entry.id
            );
            let _ = writeln!(page, "![Input over some macro steps by {}]({picture})\n", entry.id);
        }
        if entry.id == "lis" {
            page.push_str("What the picture cannot show: inside a step each part adds to this hold what its environment model answers.\n\n");
        }
        let order = if entry.id == "monolithic" { "-".into() } else { entry.convergence_order.to_string() };
        let _ = writeln!(page, "Order {order}. Source: {}.", cell(entry.source));
        if !entry.options.is_empty() {
            let _ = write!(
                page,
                "\n| option | default | allowed | |\n|---|---|---|---|\n{}",
                option_rows(entry.options)
            );
        }
    }
    assert_written("every-method.md", &page);
}

/// A number with decimals or an exponent, which somebody computed.
fn computed(word: &str) -> Option<&str> {
    let word = word.trim_matches(|c: char| !c.is_ascii_digit());
    let is_number = word.parse::<f64>().is_ok() && word.chars().any(|c| c == '.' || c == 'e');
    is_number.then_some(word)
}

/// Pages of figures, and what makes these: the page names it. Their text sums up tables and measurements.
const MEASURED: [(&str, &str); 13] = [
    ("advise.md", "cargo bench -p costep-benches --bench advise"),
    ("compatibility.md", "costep survey"),
    ("howto/isolation.md", "cargo bench -p costep-benches --bench isolation"),
    ("import.md", "crates/cli/tests/imports.rs"),
    ("methods.md", "crates/engine/tests/iteration.rs"),
    ("performance.md", "cargo bench -p costep-benches --bench methods"),
    ("python-figures.md", "python/figures/figures.py"),
    ("reliability.md", "cargo xtask fuzz --table"),
    ("reproduce.md", "costep reproduce"),
    ("step-control.md", "cargo bench -p costep-benches --bench step_control"),
    ("theory/identified.md", "cargo bench -p costep-benches --bench tuning"),
    ("theory/predictive.md", "crates/engine/tests/passive_pairs.rs"),
    ("trust.md", "cargo bench -p costep-benches --bench trust"),
];

/// What is no result: versions, sections of papers, limits of a verdict.
const GIVEN: [(&str, &[&str]); 6] = [
    ("faults.md", &["FMI 1.0 and 2.0", "FMI 1.0", "FMI 2.0", "FMI 3.0", "Linux 6.12", "[V14] 3.3"]),
    ("guide.md", &["FMI 2.0 or 3.0", "2.0 or 3.0"]),
    ("howto/python-fmus.md", &["FMI 2.0", "FMI 3.0"]),
    (
        "json.md",
        &["1.5 times", "5e7 evaluations", "above 0.1", "error of 0.03", "above 0.5", "1e-6 of its nominal"],
    ),
    ("python.md", &["Python 3.10"]),
    ("ssp.md", &["1.0 and 2.0", "2.0 up to", "2.0.1", "Version 1.0", "2.0 where"]),
];

/// Numbers in the text stand in a listing: equations, settings, or what a command prints. What is measured elsewhere is named.
#[test]
fn numbers_of_the_book_come_from_runs() {
    let (mut measured, mut given) = (MEASURED.to_vec(), GIVEN.to_vec());
    for page in pages() {
        let text = read(&page);
        if let Some(at) = measured.iter().position(|(of, _)| *of == page) {
            let (_, source) = measured.swap_remove(at);
            assert!(text.contains(source), "{page} does not name {source}, which makes its numbers");
            continue;
        }
        let mut prose = prose(&text);
        if let Some(at) = given.iter().position(|(of, _)| *of == page) {
            for words in given.swap_remove(at).1 {
                assert!(prose.contains(words), "{page} no longer says {words}");
                prose = prose.replace(words, "");
            }
        }
        // Written from tables of the program; a list of sections of papers.
        let written = ["every-method.md", "codes.md", "equations.md"].contains(&page.as_str());
        let listings = text.split("```").skip(1).step_by(2).collect::<String>();
        for word in prose.split_whitespace().filter_map(computed).filter(|_| !written) {
            assert!(listings.contains(word), "{page} says {word}, which no listing of it does");
        }
    }
    assert!(measured.is_empty() && given.is_empty(), "no such pages: {measured:?} {given:?}");
}

/// Projects in the text are valid ones, and pieces of projects are lines of an example.
#[test]
fn projects_in_the_book_are_valid() {
    let root = docs().join("..");
    let mut lines = BTreeSet::new();
    for folder in fs::read_dir(root.join("examples")).unwrap().map(|entry| entry.unwrap().path()) {
        if let Ok(project) = fs::read_to_string(folder.join("system.toml")) {
            lines.extend(project.lines().map(str::to_owned));
        }
    }
    for page in pages() {
        let text = read(&page);
        for block in text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            // Plans are read where their commands are run.
            if block.contains("[plan]") {
                continue;
            }
            if block.contains("[system]") {
                let project = costep_project::load_text(block, Path::new("book.toml"), &[]);
                assert!(project.is_ok(), "{page}: {:?}", project.err());
            } else {
                let unknown = block.lines().find(|line| !line.is_empty() && !lines.contains(*line));
                assert_eq!(unknown, None, "{page}: not a line of a project in examples/");
            }
        }
    }
}
