//! Methods that learn themselves during the run: a run of the parts as they are teaches them, and with what they then know, and
//! keep as it is, a macro step is a linear map like any other.

use costep_core::quantity::format_time;
use costep_core::{Code, Error, Experiment, Result};
use costep_engine::Engine;

use super::{StabilityPoint, no_linear_map, steps_before};
use crate::assemble::{self, Steps};
use crate::system::System;

/// Macro steps of the run that teaches, unless it ends before or a time is given.
const LESSONS: u64 = 1000;
/// At rest there is only round-off to be learnt: no output has changed by more than this share of its range in so many steps.
const AT_REST: (f64, u32) = (1e-6, 5);

/// The run in which a method has learnt what is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learnt {
    /// Its macro steps.
    pub steps: u64,
    /// Where it ended, in s.
    pub until: f64,
    /// Whether the method still did its steps in parts there, for want of models of whole ones.
    pub in_parts: bool,
}

impl Learnt {
    /// In a sentence.
    pub fn text(&self) -> String {
        let parts = if self.in_parts { "; it still does its steps in parts there" } else { "" };
        // Without the round-off of a sum of steps.
        let until = format!("{:.6e}", self.until).parse().unwrap_or(self.until);
        format!(
            "with the models that the method has learnt by t = {} of a run, kept as they are{parts}: learning, and the limits that the \
             method sets to inputs, are not judged",
            format_time(until)
        )
    }
}

/// Gives the methods of an engine what they learn in a run of the system up to the point.
pub(super) fn teach(
    system: &System,
    point: &StabilityPoint<'_>,
    engine: &mut Engine,
    progress: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Learnt> {
    let project = &*system.project;
    let (start, end, step) = (project.model.experiment.start, project.model.experiment.stop, point.step);
    let of_run = ((end - start) / step).floor() as u64;
    let steps = if point.at.is_some() { steps_before(project, point.at, step) } else { of_run.min(LESSONS) };
    let stop = end.max(start + (steps + 1) as f64 * step);
    let experiment = Experiment { start, stop, step }.with_equal_steps();
    let mut teacher =
        assemble::engine_over(project, point.method, (experiment, Steps::Equal), false, |models| models)?;
    let (mut in_parts, mut motion) = (false, Motion::of(&teacher));
    for k in 0..steps {
        if k % 64 == 0 {
            progress(0.0)?;
        }
        let before = teacher.divided_steps().0;
        teacher.step().map_err(|error| cut_short(point, error))?;
        in_parts = teacher.divided_steps().0 > before;
        if motion.is_over(teacher.outputs()) && point.at.is_none() {
            break;
        }
    }
    engine.learn_from(&teacher)?;
    Ok(Learnt { steps: teacher.k(), until: teacher.time(), in_parts })
}

/// Whether the outputs of a run still move.
struct Motion {
    last: Vec<f64>,
    ranges: Vec<(f64, f64)>,
    still: u32,
}

impl Motion {
    fn of(engine: &Engine) -> Self {
        let last = engine.outputs().to_vec();
        Self { ranges: last.iter().map(|y| (*y, *y)).collect(), last, still: 0 }
    }

    fn is_over(&mut self, outputs: &[f64]) -> bool {
        let (share, steps) = AT_REST;
        let mut moves = false;
        for ((y, last), (low, high)) in outputs.iter().zip(&mut self.last).zip(&mut self.ranges) {
            (*low, *high) = (low.min(*y), high.max(*y));
            moves |= (y - *last).abs() > share * (*high - *low);
            *last = *y;
        }
        // What has never moved waits for something.
        let has_moved = self.ranges.iter().any(|(low, high)| high > low);
        self.still = if moves || !has_moved { 0 } else { self.still + 1 };
        self.still >= steps
    }
}

/// A run that ends early has taught nothing that can be judged.
#[cold]
fn cut_short(point: &StabilityPoint<'_>, error: Error) -> Error {
    if matches!(error.code(), Code::Stopped | Code::TimeLimit) {
        return error;
    }
    let cause = format!("the run in which it learns ended early: {}", error.details().message);
    no_linear_map(point.method, &cause)
}
