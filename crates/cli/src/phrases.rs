//! Pieces of messages: numbers of things, and paths that can be copied into a shell.

pub(crate) use costep::shell_word as argument;

/// `1 row`, `2 rows`.
pub(crate) fn count(number: impl TryInto<u64>, thing: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {thing}"),
        number => format!("{number} {thing}s"),
    }
}

/// What a coupling method does less well than it could, with its code.
pub(crate) fn method_warning(method: &str, text: &str) -> String {
    format!("warning[{}]: {method}: {text}", costep::Code::MethodLimited.entry().id)
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
}
