//! Richardson: every step is tried as a whole and then done in two halves, which are kept. The difference
//! at the end is the error of the whole step less that of the halves.
//!
//! ```text
//! order n of the method     whole: c H^(n+1), halves: c H^(n+1) / 2^n;  error of the halves = |y_HH - y_H| / (2^n - 1)
//! error                     that, as a share of H v: what the output moves by in that time at its greatest speed v so far;
//!                           of an output that follows an input at once as a share of its range so far
//! ```
//!
//! A step that does not resolve a motion is told before its first half is kept, since nothing goes back
//! beyond that: at the middle an output should be about half way between its values at the start and at the
//! end of the whole step. Where one is not it has jumped, and the place is found as closely as the shortest
//! step allows.
//!
//! Where subsystems have inner steps of a fixed length, whole steps are multiples of two of them: both tries then
//! do the same inner steps, and their difference is that of the coupling. Steps shorter than an inner
//! one would follow the error of the inner solver instead, which asks for hundreds of thousands.
//!
//! The share of the speed, not of the range: errors of steps add up over the time that the system remembers
//! them, which is about as long as its signals take to cross their range. An output that follows an input at once is read under what that
//! input lacks at the end of the step, c H^n, which is gone with the next one: as a share of H v it would fall with H^(n-1) only, and not at all
//! where inputs are held. FMUs that do not say what their outputs depend on show it by that: a difference between both tries that hardly falls with more
//! than H is no error that adds up. It is what follows an input at once, or that of inner steps, and counts as a share of the range as well. Where
//! steps are as short as may be and beyond the tolerance, a longer one is tried now and then to see that.

use costep_core::{
    AfterStep, Code, Error, Experiment, InputList, Interval, Layout, Result, Signals, StateReader,
    StateWriter, StepContext, StepLengths, Verdict,
};

use super::pacing::{Pacing, StepError};
use super::{ControlEntry, ControlSpec};
use crate::step_control::{ControlView, StepControl, StepCounts};

pub(super) const ENTRY: ControlEntry = ControlEntry {
    id: "richardson",
    summary: "Every step is tried as a whole, then done in two halves: the difference of the outputs is the error.",
    needs: "rollback of all subsystems",
    cost: "1.5",
    takes_tolerance: true,
    build: |spec, experiment, _| Box::new(Richardson::new(spec, experiment)),
};

/// Part of the nominal value that an output moves by at least in a run.
const OF_NOMINAL: f64 = 0.1;
/// How far from half way an output may be at the middle, as a share of what it moves by in a whole step at its
/// greatest speed so far: 1/2 after a jump, 1/8 where it speeds up from rest, 3/8 where it does so with t^3.
const HALF_WAY: f64 = 0.4;
/// What an output that lags still moves by after the middle at most, and by how much faster than before, as shares.
const LAGS: f64 = 0.2;
const FASTER: f64 = 1.5;
/// A step that does not resolve a motion is tried again at this share.
const SHRINKS: f64 = 0.2;
/// Differences are compared where one step is at most this share of the other; what adds up falls with this power of the length at
/// least, and so many that do not, one after the other, tell.
const SHORTER: f64 = 0.7;
const FALLS: f64 = 1.5;
const TELLING: u64 = 2;
/// After so many steps that are as short as may be and beyond the tolerance, one of so many times the length is tried.
const IN_VAIN: u64 = 8;
const LONGER: f64 = 2.0;

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
    inner: Option<f64>,
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
    /// Which outputs follow a coupled input at once; least and greatest value of each so far, and with the step that is being tried.
    is_direct: Vec<bool>,
    seen: Vec<[f64; 2]>,
    new_seen: Vec<[f64; 2]>,
    /// Which outputs have jumped in the step that is being tried, and in the one before: what jumps again and again moves.
    jumps: Vec<bool>,
    jumped: Vec<bool>,
    /// Of each output, the difference between both tries in the last step; how often it has hardly fallen with the length of steps, one after the other.
    differences: Vec<f64>,
    hardly_fell: Vec<u64>,
    /// Length of the last step that was compared.
    compared: f64,
    /// Steps in vain so far, since the last try of a longer one.
    in_vain: u64,
    /// The whole step has just been tried to the end.
    is_tried: bool,
}

