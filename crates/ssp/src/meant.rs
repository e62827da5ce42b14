//! What is most likely meant by something that is nearly right.

use costep_core::quantity::{split_quantity, with_point};
use costep_core::suggest::nearest_by_letters;
use costep_fmu_file::short;

/// The attribute that one of another name is most likely meant to be. Short ones are all near to each other.
pub fn near_attribute<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    const SHORTEST: usize = 4;
    nearest_by_letters(name, known).filter(|near| near.len() >= SHORTEST)
}

/// What is to be written for a number with a decimal comma or a unit, to be put behind a message; nothing for others. `unit` is
/// that of the number alone, if it is known.
pub fn number_alone(text: &str, unit: Option<&str>) -> String {
    match (with_point(text), split_quantity(text)) {
        (Some(number), _) => format!("; write a decimal point: `{}`", short(&number)),
        (None, Some((number, given))) => match unit.filter(|unit| *unit != given) {
            Some(unit) => {
                format!("; write the number alone, converted from `{}` to `{}`", short(given), short(unit))
            }
            None => format!("; write the number alone: `{}`", short(number)),
        },
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_share_a_beginning_are_not_meant() {
        let known = ["source", "type", "name"];
        let near = |name| near_attribute(name, &known);
        assert_eq!((near("sorce"), near("sourceBase"), near("sourceType")), (Some("source"), None, None));
    }

    #[test]
    fn numbers_are_told_without_comma_and_unit() {
        for (text, unit, told) in [
            ("0,5", None, "; write a decimal point: `0.5`"),
            ("20 kg", Some("kg"), "; write the number alone: `20`"),
            ("20g", Some("kg"), "; write the number alone, converted from `g` to `kg`"),
            ("2 x", None, "; write the number alone: `2`"),
            ("much", Some("kg"), ""),
            ("NaN", None, ""),
        ] {
            assert_eq!(number_alone(text, unit), told);
        }
    }
}
