//! Plots of plans: main effects, interactions, how effects compare, sorted errors, histograms of the best runs.

use costep_core::Value;
use costep_report::{Axis, Cells, Colour, Figure, Look, Panel, Series};

use crate::factorial::{Factor, Factorial};
use crate::sorting::Sorting;
use crate::variance::Variance;

/// Panels of a figure of interactions: the strongest ones.
const MOST_PANELS: usize = 8;

/// A level as a few letters.
fn short(level: &Value) -> String {
    match level {
        Value::Real(value) if *value != 0.0 && !(1e-3..1e4).contains(&value.abs()) => {
            let text = format!("{value:.1e}");
            text.replace(".0e", "e")
        }
        Value::Real(value) => {
            let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(*value);
            rounded.to_string()
        }
        other => other.to_string(),
    }
}

fn level_axis(factor: &Factor) -> Axis {
    // Names of many levels would lie on each other.
    let every = factor.levels.len().div_ceil(7);
    let name =
        |(k, level): (usize, &Value)| if k.is_multiple_of(every) { short(level) } else { String::new() };
    let last = factor.levels.len() as f64 - 1.0;
    Axis::new(&factor.name).names(factor.levels.iter().enumerate().map(name)).range(-0.5, last + 0.5)
}

fn levels(means: &[f64]) -> Vec<(f64, f64)> {
    means.iter().enumerate().map(|(level, mean)| (level as f64, *mean)).collect()
}

/// Mean of a result over the levels of each factor.
pub fn main_effects(title: &str, plan: &Factorial, (measure, results): (&str, &[f64])) -> Figure {
    let all: Vec<Vec<f64>> = (0..plan.factors().len()).map(|factor| plan.means(factor, results)).collect();
    // The same scale everywhere: how far a curve moves is what counts.
    let (low, high) = span(all.iter().flatten());
    let panel = |(factor, means): (&Factor, &Vec<f64>)| {
        let axis = Axis::new(format!("mean {measure}")).range(low, high);
        let series =
            Series::new(format!("mean {measure}"), levels(means)).look(Look::Marked).colour(Colour::Nth(0));
        Panel::new(level_axis(factor), axis).title(&factor.name).with(series).without_legend()
    };
    let panels = plan.factors().iter().zip(&all).map(panel);
    Figure::new(title).subtitle("main effects: means over all other factors").columns(3).panels(panels)
}

/// Mean of a result over the levels of two factors, for the strongest interactions.
pub fn interactions(
    title: &str,
    (plan, variance): (&Factorial, &Variance),
    (measure, results): (&str, &[f64]),
) -> Figure {
    let strongest: Vec<_> =
        variance.ranked().into_iter().filter(|effect| !effect.is_main()).take(MOST_PANELS).collect();
    let panels = strongest.iter().map(|effect| {
        let (first, second) = effect.factors;
        // The one with fewer levels gets the curves.
        let sizes = plan.sizes();
        let (curves, along) = if sizes[first] <= sizes[second] { (first, second) } else { (second, first) };
        let means = plan.pair_means((curves, along), results);
        let y = Axis::new(format!("mean {measure}"));
        let empty = Panel::new(level_axis(&plan.factors()[along]), y).title(format!(
            "{}: {:.1} %",
            effect.label(plan),
            100.0 * effect.share
        ));
        plan.factors()[curves].levels.iter().zip(means).fold(empty, |panel, (level, means)| {
            panel.with(Series::new(short(level), levels(&means)).look(Look::Marked))
        })
    });
    Figure::new(title)
        .subtitle("interactions of two factors, the strongest first, with their shares of the mean squares")
        .columns(2)
        .panels(panels)
}

