//! The model-based corrector against parallel linear correction, and where it is stable [H18].

use costep_analysis::measure;
use costep_core::Result;
use costep_report::{Axis, Figure, Look, Panel, Series};

use crate::case::{Case, Run};
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::series::{grows, panel};
use crate::study::{Computed, Study, short, statement};
use crate::work::Work;

/// Row of the registry.
pub(crate) const FIG_2: Study = Study {
    id: "haid2018-fig2",
    title: "model-based corrector against parallel linear correction",
    source: "[H18] Fig. 2",
    setup: "Linear dual mass oscillator, explicit Euler with 10 us inside, 0.1 s; estimated Jacobians need time to learn, so they and \
            PLC beside them run for 1 s. The paper gives neither parameters nor steps: here ck = 1e5, dk = 1e3 and ck = 2e5, dk = 200, \
            steps of 0.5 to 5 ms. Jacobians are estimated by MOESP from ten samples inside each of the last ten steps, the order by the \
            singular values, as the text has it (a small batch of micro-steps, nothing chosen before); inputs are held in the first ten \
            steps. Error: RMS over the ends of all inner steps of the mean over x1, v1 and F of |y - y_mono| / range(y_mono). PLC is the \
            method `feedthrough`; mbcorr is without our guard (paper).",
    claims: &[
        statement("mbcorr with exact Jacobians against PLC", "[H18] on Fig. 2", "outperforms it", Kind::Less),
        statement(
            "mbcorr with Jacobians estimated by MOESP against PLC",
            "[H18] on Fig. 2",
            "outperforms it",
            Kind::Less,
        ),
    ],
    compute,
};

/// Row of the registry.
pub(crate) const REGIONS: Study = Study {
    id: "haid2018-stability",
    title: "model-based corrector: stability over coupling stiffness and damping",
    source: "[H18] last paragraph, beside Fig. 2",
    setup: "Linear dual mass oscillator, explicit Euler with 10 us inside, 0.1 s, ck from 1e3 to 1e6 and dk from 1e2 to 10^5.5 in halves of a \
            decade, steps of 0.5 to 5 ms; the paper gives neither. Unstable: the amplitude of one output is greater in the last fifth than \
            in the first. Compared are shares of stable combinations of step, ck and dk; high stiffness and low damping: ck at least 1e5, \
            dk at most 1e3. Others: zoh, nepce, PLC (`feedthrough`).",
    claims: &[
        statement(
            "stable share of zoh, nepce and PLC against that of mbcorr",
            "[H18] last paragraph, beside Fig. 2",
            "mbcorr performs best",
            Kind::Less,
        ),
        statement(
            "the same at high stiffness and low damping",
            "[H18] last paragraph, beside Fig. 2",
            "mbcorr performs best",
            Kind::Less,
        ),
    ],
    compute: regions,
};

/// Names, methods, and end times.
const METHODS: [(&str, &str, f64); 5] = [
    ("mbcorr", "mbcorr:paper=true", 0.1),
    ("PLC", "feedthrough", 0.1),
    (
        "mbcorr, MOESP",
        "mbcorr:source=moesp,paper=true,samples=10,model_order=0,window=100,learning=10,switching=1",
        1.0,
    ),
    ("PLC, 1 s", "feedthrough", 1.0),
    ("mbcorr, MOESP at points", "mbcorr:source=moesp,paper=true,window=100,learning=100", 1.0),
];
const PAIRS: [(f64, f64); 2] = [(1e5, 1e3), (2e5, 200.0)];
const STEPS_MS: [f64; 6] = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0];
/// The step whose signals are drawn.
const DRAWN: f64 = 2.0;

fn compute(work: &Work<'_>) -> Result<Computed> {
    let jobs: Vec<_> =
        PAIRS.iter().flat_map(|pair| STEPS_MS.iter().map(move |step| (*pair, *step))).collect();
    let rows = work.map(&jobs, |((ck, dk), step)| errors((*ck, *dk), *step))?;
    let compared = |own: usize, other: usize| {
        // Where both diverge neither is better.
        let ratios: Vec<f64> = rows.iter().map(|row| row[own] / row[other]).collect();
        let better = ratios.iter().filter(|ratio| **ratio < 1.0).count();
        let gains: Vec<f64> =
            ratios.iter().map(|ratio| 1.0 / ratio).filter(|gain| gain.is_finite()).collect();
        let found = format!(
            "in {better} of {} cases, error of PLC {} to {} times",
            rows.len(),
            short(gains.iter().copied().fold(f64::INFINITY, f64::min)),
            short(gains.iter().copied().fold(0.0, f64::max))
        );
        Measured::ratios(ratios, found)
    };
    let mut data = Data::new(["ck", "dk", "step_ms"].into_iter().chain(METHODS.map(|(name, ..)| name)));
    for (((ck, dk), step), row) in jobs.iter().zip(&rows) {
        data.push([*ck, *dk, *step].into_iter().chain(row.iter().copied()).collect());
    }
    Ok(Computed {
        measured: vec![compared(0, 1), compared(2, 3)],
        data,
        figure: figure(&rows)?,
        remarks: vec![
            format!(
                "From the last 100 communication points instead, after 100 steps under held inputs and with models of order 1, mbcorr is better \
                 in {} of {} cases.",
                rows.iter().filter(|row| row[4] < row[3]).count(),
                rows.len()
            ),
            "The axes of the figure are not known from the text: drawn are errors over the step and the force over time."
                .into(),
        ],
    })
}

