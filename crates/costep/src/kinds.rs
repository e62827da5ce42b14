//! Warnings of one kind, told together: what follows must not be lost behind them.

/// So many of a kind are told one by one.
const FEW: usize = 2;
/// What others of it are about, as so many names.
const NAMED: usize = 6;

/// Warnings of one kind.
pub struct Kind<'a, T> {
    /// Those that are told in full: one of many, or all of a few.
    pub told: &'a [&'a T],
    /// The others.
    pub others: &'a [&'a T],
}

/// Sorts warnings by their codes, in the order in which these come, and hands on one kind after the other.
pub fn each_kind<'a, T: 'a>(
    warnings: impl IntoIterator<Item = &'a T>,
    code: impl Fn(&T) -> &str,
    mut take: impl FnMut(&Kind<'_, T>),
) {
    let mut kinds: Vec<Vec<&T>> = Vec::new();
    for warning in warnings {
        match kinds.iter_mut().find(|kind| code(kind[0]) == code(warning)) {
            Some(kind) => kind.push(warning),
            None => kinds.push(vec![warning]),
        }
    }
    for kind in &kinds {
        let (told, others) = kind.split_at(if kind.len() <= FEW { kind.len() } else { 1 });
        take(&Kind { told, others });
    }
}

/// `5 more of W0141, about `x`, `y`, ...`: others of a kind, by its code and their messages.
pub fn more_of<'a>(code: &str, messages: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = messages.len();
    let mut names: Vec<String> = Vec::new();
    for name in messages.filter_map(subject) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let dots = if names.len() > NAMED { ", ..." } else { "" };
    match &names[..names.len().min(NAMED)] {
        [] => format!("{more} more of {code}"),
        names => format!("{more} more of {code}, about {}{dots}", names.join(", ")),
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
    fn of_many_warnings_of_a_kind_one_is_told_and_the_others_are_named() {
        let warnings = [("A", "`x` is odd"), ("B", "`p`"), ("A", "`y` is odd"), ("B", "`q`"), ("A", "`x`")];
        let mut lines = Vec::new();
        each_kind(
            &warnings,
            |warning| warning.0,
            |kind| {
                lines.extend(kind.told.iter().map(|warning| warning.1.to_owned()));
                if let [first, ..] = kind.others {
                    lines.push(more_of(first.0, kind.others.iter().map(|warning| warning.1)));
                }
            },
        );
        assert_eq!(lines, ["`x` is odd", "2 more of A, about `y`, `x`", "`p`", "`q`"]);
    }
}
