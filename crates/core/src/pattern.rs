//! Patterns of names in which `*` stands for anything.

/// Whether a name fits a pattern in which `*` stands for any letters, or none.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let (middles, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The leftmost place for each middle part leaves the most for what follows.
    for middle in middles.split('*') {
        match name.find(middle) {
            Some(at) => name = &name[at + middle.len()..],
            None => return false,
        }
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, fits) in [
            ("s1.x", "s1.x", true),
            ("s1.x", "s1.xx", false),
            ("s1.*", "s1.x", true),
            ("*", "", true),
            ("*.F", "s2.F", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