fn case((ck, dk): (f64, f64), stop: f64) -> Case {
    Case::new("dual-mass", &[("ck", ck), ("dk", dk)], stop)
}

fn errors(pair: (f64, f64), step_ms: f64) -> Result<Vec<f64>> {
    let one = |(_, method, stop): &(&str, &str, f64)| {
        let case = case(pair, *stop);
        let reference = case.monolithic(1e-3 * step_ms, true)?;
        let run = case.run(method, 1e-3 * step_ms, true)?;
        let error = measure(&case.descriptions()?, &run.trace, &reference).eps_mono_micro;
        Ok(error.filter(|_| run.ended).unwrap_or(f64::INFINITY))
    };
    METHODS.iter().map(one).collect()
}

fn figure(rows: &[Vec<f64>]) -> Result<Figure> {
    let mut figure = Figure::new("Model-based corrector and parallel linear correction")
        .subtitle("linear dual mass oscillator, exact and estimated Jacobians")
        .columns(2)
        .panel_height(240.0)
        .note("After Haid 2018, Fig. 2; the figure's parameters are not known.");
    for ((ck, dk), rows) in PAIRS.iter().zip(rows.chunks_exact(STEPS_MS.len())) {
        let mut errors = Panel::new(
            Axis::new("macro step").unit("ms").range(0.0, 5.0).ticks((0..=5).map(f64::from)),
            Axis::new("error").log(),
        )
        .title(format!("ck = {ck:e} N/m, dk = {dk} N s/m"));
        for (k, (name, ..)) in METHODS.iter().enumerate() {
            let points = STEPS_MS.iter().zip(rows).map(|(step, row)| (*step, row[k])).collect();
            errors = errors.with(Series::new(*name, points).look(Look::Marked));
        }
        figure = figure.panel(errors);
    }
    for pair in PAIRS {
        let (case, step) = (case(pair, 0.1), 1e-3 * DRAWN);
        let runs: Vec<Run> =
            METHODS[..2].iter().map(|(_, method, _)| case.run(method, step, true)).collect::<Result<_>>()?;
        let reference = case.monolithic(step, true)?;
        let shown: Vec<_> = METHODS.iter().map(|(name, ..)| *name).zip(&runs).collect();
        let signal = (2, "coupling force F", "N");
        figure = figure.panel(
            panel(&shown, &reference.trace, signal, (0.0, 0.1)).title(format!("at {} ms", short(DRAWN))),
        );
    }
    Ok(figure)
}

/// The corrector first.
const COMPARED: [(&str, &str); 4] =
    [("mbcorr", "mbcorr:paper=true"), ("zoh", "zoh"), ("nepce", "nepce"), ("PLC", "feedthrough")];

fn regions(work: &Work<'_>) -> Result<Computed> {
    let exponents = |from: i32, to: i32| (from..=to).map(|k| 10f64.powf(0.5 * f64::from(k)));
    let pairs: Vec<_> = exponents(6, 12).flat_map(|ck| exponents(4, 11).map(move |dk| (ck, dk))).collect();
    let steps: &[f64] = if work.quick { &[1.0, 3.0] } else { &STEPS_MS };
    let rows = work.map(&pairs, |pair| {
        let case = case(*pair, 0.1);
        let share = |method: &str| {
            let stable = steps.iter().map(|step| Ok(!grows(&case.run(method, 1e-3 * step, false)?)));
            let stable = stable.collect::<Result<Vec<bool>>>()?;
            Ok(stable.iter().filter(|stable| **stable).count() as f64 / steps.len() as f64)
        };
        COMPARED.iter().map(|(_, method)| share(method)).collect::<Result<Vec<f64>>>()
    })?;
    let compared = |chosen: &dyn Fn(f64, f64) -> bool| {
        let rows: Vec<_> =
            pairs.iter().zip(&rows).filter(|((ck, dk), _)| chosen(*ck, *dk)).map(|(_, row)| row).collect();
        let share = |k: usize| rows.iter().map(|row| row[k]).sum::<f64>() / rows.len() as f64;
        let found: Vec<_> = COMPARED
            .iter()
            .enumerate()
            .map(|(k, (name, _))| format!("{name} {} %", short(100.0 * share(k))))
            .collect();
        Measured::ratios((1..COMPARED.len()).map(|k| share(k) / share(0)), found.join(", "))
    };
    let mut data = Data::new(["ck", "dk"].into_iter().chain(COMPARED.map(|(name, _)| name)));
    for ((ck, dk), row) in pairs.iter().zip(&rows) {
        data.push([*ck, *dk].into_iter().chain(row.iter().copied()).collect());
    }
    // Over the damping, at the greatest stiffness.
    let axes = Panel::new(
        Axis::new("dk").unit("N s/m").log(),
        Axis::new("stable share of the steps").range(0.0, 1.05),
    );
    let last = pairs.len() - 8;
    let panel = COMPARED.iter().enumerate().fold(axes, |panel, (k, (name, _))| {
        let points = pairs[last..].iter().zip(&rows[last..]).map(|((_, dk), row)| (*dk, row[k])).collect();
        panel.with(Series::new(*name, points).look(Look::Marked))
    });
    Ok(Computed {
        measured: vec![compared(&|_, _| true), compared(&|ck, dk| ck > 9e4 && dk < 1.1e3)],
        data,
        figure: Figure::new("Stable steps at a coupling stiffness of 1e6 N/m")
            .subtitle("linear dual mass oscillator, steps of 0.5 to 5 ms")
            .panel(panel)
            .note("On Haid 2018, last paragraph."),
        remarks: vec![],
    })
}
