//! Stable or not, from a run and its reference.
//!
//! An unstable coupling adds to the solution something that grows by a factor per step. So a run is unstable if its amplitude grows
//! [T 3.3.1] and the reference does not account for it, if its error does so, window by window, or if it is far larger than the
//! reference ever was. A run whose outputs stay within the amplitudes of the reference may be wrong, in phase for example, but is
//! not unstable. Neither is one with an error that is small but for a moment, when a signal jumped, and that is over.

use costep_engine::divergence::limits::{
    BEYOND_REFERENCE, BLOWN_UP, EXPONENTIAL, GROWING_REFERENCE, OUTGROWS,
};

use crate::amplitude_windows::{AmplitudeWindows, Amplitudes};

/// Fewer macro steps than this are too few for windows of a fifth.
pub(crate) const FEWEST_STEPS: u64 = 10;

/// Amplitudes of an output, of its reference (inside the steps as well, where known), and of their difference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Growth {
    /// Of the run, at the communication points.
    pub own: AmplitudeWindows,
    /// Of the reference.
    pub reference: AmplitudeWindows,
    /// Of the error.
    pub error: AmplitudeWindows,
}

impl Growth {
    /// Whether this output says that the coupling is unstable. Growth means something for runs of ten macro steps or more only.
    pub fn is_unstable(&self, enough_steps: bool) -> bool {
        self.has_blown_up() || (enough_steps && (self.amplitude_grows() || self.error_grows()))
    }

    fn has_blown_up(&self) -> bool {
        self.reference.peak() > 0.0 && self.own.peak() > BLOWN_UP * self.reference.peak()
    }

    /// Beyond all that the reference has ever been: communication points may show little of an oscillation for a while, with half
    /// a period per step for example, and windows that are shorter than it show less of it in some of them.
    fn amplitude_grows(&self) -> bool {
        if self.reference.grows() {
            return self.own.grows() && self.own.last() > GROWING_REFERENCE * self.reference.peak();
        }
        self.own.grows()
            && self.outgrows_reference()
            && self.own.last() > BEYOND_REFERENCE * self.reference.peak()
    }

    /// True as well where there was nothing at first to grow from.
    fn outgrows_reference(&self) -> bool {
        let (now, at_first) =
            (self.own.last() * self.reference.first(), self.own.first() * self.reference.last());
        now > OUTGROWS * at_first || now == 0.0
    }

    /// A part that grows may begin far below what decays meanwhile: the amplitude is then still less than at the start.
    fn error_grows(&self) -> bool {
        let factor = |fifths: &AmplitudeWindows, i: usize| fifths.0[i] / fifths.0[i - 1];
        let runs_away = |i: usize| factor(&self.error, i) > EXPONENTIAL * factor(&self.reference, i).max(1.0);
        (2..5).all(runs_away) && self.own.last() > BEYOND_REFERENCE * self.reference.last()
    }
}

/// A mean error below this share of the range is small.
const SMALL_MEAN_ERROR: f64 = 0.01;
/// An error that is over has fallen below this share of its peak at the end, over this part of the run or so many points.
const OVER: f64 = 0.5;
const THE_END: f64 = 0.02;
const FEWEST_POINTS: usize = 3;

/// Whether an error was one of a moment: small on the whole, in units of the range, and over. An instability is there to stay.
pub(crate) fn is_passing(
    errors: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator + Clone,
    mean: f64,
) -> bool {
    let points = errors.len();
    let at_end = ((THE_END * points as f64).ceil() as usize).max(FEWEST_POINTS);
    let greatest = |errors: &mut dyn Iterator<Item = f64>| errors.fold(0.0, |a: f64, b| a.max(b.abs()));
    let peak = greatest(&mut errors.clone());
    mean < SMALL_MEAN_ERROR && greatest(&mut errors.rev().take(at_end)) < OVER * peak
}

