//! Times: the span of a run, one macro step, and equal pieces of one.

/// The time span a run covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experiment {
    /// Start time in s.
    pub start: f64,
    /// End time in s.
    pub stop: f64,
    /// Macro step in s; where steps vary, the longest.
    pub step: f64,
}

impl Experiment {
    /// Number of macro steps. The last one ends at the stop time; if that is no multiple of the step, it is shorter.
    pub fn steps(&self) -> u64 {
        // A stop time that is a multiple of the step up to the round-off of the times gets no step more.
        (self.span() - self.round_off()).ceil().max(0.0) as u64
    }

    /// The length of the run in steps.
    fn span(&self) -> f64 {
        (self.stop - self.start) / self.step
    }

    /// By how much that may be wrong because times are.
    fn round_off(&self) -> f64 {
        8.0 * f64::EPSILON * (self.start.abs().max(self.stop.abs()) / self.step + self.span().abs())
    }

    /// Length of the last macro step: that of the others, unless the stop time is no multiple of it.
    pub fn last_step(&self) -> f64 {
        let steps = self.steps();
        let is_whole = (steps as f64 - self.span()).abs() <= self.round_off();
        if is_whole || steps == 0 { self.step } else { self.stop - self.time(steps - 1) }
    }

    /// The same run to the next communication point of equal steps, for those that cannot do a shorter one.
    pub fn with_equal_steps(self) -> Self {
        let is_whole = self.last_step() == self.step;
        Self { stop: if is_whole { self.stop } else { self.time(self.steps()) }, ..self }
    }

    /// The latest time of those who add the length of a step to its start, if the last macro step is done in so
    /// many pieces. It may be a rounding behind the stop time.
    pub fn latest_sum(&self, pieces: usize) -> f64 {
        let last = self.steps().checked_sub(1).map(|k| self.interval(k));
        let pieces = last.into_iter().flat_map(|last| last.split(pieces));
        pieces.map(|piece| piece.start + piece.length).fold(self.stop, f64::max)
    }

    /// Time of communication point k of equal steps. Always computed from k: adding h step by step would drift.
    #[inline]
    pub fn time(&self, k: u64) -> f64 {
        // There are far fewer steps than 2^63, and a signed number is converted by one instruction.
        self.start + k as i64 as f64 * self.step
    }

    /// Macro step k of equal steps.
    #[inline]
    pub fn equal_interval(&self, k: u64) -> Interval {
        Interval { start: self.time(k), end: self.time(k + 1), length: self.step }
    }

    /// Macro step k. The last one ends at the stop time, bit for bit: k h may be a rounding behind it, and FMUs that
    /// know when the run ends refuse to go further.
    pub fn interval(&self, k: u64) -> Interval {
        let (equal, steps) = (self.equal_interval(k), self.steps());
        let (start, end) = match k + 1 {
            next if next == steps => (equal.start, self.stop),
            next if next == steps + 1 => (self.stop, equal.end),
            _ => return equal,
        };
        let length = if self.last_step() == self.step { self.step } else { end - start };
        Interval { start, end, length }
    }
}

/// One macro step, or a piece of one. The end of a step is bit for bit the start of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// T^k.
    pub start: f64,
    /// T^(k+1).
    pub end: f64,
    /// h as it was asked for. `end - start` differs from it by the round-off of the time, late in a run by much;
    /// integrators and methods use this one, so that equal steps are equal and a resumed run has the same bits.
    pub length: f64,
}

impl Interval {
    /// An interval whose length is the difference of its ends.
    pub fn new(start: f64, end: f64) -> Self {
        Self { start, end, length: end - start }
    }

    /// Equal pieces. Each begins where the one before ends, bit for bit, and the last one ends where the whole does.
    pub fn split(self, pieces: usize) -> impl ExactSizeIterator<Item = Self> {
        (0..pieces).map(move |j| {
            let piece = self.piece(j, pieces);
            if j + 1 == pieces { Self { end: self.end, ..piece } } else { piece }
        })
    }

