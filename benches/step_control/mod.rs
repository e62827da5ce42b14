//! Errors and costs of runs whose steps are controlled, beside the best fixed step with the same error.

mod fresh;

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use costep::{Run, Verify};
use costep_analysis::{Reference, Trace};
use costep_core::quantity::format_time;
use costep_core::{Code, Connection, Error, Experiment, PowerBond, Restricted, Result};
use costep_engine::{ControlSpec, Engine, Flow, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::{Component, SystemDescription};

pub use fresh::fresh_tables;

/// A run with fewer steps of one length is compared at too few points, one with more has lost its way.
const FEWEST_STEPS: u64 = 10;
const MOST_STEPS: u64 = 1 << 20;

/// Methods and tolerances of the tables. What learns gets black boxes: parts that cannot go back.
const METHODS: [&str; 5] = ["zoh", "foh", "nepce", LEARNS, "predictive"];
const LEARNS: &str = "identified:form=ramp";
const TOLERANCES: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// A system with its span.
pub struct Case {
    /// What it is, for tables.
    pub title: &'static str,
    model: &'static str,
    parameters: Cow<'static, [(&'static str, f64)]>,
    stop: f64,
}

/// The dual mass oscillator of the literature, the same until it has come to rest, and two masses whose
/// stiff coupling calms down long before they do.
pub const CASES: &[Case] = &[
    Case {
        title: "dual-mass, ck 2e5, dk 200, 0.1 s",
        model: "dual-mass",
        parameters: Cow::Borrowed(&[("ck", 2e5), ("dk", 200.0)]),
        stop: 0.1,
    },
    Case {
        title: "dual-mass, ck 1e5, dk 1e3, 0.1 s",
        model: "dual-mass",
        parameters: Cow::Borrowed(&[("ck", 1e5), ("dk", 1e3)]),
        stop: 0.1,
    },
    Case {
        title: "dual-mass, ck 1e5, dk 1e3, 1 s: comes to rest",
        model: "dual-mass",
        parameters: Cow::Borrowed(&[("ck", 1e5), ("dk", 1e3)]),
        stop: 1.0,
    },
    Case {
        title: "fast transient, then slow",
        model: "dual-mass",
        parameters: Cow::Borrowed(&[
            ("m1", 1.0),
            ("c1", 40.0),
            ("d1", 0.4),
            ("m2", 1.0),
            ("c2", 40.0),
            ("d2", 0.4),
            ("ck", 5e4),
            ("dk", 100.0),
            ("x1", 0.1),
            ("x2", 0.05),
        ]),
        stop: 2.0,
    },
];

/// What a run has come to.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Root mean square over time of the error, as a share of the range; the mean over all outputs.
    pub error: f64,
    /// Steps of subsystems, those that were rejected too.
    pub calls: u64,
    /// Macro steps.
    pub steps: u64,
}

impl Case {
    fn model(&self) -> Result<SystemDescription> {
        let given: Vec<_> = self.parameters.iter().map(|(name, value)| ((*name).into(), *value)).collect();
        Ok(costep_models::find(self.model)?.model(&given)?.1)
    }

    fn system(&self, method: &str, step: f64) -> Result<System> {
        let (model, method) = (self.model()?, MethodSpec::parse(method)?);
        let part = |part: &dyn Component| {
            let native = part.subsystem(&Solver::Exact)?;
            Ok(if method.label() == LEARNS {
                Restricted::new(native).without_rollback().boxed()
            } else {
                native
            })
        };
        let parts = model.parts.iter().map(|component| part(&**component)).collect::<Result<_>>()?;
        let experiment = Experiment { start: 0.0, stop: self.stop, step };
        Ok(System::new(parts, model.connections.clone(), (method.build(), method.models()), experiment))
    }

    /// A run with controlled steps: nothing is said but the tolerance.
    pub fn controlled(&self, method: &str, control: &str, tolerance: f64) -> Result<Measured> {
        self.starting_with(None, method, control, tolerance)
    }

