//! How long the next step is: limits, PI control, and the times that steps have to meet.

mod rules;

use costep_core::{
    Code, Error, Experiment, External, Interval, Place, Result, StateReader, StateWriter, StepContext,
    StepLengths,
};

use super::ControlSpec;
use super::edge::Edge;
use super::ladder::Ladder;
use crate::step_control::{ControlView, StepCounts};
use rules::ON_A_RUNG;

/// Share of the longest step that the first one is, if nothing is said: the steps after it grow fast.
const FIRST: f64 = 1e-3;
/// The same holds down to this tolerance where the error is that of an input. What a held input lacks goes with the length of the step, so
/// that a first step has to be shorter where less is tolerated: who cannot go back keeps its error.
const FIRST_WITH: f64 = 1e-2;
/// By how much a step may be longer or shorter than the one before; while nothing is known yet, it may grow
/// faster.
const SHRINKS: f64 = 0.2;
const GROWS: f64 = 1.6;
const GROWS_AT_FIRST: f64 = 4.0;
/// Steps that count as the first ones.
const FIRST_STEPS: u64 = 8;
/// Gains of the PI control, as in Gustafsson 1991: by the error, and by the one before.
const INTEGRAL: f64 = 0.7;
const PROPORTIONAL: f64 = 0.4;
/// What of the last error counts in any case: errors pass through zero where signals turn.
const REMEMBERED: f64 = 0.5;
/// A rest of a step that is not worth one of its own, as a share.
const NO_REST: f64 = 1e-6;
/// After a jump of an external signal steps begin at this share; at the length of a first step where one that is too
/// long cannot be done again: lengths at rest say nothing of what follows.
const AFTER_JUMP: f64 = 0.1;
/// A step that should have been shorter than this share of itself is done again, where that is possible.
const FAR_BEYOND: f64 = 0.6;

/// An error that is still this share of itself in a step of less than half the length has another cause,
/// and so many times after the other it is given up.
const HELPS: f64 = 0.8;
const USELESS: u64 = 3;

/// So much better a long step has to be at most.
const MOST_SHARE: f64 = 3.0;

/// The error of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StepError {
    /// As a multiple of the tolerance.
    pub(super) size: f64,
    /// Its order in the length of the step.
    pub(super) order: f64,
}

impl StepError {
    pub(super) const NONE: Self = Self { size: 0.0, order: 2.0 };

    /// The one that asks for the shorter step. What is no number is an error without bound.
    pub(super) fn or(self, other: Self) -> Self {
        if other.size.is_nan() || other.ideal() < self.ideal() { other } else { self }
    }

    /// As large as makes the next step as short as it may become: what is beyond, or has no bound, is no reason to be cautious for longer.
    fn bounded(self) -> Self {
        Self { size: self.size.min(SHRINKS.powf(-self.order)), ..self }
    }

    /// How long the step should have been, as a share of its length.
    fn ideal(&self) -> f64 {
        self.size.powf(-1.0 / self.order)
    }
}

/// Steps that are too long and done again.
#[derive(Debug)]
struct Again {
    /// Whether they are.
    can_be: bool,
    /// The error of the try before.
    size: f64,
    /// Shorter steps, one after the other, that have not become better.
    useless: u64,
}

/// Where a run with steps of any length stands, and how it goes on.
#[derive(Debug)]
pub(super) struct Pacing {
    experiment: Experiment,
    min: f64,
    max: f64,
    meets: Option<f64>,
    also: Vec<f64>,
    /// Inner step that all steps are a multiple of.
    unit: Option<f64>,
    externals: Vec<External>,
    time: f64,
    /// Length that the next step should have.
    length: f64,
    /// What `length` becomes once the step that is being tried is accepted.
    wish: f64,
    /// The error of the last step that was accepted, and of the one that is being tried.
    last: StepError,
    tried: StepError,
    /// Lengths change seldom; steps to wait for before the next change.
    is_steady: bool,
    wait: u64,
    edge: Edge,
    /// Lengths are these.
    ladder: Option<Ladder>,
    again: Again,
    /// Length of the last step.
    done: f64,
    /// Length of a first step of which nothing is said.
    first: f64,
    counts: StepCounts,
}

