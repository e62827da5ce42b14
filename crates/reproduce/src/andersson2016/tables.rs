//! Counts of steps and evaluations for the four ways to cross a joint [A16 Tables 2 to 4].

use costep_core::Result;
use costep_integrate::multistep::{AtPoint, Statistics};
use costep_report::{Axis, Figure, Look, Panel, Series};

use super::segments::{MODES, Setting};
use super::trials::{Row, Step, Trials, history, median, ratios, spread};
use super::{pendulum, triple, wheel};
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::study::{Claim, Computed, Study, number, short, statement};
use crate::work::Work;

/// Rows of a table, per way but the restart.
const CELLS: [[&str; 3]; 5] = [
    [
        "steps, going on as before, over a restart",
        "steps, first derivative corrected, over a restart",
        "steps, both derivatives corrected, over a restart",
    ],
    [
        "evaluations, going on as before, over a restart",
        "evaluations, first derivative corrected, over a restart",
        "evaluations, both derivatives corrected, over a restart",
    ],
    [
        "Jacobians, going on as before, over a restart",
        "Jacobians, first derivative corrected, over a restart",
        "Jacobians, both derivatives corrected, over a restart",
    ],
    [
        "error test failures, going on as before, over a restart",
        "error test failures, first derivative corrected, over a restart",
        "error test failures, both derivatives corrected, over a restart",
    ],
    [
        "time, going on as before, over a restart",
        "time, first derivative corrected, over a restart",
        "time, both derivatives corrected, over a restart",
    ],
];

/// What a table of the paper has: its rows in the order of [`CELLS`], and the restart first.
type Table = [[f64; 4]; 5];

/// What is gained or lost against a restart, in one cell.
const fn cell(place: &'static str, table: &Table, row: usize, way: usize) -> Claim {
    number(CELLS[row][way - 1], place, table[row][way] / table[row][0], "", Kind::Change)
}

/// Every cell of a table over that of the restart, and what the text says.
macro_rules! claims {
    ($place:literal, $table:expr; $($more:expr),* $(,)?) => {
        &[
            cell($place, &$table, 0, 1), cell($place, &$table, 0, 2), cell($place, &$table, 0, 3),
            cell($place, &$table, 1, 1), cell($place, &$table, 1, 2), cell($place, &$table, 1, 3),
            cell($place, &$table, 2, 1), cell($place, &$table, 2, 2), cell($place, &$table, 2, 3),
            cell($place, &$table, 3, 1), cell($place, &$table, 3, 2), cell($place, &$table, 3, 3),
            cell($place, &$table, 4, 1), cell($place, &$table, 4, 2), cell($place, &$table, 4, 3),
            $($more),*
        ]
    };
}

const ERRORS: &str = "errors of the four ways";
const WORST: &str = "steps of the others against going on as before";
const ORDER: &str = "order with both derivatives corrected";

/// Row of the registry.
pub(crate) const TABLE_2: Study = Study {
    id: "andersson2016-table2",
    title: "steps of a multistep solver across linear input segments, triple spring",
    source: "[A16] Table 2",
    setup: "Right half of the triple spring under 20 linear segments of 0.1 s from the whole solved exactly; BDF, relative \
            tolerance 1e-6, absolute 1e-8 (the text says 1e-6; the program used makes 1e-8 of it). The paper does not give \
            the start: ratios to a restart are medians over 24 random starts with the true slope of the inputs, of settings that the \
            way comes through. The counts in the remarks are those of the start (1, 0, 1, 0) with backward differences, which was found \
            by a search for the paper's counts. Evaluations include those of the corrections. Time: CPU time of all settings that all four \
            ways end, one way after the other in every round, the median of 15 rounds. Errors: greatest over least of a setting. High \
            order: higher on average over time than with a restart, and at least 4.",
    claims: claims!("[A16] Table 2", [
        [598.0, 876.0, 584.0, 343.0],
        [847.0, 1257.0, 833.0, 466.0],
        [19.0, 17.0, 11.0, 19.0],
        [22.0, 87.0, 47.0, 18.0],
        [1.0, 1.22, 0.85, 0.59],
    ];
        statement(ERRORS, "[A16] section 5.1, on Table 2", "nearly equal", Kind::Alike),
        statement(WORST, "[A16] section 5.1, on Table 2", "going on is the worst choice", Kind::Less),
        statement(ORDER, "[A16] section 5.1, on Fig. 7", "persistently high", Kind::Property),
    ),
    compute: |work| {
        let trials = Trials { fixed: triple::fixed, drawn: triple::drawn, draws: 24 };
        compute(work, trials, ("triple spring, right half", "2"), Says::More)
    },
};

