//! What is kept of a run while it goes, to judge it when it has ended.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use costep_core::{Description, Error, Port, Result, StateReader, StateWriter};
use costep_engine::divergence::limits;
use costep_engine::{Engine, Flow, Observer};

use crate::amplitude_windows::{AmplitudeWindows, Amplitudes, WINDOWS, windows_at};
use crate::samples::Samples;
use crate::stability::FEWEST_STEPS;
use crate::tally::{Newest, Tally};

/// What moves by less than this share of its size stands still.
const AT_REST: f64 = 1e-5;

/// Steps of a block: after each the newest points are put into their windows.
const BLOCK: u64 = 16;
/// So many steps at the start of a run are all looked at. Of those that follow, so many of each cycle: a run that is that long shows
/// growth and oscillation in a part of its steps too, and a step may be as short as a look at it.
pub(crate) const ALL_AT_FIRST: u64 = 4096;
pub(crate) const CYCLE: u64 = 128;
pub(crate) const LOOKED_AT: u64 = 32;

/// Defects of so much of the range of their signal, in one of the windows, are too large to believe the result.
const LARGE_DEFECT: f64 = 0.25;
/// Defects that change their sign at every step show an oscillation of the coupling from this part of the range on.
const ZIGZAG_DEFECT: f64 = 0.05;
const ZIGZAG_CORRELATION: f64 = -0.5;

/// What a signal is measured by to be compared with the others of its group.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Yardstick {
    group: usize,
    size: f64,
}

/// Signals with a nominal value are measured by it and form one group; those without are compared with signals of the
/// same unit; one that has neither is compared with none.
fn yardsticks<'a>(ports: impl Iterator<Item = &'a Port>) -> Vec<Yardstick> {
    let mut groups: HashMap<Option<&str>, usize> = HashMap::new();
    let yardstick = |(at, port): (usize, &'a Port)| {
        let nominal = port.nominal.map(f64::abs).filter(|nominal| nominal.is_normal());
        let unit = port.unit.as_deref().filter(|_| nominal.is_none());
        let is_alone = nominal.is_none() && unit.is_none();
        // A group has the number of its first signal.
        let group = if is_alone { at } else { *groups.entry(unit).or_insert(at) };
        Yardstick { group, size: nominal.unwrap_or(1.0) }
    };
    ports.enumerate().map(yardstick).collect()
}

/// Why a run is not to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Signals and their defects grow.
    Growth,
    /// Signals grow by the same factor from window to window.
    Exponential,
    /// Inputs go to and fro from step to step.
    Zigzag,
    /// Inputs do not follow what they are connected to.
    Defect,
}

/// Inputs that show it, and when: as shares of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion {
    /// What was seen.
    pub sign: Sign,
    /// The inputs, the worst first.
    pub inputs: Vec<usize>,
    /// The part of the run in which it is worst.
    pub between: (f64, f64),
}

/// Watches a run: amplitudes of outputs, to be compared with those of a reference, and amplitudes and defects of coupled inputs,
/// to judge a run that has none.
#[derive(Clone, Debug, Default)]
pub struct RunWatch {
    outputs: Vec<AmplitudeWindows>,
    newest_outputs: Vec<f64>,
    /// Of every input; those from outside only have none.
    inputs: Vec<Tally>,
    newest: Vec<Newest>,
    /// Inputs from outside only.
    outside: Vec<usize>,
    /// What each input is measured by; made new from the system, not saved.
    yardsticks: Vec<Yardstick>,
    samples: Samples,
    /// Means of inputs over the last step.
    u: Vec<f64>,
    steps: u64,
    /// Steps that were looked at, by window.
    looks: [f64; WINDOWS],
    newest_looks: f64,
    /// The windows of the newest points, and the first communication point that may belong to others.
    windows: Option<RangeInclusive<usize>>,
    until: u64,
    /// The next communication point that begins a block or a window, and up to which none is looked at.
    turn: u64,
    pause: u64,
    /// The last point that was looked at, plus one.
    next: u64,
}