impl Richardson {
    fn new(spec: &ControlSpec, experiment: &Experiment) -> Self {
        Self {
            pacing: Pacing::new(spec, experiment),
            tolerance: spec.tolerance,
            inner: spec.inner,
            phase: Phase::Whole,
            whole: Interval::new(experiment.start, experiment.start),
            order: 1,
            start: Vec::new(),
            end: Vec::new(),
            speeds: Vec::new(),
            new_speeds: Vec::new(),
            is_direct: Vec::new(),
            seen: Vec::new(),
            new_seen: Vec::new(),
            jumps: Vec::new(),
            jumped: Vec::new(),
            differences: Vec::new(),
            hardly_fell: Vec::new(),
            compared: 0.0,
            in_vain: 0,
            is_tried: false,
        }
    }

    /// Whether the whole step resolves how outputs move, by what the first half shows of its middle.
    fn is_resolved(&mut self, middle: &[f64]) -> bool {
        for (i, y) in middle.iter().enumerate() {
            let moved = (self.end[i] - self.start[i]).abs().max(self.whole.length * self.speeds[i]);
            let beside = (y - 0.5 * (self.start[i] + self.end[i])).abs();
            self.jumps[i] = beside > HALF_WAY * moved && !self.lags(i, *y);
        }
        !self.jumps.contains(&true)
    }

    /// Whether an output shows what was before the step, as one does that follows a held input at once: it has moved by the middle of the
    /// step as far as by its end, and no faster than before.
    fn lags(&self, i: usize, middle: f64) -> bool {
        let travelled = (self.end[i] - self.start[i]).abs();
        (middle - self.end[i]).abs() <= LAGS * travelled
            && travelled <= FASTER * self.whole.length * self.speeds[i]
    }

    fn half(&self, number: usize) -> Interval {
        let Interval { start, end, length } = self.whole;
        let middle = start + 0.5 * length;
        let (start, end) = if number == 0 { (start, middle) } else { (middle, end) };
        Interval { start, end, length: 0.5 * length }
    }

    /// Looks at how the difference of an output falls between steps of different lengths, if it is beyond the tolerance.
    fn look_at_fall(&mut self, i: usize, difference: f64, is_beyond: bool) {
        let before = std::mem::replace(&mut self.differences[i], difference);
        if self.compared == 0.0 {
            return;
        }
        let ratio = self.whole.length / self.compared;
        let (short, long, share) =
            if ratio < 1.0 { (difference, before, ratio) } else { (before, difference, 1.0 / ratio) };
        if self.jumps[i] || share.is_nan() || share > SHORTER {
            return;
        }
        let falls = short < long * share.powf(FALLS);
        self.hardly_fell[i] = if falls || !is_beyond { 0 } else { (self.hardly_fell[i] + 1).min(TELLING) };
        self.is_direct[i] |= self.hardly_fell[i] == TELLING;
    }

    fn compare(&mut self, y: &[f64]) -> StepError {
        let whole = self.whole.length;
        let mut size = 0.0f64;
        for (i, y) in y.iter().enumerate() {
            let speed = self.speeds[i].max((y - self.start[i]).abs() / whole);
            let error = (y - self.end[i]).abs() / f64::from(2i32.pow(self.order as u32) - 1);
            let [low, high] = self.seen[i];
            let seen = [low.min(self.start[i]).min(*y), high.max(self.start[i]).max(*y)];
            self.look_at_fall(i, error, error > whole * speed * self.tolerance);
            let by = if self.is_direct[i] { (whole * speed).max(seen[1] - seen[0]) } else { whole * speed };
            if error > 0.0 {
                size = size.max(error / (by * self.tolerance));
            }
            self.new_seen[i] = seen;
            // The height of a jump by the length of a step is no speed.
            self.new_speeds[i] = if self.jumps[i] && !self.jumped[i] { self.speeds[i] } else { speed };
        }
        self.compared = whole;
        StepError { size, order: f64::from(self.order.max(1)) }
    }
}

