//! Paths in hints that can be copied into a shell.

use std::path::Path;

/// A path as a word of a command: as it is, or in quotes where a shell would make something else of it.
pub fn shell_word(path: &Path) -> String {
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
    fn paths_survive_a_shell() {
        let of = |text: &str| shell_word(Path::new(text));
        assert_eq!(of("out/run-1.5_µ"), "out/run-1.5_µ");
        assert_eq!(of("my runs/a"), "'my runs/a'");
        assert_eq!(of("it's"), r"'it'\''s'");
        assert_eq!(of("$(touch x);*"), "'$(touch x);*'");
        assert_eq!(of("-rf"), "'./-rf'");
        assert_eq!(of(""), "''");
    }
}
