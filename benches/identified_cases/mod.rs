//! Coupling of black boxes with nothing set: the method `identified` on many systems, steps and starts.

mod cases;
pub(crate) mod drawn;
mod noisy;
mod pairs;
mod stiffening;

use costep_core::Result;
use costep_report::{Axis, Colour, Figure, Look, Panel, Series};
use costep_reproduce::{Computed, Data, Kind, Measured, Study, Work, number, short, statement};

pub use cases::Row;

/// Chosen cases.
pub const CHOSEN: Study = Study {
    id: "identified-default",
    title: "identified coupling of black boxes with nothing set",
    source: "costep, a prototype of the method `identified`",
    setup: "Linear and nonlinear dual mass oscillators, helicopter with two controllers and five pilots, pendulum, chain of five, hydraulic lines, \
            at steps from where a hold is accurate to where it explodes; with external inputs, idle starts, noise on all outputs, a spring that \
            changes; the start counts. Subsystems step exactly, the pendulum by Runge-Kutta steps of 0.2 ms, the nonlinear oscillator by Euler steps of \
            0.01 ms. Error: per subsystem the mean over its outputs and over time of |y - y_mono| / range(y_mono), Euclidean norm over subsystems, noise \
            included; above 9 or diverged it counts as 99. Of the 55 cases the prototype was tuned on 25 and tested on 30; costep's own changes \
            were chosen with all 55 in view. 21 more were made late, after all but one change. Columns `calls`: steps of subsystems per macro step.",
    claims: &[
        number(
            "geometric mean of the error, 30 test cases, held inputs",
            "costep, prototype",
            0.03,
            "",
            Kind::AtMost,
        ),
        number(
            "geometric mean of the error, 30 test cases, ramps",
            "costep, prototype",
            0.023,
            "",
            Kind::AtMost,
        ),
        statement(
            "error relative to that of zoh, 55 cases",
            "costep, prototype",
            "never above 0.8",
            Kind::Property,
        ),
        statement(
            "error relative to that of zoh, 21 further cases",
            "costep",
            "never above 0.8",
            Kind::Property,
        ),
    ],
    compute,
};

/// Cases drawn at random.
pub const DRAWN: Study = Study {
    id: "identified-drawn",
    title: "identified coupling of black boxes drawn at random",
    source: "costep",
    setup: "As identified-default, but with parameters, steps, excitation and noise drawn at random, 20 cases of each of 13 kinds: those of identified-default, \
            coupled pendula, three springs, and linear pairs with and without direct feedthrough (circuits, rooms and walls, plants with controllers, \
            drives with shafts). The method was not changed after these were drawn; it was chosen with five other draws of as many in view.",
    claims: &[statement(
        "error relative to that of zoh, 260 cases",
        "costep",
        "never above 0.8",
        Kind::Property,
    )],
    compute: compute_drawn,
};

/// The 55 cases of the first study that the prototype was made with, for measurements of the method.
pub fn all_cases() -> Vec<Row> {
    [cases::test(), cases::choosing()].concat()
}

/// Drawn cases, of which so many for a quick look, and where chance begins.
const DRAWS: (usize, usize, u64) = (260, 13, 13);

const METHODS: [&str; 6] =
    ["zoh", "foh", "nepce", "identified", "identified:form=ramp", "identified:start=plain"];
const ZOH: usize = 0;
const HOLD: usize = 3;
const RAMP: usize = 4;
/// Cases of each set for a quick look.
const QUICK: usize = 3;

/// Errors and calls of all methods on a set of cases.
struct Results {
    rows: Vec<Row>,
    found: Vec<Vec<(f64, f64)>>,
}

impl Results {
    fn error(&self, case: usize, method: usize) -> f64 {
        self.found[case][method].0
    }

    /// Geometric mean of the errors of a method.
    fn mean(&self, method: usize) -> f64 {
        let sum: f64 = (0..self.rows.len()).map(|case| self.error(case, method).ln()).sum();
        (sum / self.rows.len() as f64).exp()
    }

    /// The cases that are not clearly better than a hold, with the errors of the hold and of both forms.
    fn failures(&self) -> String {
        let failures = (0..self.rows.len()).filter(|case| self.ratio(*case) > 0.8).map(|case| {
            let [zoh, hold, ramp] = [ZOH, HOLD, RAMP].map(|method| short(self.error(case, method)));
            format!("{} ({zoh}, {hold}, {ramp})", self.rows[case].name)
        });
        let failures: Vec<_> = failures.collect();
        if failures.is_empty() { "none".into() } else { failures.join("; ") }
    }

    /// The worse of both forms, relative to a hold.
    fn ratio(&self, case: usize) -> f64 {
        self.error(case, HOLD).max(self.error(case, RAMP)) / self.error(case, ZOH)
    }
}

