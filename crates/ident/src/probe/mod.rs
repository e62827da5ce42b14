//! Local models from a short excitation, for subsystems that can go back: no Jacobians and no readable states are needed, and models are
//! there from the first step on.
//!
//! At a communication point each input is moved up and down over a part of the macro step, one after the other; the subsystem is put back
//! after every trial, so that the run does not notice. `realise.rs` makes A, B, C, D of the responses, with the number of states that they
//! show. The pulses are a share of the sizes of the inputs, as small as makes the responses linear and as large as keeps them above
//! the noise of the solver inside. A later pulse shows how far the subsystem itself changes over the step; what is not more than that is
//! no state. A model that does not tell what happens inside of a trial step comes of steps that are too long for the fastest modes: they are made
//! shorter. `place.rs` finds the present state, at every communication point, by a few trial steps under the
//! present input. Cost of an excitation with m inputs: 3 m + 1 trials of about a macro step for each size of pulses that is tried, which are
//! up to six at the start and mostly one later; and up to a macro step per communication point.

mod output_form;
mod place;
mod realise;
mod record;
mod trial;

use costep_core::{
    Capabilities, Code, Description, Error, Experiment, Learning, LocalModel, ModelKind, ModelSource,
    ModelsOffer, Observation, Result, SourceEntry, StateReader, StateWriter, Subsystem, Value, choice,
    options,
};

use crate::renewal::{RENEWED, Refresh, Renewal, RenewalOptions, Renewed};
use place::Finder;
use realise::Responses;
pub use record::{Record, RecordedModel};
use trial::Clock;

/// Row of the registry.
pub(crate) const ENTRY: SourceEntry = SourceEntry {
    id: "probe",
    title: "a short excitation before the first step",
    summary: "Applies a short pulse to each input before the first step, rolls the subsystem back, and \
              computes A, B, C and D from the responses, with as many states as they show. The current \
              state is found by a few trial steps per macro step. Not renewed unless requested.",
    needs: "rollback",
    source: "Kung's realisation",
    kind: ModelKind::Realised,
    options: ProbeOptions::SPECS,
    // Who says how often, says that they are renewed.
    settle: |options| {
        if options.is_given("every") {
            options.set_default("refresh", Value::Text(Renewal::Always.word().into()));
        }
    },
    offer: |_| ModelsOffer {
        kind: ModelKind::Realised,
        // Its offsets are measured at every point, whatever the age of the matrices.
        current: true,
        learning: Learning::Nothing,
        micro_samples: false,
        trial_steps: true,
    },
    build: |options| {
        let options = ProbeOptions::read(options);
        let renewal = RenewalOptions { refresh: options.refresh.into(), every: options.every };
        Box::new(Probe::new(renewal.refresh(), options.amplitude))
    },
};

choice! {
    /// When matrices are renewed, as a word; the first is the default here.
    enum ProbeRenewal { Never = "never", Always = "always", Changed = "changed" }
}

impl From<ProbeRenewal> for Renewal {
    fn from(refresh: ProbeRenewal) -> Self {
        match refresh {
            ProbeRenewal::Never => Self::Never,
            ProbeRenewal::Always => Self::Always,
            ProbeRenewal::Changed => Self::Changed,
        }
    }
}

options! {
    /// Options of the source.
    struct ProbeOptions {
        /// renew local models at every `every`-th communication point, when they no longer explain x' and
        /// y, or never; never, unless this or `every` is given
        refresh: ProbeRenewal;
        /// number of macro steps between renewals of local models
        every: usize = 1 in 1..=1_000_000, only [RENEWED];
        /// greatest pulse of an input, as a share of its nominal value or of the greatest so far; smaller
        /// ones are tried too
        amplitude: f64 = 0.01 in 1e-8..=10.0;
    }
}

