//! The helicopter with parameters of an earlier run [T Fig. 4.26].

use costep_analysis::measure;
use costep_core::Result;
use costep_ident::ModelFile;
use costep_report::{Axis, Colour, Figure, Look, Panel, Series};

use crate::case::Case;
use crate::data::Data;
use crate::study::{Computed, Measured, Study, short, statement};
use crate::work::Work;

const PLACE: &str = "[T] Fig. 4.26 and its text";

/// Row of the registry.
pub(crate) const FIG_4_26: Study = Study {
    id: "genser2020-fig4.26",
    title: "helicopter: parameters of an earlier run, pilot 1",
    source: "[T] Fig. 4.26",
    setup: "Helicopter with controller `bookI`, pilot 1, 90 s. Pre-Step SI: `prestep:source=rls,paper=true` with a learning phase of 12 s. Loaded: the same with the \
            parameters that Pre-Step SI without error differential equation has at the end of 90 s at 0.1 s, taken over to the step by (4.13), (4.14), and a learning phase of 2 s. Both \
            with the error differential equation, as table 3.12 says, and without. The thesis does not say from which step its parameters are. Error eps_mean as in \
            genser2020-fig4.11, cut at 1.",
    claims: &[
        statement(
            "loaded parameters at large steps",
            PLACE,
            "stable up to 0.3 s",
            "error below 1 at all steps up to 0.3 s, with and without the error differential equation; in trend if with one of them",
        ),
        statement(
            "loaded parameters against a learning phase of 12 s",
            PLACE,
            "major improvement beyond 0.18 s",
            "less than half the error at all steps from 0.2 s on, without the error differential equation; in trend in most",
        ),
    ],
    compute,
};

/// Names, methods, and lengths of the learning phase in s.
const METHODS: [(&str, &str, f64); 4] = [
    ("Pre-Step SI", "prestep:source=rls,paper=true", 12.0),
    ("Pre-Step SI, no ede", "prestep:source=rls,paper=true,ede=false", 12.0),
    ("loaded", "prestep:source=from-file,paper=true", 2.0),
    ("loaded, no ede", "prestep:source=from-file,paper=true,ede=false", 2.0),
];
const LEARNT: usize = 1;
const LOADED: [usize; 2] = [2, 3];
/// Step of the earlier run in s.
const EARLIER: f64 = 0.1;
/// Steps in hundredths of a second.
const STEPS: [u32; 11] = [10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];

fn with_phase(method: &str, learning: f64, step: f64) -> String {
    format!("{method},learning={}", (learning / step).round())
}

fn errors(case: &Case, models: &ModelFile, step: f64) -> Result<Vec<f64>> {
    let reference = case.monolithic(step, false)?;
    let descriptions = case.descriptions()?;
    let one = |(k, (_, method, learning)): (usize, &(&str, &str, f64))| {
        let method = with_phase(method, *learning, step);
        let run = match LOADED.contains(&k) {
            true => case.run_from(&method, step, models)?,
            false => case.run(&method, step, false)?,
        };
        let error = measure(&descriptions, &run.trace, &reference).eps_mean;
        Ok(if run.ended { error.min(1.0) } else { 1.0 })
    };
    METHODS.iter().enumerate().map(one).collect()
}

fn compute(work: &Work<'_>) -> Result<Computed> {
    let every = if work.quick { 2 } else { 1 };
    let steps: Vec<u32> = STEPS.iter().copied().step_by(every).collect();
    let case = Case::new("helicopter", &[("pilot", 1.0)], 90.0);
    let (_, method, learning) = METHODS[LEARNT];
    let models = case.identify(&with_phase(method, learning, EARLIER), EARLIER)?;
    let found = work.map(&steps, |step| errors(&case, &models, 0.01 * f64::from(*step)))?;

    let seconds = |step: &u32| 0.01 * f64::from(*step);
    let useful = |k: usize| found.iter().all(|row| row[k] < 1.0);
    let greatest = |k: usize| short(found.iter().map(|row| row[k]).fold(0.0, f64::max));
    let late: Vec<_> =
        steps.iter().zip(&found).filter(|(step, _)| **step >= 20).map(|(_, row)| row).collect();
    let better = late.iter().filter(|row| row[LOADED[1]] < 0.5 * row[LEARNT]).count();
    let pairs: Vec<_> =
        late.iter().map(|row| format!("{} against {}", short(row[LOADED[1]]), short(row[LEARNT]))).collect();
    let measured = vec![
        Measured::both(
            useful(LOADED[0]),
            useful(LOADED[1]),
            format!("errors up to {} with, {} without", greatest(LOADED[0]), greatest(LOADED[1])),
        ),
        Measured::most(better, late.len(), pairs.join(", ")),
    ];

    let mut data = Data::new(std::iter::once("step_s").chain(METHODS.iter().map(|(name, ..)| *name)));
    for (step, row) in steps.iter().zip(&found) {
        data.push(std::iter::once(seconds(step)).chain(row.iter().copied()).collect());
    }
    let panel =
        Panel::new(Axis::new("macro step").unit("s").range(0.09, 0.31), Axis::new("error eps_mean").log());
    let panel = METHODS.iter().enumerate().fold(panel, |panel, (k, (name, ..))| {
        let points = steps.iter().zip(&found).map(|(step, row)| (seconds(step), row[k])).collect();
        let look = if LOADED.contains(&k) { Look::Marked } else { Look::Line };
        panel.with(Series::new(*name, points).look(look).colour(Colour::Nth(k)))
    });
    Ok(Computed {
        measured,
        data,
        figure: Figure::new("Parameters of an earlier run, helicopter")
            .subtitle("pilot 1, controller bookI, 90 s; cut at 1")
            .panel(panel)
            .note("After Genser 2020, Fig. 4.26."),
        remarks: vec![],
    })
}
