//! What is kept of a coupled input while a run goes: how large it was, and how far its source went from what it was.
//!
//! The *defect* of an input over a step is d = 2 (mean(z) - mean(u)): how far the input was from what it is connected to. The mean of z
//! is that of the parabola through the last three points, (5 z^(k+1) + 8 z^k - z^(k-1)) / 12. For a hold of a smooth signal d is the
//! change of the signal in the step; an input that is held at the right mean has none.

use std::ops::RangeInclusive;

use costep_core::{Result, StateReader, StateWriter};

use crate::amplitude_windows::{AmplitudeWindows, WINDOWS};

/// Growth from one block of steps to the next that nothing but an explosion shows several times one after the other.
const EXPLOSION: f64 = 4.0;
/// Blocks and growth after which a run is ended, and growth after which whatever fails is a consequence.
const LASTS: f64 = 3.0;
const BOUNDLESS: f64 = 1e6;
const FAR: f64 = 100.0;
/// Part of the signal that its defect is, at least, while it explodes.
const UNFOLLOWED: f64 = 0.2;

/// The newest steps, apart from all before: every step goes through these of all inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Newest {
    /// Greatest |z| and |d|.
    peak: f64,
    defect: f64,
    /// Sums of d^2 and of d times the d before.
    squares: f64,
    products: f64,
    /// Least and greatest z of the whole run.
    low: f64,
    high: f64,
    /// z and d at the last point, and z at the one before.
    z: f64,
    d: f64,
    before: f64,
}

impl Newest {
    /// The first of some consecutive points: there is no step before it.
    pub(crate) fn begin(&mut self, z: f64, is_start: bool) {
        if is_start {
            (self.low, self.high) = (z, z);
        }
        (self.z, self.d, self.before) = (z, 0.0, f64::NAN);
        self.peak = self.peak.max(z.abs());
    }

    /// A point after a step over which the mean of the input was `u`. What is no number is smaller than all that are.
    #[inline(always)]
    pub(crate) fn step(&mut self, z: f64, u: f64) {
        // After the first step there are two points only.
        let curved = (5.0 * z + 8.0 * self.z - self.before) / 6.0;
        let mean = if self.before.is_nan() { z + self.z } else { curved };
        self.add(z, mean - 2.0 * u);
    }

    /// The same where only the input at the end of the step is known.
    #[inline(always)]
    pub(crate) fn step_to(&mut self, z: f64, u_end: f64) {
        self.add(z, z - u_end);
    }

    /// z at the last point.
    pub(crate) fn value(&self) -> f64 {
        self.z
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        let Self { peak, defect, squares, products, low, high, z, d, before } = *self;
        out.reals(&[peak, defect, squares, products, low, high, z, d, before]);
    }

    pub(crate) fn load(from: &mut StateReader<'_>) -> Result<Self> {
        let mut values = [0.0; 9];
        from.reals(&mut values)?;
        let [peak, defect, squares, products, low, high, z, d, before] = values;
        Ok(Self { peak, defect, squares, products, low, high, z, d, before })
    }

    #[inline(always)]
    fn add(&mut self, z: f64, d: f64) {
        let greater = |a: f64, b: f64| if b > a { b } else { a };
        self.peak = greater(self.peak, z.abs());
        self.defect = greater(self.defect, d.abs());
        self.squares += d * d;
        self.products += d * self.d;
        self.low = if z < self.low { z } else { self.low };
        self.high = greater(self.high, z);
        (self.z, self.d, self.before) = (z, d, self.z);
    }
}

/// All of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Least and greatest z.
    low: f64,
    high: f64,
    pub(crate) peaks: AmplitudeWindows,
    pub(crate) defects: AmplitudeWindows,
    /// Sums of d^2 and of d times the d before, by window.
    squares: [f64; WINDOWS],
    products: [f64; WINDOWS],
    /// Greatest |z| of the last block, how many blocks one after the other have exploded, and the size of all signals before these: what
    /// reaches the far end of a chain grows by powers of time, from nothing, and is no explosion before it is larger than all others.
    block: f64,
    explosions: f64,
    before_explosion: f64,
}

