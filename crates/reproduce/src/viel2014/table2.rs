//! Errors and cost at one step [V14 Tables 1 and 2].

use costep_core::{LocalModel, Result};
use costep_integrate::multistep::{Family, Multistep, RightHandSide, Settings};
use costep_integrate::{Equations as _, Whole};
use costep_linalg::Matrix;
use costep_report::{Axis, Figure, Look, Panel, Series};

use super::FORMS;
use super::runs::{Lines, Outcome};
use crate::cpu::timed;
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::study::{Claim, Computed, Study, number, short};
use crate::work::Work;

const EULER: &str = "[V14] Table 2, 7 over 6";
const TRAPEZOID: &str = "[V14] Table 2, 8 over 6";

const fn error(text: &'static str, place: &'static str, value: f64) -> Claim {
    number(text, place, value, "", Kind::Number)
}

/// Row of the registry.
pub(crate) const TABLE_2: Study = Study {
    id: "viel2014-table2",
    title: "error and CPU time of stabilised against explicit co-simulation",
    source: "[V14] Tables 1 and 2",
    setup: "As viel2014-fig9. Explicit co-simulation (zoh) at 1 us, stabilised at 50 us, as (26) prints it. The paper takes the RMS error of \
            both coupling variables, e1 and f2, and gives one number without a unit: ratios of errors are compared, for each signal. CPU \
            time of one thread, one run after the other: this machine is not the paper's. Steps of the monolithic system by our Adams solver at \
            1e-5, in place of LSODA. Table 1 itself is not in the text; its counts are.",
    claims: &[
        error("error of p1 by (26), backward Euler, 50 us, over that of zoh at 1 us", EULER, 215.0 / 123.0),
        error("the same of f2", EULER, 215.0 / 123.0),
        error("error of p1 by (26), trapezoidal, 50 us, over that of zoh at 1 us", TRAPEZOID, 152.0 / 123.0),
        error("the same of f2", TRAPEZOID, 152.0 / 123.0),
        number(
            "CPU time of zoh at 1 us over that of (26) at 50 us",
            "[V14] section 3.4, on Table 2",
            8.0,
            "",
            Kind::About,
        ),
        number(
            "CPU time of zoh at 1 us over that of the monolithic system",
            "[V14] Table 2, 2 over 1",
            70.0,
            "",
            Kind::About,
        ),
        number("steps of the monolithic system", "[V14] Table 1", 26_000.0, "", Kind::About),
        number(
            "largest step of the monolithic system",
            "[V14] section 2.3, on Table 1",
            76.0,
            "us",
            Kind::About,
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
    let (whole, whole_cpu) =
        timed(|| monolithic_steps(lines.case().model()?.monolithic()?, lines.case().stop()))?;
    let ratio = |k: usize| [0, 1].map(|signal| outcomes[k].rms[signal] / outcomes[0].rms[signal]);
    let (euler, trapezoid) = (ratio(2), ratio(3));
    // Backward Euler; the cost of all forms is alike.
    let numbers = [
        euler[0],
        euler[1],
        trapezoid[0],
        trapezoid[1],
        outcomes[0].cpu / outcomes[2].cpu,
        outcomes[0].cpu / whole_cpu,
        whole.steps as f64,
        1e6 * whole.longest,
    ];
    let measured = numbers.map(Measured::Number).into();
    let mut data = Data::new(["test", "step_us", "rms_p1_Pa", "rms_f2_m3/s", "cpu_s"]);
    for (k, ((.., step), outcome)) in tests.iter().zip(&outcomes).enumerate() {
        data.push(vec![k as f64 + 1.0, *step as f64, outcome.rms[0], outcome.rms[1], outcome.cpu]);
    }
    let row = |((name, _, step), Outcome { rms, cpu }): (&(&str, &str, usize), &Outcome)| {
        format!("{name} at {step} us {} Pa, {} s", short(rms[0]), short(*cpu))
    };
    let all: Vec<_> = tests.iter().zip(&outcomes).map(row).collect();
    let mut remarks = vec![
        format!("RMS error of p1 and CPU time, in the order of the data: {}.", all.join("; ")),
        format!(
            "In the algebraic form the ratios of p1 and f2 are {} (backward Euler), {} (trapezoidal). The paper's ratios depend on its \
             excitation and on the error of its own reference, neither of which is known.",
            ratio(4).map(short).join(" and "),
            ratio(5).map(short).join(" and ")
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
        panel = panel.with(Series::new(name, vec![(outcome.cpu, outcome.rms[0])]).look(Look::Marked));
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

/// What the monolithic system took.
struct Steps {
    steps: u64,
    /// In s.
    longest: f64,
}

/// Steps of the monolithic system with a mixed tolerance of 1e-5 in nominal units.
fn monolithic_steps(mut twin: Whole, stop: f64) -> Result<Steps> {
    let mut longest = 0.0_f64;
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
            let outcome = solver.advance(&mut whole, end, |solver| longest = longest.max(solver.last_step()));
            outcome.map_err(|failure| failure.into_error("hydraulic", |i| format!("x[{i}]")))?;
            let x = solver.x().to_vec();
            solver.start(end, &x);
        }
    }
    Ok(Steps { steps: solver.statistics().steps, longest })
}
