//! Outputs carried on without a model: per output the way that has erred least lately.
//!
//! The ways are to hold the last value, and least-squares lines through the last few values. Two values make the line of smooth
//! signals. More values average noise out: where it is larger than what a signal does in a step, a line through ten values errs less than a
//! hold, and it does not lag behind.

use costep_core::{Result, StateReader, StateWriter};

use crate::lags::Lags;
use crate::tuning::FallbackTuning;

/// Ways to carry a signal on.
const WAYS: usize = 4;

/// The last values of some signals, and what each way made of those before.
#[derive(Clone, Debug)]
pub(crate) struct Extrapolation {
    tuning: FallbackTuning,
    /// Numbers of values of the lines; one value is the hold.
    counts: [usize; WAYS],
    values: Lags,
    /// Per way and signal.
    errors: Vec<f64>,
    ahead: Vec<f64>,
}

impl Extrapolation {
    pub(crate) fn new(signals: usize, tuning: &FallbackTuning) -> Self {
        let counts = [1, 2, tuning.short_line.max(2), tuning.long_line.max(2)];
        let kept = counts.into_iter().fold(0, usize::max);
        let room = vec![0.0; signals * WAYS];
        Self { tuning: *tuning, counts, values: Lags::new(signals, kept), errors: room.clone(), ahead: room }
    }

    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.errors.fill(0.0);
    }

    /// Takes in values one step after the last.
    pub(crate) fn push(&mut self, values: &[f64]) {
        let judged = !self.values.is_empty();
        for (k, error) in self.errors.iter_mut().enumerate().filter(|_| judged) {
            *error = self.tuning.memory * *error + (values[k % values.len()] - self.ahead[k]).powi(2);
        }
        self.values.push(values);
        for (count, ahead) in self.counts.iter().zip(self.ahead.chunks_exact_mut(values.len().max(1))) {
            line(&self.values, *count.min(&self.values.len()), ahead);
        }
    }

    /// The signals are from now on so much more than what they were called before.
    pub(crate) fn shift(&mut self, by: &[f64]) {
        self.values.shift(by);
        self.ahead.chunks_exact_mut(by.len().max(1)).for_each(|ahead| {
            ahead.iter_mut().zip(by).for_each(|(ahead, by)| *ahead += by);
        });
    }

    /// Signal i one step ahead.
    pub(crate) fn next(&self, i: usize) -> f64 {
        let signals = self.errors.len() / WAYS;
        let (mut best, mut least) = (0, self.errors[i]);
        let lines = if self.values.len() < self.tuning.fewest { 0 } else { WAYS };
        for (way, count) in self.counts.iter().enumerate().take(lines).skip(1) {
            let n = *count as f64;
            let amplification = 2.0 * (2.0 * n + 1.0) / (n * (n - 1.0));
            // A line amplifies noise, and what goes round in a loop, by the sum of the squares of its weights.
            let error = self.errors[way * signals + i] * (1.0 + self.tuning.caution * amplification);
            if error < least {
                (best, least) = (way, error);
            }
        }
        self.ahead[best * signals + i]
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        self.values.save(out);
        out.reals(&self.errors);
        out.reals(&self.ahead);
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.values.load(from)?;
        from.reals(&mut self.errors)?;
        from.reals(&mut self.ahead)
    }
}

/// The next values on the least-squares lines through the last `count` values:
/// the sum of w_l y^(k-l), w_l = (2 (2 n + 1) - 6 (l + 1)) / (n (n - 1)).
fn line(values: &Lags, count: usize, ahead: &mut [f64]) {
    let newest = values.get(0);
    ahead.fill(0.0);
    let n = count as f64;
    for lag in 1..count {
        let weight = (2.0 * (2.0 * n + 1.0) - 6.0 * (lag as f64 + 1.0)) / (n * (n - 1.0));
        // As differences from the newest: a constant stays what it is to the last digit.
        let differences = values.get(lag).iter().zip(newest).map(|(value, newest)| value - newest);
        ahead.iter_mut().zip(differences).for_each(|(ahead, difference)| *ahead += weight * difference);
    }
    ahead.iter_mut().zip(newest).for_each(|(ahead, newest)| *ahead += newest);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root of the mean square of the errors one step ahead, and of those of a hold.
    fn errors(signal: impl Fn(usize) -> f64) -> (f64, f64) {
        let mut extrapolation = Extrapolation::new(1, &FallbackTuning::DEFAULT);
        let (mut ours, mut held) = (0.0, 0.0);
        for k in 0..400 {
            extrapolation.push(&[signal(k)]);
            if k >= 20 {
                ours += (signal(k + 1) - extrapolation.next(0)).powi(2);
                held += (signal(k + 1) - signal(k)).powi(2);
            }
        }
        (f64::sqrt(ours / 380.0), f64::sqrt(held / 380.0))
    }

    fn noise(k: usize) -> f64 {
        let bits = (k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = (bits ^ (bits >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    #[test]
    fn lines_are_continued_exactly_and_constants_to_the_last_digit() {
        let (ours, held) = errors(|k| 3.0 - 0.25 * k as f64);
        assert!(ours < 1e-12 && held == 0.25, "{ours} {held}");
        assert_eq!(errors(|_| 0.1 + 0.2).0, 0.0);
    }

    #[test]
    fn smooth_signals_are_continued_and_rough_ones_held() {
        let (ours, held) = errors(|k| (0.1 * k as f64).sin());
        assert!(ours < 0.15 * held, "{ours} {held}");
        let (ours, held) = errors(|k| (2.5 * k as f64).sin());
        assert!(ours < 1.01 * held, "{ours} {held}");
    }

    #[test]
    fn noise_is_averaged_out() {
        let (ours, held) = errors(|k| 0.05 * k as f64 + noise(k));
        assert!(ours < 0.95 * held, "{ours} {held}");
    }

    #[test]
    fn before_there_are_values_to_judge_by_it_holds() {
        let mut extrapolation = Extrapolation::new(1, &FallbackTuning::DEFAULT);
        extrapolation.push(&[1.0]);
        assert_eq!(extrapolation.next(0), 1.0);
        extrapolation.push(&[2.0]);
        assert_eq!(extrapolation.next(0), 2.0);
    }
}
