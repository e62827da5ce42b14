//! Numbers of the table of malformed files in docs/reliability.md, which the tests count that read these files.

use std::path::Path;

/// Asserts that the table has the row of this test: what is read, how many of them, and the test by its file and name.
#[track_caller]
pub(crate) fn assert_counted(what: &str, count: usize, file: &str, test: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reliability.md");
    let page = std::fs::read_to_string(page).expect("docs/reliability.md");
    let row = format!("| {what} | {count} | `{file}` `{test}` |");
    assert!(page.lines().any(|line| line == row), "docs/reliability.md does not have the row\n{row}");
}
