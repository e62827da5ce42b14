//! What the subsystems of a stage are stepped with, and their steps on one thread.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use costep_core::quantity::{exact_time, format_time};
use costep_core::{
    Batch, Code, EnvironmentModel, Error, InputPolynomials, InputSegment, Interval, Place, Result,
    StepLengths, StepOutcome, Subsystem,
};

use crate::clocks::Clock;
use crate::divergence;
use crate::plan::Plan;
use crate::units::{StepUnit, Turn};

/// What all subsystems of a stage are stepped with. A stage names a subsystem at most once
/// ([`crate::schedule::Schedule`] makes sure).
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) interval: Interval,
    /// Number of the macro step.
    pub(crate) step: u64,
    /// Number of the stage.
    pub(crate) stage: usize,
    pub(crate) inputs: &'a InputPolynomials,
    /// The rest of the system as each subsystem sees it; empty if nobody asks.
    pub(crate) environments: &'a [EnvironmentModel],
    /// The clocks of all subsystems, if this step is timed.
    pub(crate) clocks: Option<&'a [Clock]>,
}

/// Steps the units of a stage one after the other.
#[inline(always)]
pub(crate) fn step_serial(
    job: &Job<'_>,
    turns: &[Turn],
    units: &mut [StepUnit],
    y: &mut [f64],
) -> Result<()> {
    // One net for all: a net for each would slow down small subsystems.
    let (current, by_itself) = (Cell::new(None), Cell::new(None));
    let all = catch_unwind(AssertUnwindSafe(|| {
        turns.iter().try_for_each(|turn| match &mut units[turn.unit] {
            StepUnit::Single(subsystem) => {
                current.set(Some(turn));
                step_one(job, turn.first, &mut **subsystem, &mut y[turn.outputs.clone()])
            }
            StepUnit::Batch(batch) if job.is_bare() => {
                current.set(Some(turn));
                let u = &job.inputs.coefficients(0)[turn.inputs.clone()];
                let outcome = batch.step(&job.interval, u, &mut y[turn.outputs.clone()]);
                outcome.map_err(|(member, outcome)| job.stopped(turn.first + member, outcome))
            }
            StepUnit::Batch(batch) => {
                current.set(Some(turn));
                step_members(job, turn.first, &mut **batch, y, &by_itself)
            }
        })
    }));
    all.unwrap_or_else(|payload| {
        let current = current.get().map_or(0, |turn: &Turn| {
            turn.first + by_itself.get().unwrap_or_else(|| units[turn.unit].at_work())
        });
        Err(panicked(job, current, payload))
    })
}

/// Steps the members of a batch one by one, and shows which one it is at.
#[inline(never)]
fn step_members(
    job: &Job<'_>,
    first: usize,
    batch: &mut dyn Batch,
    y: &mut [f64],
    at: &Cell<Option<usize>>,
) -> Result<()> {
    for member in 0..batch.members() {
        at.set(Some(member));
        let i = first + member;
        step_one(job, i, batch.member_mut(member), &mut y[job.plan.layout.output_range(i)])?;
    }
    at.set(None);
    Ok(())
}

/// Steps a subsystem; its panics become errors, on one thread as on many. A subsystem that has panicked is not asked
/// for anything any more, not even for its name.
pub(crate) fn step_caught(
    job: &Job<'_>,
    i: usize,
    subsystem: &mut dyn Subsystem,
    y: &mut [f64],
) -> Result<()> {
    match catch_unwind(AssertUnwindSafe(|| step_one(job, i, subsystem, y))) {
        Ok(outcome) => outcome,
        Err(payload) => Err(panicked(job, i, payload)),
    }
}

#[inline(always)]
fn step_one(job: &Job<'_>, i: usize, subsystem: &mut dyn Subsystem, y: &mut [f64]) -> Result<()> {
    let outcome = if job.is_bare() {
        subsystem.step(job.interval, job.segment(i), y)
    } else {
        step_with_more(job, i, subsystem, y)
    };
    job.judge(i, outcome)
}

