//! Amplitudes of signals over a run, in five windows of equal length.

use std::ops::RangeInclusive;

use costep_core::{Layout, MicroView};

/// Number of windows.
pub(crate) const WINDOWS: usize = 5;
/// Growth below this is round-off.
const SLACK: f64 = 1.001;
/// What grows has this share of its peak in the last window.
const AT_THE_END: f64 = 0.95;

/// What grows exponentially grows by more than this factor from window to window: a ramp by less.
const EXPONENTIAL: f64 = 1.8;

/// Greatest absolute values in each fifth of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AmplitudeWindows(pub [f64; WINDOWS]);

/// The windows to which a share of the run between 0 and 1 belongs: two where they meet, whatever its round-off.
pub(crate) fn windows_at(share: f64) -> RangeInclusive<usize> {
    let place = share * WINDOWS as f64;
    let last = WINDOWS as f64 - 1.0;
    let first = ((place - 1e-9).ceil() - 1.0).clamp(0.0, last);
    first as usize..=((place + 1e-9).floor().clamp(0.0, last) as usize)
}

/// Steps that differ by less are equal, whatever the round-off of their times.
const EQUAL: f64 = 1e-6;

/// How much of a run is done at these communication points, from 0 to 1: as an engine tells it, by the number of steps
/// where all but the last are equal, else by time.
pub(crate) fn shares(times: &[f64]) -> impl Iterator<Item = f64> {
    let last = times.len().max(2) - 1;
    let are_equal = has_equal_steps(times);
    let by_time = move |k: usize| (times[k] - times[0]) / (times[last] - times[0]);
    (0..times.len()).map(move |k| if are_equal { k as f64 / last as f64 } else { by_time(k) })
}

/// Whether all steps between these communication points but the last are equal.
pub(crate) fn has_equal_steps(times: &[f64]) -> bool {
    let last = times.len().max(2) - 1;
    let step = |k: usize| times[k + 1] - times[k];
    (1..last).all(|k| {
        let (excess, round_off) = (step(k) - step(0), 4.0 * f64::EPSILON * times[k + 1].abs());
        let least = EQUAL * step(0) + round_off;
        excess <= least && (excess >= -least || k + 1 == last)
    })
}

/// The absolute value of a number; zero for signals that are none, such as texts.
fn amplitude(value: f64) -> f64 {
    if value.abs() >= f64::MIN_POSITIVE { value.abs() } else { 0.0 }
}

impl AmplitudeWindows {
    /// Takes a value of these windows.
    pub fn add(&mut self, windows: RangeInclusive<usize>, value: f64) {
        let value = amplitude(value);
        self.0[windows].iter_mut().for_each(|greatest| *greatest = greatest.max(value));
    }

    /// In the first 20 %.
    pub fn first(&self) -> f64 {
        self.0[0]
    }

    /// In the last 20 %.
    pub fn last(&self) -> f64 {
        self.0[WINDOWS - 1]
    }

    /// In the whole run.
    pub fn peak(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// The thesis' test: the amplitude has grown [T 3.3.1]. And it has its peak at the end: where windows are shorter than an
    /// oscillation, a later one may see more of it without any growth.
    pub fn grows(&self) -> bool {
        self.last() > SLACK * self.first() && self.last() > AT_THE_END * self.peak()
    }

    /// Grows by much the same factor from window to window, again and again.
    pub fn is_exponential(&self) -> bool {
        let [_, a, b, c, d] = self.0;
        let factors = [b / a, c / b, d / c];
        let (least, most) =
            (factors.into_iter().fold(f64::MAX, f64::min), factors.into_iter().fold(0.0, f64::max));
        least > EXPONENTIAL && most < least * least
    }
}

/// [`AmplitudeWindows`] of every output of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amplitudes(pub Vec<AmplitudeWindows>);

impl Amplitudes {
    /// From rows of outputs at rising times.
    pub fn of(times: &[f64], rows: &[f64], outputs: usize) -> Self {
        let mut amplitudes = Self::new(outputs);
        for (share, row) in shares(times).zip(rows.chunks_exact(outputs.max(1))) {
            amplitudes.add(share, row);
        }
        amplitudes
    }

    /// Of nothing yet.
    pub fn new(outputs: usize) -> Self {
        Self(vec![AmplitudeWindows::default(); outputs])
    }

    /// Takes the outputs at a share of the run between 0 and 1.
    pub fn add(&mut self, share: f64, row: &[f64]) {
        let windows = windows_at(share);
        self.0.iter_mut().zip(row).for_each(|(fifths, y)| fifths.add(windows.clone(), *y));
    }

    /// Takes the outputs inside the last step too, where the subsystems show them: with half a period per step an
    /// oscillation may pass through zero at every communication point.
    pub(crate) fn add_inner(&mut self, share: f64, layout: &Layout, inside: &dyn MicroView) {
        for i in 0..layout.subsystems() {
            let range = layout.output_range(i);
            let rows = inside.micro_samples(i).map_or(&[][..], |samples| samples.outputs);
            for row in rows.chunks_exact(range.len().max(1)) {
                let own = self.0[range.clone()].iter_mut();
                own.zip(row).for_each(|(fifths, y)| fifths.add(windows_at(share), *y));
            }
        }
    }

    /// Greatest ratio of last to first amplitude.
    pub fn ratio(&self) -> f64 {
        self.0.iter().filter(|w| w.first() > 0.0).map(|w| w.last() / w.first()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_meet_at_points_of_both() {
        let rows: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(Amplitudes::of(&rows, &rows, 1).0, [AmplitudeWindows([2.0, 4.0, 6.0, 8.0, 10.0])]);
        let falling: Vec<f64> = (0..=10).rev().map(f64::from).collect();
        assert_eq!(Amplitudes::of(&rows, &falling, 1).0, [AmplitudeWindows([10.0, 8.0, 6.0, 4.0, 2.0])]);
        assert_eq!((windows_at(0.0), windows_at(1.0), windows_at(0.3)), (0..=0, 4..=4, 1..=1));
        assert_eq!((windows_at(3.0 * 0.2), windows_at(1.0 - 0.8)), (2..=3, 0..=1));
    }

    #[test]
    fn windows_are_fifths_of_the_time_where_steps_vary() {
        // Most of the points are in the first second.
        let times: Vec<f64> = (0..=10).map(|k| 0.1 * f64::from(k)).chain([2.0, 3.0, 4.0, 5.0]).collect();
        assert_eq!(Amplitudes::of(&times, &times, 1).0, [AmplitudeWindows([1.0, 2.0, 3.0, 4.0, 5.0])]);
    }

    #[test]
    fn equal_steps_are_counted_late_in_a_run_and_with_a_shorter_last_one() {
        let late: Vec<f64> = (0..=700).map(|k| 1e5 + 1e-4 * f64::from(k)).collect();
        assert!(shares(&late).enumerate().all(|(k, share)| share == k as f64 / 700.0));
        assert!(shares(&[0.0, 0.3, 0.6, 0.9, 1.0]).eq([0.0, 0.25, 0.5, 0.75, 1.0]));
        assert!(shares(&[0.0, 0.2, 0.6, 1.0]).eq([0.0, 0.2, 0.6, 1.0]));
        assert!(
            shares(&[3.0]).eq([0.0]) && shares(&[3.0, 4.0]).eq([0.0, 1.0]) && shares(&[]).next().is_none()
        );
    }
}