    /// Piece `j` of so many, by its length alone: there are more of them beyond the end of the whole.
    #[inline]
    pub fn piece(self, j: usize, pieces: usize) -> Self {
        let time = |j: usize| self.start + self.length * j as f64 / pieces as f64;
        Self { start: time(j), end: time(j + 1), length: self.length / pieces as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_covers_its_stop_time() {
        let run = |stop, step| Experiment { start: 0.0, stop, step }.steps();
        assert_eq!(run(0.1, 0.001), 100);
        assert_eq!(run(0.1, 0.003), 34);
        assert_eq!(run(0.3, 0.1), 3);
        assert_eq!(run(0.0, 0.1), 0);
        assert_eq!(run(30000.0, 0.3e-3), 100_000_000);
        assert_eq!(Experiment { start: 1e5, stop: 100_000.3, step: 1e-4 }.steps(), 3000);
    }

    #[test]
    fn the_last_step_ends_at_the_stop_time() {
        for (start, stop, step) in [
            (0.0, 0.3, 0.1),
            (0.0, 3.0, 0.1),
            (0.1, 0.7, 0.2),
            (0.0, 1.0, 0.3),
            (-1.0, 1.0, 0.7),
            (0.0, 0.1, 1.0),
        ] {
            let run = Experiment { start, stop, step };
            let steps = run.steps();
            let last = run.interval(steps - 1);
            assert_eq!((last.end, last.length), (stop, run.last_step()));
            let is_whole = ((stop - start) / step).fract().min(1.0 - ((stop - start) / step).fract()) < 1e-9;
            assert_eq!(last.length == step, is_whole, "{run:?}");
            assert!(is_whole || (last.start + last.length - stop).abs() < 1e-15, "{run:?}");
            assert_eq!(run.interval(steps).start, stop, "steps join beyond the end too");
            assert_eq!(run.interval(steps + 1).start, run.interval(steps).end);
            let longer = run.with_equal_steps();
            assert_eq!((longer.steps(), longer.last_step()), (steps, step), "{run:?}");
        }
    }

    #[test]
    fn no_piece_adds_up_to_more_than_the_latest_sum() {
        let mut behind = 0;
        for (stop, step, pieces) in [(3.0, 0.1, 4), (0.3, 0.02, 2), (1.7, 0.05, 5), (1.0, 0.3, 3)] {
            let run = Experiment { start: 0.0, stop, step };
            let latest = run.latest_sum(pieces);
            assert!((stop..stop * (1.0 + 1e-14)).contains(&latest));
            for piece in run.interval(run.steps() - 1).split(pieces) {
                assert!(piece.start + piece.length <= latest);
            }
            let counted = Experiment { step: step / pieces as f64, ..run };
            behind += u32::from(counted.latest_sum(1) < latest);
        }
        assert!(behind >= 3, "counted from the start they seem to end earlier: {behind}");
        assert_eq!(Experiment { start: 1.0, stop: 1.0, step: 0.1 }.latest_sum(3), 1.0);
    }

    #[test]
    fn times_do_not_drift_in_ten_million_steps() {
        let run = Experiment { start: 0.1, stop: 1e6, step: 0.1 };
        let mut end = run.start;
        for k in 0..10_000_000 {
            let interval = run.interval(k);
            // Where one step ends, the next one starts, and none is further than round-off from where it should be.
            assert!(interval.start == end && interval.end > interval.start && interval.length == run.step);
            end = interval.end;
            assert!((end - (k + 2) as f64 / 10.0).abs() <= 4.0 * f64::EPSILON * end, "{k}: {end}");
        }
    }

    #[test]
    fn pieces_join_and_end_where_the_whole_ends() {
        for (k, pieces) in [(0, 1), (3, 7), (123_456, 10), (99, 32)] {
            let whole = Experiment { start: 0.1, stop: 1e9, step: 0.3 }.interval(k);
            let mut end = whole.start;
            for piece in whole.split(pieces) {
                assert!(piece.start == end && piece.length == whole.length / pieces as f64);
                end = piece.end;
            }
            assert_eq!(end, whole.end);
        }
    }
}