impl RunWatch {
    /// Whether the run is long enough to be judged.
    pub fn can_judge(&self) -> bool {
        // Where steps vary, their number is known when they have been done.
        self.steps.max(self.next.saturating_sub(1)) >= FEWEST_STEPS
    }

    /// The times of the communication points whose outputs were kept, to be compared with another solution.
    pub fn sample_times(&self) -> &[f64] {
        self.samples.times()
    }

    /// The samples that were kept.
    pub(crate) fn samples(&self) -> &Samples {
        &self.samples
    }

    /// Whether nothing moves: no output leaves a small band at the points that are kept.
    pub fn rests(&self, descriptions: &[Description]) -> bool {
        let outputs = descriptions.iter().flat_map(|part| &part.outputs);
        let nominal: Vec<f64> = outputs.map(|port| port.nominal.unwrap_or(0.0)).collect();
        self.samples.rest(&nominal, AT_REST)
    }

    fn newest_windows(&self) -> RangeInclusive<usize> {
        self.windows.clone().unwrap_or(0..=0)
    }

    /// All tallies with the newest points.
    fn settled(&self) -> Vec<Tally> {
        let windows = self.newest_windows();
        let mut settled: Vec<_> = self
            .inputs
            .iter()
            .zip(&self.newest)
            .map(|(tally, newest)| tally.settled(*newest, &windows))
            .collect();
        self.outside.iter().for_each(|j| settled[*j].forget());
        settled
    }

    fn looks(&self) -> [f64; WINDOWS] {
        let mut looks = self.looks;
        looks[*self.newest_windows().start()] += self.newest_looks;
        looks
    }

    /// Unstable by its signals alone: an input and its defect grow, and the defect is a large part of the signal. A driven system
    /// grows too, but its defect stays a small part.
    ///
    /// Signals that have hardly begun do not count: what reaches the far end of a chain grows by powers of time, from
    /// nothing, and says nothing about the coupling before it is of a size with the others. Only what can be compared
    /// is: the verdict does not depend on units.
    pub fn growth(&self) -> Option<Suspicion> {
        let tallies = self.settled();
        let signals = || self.yardsticks.iter().zip(&tallies);
        let mut largest = vec![0.0_f64; self.yardsticks.len()];
        for (yardstick, tally) in signals() {
            let largest = &mut largest[yardstick.group];
            *largest = largest.max(tally.peaks.last() / yardstick.size);
        }
        let grows = |(yardstick, Tally { peaks, defects, .. }): (&Yardstick, &Tally)| {
            peaks.last() / yardstick.size > limits::NEGLIGIBLE * largest[yardstick.group]
                && peaks.grows()
                && defects.grows()
                && defects.last() > limits::COUPLING_ERROR * peaks.last()
        };
        if !self.can_judge() {
            return None;
        }
        let shares = signals().map(|at| match grows(at) {
            true => (at.1.defects.last() / at.1.peaks.last(), WINDOWS - 1),
            false => (0.0, 0),
        });
        suspicion(Sign::Growth, shares)
    }

