//! Texts of strangers in our messages.

/// At most so many characters of a text, control characters escaped.
pub(crate) fn shorten(text: &str, length: usize) -> String {
    let mut short = String::new();
    for c in text.chars().take(length) {
        if c.is_control() {
            short.extend(c.escape_debug());
        } else {
            short.push(c);
        }
    }
    if text.chars().nth(length).is_some() {
        short.push_str("...");
    }
    short
}

/// At most 60 characters of a text of a stranger, control characters escaped: for messages.
pub fn short(text: &str) -> String {
    shorten(text, 60)
}

/// The first items of a list, and how many more there are.
pub(crate) fn listed<T>(items: &[T], most: usize, shown: impl Fn(&T) -> String) -> String {
    let text = items.iter().take(most).map(shown).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(most) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(&[1, 2], 2, i32::to_string), "1, 2");
        assert_eq!(listed(&[1, 2, 3, 4], 2, i32::to_string), "1, 2 and 2 more");
    }

    #[test]
    fn only_control_characters_are_escaped() {
        assert_eq!(short("a\\b'\u{e9}\n\0"), "a\\b'é\\n\\0");
        assert_eq!(shorten("abcdef", 3), "abc...");
        assert_eq!(shorten("abc", 3), "abc");
    }
}
