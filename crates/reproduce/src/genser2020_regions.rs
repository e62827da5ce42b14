//! Stability regions of coupling methods over the step and the ratio of stiffness and damping [T Fig. 3.52].
//!
//! The thesis gives neither the grid of (ck, dk) nor the end time. The box used here was fitted to its figures (see
//! `setup`): the areas are consistent with the thesis, not an independent proof of it. The step limits of `zoh` and
//! `nepce` were not used in the fit.

use costep_core::Result;
use costep_experiments::Region;
use costep_report::{Axis, Cells, Figure, Look, Panel, Series};

use crate::case::Case;
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::series::{colour, grows};
use crate::study::{Computed, Study, number, short, statement};
use crate::work::Work;

const PLACE: &str = "[T] section 3.3.1, on Fig. 3.52 (p. 98)";
/// A row of the grid of steps is 1 ms high.
const ROW: Kind = Kind::OnGrid(1.0);

/// Row of the registry.
pub(crate) const FIG_3_52: Study = Study {
    id: "genser2020-fig3.52",
    title: "stability regions of the dual mass oscillator over step and ck/dk",
    source: "[T] Fig. 3.52, p. 98",
    setup: "Linear dual mass oscillator, explicit Euler with 10 us inside, 0.1 s, exact Jacobians, ck from 1e3 to 1e6 and dk \
            from 1e2 to 10^5.5 in quarters of a decade, steps 0.5, 1, 2 to 10 ms. Unstable: the amplitude of one output \
            is greater in the last fifth than in the first. A ratio ck/dk is stable at a step if any pair with that \
            ratio is; only the region that is connected with 0.5 ms counts. Area in ms times decades. The thesis does \
            not give the box of ck and dk: this one was fitted to some of its numbers, see below. nepce measures against the \
            uncorrected signal, mbcorr takes the exact B_d and cuts nothing (paper), prestep is the thesis' optimal set. Few points at the \
            largest step: less than a third of the ratios; in the centre: 10 1/s among them or within a factor 3.2.",
    claims: &[
        number("area of zoh", PLACE, 7.5, "ms decades", Kind::Number),
        number("area of nepce", PLACE, 10.5, "ms decades", Kind::Number),
        number("area of mbcorr", PLACE, 19.5, "ms decades", Kind::Number),
        number("area of prestep", PLACE, 62.0, "ms decades", Kind::Number),
        number("area ratio prestep : zoh", PLACE, 8.2, "", Kind::Number),
        number("area ratio prestep : nepce", PLACE, 5.9, "", Kind::Number),
        number("area ratio prestep : mbcorr", PLACE, 3.2, "", Kind::Number),
        number("largest stable step of zoh", "[T] section 3.3.1, on Fig. 3.53 (p. 99)", 3.0, "ms", ROW),
        number("largest stable step of nepce", "[T] section 3.3.1, on Fig. 3.54 (p. 99)", 4.0, "ms", ROW),
        number("largest stable step of mbcorr", "[T] section 3.3.1, on Fig. 3.55 (p. 100)", 5.0, "ms", ROW),
        number(
            "least stable ck/dk of zoh",
            "[T] section 3.3.1, on Fig. 3.53 (p. 99)",
            0.2,
            "1/s",
            Kind::About,
        ),
        number(
            "greatest stable ck/dk of zoh",
            "[T] section 3.3.1, on Fig. 3.53 (p. 99)",
            1000.0,
            "1/s",
            Kind::About,
        ),
        statement(
            "prestep at the largest step",
            "[T] section 3.3.1, on Fig. 3.56 (p. 100)",
            "few stable points, in the centre",
            Kind::Property,
        ),
    ],
    compute,
};

/// Name in the figure, method with options.
const METHODS: [&str; 6] = [
    "zoh",
    "nepce",
    "mbcorr:paper=true",
    "prestep:paper=true",
    "predictive",
    "mbcorr:paper=true,discretisation=euler",
];
/// Those that are drawn; the last is another reading of `mbcorr`.
const DRAWN: usize = 5;
pub(crate) const STEPS_MS: [f64; 11] = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// Exponents of a grid, in decades.
pub(crate) struct Grid {
    ck: Vec<f64>,
    dk: Vec<f64>,
    /// Width of a column.
    width: f64,
}

impl Grid {
    pub(crate) fn new(width: f64) -> Self {
        let exponents = |from: f64, to: f64| {
            let count = ((to - from) / width).round() as usize;
            (0..=count).map(|k| from + k as f64 * width).collect()
        };
        Self { ck: exponents(3.0, 6.0), dk: exponents(2.0, 5.5), width }
    }

    /// Exponents of all pairs ck, dk.
    pub(crate) fn pairs(&self) -> Vec<(f64, f64)> {
        self.ck.iter().flat_map(|ck| self.dk.iter().map(move |dk| (*ck, *dk))).collect()
    }

