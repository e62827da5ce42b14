//! `cargo xtask sbom`: the crates that the program is built of, with versions, licences and sources, as CycloneDX 1.5.

use std::fmt::Write;
use std::process::Command;

/// Fields of a line, apart from each other by a sign that none of them has.
const FORMAT: &str = "{p}|{l}|{r}";

/// Writes `target/sbom.json`.
pub(crate) fn run() -> bool {
    let tree = [
        "tree",
        "--package",
        "costep-cli",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--no-dedupe",
        "--format",
        FORMAT,
    ];
    let Some(output) =
        Command::new("cargo").args(tree).output().ok().filter(|output| output.status.success())
    else {
        eprintln!("xtask: cargo tree failed");
        return false;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines.dedup();
    let components: Vec<String> = lines.iter().filter_map(|line| component(line)).collect();
    let document = format!(
        "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \"components\": [\n{}\n  ]\n}}\n",
        components.join(",\n")
    );
    let of_others = components.iter().filter(|component| component.contains("\"purl\"")).count();
    println!("xtask: target/sbom.json, {} components, {of_others} of others", components.len());
    std::fs::create_dir_all("target").and_then(|()| std::fs::write("target/sbom.json", document)).is_ok()
}

/// `name v1.2.3 (source)|licence|repository`.
fn component(line: &str) -> Option<String> {
    let mut fields = line.split('|');
    let (package, licence, repository) = (fields.next()?, fields.next()?, fields.next()?);
    let mut words = package.split_whitespace();
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    // Those of the workspace have a path in brackets.
    let is_own = package.contains("(/");
    let mut text = String::new();
    let reference = format!("pkg:cargo/{name}@{version}");
    write!(text, "    {{ \"type\": \"library\", \"name\": {name:?}, \"version\": {version:?}, \"licenses\": [{{ \"expression\": {licence:?} }}]").ok()?;
    if !is_own {
        write!(text, ", \"purl\": {reference:?}").ok()?;
        if !repository.is_empty() {
            write!(text, ", \"externalReferences\": [{{ \"type\": \"vcs\", \"url\": {repository:?} }}]")
                .ok()?;
        }
    }
    text.push_str(" }");
    Some(text)
}
