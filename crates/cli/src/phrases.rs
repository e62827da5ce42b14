//! Pieces of messages: numbers of things, and paths that can be copied into a shell.

use costep::{Error, Kind, each_kind, more_of};

pub(crate) use costep::shell_word as argument;

use crate::style::Output;

/// `1 row`, `2 rows`.
pub(crate) fn count(number: impl TryInto<u64>, thing: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {thing}"),
        number => format!("{number} {thing}s"),
    }
}

/// An error with the flag that a value was given by.
pub(crate) fn given_by(error: Error, flag: &str) -> Error {
    match error.details().cause.clone() {
        Some(cause) => error.because(format!("{cause}; given by `{flag}`")),
        None => error.because(format!("given by `{flag}`")),
    }
}

/// What a coupling method does less well than it could, with its code.
pub(crate) fn method_warning(method: &str, text: &str) -> String {
    format!("warning[{}]: {method}: {text}", costep::Code::MethodLimited.entry().id)
}

/// The same of what has turned out on the way.
pub(crate) fn convergence_warning(text: &str) -> String {
    format!("warning[{}]: {text}", costep::Code::NotConverged.entry().id)
}

/// The same of steps that were done again.
pub(crate) fn trials_warning(text: &str) -> String {
    format!("warning[{}]: {text}", costep::Code::TrialsFailed.entry().id)
}

/// Shows warnings of a system, of each kind one, or two, and what the others are about; `system` is how a command names it.
pub(crate) fn show_warnings(warnings: &[Error], system: &str, output: Output) {
    each_kind(
        warnings,
        |warning| warning.code().entry().id,
        |Kind { told, others }| {
            told.iter().for_each(|warning| output.remark(&warning.to_string()));
            if let [first, ..] = others {
                let messages = others.iter().map(|warning| warning.details().message.as_str());
                let more = more_of(first.code().entry().id, messages);
                output.remark(&format!("{more}: `costep check {system}` shows them"));
            }
        },
    );
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