/// Row of the registry.
pub(crate) const TABLE_3: Study = Study {
    id: "andersson2016-table3",
    title: "steps of a multistep solver across constant input segments, coupled pendula",
    source: "[A16] Table 3",
    setup: "Left one of two pendula joined by a spring, under 40 constant segments of 0.05 s from the whole solved exactly; \
            solver, tolerances and time as andersson2016-table2. The paper gives neither start nor spring: ratios are medians over \
            24 random starts with springs of 200, 500 or 1000 N/m; the counts in the remarks are those of angles 0.2 and -0.2 \
            and 200 N/m. Fig. 11: the history polynomial at the joint at 0.1 s, extrapolated to the end of the next accepted step; its \
            distance from the accepted states there, with a correction over without, in the same settings.",
    claims: claims!("[A16] Table 3", [
        [1377.0, 1962.0, 1275.0, 850.0],
        [1989.0, 2858.0, 1792.0, 1144.0],
        [55.0, 38.0, 24.0, 39.0],
        [69.0, 210.0, 102.0, 42.0],
        [1.0, 1.33, 0.88, 0.67],
    ];
        statement(ERRORS, "[A16] section 5.2, on Table 3", "nearly equal", Kind::Alike),
        statement(WORST, "[A16] section 5.2, on Table 3", "going on is the worst choice", Kind::Less),
        statement(ORDER, "[A16] section 5.2, on Fig. 10", "persistently high", Kind::Property),
        statement(
            "predictor corrected in the first derivative against the original one",
            "[A16] section 5.2, on Fig. 11",
            "nearer to the next accepted solution",
            Kind::Less,
        ),
        statement(
            "the same corrected in both derivatives",
            "[A16] section 5.2, on Fig. 11",
            "nearer",
            Kind::Less,
        ),
    ),
    compute: |work| {
        let trials = Trials { fixed: pendulum::fixed, drawn: pendulum::drawn, draws: 24 };
        let mut computed = compute(work, trials, ("coupled pendula, left one", "3"), Says::More)?;
        computed.measured.extend(predictors(&trials.settings()[1..])?);
        Ok(computed)
    },
};

/// Row of the registry.
pub(crate) const TABLE_4: Study = Study {
    id: "andersson2016-table4",
    title: "steps of a multistep solver for a wheel with 37 inputs under 200 segments",
    source: "[A16] Table 4",
    setup: "A wheel of our own with 8 states and 37 inputs, since the paper's is not published: tyre with slip and load, \
            springs to the hub, spin under drive and brake, on a prescribed course through bends with rising speed; 200 linear \
            segments of 0.05 s with backward differences. Jacobians by differences, as the paper's FMU has to. Solver, \
            tolerances and time as andersson2016-table2; medians over 6 places on the course. It is another wheel, and the numbers are \
            judged as if it were the paper's.",
    claims: claims!("[A16] Table 4", [
        [3500.0, 5278.0, 3043.0, 1598.0],
        [6670.0, 8843.0, 5048.0, 2970.0],
        [199.0, 105.0, 59.0, 195.0],
        [323.0, 844.0, 384.0, 70.0],
        [1.0, 1.29, 0.77, 0.47],
    ];
        statement(ERRORS, "[A16] section 5.3, on Fig. 13", "of the same magnitude", Kind::SameMagnitude),
    ),
    compute: |work| {
        let trials = Trials { fixed: wheel::fixed, drawn: wheel::drawn, draws: 6 };
        let mut computed = compute(work, trials, ("wheel with 37 inputs", "4"), Says::Less)?;
        computed.remarks.push(with_short_segments(work)?);
        Ok(computed)
    },
};

/// Whether the text says more than the table.
#[derive(PartialEq, Eq)]
enum Says {
    More,
    Less,
}

