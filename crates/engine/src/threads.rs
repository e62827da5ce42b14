//! One thread or several: decided by the first steps, unless the user says.

use std::time::Instant;

use costep_core::Result;

use crate::job::{Job, step_serial};
use crate::pool::Pool;
use crate::system::Threads;
use crate::units::Units;

/// Steps that are timed before `Threads::Auto` decides.
const TRIAL_STEPS: u64 = 8;
/// Stages shorter than this are not worth waking other threads for.
const WORTH_A_BARRIER_SECONDS: f64 = 20e-6;

/// How stages are stepped.
pub(crate) enum ThreadChoice {
    Serial,
    Pool(Pool),
    /// `this_step` and `shortest`: seconds in all stages of a step.
    Undecided {
        available: usize,
        steps: u64,
        this_step: f64,
        shortest: f64,
    },
}

impl ThreadChoice {
    /// Threads for stages of at most so many subsystems.
    pub(crate) fn new(threads: Threads, subsystems: usize) -> Self {
        let available = match threads {
            Threads::Auto => std::thread::available_parallelism().map_or(1, usize::from).min(subsystems),
            Threads::Fixed(count) => count.min(subsystems),
        };
        match threads {
            _ if available <= 1 => Self::Serial,
            Threads::Auto => Self::Undecided { available, steps: 0, this_step: 0.0, shortest: f64::MAX },
            Threads::Fixed(_) => Self::Pool(Pool::new(available)),
        }
    }

    pub(crate) fn is_undecided(&self) -> bool {
        matches!(self, Self::Undecided { .. })
    }

    /// Whether one thread does all.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self, Self::Serial)
    }

    /// After the trial steps: threads only where a stage is much longer than their barrier.
    pub(crate) fn decide(&mut self, stages: usize) {
        let Self::Undecided { available, steps, this_step, shortest } = self else { return };
        *steps += 1;
        // The shortest: first steps fill caches, and other programs take their share of the machine.
        *shortest = shortest.min(std::mem::take(this_step));
        if *steps >= TRIAL_STEPS {
            let (available, per_stage) = (*available, *shortest / stages as f64);
            *self = if per_stage > WORTH_A_BARRIER_SECONDS {
                Self::Pool(Pool::new(available))
            } else {
                Self::Serial
            };
        }
    }

    /// Steps the subsystems of a stage.
    #[inline(always)]
    pub(crate) fn step(&mut self, job: &Job<'_>, units: &mut Units, y: &mut [f64]) -> Result<()> {
        let (turns, units) = (&units.turns[job.stage], &mut units.all);
        match self {
            Self::Serial => step_serial(job, turns, units, y),
            Self::Pool(pool) => pool.step(job, units, y),
            Self::Undecided { this_step, .. } => {
                let start = Instant::now();
                let outcome = step_serial(job, turns, units, y);
                *this_step += start.elapsed().as_secs_f64();
                outcome
            }
        }
    }
}