impl Pacing {
    pub(super) fn new(spec: &ControlSpec, experiment: &Experiment) -> Self {
        Self::beginning(spec, experiment, FIRST * spec.max)
    }

    /// The same with a first step that goes by the tolerance, unless it is said.
    pub(super) fn by_inputs(spec: &ControlSpec, experiment: &Experiment) -> Self {
        Self::beginning(spec, experiment, FIRST * (spec.tolerance / FIRST_WITH).min(1.0) * spec.max)
    }

    fn beginning(spec: &ControlSpec, experiment: &Experiment, first: f64) -> Self {
        let length = spec.first.unwrap_or(first).clamp(spec.min, spec.max);
        Self {
            experiment: *experiment,
            min: spec.min,
            max: spec.max,
            meets: spec.meets,
            also: spec.also.clone(),
            unit: None,
            externals: Vec::new(),
            time: experiment.start,
            length,
            wish: length,
            last: StepError { size: 1.0, order: 2.0 },
            tried: StepError::NONE,
            is_steady: false,
            wait: 0,
            edge: Edge::UNKNOWN,
            ladder: None,
            again: Again { can_be: true, size: 0.0, useless: 0 },
            done: 0.0,
            first,
            counts: StepCounts { shortest: f64::INFINITY, ..StepCounts::default() },
        }
    }

    pub(super) fn prepare(&mut self, system: &ControlView<'_>) -> Result<()> {
        self.is_steady = system.carries_on && !system.doubles;
        let is_constant = |signal: &External| matches!(signal, External::Constant(_));
        let each = system.externals.iter().map(|(_, signal)| signal);
        self.externals = each.filter(|signal| !is_constant(signal)).cloned().collect();
        for description in system.descriptions {
            let StepLengths::MultiplesOf(inner) = description.step_lengths else { continue };
            let unit = self.unit.map_or(inner, |unit| unit.max(inner));
            let fits = |inner: f64| StepLengths::MultiplesOf(inner).allow(unit);
            if !fits(inner) || self.unit.is_some_and(|before| !fits(before)) {
                let message =
                    format!("the inner steps of `{}` and of others do not fit together", description.name);
                return Err(Error::new(Code::NeedsMissing, message)
                    .because("steps of varying length have to be multiples of all of them")
                    .hint("use fixed steps: leave out `tolerance`"));
            }
            self.unit = Some(unit);
        }
        if let Some(unit) = self.unit {
            (self.min, self.max) = (self.min.max(unit), self.max.max(unit));
        }
        if system.doubles {
            self.set_up_ladder();
        }
        Ok(())
    }

    fn set_up_ladder(&mut self) {
        let ladder = Ladder::new(self.max, self.unit, self.meets);
        (self.min, self.max) = (ladder.at_least(self.min), ladder.top);
        self.length = ladder.at_most(self.length).max(self.min);
        self.wish = self.length;
        self.ladder = Some(ladder);
    }

    /// Lengths whose halves are multiples of inner steps too: of those that subsystems insist on, else of this one.
    pub(super) fn halve(&mut self, inner: Option<f64>) {
        self.unit = self.unit.or(inner.filter(|inner| 2.0 * inner <= self.max)).map(|unit| 2.0 * unit);
        if let Some(unit) = self.unit {
            (self.min, self.max) = (self.min.max(unit), self.max.max(unit));
        }
        if self.ladder.is_some() {
            self.set_up_ladder();
        }
    }

    /// The step that follows: as long as wished for, within its limits, and not beyond a time that has to
    /// be met.
    pub(super) fn next_step(&self) -> Interval {
        let goal = self.goal();
        let left = goal - self.time;
        let wished = self.length.clamp(self.min, self.max);
        let length = match left / wished {
            // Far away; not so far that a rest would be left; near.
            steps if steps >= 2.0 => wished,
            steps if steps > 1.0 + NO_REST => self.shared(wished, left),
            _ => left,
        };
        // The first step is what a method on a ladder measures all others by.
        let length = match self.counts.steps {
            0 => self.quantised(length).min(left),
            _ => length,
        };
        if let Some(unit) = self.unit {
            let length = unit * (length / unit).round().max(1.0);
            return self.ended(length, goal);
        }
        self.ended(length, goal)
    }