fn compute(work: &Work<'_>) -> Result<Computed> {
    let mut sets = [cases::test(), cases::choosing(), cases::further()];
    if work.quick {
        sets.iter_mut().for_each(|set| set.truncate(QUICK));
    }
    let sizes = [sets[0].len(), sets[1].len()];
    let all: Vec<Row> = sets.into_iter().flatten().collect();
    let mut found = work.map(&all, |row| row.errors(&METHODS))?;
    let mut rows = all;
    let mut cut = |size: usize| Results {
        rows: rows.drain(..size.min(rows.len())).collect(),
        found: found.drain(..size.min(found.len())).collect(),
    };
    let results = [cut(sizes[0]), cut(sizes[1]), cut(usize::MAX)];
    let [test, choosing, further] = &results;
    let means = |set: &Results| {
        METHODS
            .iter()
            .enumerate()
            .map(|(k, name)| format!("{name} {}", short(set.mean(k))))
            .collect::<Vec<_>>()
            .join(", ")
    };
    Ok(Computed {
        measured: vec![
            Measured::Number(test.mean(HOLD)),
            Measured::Number(test.mean(RAMP)),
            never_above(&[test, choosing]),
            never_above(&[further]),
        ],
        data: data(&results),
        figure: figure(&results, "case: 1 to 30 test, to 55 choice, then further"),
        remarks: vec![
            format!("Geometric means, test cases: {}.", means(test)),
            format!("Geometric means, cases of the choice: {}.", means(choosing)),
            format!("Geometric means, further cases: {}.", means(further)),
            "The prototype, on the same test cases: zoh 5.3, foh 1.7, nepce 1.7, identified 0.029, ramps 0.023, plain start 0.045. \
             Beyond it, external inputs are taken as means around the points, and the coupled models are tried before the steps become large, \
             and where a run goes away with large steps, they become small again."
                .into(),
        ],
    })
}

fn compute_drawn(work: &Work<'_>) -> Result<Computed> {
    let (all, few, seed) = DRAWS;
    let rows = drawn::cases(if work.quick { few } else { all }, seed);
    let found = work.map(&rows, |row| row.errors(&METHODS))?;
    let results = [Results { rows, found }];
    let [drawn] = &results;
    let means: Vec<_> =
        METHODS.iter().enumerate().map(|(k, name)| format!("{name} {}", short(drawn.mean(k)))).collect();
    Ok(Computed {
        measured: vec![never_above(&[drawn])],
        data: data(&results),
        figure: figure(&results, "case"),
        remarks: vec![
            format!("Geometric means: {}.", means.join(", ")),
            format!("Not below 0.8 of zoh: {}.", drawn.failures()),
            "Where the noise on the outputs is most of the error, no method can be better than zoh by much; nor is a held input where an output hangs \
             on it directly, as the output is read under the mean of the input over a step: ramps do not have this error."
                .into(),
        ],
    })
}

/// Ratios to the errors of a hold.
fn never_above(sets: &[&Results]) -> Measured {
    let ratios = || {
        sets.iter().flat_map(|set| (0..set.rows.len()).map(|case| (set.ratio(case), &*set.rows[case].name)))
    };
    let better = ratios().filter(|(ratio, _)| *ratio <= 0.8).count();
    let count = ratios().count();
    let (worst, name) = ratios().fold((0.0, ""), |worst, next| if next.0 > worst.0 { next } else { worst });
    Measured::cases(
        ratios().map(|(ratio, _)| ratio <= 0.8),
        format!("at most 0.8 in {better} of {count}; worst {} ({name})", short(worst)),
    )
}

fn data(results: &[Results]) -> Data {
    let columns = ["case", "set", "step_s"].into_iter().chain(METHODS);
    let rest = ["calls_hold", "calls_ramp", "prototype_hold", "prototype_ramp"];
    let mut data = Data::new(columns.chain(rest));
    for (set, results) in results.iter().enumerate() {
        for (row, found) in results.rows.iter().zip(&results.found) {
            let errors = found.iter().map(|(error, _)| *error);
            let rest = [found[HOLD].1, found[RAMP].1, row.prototype.0, row.prototype.1];
            let head = [set as f64 + 1.0, row.step].into_iter();
            data.push_named(&row.name, head.chain(errors).chain(rest).collect());
        }
    }
    data
}

fn figure(results: &[Results], cases: &str) -> Figure {
    let count: usize = results.iter().map(|set| set.rows.len()).sum();
    let cases = Axis::new(cases).range(0.0, count as f64 + 1.0);
    let mut panel = Panel::new(cases, Axis::new("error").log());
    let shown = [(ZOH, "zoh"), (2, "nepce"), (HOLD, "identified, hold"), (RAMP, "identified, ramp")];
    for (k, (method, name)) in shown.into_iter().enumerate() {
        let errors = results.iter().flat_map(|set| set.found.iter().map(|row| row[method].0));
        let points = errors.enumerate().map(|(k, error)| (k as f64 + 1.0, error)).collect();
        panel = panel.with(Series::new(name, points).look(Look::Points).colour(Colour::Nth(k)));
    }
    Figure::new("Identified coupling with nothing set")
        .subtitle("mean error relative to the range, start included; 99: diverged")
        .panel(panel)
}

#[cfg(test)]
mod tests {
    use costep_reproduce::Finding;

    use super::*;

    #[test]
    fn every_claim_is_measured() {
        for study in [CHOSEN, DRAWN] {
            let work = Work { threads: 2, quick: true, progress: &|_, _| Ok(()) };
            let computed = (study.compute)(&work).unwrap_or_else(|error| panic!("{}: {error}", study.id));
            assert_eq!(computed.measured.len(), study.claims.len(), "{}", study.id);
            for (claim, measured) in study.claims.iter().zip(&computed.measured) {
                let finding = Finding::new(claim, measured);
                println!("{}: {}: {}", study.id, claim.text, finding.reproduced);
                assert!(claim.kind.takes(measured) && !finding.reproduced.is_empty());
            }
            assert!(computed.data.rows() > 5, "{}", study.id);
            assert!(computed.figure.to_svg().ends_with("</svg>\n"));
        }
    }
}
