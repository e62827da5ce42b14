//! "Did you mean": the nearest of a list of names.

/// The sentence to print for a name that is not in the list: the nearest name if one is close, else the
/// whole list if it is short, else nothing.
pub fn suggestion<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const SHORT_LIST: usize = 12;
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(near) = nearest(wrong, &candidates) {
        return Some(format!("did you mean `{near}`?"));
    }
    (!candidates.is_empty() && candidates.len() <= SHORT_LIST)
        .then(|| format!("known here: {}", candidates.join(", ")))
}

/// Longer names are not compared: a distance takes time and memory of the product of the lengths, and names may come from hostile files.
const LONGEST: usize = 200;

/// What [`nearest_by_letters`] finds, else the only candidate that the name shortens or that shortens the name: for texts of hints.
pub fn nearest<'a>(wrong: &str, candidates: &[&'a str]) -> Option<&'a str> {
    nearest_by_letters(wrong, candidates).or_else(|| by_words(wrong, candidates))
}

/// The candidate with the smallest edit distance, if at most a third of its letters differ, or two behind the same beginning: a slip
/// of it, where [`nearest`] may also be another name that shares words.
pub fn nearest_by_letters<'a>(wrong: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let short = |name: &str| name.len() <= LONGEST;
    candidates
        .iter()
        .filter(|candidate| short(wrong) && short(candidate))
        .map(|candidate| {
            (strsim::damerau_levenshtein(&wrong.to_lowercase(), &candidate.to_lowercase()), *candidate)
        })
        .filter(|(distance, candidate)| {
            let letters = candidate.chars().count().max(wrong.chars().count());
            let begins_alike = letters > 4 && wrong.chars().take(2).eq(candidate.chars().take(2));
            let allowed = if begins_alike { 2 } else { 1 };
            // A name of which no letter is right was not meant.
            *distance <= allowed.max(letters / 3) && *distance < letters
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `T_out` for `T_outside`, `temperature` for `room.temperature`, `temp_out` for `temperature_outside`.
fn by_words<'a>(wrong: &str, candidates: &[&'a str]) -> Option<&'a str> {
    if wrong.len() > LONGEST {
        return None;
    }
    let wrong = wrong.to_lowercase();
    let mut alike = candidates.iter().filter(|candidate| {
        let candidate = candidate.to_lowercase();
        candidate.len() <= LONGEST && (shortens(&wrong, &candidate) || shortens(&candidate, &wrong))
    });
    alike.next().filter(|_| alike.next().is_none()).copied()
}

/// Whether one name is the other without what comes before or after some of its words, or has the beginnings of its words.
fn shortens(short: &str, long: &str) -> bool {
    const LEAST: usize = 3;
    fn words(name: &str) -> Vec<&str> {
        name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
    }
    let (few, all) = (words(short), words(long));
    let begin = |all: &[&str]| few.iter().zip(all).all(|(short, long)| long.starts_with(short));
    let is_long_enough = few.iter().map(|word| word.chars().count()).sum::<usize>() >= LEAST;
    is_long_enough && all.windows(few.len()).any(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name() {
        assert_eq!(suggestion("nepec", ["zoh", "nepce"]).as_deref(), Some("did you mean `nepce`?"));
    }

    #[test]
    fn another_spelling_finds_its_name_but_another_letter_does_not() {
        assert_eq!(suggestion("alfa", ["alpha", "order"]).as_deref(), Some("did you mean `alpha`?"));
        assert_eq!(suggestion("q", ["x", "v"]).as_deref(), Some("known here: x, v"));
    }

    #[test]
    fn a_shorter_or_longer_word_finds_its_name() {
        for (wrong, candidates, meant) in [
            ("T_out", ["T_outside", "wind"], Some("T_outside")),
            ("temp_out", ["temperature_outside", "temperature_inside"], Some("temperature_outside")),
            ("temperature", ["room.temperature", "room.heat"], Some("room.temperature")),
            ("room_temperature", ["temperature", "heat"], Some("temperature")),
            // Two are as near, and letters inside of a word are no name.
            ("temp", ["temperature_outside", "temperature_inside"], None),
            ("city", ["velocity", "speed"], None),
            ("x", ["x_velocity", "speed"], None),
        ] {
            assert_eq!(nearest(wrong, &candidates), meant, "{wrong}");
        }
    }

    #[test]
    fn words_that_are_shared_are_no_slip() {
        let by_letters = |wrong| nearest_by_letters(wrong, &["source", "name"]);
        assert_eq!((nearest("source_base", &["source"]), by_letters("source_base")), (Some("source"), None));
        assert_eq!((by_letters("sourceBase"), by_letters("sorce")), (None, Some("source")));
    }

    #[test]
    fn very_long_names_are_not_compared() {
        let long = "x".repeat(10_000_000);
        assert_eq!(suggestion(&long, [long.as_str()]).map(|hint| hint.len()), Some(12 + long.len()));
    }

    #[test]
    fn a_stranger_gets_the_list() {
        assert_eq!(suggestion("euler", ["zoh", "foh"]).as_deref(), Some("known here: zoh, foh"));
    }
}