    /// The same with a first step in s.
    fn starting_with(
        &self,
        first: Option<f64>,
        method: &str,
        control: &str,
        tolerance: f64,
    ) -> Result<Measured> {
        let spec =
            ControlSpec { first, ..ControlSpec::new(ControlSpec::find(control)?, tolerance, self.stop) };
        let system = self.system(method, spec.max)?;
        let ends = |output, input| Connection { output, input, gain: 1.0 };
        let bonds = [PowerBond { name: "spring".into(), connections: [ends(1, 2), ends(2, 0)] }];
        let control = spec.build(&system.experiment, &bonds);
        self.measure(Engine::with_control(system, control)?)
    }

    /// A run with so many equal steps.
    pub fn fixed(&self, method: &str, steps: u64) -> Result<Measured> {
        self.measure(Engine::new(self.system(method, self.stop / steps as f64)?)?)
    }

    /// The run with fewest equal steps and at most this error. A power law between neighbours would not see
    /// that errors scatter.
    pub fn best_fixed(&self, method: &str, error: f64) -> Result<Measured> {
        let run = |steps| self.fixed(method, steps).ok().filter(|run| run.error <= error);
        // Steps that vary stay below a tenth of the run. Longer ones show their errors at next to no points of it.
        let (mut few, mut many) = (FEWEST_STEPS / 2, FEWEST_STEPS);
        while run(many).is_none() {
            (few, many) = (many, 2 * many);
            if many > MOST_STEPS {
                return Err(Error::new(Code::Bug, "no step is short enough"));
            }
        }
        while many - few > few.div_ceil(64) {
            let middle = few + (many - few) / 2;
            *(if run(middle).is_some() { &mut many } else { &mut few }) = middle;
        }
        self.fixed(method, many)
    }

    fn measure(&self, mut engine: Engine) -> Result<Measured> {
        let mut trace = Trace::new(engine.outputs().len(), false);
        let mut few = |engine: &Engine| Ok(if engine.k() < MOST_STEPS { Flow::Continue } else { Flow::Stop });
        engine.run(&mut [&mut trace, &mut few])?;
        if !engine.is_over() {
            return Err(Error::new(Code::Bug, format!("{MOST_STEPS} steps are not enough")));
        }
        let reference =
            Reference::along(&self.model()?, Solver::Exact, engine.experiment(), (&trace, &|| Ok(())))?;
        let error = mean_error(&trace, &reference.trace);
        Ok(Measured { error, calls: engine.subsystem_steps(), steps: engine.k() })
    }
}

/// Root mean square over time of each output's error as a share of its range; the mean over outputs.
fn mean_error(run: &Trace, exact: &Trace) -> f64 {
    let (outputs, span) = (run.outputs, run.times[run.times.len() - 1] - run.times[0]);
    let error = |i: usize| {
        let each = || exact.rows.iter().skip(i).step_by(outputs).copied();
        let range = each().fold(f64::MIN, f64::max) - each().fold(f64::MAX, f64::min);
        let square = |k: usize| (run.row(k)[i] - exact.row(k)[i]).powi(2);
        let pieces = run.times.windows(2).enumerate();
        let integral: f64 = pieces.map(|(k, t)| 0.5 * (t[1] - t[0]) * (square(k) + square(k + 1))).sum();
        (integral / span).sqrt() / range
    };
    (0..outputs).map(error).sum::<f64>() / outputs as f64
}

/// As `1.3e-2`.
fn share(value: f64) -> String {
    format!("{value:.1e}")
}

/// A row of the tables: what came of a tolerance, and the best fixed step with the same error, if there is one.
struct Row {
    method: &'static str,
    tolerance: f64,
    found: Result<Measured>,
    best: Option<Measured>,
}

impl Row {
    fn new(case: &Case, method: &'static str, tolerance: f64) -> Self {
        let found = case.controlled(method, "defect", tolerance);
        let best = found.as_ref().ok().and_then(|found| case.best_fixed(method, found.error).ok());
        Self { method, tolerance, found, best }
    }