/// The growth of all outputs over rows at these communication points.
pub(crate) fn growth(times: &[f64], rows: &[f64], mono: &[f64], reference: &Amplitudes) -> Vec<Growth> {
    let outputs = reference.0.len();
    let differences: Vec<f64> = rows.iter().zip(mono).map(|(y, mono)| y - mono).collect();
    let [own, error] = [rows, &differences].map(|rows| Amplitudes::of(times, rows, outputs));
    let each = own.0.iter().zip(&reference.0).zip(&error.0);
    each.map(|((own, reference), error)| Growth { own: *own, reference: *reference, error: *error }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 101 points.
    fn judged(own: impl Fn(f64) -> f64, reference: impl Fn(f64) -> f64) -> bool {
        let rows = |signal: &dyn Fn(f64) -> f64| (0..=100).map(|k| signal(f64::from(k))).collect::<Vec<_>>();
        let (times, own, reference) = (rows(&|k| k), rows(&own), rows(&reference));
        growth(&times, &own, &reference, &Amplitudes::of(&times, &reference, 1))[0].is_unstable(true)
    }

    #[test]
    fn growth_is_judged_against_the_reference() {
        let wave = |k: f64| (0.9 * k).cos();
        assert!(judged(|k| wave(k) * 1.002f64.powf(k), |k| wave(k) * 0.993f64.powf(k)));
        assert!(!judged(|k| wave(k) * 0.999f64.powf(k), |k| wave(k) * 0.993f64.powf(k)));
        // The reference grows as well: a driven system.
        assert!(!judged(|k| 1.3 * k * wave(k), |k| k * wave(k)));
        assert!(judged(|k| 2.3 * k * wave(k), |k| k * wave(k)));
    }

    #[test]
    fn what_is_too_large_all_the_time_does_not_grow() {
        // Pushes of changing size, answered by too much.
        let pushed = |k: f64| 0.9 + 0.1 * (0.37 * k).sin();
        assert!(!judged(|k| 1.6 * pushed(k + 2.0) * (1.0 + 1e-4 * k), pushed));
    }

    #[test]
    fn a_wrong_phase_is_no_growth() {
        // Fast, and so slow that a window sees a part of it only.
        for speed in [0.9, 0.04, 0.022] {
            for shift in (1..60).map(|i| f64::from(i) * 0.05) {
                let own = |k: f64| (speed * k * (1.0 + 0.002 * shift) + shift).sin();
                assert!(!judged(own, |k| (speed * k).sin()), "{speed}, {shift}");
            }
        }
    }

    #[test]
    fn what_grows_below_a_decaying_signal_is_found_by_the_error() {
        let (decaying, growing) = (|k: f64| 0.9f64.powf(k), |k: f64| 1e-4 * (-1.08f64).powi(k as i32));
        let own = |k: f64| decaying(k) + growing(k);
        let times: Vec<f64> = (0..=100).map(f64::from).collect();
        let rows: Vec<f64> = times.iter().copied().map(own).collect();
        assert!(!Amplitudes::of(&times, &rows, 1).0[0].grows());
        assert!(judged(own, decaying));
        // Where it has not reached the signal, it is not yet visible; what adds up with time is not exponential.
        assert!(!judged(|k| 1.0 + 1e-3 * growing(k), |_| 1.0));
        assert!(!judged(|k| decaying(k) + 1e-9 * k.powi(3), decaying));
    }

    #[test]
    fn an_error_of_a_moment_is_no_instability() {
        // A push in the last fifth, answered one step late.
        let push = |k: f64, at: f64| if k < at { 0.01 } else { (0.3 * (k - at)).cos() * 0.9f64.powf(k - at) };
        let pushed = |at: f64| move |k: f64| push(k, at) + if k < 20.0 { 1.2 } else { 0.0 };
        let late = |k: f64| pushed(86.0)(k) + if k == 86.0 { 0.6 } else { 0.0 };
        assert!(judged(late, pushed(86.0)));
        let errors = |own: &dyn Fn(f64) -> f64, mono: &dyn Fn(f64) -> f64| -> Vec<f64> {
            (0..=100).map(|k| own(f64::from(k)) - mono(f64::from(k))).collect()
        };
        let mean = |errors: &[f64]| errors.iter().map(|e| e.abs()).sum::<f64>() / errors.len() as f64;
        let passing = |errors: &[f64]| is_passing(errors.iter().copied(), mean(errors));
        assert!(passing(&errors(&late, &pushed(86.0))));
        // What grows is greatest at the end, however late it began; what is wrong all the time is not of a moment.
        assert!(!passing(&errors(&|k| 1e-30 * 2f64.powf(k), &|_| 0.0)));
        assert!(!passing(&errors(&|k| 1.3 * (0.9 * k).cos() * 0.999f64.powf(k), &|k| (0.9 * k).cos())));
    }

    #[test]
    fn a_single_step_may_blow_up() {
        let growth = |peak: f64| Growth {
            own: AmplitudeWindows([1.0, peak, 0.0, 0.0, 0.0]),
            reference: AmplitudeWindows([1.0; 5]),
            error: AmplitudeWindows::default(),
        };
        assert!(growth(11.0).is_unstable(false) && !growth(9.0).is_unstable(false));
    }
}
