//! The same questions on systems that no constant of the controls was chosen on: oscillators whose coupling is drawn, and another model
//! with other first steps.

use std::fmt::Write;

use super::{ASKED, Case, Row};
use crate::identified_cases::drawn::Draw;

/// Drawn oscillators, and tolerances; held inputs take too many steps for the last.
const DRAWS: usize = 12;
const TOLERANCES: [f64; 3] = [1e-2, 1e-3, 1e-4];
const LEAST_OF_HOLDS: f64 = 1e-3;

/// Another model with its span in s, and first steps as shares of it.
const OTHERS: [(&str, f64); 1] = [("triple-spring", 5.0)];
const FIRSTS: [f64; 5] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2];

/// Both as tables in Markdown.
pub fn fresh_tables(seed: u64) -> String {
    drawn_pairs(seed) + &first_steps()
}

/// Oscillators with these springs and dampers between the masses.
fn pair(draw: &mut Draw) -> Case {
    let parameters = vec![("ck", draw.size(2e4, 1e6)), ("dk", draw.size(50.0, 5e3))];
    Case { title: "drawn", model: "dual-mass", parameters: parameters.into(), stop: 0.1 }
}

fn drawn_pairs(seed: u64) -> String {
    let mut draw = Draw::new(seed);
    let cases: Vec<Case> = (0..DRAWS).map(|_| pair(&mut draw)).collect();
    let mut text =
        format!("### {DRAWS} oscillators, ck 2e4 to 1e6, dk 50 to 5e3, drawn with seed {seed}\n\n");
    text += "| method | tolerance | error / tolerance | calls / best fixed step | outside 0.2 to 5 | above 2 |\n|---|---|---|---|---|---|\n";
    for method in ASKED {
        let is_hold = matches!(method, "zoh" | "nepce");
        for tolerance in TOLERANCES.into_iter().filter(|tolerance| !is_hold || *tolerance >= LEAST_OF_HOLDS) {
            let rows: Vec<Row> = cases.iter().map(|case| Row::new(case, method, tolerance)).collect();
            let errors: Vec<f64> = rows.iter().filter_map(Row::error).collect();
            let ratios: Vec<f64> = rows.iter().filter_map(Row::ratio).collect();
            let outside = DRAWS - errors.iter().filter(|error| (0.2..=5.0).contains(*error)).count();
            let above = DRAWS - ratios.iter().filter(|ratio| **ratio <= 2.0).count();
            let (errors, ratios) = (extremes(&errors), extremes(&ratios));
            let _ =
                writeln!(text, "| {method} | {tolerance:e} | {errors} | {ratios} | {outside} | {above} |");
        }
    }
    text + "\n"
}

fn first_steps() -> String {
    let mut text =
        String::from("### Other models, first steps from a millionth to a hundredth of the run\n\n");
    text += "| system | method | tolerance | error / tolerance | steps |\n|---|---|---|---|---|\n";
    for (model, stop) in OTHERS {
        let case = Case { title: model, model, parameters: [].as_slice().into(), stop };
        for method in ["foh", "nepce", "predictive"] {
            for tolerance in &TOLERANCES[..2] {
                let run = |first: &f64| case.starting_with(Some(first * stop), method, "defect", *tolerance);
                let runs: Vec<_> = FIRSTS.iter().filter_map(|first| run(first).ok()).collect();
                let errors: Vec<f64> = runs.iter().map(|run| run.error / tolerance).collect();
                let steps =
                    |of: fn(u64, u64) -> u64| runs.iter().map(|run| run.steps).reduce(of).unwrap_or(0);
                let (fewest, most) = (steps(u64::min), steps(u64::max));
                let failed = match FIRSTS.len() - runs.len() {
                    0 => String::new(),
                    failed => format!(", {failed} failed"),
                };
                let errors = extremes(&errors);
                let _ = writeln!(
                    text,
                    "| {model} | {method} | {tolerance:e} | {errors} | {fewest} to {most}{failed} |"
                );
            }
        }
    }
    text + "\n"
}

/// `0.31 to 0.75`.
fn extremes(values: &[f64]) -> String {
    let (least, greatest) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| {
            (least.min(*value), greatest.max(*value))
        });
    if values.is_empty() { "-".into() } else { format!("{least:.2} to {greatest:.2}") }
}
