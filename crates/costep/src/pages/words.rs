//! What the run object of the JSON contract says, in sentences.

use costep_core::quantity::format_time;
use costep_report::Tone;
use serde_json::Value;

/// How good a verdict is.
pub(crate) fn tone(verdict: &str) -> Tone {
    match verdict {
        "stable" => Tone::Good,
        "not judged" | "suspect" => Tone::Doubtful,
        "inaccurate" | "unstable" | "diverged" | "failed" => Tone::Bad,
        _ => Tone::Neutral,
    }
}

/// What a verdict means.
fn meaning(verdict: &str) -> &'static str {
    match verdict {
        "stable" => "Nothing grows that should not, and the run is close to what it was compared with.",
        "inaccurate" => "Not unstable, but too far off: try a smaller step or `costep compare`.",
        "suspect" => "Not to be believed unseen: try a smaller step, or measure with `--reference same`.",
        "unstable" => "Amplitudes grow: try a smaller step or `costep compare`.",
        "diverged" => "It ended early because signals became too large.",
        "failed" => "It ended with an error.",
        _ => "",
    }
}

/// Everything about a verdict in one paragraph.
pub(crate) fn verdict_sentence(run: &Value) -> String {
    let text = |key: &str| run[key].as_str().map(str::to_owned);
    let mut parts: Vec<String> = vec![meaning(run["verdict"].as_str().unwrap_or_default()).into()];
    parts.extend(error_sentence(run));
    parts.extend(text("message").map(|message| capital(&message) + "."));
    if let Value::Object(doubt) = &run["doubt"] {
        let signals: Vec<_> =
            doubt["signals"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let shown = signals[..signals.len().min(4)].join(", ");
        let more =
            if signals.len() > 4 { format!(" and {} others", signals.len() - 4) } else { String::new() };
        let time = |key: &str| format_time((doubt[key].as_f64().unwrap_or(0.0) * 1e9).round() * 1e-9);
        let reason = capital(doubt["reason"].as_str().unwrap_or_default());
        parts.push(format!(
            "{reason}: {shown}{more}; worst between t = {} and {}.",
            time("from"),
            time("to")
        ));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// `RMS error 2.1e-3 of the range against the reference, energy drift +0.10 %.`
fn error_sentence(run: &Value) -> Option<String> {
    if let Some(error) = run["eps_mono"].as_f64() {
        let drift = run["energy_drift"]
            .as_f64()
            .map_or(String::new(), |drift| format!(", energy drift {}", percent(drift)));
        return Some(format!("RMS error {} of the range against the reference{drift}.", two_digits(error)));
    }
    let estimate = run["error_estimate"].as_object()?;
    let (value, by) = (estimate["value"].as_f64()?, estimate["by"].as_str()?);
    let share = estimate["share"].as_f64().unwrap_or(1.0);
    let of = if share < 1.0 {
        format!(", from the first {} % of the run", (100.0 * share).ceil())
    } else {
        String::new()
    };
    (run["verdict"] != "not judged")
        .then(|| format!("Error about {} of the range, by {by}{of}.", two_digits(value)))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// `4.1e-2`; `-` for none.
pub(crate) fn number(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".into(), two_digits)
}

pub(crate) fn two_digits(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

/// A share as signed percent.
pub(crate) fn percent(value: f64) -> String {
    if value.abs() >= 10.0 { format!("{:+.1e} %", 100.0 * value) } else { format!("{:+.2} %", 100.0 * value) }
}

/// A wall time.
pub(crate) fn wall(seconds: f64) -> String {
    match seconds {
        s if s < 1e-4 => format!("{:.1} us", 1e6 * s),
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s => format!("{s:.2} s"),
    }
}

/// What a run was compared with.
pub(crate) fn reference(kind: &Value) -> Option<String> {
    let own = kind["own_error"]
        .as_f64()
        .map_or(String::new(), |own| format!(", own error about {}", two_digits(own)));
    match kind["kind"].as_str()? {
        "monolithic" => Some(format!("the monolithic system, solver {}{own}", kind["solver"].as_str()?)),
        _ => Some(format!(
            "the same system with {} at a step of {}{own}",
            kind["method"].as_str()?,
            format_time(kind["step"].as_f64()?)
        )),
    }
}
