//! What the figures have in common: a colour per method, curves of outputs, and the thesis' test of stability.

use costep_analysis::{Amplitudes, Trace};
use costep_report::{Axis, Colour, Look, Panel, Series};

use crate::case::Run;

/// The colour of a method, the same in all figures.
pub(crate) fn colour(method: &str) -> Colour {
    let order = ["prestep", "nepce", "mbcorr", "predictive", "zoh"];
    // A variant with smoothing looks like a method of its own.
    let id = method.split(':').next().filter(|_| !method.contains("smooth=true"));
    Colour::Nth(order.iter().position(|known| Some(*known) == id).unwrap_or(order.len()))
}

/// The points of output `index` in a window, inside the steps where they are known.
pub(crate) fn points(trace: &Trace, index: usize, (from, to): (f64, f64)) -> Vec<(f64, f64)> {
    let (times, rows) = match &trace.micro {
        Some(micro) => (&micro.times, &micro.rows),
        None => (&trace.times, &trace.rows),
    };
    let values = rows.iter().skip(index).step_by(trace.outputs.max(1));
    let slack = 1e-9 * (to - from);
    let points = times.iter().zip(values).map(|(t, y)| (*t, *y));
    points.filter(|(t, _)| *t >= from - slack && *t <= to + slack).collect()
}

/// [T 3.3.1]: unstable if the amplitude of one output in the last 20 % of the time is greater than in the first 20 %. A
/// run that did not come to its end is unstable as well.
pub(crate) fn grows(run: &Run) -> bool {
    let amplitudes = Amplitudes::of(&run.trace.times, &run.trace.rows, run.trace.outputs);
    !run.ended || amplitudes.0.iter().any(|fifths| fifths.last() > fifths.first() || fifths.last().is_nan())
}

/// How far a curve may leave the range of the reference before it is cut.
const ROOM: f64 = 1.5;

/// A panel with one output of several runs and of the monolithic solution.
pub(crate) fn panel(
    runs: &[(&str, &Run)],
    reference: &Trace,
    (index, label, unit): (usize, &str, &str),
    window: (f64, f64),
) -> Panel {
    let mono = points(reference, index, window);
    let (low, high) = range(&mono);
    let room = ROOM * (high - low);
    let all: Vec<_> = runs.iter().map(|(name, run)| (*name, points(&run.trace, index, window))).collect();
    let far = all.iter().any(|(_, points)| {
        let (least, most) = range(points);
        least < low - room || most > high + room
    });
    let mut y = Axis::new(label).unit(unit);
    if far {
        y = y.range(low - room, high + room);
    }
    let mut panel = Panel::new(Axis::new("time").unit("s"), y);
    for (name, points) in all {
        panel = panel.with(Series::new(name, points).colour(colour(name)));
    }
    panel.with(Series::new("monolithic", mono).look(Look::Reference))
}

/// The least and the greatest y.
pub(crate) fn range(points: &[(f64, f64)]) -> (f64, f64) {
    points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p.1), high.max(p.1)))
}
