//! The error of the pendulum with oscillator over the macro step, for two inner steps [G18 Figs. 6 and 7].

use costep_analysis::{Trace, outputs_at};
use costep_core::Result;
use costep_report::{Axis, Figure, Look, Panel, Series};

use crate::case::Case;
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::series::colour;
use crate::study;
use crate::study::{Claim, Computed, Study, short, statement};
use crate::work::Work;

const PLACE: &str = "[G18] section 3.2, on Figs. 6 and 7";
/// An error up to this many times the asymptotic one counts as having reached it: what a logarithmic plot shows.
const REACHED: f64 = 1.5;

const SETUP: &str = "Pendulum with oscillator, explicit Euler inside, 1 s. Error (66), the greatest sum of absolute errors of all four \
     outputs at the ends of inner steps, against the nonlinear monolithic system under explicit Euler with 1 us: the \
     linearised reference of (63) to (65) differs from the plant by 0.076 whatever the steps are. A method has reached the \
     asymptotic error where its own is at most 1.5 times that at the smallest step. nepce measures against the applied \
     signal, with smooth=true as anti-aliasing filter; prestep solves the error differential equation, without scaling and \
     offsets, the extrapolation is exact: with backward Euler, as the text has it, the figures do not come out.";

/// The text gives one digit, or says "approximately".
const fn number(text: &'static str, value: f64, unit: &'static str) -> Claim {
    study::number(text, PLACE, value, unit, Kind::About)
}

const COMMON_ERROR: Claim =
    statement("all methods below 0.5 ms", PLACE, "the same asymptotic error", Kind::Alike);

/// Row of the registry.
pub(crate) const FIG_6: Study = Study {
    id: "genser2018-fig6",
    title: "error of the pendulum over the macro step, inner step 0.1 ms",
    source: "[G18] Fig. 6",
    setup: SETUP,
    claims: &[
        COMMON_ERROR,
        number("zoh reaches the asymptotic error at", 2e-4, "s"),
        number("nepce reaches it at", 4e-4, "s"),
        number("nepce with anti-aliasing filter reaches it at", 1e-4, "s"),
        number("prestep reaches it at", 6e-3, "s"),
        number("step of prestep : step of zoh", 30.0, ""),
        number("step of prestep : step of nepce", 15.0, ""),
        number("step of prestep : greatest of all other methods", 20.0, ""),
        number("prestep is stable (error below 1) up to", 0.04, "s"),
        statement("nepce with anti-aliasing filter against nepce", PLACE, "more stable", Kind::Less),
        statement("prestep above 0.5 ms against the other methods", PLACE, "improved stability", Kind::Less),
    ],
    compute: |work| study(work, 1e-4, "6"),
};

/// Row of the registry.
pub(crate) const FIG_7: Study = Study {
    id: "genser2018-fig7",
    title: "error of the pendulum over the macro step, inner step 0.05 ms",
    source: "[G18] Fig. 7",
    setup: SETUP,
    claims: &[
        COMMON_ERROR,
        number("asymptotic error of zoh, relative to that with inner steps of 0.1 ms", 0.5, ""),
        number("the same of nepce", 0.5, ""),
        number("the same of nepce with anti-aliasing filter", 0.5, ""),
        number("the same of prestep", 0.5, ""),
    ],
    compute: |work| study(work, 5e-5, "7"),
};

const METHODS: [(&str, &str); 5] = [
    ("zoh", "zoh"),
    ("nepce", "nepce:reference=applied"),
    ("nepce + filter", "nepce:reference=applied,smooth=true"),
    ("prestep", "prestep:ede=true,scaled=false,offsets=false"),
    ("predictive", "predictive"),
];
const ZOH: usize = 0;
const NEPCE: usize = 1;
const FILTER: usize = 2;
const PRESTEP: usize = 3;
const PREDICTIVE: usize = 4;
const STOP: f64 = 1.0;
/// Macro steps in s; all are multiples of both inner steps.
const STEPS: [f64; 22] = [
    1e-4, 2e-4, 3e-4, 4e-4, 5e-4, 6e-4, 8e-4, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 7e-3, 8e-3, 0.01, 0.02,
    0.03, 0.04, 0.05, 0.06, 0.1,
];

/// The reference at multiples of an inner step.
struct Exact {
    rows: Vec<f64>,
}

impl Exact {
    fn new(case: &Case, inner: f64) -> Result<Self> {
        let model = case.model()?;
        let solver = model.paper_reference.unwrap_or(model.solver);
        let instants: Vec<f64> = (0..=(STOP / inner).round() as usize).map(|k| k as f64 * inner).collect();
        Ok(Self { rows: outputs_at(&model, solver, 0.0, &instants)? })
    }

    /// [G18 (66)], up to the stop time.
    fn error(&self, trace: &Trace) -> f64 {
        let Some(micro) = &trace.micro else { return f64::NAN };
        let outputs = trace.outputs.max(1);
        let sums = micro.rows.chunks_exact(outputs).zip(self.rows.chunks_exact(outputs));
        let sum = |(own, exact): (&[f64], &[f64])| own.iter().zip(exact).map(|(a, b)| (a - b).abs()).sum();
        sums.map(sum).fold(0.0, f64::max)
    }
}

fn case(inner: f64) -> Case {
    Case::new("pendulum-oscillator", &[("micro_step", inner)], STOP)
}

/// Errors of all methods at a step.
fn errors(case: &Case, exact: &Exact, step: f64) -> Result<Vec<f64>> {
    METHODS
        .iter()
        .map(|(_, method)| {
            let run = case.run(method, step, true)?;
            let error = if run.ended { exact.error(&run.trace) } else { f64::INFINITY };
            Ok(if error.is_nan() { f64::INFINITY } else { error })
        })
        .collect()
}