/// Trial steps per macro step, where the subsystem can do them: responses over the step to come.
const PARTS: usize = 16;
/// A macro step is divided into at most so many.
const MOST_PARTS: usize = 10_000;
/// While the first model does not explain responses within a trial step, these become shorter by the first factor, and by the second at most.
const SHORTER: (usize, usize) = (4, 64);
/// Samples of a response, and the least number.
const SAMPLES: (usize, usize) = (16, 4);
/// Pulses are tried until so little of the responses is not linear.
const LINEAR: f64 = 1e-6;
/// Factor from one pulse to the next smaller and, while nothing answers, greater one; and how many are tried.
const SMALLER: f64 = 0.1;
const GREATER: f64 = 1e3;
const TRIES: usize = 6;
/// Greatest pulse of an input of unknown size.
const GREATEST: f64 = 1e6;
/// Least share of responses that counts as noise, the greatest that may not be linear, and the greatest that may change within a macro step
/// and still tell states apart.
const NOISE: (f64, f64, f64) = (1e-9, 0.05, 0.2);
/// Later excitations take the pulses of the last one if so little of the responses is not linear.
const LINEAR_ENOUGH: f64 = 1e-3;
/// No model has more states.
const MOST_STATES: usize = 1 << 12;

/// The source.
pub struct Probe {
    refresh: Refresh,
    amplitude: f64,
    experiment: Option<Experiment>,
    reads_states: bool,
    parts: Vec<ProbedSubsystem>,
}

/// One subsystem.
struct ProbedSubsystem {
    /// Trial steps per macro step.
    parts: usize,
    /// Sizes of the inputs: nominal or greatest absolute value so far.
    sizes: Vec<f64>,
    /// Pulses over sizes, as found best.
    amplitude: f64,
    known: Renewed,
    /// None before the first model.
    finder: Option<Finder>,
}

impl Probe {
    /// Models that are renewed like this, from pulses of this share of the sizes of the inputs or less.
    pub fn new(refresh: Refresh, amplitude: f64) -> Self {
        Self { refresh, amplitude, experiment: None, reads_states: true, parts: Vec::new() }
    }
}

impl ModelSource for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn prepare(
        &mut self,
        descriptions: &[Description],
        capabilities: &[Capabilities],
        experiment: &Experiment,
    ) -> Result<()> {
        self.experiment = Some(*experiment);
        let part = |(description, can): (&Description, &Capabilities)| {
            if !can.rollback {
                let message =
                    format!("`source=probe` needs rollback, which `{}` does not offer", description.name);
                return Err(Error::new(Code::NeedsMissing, message)
                    .because("models come from trial steps, which need rollback")
                    .hint(
                        "`identified` learns from the run itself; `source=exact` where there are Jacobians",
                    ));
            }
            let (m, n) = (description.inputs.len(), description.outputs.len());
            Ok(ProbedSubsystem {
                parts: trial_parts(description, experiment.step),
                sizes: description.inputs.iter().map(|port| port.nominal.map_or(0.0, f64::abs)).collect(),
                amplitude: self.amplitude,
                known: Renewed::new(LocalModel::new(0, m, n), self.refresh),
                finder: None,
            })
        };
        self.parts = descriptions.iter().zip(capabilities).map(part).collect::<Result<_>>()?;
        Ok(())
    }

    fn observe(&mut self, i: usize, subsystem: &mut dyn Subsystem, seen: &Observation<'_>) -> Result<()> {
        let Some(experiment) = self.experiment else { return Ok(()) };
        let part = &mut self.parts[i];
        let clock = |part: &ProbedSubsystem| Clock {
            start: seen.interval.end,
            step: experiment.step,
            parts: part.parts,
        };
        part.sizes.iter_mut().zip(seen.u).for_each(|(size, u)| *size = size.max(u.abs()));
        // The last point of the run needs neither model nor state. The last step may lead beyond the stop time.
        // Counted by time: where steps vary, there are more of them than of the longest.
        let left = Experiment { start: seen.interval.end, ..experiment }.steps();
        if left == 0 && part.known.version > 0 {
            return Ok(());
        }
        if self.reads_states {
            part.locate(subsystem, &clock(part), seen)?;
        }
        if part.known.is_due(self.refresh, seen.k, seen.u, seen.y) {
            let samples = left.saturating_mul(part.parts as u64).min(SAMPLES.0 as u64) as usize;
            if part.excite(subsystem, clock(part), seen, samples)? {
                if self.reads_states {
                    part.locate(subsystem, &clock(part), seen)?;
                }
                part.known.mark(seen.u, seen.y);
            }
        }
        Ok(())
    }

    fn model(&self, i: usize) -> Option<&LocalModel> {
        self.parts.get(i).map(|part| &part.known.model)
    }

    fn version(&self, i: usize) -> u64 {
        self.parts[i].known.version
    }

    fn leave_out_states(&mut self) {
        // Without states nobody could tell that a model no longer explains them.
        self.reads_states = self.refresh == Refresh::Changed;
    }

    fn save(&self, out: &mut StateWriter) {
        for part in &self.parts {
            out.reals(&part.sizes);
            out.real(part.amplitude);
            out.integer(part.parts as u64);
            out.integer(part.known.model.states as u64);
            part.known.save(out);
            part.finder.iter().for_each(|finder| finder.save(out));
        }
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let Some(experiment) = self.experiment else { return Ok(()) };
        for part in &mut self.parts {
            from.reals(&mut part.sizes)?;
            part.amplitude = from.real()?;
            part.parts = from.index(SHORTER.1 * MOST_PARTS + 1)?.max(1);
            let LocalModel { inputs, outputs, .. } = part.known.model;
            part.known =
                Renewed::new(LocalModel::new(from.index(MOST_STATES)?, inputs, outputs), self.refresh);
            part.known.load(from)?;
            let clock = Clock { start: 0.0, step: experiment.step, parts: part.parts };
            let damaged = || Error::new(Code::NotFinite, "the saved model of a subsystem cannot be used");
            let (u, y) = (vec![0.0; inputs], vec![0.0; outputs]);
            let mut finder = Finder::new(&part.known.model, &clock, &u, &y).ok_or_else(damaged)?;
            finder.load(from)?;
            part.finder = Some(finder);
        }
        Ok(())
    }
}