/// A step that is timed, or beside a model of the rest. Out of line, so that plain ones stay short.
#[inline(never)]
fn step_with_more(
    job: &Job<'_>,
    i: usize,
    subsystem: &mut dyn Subsystem,
    y: &mut [f64],
) -> Result<StepOutcome> {
    let mut step = || match job.environments.get(i) {
        Some(environment) if environment.is_active() => {
            subsystem.demand_environment()?.step_with(job.interval, job.segment(i), environment, y)
        }
        _ => subsystem.step(job.interval, job.segment(i), y),
    };
    match job.clocks {
        None => step(),
        Some(clocks) => clocks[i].time(step),
    }
}

#[cold]
fn not_reached(job: &Job<'_>, i: usize, reached: f64) -> Error {
    let name = &job.plan.descriptions[i].name;
    let Interval { start, end, .. } = job.interval;
    let (missed, side) = ((reached - end).abs(), if reached > end { "too far" } else { "short" });
    let message = format!("`{name}` says it is at t = {reached} s after the step from {start} s to {end} s");
    let error = Error::new(Code::TimeNotReached, message).because(format!("that is {missed:.3e} s {side}"));
    job.place(
        i,
        match job.plan.descriptions[i].step_lengths {
            StepLengths::MultiplesOf(own) => {
                let (own, flag) = (format_time(own), exact_time(own));
                error.hint(format!(
                    "it takes inner steps of {own}: choose a macro step that is a multiple, `--step {flag}`"
                ))
            }
            _ => error,
        },
    )
}

#[cold]
fn panicked(job: &Job<'_>, i: usize, payload: Box<dyn Any + Send>) -> Error {
    let text = payload.downcast_ref::<&str>().copied();
    let text =
        text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown").to_owned();
    // A payload of an unknown type may panic again when it is dropped.
    std::mem::forget(payload);
    let error = Error::new(Code::Bug, format!("`{}` panicked", job.plan.descriptions[i].name)).because(text);
    job.place(i, error)
}

impl Job<'_> {
    /// Whether steps are neither timed nor beside a model of the rest.
    #[inline(always)]
    fn is_bare(&self) -> bool {
        self.clocks.is_none() && self.environments.is_empty()
    }

    /// Whether a step has come to its end.
    #[inline(always)]
    fn judge(&self, i: usize, outcome: Result<StepOutcome>) -> Result<()> {
        match outcome {
            Ok(outcome) if outcome.reached == self.interval.end => Ok(()),
            other => Err(self.stopped(i, other)),
        }
    }

    /// The error of a step that has not come to its end.
    #[cold]
    #[inline(never)]
    fn stopped(&self, i: usize, outcome: Result<StepOutcome>) -> Error {
        match outcome {
            Ok(outcome) => not_reached(self, i, outcome.reached),
            Err(error) => self.failed(i, error),
        }
    }

    /// The subsystems of the stage.
    #[inline(always)]
    pub(crate) fn subsystems(&self) -> &[usize] {
        &self.plan.schedule.stages[self.stage]
    }

    #[inline(always)]
    fn segment(&self, i: usize) -> InputSegment<'_> {
        self.inputs.at(self.plan.segments[i])
    }

    #[cold]
    fn failed(&self, i: usize, error: Error) -> Error {
        let first = self.plan.layout.input_range(i).start;
        let coupled = (&self.plan.coupling, first);
        let description = &self.plan.descriptions[i];
        self.place(i, divergence::blame(error, description, self.segment(i), coupled, self.interval.length))
    }

    #[cold]
    fn place(&self, i: usize, error: Error) -> Error {
        let subsystem = Some(self.plan.descriptions[i].name.clone());
        error.at(Place::Run { subsystem, signal: None, time: self.interval.start, step: self.step })
    }
}
