//! What half and double of every constant of `identified` do: the geometric mean of its error over the
//! chosen cases of the benchmark `identified_cases`, relative to that of the constants in use, with held inputs and with ramps; the steps of subsystems per
//! macro step, on average over all runs, which smaller steps than necessary would show in; and how many runs diverge.
//! Prints the table of `docs/theory/identified.md`; progress goes to stderr. Takes under six minutes of CPU.
//!
//! Counts are halved upwards (3 becomes 2). Of shares above 0.8 and below 1, such as factors of forgetting, the distance from
//! one is halved and doubled. Words on the command line choose constants whose names contain one of them.
//!
//! `cargo bench -p costep-benches --bench tuning [-- trust alarm]`
#![allow(missing_docs)]

use costep_benches::identified_cases::{Row, all_cases};
use costep_core::Result;
use costep_methods::MethodSpec;
use costep_methods::identified::tuning::{Constant, Tuning, Value};
use costep_methods::identified::{IdentifiedOptions, tuned};
use costep_reproduce::Work;

/// Errors above this are those of runs that diverged.
const DIVERGED: f64 = 9.0;
const FORMS: [&str; 2] = ["identified", "identified:form=ramp"];

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
        Value::Real(value) => match (**value * 1e15).round() / 1e15 {
            value if (1e-3..1e5).contains(&value) => value.to_string(),
            value => format!("{value:e}"),
        },
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

/// What some runs have in common.
struct Summary {
    /// Geometric mean of the errors.
    error: f64,
    /// Mean of the steps of subsystems per macro step.
    steps: f64,
    diverged: usize,
}

impl Summary {
    /// Of pairs of error and steps.
    fn new(runs: &[(f64, f64)]) -> Self {
        let mean = |sum: f64| sum / runs.len() as f64;
        Self {
            error: mean(runs.iter().map(|(error, _)| error.ln()).sum()).exp(),
            steps: mean(runs.iter().map(|(_, steps)| steps).sum()),
            diverged: runs.iter().filter(|(error, _)| *error > DIVERGED).count(),
        }
    }
}

/// Errors and steps per macro step of every case: constants in use first, then all variations; each with both forms.
fn measure(cases: &[Row], variations: &[Variation]) -> Result<Vec<Vec<(f64, f64)>>> {
    let specs = FORMS.map(|form| MethodSpec::parse(form).expect("a registered method"));
    let tunings: Vec<_> = std::iter::once(Tuning::DEFAULT)
        .chain(variations.iter().flat_map(|variation| variation.changed.iter().map(|(_, tuning)| *tuning)))
        .collect();
    let progress = |done: usize, all: usize| {
        eprintln!("{done} of {all} cases");
        Ok(())
    };
    let count = FORMS.len() * tunings.len();
    Work { threads: 2, quick: false, progress: &progress }.map(cases, |case| {
        case.errors_of(count, |k| {
            let options = IdentifiedOptions::read(&specs[k % FORMS.len()].options);
            tuned(options, tunings[k / FORMS.len()])
        })
    })
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let variations = variations(&words);
    let cases = all_cases();
    let found = measure(&cases, &variations).expect("runs that end or diverge");
    let both = |at: usize| {
        let column = |k: usize| Summary::new(&found.iter().map(|case| case[k]).collect::<Vec<_>>());
        (column(FORMS.len() * at), column(FORMS.len() * at + 1))
    };
    let (hold, ramp) = both(0);
    println!(
        "{} cases, each with held inputs and with ramps. With the constants in use: error {:.4} (hold) and {:.4} (ramp), {:.3} steps \
         per macro step, {} of {} runs diverged.\n",
        cases.len(),
        hold.error,
        ramp.error,
        0.5 * (hold.steps + ramp.steps),
        hold.diverged + ramp.diverged,
        2 * cases.len()
    );
    let measured = "hold, ramp, steps, diverged";
    println!(
        "| constant | value | what it does, and why this value | half | {measured} | double | {measured} |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (i, Variation { name, why, value, changed }) in variations.iter().enumerate() {
        let cell = |double: usize| {
            let (held, ramped) = both(1 + 2 * i + double);
            let (errors, steps) =
                ((held.error / hold.error, ramped.error / ramp.error), held.steps + ramped.steps);
            format!(
                "{:.2}, {:.2}, {:.2}, {}",
                errors.0,
                errors.1,
                0.5 * steps,
                held.diverged + ramped.diverged
            )
        };
        let [half, double] = [0, 1].map(cell);
        let [(halved, _), (doubled, _)] = changed;
        println!("| `{name}` | {value} | {why} | {halved} | {half} | {doubled} | {double} |");
    }
}
