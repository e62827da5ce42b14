//! What half and double of every constant of `identified` do: the geometric mean of its error over the cases of the study
//! `identified-default`, relative to that of the constants in use, with held inputs and with ramps, and how many runs diverge.
//! Prints the table of `docs/theory/identified.md`; progress goes to stderr.
//!
//! Counts are halved upwards (3 becomes 2). Of shares above 0.8 and below 1, such as factors of forgetting, the distance from
//! one is halved and doubled. Words on the command line choose constants whose names contain one of them.
//!
//! `cargo bench -p costep-reproduce --bench tuning [-- trust alarm]`
#![allow(missing_docs)]

use std::time::Instant;

use costep_core::Result;
use costep_ident::{Constant, Value};
use costep_methods::MethodSpec;
use costep_methods::identified::{IdentifiedOptions, tuned, tuning::Tuning};
use costep_reproduce::Work;
use costep_reproduce::identified_default::{Row, all_cases};

/// Errors above this are those of runs that diverged.
const DIVERGED: f64 = 9.0;
const FORMS: [&str; 2] = ["identified", "identified:form=ramp"];
/// Cases that would take a quarter of the time; the same systems are there with longer steps.
const LEFT_OUT: [&str; 3] =
    ["helicopter bookI pilot 1 0.05 s", "helicopter bookI pilot 5, noise 60 dB, 0.1 s", "pendulum 1 ms"];

/// A constant at half and at double its value.
struct Variation {
    name: String,
    why: &'static str,
    value: String,
    /// Value and constants, for half and double.
    changed: [(String, Tuning); 2],
}

/// Half (0) or double (1) of a constant, as text.
fn change(constant: &mut Constant<'_>, double: bool) -> String {
    let factor = if double { 2.0 } else { 0.5 };
    match &mut constant.value {
        Value::Real(value) if **value > 0.8 && **value < 1.0 => **value = 1.0 - factor * (1.0 - **value),
        Value::Real(value) => **value *= factor,
        Value::Count(value) => **value = if double { 2 * **value } else { value.div_ceil(2) },
    }
    text(&constant.value)
}

fn text(value: &Value<'_>) -> String {
    match value {
        // Without the round-off of a distance from one.
        Value::Real(value) => format!("{:?}", (**value * 1e15).round() / 1e15),
        Value::Count(value) => value.to_string(),
    }
}

/// All constants whose names contain one of these words; all if there is none.
fn variations(words: &[String]) -> Vec<Variation> {
    let mut defaults = Tuning::DEFAULT;
    let variation = |(k, constant): (usize, Constant<'_>)| {
        let changed = [false, true].map(|double| {
            let mut tuning = Tuning::DEFAULT;
            let value = change(&mut tuning.constants()[k], double);
            (value, tuning)
        });
        Variation { name: constant.name, why: constant.why, value: text(&constant.value), changed }
    };
    let wanted = |v: &Variation| words.is_empty() || words.iter().any(|word| v.name.contains(word.as_str()));
    defaults.constants().into_iter().enumerate().map(variation).filter(wanted).collect()
}

/// Geometric mean of the errors of some runs, and how many diverged.
fn summary(errors: impl Iterator<Item = f64> + Clone) -> (f64, usize) {
    let count = errors.clone().count() as f64;
    let mean = (errors.clone().map(f64::ln).sum::<f64>() / count).exp();
    (mean, errors.filter(|error| *error > DIVERGED).count())
}

/// Errors of every case: constants in use first, then all variations; each with both forms.
fn errors(cases: &[Row], variations: &[Variation]) -> Result<Vec<Vec<f64>>> {
    let specs = FORMS.map(|form| MethodSpec::parse(form).expect("a registered method"));
    let tunings: Vec<_> = std::iter::once(Tuning::DEFAULT)
        .chain(variations.iter().flat_map(|variation| variation.changed.iter().map(|(_, tuning)| *tuning)))
        .collect();
    let progress = |done: usize, all: usize| {
        eprintln!("{done} of {all} cases");
        Ok(())
    };
    Work { threads: 2, quick: false, progress: &progress }.map(cases, |case| {
        let (start, count) = (Instant::now(), FORMS.len() * tunings.len());
        let found =
            case.errors_of(count, |k| tuned(IdentifiedOptions::read(&specs[k % FORMS.len()].options), tunings[k / FORMS.len()]))?;
        eprintln!("{}: {:.1} s", case.name, start.elapsed().as_secs_f64());
        Ok(found.into_iter().map(|(error, _)| error).collect())
    })
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let variations = variations(&words);
    let mut cases = all_cases();
    cases.retain(|case| !LEFT_OUT.contains(&case.name.as_str()));
    let found = errors(&cases, &variations).expect("runs that end or diverge");
    let column = |k: usize| summary(found.iter().map(move |case| case[k]));
    let (hold, ramp) = (column(0), column(1));
    println!(
        "{} cases; with the constants in use: hold {:.4}, ramp {:.4}, {} of {} runs diverged\n",
        cases.len(),
        hold.0,
        ramp.0,
        hold.1 + ramp.1,
        2 * cases.len()
    );
    println!(
        "| constant | value | what it does, and why this value | half | hold, ramp, diverged | double | hold, ramp, diverged |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (i, Variation { name, why, value, changed }) in variations.iter().enumerate() {
        let cell = |double: usize| {
            let at = FORMS.len() * (1 + 2 * i + double);
            let (held, ramped) = (column(at), column(at + 1));
            format!("{:.3}, {:.3}, {}", held.0 / hold.0, ramped.0 / ramp.0, held.1 + ramped.1)
        };
        let [half, double] = [0, 1].map(cell);
        let [(halved, _), (doubled, _)] = changed;
        println!("| `{name}` | {value} | {why} | {halved} | {half} | {doubled} | {double} |");
    }
}
