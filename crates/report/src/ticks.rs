//! Ticks at round numbers, and how they are written.

/// Ticks of a linear axis at multiples of 1, 2 or 5 times a power of ten, about `wanted` of them, and their distance.
pub(crate) fn linear(low: f64, high: f64, wanted: usize) -> (Vec<f64>, f64) {
    let raw = (high - low) / wanted.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = power * [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= 0.7 * raw).unwrap_or(10.0);
    let slack = 1e-9 * (high - low);
    let (first, last) = (((low - slack) / step).ceil() as i64, ((high + slack) / step).floor() as i64);
    ((first..=last).map(|k| k as f64 * step).collect(), step)
}

/// Labelled and unlabelled ticks of a logarithmic axis.
pub(crate) fn logarithmic(low: f64, high: f64, wanted: usize) -> (Vec<f64>, Vec<f64>) {
    let inside = |v: &f64| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9);
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let times = |factors: &'static [i32]| {
        let decades = decades.clone();
        // One rounding each, so that 0.003 is the number a reader would write.
        decades.flat_map(move |e| factors.iter().map(move |f| power_of_ten(f64::from(*f), e))).filter(inside)
    };
    let count = decades.clone().count();
    if count <= wanted {
        let powers: Vec<f64> = times(&[1]).collect();
        let labelled = if powers.len() < 3 { times(&[1, 2, 5]).collect() } else { powers };
        let all: Vec<f64> = times(&[1, 2, 3, 4, 5, 6, 7, 8, 9]).collect();
        // One number alone does not tell a scale.
        return if labelled.len() < 2 { (all.clone(), all) } else { (labelled, all) };
    }
    let stride = count.div_ceil(wanted) as i32;
    let labelled = times(&[1]).filter(|v| (v.log10().round() as i32).rem_euclid(stride) == 0).collect();
    (labelled, times(&[1]).collect())
}

fn power_of_ten(factor: f64, exponent: i32) -> f64 {
    if exponent < 0 { factor / 10f64.powi(-exponent) } else { factor * 10f64.powi(exponent) }
}

/// Labels of linear ticks, all in the same form: plain where that is short, else with a common power of ten.
pub(crate) fn labels(ticks: &[f64], step: f64) -> Vec<String> {
    let largest = ticks.iter().fold(0.0, |m: f64, t| m.max(t.abs()));
    if largest == 0.0 || (1e-3..1e5).contains(&largest) && step >= 1e-4 {
        let decimals = (-(step * 1.0001).log10().floor()).max(0.0) as usize;
        return ticks.iter().map(|t| plain(*t, decimals)).collect();
    }
    let exponent = (largest * 1.0001).log10().floor() as i32;
    let unit = 10f64.powi(exponent);
    let decimals = (-(step / unit * 1.0001).log10().floor()).clamp(0.0, 12.0) as usize;
    let label = |t: &f64| match plain(t / unit, decimals) {
        zero if *t == 0.0 => zero.split('.').next().unwrap_or("0").into(),
        mantissa => format!("{mantissa}·10{}", superscript(exponent)),
    };
    ticks.iter().map(label).collect()
}

/// Labels of logarithmic ticks, all in the same form: plain where that is short, else powers of ten.
pub(crate) fn log_labels(ticks: &[f64]) -> Vec<String> {
    let exponent = |value: f64| (value * 1.0001).log10().floor() as i32;
    let all_short = ticks.iter().all(|value| (-2..=3).contains(&exponent(*value)));
    let label = |value: &f64| {
        let exponent = exponent(*value);
        match (value / 10f64.powi(exponent)).round() as i32 {
            _ if all_short => plain(*value, (-exponent).max(0) as usize),
            1 => format!("10{}", superscript(exponent)),
            mantissa => format!("{mantissa}·10{}", superscript(exponent)),
        }
    };
    ticks.iter().map(label).collect()
}

/// A number with thin spaces between thousands from 10 000 on, and a true minus sign.
fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (k, digit) in whole.chars().enumerate() {
        if k > 0 && whole.len() > 4 && (whole.len() - k).is_multiple_of(3) {
            grouped.push('\u{2009}');
        }
        grouped.push(digit);
    }
    if !fraction.is_empty() {
        grouped = format!("{grouped}.{fraction}");
    }
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
    if value < 0.0 && !is_zero { format!("\u{2212}{grouped}") } else { grouped }
}

fn superscript(exponent: i32) -> String {
    let raise = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    exponent.to_string().chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear_labels(low: f64, high: f64) -> Vec<String> {
        let (ticks, step) = linear(low, high, 5);
        labels(&ticks, step)
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(linear_labels(-0.11, 0.1), ["−0.10", "−0.05", "0.00", "0.05", "0.10"]);
        assert_eq!(linear_labels(0.0, 0.4), ["0.0", "0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(
            linear_labels(0.0, 41000.0),
            ["0", "10\u{2009}000", "20\u{2009}000", "30\u{2009}000", "40\u{2009}000"]
        );
        assert_eq!(linear_labels(-1e6, 3.2e6), ["−1·10⁶", "0", "1·10⁶", "2·10⁶", "3·10⁶"]);
        assert_eq!(linear_labels(0.0, 5.1e-7), ["0", "1·10⁻⁷", "2·10⁻⁷", "3·10⁻⁷", "4·10⁻⁷", "5·10⁻⁷"]);
    }

    #[test]
    fn a_narrow_range_far_from_zero_keeps_its_digits() {
        assert_eq!(
            linear_labels(100.001, 100.0031),
            ["100.0010", "100.0015", "100.0020", "100.0025", "100.0030"]
        );
    }

    #[test]
    fn logarithmic_ticks_are_decades_or_more() {
        let (labelled, all) = logarithmic(1e-3, 1e2, 8);
        assert_eq!(log_labels(&labelled), ["10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹", "10²"]);
        assert_eq!(log_labels(&[0.01, 0.1, 200.0]), ["0.01", "0.1", "200"]);
        assert_eq!(all.len(), 46);
        assert_eq!(logarithmic(1.5, 30.0, 8).0, [2.0, 5.0, 10.0, 20.0]);
        assert_eq!(logarithmic(0.21, 0.45, 8).0, [0.3, 0.4]);
        assert_eq!(logarithmic(1e-20, 1e20, 8).0.len(), 7);
    }
}