    /// Defects so large, or inputs that oscillate so much from step to step, that the result is not to be believed without a look
    /// at it. Single large defects are jumps.
    pub fn doubt(&self) -> Option<Suspicion> {
        let (tallies, looks) = (self.settled(), self.looks());
        let worst = |of: &dyn Fn(&Tally, usize) -> f64| {
            let each = tallies.iter().map(|tally| {
                let shares = (0..WINDOWS).map(|window| (of(tally, window), window));
                shares.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
            });
            each.collect::<Vec<_>>()
        };
        let share = |tally: &Tally, window: usize| match tally.moves() {
            true => tally.rms(window, looks[window]) / tally.range(),
            false => 0.0,
        };
        let zigzag = |tally: &Tally, window: usize| match tally.correlation(window) < ZIGZAG_CORRELATION {
            true => share(tally, window),
            false => 0.0,
        };
        let above = |limit: f64| {
            move |(share, window): (f64, usize)| if share > limit { (share, window) } else { (0.0, 0) }
        };
        let exponential = |tally: &Tally| match tally.moves() && tally.peaks.is_exponential() {
            true => (tally.peaks.last() / tally.peaks.first(), WINDOWS - 1),
            false => (0.0, 0),
        };
        let grows = self.can_judge().then(|| tallies.iter().map(exponential));
        grows
            .and_then(|shares| suspicion(Sign::Exponential, shares))
            .or_else(|| suspicion(Sign::Zigzag, worst(&zigzag).into_iter().map(above(ZIGZAG_DEFECT))))
            .or_else(|| suspicion(Sign::Defect, worst(&share).into_iter().map(above(LARGE_DEFECT))))
    }

    /// An estimate of the error of the outputs relative to their ranges, from defects alone: the mean over all coupled inputs of the
    /// root mean square of their defects as a share of their range. Nothing where nothing is coupled.
    pub fn defect(&self) -> Option<f64> {
        let (tallies, steps) = (self.settled(), self.looks().iter().sum());
        let coupled = tallies.len() - self.outside.len();
        let share = |tally: &Tally| match tally.moves() {
            true => tally.rms_of_all(steps) / tally.range(),
            false => 0.0,
        };
        (coupled > 0).then(|| tallies.iter().map(share).sum::<f64>() / coupled as f64)
    }

    /// Amplitudes of the outputs.
    pub fn amplitudes(&self) -> Amplitudes {
        let settle = |(mut windows, newest): (AmplitudeWindows, &f64)| {
            windows.add(self.newest_windows(), *newest);
            windows
        };
        Amplitudes(self.outputs.iter().copied().zip(&self.newest_outputs).map(settle).collect())
    }

    /// Difference of what inputs should be at the communication point of the engine and what they were, relative to the largest
    /// value of the signal so far: the worst input. Zero before a point was seen.
    pub fn coupling_error(&self, engine: &Engine) -> f64 {
        if self.next == 0 || engine.k() == 0 {
            return 0.0;
        }
        let mut u = vec![0.0; engine.coupled().len()];
        engine.inputs_at_end(&mut u);
        let each = engine.coupled().iter().zip(u).zip(self.settled()).enumerate();
        each.filter(|(j, _)| engine.coupling().sources(*j).next().is_some())
            .map(|(_, ((z, u), tally))| ((z - u).abs(), tally.peaks.peak().max(z.abs())))
            .filter(|(_, scale)| *scale >= f64::MIN_POSITIVE)
            .fold(0.0, |largest, (error, scale)| largest.max(error / scale))
    }

    /// The input that explodes, with its value, if one does: then whatever else ends a run is a consequence of that.
    pub fn exploding(&self) -> Option<(usize, f64)> {
        let size = self.size_of_block();
        let explodes = |(j, (tally, newest)): &(usize, (&Tally, &Newest))| {
            !self.outside.contains(j) && tally.explodes_now(newest, size * self.yardsticks[*j].size)
        };
        let found = self.inputs.iter().zip(&self.newest).enumerate().filter(explodes);
        found.map(|(j, (_, newest))| (j, newest.value())).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
    }

    /// What a resumed run needs to be judged as if it had never stopped.
    pub fn save(&self, out: &mut StateWriter) {
        let mut settled = self.clone();
        settled.settle_outputs();
        out.reals(&settled.outputs.iter().flat_map(|windows| windows.0).collect::<Vec<_>>());
        self.inputs.iter().for_each(|tally| tally.save(out));
        self.newest.iter().for_each(|newest| newest.save(out));
        out.reals(&self.looks);
        out.real(self.newest_looks);
        out.integer(self.next);
        let windows = self.newest_windows();
        [*windows.start(), *windows.end()].iter().for_each(|window| out.integer(*window as u64));
        self.samples.save(out);
    }

