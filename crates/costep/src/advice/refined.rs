//! A reference for systems that cannot be solved as one: the same system at a much smaller step, once for all trials.

use std::time::Instant;

use costep_analysis::{Reference, ReferenceKind};
use costep_core::{Code, Experiment, Result, StepLengths};
use costep_methods::MethodSpec;
use costep_project::Project;

use super::lattice;
use super::yardstick::is_of_the_system;
use crate::assemble::{self, Choice, Steps};
use crate::comparison::{Against, measured_run};
use crate::reference::ReferenceChoice;
use crate::waiting::Waiting;

/// Steps per step of the project, at least.
const REFINEMENT: f64 = 20.0;
/// Parts of the step that it is sampled at: half of them, for its own error, are an integer number, and steps are round numbers, as inner
/// steps of FMUs are.
const PARTS: [u64; 5] = [2, 10, 20, 100, 200];
/// Fewer only where inner steps of FMUs allow no more: a reference near the step of a trial has its error too, and seems accurate.
const LEAST_PARTS: u64 = 10;
/// It may take this share of the time that is left; made once more, finer, this one.
const SHARE: f64 = 0.4;
const SHARE_AGAIN: f64 = 0.25;
/// Its methods: the second where the first is not accurate enough.
const METHODS: [&str; 2] = ["auto", "foh"];
/// Most values that are kept of one.
const MOST_VALUES: f64 = 4e7;
/// What is expected to take so many times as long may still take less.
const UNSURE: f64 = 4.0;
/// A second run, to see what steps cost, has so many times as many, if that takes this share of the time at most.
const MORE_STEPS: f64 = 10.0;
const SHARE_TO_SEE: f64 = 0.1;

/// The reference for all steps that are multiples of the one it is sampled at, a power of ten.
pub(super) struct Refined {
    reference: Reference,
    method: MethodSpec,
    sampling: f64,
    parts: u64,
    expected: WallTime,
}

/// What runs of one length take: some FMUs work as long on one long step as on many short ones, and some take long to start.
#[derive(Clone, Copy)]
struct WallTime {
    run: f64,
    step: f64,
}

impl WallTime {
    /// By one or two runs with `auto`.
    fn measure(project: &Project, waiting: &Waiting) -> Result<Self> {
        let method = MethodSpec::parse(METHODS[0])?;
        let wall = |step: f64| {
            let begun = Instant::now();
            let choice = Choice { method: &method, step, control: None };
            let against = Against { reference: None, later: ReferenceChoice::Nothing, micro: false };
            let (report, _) = measured_run(project, &choice, against, None, waiting);
            let (steps, wall) =
                (report.work.macro_steps, (begun.elapsed().as_secs_f64(), report.work.wall_s));
            match report.error {
                Some(error) if steps == 0 || error.code() == Code::Hung || !is_of_the_system(&error) => {
                    Err(error)
                }
                // How long a step takes, a run that diverges shows as well.
                Some(_) => Ok((steps as f64, wall, false)),
                None => Ok((steps as f64, wall, true)),
            }
        };
        let step = project.model.experiment.step;
        let (steps, (first, stepping), is_whole) = wall(step)?;
        let start = (first - stepping).max(0.0);
        let more = start + MORE_STEPS * stepping;
        let is_cheap = waiting.left().is_none_or(|left| more < SHARE_TO_SEE * left.as_secs_f64());
        if is_whole
            && is_cheap
            && let Ok((more, (_, second), true)) = wall(step / MORE_STEPS)
        {
            let each = (second - stepping).max(0.0) / (more - steps).max(1.0);
            return Ok(Self { run: first, step: each });
        }
        Ok(Self { run: start, step: stepping / steps })
    }

    /// Of a reference with so many steps, which is solved twice.
    fn of_reference(&self, steps: f64) -> f64 {
        2.0 * self.run + 1.5 * steps * self.step
    }
}

impl Refined {
    /// One whose own error is at most this, as far as time allows; nothing if not even a coarse one fits.
    pub(super) fn first(project: &Project, own_error: f64, waiting: &Waiting) -> Result<Option<Self>> {
        let run = project.model.experiment;
        let span = run.stop - run.start;
        let expected = WallTime::measure(project, waiting)?;
        let mut sampling = lattice::decade(0.2 * run.step).min(lattice::decade(0.1 * lattice::longest(span)));
        let outputs = project.model.layout().outputs() as f64;
        while span / sampling * outputs > MOST_VALUES {
            sampling = lattice::decade(10.5 * sampling);
        }
        let wanted = REFINEMENT * sampling / run.step;
        let inner = inner_step(project);
        let mut parts = parts_for(wanted, sampling, inner);
        let fits = |sampling: f64, parts: u64, share: f64| {
            let wall = expected.of_reference(span / sampling * parts as f64);
            waiting.left().is_none_or(|left| wall <= share * left.as_secs_f64())
        };
        while !fits(sampling, parts, SHARE) {
            (sampling, parts) = match parts > LEAST_PARTS {
                true => (sampling, LEAST_PARTS),
                false => (lattice::decade(10.5 * sampling), LEAST_PARTS),
            };
            if sampling > 0.5 * run.step {
                return Ok(None);
            }
        }
        let Some(mut best) = Self::by_methods(project, (sampling, parts, expected), own_error, waiting)?
        else {
            return Ok(None);
        };
        for finer in PARTS.into_iter().filter(|finer| *finer > parts) {
            let is_good = best.own_error() <= own_error;
            if is_good || sampling / (finer as f64) < inner || !fits(sampling, finer, SHARE_AGAIN) {
                break;
            }
            let finer = Self::make(project, (&best.method, sampling, finer), expected, waiting)?;
            if finer.own_error() < best.own_error() {
                best = finer;
            }
        }
        Ok(Some(best))
    }