impl StepControl for Richardson {
    fn prepare(&mut self, system: &ControlView<'_>) -> Result<()> {
        if let Some(description) = system.without_rollback {
            let message =
                format!("`richardson` tries steps and goes back, which `{}` cannot", description.name);
            let can_vary =
                system.descriptions.iter().all(|part| part.step_lengths != StepLengths::MacroSteps);
            return Err(Error::new(Code::ControlNeeds, message).hint(match can_vary {
                true => "use `control = \"defect\"`",
                false => "use fixed steps: leave out `control` and `tolerance`",
            }));
        }
        self.pacing.prepare(system)?;
        self.pacing.halve(self.inner);
        let orders = system.inputs.iter().flatten().map(|input| input.order + 1);
        self.order = orders.min().unwrap_or(1).min(8) as i32;
        let run = system.experiment.stop - system.experiment.start;
        let ports = system.descriptions.iter().flat_map(|description| &description.outputs);
        let least = |nominal: Option<f64>| nominal.map_or(0.0, |nominal| OF_NOMINAL * nominal.abs() / run);
        self.speeds = ports.map(|port| least(port.nominal)).collect();
        self.new_speeds = self.speeds.clone();
        let layout = Layout::of(system.descriptions);
        let is_direct = |(i, list): (usize, &InputList)| {
            let owner = layout.output_owner(i);
            let first = layout.input_range(owner).start;
            !system.descriptions[owner].assumes_feedthrough
                && list.iter().any(|j| system.inputs[first + j].is_some())
        };
        let lists = system.descriptions.iter().flat_map(|description| &description.feedthrough);
        self.is_direct = lists.enumerate().map(is_direct).collect();
        // What adds up has to be seen somewhere: if no output that an input moves shows a state, all count as states. Some
        // FMUs declare dependencies of states on inputs as direct ones.
        let is_moved =
            |i: &usize| layout.input_range(layout.output_owner(*i)).any(|j| system.inputs[j].is_some());
        if (0..self.is_direct.len()).filter(is_moved).all(|i| self.is_direct[i]) {
            self.is_direct.fill(false);
        }
        self.seen = vec![[f64::INFINITY, f64::NEG_INFINITY]; self.speeds.len()];
        self.new_seen = self.seen.clone();
        (self.start, self.end) = (vec![0.0; self.speeds.len()], vec![0.0; self.speeds.len()]);
        (self.jumps, self.jumped) = (vec![false; self.speeds.len()], vec![false; self.speeds.len()]);
        (self.differences, self.hardly_fell) = (vec![0.0; self.speeds.len()], vec![0; self.speeds.len()]);
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
        if std::mem::take(&mut self.is_tried) {
            // The whole step has served its purpose.
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
                self.seen.copy_from_slice(&self.new_seen);
                self.jumped.copy_from_slice(&self.jumps);
                let before = self.pacing.counts().missed;
                self.pacing.accepted(step);
                self.in_vain = if self.pacing.counts().missed > before { self.in_vain + 1 } else { 0 };
                if self.in_vain == IN_VAIN {
                    self.in_vain = 0;
                    self.pacing.lengthen(LONGER);
                }
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
                self.is_tried = true;
                Verdict::Reject { shorter: 0.5 * step.h }
            }
            Phase::FirstHalf => {
                let shorter = (SHRINKS * self.whole.length).max(self.pacing.min());
                match !self.is_resolved(signals.y_next) && shorter < step.h {
                    true => Verdict::Reject { shorter },
                    false => Verdict::Accept,
                }
            }
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
        self.seen.iter().for_each(|seen| out.reals(seen));
        self.jumps.iter().chain(&self.jumped).for_each(|jumps| out.integer(u64::from(*jumps)));
        out.reals(&self.differences);
        out.real(self.compared);
        out.integer(self.in_vain);
        self.hardly_fell.iter().for_each(|fell| out.integer(*fell));
        self.is_direct.iter().for_each(|direct| out.integer(u64::from(*direct)));
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
            .try_for_each(|values| from.reals(values))?;
        self.seen.iter_mut().try_for_each(|seen| from.reals(seen))?;
        self.jumps.iter_mut().chain(&mut self.jumped).try_for_each(|jumps| {
            *jumps = from.index(2)? == 1;
            Ok(())
        })?;
        from.reals(&mut self.differences)?;
        self.compared = from.real()?;
        self.in_vain = from.integer()?;
        for fell in &mut self.hardly_fell {
            *fell = from.integer()?.min(TELLING);
        }
        for direct in &mut self.is_direct {
            *direct = from.index(2)? == 1;
        }
        Ok(())
    }
}
