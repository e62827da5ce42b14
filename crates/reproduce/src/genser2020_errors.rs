//! The error over the macro step [T Fig. 3.62].

use costep_analysis::measure;
use costep_core::Result;
use costep_report::{Axis, Figure, Look, Panel, Series};

use crate::case::Case;
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::series::colour;
use crate::study::{Claim, Computed, Study, number, short, statement};
use crate::work::Work;

const PLACE: &str = "[T] section 3.4, on Fig. 3.62 (p. 110)";

/// The steps are 1 ms apart.
const fn step(text: &'static str, value: f64) -> Claim {
    number(text, PLACE, value, "ms", Kind::OnGrid(1.0))
}

/// Row of the registry.
pub(crate) const FIG_3_62: Study = Study {
    id: "genser2020-fig3.62",
    title: "error of the dual mass oscillator over the macro step",
    source: "[T] Fig. 3.62, p. 110",
    setup: "Linear dual mass oscillator, ck = 2e5, dk = 200, explicit Euler with 10 us inside, 0.1 s, exact Jacobians. The \
            error eps_mono,global of (3.9) is read as the RMS over the communication points of the mean over x1, v1 and F \
            of |y - y_mono| / range(y_mono). As in the figure, from 1 on a result counts as inaccurate. nepce measures \
            against the uncorrected signal, mbcorr takes the exact B_d and cuts nothing (paper), prestep is the thesis' optimal set.",
    claims: &[
        step("least step at which zoh is inaccurate", 2.0),
        step("least step at which nepce is inaccurate", 2.0),
        statement(
            "error of zoh at 8, 9 and 10 ms over that at 7 ms",
            PLACE,
            "declines (aliasing)",
            Kind::Less,
        ),
        step("largest step up to which mbcorr is accurate", 5.0),
        step("largest step up to which prestep is accurate", 9.0),
        statement(
            "prestep against mbcorr beyond 2 ms",
            PLACE,
            "obviously smaller error at every step",
            Kind::Less,
        ),
    ],
    compute,
};

const METHODS: [&str; 6] = [
    "zoh",
    "nepce",
    "mbcorr:paper=true",
    "prestep:paper=true",
    "predictive",
    "nepce:reference=applied,sampling=trapezoid",
];
/// Those that are drawn; the last is another reading of `nepce`.
const DRAWN: usize = 5;
const STEPS_MS: [f64; 11] = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

fn compute(work: &Work<'_>) -> Result<Computed> {
    let case = Case::new("dual-mass", &[("ck", 2e5), ("dk", 200.0)], 0.1);
    let rows = work.map(&STEPS_MS, |step| {
        let reference = case.monolithic(1e-3 * step, false)?;
        let descriptions = case.descriptions()?;
        METHODS
            .iter()
            .map(|method| {
                let run = case.run(method, 1e-3 * step, false)?;
                let measures = measure(&descriptions, &run.trace, &reference);
                Ok(if run.ended { measures.eps_mono } else { f64::INFINITY })
            })
            .collect::<Result<Vec<f64>>>()
    })?;
    let error = |method: usize, ms: f64| {
        let row = STEPS_MS.iter().position(|step| *step == ms);
        row.map_or(f64::NAN, |row| rows[row][method].min(1.0))
    };
    let first_bad =
        |method: usize| STEPS_MS.iter().copied().find(|ms| error(method, *ms) >= 1.0).unwrap_or(f64::NAN);
    let last_good = |method: usize| {
        let good = STEPS_MS.iter().take_while(|ms| error(method, **ms) < 1.0);
        good.last().copied().unwrap_or(f64::NAN)
    };
    let after_seven = [8.0, 9.0, 10.0].map(|ms| error(0, ms) / error(0, 7.0));
    let beyond: Vec<f64> = STEPS_MS.iter().copied().filter(|ms| *ms > 2.0).collect();
    let not_better: Vec<String> =
        beyond.iter().filter(|ms| error(3, **ms) >= error(2, **ms)).map(|ms| short(*ms)).collect();
    let measured = vec![
        Measured::Number(first_bad(0)),
        Measured::Number(first_bad(1)),
        Measured::ratios(
            after_seven,
            [7.0, 8.0, 9.0, 10.0].map(|ms| format!("{} at {ms} ms", short(error(0, ms)))).join(", "),
        ),
        Measured::Number(last_good(2)),
        Measured::Number(last_good(3)),
        Measured::ratios(
            beyond.iter().map(|ms| error(3, *ms) / error(2, *ms)),
            if not_better.is_empty() {
                "at every step".into()
            } else {
                format!("not at {} ms", not_better.join(", "))
            },
        ),
    ];
    let mut data = Data::new(["step_ms"].into_iter().chain(METHODS));
    for (step, row) in STEPS_MS.iter().zip(&rows) {
        data.push([*step].into_iter().chain(row.iter().copied()).collect());
    }
    let remarks = vec![
        format!(
            "nepce against the applied signal, trapezoidal sums: inaccurate from {} ms on. Which reading the thesis used \
             is not known.",
            short(first_bad(DRAWN))
        ),
        format!(
            "predictive, not in the thesis: {} at 5 ms, {} at 10 ms.",
            short(error(4, 5.0)),
            short(error(4, 10.0))
        ),
    ];
    Ok(Computed { measured, data, figure: figure(&rows), remarks })
}

fn figure(rows: &[Vec<f64>]) -> Figure {
    let curve = |k: usize| {
        let points = STEPS_MS.iter().zip(rows).map(|(step, row)| (*step, row[k].min(1.0))).collect();
        let name = METHODS[k].split(':').next().unwrap_or_default();
        Series::new(name, points).look(Look::Marked).colour(colour(METHODS[k]))
    };
    let panel = Panel::new(
        Axis::new("macro step").unit("ms").range(0.0, 10.0).ticks((0..=10).map(f64::from)),
        Axis::new("error eps_mono, cut at 1").range(0.0, 1.05),
    );
    let panel = (0..DRAWN).fold(panel, |panel, k| panel.with(curve(k)));
    Figure::new("Error over the macro step, dual mass oscillator")
        .subtitle("ck = 2e5 N/m, dk = 200 N s/m, 0.1 s")
        .panel(panel)
        .note("After Genser 2020, Fig. 3.62 (without predictive).")
}