    /// By the first method whose own error is small enough, or the one with the least.
    fn by_methods(
        project: &Project,
        (sampling, parts, expected): (f64, u64, WallTime),
        own_error: f64,
        waiting: &Waiting,
    ) -> Result<Option<Self>> {
        let (mut best, mut failed): (Option<Self>, _) = (None, None);
        for label in METHODS {
            let method = MethodSpec::parse(label)?;
            match Self::make(project, (&method, sampling, parts), expected, waiting) {
                Ok(made) if best.as_ref().is_none_or(|best| made.own_error() < best.own_error()) => {
                    best = Some(made);
                }
                Ok(_) => {}
                // Another one may do.
                Err(error) if is_of_the_system(&error) => failed = Some(error),
                Err(error) => return Err(error),
            }
            let wall = expected.of_reference(
                (project.model.experiment.stop - project.model.experiment.start) / sampling * parts as f64,
            );
            let has_time = waiting.left().is_none_or(|left| wall <= SHARE * left.as_secs_f64());
            if best.as_ref().is_some_and(|best| best.own_error() <= own_error || !has_time) {
                break;
            }
        }
        match (best, failed) {
            (None, Some(error)) => Err(error),
            (best, _) => Ok(best),
        }
    }

    fn make(
        project: &Project,
        (method, sampling, parts): (&MethodSpec, f64, u64),
        expected: WallTime,
        waiting: &Waiting,
    ) -> Result<Self> {
        let run = assemble::experiment(project, sampling);
        let engine = |run: &Experiment| {
            assemble::engine_over(project, method, (*run, Steps::Equal), false, |models| models)
        };
        let reference = Reference::fine_step(engine, &run, (parts, &method.label()), &|| waiting.check())?;
        Ok(Self { reference, method: method.clone(), sampling, parts, expected })
    }

    /// What it is, with its own error.
    pub(super) fn kind(&self) -> ReferenceKind {
        self.reference.kind.clone()
    }

    fn own_error(&self) -> f64 {
        self.reference.kind.own_error().unwrap_or(f64::INFINITY)
    }

    /// How many samples one step of this length is, if they fit without a rest.
    fn samples(&self, step: f64) -> Option<usize> {
        let samples = (step / self.sampling).round();
        let is_whole = (samples * self.sampling - step).abs() <= 1e-9 * step;
        (samples >= 1.0 && is_whole).then_some(samples as usize)
    }

    /// Whether it has the communication points of this step.
    pub(super) fn serves(&self, step: f64) -> bool {
        self.samples(step).is_some()
    }

    /// The reference for this step.
    pub(super) fn at(&self, step: f64) -> Option<Reference> {
        self.samples(step).map(|samples| self.reference.at_every(samples))
    }

    /// Makes one for a step that this one is too coarse for, if that fits into the time.
    pub(super) fn go_down_to(&mut self, project: &Project, step: f64, waiting: &Waiting) -> Result<()> {
        let run = project.model.experiment;
        let sampling = lattice::decade(lattice::decade(step).min(0.1 * self.sampling));
        // At the step that it has, as long as that is fine enough.
        let parts =
            parts_for(0.99 * self.parts as f64 * sampling / self.sampling, sampling, inner_step(project));
        let allowed = waiting.left().map(|left| left.mul_f64(SHARE_AGAIN));
        let fits = |parts: u64, times: f64| {
            let wall = self.expected.of_reference((run.stop - run.start) / sampling * parts as f64);
            allowed.is_none_or(|allowed| wall <= times * allowed.as_secs_f64())
        };
        let parts = if fits(parts, 1.0) { parts } else { LEAST_PARTS };
        let values = (run.stop - run.start) / sampling * project.model.layout().outputs() as f64;
        if sampling >= self.sampling || !fits(parts, UNSURE) || values > MOST_VALUES {
            return Ok(());
        }
        let patience = allowed.map_or(waiting.clone(), |allowed| waiting.no_longer_than(allowed));
        match Self::make(project, (&self.method, sampling, parts), self.expected, &patience) {
            // It was longer than expected.
            Err(error) if error.code() == Code::TimeLimit => waiting.check(),
            made => made.map(|made| *self = made),
        }
    }
}

/// At least so many parts of a step, as long as they are no shorter than the inner steps.
fn parts_for(wanted: f64, sampling: f64, inner: f64) -> u64 {
    let possible = PARTS.into_iter().filter(|parts| sampling / (*parts as f64) >= inner);
    let wanted = wanted.max(LEAST_PARTS as f64);
    possible.clone().find(|parts| *parts as f64 >= wanted).or(possible.max()).unwrap_or(PARTS[0])
}

/// The longest inner step that a part declares, up to round-off: shorter steps than that would be another part.
fn inner_step(project: &Project) -> f64 {
    let of = |lengths: StepLengths| if let StepLengths::MultiplesOf(inner) = lengths { inner } else { 0.0 };
    let declared = project.model.parts.iter().map(|part| of(part.description().step_lengths));
    declared.fold(0.0, f64::max) * (1.0 - 1e-9)
}
