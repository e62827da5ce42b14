//! `costep stability` by the linear map of one macro step: over several steps, with the largest stable one.

use costep::{
    Code, Complex, Error, Foundation, MethodSpec, Spectrum, StabilityPoint, StepStability, System, head,
};
use costep_core::Result;
use costep_core::quantity::{format_time, parse_time};
use costep_report::{Axis, Figure, Panel, Series};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::args::StabilityArgs;
use crate::progress::many_runs;
use crate::stop;
use crate::style::{BAD, FAINT, GOOD, Output, STRONG, paint, print_json, say};
use crate::table::{Cell, render};

/// Steps that are judged if none are given, relative to that of the project.
const AROUND: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// Halvings of the interval between a stable step and an unstable one.
const HALVINGS: usize = 30;
/// Signals of the mode that are told, and the least share of one.
const SIGNALS: usize = 4;
const LEAST_SHARE: f64 = 0.01;

/// Judges and shows.
pub(super) fn run(system: &System, args: &StabilityArgs, output: Output) -> Result<()> {
    let found = Found::new(system, args, output)?;
    if let Some(file) = &args.nyquist {
        found.write_nyquist(file)?;
    }
    if output.json { print_json(&found.to_json()) } else { found.tell() }
}

struct Found<'a> {
    system: &'a System,
    steps: Vec<StepStability>,
    largest: Largest,
    /// The least unstable step by local models, if these have no inner solver and are stable.
    without_solver: Option<StepStability>,
    /// Of the parts and of the whole, where local models are known.
    spectra: Result<(Vec<Spectrum>, Foundation)>,
    loops: Vec<costep::OpenLoop>,
}

/// The largest stable step.
enum Largest {
    /// Between these two.
    Found { stable: f64, unstable: f64 },
    /// All that were asked for are stable.
    Beyond(f64),
    /// The least one is not.
    Below(f64),
}

impl<'a> Found<'a> {
    fn new(system: &'a System, args: &StabilityArgs, output: Output) -> Result<Self> {
        let project = system.project();
        let method = &project.groups[0].method;
        let at = args.at.as_deref().map(parse_time).transpose()?;
        let own = project.equal_step();
        let judge = |step: f64| {
            let point = StabilityPoint { at, by_models: args.by_models, ..StabilityPoint::new(method, step) };
            system.stability_at(&point, &mut |_| stop::check())
        };
        let asked = steps(args, own)?;
        system.check_steps(&asked)?;
        let bar = many_runs(output, asked.len() + HALVINGS);
        let mut found = Vec::new();
        for step in &asked {
            bar.set_message(format_time(*step));
            found.push(judge(*step)?);
            bar.inc(1);
        }
        let largest = largest(&found, &judge, &bar)?;
        let by_models = |of: &StepStability| {
            let point = StabilityPoint { at, by_models: true, ..StabilityPoint::new(method, of.step) };
            system.stability_at(&point, &mut |_| stop::check()).ok()
        };
        // Explicit inner steps add growth of their own, which is small and easily taken for that of the coupling.
        let has_solver = project.model.solver.inner_step().is_some();
        let doubtful =
            |of: &&StepStability| has_solver && of.rests_on == Foundation::Steps && !of.is_stable();
        let without_solver = found.iter().find(doubtful).and_then(by_models).filter(StepStability::is_stable);
        bar.finish_and_clear();
        let inputs = system.loop_inputs();
        let open = |input: &String| system.open_loop(input, own, at).ok();
        Ok(Self {
            system,
            steps: found,
            largest,
            without_solver,
            spectra: system.spectra(at),
            loops: inputs.iter().filter_map(open).collect(),
        })
    }

    fn method(&self) -> &MethodSpec {
        &self.system.project().groups[0].method
    }

