//! Richardson: every step is tried as a whole and then done in two halves, which are kept. The difference
//! at the end is the error of the whole step less that of the halves.
//!
//! ```text
//! order n of the method     whole: c H^(n+1), halves: c H^(n+1) / 2^n;  error of the halves = |y_HH - y_H| / (2^n - 1)
//! error                     that, as a share of H v: what the output moves by in that time at its greatest speed v so far
//! ```
//!
//! The share of the speed, not of the range: errors of steps add up over the time that the system remembers
//! them, which is about as long as its signals take to cross their range.

use costep_core::{
    AfterStep, Code, Error, Experiment, Interval, Result, Signals, StateReader, StateWriter, StepContext,
    Verdict,
};

use super::pacing::{Pacing, StepError};
use super::{ControlEntry, ControlSpec};
use crate::step_control::{ControlView, StepControl, StepCounts};

pub(super) const ENTRY: ControlEntry = ControlEntry {
    id: "richardson",
    summary: "Every step is tried as a whole, then done in two halves: the difference of the outputs is the error.",
    needs: "rollback of all subsystems",
    cost: "1.5",
    build: |spec, experiment, _| Box::new(Richardson::new(spec, experiment)),
};

/// Part of the nominal value that an output moves by at least in a run.
const OF_NOMINAL: f64 = 0.1;

/// Which of the three steps comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Whole,
    FirstHalf,
    SecondHalf,
}

struct Richardson {
    pacing: Pacing,
    tolerance: f64,
    phase: Phase,
    whole: Interval,
    /// Order of the method.
    order: i32,
    /// Outputs at the start of the whole step, and at its end.
    start: Vec<f64>,
    end: Vec<f64>,
    /// Greatest speed of each output so far, and with the step that is being tried.
    speeds: Vec<f64>,
    new_speeds: Vec<f64>,
}

impl Richardson {
    fn new(spec: &ControlSpec, experiment: &Experiment) -> Self {
        Self {
            pacing: Pacing::new(spec, experiment),
            tolerance: spec.tolerance,
            phase: Phase::Whole,
            whole: Interval::new(experiment.start, experiment.start),
            order: 1,
            start: Vec::new(),
            end: Vec::new(),
            speeds: Vec::new(),
            new_speeds: Vec::new(),
        }
    }

    fn half(&self, number: usize) -> Interval {
        let Interval { start, end, length } = self.whole;
        let middle = start + 0.5 * length;
        let (start, end) = if number == 0 { (start, middle) } else { (middle, end) };
        Interval { start, end, length: 0.5 * length }
    }

    fn compare(&mut self, y: &[f64]) -> StepError {
        let whole = self.whole.length;
        let mut size = 0.0f64;
        for (i, y) in y.iter().enumerate() {
            self.new_speeds[i] = self.speeds[i].max((y - self.start[i]).abs() / whole);
            let error = (y - self.end[i]).abs() / f64::from(2i32.pow(self.order as u32) - 1);
            if error > 0.0 {
                size = size.max(error / (whole * self.new_speeds[i] * self.tolerance));
            }
        }
        StepError { size, order: f64::from(self.order.max(1)) }
    }
}

impl StepControl for Richardson {
    fn prepare(&mut self, system: &ControlView<'_>) -> Result<()> {
        if let Some(description) = system.without_rollback {
            let message =
                format!("`richardson` tries steps and goes back, which `{}` cannot", description.name);
            return Err(Error::new(Code::ControlNeeds, message).hint("use `control = \"defect\"`"));
        }
        self.pacing.prepare(system)?;
        let orders = system.inputs.iter().flatten().map(|input| input.order + 1);
        self.order = orders.min().unwrap_or(1).min(8) as i32;
        let run = system.experiment.stop - system.experiment.start;
        let ports = system.descriptions.iter().flat_map(|description| &description.outputs);
        let least = |nominal: Option<f64>| nominal.map_or(0.0, |nominal| OF_NOMINAL * nominal.abs() / run);
        self.speeds = ports.map(|port| least(port.nominal)).collect();
        self.new_speeds = self.speeds.clone();
        (self.start, self.end) = (vec![0.0; self.speeds.len()], vec![0.0; self.speeds.len()]);
        Ok(())
    }

    fn next_step(&self, _k: u64) -> Interval {
        match self.phase {
            Phase::Whole => self.pacing.next_step(),
            Phase::FirstHalf => self.half(0),
            Phase::SecondHalf => self.half(1),
        }
    }

    fn is_over(&self, _k: u64) -> bool {
        self.phase == Phase::Whole && self.pacing.is_over()
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()> {
        if self.phase == Phase::Whole && shorter == 0.5 * step.h {
            // Its own: the whole step has served its purpose.
            (self.whole, self.phase) = (step.interval(), Phase::FirstHalf);
            return Ok(());
        }
        self.phase = Phase::Whole;
        self.pacing.rejected(step, shorter)
    }

    fn accepted(&mut self, step: &StepContext) {
        match self.phase {
            Phase::FirstHalf => {
                self.phase = Phase::SecondHalf;
                self.pacing.pass(step);
            }
            _ => {
                self.phase = Phase::Whole;
                self.speeds.copy_from_slice(&self.new_speeds);
                self.pacing.accepted(step);
            }
        }
    }

    fn after_step(&self) -> AfterStep {
        AfterStep::Judge
    }

    fn judge(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        Ok(match self.phase {
            Phase::Whole => {
                self.start.copy_from_slice(signals.y);
                self.end.copy_from_slice(signals.y_next);
                Verdict::Reject { shorter: 0.5 * step.h }
            }
            Phase::FirstHalf => Verdict::Accept,
            Phase::SecondHalf => {
                let error = self.compare(signals.y_next);
                let whole = StepContext { h: self.whole.length, ..*step };
                match self.pacing.judge(&whole, error, true) {
                    Some(shorter) if 0.5 * shorter < step.h && 0.5 * shorter >= self.pacing.min() => {
                        Verdict::Reject { shorter: 0.5 * shorter }
                    }
                    _ => Verdict::Accept,
                }
            }
        })
    }

    fn counts(&self) -> Option<StepCounts> {
        Some(self.pacing.counts())
    }

    fn save(&self, out: &mut StateWriter) {
        self.pacing.save(out);
        out.integer(self.phase as u64);
        out.reals(&[self.whole.start, self.whole.end, self.whole.length]);
        [&self.start, &self.end, &self.speeds].into_iter().for_each(|values| out.reals(values));
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.pacing.load(from)?;
        self.phase = [Phase::Whole, Phase::FirstHalf, Phase::SecondHalf][from.index(3)?];
        let mut whole = [0.0; 3];
        from.reals(&mut whole)?;
        let [start, end, length] = whole;
        self.whole = Interval { start, end, length };
        [&mut self.start, &mut self.end, &mut self.speeds]
            .into_iter()
            .try_for_each(|values| from.reals(values))
    }
}