    /// Error as a multiple of the tolerance.
    fn error(&self) -> Option<f64> {
        Some(self.found.as_ref().ok()?.error / self.tolerance)
    }

    /// Calls as a multiple of those of the best fixed step.
    fn ratio(&self) -> Option<f64> {
        Some(self.found.as_ref().ok()?.calls as f64 / self.best?.calls as f64)
    }

    fn line(&self) -> String {
        let Self { method, tolerance, found, .. } = self;
        let Measured { error, calls, steps } = match found {
            Ok(found) => *found,
            Err(error) => {
                return format!("| {method} | {tolerance:e} | {} | | | | | |", error.details().message);
            }
        };
        let of = error / tolerance;
        let start = format!("| {method} | {tolerance:e} | {} | {of:.2} | {steps} | {calls} |", share(error));
        match (self.best, self.ratio()) {
            (Some(best), Some(ratio)) => format!("{start} {} | {ratio:.2} |", best.calls),
            _ => format!("{start} - | - |"),
        }
    }
}

/// Methods that are asked for.
const ASKED: [&str; 4] = ["zoh", "foh", "nepce", "predictive"];

/// All cases with all methods and tolerances, as tables in Markdown, after one of what is asked for and what came of it.
pub fn tables() -> String {
    let mut text = String::new();
    let mut all: Vec<Vec<Row>> = Vec::new();
    for case in CASES {
        let _ = writeln!(text, "### {}\n", case.title);
        let _ = writeln!(
            text,
            "| method | tolerance | error | error / tolerance | steps | calls | best fixed step: calls | ratio |"
        );
        let _ = writeln!(text, "|---|---|---|---|---|---|---|---|");
        let each = METHODS.iter().flat_map(|method| TOLERANCES.map(|tolerance| (*method, tolerance)));
        let rows: Vec<Row> = each.map(|(method, tolerance)| Row::new(case, method, tolerance)).collect();
        rows.iter().for_each(|row| text += &format!("{}\n", row.line()));
        text.push('\n');
        all.push(rows);
    }
    asked(&all) + &text
}

/// What is asked of the methods, beside what was found.
fn asked(all: &[Vec<Row>]) -> String {
    let mut text = String::from(
        "### What is asked for\n\n| system | method | error / tolerance, 0.2 to 5 | calls / best fixed step, at most 2 | gain in calls, 3 |\n|---|---|---|---|---|\n",
    );
    let listed = |values: Vec<Option<f64>>| {
        let word = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        values.into_iter().map(word).collect::<Vec<_>>().join(", ")
    };
    for (number, case) in CASES.iter().enumerate() {
        for method in ASKED {
            let rows = || all[number].iter().filter(|row| row.method == method);
            let (errors, ratios) =
                (listed(rows().map(Row::error).collect()), listed(rows().map(Row::ratio).collect()));
            let gains = rows().map(|row| row.ratio().map(|ratio| 1.0 / ratio)).collect();
            // Gains are asked for where dynamics change, the rest on the oscillator of the literature.
            let (ratios, gains) =
                if number < 2 { (ratios, String::new()) } else { (String::new(), listed(gains)) };
            let _ = writeln!(text, "| {} | {method} | {errors} | {ratios} | {gains} |", case.title);
        }
    }
    text + "\n"
}

/// A run of libcosim's quarter truck.
#[derive(Clone, Copy, Debug)]
pub struct TruckRun {
    method: &'static str,
    tolerance: f64,
    steps: usize,
    /// Errors of spring force and velocity of the chassis.
    errors: [f64; 2],
}

/// Errors of spring force and velocity of the chassis of libcosim's quarter truck in 4 s, as shares of
/// their ranges, against the same system held over steps of 10 us, the inner step of both FMUs. Nothing is
/// said but the method and the tolerance.
pub fn truck(folder: &Path, method: &'static str, tolerances: &[f64]) -> Result<Vec<TruckRun>> {
    let truck = Truck::open(folder)?;
    let run = |tolerance: &f64| truck.measure(method, *tolerance, |run| run);
    tolerances.iter().map(run).collect()
}

