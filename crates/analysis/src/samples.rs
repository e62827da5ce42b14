//! Outputs of a run at a bounded number of its communication points, to be compared with a reference that is computed later.

use costep_core::{Interval, Result, StateReader, StateWriter};
use costep_engine::Engine;

use crate::measures::weights;
use crate::watch::{ALL_AT_FIRST, CYCLE, LOOKED_AT};

/// Most points that are kept, most values, and how many points at least: ten per fifth of the run.
const MOST_POINTS: usize = 250;
const MOST_VALUES: usize = 1_000_000;
const LEAST_POINTS: usize = 50;

/// Points of each octave of steps that are kept besides while those that are spread evenly lie farther apart, up to this step: what
/// comes to rest soon is over before the second of those in a long run.
const PER_OCTAVE: u64 = 8;
const LAST_EARLY: u64 = 1 << 22;

/// Multiples of this, without their whole part, are spread evenly and follow no oscillation.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;

/// Rows of outputs at some communication points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Samples {
    rows: Vec<f64>,
    /// T^k of each row, and how much of the run was done.
    times: Vec<f64>,
    shares: Vec<f64>,
    /// The next point: a run that is resumed shows its first one again.
    next: u64,
    /// Whether all steps are equal. Where they are not, nobody knows how many there will be: of the points that would be kept, one of
    /// so many is.
    equal_steps: bool,
    one_of: u64,
    candidates: u64,
}

impl Default for Samples {
    fn default() -> Self {
        let (rows, times, shares) = (Vec::new(), Vec::new(), Vec::new());
        Self { rows, times, shares, next: 0, equal_steps: true, one_of: 1, candidates: 0 }
    }
}

impl Samples {
    /// Takes the outputs at the communication point of an engine with so many steps, if it is one of those that are kept.
    #[inline(always)]
    pub(crate) fn add(&mut self, engine: &Engine, steps: u64) {
        let (k, outputs) = (engine.k(), engine.outputs());
        if k >= self.next && is_kept(k, steps, outputs.len()) {
            self.keep(engine);
        }
        self.next = self.next.max(k + 1);
    }

    /// Whether no output leaves a band of this share of its size, of its nominal value or of what it is, if that is more.
    pub(crate) fn rest(&self, nominal: &[f64], share: f64) -> bool {
        let column = |i: usize| self.rows.iter().skip(i).step_by(nominal.len());
        let rests = |(i, nominal): (usize, &f64)| {
            let (least, most) = column(i).fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(*y), b.max(*y)));
            most - least <= share * nominal.abs().max(least.abs()).max(most.abs())
        };
        !self.rows.is_empty() && nominal.iter().enumerate().all(rests)
    }

    #[inline(never)]
    fn keep(&mut self, engine: &Engine) {
        let outputs = engine.outputs();
        if self.times.capacity() == 0 {
            // Once, so that the run itself takes no memory.
            self.rows.reserve(most_points(outputs.len()) * outputs.len());
            self.times.reserve(most_points(outputs.len()));
            self.shares.reserve(most_points(outputs.len()));
        }
        self.equal_steps = engine.progress_at(engine.k()).is_some();
        self.candidates += 1;
        if !(self.candidates - 1).is_multiple_of(self.one_of) {
            return;
        }
        if self.times.len() + 1 > most_points(outputs.len()) {
            self.thin_out(outputs.len());
        }
        self.rows.extend_from_slice(outputs);
        self.times.push(engine.time());
        self.shares.push(engine.progress());
    }

    /// Keeps every second row.
    fn thin_out(&mut self, outputs: usize) {
        self.one_of *= 2;
        let left = self.times.len().div_ceil(2);
        for i in 0..left {
            self.rows.copy_within(2 * i * outputs..(2 * i + 1) * outputs, i * outputs);
            (self.times[i], self.shares[i]) = (self.times[2 * i], self.shares[2 * i]);
        }
        self.rows.truncate(left * outputs);
        self.times.truncate(left);
        self.shares.truncate(left);
    }

    /// The times of all rows.
    pub(crate) fn times(&self) -> &[f64] {
        &self.times
    }

    /// All rows.
    pub(crate) fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// Sample number `i`, if it is of this time, and how much of the run was done.
    pub(crate) fn at(&self, i: usize, time: f64, outputs: usize) -> Option<(&[f64], f64)> {
        let own = *self.times.get(i)?;
        let round_off = 16.0 * f64::EPSILON * own.abs().max(self.times.last()?.abs());
        let is_it = (own - time).abs() <= round_off;
        is_it.then(|| (&self.rows[i * outputs..(i + 1) * outputs], self.shares[i]))
    }

    /// How much each of the first so many samples counts: as much as the time around it.
    pub(crate) fn weights(&self, count: usize) -> Vec<f64> {
        if count < 2 { Vec::new() } else { weights(&self.times[..count]) }
    }

    /// The intervals from sample to sample, with how much of the run is done after each; nothing where all steps are equal.
    pub(crate) fn varying_steps(&self) -> Option<impl Iterator<Item = (Interval, f64)> + '_> {
        let intervals = self.times.windows(2).map(|pair| Interval::new(pair[0], pair[1]));
        (!self.equal_steps).then(|| intervals.zip(self.shares[1..].iter().copied()))
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        [self.next, self.one_of, self.candidates].iter().for_each(|count| out.integer(*count));
        out.integer(u64::from(self.equal_steps));
        out.integer(self.times.len() as u64);
        [&self.times, &self.shares, &self.rows].iter().for_each(|values| out.reals(values));
    }

    pub(crate) fn load(&mut self, outputs: usize, from: &mut StateReader<'_>) -> Result<()> {
        (self.next, self.one_of, self.candidates) =
            (from.integer()?, from.integer()?.max(1), from.integer()?);
        self.equal_steps = from.integer()? == 1;
        let points = from.index(most_points(outputs) + 1)?;
        (self.times, self.shares) = (vec![0.0; points], vec![0.0; points]);
        self.rows = vec![0.0; points * outputs];
        from.reals(&mut self.times)?;
        from.reals(&mut self.shares)?;
        from.reals(&mut self.rows)?;
        let more = most_points(outputs) - points;
        self.times.reserve(more);
        self.shares.reserve(more);
        self.rows.reserve(more * outputs);
        Ok(())
    }
}

