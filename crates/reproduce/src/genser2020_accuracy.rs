//! Accuracy of coupling methods over the step and the ratio of stiffness and damping [T Figs. 3.58 to 3.61].

use costep_analysis::measure;
use costep_core::Result;
use costep_experiments::Region;
use costep_report::{Axis, Cells, Figure, Panel};

use crate::case::Case;
use crate::data::Data;
use crate::genser2020_regions::{self, Grid, STEPS_MS, borders, largest_step};
use crate::rules::{Kind, Measured};
use crate::series::colour;
use crate::study::{Computed, Study, number, short, statement};
use crate::work::Work;

/// The thesis' figures are 1 ms apart.
const ROW: Kind = Kind::OnGrid(1.0);

/// Row of the registry.
pub(crate) const FIG_3_58: Study = Study {
    id: "genser2020-fig3.58",
    title: "accuracy of the dual mass oscillator over step and ck/dk",
    source: "[T] Figs. 3.58 to 3.61",
    setup: "Linear dual mass oscillator, explicit Euler with 10 us inside, 0.1 s, exact Jacobians, ck from 1e3 to 1e6 and dk from 1e2 to 10^5.5 in \
            halves of a decade, steps 0.5, 1, 2 to 10 ms; the box is that of genser2020-fig3.52. Error as in genser2020-fig3.62. The thesis \
            does not say which error is sufficient: here below 0.5, half of where its colours end; the remarks have other limits. A \
            ratio is accurate at a step if any pair with that ratio is; only what is connected with 0.5 ms counts.",
    claims: &[
        number(
            "least accurate ck/dk of zoh up to 1 ms",
            "[T] section 3.4, on Fig. 3.58",
            0.5,
            "1/s",
            Kind::About,
        ),
        number(
            "greatest accurate ck/dk of zoh up to 1 ms",
            "[T] section 3.4, on Fig. 3.58",
            1000.0,
            "1/s",
            Kind::About,
        ),
        number("largest step with accurate results of zoh", "[T] section 3.4, on Fig. 3.58", 3.0, "ms", ROW),
        statement(
            "zoh at 10 ms and ck/dk between 50 and 2000 1/s",
            "[T] section 3.4, on Fig. 3.58",
            "accurate by aliasing, not connected",
            Kind::Property,
        ),
        number(
            "largest step with accurate results of nepce",
            "[T] section 3.4, on Fig. 3.59",
            5.0,
            "ms",
            ROW,
        ),
        number(
            "largest step with accurate results of mbcorr",
            "[T] section 3.4, on Fig. 3.60",
            8.0,
            "ms",
            ROW,
        ),
        statement(
            "accurate areas of zoh, nepce and mbcorr against that of prestep",
            "[T] section 3.4, on Fig. 3.61",
            "larger than the ones before",
            Kind::Less,
        ),
    ],
    compute,
};

const METHODS: [(&str, &str); 4] =
    [("zoh", "zoh"), ("nepce", "nepce"), ("mbcorr", "mbcorr:paper=true"), ("prestep", "prestep:paper=true")];
/// Errors below which a result is accurate: the first one counts.
const LIMITS: [f64; 3] = [0.5, 1.0, 0.1];