/// Number of values that a tally is saved as.
const SAVED: usize = 2 + 4 * WINDOWS + 3;

impl Tally {
    /// Puts the newest points into their windows: the end of a window or, where the size of all signals in the last block is
    /// given, of a block.
    pub(crate) fn settle(
        &mut self,
        newest: &mut Newest,
        windows: &RangeInclusive<usize>,
        block: Option<f64>,
    ) {
        let Newest { peak, defect, squares, products, low, high, .. } = *newest;
        (self.low, self.high) = (low, high);
        self.peaks.add(windows.clone(), peak);
        self.defects.add(windows.clone(), defect);
        if squares.is_finite() {
            self.squares[*windows.start()] += squares;
            self.products[*windows.start()] += products;
        }
        if let Some(size) = block {
            let explodes = self.block > 0.0 && peak > EXPLOSION * self.block && defect > UNFOLLOWED * peak;
            if self.explosions == 0.0 {
                self.before_explosion = self.block.max(size);
            }
            self.explosions = if explodes { self.explosions + 1.0 } else { 0.0 };
            self.block = peak;
        }
        (newest.peak, newest.defect, newest.squares, newest.products) = (0.0, 0.0, 0.0, 0.0);
    }

    /// With the newest points, which belong to these windows.
    pub(crate) fn settled(mut self, mut newest: Newest, windows: &RangeInclusive<usize>) -> Self {
        self.settle(&mut newest, windows, None);
        self
    }

    /// Whether it grows without bound.
    pub(crate) fn has_exploded(&self) -> bool {
        self.explosions >= LASTS && self.block > BOUNDLESS * self.before_explosion
    }

    /// Whether it is about to, with the newest points: far beyond all signals that came before, which had this size, and nothing has
    /// followed it. From rest everything is far beyond.
    pub(crate) fn explodes_now(&self, newest: &Newest, size: f64) -> bool {
        let Newest { peak, defect, .. } = *newest;
        let begin = if self.explosions > 0.0 { self.before_explosion } else { self.block.max(size) };
        let is_unfollowed = self.explosions > 0.0 || defect > UNFOLLOWED * peak;
        is_unfollowed && peak.max(self.block) > FAR * begin && begin > 1e-12 * peak
    }

    /// Greatest |z| of the last block.
    pub(crate) fn block(&self) -> f64 {
        self.block
    }

    /// Whether it has changed by more than round-off.
    pub(crate) fn moves(&self) -> bool {
        self.range() > 1e-12 * self.high.abs().max(self.low.abs()).max(f64::MIN_POSITIVE)
    }

    /// Greatest less least value of the run.
    pub(crate) fn range(&self) -> f64 {
        self.high - self.low
    }

    /// Root mean square of the defect in a window of so many steps.
    pub(crate) fn rms(&self, window: usize, steps: f64) -> f64 {
        (self.squares[window] / steps.max(1.0)).sqrt()
    }

    /// Root mean square of the defect in the whole run.
    pub(crate) fn rms_of_all(&self, steps: f64) -> f64 {
        (self.squares.iter().sum::<f64>() / steps.max(1.0)).sqrt()
    }

    /// Correlation of the defects of neighbouring steps in a window: near -1 for one that changes its sign at every step.
    pub(crate) fn correlation(&self, window: usize) -> f64 {
        if self.squares[window] > 0.0 { self.products[window] / self.squares[window] } else { 0.0 }
    }