    fn to_json(&self) -> Value {
        let mut object = head(self.system.project(), None);
        object.insert("method".into(), json!(self.method().label()));
        object.insert("rests_on".into(), json!(self.steps[0].rests_on.text()));
        object.insert("steps".into(), self.steps.iter().map(step_to_json).collect());
        let (largest, unstable) = match self.largest {
            Largest::Found { stable, unstable } => (Some(stable), Some(unstable)),
            Largest::Beyond(step) => (Some(step), None),
            Largest::Below(step) => (None, Some(step)),
        };
        object.insert("largest_stable_step".into(), json!(largest));
        object.insert("unstable_step".into(), json!(unstable));
        object.insert("without_inner_solver".into(), json!(self.without_solver.as_ref().map(step_to_json)));
        if let Ok((spectra, foundation)) = &self.spectra {
            let one = |spectrum: &Spectrum| {
                json!({
                    "name": spectrum.name,
                    "eigenvalues": spectrum.eigenvalues.iter().map(complex).collect::<Vec<_>>(),
                    "stiffness": spectrum.stiffness(),
                    "nyquist_step": spectrum.nyquist_step(),
                })
            };
            let all: Vec<Value> = spectra.iter().map(one).collect();
            object.insert("eigenvalues_rest_on".into(), json!(foundation.text()));
            object.insert("eigenvalues".into(), json!(all));
        }
        let margins = self.loops.iter().map(|open| {
            let margin = open.phase_margin();
            json!({
                "input": open.input,
                "phase_margin": margin.map(|margin| margin.degrees),
                "frequency": margin.map(|margin| margin.frequency),
            })
        });
        object.insert("held_loops".into(), margins.collect());
        Value::Object(object)
    }

    fn tell(&self) -> Result<()> {
        let project = self.system.project();
        say!("{}: {}, {}\n", project.name, self.method().label(), self.steps[0].rests_on.meaning())?;
        let row = |of: &StepStability| {
            let mode = of.mode.as_ref();
            vec![
                Cell::new(format_time(of.step)),
                Cell::styled(format!("{:.6}", of.radius), if of.is_stable() { GOOD } else { BAD }),
                Cell::new(mode.map_or_else(String::new, |mode| format!("{:+.3e} 1/s", mode.rate))),
                Cell::new(mode.map_or_else(String::new, |mode| format!("{:.4} Hz", mode.frequency))),
                Cell::styled(mode.map_or_else(String::new, signals), FAINT),
            ]
        };
        let rows: Vec<_> = self.steps.iter().map(row).collect();
        say!("{}", render(&["step", "radius", "growth", "frequency", "signals in the mode"], &rows))?;
        match self.largest {
            Largest::Found { stable, .. } => {
                say!("largest stable step  {}", paint(STRONG, format!("{stable:.4e} s")))?;
            }
            Largest::Beyond(step) => say!("stable at all of these steps, up to {}", format_time(step))?,
            Largest::Below(step) => {
                say!("{}  not even at {}", paint(BAD, "UNSTABLE"), format_time(step))?;
            }
        }
        if let Some(of) = &self.without_solver {
            let rate = of.mode.as_ref().map_or(f64::NEG_INFINITY, |mode| mode.rate);
            say!(
                "the growth at {} comes from the inner solver {}: without it {rate:+.3e} 1/s (`--by-models`)",
                format_time(of.step),
                project.model.solver.label()
            )?;
        }
        self.tell_eigenvalues()?;
        for open in &self.loops {
            if let Some(margin) = open.phase_margin() {
                say!(
                    "held inputs, loop through {}: phase margin {:.2} degrees at {:.4} Hz, step {}",
                    open.input,
                    margin.degrees,
                    margin.frequency,
                    format_time(self.system.project().equal_step())
                )?;
            }
        }
        Ok(())
    }

    fn tell_eigenvalues(&self) -> Result<()> {
        let Ok((spectra, foundation)) = &self.spectra else { return Ok(()) };
        let row = |spectrum: &Spectrum| {
            let shown: Vec<String> =
                spectrum.eigenvalues.iter().filter(|z| z.im >= 0.0).take(4).map(text).collect();
            vec![
                Cell::new(&spectrum.name),
                Cell::new(spectrum.stiffness().map_or_else(|| "-".into(), |ratio| format!("{ratio:.3e}"))),
                Cell::new(spectrum.nyquist_step().map_or_else(|| "-".into(), |step| format!("{step:.3e} s"))),
                Cell::styled(shown.join(", "), FAINT),
            ]
        };
        let rows: Vec<_> = spectra.iter().map(row).collect();
        say!("\neigenvalues by {}", foundation.text())?;
        say!("{}", render(&["of", "stiffness", "pi/max|lambda|", "lambda in 1/s"], &rows))
    }