/// The shares of all effects: main effects on the diagonal, interactions beside it [T Fig. 3.4].
pub fn effect_map(title: &str, plan: &Factorial, variance: &Variance) -> Figure {
    let count = plan.factors().len();
    let greatest = variance.effects.iter().map(|effect| effect.share).fold(0.0, f64::max);
    // Row by row from the bottom: the first factor is on top.
    let share = |row: usize, column: usize| {
        let effect = variance.effect(count - 1 - row, column);
        effect.map_or(0.0, |effect| effect.share / greatest.max(f64::MIN_POSITIVE))
    };
    let fill = (0..count).flat_map(|row| (0..count).map(move |column| (row, column)));
    let fill = fill.map(|(row, column)| share(row, column)).collect();
    let borders: Vec<f64> = (0..=count).map(|k| k as f64 - 0.5).collect();
    let edge = count as f64 - 0.5;
    let numbers = Axis::new("factor").names((1..=count).map(|k| k.to_string())).range(-0.5, edge);
    let name = |k: usize| format!("{} {}", plan.factors()[k].name, k + 1);
    let names = Axis::new("").names((0..count).rev().map(name)).range(-0.5, edge);
    let cells = Cells { x: borders.clone(), y: borders, fill, colour: Colour::Nth(0) };
    let largest = variance.ranked().into_iter().take(5);
    let largest: Vec<String> =
        largest.map(|effect| format!("{} {:.1} %", effect.label(plan), 100.0 * effect.share)).collect();
    Figure::new(title)
        .subtitle("shares of the mean squares: main effects on the diagonal, interactions beside it")
        .panel(Panel::new(numbers, names).map(cells))
        .note(format!("Full colour: {:.1} %. Largest: {}.", 100.0 * greatest, largest.join(", ")))
}

/// The errors in ascending order [T Fig. 3.12].
pub fn sorted_errors(title: &str, (measure, errors): (&str, &[f64]), sorting: &Sorting) -> Figure {
    let points = sorting.order.iter().enumerate().map(|(rank, point)| ((rank + 1) as f64, errors[*point]));
    let points: Vec<(f64, f64)> = points.collect();
    let positive = points.iter().all(|(_, error)| *error > 0.0);
    let y = Axis::new(measure);
    let limit = sorting.near.checked_sub(1).map(|last| points[last].1);
    let panel = Panel::new(Axis::new("runs in ascending order"), if positive { y.log() } else { y })
        .with(Series::new(measure, points));
    let panel = match limit {
        Some(limit) => panel.level(format!("{} nearly optimal runs", sorting.near), limit),
        None => panel,
    };
    Figure::new(title).subtitle("ascending sorting").panel(panel)
}

/// How often the levels are among the nearly optimal runs [T Fig. 3.15].
pub fn histograms(title: &str, plan: &Factorial, sorting: &Sorting) -> Figure {
    let panel = |(factor, counts): (&Factor, &Vec<usize>)| {
        let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let empty =
            Panel::new(level_axis(factor), Axis::new("runs").range(0.0, 1.05 * most)).title(&factor.name);
        counts.iter().enumerate().fold(empty, |panel, (level, count)| {
            let x = vec![level as f64 - 0.3, level as f64 + 0.3];
            let fill = if *count > 0 { vec![1.0] } else { vec![0.0] };
            panel.map(Cells { x, y: vec![0.0, *count as f64], fill, colour: Colour::Nth(0) })
        })
    };
    let panels = plan.factors().iter().zip(&sorting.counts).map(panel);
    Figure::new(title)
        .subtitle(format!("levels among the {} nearly optimal runs", sorting.near))
        .columns(3)
        .panels(panels)
}

/// A range around values, with some room.
fn span<'a>(values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
    let room = (0.08 * (high - low)).max(1e-12 * high.abs()).max(f64::MIN_POSITIVE);
    (low - room, high + room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorial::tests::plan;

    #[test]
    fn every_figure_names_its_factors() {
        let plan = plan(&[2, 3, 2]);
        let results: Vec<f64> = (0..12).map(|point| 1.0 + f64::from(point)).collect();
        let (variance, sorting) = (Variance::of(&plan, &results), Sorting::of(&plan, &results, (0.1, 3)));
        let svgs = [
            main_effects("t", &plan, ("error", &results)).to_svg(),
            interactions("t", (&plan, &variance), ("error", &results)).to_svg(),
            effect_map("t", &plan, &variance).to_svg(),
            histograms("t", &plan, &sorting).to_svg(),
        ];
        for svg in &svgs {
            assert!(["f0", "f1", "f2"].iter().all(|name| svg.contains(name)), "{svg}");
        }
        assert!(sorted_errors("t", ("error", &results), &sorting).to_svg().contains("3 nearly optimal"));
    }

    #[test]
    fn levels_are_short() {
        let texts = [Value::Real(1.0 / 3.0), Value::Real(316_227.8), Value::Real(1e6), Value::Integer(1000)];
        assert_eq!(texts.map(|level| short(&level)), ["0.333", "3.2e5", "1e6", "1000"]);
    }
}
