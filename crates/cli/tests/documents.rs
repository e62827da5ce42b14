//! The documents say what is there.

use std::fs;
use std::path::{Path, PathBuf};

use costep_methods::identified::tuning::{Tuning, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_equation_is_in_the_file_that_the_list_names() {
    let list = read("docs/equations.md");
    let rows: Vec<Vec<&str>> = list
        .lines()
        .filter(|line| line.starts_with("| ["))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 10);
    for row in rows {
        let [tag, equations, _, file] = row[..] else { panic!("{row:?}") };
        let text = read(file.trim_matches('`'));
        let tag = tag.trim_matches(['[', ']']);
        // "[T (3.1), (3.2)]", "[T 3.1]", "[H18] (2), (3)" and "[G18] section 3.2" all name an equation.
        let mentions: Vec<_> = text
            .match_indices(&format!("[{tag}"))
            .map(|(at, _)| text[at..].lines().next().unwrap_or_default())
            .collect();
        for equation in equations.split(", ") {
            assert!(
                mentions.iter().any(|line| line.contains(equation)),
                "{file} does not mention [{tag}] {equation}"
            );
        }
    }
}

#[test]
fn the_tests_that_documents_name_are_there() {
    let pages =
        ["docs/faults.md", "docs/reliability.md", "docs/theory/predictive.md", "docs/theory/identified.md"]
            .map(read);
    let names_test = |line: &&str| line.starts_with("| ") && line.contains(".rs`");
    let rows: Vec<Vec<&str>> = pages.iter().map(|page| page.lines().filter(names_test).collect()).collect();
    assert!(rows[0].len() > 15 && rows[1..].iter().all(|rows| rows.len() > 10));
    for row in rows.concat() {
        let tests = row.trim_matches('|').rsplit('|').next().unwrap();
        for group in tests.split(", ") {
            let mut names = group.split('`').filter(|word| !word.trim().is_empty());
            let text = read(names.next().unwrap());
            for name in names {
                let is_test = text
                    .split("#[test]")
                    .skip(1)
                    .any(|test| test.trim_start().starts_with(&format!("fn {name}()")));
                // Those of the conformance suite are run for every method.
                let is_check = text.contains(&format!("fn {name}(entry: &'static MethodEntry)"));
                assert!(is_test || is_check, "{name} is not a test: {row}");
            }
        }
    }
}

#[test]
fn the_table_of_constants_is_the_tuning() {
    let page = read("docs/theory/identified.md");
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    let rows: Vec<Vec<String>> = page.lines().filter(|line| line.starts_with("| `")).map(cells).collect();
    let mut tuning = Tuning::default();
    let constants = tuning.constants();
    assert!(rows.len() == constants.len() && rows.len() > 30, "{} rows of {}", rows.len(), constants.len());
    for (row, constant) in rows.iter().zip(&constants) {
        let [name, value, why, _, half, _, double] = &row[..] else { panic!("{row:?}") };
        assert_eq!((name.trim_matches('`'), &**why), (&*constant.name, constant.why));
        let expected = match &constant.value {
            Value::Real(value) => **value,
            Value::Count(count) => **count as f64,
        };
        assert_eq!(value.parse(), Ok(expected), "{name}");
        // Both were measured: relative errors of held inputs and of ramps, steps per macro step, runs that diverged.
        for measured in [half, double] {
            assert!(
                measured.split(", ").filter_map(|number| number.parse::<f64>().ok()).count() == 4,
                "{row:?}"
            );
        }
    }
}

#[test]
fn the_option_strings_of_the_variants_are_valid_and_all_options_count() {
    let list = read("docs/equations.md");
    let (_, variants) = list.split_once("## Which options give").expect("the variants");
    let cells = variants.lines().filter(|line| line.starts_with('|')).skip(2);
    let strings: Vec<_> = cells
        .flat_map(|line| {
            line.trim_matches('|').split('|').next_back().unwrap_or_default().split('`').skip(1).step_by(2)
        })
        .collect();
    assert!(strings.len() > 20, "{strings:?}");
    for text in strings {
        let spec = costep_methods::MethodSpec::parse(&text.replace("=P,", "=1,"));
        let warnings: Vec<_> = spec.unwrap_or_else(|error| panic!("{text}: {error}")).warnings().collect();
        assert!(warnings.is_empty(), "{text}: {warnings:?}");
    }
}

#[test]
fn the_project_of_the_manual_is_a_valid_one() {
    let manual = read("docs/project.md");
    let start = manual.find("```toml").expect("a project") + "```toml".len();
    let end = start + manual[start..].find("```").expect("its end");
    let project = costep_project::load_text(&manual[start..end], Path::new("manual.toml"), &[]);
    assert!(project.is_ok(), "{:?}", project.err());
}