    /// One of the steps that are to share what is left: half of it, or one of the lengths that are wanted, if that meets the time too.
    fn shared(&self, wished: f64, left: f64) -> f64 {
        let fits = |length: &f64| {
            let steps = left / length;
            (steps - steps.round()).abs() <= NO_REST
        };
        let shorter = [0.5 * wished, 0.25 * wished];
        let met =
            shorter.into_iter().find(|length| self.ladder.is_some() && *length >= self.min && fits(length));
        met.unwrap_or(0.5 * left)
    }

    fn ended(&self, length: f64, goal: f64) -> Interval {
        let end = self.time + length;
        match (end - goal).abs() <= NO_REST * length {
            true => Interval::new(self.time, goal),
            false => Interval { start: self.time, end, length },
        }
    }

    /// The next time that a step has to end at.
    fn goal(&self) -> f64 {
        let stop = match self.time < self.experiment.stop {
            true => self.experiment.stop,
            // Asked for at the end of a run, and never done.
            false => self.time + self.max,
        };
        let corners = self.externals.iter().filter_map(|signal| signal.next_corner(self.time));
        let outputs = self.meets.map(|every| {
            let passed = ((self.time - self.experiment.start) / every * (1.0 + 1e-12) + 1e-9).floor();
            self.experiment.start + (passed + 1.0) * every
        });
        let listed = self.also.get(self.also.partition_point(|time| *time <= self.time)).copied();
        corners.chain(outputs).chain(listed).fold(stop, f64::min)
    }

    pub(super) fn is_over(&self) -> bool {
        self.time >= self.experiment.stop
    }

    /// Takes the error of a step that was tried. Gives the length of the step to do in its place, if it is
    /// far too large.
    pub(super) fn judge(&mut self, step: &StepContext, error: StepError, can_reject: bool) -> Option<f64> {
        let size = if error.size.is_nan() { f64::INFINITY } else { error.size * self.share_of_squares(step) };
        let error = StepError { size, ..error };
        self.again.can_be = can_reject;
        if self.is_steady {
            return self.change_seldom(step, error, can_reject);
        }
        if self.ladder.is_some() {
            return self.climb(step, error, can_reject);
        }
        let is_first = self.counts.steps < FIRST_STEPS;
        let remembered = if is_first { 0.0 } else { REMEMBERED * self.last.size };
        self.tried = StepError { size: size.max(remembered), ..error };
        let most = if is_first { GROWS_AT_FIRST } else { GROWS };
        let now = self.tried.size.max(1e-12).powf(-INTEGRAL / error.order);
        let before = self.last.size.max(1e-12).powf(PROPORTIONAL / error.order);
        // At first there is no error before that would say anything.
        let factor = if is_first { self.tried.ideal() } else { now * before };
        // Where the last two shorter steps have not helped, an error is not theirs: inner steps, noise.
        let least = if self.again.useless >= USELESS { 1.0 } else { SHRINKS };
        let wish = step.h * factor.clamp(least, most);
        // A step that was cut for a time to be met says little about longer ones, but may ask for shorter
        // ones.
        let wish = if self.is_cut(step) { wish.max(self.length.min(step.h * most)) } else { wish };
        self.wish = if size <= 1.0 { wish.max(step.h) } else { wish.min(step.h) };
        let (ideal, shorter) = (error.ideal(), step.h * error.ideal().max(SHRINKS));
        // A jump is as large in a shorter step.
        let helps = step.repetition == 0 || size < HELPS * self.again.size;
        self.again.size = size;
        (can_reject && helps && ideal < FAR_BEYOND && shorter > self.min).then_some(shorter)
    }

    fn is_shortest(&self, step: &StepContext) -> bool {
        step.h <= self.min * (1.0 + NO_REST)
    }

    /// Wishes for a next step of this length, if the one that was tried is accepted: for controls with rules
    /// of their own.
    pub(super) fn wish_for(&mut self, step: &StepContext, length: f64) {
        self.wish = if self.is_cut(step) { length.max(self.length) } else { length };
        self.tried = StepError { size: 1.0, ..self.last };
    }