    /// Width of a column in decades.
    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    fn least_ratio(&self) -> f64 {
        self.ck[0] - self.dk[self.dk.len() - 1]
    }

    pub(crate) fn columns(&self) -> usize {
        self.ck.len() + self.dk.len() - 1
    }

    pub(crate) fn column(&self, ck: f64, dk: f64) -> usize {
        ((ck - dk - self.least_ratio()) / self.width).round() as usize
    }

    /// ck/dk of a column.
    pub(crate) fn ratio(&self, column: usize) -> f64 {
        10f64.powf(self.least_ratio() + column as f64 * self.width)
    }
}

fn compute(work: &Work<'_>) -> Result<Computed> {
    let grid = Grid::new(if work.quick { 0.5 } else { 0.25 });
    let pairs = grid.pairs();
    let jobs: Vec<_> =
        METHODS.iter().flat_map(|method| pairs.iter().map(move |pair| (*method, *pair))).collect();
    let stable = work.map(&jobs, |(method, (ck, dk))| {
        let case = Case::new("dual-mass", &[("ck", 10f64.powf(*ck)), ("dk", 10f64.powf(*dk))], 0.1);
        STEPS_MS
            .iter()
            .map(|step| Ok(!grows(&case.run(method, 1e-3 * step, false)?)))
            .collect::<Result<Vec<_>>>()
    })?;
    let regions: Vec<Region> =
        stable.chunks_exact(pairs.len()).map(|stable| region(&grid, &pairs, stable)).collect();
    let shares: Vec<f64> = stable
        .chunks_exact(pairs.len())
        .map(|stable| {
            let triples = stable.iter().flatten();
            triples.clone().filter(|stable| **stable).count() as f64 / triples.count() as f64
        })
        .collect();
    Ok(Computed {
        measured: measured(&grid, &regions),
        data: data(&jobs, &stable),
        figure: figure(&grid, &regions),
        remarks: remarks(&grid, &regions, &shares),
    })
}

/// The region of pairs ck, dk that are stable or not, step by step.
pub(crate) fn region(grid: &Grid, pairs: &[(f64, f64)], stable: &[Vec<bool>]) -> Region {
    let columns = grid.columns();
    let (mut good, mut all) = (vec![0.0; columns * STEPS_MS.len()], vec![0.0; columns * STEPS_MS.len()]);
    for ((ck, dk), stable) in pairs.iter().zip(stable) {
        for (row, stable) in stable.iter().enumerate() {
            let cell = row * columns + grid.column(*ck, *dk);
            all[cell] += 1.0;
            good[cell] += f64::from(u8::from(*stable));
        }
    }
    Region::new(&STEPS_MS, good.iter().zip(&all).map(|(good, all)| good / all).collect())
}

/// The greatest step with a stable pair, in ms.
pub(crate) fn largest_step(region: &Region) -> f64 {
    region.highest().unwrap_or(f64::NAN)
}

fn measured(grid: &Grid, regions: &[Region]) -> Vec<Measured> {
    let area: Vec<f64> = regions.iter().map(|region| region.area(grid.width)).collect();
    let edge = |upper: bool| match regions[0].edges() {
        Some((first, last)) => grid.ratio(if upper { last } else { first }),
        None => f64::NAN,
    };
    let mut measured: Vec<_> = [
        area[0],
        area[1],
        area[2],
        area[3],
        area[3] / area[0],
        area[3] / area[1],
        area[3] / area[2],
        largest_step(&regions[0]),
        largest_step(&regions[1]),
        largest_step(&regions[2]),
        edge(false),
        edge(true),
    ]
    .map(Measured::Number)
    .into();
    let top = regions[3].row(STEPS_MS.len() - 1);
    let ratios: Vec<f64> = (0..top.len()).filter(|k| top[*k]).map(|k| grid.ratio(k)).collect();
    let found = match (ratios.first(), ratios.last()) {
        (Some(first), Some(last)) => {
            format!("{} of {} ratios, {} to {} 1/s", ratios.len(), top.len(), short(*first), short(*last))
        }
        _ => format!("none of {} ratios", top.len()),
    };
    let few = !ratios.is_empty() && 3 * ratios.len() < top.len();
    let central = ratios.iter().any(|ratio| (3.1..32.0).contains(ratio));
    measured.push(Measured::cases([few, central], found));
    measured
}

fn data(jobs: &[(&str, (f64, f64))], stable: &[Vec<bool>]) -> Data {
    let mut data = Data::new(["step_ms", "ck", "dk"].into_iter().chain(METHODS));
    let pairs = jobs.len() / METHODS.len();
    for (row, step) in STEPS_MS.iter().enumerate() {
        for (pair, (_, (ck, dk))) in jobs[..pairs].iter().enumerate() {
            let mut line = vec![*step, 10f64.powf(*ck), 10f64.powf(*dk)];
            line.extend((0..METHODS.len()).map(|m| f64::from(u8::from(stable[m * pairs + pair][row]))));
            data.push(line);
        }
    }
    data
}

