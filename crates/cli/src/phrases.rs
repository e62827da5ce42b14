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

/// What further ones are about, as so many names.
const NAMED_OF_A_CODE: usize = 4;

/// Shows warnings of a system, of each code the first few and what the others are about: what follows must not be lost
/// behind them.
pub(crate) fn show_warnings(warnings: &[Error], system: &str, output: Output) {
    let mut further: Vec<(Code, usize, Vec<String>)> = Vec::new();
    for warning in warnings {
        let known = further.iter().position(|(code, ..)| *code == warning.code());
        let at = known.unwrap_or_else(|| {
            further.push((warning.code(), 0, Vec::new()));
            further.len() - 1
        });
        let (_, count, names) = &mut further[at];
        *count += 1;
        if *count <= SHOWN_OF_A_CODE {
            output.remark(&warning.to_string());
        } else if let Some(name) = subject(&warning.details().message).filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    for (code, count, names) in further.into_iter().filter(|(_, count, _)| *count > SHOWN_OF_A_CODE) {
        let (more, id) = (count - SHOWN_OF_A_CODE, code.entry().id);
        let dots = if names.len() > NAMED_OF_A_CODE { ", ..." } else { "" };
        let about = match &names[..names.len().min(NAMED_OF_A_CODE)] {
            [] => String::new(),
            names => format!(", about {}{dots}", names.join(", ")),
        };
        output.remark(&format!(
            "{more} more of {id}{about}: `costep check {}` shows them",
            argument(Path::new(system))
        ));
    }
}

/// What a message is about: its first name in backquotes, or the first of the list at its end.
fn subject(message: &str) -> Option<String> {
    if let Some(name) = message.split('`').nth(1).filter(|name| !name.is_empty()) {
        return Some(format!("`{name}`"));
    }
    let (_, list) = message.rsplit_once(": ")?;
    let name = list.split([',', ' ']).next()?;
    (!name.is_empty()).then(|| format!("`{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_about_their_first_name() {
        let about = |message| subject(message).unwrap_or_default();
        assert_eq!(about("outputs of `plant` without a nominal value: x, v"), "`plant`");
        assert_eq!(
            about("without a source, these stay at their start value: plant.u = 0, plant.w = 1"),
            "`plant.u`"
        );
        assert_eq!(about("a message about nothing"), "");
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!(
            [count(0, "row"), count(1_u64, "row"), count(2_usize, "row")],
            ["0 rows", "1 row", "2 rows"]
        );
    }
}