    /// What a mean square over time is made of is the square of an error times the length of its step.
    /// Fewest steps are needed if all contribute the same: a step that is longer than the mean so far has
    /// to be better.
    fn share_of_squares(&self, step: &StepContext) -> f64 {
        if self.counts.steps == 0 {
            return 1.0;
        }
        let mean = (self.time - self.experiment.start) / self.counts.steps as f64;
        (step.h / mean).sqrt().clamp(0.5, MOST_SHARE)
    }

    /// Whether a step was shorter than wished for.
    fn is_cut(&self, step: &StepContext) -> bool {
        step.h < 0.9 * self.length
    }

    /// The length itself, or the next shorter one of the ladder.
    fn quantised(&self, length: f64) -> f64 {
        self.ladder.map_or(length, |ladder| ladder.at_most(length).max(self.min))
    }

    /// The step that was tried is too long.
    pub(super) fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()> {
        self.counts.rejected += 1;
        if shorter < self.min * (1.0 - NO_REST) {
            let message =
                format!("a step of {shorter:e} s is asked for, and the shortest is {:e} s", self.min);
            let place = Place::Run { subsystem: None, signal: None, time: step.t, step: step.k };
            return Err(Error::new(Code::ShortestStep, message).at(place));
        }
        self.length = self.quantised(shorter);
        if self.ladder.is_some() {
            self.wait = ON_A_RUNG;
        } else if self.is_steady {
            self.wait = (self.done / self.length).ceil().max(1.0) as u64;
        }
        Ok(())
    }

    /// A part of a step came to its end.
    pub(super) fn pass(&mut self, part: &StepContext) {
        self.time = part.t_next;
        self.count(part);
    }

    fn count(&mut self, step: &StepContext) {
        let counts = &mut self.counts;
        counts.steps += 1;
        counts.shortest = counts.shortest.min(step.h);
        counts.longest = counts.longest.max(step.h);
    }

    /// A step came to its end.
    pub(super) fn accepted(&mut self, step: &StepContext) {
        self.time = step.t_next;
        self.count(step);
        let is_shorter = step.h < 0.7 * self.done;
        let is_no_better = self.tried.size > 1.0 && self.tried.size > HELPS * self.last.size;
        self.again.useless = match (is_no_better, is_shorter) {
            (false, _) => 0,
            (true, true) => self.again.useless + 1,
            (true, false) => self.again.useless,
        };
        self.done = step.h;
        self.counts.missed += u64::from(self.is_shortest(step) && self.tried.ideal() < FAR_BEYOND);
        self.last = self.tried.bounded();
        let before = self.length;
        self.length = self.quantised(self.wish.clamp(self.min, self.max));
        self.wait = self.wait.saturating_sub(1);
        if self.is_steady && self.length != before {
            // Steps that make up for what one of the old length lacked.
            self.wait = (before / self.length).ceil().max(1.0) as u64;
            self.last.size *= (self.length / before).powf(self.last.order);
        }
        if self.ladder.is_some() && self.length != before {
            self.wait = if self.counts.steps < FIRST_STEPS { 0 } else { ON_A_RUNG };
            self.last.size *= (self.length / before).powf(self.last.order);
        }
        if self.has_jumped() {
            let most = if self.again.can_be { f64::INFINITY } else { self.first };
            self.length = self.quantised((AFTER_JUMP * self.length).min(most).max(self.min));
            // What was before says nothing; to PI control 1 is no error before.
            self.last.size = if self.is_steady { 0.0 } else { 1.0 };
            self.edge = Edge::UNKNOWN;
        }
    }

    /// Whether an external signal jumps at this time.
    fn has_jumped(&self) -> bool {
        let t = self.time;
        let jumps = |signal: &External| {
            let (before, after) = (signal.value_before(t), signal.value_after(t));
            (before - after).abs() > 1e-9 * before.abs().max(after.abs())
        };
        self.externals.iter().any(jumps)
    }

    /// The shortest step.
    pub(super) fn min(&self) -> f64 {
        self.min
    }

