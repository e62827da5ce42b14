//! Names of signals as people write them: words, spelling, usual short forms.

/// Short forms, and what they stand for.
const SHORT_FORMS: [(&str, &str); 26] = [
    ("acc", "acceleration"),
    ("act", "actual"),
    ("ang", "angle"),
    ("cmd", "command"),
    ("ctrl", "control"),
    ("cur", "current"),
    ("disp", "displacement"),
    ("f", "force"),
    ("frc", "force"),
    ("meas", "measured"),
    ("mdot", "massflow"),
    ("omega", "speed"),
    ("p", "pressure"),
    ("pos", "position"),
    ("pres", "pressure"),
    ("press", "pressure"),
    ("pwr", "power"),
    ("ref", "reference"),
    ("spd", "speed"),
    ("tau", "torque"),
    ("temp", "temperature"),
    ("tq", "torque"),
    ("trq", "torque"),
    ("v", "velocity"),
    ("vel", "velocity"),
    ("volt", "voltage"),
];

/// Words that tell inputs from outputs, and nothing of what they carry.
const DIRECTIONS: [&str; 6] = ["in", "out", "input", "output", "u", "y"];

/// A name without case, separators and the words that tell inputs from outputs.
pub(crate) fn spelling(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let kept: Vec<&str> = words.filter(|word| !DIRECTIONS.contains(word)).collect();
    if kept.is_empty() { lower } else { kept.concat() }
}

/// The words of a name, each once, sorted.
pub(crate) struct Words(Vec<String>);

impl Words {
    /// Split at separators, capitals and digits; without the words that tell inputs from outputs.
    pub(crate) fn of(name: &str) -> Self {
        let (mut words, mut word, mut last) = (Vec::new(), String::new(), ' ');
        for c in name.chars() {
            let is_new = !c.is_alphanumeric()
                || c.is_uppercase() && !last.is_uppercase()
                || c.is_numeric() != last.is_numeric();
            if is_new {
                words.push(std::mem::take(&mut word));
            }
            word.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
            last = c;
        }
        words.push(word);
        let long = |word: String| {
            let known = SHORT_FORMS.iter().find(|(short, _)| *short == word);
            known.map_or(word, |(_, long)| (*long).to_owned())
        };
        let kept = words.into_iter().filter(|word| !word.is_empty() && !DIRECTIONS.contains(&word.as_str()));
        Self::sorted(kept.map(long).collect())
    }

    /// Together with those of another name.
    pub(crate) fn with(&self, name: &str) -> Self {
        Self::sorted(self.0.iter().cloned().chain(Self::of(name).0).collect())
    }

    fn sorted(mut words: Vec<String>) -> Self {
        words.sort();
        words.dedup();
        Self(words)
    }

    /// The share of words that both have of all words that one of them has.
    pub(crate) fn share(&self, other: &Self) -> f64 {
        let common: Vec<_> = self.0.iter().filter(|word| other.0.contains(word)).collect();
        // A number in common says nothing.
        let telling = common.iter().any(|word| word.contains(char::is_alphabetic));
        let common = if telling { common.len() } else { 0 };
        let all = self.0.len() + other.0.len() - common;
        if all == 0 { 0.0 } else { common as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_matter() {
        assert_eq!(spelling("in_Torque.Load"), spelling("torque load"));
        assert_eq!(spelling("u"), "u");
        assert_ne!(spelling("x1"), spelling("x2"));
    }

    #[test]
    fn words_are_found_however_they_are_joined() {
        let share = |a: &str, b: &str| Words::of(a).share(&Words::of(b));
        assert_eq!(share("engineTorque", "engine_torque_in"), 1.0);
        assert_eq!(share("vel", "Velocity"), 1.0);
        assert_eq!(share("x1", "x2"), 1.0 / 3.0);
        assert_eq!(share("u", "y"), 0.0);
        assert_eq!(share("s1", "u1"), 0.0);
        assert_eq!(Words::of("load").with("brake").share(&Words::of("brakeLoad")), 1.0);
    }
}
