//! Errors and cost at one step [V14 Tables 1 and 2].

use costep_core::{LocalModel, Result};
use costep_integrate::multistep::{Family, Multistep, RightHandSide, Settings};
use costep_integrate::{Equations as _, Whole};
use costep_linalg::Matrix;
use costep_report::{Axis, Figure, Look, Panel, Series};

use super::FORMS;
use super::runs::{Lines, Outcome};
use crate::data::Data;
use crate::study::{Computed, Measured, Study, Tolerance, number, short, statement};
use crate::work::Work;

const ERROR: Tolerance = Tolerance::Factor { holds: 1.25, trend: 2.0 };

/// Row of the registry.
pub(crate) const TABLE_2: Study = Study {
    id: "viel2014-table2",
    title: "error and CPU time of stabilised against explicit co-simulation",
    source: "[V14] Tables 1 and 2",
    setup: "As viel2014-fig9. Explicit co-simulation (zoh) at 1 us, stabilised at 50 us, as (26) prints it. The paper gives \
            errors without a unit: their ratios are compared. CPU time of one thread, one run after the other. Micro-steps of \
            the monolithic system by our Adams solver at 1e-5, in place of LSODA.",
    claims: &[
        number(
            "error of (26), backward Euler, 50 us, over that of zoh at 1 us",
            "[V14] Table 2, 7 over 6",
            215.0 / 123.0,
            "",
            ERROR,
        ),
        number(
            "error of (26), trapezoidal, 50 us, over that of zoh at 1 us",
            "[V14] Table 2, 8 over 6",
            152.0 / 123.0,
            "",
            ERROR,
        ),
        statement(
            "CPU time of zoh at 1 us over that of (26) at 50 us",
            "[V14] section 3.4, on Table 2",
            "about 8 times",
            "at least 8 times; in trend at least 2 times",
        ),
        number(
            "micro-steps of the monolithic system",
            "[V14] Table 1",
            26_000.0,
            "",
            Tolerance::Factor { holds: 1.5, trend: 3.0 },
        ),
    ],
    compute,
};

/// The largest step of the table.
const STEP_US: usize = 50;

fn compute(work: &Work<'_>) -> Result<Computed> {
    let lines = Lines::new(work.quick)?;
    let tests: Vec<_> = [("zoh", "zoh", 1)]
        .into_iter()
        .chain(FORMS.iter().map(|(name, method)| (*name, *method, STEP_US)))
        .chain([("predictive, order 2", "predictive:order=2", STEP_US)])
        .collect();
    let mut outcomes = Vec::new();
    for (k, (_, method, step)) in tests.iter().enumerate() {
        outcomes.push(lines.run(method, *step)?);
        (work.progress)(k + 1, tests.len())?;
    }
    let steps = monolithic_steps(lines.case().model()?.monolithic()?, lines.case().stop())?;
    let ratio = |k: usize| outcomes[k].rms / outcomes[0].rms;
    // Backward Euler; the cost of all forms is alike.
    let faster = outcomes[0].cpu / outcomes[2].cpu;
    let found =
        format!("{} s over {} s: {} times", short(outcomes[0].cpu), short(outcomes[2].cpu), short(faster));
    let speed = if faster >= 8.0 {
        Measured::holds(true, found)
    } else {
        Measured::both(faster >= 2.0, false, found)
    };
    let measured =
        vec![Measured::Number(ratio(2)), Measured::Number(ratio(3)), speed, Measured::Number(steps as f64)];
    let mut data = Data::new(["test", "step_us", "rms_p1_Pa", "cpu_s"]);
    for (k, ((.., step), outcome)) in tests.iter().zip(&outcomes).enumerate() {
        data.push(vec![k as f64 + 1.0, *step as f64, outcome.rms, outcome.cpu]);
    }
    let row = |((name, _, step), Outcome { rms, cpu }): (&(&str, &str, usize), &Outcome)| {
        format!("{name} at {step} us {} Pa, {} s", short(*rms), short(*cpu))
    };
    let all: Vec<_> = tests.iter().zip(&outcomes).map(row).collect();
    let mut remarks = vec![
        format!("RMS error of p1 and CPU time, in the order of the data: {}.", all.join("; ")),
        format!(
            "In the algebraic form the ratios are {} (backward Euler) and {} (trapezoidal). The paper's ratios depend on its \
             excitation and on the error of its own reference, neither of which is known.",
            short(ratio(4)),
            short(ratio(5))
        ),
    ];
    if work.quick {
        remarks.push("Quick: 0.15 s instead of 2 s, so that counts of steps are too small.".into());
    }
    Ok(Computed { measured, data, figure: figure(&tests, &outcomes), remarks })
}

fn figure(tests: &[(&str, &str, usize)], outcomes: &[Outcome]) -> Figure {
    let mut panel =
        Panel::new(Axis::new("CPU time").unit("s").log(), Axis::new("RMS error of p1").unit("Pa").log());
    for ((name, _, step), outcome) in tests.iter().zip(outcomes) {
        let name = format!("{name}, {step} us");
        panel = panel.with(Series::new(name, vec![(outcome.cpu, outcome.rms)]).look(Look::Marked));
    }
    Figure::new("Error and cost of stabilised and explicit co-simulation")
        .subtitle("two hydraulic lines with real oil")
        .panel(panel)
        .note("After Viel 2014, Table 2.")
}

/// The monolithic system as the multistep solver sees it.
struct Twin {
    twin: Whole,
    model: LocalModel,
}

impl RightHandSide for Twin {
    fn derivatives(&mut self, t: f64, x: &[f64], x_dot: &mut [f64]) -> Result<()> {
        self.twin.derivatives(t, x, &[], x_dot)
    }

    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut Matrix) -> Result<bool> {
        self.twin.jacobians(t, x, &[], &mut self.model)?;
        jacobian.data_mut().copy_from_slice(&self.model.a);
        Ok(true)
    }
}

/// Steps of the monolithic system with a mixed tolerance of 1e-5 in nominal units.
fn monolithic_steps(mut twin: Whole, stop: f64) -> Result<u64> {
    let states = twin.states();
    let (mut x, mut absolute) = (vec![0.0; states], vec![0.0; states]);
    twin.start(0.0, &mut x, &mut [])?;
    twin.nominals(&mut absolute);
    absolute.iter_mut().for_each(|value| *value *= 1e-5);
    let model = LocalModel::new(states, 0, twin.description().outputs.len());
    let mut whole = Twin { twin, model };
    let mut solver = Multistep::new(Settings::new(Family::Adams, 1e-5, absolute));
    solver.start(0.0, &x);
    // The jumps of the flow are not for the error test to find.
    for end in [0.1, 1.0, stop] {
        if end > solver.t() && end <= stop {
            let outcome = solver.advance(&mut whole, end, |_| ());
            outcome.map_err(|failure| failure.into_error("hydraulic", |i| format!("x[{i}]")))?;
            let x = solver.x().to_vec();
            solver.start(end, &x);
        }
    }
    Ok(solver.statistics().steps)
}
