//! Numbers as short as a plot allows.

/// Parts of a range that a plot tells apart, also when it is zoomed.
const VALUES: f64 = 1e5;
const PLACES: f64 = 1e8;

/// Numbers of one axis, with as many digits as their range needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding {
    decimals: usize,
    digits: usize,
}

impl Rounding {
    /// For where points are along x.
    pub(super) fn places(values: impl Iterator<Item = f64>) -> Self {
        Self::new(values, PLACES)
    }

    /// For the values of a curve.
    pub(super) fn values(values: impl Iterator<Item = f64>) -> Self {
        Self::new(values, VALUES)
    }

    fn new(values: impl Iterator<Item = f64>, parts: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        values.filter(|value| value.is_finite()).for_each(|v| (low, high) = (low.min(v), high.max(v)));
        let (size, range) = (low.abs().max(high.abs()), high - low);
        // Parts of a constant are parts of its value.
        let range = if range > 0.0 && range.is_finite() { range } else { size };
        let decimals = (parts / range).log10().ceil();
        let digits = (parts * size / range).log10().ceil() + 1.0;
        let within = |value: f64| if value.is_finite() { value.clamp(0.0, 17.0) as usize } else { 6 };
        Self { decimals: within(decimals), digits: within(digits).max(2) }
    }

    /// A number for JSON; `null` for one that is none.
    pub(super) fn text(self, value: f64) -> String {
        if !value.is_finite() {
            return "null".into();
        }
        let exponent = trimmed(&format!("{value:.*e}", self.digits - 1));
        if value.abs() >= 1e15 {
            return exponent;
        }
        let plain = trimmed(&format!("{value:.*}", self.decimals));
        if plain.len() <= exponent.len() { plain } else { exponent }
    }
}

/// Without zeros at the end of the fraction.
fn trimmed(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').map_or((text, ""), |(mantissa, rest)| (mantissa, rest));
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    match (mantissa, exponent) {
        ("-0" | "0", _) => "0".into(),
        (mantissa, "" | "0") => mantissa.into(),
        (mantissa, exponent) => format!("{mantissa}e{exponent}"),
    }
}

/// A number for people: four digits.
pub(super) fn four_digits(value: f64) -> String {
    if value.is_nan() {
        return "-".into();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    match rounded.abs() {
        0.0 => "0".into(),
        1e-3..1e6 => format!("{rounded}"),
        _ => trimmed(&format!("{rounded:e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[f64]) -> Vec<String> {
        let rounding = Rounding::values(values.iter().copied());
        values.iter().map(|value| rounding.text(*value)).collect()
    }

    #[test]
    fn numbers_are_as_long_as_their_range_needs() {
        assert_eq!(texts(&[0.0, 1.0, 1.0 / 3.0, f64::NAN]), ["0", "1", "0.33333", "null"]);
        assert_eq!(texts(&[1e5, 1e5 + 1e-3, 1e5 + 0.5e-3]), ["1e5", "100000.001", "100000.0005"]);
        assert_eq!(texts(&[1e-12, 2e-12, f64::INFINITY]), ["1e-12", "2e-12", "null"]);
        assert_eq!(texts(&[3.5; 2]), ["3.5", "3.5"]);
        assert_eq!(texts(&[0.0, 1e300]), ["0", "1e300"]);
        assert_eq!(texts(&[]), Vec::<String>::new());
        assert_eq!(Rounding::values([f64::MIN, f64::MAX].into_iter()).text(f64::MAX), "1.79769e308");
    }

    #[test]
    fn people_get_four_digits() {
        let texts = [0.0, 1.0 / 3.0, 123456.7, -2.5e-9, f64::NAN, f64::INFINITY].map(four_digits);
        assert_eq!(texts, ["0", "0.3333", "123500", "-2.5e-9", "-", "inf"]);
    }
}