/// The number of parts of a macro step, [`PARTS`] or the next that the subsystem can do: more if possible, else fewer.
fn trial_parts(description: &Description, step: f64) -> usize {
    let can = |parts: &usize| description.can_step_by(step / *parts as f64);
    (PARTS..=MOST_PARTS).find(can).or_else(|| (1..PARTS).rev().find(can)).unwrap_or(1)
}

impl ProbedSubsystem {
    fn locate(&mut self, subsystem: &mut dyn Subsystem, clock: &Clock, seen: &Observation<'_>) -> Result<()> {
        match &mut self.finder {
            Some(finder) => finder.locate(subsystem, clock, (seen.u, seen.y), &mut self.known.model),
            None => Ok(()),
        }
    }

    /// A new model of the present point, whether there is one. One that does not come out leaves the last in use; the first has to.
    fn excite(
        &mut self,
        subsystem: &mut dyn Subsystem,
        mut clock: Clock,
        seen: &Observation<'_>,
        samples: usize,
    ) -> Result<bool> {
        let is_first = self.known.version == 0;
        let fresh = if samples < SAMPLES.1 {
            Err(hopeless(subsystem).because("the run is too short for trial steps"))
        } else {
            subsystem.trial(|subsystem| match is_first {
                true => self.search_scale(subsystem, &mut clock, seen.u, samples),
                false => self.search(subsystem, &clock, seen.u, samples, false),
            })?
        };
        let with_finder = |fresh: LocalModel| match Finder::new(&fresh, &clock, seen.u, seen.y) {
            Some(finder) => Ok((fresh, finder)),
            None => Err(hopeless(subsystem).because("its response over a macro step is not finite")),
        };
        match fresh.and_then(with_finder) {
            Ok((fresh, finder)) => {
                self.finder = Some(finder);
                self.known.replace(&fresh, &subsystem.description().name)?;
                Ok(true)
            }
            Err(error) if is_first => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// The first model, of trial steps as long as it takes to explain what happens inside of them. If none does, of the longest.
    fn search_scale(
        &mut self,
        subsystem: &mut dyn Subsystem,
        clock: &mut Clock,
        u: &[f64],
        samples: usize,
    ) -> Result<LocalModel> {
        let first = self.search(subsystem, clock, u, samples, true)?;
        let (amplitude, mut model, mut shorter) = (self.amplitude, first.clone(), *clock);
        while !self.explains_inside(subsystem, &shorter, u, &model)? {
            shorter.parts *= SHORTER.0;
            let is_possible = shorter.parts <= SHORTER.1 * clock.parts
                && subsystem.description().can_step_by(shorter.spacing());
            let fresh = is_possible.then(|| self.search(subsystem, &shorter, u, samples, true));
            let Some(Ok(fresh)) = fresh else {
                self.amplitude = amplitude;
                return Ok(first);
            };
            model = fresh;
        }
        (*clock, self.parts) = (shorter, shorter.parts);
        Ok(model)
    }

    /// Whether a model tells responses to pulses that are shorter than a trial step; also if the subsystem cannot do such.
    fn explains_inside(
        &self,
        subsystem: &mut dyn Subsystem,
        clock: &Clock,
        u: &[f64],
        model: &LocalModel,
    ) -> Result<bool> {
        let inside = Clock { start: clock.start, step: clock.spacing(), parts: SHORTER.0 };
        if u.is_empty() || model.outputs == 0 || !subsystem.description().can_step_by(inside.spacing()) {
            return Ok(true);
        }
        subsystem.demand_rollback()?.restore()?;
        let responses = trial::responses(subsystem, &inside, (u, self.pulses(self.amplitude)), SHORTER.0);
        Ok(responses.ok().flatten().is_none_or(|responses| responses.are_explained_by(model)))
    }

    fn pulses(&self, amplitude: f64) -> Vec<f64> {
        self.sizes.iter().map(|size| amplitude * if *size > 0.0 { *size } else { 1.0 }).collect()
    }

    /// Tries pulses: smaller ones while that makes the responses more linear, greater ones while nothing answers.
    fn search(
        &mut self,
        subsystem: &mut dyn Subsystem,
        clock: &Clock,
        u: &[f64],
        samples: usize,
        is_first: bool,
    ) -> Result<LocalModel> {
        let (m, n) = (u.len(), subsystem.description().outputs.len());
        if m == 0 || n == 0 {
            return Ok(LocalModel::new(0, m, n));
        }
        let (mut best, mut failure): (Option<(f64, Responses)>, Option<Error>) = (None, None);
        let mut amplitude = self.amplitude;
        // Inputs move by no more than their sizes; where these are not known, nobody knows what is much.
        let is_known = self.sizes.iter().all(|size| *size > 0.0);
        let greatest = amplitude.max(if is_known { 1.0 } else { GREATEST });
        for _ in 0..TRIES {
            subsystem.demand_rollback()?.restore()?;
            let doubt = match trial::responses(subsystem, clock, (u, self.pulses(amplitude)), samples) {
                Ok(Some(responses)) => responses.answer(&mut best, amplitude),
                Ok(None) => f64::NAN,
                Err(error) => {
                    failure = Some(error);
                    f64::NAN
                }
            };
            let is_best = best.as_ref().is_some_and(|(of, _)| *of == amplitude);
            let enough = if is_first { LINEAR } else { LINEAR_ENOUGH };
            if doubt <= enough || doubt.is_finite() && !is_best {
                break;
            }
            if doubt == f64::INFINITY && amplitude >= greatest {
                break;
            }
            amplitude = if doubt == f64::INFINITY {
                (GREATER * amplitude).min(greatest)
            } else {
                SMALLER * amplitude
            };
        }
        let failed = |cause: String| hopeless(subsystem).because(cause);
        let Some((amplitude, responses)) = best else {
            return Err(failed(
                failure.map_or("its outputs are not finite".into(), |error| error.to_string()),
            ));
        };
        if responses.doubt == f64::INFINITY {
            // No input reaches an output, however far it moves.
            return Ok(LocalModel::new(0, m, n));
        }
        if responses.doubt > NOISE.1 {
            return Err(failed(format!("{:.0} % of its responses are not linear", 1e2 * responses.doubt)));
        }
        self.amplitude = amplitude;
        let cut = responses.doubt.max(responses.drift).clamp(NOISE.0, NOISE.2);
        let model = responses.realise(cut);
        let mut model = model.ok_or_else(|| failed("its responses are those of no linear model".into()))?;
        output_form::transform(&mut model, clock.step);
        Ok(model)
    }
}

impl Responses {
    /// Becomes the best if it is; gives its doubt.
    fn answer(self, best: &mut Option<(f64, Self)>, amplitude: f64) -> f64 {
        let doubt = self.doubt;
        if best.as_ref().is_none_or(|(_, best)| doubt < best.doubt) {
            *best = Some((amplitude, self));
        }
        doubt
    }
}

fn hopeless(subsystem: &dyn Subsystem) -> Error {
    let name = &subsystem.description().name;
    Error::new(Code::NeedsMissing, format!("the excitation of `{name}` gives no local model")).hint(
        "another `amplitude` (a share of the sizes of its inputs), a smaller step, or `identified`, which learns from the run itself",
    )
}
