//! What is stepped: the subsystems, by their numbers, and the threads that step them.

use costep_core::{Error, MicroSamples, MicroView, Place, Result, StateReader, StateWriter, Subsystem};

use crate::job::Job;
use crate::plan::Plan;
use crate::system::Threads;
use crate::threads::ThreadChoice;
use crate::units::Units;

/// The subsystems of a system.
pub(crate) struct Plant {
    units: Units,
    pub(crate) threads: ThreadChoice,
}

impl Plant {
    /// Subsystems that are stepped one by one.
    pub(crate) fn new(subsystems: Vec<Box<dyn Subsystem>>, threads: Threads, plan: &Plan) -> Self {
        let threads = ThreadChoice::new(threads, plan.schedule.widest());
        Self { units: Units::single(subsystems, plan), threads }
    }

    pub(crate) fn len(&self) -> usize {
        self.units.subsystems()
    }

    /// Subsystem `i`.
    pub(crate) fn subsystem(&self, i: usize) -> &dyn Subsystem {
        self.units.subsystem(i)
    }

    /// Subsystem `i`.
    pub(crate) fn subsystem_mut(&mut self, i: usize) -> &mut dyn Subsystem {
        self.units.subsystem_mut(i)
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn Subsystem> {
        (0..self.len()).map(|i| self.subsystem(i))
    }

    /// Does something with each of them. The time and the number of the macro step are for errors.
    pub(crate) fn try_each(
        &mut self,
        (time, step): (f64, u64),
        mut action: impl FnMut(usize, &mut dyn Subsystem) -> Result<()>,
    ) -> Result<()> {
        (0..self.len()).try_for_each(|i| {
            let subsystem = self.subsystem_mut(i);
            action(i, &mut *subsystem).map_err(|error| place(subsystem, time, step, error))
        })
    }

    /// The inputs that the outputs of a subsystem were last read under, if these are not the ends of its polynomials.
    pub(crate) fn input_at_end(&self, i: usize) -> Option<&[f64]> {
        self.subsystem(i).telemetry()?.input_at_end()
    }

    /// Steps the subsystems of a stage.
    #[inline(always)]
    pub(crate) fn step(&mut self, job: &Job<'_>, y: &mut [f64]) -> Result<()> {
        self.threads.step(job, &mut self.units, y)
    }

    /// Notes that a macro step is over: after the first ones it is decided how many threads step the others.
    #[inline(always)]
    pub(crate) fn step_is_over(&mut self, plan: &Plan) {
        if self.threads.is_undecided() {
            self.decide_on_threads(plan);
        }
    }

    #[cold]
    fn decide_on_threads(&mut self, plan: &Plan) {
        self.threads.decide(plan.schedule.stages.len());
        self.form_batches(plan);
    }

    /// Lets neighbours be stepped together, if one thread steps all: several share subsystems out one by one.
    pub(crate) fn form_batches(&mut self, plan: &Plan) {
        if self.threads.is_one() {
            self.units = std::mem::take(&mut self.units).batched(plan);
        }
    }

    pub(crate) fn save(&self, out: &mut StateWriter) -> Result<()> {
        let save =
            |subsystem: &dyn Subsystem, out: &mut StateWriter| subsystem.demand_persistence()?.save(out);
        self.iter().try_for_each(|subsystem| save(subsystem, out)).map_err(|error| {
            let cannot = |subsystem: &&dyn Subsystem| subsystem.demand_persistence().is_err();
            // One that can, but whose state cannot be had, says why.
            match self.iter().find(|subsystem| save(*subsystem, &mut StateWriter::default()).is_err()) {
                Some(first) if cannot(&first) => all_of(self.iter().filter(cannot), error),
                _ => error,
            }
        })
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        (0..self.len()).try_for_each(|i| self.subsystem_mut(i).demand_persistence_mut()?.load(from))
    }
}

/// The error that subsystems cannot save their states, with all of their names.
#[cold]
fn all_of<'a>(cannot: impl Iterator<Item = &'a dyn Subsystem>, error: Error) -> Error {
    const NAMED: usize = 8;
    let names: Vec<String> = cannot.map(|subsystem| format!("`{}`", subsystem.description().name)).collect();
    let named = names[..names.len().min(NAMED)].join(", ");
    match names.len() {
        0 | 1 => error,
        count if count > NAMED => {
            Error::new(error.code(), format!("{named} and {} more do not support checkpoints", count - NAMED))
        }
        _ => Error::new(error.code(), format!("{named} do not support checkpoints")),
    }
}

impl MicroView for Plant {
    fn subsystems(&self) -> usize {
        self.len()
    }

    fn micro_samples(&self, subsystem: usize) -> Option<MicroSamples<'_>> {
        self.subsystem(subsystem).telemetry()?.micro_samples()
    }
}

impl Drop for Plant {
    fn drop(&mut self) {
        (0..self.len()).for_each(|i| self.subsystem_mut(i).terminate());
    }
}

/// Says in which subsystem and when.
#[cold]
pub(crate) fn place(subsystem: &dyn Subsystem, time: f64, step: u64, error: Error) -> Error {
    let subsystem = Some(subsystem.description().name.clone());
    error.at(Place::Run { subsystem, signal: None, time, step })
}
