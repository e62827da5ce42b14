//! The pressures of the continuously coupled lines over time [V14 Fig. 3].

use costep_core::Result;
use costep_report::{Axis, Figure, Panel, Series};

use super::runs::Lines;
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::series::{points, range};
use crate::study::{Computed, Study, short, statement};
use crate::work::Work;

/// Row of the registry.
pub(crate) const FIG_3: Study = Study {
    id: "viel2014-fig3",
    title: "pressures of two hydraulic lines after changes of the flow",
    source: "[V14] Fig. 3",
    setup: "As viel2014-fig9, the tight monolithic solution. How far p1 still moves between 0.5 s and 1 s, relative to its range over the run. \
            The paper gives no numbers, and the parameters of the lines are ours.",
    claims: &[statement(
        "pressure between 0.5 s and 1 s",
        "[V14] section 2.2, on Fig. 3",
        "steady state after the first transient",
        Kind::Accurate,
    )],
    compute,
};

fn compute(work: &Work<'_>) -> Result<Computed> {
    let lines = Lines::new(work.quick)?;
    let stop = lines.case().stop();
    let whole = points(lines.reference(), 0, (0.0, stop));
    let width = |points: &[(f64, f64)]| {
        let (low, high) = range(points);
        high - low
    };
    // In a hurry the run is over before: the end of what there is.
    let window = if stop > 1.0 { (0.5, 0.9999) } else { (0.9 * stop, stop) };
    let moves = width(&points(lines.reference(), 0, window)) / width(&whole);
    let mut data = Data::new(["t", "p1_Pa", "f2_m3/s"]);
    let flow = points(lines.reference(), 1, (0.0, stop));
    for ((t, p), (_, f)) in whole.iter().zip(&flow).step_by(20) {
        data.push(vec![*t, *p, *f]);
    }
    let thin = |points: &[(f64, f64)]| points.iter().copied().step_by(10).collect();
    let time = || Axis::new("time").unit("s");
    Ok(Computed {
        measured: vec![Measured::ratios([moves], format!("moves by {} of the range", short(moves)))],
        data,
        figure: Figure::new("Two hydraulic lines, continuously coupled")
            .subtitle("real oil; flow 5, 10 from 0.1 s, 40 L/min from 1 s on")
            .panel(Panel::new(time(), Axis::new("p1").unit("Pa")).with(Series::new("p1", thin(&whole))))
            .panel(Panel::new(time(), Axis::new("f2").unit("m3/s")).with(Series::new("f2", thin(&flow))))
            .note("After Viel 2014, Fig. 3."),
        remarks: vec![],
    })
}
