//! The error of the pressure over the macro step [V14 Fig. 9].

use costep_core::Result;
use costep_report::{Axis, Figure, Look, Panel, Series};

use super::FORMS;
use super::runs::{Lines, Outcome};
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::study;
use crate::study::{Claim, Computed, Study, short};
use crate::work::Work;

const PLACE: &str = "[V14] section 3.4, on Fig. 9";

const fn statement(text: &'static str, says: &'static str) -> Claim {
    study::statement(text, PLACE, says, Kind::Less)
}

/// Row of the registry.
pub(crate) const FIG_9: Study = Study {
    id: "viel2014-fig9",
    title: "error of the pressure between two hydraulic lines over the macro step",
    source: "[V14] Fig. 9",
    setup: "Two hydraulic lines with real oil, whose parameters are ours (the paper gives none): linearised at 10 L/min they \
            are the linear ones of viel2014-stability. Flow 5, 10 from 0.1 s, 40 L/min from 1 s on; 2 s from rest; Dormand-\
            Prince with 1e-5 inside. RMS of the error of p1 every 50 us (or at every step, if longer) against a monolithic \
            solution with 1e-11; the paper's reference, a solver at 1e-5, is itself wrong by about as much as its runs.",
    claims: &[
        statement(
            "error of the stabilised forms at each step against the next, 5 to 50 us, both forms, r = 1 and 1/2",
            "increases",
        ),
        statement(
            "trapezoidal rule against backward Euler at 5 to 50 us, (26) as printed, p1 and f2",
            "more accurate",
        ),
        statement(
            "trapezoidal rule against backward Euler at 5 to 50 us, algebraic form, p1 and f2",
            "more accurate",
        ),
    ],
    compute,
};

/// Steps in us at which something is run.
type Steps = std::ops::RangeInclusive<usize>;
/// The jump of the flow at 0.1 s is not a multiple of 1 us in floating point: it would come a step late, which hides errors
/// as small as these.
const FROM_5: Steps = 5..=usize::MAX;
/// What else is run, and at which steps.
const OTHERS: [(&str, &str, Steps); 3] =
    [("zoh", "zoh", 1..=5), ("foh", "foh", 5..=100), ("predictive, order 2", "predictive:order=2", FROM_5)];
const STEPS_US: [usize; 7] = [1, 5, 10, 25, 50, 100, 200];
const QUICK_STEPS_US: [usize; 6] = [5, 10, 25, 50, 100, 200];

fn compute(work: &Work<'_>) -> Result<Computed> {
    let steps = if work.quick { &QUICK_STEPS_US[..] } else { &STEPS_US[..] };
    let lines = Lines::new(work.quick)?;
    let forms = FORMS.iter().map(|(name, method)| (*name, *method, FROM_5));
    let methods: Vec<_> = forms.chain(OTHERS).collect();
    // Short steps first: they take longest.
    let jobs: Vec<_> =
        steps.iter().flat_map(|step| methods.iter().map(move |method| (*step, method.clone()))).collect();
    let outcomes = work.map(&jobs, |(step, (_, method, steps))| {
        if !steps.contains(step) {
            return Ok([f64::NAN; 2]);
        }
        lines.run(method, *step).map(|Outcome { rms, .. }| rms)
    })?;
    let pressure: Vec<f64> = outcomes.iter().map(|rms| rms[0]).collect();
    let rows: Vec<&[f64]> = pressure.chunks_exact(methods.len()).collect();
    let up_to_50: Vec<&[[f64; 2]]> = steps
        .iter()
        .zip(outcomes.chunks_exact(methods.len()))
        .filter(|(us, _)| (5..=50).contains(*us))
        .map(|(_, row)| row)
        .collect();
    let rising: Vec<f64> = (1..5)
        .flat_map(|form| up_to_50.windows(2).map(move |pair| pair[0][form][0] / pair[1][form][0]))
        .collect();
    let risen = rising.iter().filter(|ratio| **ratio < 1.0).count();
    let found = format!("in {risen} of {} comparisons", rising.len());
    let better = |euler: usize| {
        let ratios: Vec<f64> = up_to_50
            .iter()
            .flat_map(|row| [0, 1].map(|signal| row[euler + 1][signal] / row[euler][signal]))
            .collect();
        let last = up_to_50.last().map_or([[f64::NAN; 2]; 2], |row| [row[euler], row[euler + 1]]);
        let count = ratios.iter().filter(|ratio| **ratio < 1.0).count();
        let found = format!(
            "in {count} of {} comparisons; p1 at 50 us {} Pa, backward Euler {} Pa",
            ratios.len(),
            short(last[1][0]),
            short(last[0][0])
        );
        Measured::ratios(ratios, found)
    };
    let measured = vec![Measured::ratios(rising, found), better(1), better(3)];
    let mut data = Data::new(["step_us"].into_iter().chain(methods.iter().map(|(name, ..)| *name)));
    for (step, row) in steps.iter().zip(&rows) {
        data.push([*step as f64].into_iter().chain(row.iter().copied()).collect());
    }
    let at = |us: usize, method: usize| {
        steps.iter().position(|step| *step == us).map_or(f64::NAN, |k| rows[k][method])
    };
    let remarks = vec![
        format!(
            "Not in the paper, at 50 us: the exact form {} Pa, predictive with parabolas, which Co-Simulation FMUs can take, \
             {} Pa, foh {} Pa; at 200 us {} and {} Pa.",
            short(at(50, 0)),
            short(at(50, 7)),
            short(at(50, 6)),
            short(at(200, 0)),
            short(at(200, 7))
        ),
        "An estimate of the rate of the model's states, as (26) takes it, is of second order with r = 1 and of first with \
         r = 1/2; an estimate of their value is of first order with r = 1 and of second with r = 1/2."
            .into(),
    ];
    Ok(Computed { measured, data, figure: figure(steps, &methods, &rows), remarks })
}

fn figure(steps: &[usize], methods: &[(&str, &str, Steps)], rows: &[&[f64]]) -> Figure {
    let mut panel =
        Panel::new(Axis::new("macro step").unit("us").log(), Axis::new("RMS error of p1").unit("Pa").log());
    for (k, (name, ..)) in methods.iter().enumerate() {
        // Errors above the pressure itself only hide the others.
        let shown = |rms: f64| if rms < 1e7 { rms } else { f64::NAN };
        let points = steps.iter().zip(rows).map(|(us, row)| (*us as f64, shown(row[k]))).collect();
        panel = panel.with(Series::new(*name, points).look(Look::Marked));
    }
    Figure::new("Error of the pressure over the macro step")
        .subtitle("two hydraulic lines with real oil")
        .panel(panel)
        .note("After Viel 2014, Fig. 9, with other methods; curves end where they diverge.")
}