fn compute(work: &Work<'_>) -> Result<Computed> {
    let grid = Grid::new(if work.quick { 1.0 } else { 0.5 });
    let pairs = grid.pairs();
    let errors = work.map(&pairs, |(ck, dk)| {
        let case = Case::new("dual-mass", &[("ck", 10f64.powf(*ck)), ("dk", 10f64.powf(*dk))], 0.1);
        STEPS_MS.iter().map(|step| errors(&case, 1e-3 * step)).collect::<Result<Vec<_>>>()
    })?;
    let region = |method: usize, limit: f64| {
        let accurate: Vec<Vec<bool>> =
            errors.iter().map(|rows| rows.iter().map(|row| row[method] < limit).collect()).collect();
        genser2020_regions::region(&grid, &pairs, &accurate)
    };
    let regions: Vec<Region> = (0..METHODS.len()).map(|method| region(method, LIMITS[0])).collect();
    let zoh: Vec<f64> = (0..grid.columns())
        .filter(|column| regions[0].row(0)[*column] && regions[0].row(1)[*column])
        .map(|column| grid.ratio(column))
        .collect();
    let top = STEPS_MS.len() - 1;
    let aliased: Vec<bool> = (0..grid.columns())
        .filter(|column| (50.0..2000.0).contains(&grid.ratio(*column)))
        .map(|column| regions[0].share()[top * grid.columns() + column] > 0.0 && !regions[0].row(top)[column])
        .collect();
    let found = format!("at {} of {} ratios", aliased.iter().filter(|is| **is).count(), aliased.len());
    let areas: Vec<f64> = regions.iter().map(|region| region.area(grid.width())).collect();
    let measured = vec![
        Measured::Number(zoh.first().copied().unwrap_or(f64::NAN)),
        Measured::Number(zoh.last().copied().unwrap_or(f64::NAN)),
        Measured::Number(largest_step(&regions[0])),
        Measured::cases(aliased, found),
        Measured::Number(largest_step(&regions[1])),
        Measured::Number(largest_step(&regions[2])),
        Measured::ratios(
            areas[..3].iter().map(|area| area / areas[3]),
            METHODS
                .iter()
                .zip(&areas)
                .map(|((name, _), area)| format!("{name} {}", short(*area)))
                .collect::<Vec<_>>()
                .join(", "),
        ),
    ];
    let others = LIMITS[1..].iter().map(|limit| {
        let steps = (0..METHODS.len()).map(|method| short(largest_step(&region(method, *limit))));
        format!("below {limit}: up to {} ms", steps.collect::<Vec<_>>().join(", "))
    });
    let mut data = Data::new(["step_ms", "ck", "dk"].into_iter().chain(METHODS.map(|(name, _)| name)));
    for (k, step) in STEPS_MS.iter().enumerate() {
        for ((ck, dk), rows) in pairs.iter().zip(&errors) {
            data.push(
                [*step, 10f64.powf(*ck), 10f64.powf(*dk)]
                    .into_iter()
                    .chain(rows[k].iter().copied())
                    .collect(),
            );
        }
    }
    Ok(Computed {
        measured,
        data,
        figure: figure(&grid, &pairs, &errors),
        remarks: vec![format!(
            "Largest accurate steps of zoh, nepce, mbcorr and prestep with other limits: {}.",
            others.collect::<Vec<_>>().join("; ")
        )],
    })
}

fn errors(case: &Case, step: f64) -> Result<Vec<f64>> {
    let reference = case.monolithic(step, false)?;
    let descriptions = case.descriptions()?;
    let one = |(_, method): &(&str, &str)| {
        let run = case.run(method, step, false)?;
        let error = measure(&descriptions, &run.trace, &reference).eps_mono;
        Ok(if run.ended && error.is_finite() { error } else { f64::INFINITY })
    };
    METHODS.iter().map(one).collect()
}

/// Darker is more accurate: the least error of the pairs with a ratio.
fn figure(grid: &Grid, pairs: &[(f64, f64)], errors: &[Vec<Vec<f64>>]) -> Figure {
    let (x, y) = borders(grid);
    let panels = METHODS.iter().enumerate().map(|(method, (name, text))| {
        let mut least = vec![1.0_f64; grid.columns() * STEPS_MS.len()];
        for ((ck, dk), rows) in pairs.iter().zip(errors) {
            for (k, row) in rows.iter().enumerate() {
                let cell = &mut least[k * grid.columns() + grid.column(*ck, *dk)];
                *cell = cell.min(row[method]);
            }
        }
        let fill = least.iter().map(|error| 1.0 - error).collect();
        Panel::new(Axis::new("ck/dk").unit("1/s").log(), Axis::new("macro step").unit("ms").range(0.0, 10.5))
            .title(*name)
            .map(Cells { x: x.clone(), y: y.clone(), fill, colour: colour(text) })
    });
    Figure::new("Accuracy, dual mass oscillator")
        .subtitle("white: error 1 and above; full colour: no error")
        .panels(panels)
        .columns(2)
        .panel_height(220.0)
        .note("After Genser 2020, Figs. 3.58 to 3.61.")
}