    /// An input from outside only has no defect.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        let windows = [&self.peaks.0, &self.defects.0, &self.squares, &self.products];
        let mut values = [self.low, self.high].into_iter().chain(windows.into_iter().flatten().copied());
        let ends = [self.block, self.explosions, self.before_explosion];
        let all: [f64; SAVED] = std::array::from_fn(|i| values.next().unwrap_or_else(|| ends[i + 3 - SAVED]));
        out.reals(&all);
    }

    pub(crate) fn load(from: &mut StateReader<'_>) -> Result<Self> {
        let mut values = [0.0; SAVED];
        from.reals(&mut values)?;
        let windows: [[f64; WINDOWS]; 4] =
            std::array::from_fn(|i| std::array::from_fn(|w| values[2 + i * WINDOWS + w]));
        Ok(Self {
            low: values[0],
            high: values[1],
            peaks: AmplitudeWindows(windows[0]),
            defects: AmplitudeWindows(windows[1]),
            squares: windows[2],
            products: windows[3],
            block: values[SAVED - 3],
            explosions: values[SAVED - 2],
            before_explosion: values[SAVED - 1],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(points: usize, z: impl Fn(f64) -> f64, u: impl Fn(f64) -> f64) -> (Tally, Newest) {
        let (mut tally, mut newest) = (Tally::default(), Newest::default());
        newest.begin(z(0.0), true);
        for k in 1..points {
            newest.step(z(k as f64), u(k as f64));
            if k % 16 == 0 {
                tally.settle(&mut newest, &(0..=0), Some(0.0));
            }
        }
        (tally, newest)
    }

    fn tally(points: usize, z: impl Fn(f64) -> f64, u: impl Fn(f64) -> f64) -> Tally {
        let (tally, newest) = both(points, z, u);
        tally.settled(newest, &(0..=0))
    }

    #[test]
    fn a_right_mean_has_no_defect_and_a_hold_that_of_its_step() {
        let mean = tally(100, |k| k, |k| k - 0.5);
        assert_eq!(mean.rms_of_all(99.0), 0.0);
        let hold = tally(100, |k| k, |k| k - 1.0);
        assert_eq!((hold.rms_of_all(99.0), hold.range()), (1.0, 99.0));
    }

    #[test]
    fn what_goes_to_and_fro_is_told_from_what_runs_on() {
        let sign = |k: f64| if k % 2.0 == 0.0 { 1.0 } else { -1.0 };
        let zigzag = tally(100, sign, |k| sign(k - 1.0));
        assert!(zigzag.correlation(0) < -0.95);
        let wave = |k: f64| (0.1 * k).sin();
        assert!(tally(100, wave, |k| wave(k - 1.0)).correlation(0) > 0.9);
    }

    #[test]
    fn explosions_are_told_from_signals_that_begin() {
        let explosion = tally(100, |k| (-1.5f64).powf(k), |k| (-1.5f64).powf(k - 1.0));
        assert!(explosion.has_exploded());
        // A push at one point: from nothing, but only once.
        let pushed = |k: f64| if k < 50.0 { 1e-9 } else { 1.0 };
        let (begun, last) = both(100, pushed, |k| pushed(k - 1.0));
        assert!(!begun.has_exploded() && !begun.explodes_now(&last, 0.0));
        // From 1e-30, by the tenth power of time, beside signals of size 1.
        let wave = |k: f64| 1e-30 * k.powi(12);
        let (mut far, mut newest) = (Tally::default(), Newest::default());
        newest.begin(0.0, true);
        for k in 1..200 {
            newest.step(wave(f64::from(k)), wave(f64::from(k) - 1.0));
            if k % 16 == 0 {
                far.settle(&mut newest, &(0..=0), Some(1.0));
                assert!(!far.has_exploded() && !far.explodes_now(&newest, 1.0));
            }
        }
    }

    #[test]
    fn what_was_saved_is_loaded() {
        let (tally, newest) = both(77, |k| (0.3 * k).cos() * k, |k| k);
        let mut out = StateWriter::default();
        tally.save(&mut out);
        newest.save(&mut out);
        let bytes = out.into_bytes();
        let mut from = StateReader::new(&bytes);
        assert_eq!((Tally::load(&mut from).unwrap(), Newest::load(&mut from).unwrap()), (tally, newest));
    }
}
