//! A whole run: macro steps until the end, with everything that watches them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use costep_core::quantity::format_limit;
use costep_core::{Code, Error, Place, Result};

use crate::engine::Engine;

/// What an observer says after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// End the run here; what has been computed counts.
    Stop,
}

/// Something that looks at every accepted communication point, the first (k = 0) included: recorders,
/// progress bars, checkpoints, limits. Written once, usable with every method.
pub trait Observer {
    /// Called after each accepted step.
    fn observe(&mut self, engine: &Engine) -> Result<Flow>;
}

impl<F: FnMut(&Engine) -> Result<Flow>> Observer for F {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        self(engine)
    }
}

impl Engine {
    /// Runs to the end of the experiment, or until an observer stops it. A resumed engine goes on from where
    /// it is, without showing that point again.
    pub fn run(&mut self, observers: &mut [&mut dyn Observer]) -> Result<()> {
        self.run_with(|engine| engine.show(observers))
    }

    /// The same with one observer, which becomes part of the loop: where steps are short, this is felt.
    #[inline]
    pub fn run_with(&mut self, mut look: impl FnMut(&Self) -> Result<Flow>) -> Result<()> {
        let mut is_new = !self.resumed();
        loop {
            // The only call, so that the compiler puts it here.
            if is_new && look(self)? == Flow::Stop || self.is_over() {
                return Ok(());
            }
            self.step()?;
            is_new = true;
        }
    }

    fn show(&self, observers: &mut [&mut dyn Observer]) -> Result<Flow> {
        let mut flow = Flow::Continue;
        for observer in observers {
            if observer.observe(self)? == Flow::Stop {
                flow = Flow::Stop;
            }
        }
        Ok(flow)
    }
}

/// Ends the run with an error when a flag is raised, as by Ctrl-C.
pub struct StopFlag<'a>(pub &'a AtomicBool);

impl Observer for StopFlag<'_> {
    #[inline]
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        if self.0.load(Ordering::Relaxed) {
            return Err(here(engine, Error::new(Code::Stopped, "stopped by the user")));
        }
        Ok(Flow::Continue)
    }
}

/// Steps between two looks at the clock, at most, and how long they may take: a look takes as long as a small step.
const MOST_STEPS_UNSEEN: u32 = 64;
const LONGEST_UNSEEN: Duration = Duration::from_millis(1);

/// Ends the run with an error after some wall time.
pub struct TimeLimit {
    limit: Duration,
    start: Instant,
    /// Wall time at the last look at the clock, steps between two looks, and steps to the next one.
    last_look: Duration,
    stride: u32,
    left: u32,
}

impl TimeLimit {
    /// A limit that counts from now.
    pub fn new(limit: Duration) -> Self {
        Self { limit, start: Instant::now(), last_look: Duration::ZERO, stride: 1, left: 1 }
    }

    #[inline(never)]
    fn look_at_clock(&mut self, engine: &Engine) -> Result<()> {
        let elapsed = self.start.elapsed();
        let is_short = elapsed.saturating_sub(self.last_look) < LONGEST_UNSEEN / 2;
        self.stride = if is_short { (2 * self.stride).min(MOST_STEPS_UNSEEN) } else { 1 };
        (self.left, self.last_look) = (self.stride, elapsed);
        if elapsed > self.limit {
            let message = format!("the time limit of {} was reached", format_limit(self.limit));
            return Err(here(engine, Error::new(Code::TimeLimit, message)));
        }
        Ok(())
    }
}

impl Observer for TimeLimit {
    #[inline]
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        self.left -= 1;
        if self.left == 0 {
            self.look_at_clock(engine)?;
        }
        Ok(Flow::Continue)
    }
}

fn here(engine: &Engine, error: Error) -> Error {
    error.at(Place::Run { subsystem: None, signal: None, time: engine.time(), step: engine.k() })
}