/// [A16 Fig. 11]: how far the predictor is from the next accepted solution, corrected over not, per setting.
fn predictors(settings: &[Setting]) -> Result<[Measured; 2]> {
    let of = |mode: AtPoint| -> Result<Measured> {
        let mut ratios = Vec::new();
        for setting in settings {
            ratios.extend(setting.predictor_gain(mode, FIG_11_JOINT)?);
        }
        let nearer = ratios.iter().filter(|ratio| **ratio < 1.0).count();
        let found = format!(
            "in {nearer} of {} settings, {} of the distance",
            ratios.len(),
            short(median(ratios.clone()))
        );
        Ok(Measured::ratios(ratios, found))
    };
    Ok([of(MODES[2])?, of(MODES[3])?])
}

/// The joint at 0.1 s.
const FIG_11_JOINT: usize = 2;

fn compute(work: &Work<'_>, trials: Trials, (name, table): (&str, &str), says: Says) -> Result<Computed> {
    let settings = trials.settings();
    let rows = Trials::rows(work, &settings)?;
    let (fixed, drawn) = (&rows[0], &rows[1..]);
    let all_end: Vec<&Setting> = settings[1..]
        .iter()
        .zip(drawn)
        .filter(|(_, row)| row.statistics.iter().all(Option::is_some))
        .map(|(setting, _)| setting)
        .collect();
    let cpu = Trials::cpu(&all_end, if work.quick { 3 } else { 15 })?;
    let histories: Vec<Vec<Step>> =
        MODES.iter().map(|mode| history(&settings[0], *mode)).collect::<Result<_>>()?;
    let counts: [fn(&Statistics) -> u64; 4] =
        [|s| s.steps, evaluations, |s| s.jacobians, |s| s.error_failures];
    let mut measured = Vec::new();
    for count in counts {
        measured.extend((1..4).map(|way| Measured::Number(median(ratios(drawn, way, count)))));
    }
    measured.extend((1..4).map(|way| Measured::Number(spread(&cpu, way)[0])));
    measured.push(errors(drawn));
    if says == Says::More {
        measured.push(worst(drawn));
        measured.push(order(&histories));
    }
    Ok(Computed {
        measured,
        data: data(&rows),
        figure: figure(name, table, &histories),
        remarks: remarks(fixed, drawn, &cpu),
    })
}

/// The paper does not say how long a segment of its wheel is.
fn with_short_segments(work: &Work<'_>) -> Result<String> {
    let trials = Trials { fixed: wheel::fixed_short, drawn: wheel::drawn_short, draws: 6 };
    let rows = Trials::rows(work, &trials.settings())?;
    let ratios = [1, 2, 3].map(|mode| short(median(ratios(&rows[1..], mode, |s| s.steps))));
    let per_segment = rows[0].statistics[0].map_or(f64::NAN, |s| s.steps as f64 / 200.0);
    Ok(format!(
        "With segments of 0.01 s, {} steps each with a restart (the paper's wheel takes 17.5), the ratios of steps are {}.",
        short(per_segment),
        ratios.join(", ")
    ))
}

fn evaluations(statistics: &Statistics) -> u64 {
    statistics.evaluations + statistics.correction_evaluations
}