fn study(work: &Work<'_>, inner: f64, figure_number: &str) -> Result<Computed> {
    // The least macro step is an inner step: nothing is extrapolated further than the solver looks.
    let wanted = |step: &f64| *step > inner && (!work.quick || *step >= 2e-3);
    let steps: Vec<f64> = [inner].into_iter().chain(STEPS.iter().copied().filter(wanted)).collect();
    let (system, coarse) = (case(inner), case(1e-4));
    let exact = Exact::new(&system, inner)?;
    let rows = work.map(&steps, |step| errors(&system, &exact, *step))?;
    let table = Table { steps, rows };
    let measured = match figure_number {
        "6" => table.claims_of_figure_6(),
        _ => {
            let before = errors(&coarse, &Exact::new(&coarse, 1e-4)?, 1e-4)?;
            let half = |method: usize| Measured::Number(table.rows[0][method] / before[method]);
            [table.common_error()].into_iter().chain((0..PREDICTIVE).map(half)).collect()
        }
    };
    let mut data = Data::new(["step_s"].into_iter().chain(METHODS.map(|(name, _)| name)));
    for (step, row) in table.steps.iter().zip(&table.rows) {
        data.push([*step].into_iter().chain(row.iter().copied()).collect());
    }
    let remarks = vec![format!(
        "predictive, not in the paper: reaches the asymptotic error at {} s, below 1 up to {} s.",
        short(table.reached(PREDICTIVE)),
        short(table.stable_up_to(PREDICTIVE))
    )];
    Ok(Computed { measured, data, figure: table.figure(inner, figure_number), remarks })
}

/// Errors by step and method.
struct Table {
    steps: Vec<f64>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn claims_of_figure_6(&self) -> Vec<Measured> {
        let reached = |method: usize| self.reached(method);
        let (own, filtered) = (self.stable_up_to(NEPCE), self.stable_up_to(FILTER));
        vec![
            self.common_error(),
            Measured::Number(reached(ZOH)),
            Measured::Number(reached(NEPCE)),
            Measured::Number(reached(FILTER)),
            Measured::Number(reached(PRESTEP)),
            Measured::Number(reached(PRESTEP) / reached(ZOH)),
            Measured::Number(reached(PRESTEP) / reached(NEPCE)),
            Measured::Number(
                reached(PRESTEP) / [ZOH, NEPCE, FILTER].map(reached).into_iter().fold(0.0, f64::max),
            ),
            Measured::Number(self.stable_up_to(PRESTEP)),
            Measured::ratios(
                [own / filtered],
                format!("below 1 up to {} and {} s", short(filtered), short(own)),
            ),
            self.improved(),
        ]
    }

    fn common_error(&self) -> Measured {
        let errors = &self.rows[0][..PREDICTIVE];
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let most = errors.iter().copied().fold(0.0, f64::max);
        Measured::ratios([most / least], format!("{} to {}", short(least), short(most)))
    }

    /// The error of prestep over the least of the others, at every step above 0.5 ms.
    fn improved(&self) -> Measured {
        let least = |row: &[f64]| row[..PRESTEP].iter().copied().fold(f64::INFINITY, f64::min);
        let above = self.steps.iter().zip(&self.rows).filter(|(step, _)| **step > 5.01e-4);
        let ratios: Vec<f64> = above.map(|(_, row)| row[PRESTEP] / least(row)).collect();
        let better = ratios.iter().filter(|ratio| **ratio < 1.0).count();
        let found = format!("less error at {better} of {} steps", ratios.len());
        Measured::ratios(ratios, found)
    }

    /// The largest step with at most 1.5 times the asymptotic error of all methods, which is the least of those at the
    /// smallest step; between two steps of the grid on the straight line of the logarithmic plot.
    fn reached(&self, method: usize) -> f64 {
        let asymptote = self.rows[0][..PREDICTIVE].iter().copied().fold(f64::INFINITY, f64::min);
        self.crossing(method, REACHED * asymptote)
    }

    fn stable_up_to(&self, method: usize) -> f64 {
        let below = self.rows.iter().take_while(|row| row[method] < 1.0).count();
        if below == 0 { f64::NAN } else { self.steps[below - 1] }
    }

    /// The first step at which the error exceeds a limit.
    fn crossing(&self, method: usize, limit: f64) -> f64 {
        let error = |k: usize| self.rows[k][method];
        match (0..self.steps.len()).find(|k| error(*k) > limit) {
            None => self.steps[self.steps.len() - 1],
            // Not even the smallest step.
            Some(0) => f64::NAN,
            Some(k) => {
                let share = (limit / error(k - 1)).ln() / (error(k) / error(k - 1)).ln();
                self.steps[k - 1] * (self.steps[k] / self.steps[k - 1]).powf(share)
            }
        }
    }

    fn figure(&self, inner: f64, number: &str) -> Figure {
        let panel = Panel::new(
            Axis::new("macro step").unit("s").log(),
            Axis::new("error (66)").log().range(5e-3, 1e2),
        );
        let curve = |k: usize| {
            let points = self.steps.iter().zip(&self.rows).map(|(step, row)| (*step, row[k])).collect();
            Series::new(METHODS[k].0, points).look(Look::Marked).colour(colour(METHODS[k].1))
        };
        Figure::new("Error over the macro step, pendulum with oscillator")
            .subtitle(format!("inner step {} s, 1 s", short(inner)))
            .panel((0..METHODS.len()).fold(panel, |panel, k| panel.with(curve(k))))
            .note(format!("After Genser & Benedikt 2018, Fig. {number} (without predictive)."))
    }
}
