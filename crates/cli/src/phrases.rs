//! Pieces of messages: numbers of things, and paths that can be copied into a shell.

use std::path::Path;

use costep::{Code, Error};

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

/// Warnings of the same code that are shown in full.
const SHOWN_OF_A_CODE: usize = 2;

/// Shows warnings of a system, of each code the first few: what follows must not be lost behind them.
pub(crate) fn show_warnings(warnings: &[Error], system: &str, output: Output) {
    let mut counts: Vec<(Code, usize)> = Vec::new();
    for warning in warnings {
        let known = counts.iter().position(|(code, _)| *code == warning.code());
        let at = known.unwrap_or_else(|| {
            counts.push((warning.code(), 0));
            counts.len() - 1
        });
        counts[at].1 += 1;
        if counts[at].1 <= SHOWN_OF_A_CODE {
            output.remark(&warning.to_string());
        }
    }
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > SHOWN_OF_A_CODE) {
        let (more, id) = (count - SHOWN_OF_A_CODE, code.entry().id);
        output.remark(&format!(
            "{more} more of {id}: `costep check {}` shows them",
            argument(Path::new(system))
        ));
    }
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
