//! Stability over several steps: radii, the largest stable step, eigenvalues and loops, for people and machines.

use std::path::Path;

use costep_core::quantity::format_time;
use costep_core::{Code, Error, Result};
use costep_linalg::Complex;
use costep_methods::MethodSpec;
use costep_report::{Axis, Figure, Panel, Series};
use costep_results::write_file;
use serde_json::{Value, json};

use super::{Foundation, OpenLoop, Spectrum, StabilityPoint, StepStability};
use crate::comparison::Comparison;
use crate::report::head;
use crate::system::System;

/// Halvings of the interval between a stable step and an unstable one.
const HALVINGS: usize = 30;
/// Steps that are judged if none are given, relative to that of the project.
const AROUND: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// Steps of a curve between the least and the greatest one.
const POINTS: usize = 24;
/// Steps that differ by this share are the same one.
const SAME_STEP: f64 = 1e-9;

/// What is judged.
#[derive(Clone, Debug)]
pub struct StabilityQuestion {
    /// Macro steps in s, rising.
    pub steps: Vec<f64>,
    /// As in [`StabilityPoint::at`].
    pub at: Option<f64>,
    /// As in [`StabilityPoint::by_models`].
    pub by_models: bool,
}

/// The stability of a system with its method, over several steps.
#[derive(Clone, Debug)]
pub struct StabilityStudy {
    /// The method with its options.
    pub method: String,
    /// In the order of the question.
    pub steps: Vec<StepStability>,
    /// The largest stable step.
    pub largest: LargestStep,
    /// The least unstable step by local models, if these have no inner solver and are stable.
    pub without_solver: Option<StepStability>,
    /// Of the parts and of the whole, where local models are known.
    pub spectra: Result<(Vec<Spectrum>, Foundation)>,
    /// The loops under held inputs, opened at every input in one.
    pub loops: Vec<OpenLoop>,
}

/// The largest stable step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LargestStep {
    /// Between these two.
    Found {
        /// It is stable.
        stable: f64,
        /// It is not.
        unstable: f64,
    },
    /// All that were asked for are stable, up to this one.
    Beyond(f64),
    /// The least one is not.
    Below(f64),
}

/// The spectral radius of a method over the step.
#[derive(Clone, Debug)]
pub struct RadiusCurve {
    /// The method with its options.
    pub method: String,
    /// (step, radius), or why there is none.
    pub radii: Result<Vec<(f64, f64)>>,
}

/// Hears of every step before it is judged, and of nothing meanwhile; an error ends the work.
pub type StudyProgress<'a> = &'a mut dyn FnMut(Option<f64>) -> Result<()>;

impl StabilityQuestion {
    /// At steps around this one, at the usual point.
    pub fn around(step: f64) -> Self {
        let steps = AROUND.iter().map(|factor| factor * step).collect();
        Self { steps, at: None, by_models: false }
    }

    /// How many steps are judged at most.
    pub fn judgements(&self) -> usize {
        self.steps.len() + HALVINGS
    }

    fn judge(
        &self,
        system: &System,
        method: &MethodSpec,
        step: f64,
        progress: StudyProgress<'_>,
    ) -> Result<StepStability> {
        progress(Some(step))?;
        let point =
            StabilityPoint { at: self.at, by_models: self.by_models, ..StabilityPoint::new(method, step) };
        system.stability_at(&point, &mut |_| progress(None))
    }

    /// The same with more steps between them for a curve, where they cost little.
    #[must_use]
    pub fn with_steps_between(mut self, system: &System) -> Self {
        if let (true, Some(low), Some(high)) =
            (system.project().given.fmus.is_empty(), self.steps.first(), self.steps.last())
        {
            let between = |k: usize| low * (high / low).powf(k as f64 / POINTS as f64);
            let is_new = |step: &f64| !self.steps.iter().any(|asked| (step / asked - 1.0).abs() < SAME_STEP);
            let further: Vec<f64> = (1..POINTS).map(between).filter(is_new).collect();
            self.steps.extend(further);
        }
        self.steps.sort_by(f64::total_cmp);
        self
    }
}

impl System {
    /// Judges the method of this system at all these steps, and what follows from its local models.
    ///
    /// ```
    /// use costep::{LargestStep, StabilityQuestion, System};
    ///
    /// let system = System::opening("dual-mass").set("method", "zoh").open()?;
    /// let question = StabilityQuestion { steps: vec![1e-3, 4e-3], at: None, by_models: false };
    /// let study = system.stability_study(&question, &mut |_| Ok(()))?;
    /// assert!(matches!(study.largest, LargestStep::Found { stable, .. } if (stable - 2.2945e-3).abs() < 1e-6));
    /// # Ok::<(), costep::Errors>(())
    /// ```
    pub fn stability_study(
        &self,
        question: &StabilityQuestion,
        progress: StudyProgress<'_>,
    ) -> Result<StabilityStudy> {
        self.check_steps(&question.steps)?;
        self.check_at(question.at)?;
        let method = &self.project.groups[0].method;
        let judge = |step: f64, progress: StudyProgress<'_>| question.judge(self, method, step, progress);
        let mut steps = Vec::new();
        for step in &question.steps {
            steps.push(judge(*step, progress)?);
        }
        let largest = largest(&steps, |step| judge(step, progress))?;
        let without_solver = self.without_inner_solver(question, &steps, progress);
        let loops = self.open_loops(&self.loop_inputs(), self.project.equal_step(), question.at);
        Ok(StabilityStudy {
            method: method.label(),
            steps,
            largest,
            without_solver,
            spectra: self.spectra(question.at),
            loops: loops.unwrap_or_default(),
        })
    }