fn remarks(grid: &Grid, regions: &[Region], shares: &[f64]) -> Vec<String> {
    let area = |k: usize| short(regions[k].area(grid.width));
    let whole = short(grid.columns() as f64 * grid.width * (STEPS_MS[STEPS_MS.len() - 1] - STEPS_MS[0]));
    vec![
        format!(
            "The box of ck and dk was fitted: its least ck to claim 11, its greatest dk to claim 4, its greatest ratio to the \
             right edge of the figure. These two agree by construction, and 5 to 7 contain 4; the others were not used. \
             The whole box has area {whole}: both edges of the prestep region are edges of the box."
        ),
        format!(
            "mbcorr with B_d = B h (discretisation=euler): area {}, up to {} ms. Which reading the thesis used is not \
             known.",
            area(DRAWN),
            short(largest_step(&regions[DRAWN]))
        ),
        format!("predictive, not in the thesis: area {}.", area(4)),
        format!(
            "Share of stable triples (step, ck, dk): {}.",
            METHODS[..DRAWN]
                .iter()
                .zip(shares)
                .map(|(method, share)| format!("{} {:.1} %", id(method), 100.0 * share))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    ]
}

fn id(method: &str) -> &str {
    method.split(':').next().unwrap_or(method)
}

/// Where the cells of a map end: between the ratios and between the steps, and as far beyond the first and the last.
pub(crate) fn borders(grid: &Grid) -> (Vec<f64>, Vec<f64>) {
    let half = 10f64.powf(0.5 * grid.width);
    let ratios =
        (0..=grid.columns()).map(|k| grid.ratio(0) / half * 10f64.powf(k as f64 * grid.width)).collect();
    let mut steps = vec![0.25];
    steps.extend(STEPS_MS.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])));
    steps.push(10.5);
    (ratios, steps)
}

fn figure(grid: &Grid, regions: &[Region]) -> Figure {
    let ratio = || Axis::new("ck/dk").unit("1/s").log();
    let step = || Axis::new("macro step").unit("ms").range(0.0, 10.5).ticks([0.5, 2.0, 4.0, 6.0, 8.0, 10.0]);
    let (borders, rows) = borders(grid);
    let mut outlines = Panel::new(ratio(), step()).title("all: largest step, same colours").without_legend();
    let mut maps = Vec::new();
    for (method, region) in METHODS[..DRAWN].iter().zip(regions) {
        let shade = |k: usize| match (region.share()[k], region.connected()[k]) {
            (0.0, _) => 0.0,
            // What does not connect with small steps is there by aliasing.
            (_, false) => 0.12,
            (share, true) => 0.35 + 0.65 * share,
        };
        let cells = Cells {
            x: borders.clone(),
            y: rows.clone(),
            fill: (0..region.share().len()).map(shade).collect(),
            colour: colour(method),
        };
        let title = format!("{}: area {}", id(method), short(region.area(grid.width)));
        maps.push(Panel::new(ratio(), step()).title(title).map(cells));
        outlines = outlines.with(outline(method, region, grid));
    }
    Figure::new("Stability regions, dual mass oscillator")
        .subtitle("darker: more of the pairs (ck, dk) with this ratio are stable; faint: not connected with small steps")
        .panels(maps)
        .panel(outlines)
        .columns(3)
        .panel_height(220.0)
        .note("After Genser 2020, Fig. 3.52 (without predictive). Area in ms times decades of ck/dk.")
}

/// The largest step of each ratio in the connected region.
fn outline(method: &str, region: &Region, grid: &Grid) -> Series {
    let half = 10f64.powf(0.5 * grid.width);
    let top = |column: usize| {
        let rows = (0..STEPS_MS.len()).rev().find(|row| region.row(*row)[column]);
        rows.map_or(0.0, |row| STEPS_MS[row])
    };
    let mut points: Vec<_> = (0..grid.columns()).map(|k| (grid.ratio(k) / half, top(k))).collect();
    points.push((grid.ratio(grid.columns() - 1) * half, 0.0));
    Series::new(id(method), points).look(Look::Steps).colour(colour(method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_that_of_the_setup() {
        let grid = Grid::new(0.25);
        assert_eq!((grid.ck.len(), grid.dk.len(), grid.columns()), (13, 15, 27));
        assert_eq!(grid.column(3.0, 5.5), 0);
        assert_eq!(grid.column(6.0, 2.0), 26);
        assert!((grid.ratio(26) - 1e4).abs() < 1e-6);
    }
}
