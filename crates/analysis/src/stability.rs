//! Stable or not, from the amplitudes at the start and at the end of a run [T 3.3.1].

use costep_core::{Result, StateReader, StateWriter};
use costep_engine::{Engine, Flow, Observer};

/// Share of the run in each of the two windows.
const WINDOW: f64 = 0.2;
/// Growth below this is round-off.
const SLACK: f64 = 1.001;
/// A reference that grows itself (a driven system, started at rest) says little about small differences.
const SLACK_OF_GROWING_REFERENCE: f64 = 2.0;
/// Coupling error, relative to the signal, below which a growing signal counts as driven, not as unstable.
const TOLERATED_COUPLING_ERROR: f64 = 0.2;

/// Greatest absolute values in the first and in the last fifth of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Windows {
    /// In the first 20 %.
    pub first: f64,
    /// In the last 20 %.
    pub last: f64,
}

impl Windows {
    /// Takes a value at a share of the run between 0 and 1.
    pub fn add(&mut self, share: f64, value: f64) {
        // 1e-9: the communication point at exactly 20 % belongs to the window, whatever its round-off.
        if share <= WINDOW + 1e-9 {
            self.first = self.first.max(value.abs());
        }
        if share >= 1.0 - WINDOW - 1e-9 {
            self.last = self.last.max(value.abs());
        }
    }

    /// The thesis' test: the amplitude has grown.
    pub fn grows(&self) -> bool {
        self.last > SLACK * self.first
    }
}

/// [`Windows`] of every output of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amplitudes(pub Vec<Windows>);

impl Amplitudes {
    /// From rows of outputs at equally spaced instants.
    pub fn of(rows: &[f64], outputs: usize) -> Self {
        let mut windows = vec![Windows::default(); outputs];
        let last = (rows.len() / outputs.max(1)).max(2) - 1;
        for (k, row) in rows.chunks_exact(outputs.max(1)).enumerate() {
            windows.iter_mut().zip(row).for_each(|(w, y)| w.add(k as f64 / last as f64, *y));
        }
        Self(windows)
    }

    /// Greatest ratio of last to first amplitude.
    pub fn ratio(&self) -> f64 {
        self.0.iter().filter(|w| w.first > 0.0).map(|w| w.last / w.first).fold(0.0, f64::max)
    }

    /// Unstable: the amplitude of one output grows [T 3.3.1], beyond that of the reference.
    pub fn unstable_against(&self, reference: &Self) -> bool {
        self.0.iter().zip(&reference.0).any(|(own, reference)| {
            let slack = if reference.grows() { SLACK_OF_GROWING_REFERENCE } else { SLACK };
            own.grows() && own.last > slack * reference.last
        })
    }
}

/// Judges a run without reference: unstable if an input and its coupling error grow and the error is a large
/// part of the signal. A driven system grows too, but its coupling error stays a small part.
#[derive(Clone, Debug, Default)]
pub struct GrowthWatch {
    signals: Vec<Windows>,
    errors: Vec<Windows>,
    u: Vec<f64>,
    largest_error: f64,
}

impl GrowthWatch {
    /// Whether the run looked unstable.
    pub fn unstable(&self) -> bool {
        self.signals.iter().zip(&self.errors).any(|(signal, error)| {
            signal.grows() && error.grows() && error.last > TOLERATED_COUPLING_ERROR * signal.last
        })
    }

    /// Greatest ratio of last to first amplitude of an input.
    pub fn ratio(&self) -> f64 {
        Amplitudes(self.signals.clone()).ratio()
    }

    /// Coupling error |z - u| of the last communication point, relative to the largest value of the signal so
    /// far: the worst input.
    pub fn coupling_error(&self) -> f64 {
        self.largest_error
    }

    /// What a resumed run needs to be judged as if it had never stopped.
    pub fn save(&self, out: &mut StateWriter) {
        let windows = self.signals.iter().chain(&self.errors);
        out.reals(&windows.flat_map(|window| [window.first, window.last]).collect::<Vec<_>>());
    }

    /// Goes on from what was saved, for a system with this number of inputs.
    pub fn load(&mut self, inputs: usize, from: &mut StateReader<'_>) -> Result<()> {
        let mut values = vec![0.0; 4 * inputs];
        from.reals(&mut values)?;
        let windows: Vec<_> =
            values.chunks_exact(2).map(|pair| Windows { first: pair[0], last: pair[1] }).collect();
        self.u = vec![0.0; inputs];
        self.signals = windows[..inputs].to_vec();
        self.errors = windows[inputs..].to_vec();
        Ok(())
    }
}

impl Observer for GrowthWatch {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        let coupled = engine.coupled();
        if self.u.len() != coupled.len() {
            self.u = vec![0.0; coupled.len()];
            self.signals = vec![Windows::default(); coupled.len()];
            self.errors = self.signals.clone();
        }
        engine.inputs_at_end(&mut self.u);
        let share = engine.k() as f64 / engine.experiment().steps().max(1) as f64;
        self.largest_error = 0.0;
        for (j, (z, u)) in coupled.iter().zip(&self.u).enumerate() {
            self.signals[j].add(share, *z);
            self.errors[j].add(share, z - u);
            let scale = self.signals[j].first.max(self.signals[j].last).max(z.abs());
            if scale > 0.0 {
                self.largest_error = self.largest_error.max((z - u).abs() / scale);
            }
        }
        Ok(Flow::Continue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_judged_against_the_reference() {
        let amplitudes = |first, last| Amplitudes(vec![Windows { first, last }]);
        assert!(amplitudes(1.0, 1.2).unstable_against(&amplitudes(1.0, 0.5)));
        assert!(!amplitudes(1.0, 0.9).unstable_against(&amplitudes(1.0, 0.5)));
        // The reference grows as well: a driven system.
        assert!(!amplitudes(1.0, 3.2).unstable_against(&amplitudes(1.0, 3.0)));
        assert!(amplitudes(1.0, 9.0).unstable_against(&amplitudes(1.0, 3.0)));
    }

    #[test]
    fn windows_hold_the_first_and_last_fifth() {
        let rows: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(Amplitudes::of(&rows, 1).0, [Windows { first: 2.0, last: 10.0 }]);
    }
}
