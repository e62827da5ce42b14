//! Stability of a system with a method and a step, by the linear map of one macro step.

use std::f64::consts::TAU;

use costep_analysis::StepMap;
use costep_core::{Experiment, Learning, ModelKind, Result};
use costep_engine::Rate;
use costep_linalg::Complex;
use costep_methods::MethodSpec;
use costep_project::Project;

use crate::assemble::{self, Steps};
use crate::system::System;

/// Macro steps before the one that is linearised: methods begin with less than they know later.
const BEFORE: u64 = 4;
/// Macro steps that the linearisation itself looks at and takes.
const AROUND: u64 = 8;

/// What a judgement of stability rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foundation {
    /// Steps of the parts themselves, from changed states.
    Steps,
}

impl Foundation {
    /// In a few words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Steps => "steps of the parts from changed states",
        }
    }
}

/// Where stability is judged.
#[derive(Clone, Copy)]
pub struct StabilityPoint<'a> {
    /// The coupling method.
    pub method: &'a MethodSpec,
    /// The macro step in s.
    pub step: f64,
    /// The time of the run at which the step is linearised; after a few steps if nothing is said, and at the end with
    /// methods that learn. Linear systems with other methods are the same everywhere.
    pub at: Option<f64>,
}

/// How one macro step treats small perturbations.
#[derive(Clone, Debug)]
pub struct StepStability {
    /// The macro step in s.
    pub step: f64,
    /// Greatest absolute factor by which a perturbation is multiplied from step to step: below one all of them decay.
    pub radius: f64,
    /// By how much the radius may be off, as two sizes of changes show.
    pub uncertainty: f64,
    /// Numbers that the run carries from step to step and that matter: states of the parts, memory of method and signals.
    pub states: usize,
    /// The factors of all modes, the greatest first.
    pub factors: Vec<Complex>,
    /// The mode of the greatest factor; nothing where nothing is carried on.
    pub mode: Option<LeadingMode>,
    /// What this rests on.
    pub rests_on: Foundation,
    /// The time of the run at which the step was linearised.
    pub at: f64,
}

impl StepStability {
    /// Whether all perturbations stay bounded, up to round-off.
    pub fn is_stable(&self) -> bool {
        self.radius <= 1.0 + self.uncertainty.max(1e-9)
    }
}

/// The mode that grows fastest, or decays slowest.
#[derive(Clone, Debug)]
pub struct LeadingMode {
    /// The factor of one macro step.
    pub factor: Complex,
    /// Growth per second in 1/s; negative where it decays.
    pub rate: f64,
    /// Frequency in Hz; half the rate of steps where signs alternate.
    pub frequency: f64,
    /// The outputs in it, the greatest first.
    pub signals: Vec<ModeSignal>,
}

/// An output in a mode.
#[derive(Clone, Debug)]
pub struct ModeSignal {
    /// `part.port`.
    pub name: String,
    /// Amplitude in units of its nominal value, relative to the greatest of all.
    pub share: f64,
    /// Phase in degrees relative to the greatest of all.
    pub phase: f64,
}

impl System {
    /// How one macro step of this system with a method and a step treats small perturbations: its spectral radius, the
    /// mode that grows, and what that rests on. The method is that of the default group.
    ///
    /// ```
    /// let system = costep::System::open("dual-mass")?;
    /// let zoh = system.registry().method("zoh")?;
    /// assert!(system.step_stability(&zoh, 1e-3)?.radius > 1.0);
    /// assert!(system.step_stability(&zoh, 1e-4)?.radius < 1.0);
    /// # Ok::<(), costep::Errors>(())
    /// ```
    pub fn step_stability(&self, method: &MethodSpec, step: f64) -> Result<StepStability> {
        self.stability_at(&StabilityPoint { method, step, at: None }, &mut |_| Ok(()))
    }

