//! The model-based corrector against parallel linear correction [H18 Fig. 2].

use costep_analysis::measure;
use costep_core::Result;
use costep_report::{Axis, Figure, Look, Panel, Series};

use crate::case::Case;
use crate::data::Data;
use crate::series::{colour, panel};
use crate::study::{Computed, Measured, Study, short, statement};
use crate::work::Work;

/// Row of the registry.
pub(crate) const FIG_2: Study = Study {
    id: "haid2018-fig2",
    title: "model-based corrector against parallel linear correction",
    source: "[H18] Fig. 2",
    setup: "Linear dual mass oscillator, explicit Euler with 10 us inside, 0.1 s. The paper gives neither parameters nor \
            steps: here ck = 1e5, dk = 1e3 and ck = 2e5, dk = 200, steps of 0.5 to 5 ms. Error: RMS over the ends of all \
            inner steps of the mean over x1, v1 and F of |y - y_mono| / range(y_mono). PLC is the method `feedthrough`.",
    claims: &[statement(
        "mbcorr with exact Jacobians against PLC",
        "[H18] on Fig. 2",
        "outperforms it",
        "a smaller error in all cases; in trend in most",
    )],
    compute,
};

const METHODS: [(&str, &str); 2] = [("mbcorr", "mbcorr"), ("PLC", "feedthrough")];
const PAIRS: [(f64, f64); 2] = [(1e5, 1e3), (2e5, 200.0)];
const STEPS_MS: [f64; 6] = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0];
/// The step whose signals are drawn.
const DRAWN: f64 = 2.0;

fn compute(work: &Work<'_>) -> Result<Computed> {
    let jobs: Vec<_> =
        PAIRS.iter().flat_map(|pair| STEPS_MS.iter().map(move |step| (*pair, *step))).collect();
    let rows = work.map(&jobs, |((ck, dk), step)| errors(&case(*ck, *dk), *step))?;
    let better = rows.iter().filter(|row| row[0] < row[1]).count();
    let ratios: Vec<f64> = rows.iter().map(|row| row[1] / row[0]).filter(|ratio| ratio.is_finite()).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let found = format!(
        "in {better} of {} cases, error of PLC {} to {} times",
        rows.len(),
        short(least),
        short(most)
    );
    let mut data = Data::new(["ck", "dk", "step_ms", "mbcorr", "PLC"]);
    for (((ck, dk), step), row) in jobs.iter().zip(&rows) {
        data.push([*ck, *dk, *step].into_iter().chain(row.iter().copied()).collect());
    }
    Ok(Computed {
        measured: vec![Measured::most(better, rows.len(), found)],
        data,
        figure: figure(&rows)?,
        remarks: vec![
            "The figure also shows mbcorr with estimated Jacobians (MOESP); that curve is not computed here.".into(),
            "The axes of the figure are not known from the text: drawn are errors over the step and the force over time."
                .into(),
        ],
    })
}

fn case(ck: f64, dk: f64) -> Case {
    Case::new("dual-mass", &[("ck", ck), ("dk", dk)], 0.1)
}

fn errors(case: &Case, step_ms: f64) -> Result<Vec<f64>> {
    let reference = case.monolithic(1e-3 * step_ms, true)?;
    let descriptions = case.descriptions()?;
    METHODS
        .iter()
        .map(|(_, method)| {
            let run = case.run(method, 1e-3 * step_ms, true)?;
            let error = measure(&descriptions, &run.trace, &reference).eps_mono_micro;
            Ok(error.filter(|_| run.ended).unwrap_or(f64::INFINITY))
        })
        .collect()
}

fn figure(rows: &[Vec<f64>]) -> Result<Figure> {
    let mut figure = Figure::new("Model-based corrector and parallel linear correction")
        .subtitle("linear dual mass oscillator, exact Jacobians")
        .columns(2)
        .panel_height(240.0)
        .note("After Haid 2018, Fig. 2, without estimated Jacobians; the figure's parameters are not known.");
    for ((ck, dk), rows) in PAIRS.iter().zip(rows.chunks_exact(STEPS_MS.len())) {
        let mut errors = Panel::new(
            Axis::new("macro step").unit("ms").range(0.0, 5.0).ticks((0..=5).map(f64::from)),
            Axis::new("error").log(),
        )
        .title(format!("ck = {ck:e} N/m, dk = {dk} N s/m"));
        for (k, (name, method)) in METHODS.iter().enumerate() {
            let points = STEPS_MS.iter().zip(rows).map(|(step, row)| (*step, row[k])).collect();
            errors = errors.with(Series::new(*name, points).look(Look::Marked).colour(colour(method)));
        }
        figure = figure.panel(errors);
    }
    for (ck, dk) in PAIRS {
        let case = case(ck, dk);
        let step = 1e-3 * DRAWN;
        let runs = METHODS.map(|(_, method)| case.run(method, step, true));
        let [corrector, linear] = runs;
        let (corrector, linear) = (corrector?, linear?);
        let reference = case.monolithic(step, true)?;
        let runs = [("mbcorr", &corrector), ("PLC", &linear)];
        let signal = (2, "coupling force F", "N");
        figure = figure.panel(
            panel(&runs, &reference.trace, signal, (0.0, 0.1)).title(format!("at {} ms", short(DRAWN))),
        );
    }
    Ok(figure)
}
