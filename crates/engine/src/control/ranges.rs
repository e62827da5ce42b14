//! What signals are measured by: the range that each has covered lately, and of the whole run so far.

use costep_core::{Result, StateReader, StateWriter};

/// Share of the run at whose beginning a range counts as the nominal value at least: signals have hardly
/// begun to move.
const BEGINNING: f64 = 0.05;
/// Share of the run for which a signal without a nominal value goes on at first as it begins.
const GOES_ON: f64 = 0.02;
/// Share of the run after which a value has been forgotten to the e-th part.
const LATELY: f64 = 0.15;

/// The ranges of some signals.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Lately.
    low: Vec<f64>,
    high: Vec<f64>,
    /// Greatest of these ranges so far.
    greatest: Vec<f64>,
    /// Nominal values, 0 where there is none, and how much of them a range is at least.
    nominal: Vec<f64>,
    floor: f64,
}

impl Ranges {
    /// Of signals with these nominal values, where they are known.
    pub(super) fn new(nominal: impl Iterator<Item = Option<f64>>) -> Self {
        let nominal: Vec<_> = nominal.map(|nominal| nominal.map_or(0.0, f64::abs)).collect();
        let all = |value: f64| vec![value; nominal.len()];
        Self {
            low: all(f64::INFINITY),
            high: all(f64::NEG_INFINITY),
            greatest: all(0.0),
            nominal,
            floor: 1.0,
        }
    }

    /// Tells how much of the run is done.
    pub(super) fn see(&mut self, progress: f64) {
        self.floor = (1.0 - progress / BEGINNING).max(0.0);
    }

    /// Takes a value in, after a step over this share of the run.
    #[inline]
    pub(super) fn add(&mut self, i: usize, value: f64, share: f64) {
        let forgotten = (share / LATELY).min(1.0);
        if self.low[i] <= self.high[i] {
            self.low[i] += forgotten * (value - self.low[i]);
            self.high[i] += forgotten * (value - self.high[i]);
        }
        self.low[i] = self.low[i].min(value);
        self.high[i] = self.high[i].max(value);
        self.greatest[i] = self.greatest[i].max(self.high[i] - self.low[i]);
    }

    /// The range of a signal lately, with the values at both ends of a step over this share of the run that
    /// have not been taken in.
    #[inline]
    pub(super) fn lately(&self, i: usize, (a, b): (f64, f64), share: f64) -> f64 {
        let seen = self.high[i].max(a).max(b) - self.low[i].min(a).min(b);
        let expected = match self.nominal[i] > 0.0 {
            true => self.nominal[i],
            false => (b - a).abs() / share * GOES_ON,
        };
        // What has rested until now has no range either.
        let floor = if self.greatest[i] > 0.0 { self.floor } else { 1.0 };
        seen.max(floor * expected)
    }

    /// The greatest range of a signal so far.
    #[inline]
    pub(super) fn greatest(&self, i: usize) -> f64 {
        self.greatest[i]
    }

    /// The range of a signal lately as a share of the greatest so far; nothing if it has never moved.
    #[inline]
    pub(super) fn activity(&self, i: usize) -> Option<f64> {
        let greatest = self.greatest[i].max(self.floor * self.nominal[i]);
        let lately = (self.high[i] - self.low[i]).max(self.floor * self.nominal[i]);
        (greatest > 0.0).then(|| lately / greatest)
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        [&self.low, &self.high, &self.greatest].into_iter().for_each(|values| out.reals(values));
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        [&mut self.low, &mut self.high, &mut self.greatest]
            .into_iter()
            .try_for_each(|values| from.reals(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_back_is_forgotten_and_the_greatest_range_is_not() {
        let mut ranges = Ranges::new([None, Some(-8.0)].into_iter());
        assert_eq!([0, 1].map(|i| ranges.lately(i, (1.0, 3.0), 1e-3)), [40.0, 8.0]);
        for k in 0..1000 {
            let value = if k < 10 { f64::from(k % 2) } else { 0.01 * f64::from(k % 2) };
            ranges.see(f64::from(k) * 1e-3);
            [0, 1].iter().for_each(|i| ranges.add(*i, value, 1e-3));
        }
        let lately = [0, 1].map(|i| ranges.lately(i, (0.0, 0.01), 1e-3));
        assert!((0.01..0.02).contains(&lately[0]) && lately[0] == lately[1], "{ranges:?}");
        assert!((0.01..0.02).contains(&ranges.activity(0).unwrap()), "{ranges:?}");
    }

    #[test]
    fn what_moves_for_the_first_time_is_measured_by_where_it_goes() {
        let mut ranges = Ranges::new([None].into_iter());
        for _ in 0..500 {
            ranges.add(0, 0.0, 1e-3);
        }
        ranges.see(0.5);
        assert_eq!((ranges.activity(0), ranges.lately(0, (0.0, 3.0), 1e-3)), (None, 60.0));
    }
}