    /// Explicit inner steps add growth of their own, which is small and easily taken for that of the coupling: the first
    /// unstable step again by local models, if it is stable then.
    fn without_inner_solver(
        &self,
        question: &StabilityQuestion,
        found: &[StepStability],
        progress: StudyProgress<'_>,
    ) -> Option<StepStability> {
        self.project.model.solver.inner_step()?;
        let doubtful = |of: &&StepStability| of.rests_on == Foundation::Steps && !of.is_stable();
        let by_models = StabilityQuestion { by_models: true, ..question.clone() };
        let method = &self.project.groups[0].method;
        let again = by_models.judge(self, method, found.iter().find(doubtful)?.step, progress).ok()?;
        again.is_stable().then_some(again)
    }

    /// The method of this system, and others of a list, or all, to set beside it.
    pub fn methods_beside(&self, list: Option<&str>) -> Result<Vec<MethodSpec>> {
        let own = self.project.groups[0].method.clone();
        let others = match list {
            Some(list) => self.registry.methods().parse_list(list)?,
            None => Comparison::all_methods(&self.registry)?,
        };
        let label = own.label();
        Ok(std::iter::once(own).chain(others.into_iter().filter(|other| other.label() != label)).collect())
    }

    /// The spectral radius at all these steps with several methods, to set them beside each other.
    pub fn radius_curves(
        &self,
        question: &StabilityQuestion,
        methods: &[MethodSpec],
        progress: StudyProgress<'_>,
    ) -> Result<Vec<RadiusCurve>> {
        let mut curves = Vec::new();
        for method in methods {
            let mut radii: Result<Vec<(f64, f64)>> = Ok(Vec::new());
            for step in &question.steps {
                match (question.judge(self, method, *step, progress), &mut radii) {
                    (Ok(found), Ok(points)) => points.push((found.step, found.radius)),
                    (Err(error), _) if matches!(error.code(), Code::Stopped | Code::TimeLimit) => {
                        return Err(error);
                    }
                    // What is no linear map at the first step is none at the others.
                    (Err(error), Ok(points)) if points.is_empty() => {
                        radii = Err(error);
                        break;
                    }
                    (Err(_), Ok(points)) => points.push((*step, f64::NAN)),
                    (_, Err(_)) => {}
                }
            }
            curves.push(RadiusCurve { method: method.label(), radii });
        }
        Ok(curves)
    }
}

/// Between the first unstable step and the one before, by halving the ratio.
fn largest(
    found: &[StepStability],
    mut judge: impl FnMut(f64) -> Result<StepStability>,
) -> Result<LargestStep> {
    let Some(first) = found.iter().position(|of| !of.is_stable()) else {
        return Ok(LargestStep::Beyond(found.last().map_or(0.0, |of| of.step)));
    };
    let mut unstable = found[first].step;
    let Some(before) = first.checked_sub(1) else { return Ok(LargestStep::Below(unstable)) };
    let mut stable = found[before].step;
    for _ in 0..HALVINGS {
        let middle = (stable * unstable).sqrt();
        if judge(middle)?.is_stable() { stable = middle } else { unstable = middle }
    }
    Ok(LargestStep::Found { stable, unstable })
}

impl StabilityStudy {
    /// Writes the open loops under held inputs as curves around -1, as SVG.
    pub fn write_nyquist(&self, system: &System, file: &Path) -> Result<()> {
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
        let title = format!("{}: open loops under held inputs", system.name());
        let step = format!(
            "step {}; the loop is unstable where a curve goes round -1",
            format_time(system.project().equal_step())
        );
        let svg = Figure::new(title).subtitle(step).panel(panel).to_svg();
        write_file(file, svg.as_bytes())
    }

    /// As `costep stability --json` prints it.
    pub fn to_json(&self, system: &System) -> Result<Value> {
        let Some(first) = self.steps.first() else {
            return Err(Error::new(Code::BadValue, "no step was judged"));
        };
        let mut object = head(system.project(), None);
        object.insert("method".into(), json!(self.method));
        object.insert("rests_on".into(), json!(first.rests_on.text()));
        object.insert("steps".into(), self.steps.iter().map(step_to_json).collect());
        let (largest, unstable) = match self.largest {
            LargestStep::Found { stable, unstable } => (Some(stable), Some(unstable)),
            LargestStep::Beyond(step) => (Some(step), None),
            LargestStep::Below(step) => (None, Some(step)),
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
            object.insert("eigenvalues_rest_on".into(), json!(foundation.text()));
            object.insert("eigenvalues".into(), spectra.iter().map(one).collect());
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
        Ok(Value::Object(object))
    }
}

fn complex(z: &Complex) -> Value {
    json!([z.re, z.im])
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
        "learnt": of.learnt.map(|learnt| {
            json!({ "steps": learnt.steps, "until": learnt.until, "in_parts": learnt.in_parts })
        }),
        "factors": of.factors.iter().map(complex).collect::<Vec<_>>(),
        "mode": mode,
    })
}