    /// Goes on from what was saved, for the system of this engine.
    pub fn load(&mut self, engine: &Engine, from: &mut StateReader<'_>) -> Result<()> {
        let (outputs, inputs) = (engine.outputs().len(), engine.coupled().len());
        let mut values = vec![0.0; WINDOWS * outputs];
        from.reals(&mut values)?;
        self.outputs = values.as_chunks().0.iter().map(|values| AmplitudeWindows(*values)).collect();
        self.newest_outputs = vec![0.0; outputs];
        self.inputs = (0..inputs).map(|_| Tally::load(from)).collect::<Result<_>>()?;
        self.newest = (0..inputs).map(|_| Newest::load(from)).collect::<Result<_>>()?;
        self.u = vec![0.0; inputs];
        from.reals(&mut self.looks)?;
        self.newest_looks = from.real()?;
        self.next = from.integer()?;
        (self.until, self.turn, self.pause) = (0, 0, 0);
        let (first, last) = (from.index(WINDOWS)?, from.index(WINDOWS)?);
        self.windows = (self.next > 0).then_some(first..=last.max(first));
        self.samples.load(outputs, from)?;
        self.learn(engine);
        Ok(())
    }

    fn settle_outputs(&mut self) {
        let windows = self.newest_windows();
        for (outputs, newest) in self.outputs.iter_mut().zip(&mut self.newest_outputs) {
            outputs.add(windows.clone(), std::mem::take(newest));
        }
    }

    /// Learns about the system, if that is new.
    fn learn(&mut self, engine: &Engine) {
        let (outputs, inputs) = (engine.outputs().len(), engine.coupled().len());
        if self.outputs.len() != outputs || self.inputs.len() != inputs {
            self.outputs = vec![AmplitudeWindows::default(); outputs];
            self.newest_outputs = vec![0.0; outputs];
            self.inputs = vec![Tally::default(); inputs];
            self.newest = vec![Newest::default(); inputs];
            self.u = vec![0.0; inputs];
        }
        if self.yardsticks.len() != inputs {
            let ports = engine.descriptions().iter().flat_map(|description| &description.inputs);
            self.yardsticks = yardsticks(ports);
            let is_outside = |j: &usize| engine.coupling().sources(*j).next().is_none();
            self.outside = (0..inputs).filter(is_outside).collect();
        }
        self.steps = engine.experiment().steps();
    }

    /// The largest of all coupled signals in the last block, each in its nominal value.
    fn size_of_block(&self) -> f64 {
        let sizes =
            self.inputs.iter().zip(&self.yardsticks).map(|(tally, yardstick)| tally.block() / yardstick.size);
        sizes.fold(0.0, f64::max)
    }

    /// Puts the newest points into their windows, at the end of a block or of a window.
    fn settle(&mut self, is_block: bool) {
        let windows = self.newest_windows();
        self.settle_outputs();
        let size = self.size_of_block();
        let each = self.inputs.iter_mut().zip(&mut self.newest).zip(&self.yardsticks);
        for ((tally, newest), yardstick) in each {
            tally.settle(newest, &windows, is_block.then_some(size * yardstick.size));
        }
        self.outside.iter().for_each(|j| self.inputs[*j].forget());
        self.looks[*windows.start()] += std::mem::take(&mut self.newest_looks);
    }