/// Listings in TOML of a page.
fn listings(page: &str) -> Vec<String> {
    let text = read(page);
    let blocks = text.split("```toml\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// What a page shows of a project is what its example has, which the commands of the page run.
#[test]
fn listings_of_projects_stand_in_the_examples_that_are_run() {
    for (page, example) in [
        ("docs/howto/external-signals.md", "examples/signals/system.toml"),
        ("docs/howto/units.md", "examples/units/system.toml"),
    ] {
        let shown = listings(page);
        assert!(!shown.is_empty(), "{page}");
        for listing in shown {
            assert!(
                read(example).contains(listing.trim()),
                "{page} shows what {example} has not:\n{listing}"
            );
        }
    }
}

#[test]
fn the_plan_of_the_manual_is_a_valid_one() {
    let [text] = &listings("docs/experiments.md")[..] else { panic!("one plan") };
    let registry = costep_project::Registry::standard();
    let plan = costep_project::Plan::from_toml(text, Path::new("manual.toml"), &registry).unwrap();
    assert_eq!(plan.runs().unwrap(), 2 * 4 * 3);
}

#[test]
fn the_list_of_studies_is_the_registry() {
    let list = read("docs/reproduce.md");
    let rows: Vec<_> = list.lines().filter(|line| line.starts_with("| `")).collect();
    let wanted: Vec<_> = costep_reproduce::STUDIES
        .iter()
        .map(|study| format!("| `{}` | {} | {} |", study.id, study.title, study.source))
        .collect();
    assert_eq!(rows, wanted);
}

/// Values are those of the day they were computed; what is claimed, and where, is that of the code.
#[test]
fn results_of_all_studies_are_of_their_claims() {
    use costep_reproduce::{Finding, Measured};
    let document = read("docs/reproduce.md");
    for study in costep_reproduce::STUDIES {
        let section = document.split(&format!("### `{}`", study.id)).nth(1);
        let section = section.unwrap_or_else(|| panic!("docs/reproduce.md has no results of {}", study.id));
        let section = section.split("###").next().unwrap();
        let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
        assert_eq!(rows.len(), study.claims.len(), "{}", study.id);
        for (row, claim) in rows.iter().zip(study.claims) {
            let claimed = Finding::new(claim, &Measured::Number(f64::NAN)).claimed;
            let head = format!("| {} | {} | {claimed} |", claim.text, claim.place);
            assert!(row.replace("\\|", "|").starts_with(&head), "{}: {row}", study.id);
        }
    }
}

#[test]
fn the_list_of_methods_in_the_readme_is_the_registry() {
    let readme = read("docs/methods.md");
    for entry in costep_methods::METHODS {
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{}` |", entry.id)));
        let row = row.unwrap_or_else(|| panic!("`{}` is missing in docs/methods.md", entry.id));
        assert!(row.ends_with(&format!("| {} |", entry.convergence_order)), "{row}");
    }
}

/// All files below a folder with one of these endings.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, endings, found);
        } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
            found.push(path);
        }
    }
}

#[test]
fn words_that_the_vocabulary_rules_out_are_not_used() {
    let vocabulary = read("docs/vocabulary.md");
    let last_cells = vocabulary
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.trim_end_matches(" |").rsplit("| ").next());
    let words: Vec<&str> = last_cells.flat_map(|cell| cell.split('"').skip(1).step_by(2)).collect();
    assert!(words.len() > 10, "{words:?}");
    let mut paths =
        vec![root().join("README.md"), root().join("CONTRIBUTING.md"), root().join("ARCHITECTURE.md")];
    for folder in ["docs", "crates", "examples", "benches", "xtask"] {
        files(&root().join(folder), &[".md", ".rs", ".txt"], &mut paths);
    }
    let own = ["docs/vocabulary.md", "cli/tests/documents.rs"];
    paths.retain(|path| !own.iter().any(|own| path.ends_with(own)));
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            // Checkpoints hold this line as it is.
            let is_kept =
                line.contains("bytes, check sum {sum:08x}") || line.contains(r#"says("check sum")"#);
            let lower = line.to_lowercase();
            let of_word = |word: &&&str| {
                let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
                lower.match_indices(**word).any(|(at, _)| {
                    !letter(lower[..at].chars().next_back())
                        && !letter(lower[at + word.len()..].chars().next())
                })
            };
            let found = words.iter().find(of_word).filter(|_| !is_kept);
            assert!(found.is_none(), "{}:{}: {found:?}\n{line}", path.display(), number + 1);
        }
    }
}