/// The same with one tolerance and first steps of these lengths in s.
pub fn truck_by_first_step(
    folder: &Path,
    method: &'static str,
    tolerance: f64,
    firsts: &[f64],
) -> Result<Vec<TruckRun>> {
    let truck = Truck::open(folder)?;
    let run = |first: &f64| truck.measure(method, tolerance, |run| run.step(*first));
    firsts.iter().map(run).collect()
}

/// Times, and spring force and velocity of the chassis at each.
type TruckRows = (Vec<f64>, Vec<[f64; 2]>);

struct Truck {
    system: costep::System,
    reference: TruckRows,
}

impl Truck {
    fn open(folder: &Path) -> Result<Self> {
        let system = costep::System::open(folder.join("OspSystemStructure.xml"));
        let system = system.map_err(|errors| errors.first().clone())?;
        let reference = rows(&system, Run::new().method("zoh").step(1e-5))?;
        Ok(Self { system, reference })
    }

    fn measure(&self, method: &'static str, tolerance: f64, change: impl Fn(Run) -> Run) -> Result<TruckRun> {
        let found = rows(&self.system, change(Run::new().method(method).tolerance(tolerance)))?;
        let errors = [0, 1].map(|i| error_of(&found, &self.reference, i));
        Ok(TruckRun { method, tolerance, steps: found.0.len() - 1, errors })
    }
}

fn rows(system: &costep::System, run: Run) -> Result<TruckRows> {
    let outputs = system.outputs();
    let columns = ["wheel.out_spring_damper_f", "chassis.velocity"]
        .map(|name| outputs.iter().position(|output| output == name).unwrap_or(0));
    let mut rows = (Vec::new(), Vec::new());
    let run = run.stop(4.0).reference("none").verify(Verify::Never).without_results();
    system.run_with(run, &mut |step| {
        rows.0.push(step.time());
        rows.1.push(columns.map(|i| step.outputs()[i]));
        Ok(Flow::Continue)
    })?;
    Ok(rows)
}

/// First steps of the quarter truck in s.
const FIRST_STEPS: [f64; 12] = [1e-6, 1e-5, 5e-5, 1e-4, 1.5e-4, 2e-4, 2.5e-4, 3e-4, 4e-4, 5e-4, 6e-4, 1e-3];

/// The same as a table in Markdown.
pub fn truck_table(folder: &Path) -> Result<String> {
    let mut text = String::from("### Quarter truck of libcosim, 4 s\n\n");
    text += "| method | tolerance | steps | spring force | chassis velocity |\n|---|---|---|---|---|\n";
    let runs = ["auto", "identified"].map(|method| truck(folder, method, &[1e-3, 3e-4, 1e-4]));
    for run in runs.into_iter().collect::<Result<Vec<_>>>()?.concat() {
        let TruckRun { method, tolerance, steps, errors } = run;
        let [force, velocity] = errors.map(share);
        let _ = writeln!(text, "| {method} | {tolerance:e} | {steps} | {force} | {velocity} |");
    }
    text += "\n### The same by its first step, `auto` with 3e-4\n\n";
    text += "| first step | steps | spring force | chassis velocity |\n|---|---|---|---|\n";
    let runs = truck_by_first_step(folder, "auto", 3e-4, &FIRST_STEPS)?;
    for (first, TruckRun { steps, errors, .. }) in FIRST_STEPS.iter().zip(runs) {
        let [force, velocity] = errors.map(share);
        let _ = writeln!(text, "| {} | {steps} | {force} | {velocity} |", format_time(*first));
    }
    Ok(text)
}