    /// The open loops under held inputs as curves around -1.
    fn write_nyquist(&self, file: &std::path::Path) -> Result<()> {
        if self.loops.is_empty() {
            return Err(Error::new(Code::NoLinearMap, "there is no loop of connections with local models"));
        }
        let panel = Panel::new(Axis::new("real part"), Axis::new("imaginary part"));
        let circle = (0..=200).map(|k| (std::f64::consts::TAU * f64::from(k) / 200.0).sin_cos());
        let mut panel = panel.with(Series::new("unit circle", circle.map(|(y, x)| (x, y)).collect()));
        for open in &self.loops {
            let near = |z: &&Complex| z.abs() < 3.0;
            let points = open.values.iter().filter(near).map(|z| (z.re, z.im)).collect();
            panel = panel.with(Series::new(open.input.clone(), points));
        }
        let project = self.system.project();
        let title = format!("{}: open loops under held inputs", project.name);
        let step = format!(
            "step {}; the loop is unstable where a curve goes round -1",
            format_time(project.equal_step())
        );
        let svg = Figure::new(title).subtitle(step).panel(panel).to_svg();
        std::fs::write(file, svg).map_err(|cause| {
            Error::new(Code::RecordingFailed, "the plot cannot be written").in_file(file).because(cause)
        })
    }
}

/// The steps that were asked for, rising.
fn steps(args: &StabilityArgs, own: f64) -> Result<Vec<f64>> {
    let mut steps: Vec<f64> = match &args.steps {
        None => AROUND.iter().map(|factor| factor * own).collect(),
        Some(text) => text.split(',').map(|step| parse_time(step.trim())).collect::<Result<_>>()?,
    };
    steps.sort_by(f64::total_cmp);
    Ok(steps)
}

/// Between the first unstable step and the one before, by halving the ratio.
fn largest(
    found: &[StepStability],
    judge: &dyn Fn(f64) -> Result<StepStability>,
    bar: &ProgressBar,
) -> Result<Largest> {
    let Some(first) = found.iter().position(|of| !of.is_stable()) else {
        return Ok(Largest::Beyond(found.last().map_or(0.0, |of| of.step)));
    };
    let mut unstable = found[first].step;
    let Some(before) = first.checked_sub(1) else { return Ok(Largest::Below(unstable)) };
    let mut stable = found[before].step;
    for _ in 0..HALVINGS {
        let middle = (stable * unstable).sqrt();
        if judge(middle)?.is_stable() {
            stable = middle
        } else {
            unstable = middle
        }
        bar.inc(1);
    }
    Ok(Largest::Found { stable, unstable })
}

fn complex(z: &Complex) -> Value {
    json!([z.re, z.im])
}

fn text(z: &Complex) -> String {
    if z.im == 0.0 { format!("{:.4e}", z.re) } else { format!("{:.4e} ± {:.4e}i", z.re, z.im) }
}

fn signals(mode: &costep::LeadingMode) -> String {
    let shown = mode.signals.iter().take(SIGNALS).filter(|signal| signal.share > LEAST_SHARE);
    shown.map(|signal| format!("{} {:.2}", signal.name, signal.share)).collect::<Vec<_>>().join(", ")
}

fn step_to_json(of: &StepStability) -> Value {
    let mode = of.mode.as_ref().map(|mode| {
        let signals: Vec<Value> = mode
            .signals
            .iter()
            .map(|signal| json!({ "name": signal.name, "share": signal.share, "phase": signal.phase }))
            .collect();
        json!({ "factor": complex(&mode.factor), "rate": mode.rate, "frequency": mode.frequency, "signals": signals })
    });
    json!({
        "step": of.step,
        "radius": of.radius,
        "uncertainty": of.uncertainty,
        "stable": of.is_stable(),
        "states": of.states,
        "at": of.at,
        "factors": of.factors.iter().map(complex).collect::<Vec<_>>(),
        "mode": mode,
    })
}