/// The greatest over the least error of each setting.
fn errors(rows: &[Row]) -> Measured {
    let spread = |row: &Row, modes: &[usize]| {
        let errors: Vec<f64> = modes.iter().filter_map(|mode| row.errors[*mode]).collect();
        let greatest = errors.iter().copied().fold(0.0, f64::max);
        greatest / errors.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let all: Vec<f64> = rows.iter().map(|row| spread(row, &[0, 1, 2, 3])).collect();
    let without = median(rows.iter().map(|row| spread(row, &[0, 2, 3])).collect());
    let found = format!(
        "medians of the factor: {}; {} without going on as before",
        short(median(all.clone())),
        short(without)
    );
    Measured::ratios(all, found)
}

/// The most steps of the others over those of going on as before; where that gives up, it is worse.
fn worst(rows: &[Row]) -> Measured {
    let steps = |row: &Row, mode: usize| row.statistics[mode].map_or(f64::INFINITY, |s| s.steps as f64);
    let most = |row: &Row| [0, 2, 3].map(|mode| steps(row, mode)).into_iter().fold(0.0, f64::max);
    let ratios: Vec<f64> = rows.iter().map(|row| most(row) / steps(row, 1)).collect();
    let holds = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    let found = format!("in {holds} of {} settings; gives up in {}", rows.len(), aborts(rows, 1));
    Measured::ratios(ratios, found)
}

fn aborts(rows: &[Row], mode: usize) -> usize {
    rows.iter().filter(|row| row.statistics[mode].is_none()).count()
}

/// Whether the corrected solver stays at high order.
fn order(histories: &[Vec<Step>]) -> Measured {
    let mean = |steps: &[Step]| {
        let (sum, time) = steps.iter().fold((0.0, 0.0), |(sum, time), step| {
            (sum + step.order as f64 * step.length, time + step.length)
        });
        sum / time
    };
    let (restart, corrected) = (mean(&histories[0]), mean(&histories[3]));
    let found = format!("{} on average over time, {} with a restart", short(corrected), short(restart));
    Measured::cases([corrected > restart, corrected >= 4.0], found)
}

fn remarks(fixed: &Row, drawn: &[Row], cpu: &[[f64; 4]]) -> Vec<String> {
    let count = |count: &dyn Fn(&Statistics) -> u64| {
        let texts =
            fixed.statistics.map(|s| s.as_ref().map_or_else(|| "gives up".into(), |s| count(s).to_string()));
        texts.join(" ")
    };
    let error = fixed.errors.map(|error| error.map_or_else(|| "-".into(), short)).join(" ");
    let given_up: Vec<_> =
        MODES.iter().enumerate().map(|(mode, at)| format!("{} {}", at.name(), aborts(drawn, mode))).collect();
    let times: Vec<_> = (0..4)
        .map(|mode| spread(cpu, mode).map(short))
        .map(|[middle, low, high]| format!("{middle} ({low} to {high})"))
        .collect();
    vec![
        format!(
            "Fixed setting, in the order restart, proceed, correct-1, correct-2: steps {}; evaluations {}; Jacobians {}; error \
             test failures {}; greatest errors {error}.",
            count(&|s| s.steps),
            count(&evaluations),
            count(&|s| s.jacobians),
            count(&|s| s.error_failures),
        ),
        format!("Of {} drawn settings given up: {}.", drawn.len(), given_up.join(", ")),
        format!(
            "CPU time over that of a restart, on the settings that all four end, in this order, median and quartiles of {} \
             rounds that alternate: {}. Evaluations are cheap here; where they are not, the ratio tends to that of evaluations.",
            cpu.len(),
            times.join(", ")
        ),
    ]
}

fn data(rows: &[Row]) -> Data {
    let mut data = Data::new([
        "setting",
        "mode",
        "steps",
        "evaluations",
        "correction evaluations",
        "jacobians",
        "error test failures",
        "convergence failures",
        "greatest error",
    ]);
    for (setting, row) in rows.iter().enumerate() {
        for (mode, (statistics, error)) in row.statistics.iter().zip(&row.errors).enumerate() {
            let counts = statistics.map_or([f64::NAN; 6], |s| {
                [
                    s.steps,
                    s.evaluations,
                    s.correction_evaluations,
                    s.jacobians,
                    s.error_failures,
                    s.convergence_failures,
                ]
                .map(|count| count as f64)
            });
            let ends = [error.unwrap_or(f64::NAN)];
            data.push([setting as f64, mode as f64].into_iter().chain(counts).chain(ends).collect());
        }
    }
    data
}

fn figure(name: &str, table: &str, histories: &[Vec<Step>]) -> Figure {
    let time = || Axis::new("time").unit("s");
    let mut lengths = Panel::new(time(), Axis::new("inner step").unit("s").log());
    let mut orders = Panel::new(time(), Axis::new("order").range(0.0, 6.0).ticks((0..=6).map(f64::from)));
    // All four over each other hide each other.
    for mode in [0, 3] {
        let of = |value: fn(&Step) -> f64| histories[mode].iter().map(|step| (step.t, value(step))).collect();
        let name = MODES[mode].name();
        lengths = lengths.with(Series::new(name, of(|step| step.length)));
        orders = orders.with(Series::new(name, of(|step| step.order as f64)).look(Look::Steps));
    }
    Figure::new("Steps and orders of a multistep solver under input segments")
        .subtitle(format!("{name}, fixed setting"))
        .panel(lengths)
        .panel(orders)
        .note(format!("After Andersson et al. 2016, Table {table} and the figures beside it."))
}