    /// Turns to the next block or to the windows of the present communication point.
    #[cold]
    #[inline(never)]
    fn turn_to(&mut self, engine: &Engine) -> Result<()> {
        let k = engine.k();
        self.learn(engine);
        // The last point of a block is the first of the next one, and is counted there.
        let is_block = k.is_multiple_of(BLOCK) && self.newest_looks > 0.0;
        let windows = windows_at(engine.progress());
        if self.windows.as_ref().is_some_and(|now| is_block || *now != windows) {
            self.settle(is_block);
            self.check(engine)?;
        }
        if k >= self.until {
            self.until = self.last_point_of(&windows, engine) + 1;
        }
        self.windows = Some(windows);
        let pauses = k >= ALL_AT_FIRST && k % CYCLE >= LOOKED_AT;
        self.pause = if pauses { k.next_multiple_of(CYCLE) } else { 0 };
        self.turn = self.until.min((k + 1).next_multiple_of(BLOCK)).max(self.pause);
        Ok(())
    }

    /// Ends a run that explodes: what is no number in the end may be anything before.
    fn check(&self, engine: &Engine) -> Result<()> {
        let Some(j) = self.inputs.iter().position(|tally| tally.has_exploded()) else {
            return Ok(());
        };
        let names = engine.descriptions().iter().flat_map(|description| {
            description.inputs.iter().map(move |port| format!("{}.{}", description.name, port.name))
        });
        let (name, value) = (names.into_iter().nth(j).unwrap_or_default(), self.newest[j].value());
        let message =
            format!("`{name}` = {value:.1e} grows without bound, and no input follows it: the run diverged");
        Err(Error::diverged(message).at(costep_core::Place::Run {
            subsystem: None,
            signal: Some(name),
            time: engine.time(),
            step: engine.k(),
        }))
    }

    /// The last communication point from the present one on that is known to belong to the same windows.
    fn last_point_of(&self, windows: &RangeInclusive<usize>, engine: &Engine) -> u64 {
        let belongs = |k| engine.progress_at(k).is_some_and(|share| windows_at(share) == *windows);
        let (mut last, mut beyond) = (engine.k(), self.steps + 1);
        while last + 1 < beyond {
            let middle = last + (beyond - last) / 2;
            *(if belongs(middle) { &mut last } else { &mut beyond }) = middle;
        }
        last
    }

    /// Takes the signals at a communication point.
    #[inline(always)]
    fn look(&mut self, engine: &Engine) {
        for (peak, y) in self.newest_outputs.iter_mut().zip(engine.outputs()) {
            *peak = if y.abs() > *peak { y.abs() } else { *peak };
        }
        let each = self.newest.iter_mut().zip(engine.coupled());
        let k = engine.k();
        if self.next != k || k == 0 {
            each.for_each(|(newest, z)| newest.begin(*z, k == 0));
        } else if let Some(u) = engine.held_inputs() {
            each.zip(u).for_each(|((newest, z), u)| newest.step(*z, *u));
            self.newest_looks += 1.0;
        } else {
            let has_means = engine.mean_inputs(&mut self.u);
            for ((newest, z), u) in each.zip(&self.u) {
                if has_means { newest.step(*z, *u) } else { newest.step_to(*z, *u) }
            }
            self.newest_looks += 1.0;
        }
        self.next = k + 1;
    }
}

/// The inputs with their shares and windows, if there are any that are not zero.
fn suspicion(sign: Sign, shares: impl Iterator<Item = (f64, usize)>) -> Option<Suspicion> {
    let mut found: Vec<_> = shares.enumerate().filter(|(_, (share, _))| *share > 0.0).collect();
    found.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0));
    let (_, (_, window)) = *found.first()?;
    let share = |window: usize| window as f64 / WINDOWS as f64;
    let inputs = found.into_iter().map(|(j, _)| j).collect();
    Some(Suspicion { sign, inputs, between: (share(window), share(window + 1)) })
}

impl Observer for RunWatch {
    #[inline(always)]
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        let k = engine.k();
        if k < self.pause {
            return Ok(Flow::Continue);
        }
        if k >= self.turn {
            self.turn_to(engine)?;
            if k < self.pause {
                return Ok(Flow::Continue);
            }
        }
        self.look(engine);
        self.samples.add(engine, self.steps);
        Ok(Flow::Continue)
    }
}