    /// The same at a point of the run; `progress` hears what share is done and may end it by an error.
    pub fn stability_at(
        &self,
        point: &StabilityPoint<'_>,
        progress: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<StepStability> {
        self.check_steps(&[point.step])?;
        judge(&self.project, point, progress)
    }
}

fn judge(
    project: &Project,
    point: &StabilityPoint<'_>,
    progress: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<StepStability> {
    let StabilityPoint { method, step, .. } = *point;
    let (period, before) = (period(&project.rates), steps_before(project, point));
    let start = project.model.experiment.start;
    // No run, so its end does not matter: there are only equal steps.
    let last = before + AROUND * u64::from(period);
    let experiment = Experiment { start, stop: start + last as f64 * step, step }.with_equal_steps();
    let mut engine =
        assemble::engine_over(project, method, (experiment, Steps::Equal), false, |models| models)?;
    for k in 0..before {
        let kept = engine.save()?;
        if engine.step().is_err() {
            // What grows beyond all bounds is judged before it does.
            engine.load(&kept)?;
            break;
        }
        if k % 64 == 0 {
            progress(0.0)?;
        }
    }
    let map = StepMap::of(&mut engine, period, progress)?;
    let nominals: Vec<f64> = engine
        .descriptions()
        .iter()
        .flat_map(|of| &of.outputs)
        .map(|port| port.nominal.map(f64::abs).filter(|nominal| *nominal > 0.0).unwrap_or(1.0))
        .collect();
    let names = crate::names::Names::new(engine.descriptions().iter()).outputs;
    let mode = map.leading_mode().map(|mode| describe(&mode, step, &names, &nominals));
    Ok(StepStability {
        step,
        radius: map.radius(),
        uncertainty: map.uncertainty,
        states: map.states(),
        factors: map.factors(),
        mode,
        rests_on: Foundation::Steps,
        at: engine.time(),
    })
}

/// Macro steps after which all parts stand where they did, relative to each other.
fn period(rates: &[Rate]) -> u32 {
    let every = |rate: &Rate| if let Rate::Every(count) = rate { (*count).max(1) } else { 1 };
    rates.iter().map(every).fold(1, least_common_multiple)
}

fn least_common_multiple(a: u32, b: u32) -> u32 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// Steps of the run before the point.
fn steps_before(project: &Project, point: &StabilityPoint<'_>) -> u64 {
    let Experiment { start, stop, .. } = project.model.experiment;
    let at = match point.at {
        None if learns(point.method) => stop,
        None => return BEFORE,
        Some(at) => at,
    };
    (((at - start) / point.step).round() as u64).max(BEFORE)
}

/// Whether a method learns during the run.
fn learns(method: &MethodSpec) -> bool {
    let offer = method.models.offer();
    let learns = offer.kind == ModelKind::Discrete && offer.learning != Learning::Earlier;
    method.entry.id == "identified" || (learns && method.uses_models())
}

fn describe(mode: &costep_analysis::Mode, step: f64, names: &[String], nominals: &[f64]) -> LeadingMode {
    let greatest = |a: &usize, b: &usize| {
        let size = |i: usize| mode.outputs[i].abs() / nominals[i];
        size(*b).total_cmp(&size(*a))
    };
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(greatest);
    let first = order.first().map_or(Complex::default(), |i| mode.outputs[*i]);
    let size = order.first().map_or(1.0, |i| first.abs() / nominals[*i]).max(f64::MIN_POSITIVE);
    let signal = |i: &usize| {
        let turn = (mode.outputs[*i].angle() - first.angle()).to_degrees();
        ModeSignal {
            name: names[*i].clone(),
            share: mode.outputs[*i].abs() / nominals[*i] / size,
            phase: turn - 360.0 * (turn / 360.0).round(),
        }
    };
    LeadingMode {
        factor: mode.factor,
        rate: mode.factor.abs().ln() / step,
        frequency: mode.factor.angle().abs() / TAU / step,
        signals: order.iter().map(signal).collect(),
    }
}