/// Root mean square over time of the error of a column, as a share of its range.
fn error_of(run: &TruckRows, exact: &TruckRows, column: usize) -> f64 {
    let at = |t: f64| {
        let after = exact.0.partition_point(|time| *time < t).clamp(1, exact.0.len() - 1);
        let (t0, t1) = (exact.0[after - 1], exact.0[after]);
        let (y0, y1) = (exact.1[after - 1][column], exact.1[after][column]);
        y0 + (y1 - y0) * (t - t0) / (t1 - t0)
    };
    let squares: Vec<f64> = run.0.iter().zip(&run.1).map(|(t, y)| (y[column] - at(*t)).powi(2)).collect();
    let pieces = run.0.windows(2).zip(squares.windows(2));
    let integral: f64 = pieces.map(|(t, e)| 0.5 * (t[1] - t[0]) * (e[0] + e[1])).sum();
    let each = || exact.1.iter().map(|row| row[column]);
    let range = each().fold(f64::MIN, f64::max) - each().fold(f64::MAX, f64::min);
    (integral / (run.0[run.0.len() - 1] - run.0[0])).sqrt() / range
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At errors that `ecco` of libcosim has at its own communication points, which are 73,128.
    #[test]
    fn the_quarter_truck_of_libcosim_takes_a_few_thousand_steps() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let places = ["../..", "../../.."]
            .map(|up| here.join(up).join("shared/real/libcosim/tests/data/fmi2/quarter_truck"));
        let Some(folder) = places.into_iter().find(|folder| folder.exists()) else {
            eprintln!("SKIPPED: there is no shared/real/libcosim beside the checkout");
            return;
        };
        // A first step of 0.1 ms is that of its file.
        for run in truck_by_first_step(&folder, "auto", 3e-4, &FIRST_STEPS).unwrap() {
            println!("{run:?}");
            assert!(run.steps <= 3000 && run.errors[0] <= 2.0e-4 && run.errors[1] <= 6.7e-4, "{run:?}");
        }
    }

    /// Cheap rows of the tables, each with its bounds: error within a factor of 5 of the tolerance, calls
    /// at most twice those of the best fixed step with the same error.
    #[test]
    fn tolerances_are_met_at_the_cost_of_the_best_fixed_step() {
        for case in &CASES[..2] {
            for (method, tolerance) in [
                ("zoh", 1e-2),
                ("foh", 1e-2),
                ("foh", 1e-3),
                ("foh", 1e-4),
                ("nepce", 1e-2),
                ("nepce", 1e-3),
                ("predictive", 1e-2),
                ("predictive", 1e-3),
                ("predictive", 1e-4),
            ] {
                let found = case.controlled(method, "defect", tolerance).unwrap();
                let of = found.error / tolerance;
                println!("{} {method} {tolerance:e}: {of:.2}", case.title);
                assert!((0.2..5.0).contains(&of), "{} {method} {tolerance:e}: {of}", case.title);
                let best = case.best_fixed(method, found.error).unwrap();
                assert!(found.calls <= 2 * best.calls, "{} {method}: {found:?} {best:?}", case.title);
            }
        }
    }

    #[test]
    fn where_dynamics_change_a_third_of_the_calls_is_enough() {
        for (case, method, tolerance) in [
            (&CASES[2], "zoh", 1e-2),
            (&CASES[2], "foh", 1e-3),
            (&CASES[2], "nepce", 1e-3),
            (&CASES[2], "predictive", 1e-3),
            (&CASES[3], "predictive", 1e-2),
            (&CASES[3], "predictive", 1e-3),
        ] {
            let found = case.controlled(method, "defect", tolerance).unwrap();
            assert!(found.error < 5.0 * tolerance, "{} {method}: {found:?}", case.title);
            let best = case.best_fixed(method, found.error).unwrap();
            assert!(3 * found.calls <= best.calls, "{} {method}: {found:?} {best:?}", case.title);
        }
    }

    #[test]
    fn other_controls_meet_their_tolerances_too() {
        for case in &CASES[..2] {
            for (control, method) in
                [("predictor-corrector", "foh"), ("richardson", "foh"), ("ecco", "foh"), ("ecco", "zoh")]
            {
                let found = case.controlled(method, control, 1e-2).unwrap();
                let of = found.error / 1e-2;
                println!("{} {control} {method}: {of:.2}, {} calls", case.title, found.calls);
                assert!((0.02..5.0).contains(&of), "{} {control} {method}: {of}", case.title);
            }
        }
    }
}