/// A few points more than asked for may be kept, by the unevenness of their choice.
fn most_points(outputs: usize) -> usize {
    wanted(outputs) + MOST_POINTS / 10 + if has_early(outputs) { most_early() } else { 0 }
}

/// Those before the first octave with a grid of its own, and its octaves.
const fn most_early() -> usize {
    (PER_OCTAVE * (1 + (LAST_EARLY / PER_OCTAVE).ilog2() as u64)) as usize
}

/// Very many outputs take too much memory as it is.
fn has_early(outputs: usize) -> bool {
    wanted(outputs) == MOST_POINTS
}

fn wanted(outputs: usize) -> usize {
    (MOST_VALUES / outputs.max(1)).clamp(LEAST_POINTS, MOST_POINTS)
}

fn is_kept(k: u64, steps: u64, outputs: usize) -> bool {
    is_even(k, steps, outputs) || (has_early(outputs) && is_early(k, steps))
}

/// One of a grid that doubles its width from octave to octave, as long as that is finer than the even one. Where looking pauses the
/// points of the grid are first in their cycles.
fn is_early(k: u64, steps: u64) -> bool {
    let grid = (k / PER_OCTAVE).checked_ilog2().map_or(1, |octave| 1 << octave);
    k < LAST_EARLY && grid * (MOST_POINTS as u64) < steps && k.is_multiple_of(grid)
}

/// One of those that are spread evenly.
fn is_even(k: u64, steps: u64, outputs: usize) -> bool {
    let share = if steps > ALL_AT_FIRST { LOOKED_AT as f64 / CYCLE as f64 } else { 1.0 };
    (share == 1.0 || k % CYCLE < LOOKED_AT)
        && (k as f64 * GOLDEN_RATIO).fract() * (steps + 1) as f64 * share <= wanted(outputs) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_long_runs_is_kept_octave_by_octave() {
        for steps in [1_000u64, 40_000, 10_000_000] {
            let kept: Vec<u64> = (0..=steps.min(1 << 18)).filter(|k| is_kept(*k, steps, 3)).collect();
            for octave in 3..=steps.min(1 << 17).ilog2() - 1 {
                let octave = (1 << octave)..(2 << octave);
                let is_finer = octave.end * (MOST_POINTS as u64) < PER_OCTAVE * steps;
                let count = kept.iter().filter(|k| octave.contains(k)).count();
                assert!(!is_finer || count >= 8, "{steps} {octave:?}: {count}");
            }
            assert!(kept.iter().all(|k| *k < ALL_AT_FIRST || k % CYCLE < LOOKED_AT));
        }
        let all = (0..=u64::from(u32::MAX)).step_by(1 << 12).chain(0..1 << 12);
        assert!(all.filter(|k| is_early(*k, u64::MAX)).count() <= most_early());
    }

    #[test]
    fn short_runs_are_kept_whole_and_long_ones_evenly() {
        assert!((0..=200).all(|k| is_kept(k, 200, 3)));
        for (steps, outputs, wanted) in [(100_000u64, 3, 250), (7_000, 100_000, 50), (3_000, 10_000, 100)] {
            let tenth = steps / 10;
            for part in 0..10 {
                let kept = (part * tenth..(part + 1) * tenth).filter(|k| is_even(*k, steps, outputs)).count();
                assert!(kept.abs_diff(wanted / 10) <= 2, "{steps} {outputs}: {kept} in part {part}");
            }
        }
    }

    #[test]
    fn thinning_keeps_every_second_row() {
        let mut samples = Samples { times: (0..7).map(f64::from).collect(), ..Samples::default() };
        samples.shares = samples.times.iter().map(|t| t / 6.0).collect();
        samples.rows = samples.times.iter().flat_map(|t| [*t, -t]).collect();
        samples.thin_out(2);
        assert_eq!(samples.times, [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(samples.rows, [0.0, -0.0, 2.0, -2.0, 4.0, -4.0, 6.0, -6.0]);
        assert_eq!(samples.at(2, 4.0 + 1e-15, 2), Some((&[4.0, -4.0][..], 4.0 / 6.0)));
        assert_eq!(samples.at(2, 4.1, 2), None);
    }
}
