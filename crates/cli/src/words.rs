//! Pieces of messages: numbers of things, and paths that can be copied into a shell.

use std::path::Path;

/// `1 row`, `2 rows`.
pub(crate) fn count(number: impl TryInto<u64>, thing: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {thing}"),
        number => format!("{number} {thing}s"),
    }
}

/// A path as a word of a command: as it is, or in quotes where a shell would make something else of it.
pub(crate) fn argument(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=,:@%".contains(c);
    if text.is_empty() || text.starts_with('-') || !text.chars().all(is_plain) {
        let text = if text.starts_with('-') { format!("./{text}") } else { text };
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        assert_eq!(
            [count(0, "row"), count(1_u64, "row"), count(2_usize, "row")],
            ["0 rows", "1 row", "2 rows"]
        );
    }

    #[test]
    fn paths_survive_a_shell() {
        let of = |text: &str| argument(Path::new(text));
        assert_eq!(of("out/run-1.5_µ"), "out/run-1.5_µ");
        assert_eq!(of("my runs/a"), "'my runs/a'");
        assert_eq!(of("it's"), r"'it'\''s'");
        assert_eq!(of("$(touch x);*"), "'$(touch x);*'");
        assert_eq!(of("-rf"), "'./-rf'");
        assert_eq!(of(""), "''");
    }
}