    /// How much of the run is done.
    pub(super) fn progress(&self) -> f64 {
        let Experiment { start, stop, .. } = self.experiment;
        (self.time - start) / (stop - start).max(f64::MIN_POSITIVE)
    }

    /// Makes the next step so many times as long.
    pub(super) fn lengthen(&mut self, factor: f64) {
        self.length = self.quantised((factor * self.length).clamp(self.min, self.max));
    }

    /// A length as a share of the run.
    pub(super) fn share(&self, length: f64) -> f64 {
        length / (self.experiment.stop - self.experiment.start).max(f64::MIN_POSITIVE)
    }

    pub(super) fn counts(&self) -> StepCounts {
        self.counts
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        let StepCounts { steps, rejected, missed, shortest, longest } = self.counts;
        [steps, rejected, missed, self.wait, self.again.useless]
            .into_iter()
            .for_each(|count| out.integer(count));
        out.reals(&[shortest, longest, self.time, self.length, self.done, self.last.size, self.last.order]);
        self.edge.save(out);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let counts = [from.integer()?, from.integer()?, from.integer()?];
        (self.wait, self.again.useless) = (from.integer()?, from.integer()?);
        let mut values = [0.0; 7];
        from.reals(&mut values)?;
        let [shortest, longest, time, length, done, size, order] = values;
        self.counts =
            StepCounts { steps: counts[0], rejected: counts[1], missed: counts[2], shortest, longest };
        let Experiment { start, stop, .. } = self.experiment;
        let is_sound = (start..=stop.max(start)).contains(&time) && length > 0.0 && length.is_finite();
        if !is_sound || !size.is_finite() || order.is_nan() || order < 1.0 {
            let message = format!("the saved state has a step of {length} s at {time} s");
            return Err(Error::new(Code::CheckpointDamaged, message));
        }
        (self.time, self.length, self.done) = (time, length, done);
        self.last = StepError { size, order };
        self.edge.load(from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::CONTROLS;
    use super::*;

    const RUN: Experiment = Experiment { start: 0.0, stop: 10.0, step: 1.0 };

    /// Prepared for methods that carry on what a step lacked, or not.
    fn pacing(carries_on: bool, doubles: bool, first: f64) -> Pacing {
        let spec = ControlSpec { first: Some(first), ..ControlSpec::new(&CONTROLS[0], 1e-3, RUN.stop) };
        let mut pacing = Pacing::new(&spec, &RUN);
        let system = ControlView {
            experiment: &RUN,
            descriptions: &[],
            externals: &[],
            inputs: &[],
            carries_on,
            doubles,
            repeats: false,
            without_rollback: None,
        };
        pacing.prepare(&system).unwrap();
        pacing
    }

    /// Does a step with an error by its length.
    fn step(pacing: &mut Pacing, error: impl Fn(f64) -> StepError) {
        let Interval { start, end, length } = pacing.next_step();
        let context = StepContext {
            k: pacing.counts.steps,
            t: start,
            t_next: end,
            h: length,
            h_before: 0.0,
            repetition: 0,
        };
        pacing.judge(&context, error(length), false);
        pacing.accepted(&context);
    }

    fn saved(pacing: &Pacing) -> Vec<u8> {
        let mut out = StateWriter::default();
        pacing.save(&mut out);
        out.into_bytes()
    }

    #[test]
    fn an_error_that_is_no_number_is_not_remembered_for_ever() {
        for (carries_on, doubles) in [(false, false), (true, false), (true, true)] {
            for size in [f64::NAN, f64::INFINITY, 1e300] {
                let mut pacing = pacing(carries_on, doubles, 1e-2);
                let small = |length: f64| StepError { size: (length / 1e-2).powi(2), order: 2.0 };
                (0..40).for_each(|_| step(&mut pacing, small));
                let before = pacing.length;
                step(&mut pacing, |_| StepError { size, order: 2.0 });
                assert!(pacing.length < 0.5 * before, "{size}: {} {before}", pacing.length);
                let bytes = saved(&pacing);
                pacing.load(&mut StateReader::new(&bytes)).unwrap();
                (0..400).for_each(|_| step(&mut pacing, small));
                assert!(pacing.length > 0.6 * before, "{size}: {} {before}", pacing.length);
            }
        }
    }
}
