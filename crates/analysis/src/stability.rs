//! Stable or not, from the amplitudes at the start and at the end of a run [T 3.3.1].

use std::collections::HashMap;

use costep_core::{Port, Result, StateReader, StateWriter};
use costep_engine::{Engine, Flow, Observer};

/// Share of the run in each of the two windows.
const WINDOW: f64 = 0.2;
/// Growth below this is round-off.
const SLACK: f64 = 1.001;
/// What grows has this share of its peak in the last window.
const AT_THE_END: f64 = 0.95;
/// How far beyond the reference a growing amplitude has to be: windows shorter than an oscillation see phases.
const BEYOND_REFERENCE: f64 = 1.05;
/// An amplitude so far beyond that of the reference has not been stable, even if it decays later.
const BLOWN_UP: f64 = 10.0;
/// A reference that grows itself (a driven system, started at rest) says little about small differences.
const SLACK_OF_GROWING_REFERENCE: f64 = 2.0;
/// Coupling error, relative to the signal, below which a growing signal counts as driven, not as unstable.
const TOLERATED_COUPLING_ERROR: f64 = 0.2;

/// Greatest absolute values in the first and in the last fifth of a run, and in all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Windows {
    /// In the first 20 %.
    pub first: f64,
    /// In the last 20 %.
    pub last: f64,
    /// In the whole run.
    pub peak: f64,
}

impl Windows {
    /// Takes a value at a share of the run between 0 and 1.
    pub fn add(&mut self, share: f64, value: f64) {
        // Signals that are no numbers, such as texts.
        let value = if value.is_subnormal() { 0.0 } else { value };
        self.peak = self.peak.max(value.abs());
        // 1e-9: the communication point at exactly 20 % belongs to the window, whatever its round-off.
        if share <= WINDOW + 1e-9 {
            self.first = self.first.max(value.abs());
        }
        if share >= 1.0 - WINDOW - 1e-9 {
            self.last = self.last.max(value.abs());
        }
    }

    /// The thesis' test: the amplitude has grown. And it has its peak at the end: where windows are shorter than an
    /// oscillation, a later one may see more of it without any growth.
    pub fn grows(&self) -> bool {
        self.last > SLACK * self.first && self.last > AT_THE_END * self.peak
    }
}

/// [`Windows`] of every output of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amplitudes(pub Vec<Windows>);

impl Amplitudes {
    /// From rows of outputs at equally spaced instants.
    pub fn of(rows: &[f64], outputs: usize) -> Self {
        let mut amplitudes = Self::new(outputs);
        let last = (rows.len() / outputs.max(1)).max(2) - 1;
        for (k, row) in rows.chunks_exact(outputs.max(1)).enumerate() {
            amplitudes.add(k as f64 / last as f64, row);
        }
        amplitudes
    }

    /// Of nothing yet.
    pub fn new(outputs: usize) -> Self {
        Self(vec![Windows::default(); outputs])
    }

    /// Takes the outputs at a share of the run between 0 and 1.
    pub fn add(&mut self, share: f64, row: &[f64]) {
        self.0.iter_mut().zip(row).for_each(|(windows, y)| windows.add(share, *y));
    }

    /// Greatest ratio of last to first amplitude.
    pub fn ratio(&self) -> f64 {
        self.0.iter().filter(|w| w.first > 0.0).map(|w| w.last / w.first).fold(0.0, f64::max)
    }

    /// Unstable: the amplitude of one output grows [T 3.3.1], beyond that of the reference, or is ten times larger. Means something for runs
    /// of ten macro steps or more.
    pub fn unstable_against(&self, reference: &Self) -> bool {
        self.0.iter().zip(&reference.0).any(|(own, reference)| {
            let beyond = if reference.grows() { SLACK_OF_GROWING_REFERENCE } else { BEYOND_REFERENCE };
            let blown_up = own.peak > BLOWN_UP * reference.peak && reference.peak > 0.0;
            blown_up || (own.grows() && own.last > beyond * reference.last)
        })
    }
}

/// Part of the largest signal of its yardstick below which a signal has hardly begun.
const NEGLIGIBLE: f64 = 1e-12;

/// Fewer macro steps than this are too few for windows of a fifth.
pub(crate) const FEWEST_STEPS: u64 = 10;

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

/// Watches amplitudes while a run goes: of outputs, to be compared with those of a reference, and of inputs with
/// their coupling errors, to judge a run that has none.
#[derive(Clone, Debug, Default)]
pub struct GrowthWatch {
    outputs: Vec<Windows>,
    /// Coupled inputs, and their coupling errors; inputs from outside only stay zero.
    signals: Vec<Windows>,
    errors: Vec<Windows>,
    /// What each input is measured by; made new from the system, not saved.
    yardsticks: Vec<Yardstick>,
    u: Vec<f64>,
    largest_error: f64,
    steps: u64,
}

impl GrowthWatch {
    /// Whether the run is long enough to be judged.
    pub fn can_judge(&self) -> bool {
        self.steps >= FEWEST_STEPS
    }

    /// Whether an output grows beyond the reference.
    pub fn unstable_against(&self, reference: &Amplitudes) -> bool {
        self.can_judge() && self.amplitudes().unstable_against(reference)
    }

    /// A guess without reference: unstable if an input and its coupling error grow and the error is a large part of
    /// the signal. A driven system grows too, but its coupling error stays a small part.
    ///
    /// Signals that have hardly begun do not count: what reaches the far end of a chain grows by powers of time, from
    /// nothing, and says nothing about the coupling before it is of a size with the others. Only what can be compared
    /// is: the verdict does not depend on units.
    pub fn looks_unstable(&self) -> bool {
        let mut largest = vec![0.0_f64; self.yardsticks.len()];
        for (yardstick, signal) in self.yardsticks.iter().zip(&self.signals) {
            let largest = &mut largest[yardstick.group];
            *largest = largest.max(signal.last / yardstick.size);
        }
        let watched = self.yardsticks.iter().zip(&self.signals).zip(&self.errors);
        self.can_judge()
            && watched.into_iter().any(|((yardstick, signal), error)| {
                signal.last / yardstick.size > NEGLIGIBLE * largest[yardstick.group]
                    && signal.grows()
                    && error.grows()
                    && error.last > TOLERATED_COUPLING_ERROR * signal.last
            })
    }

    /// Amplitudes of the outputs.
    pub fn amplitudes(&self) -> Amplitudes {
        Amplitudes(self.outputs.clone())
    }

    /// Coupling error |z - u| of the last communication point, relative to the largest value of the signal so
    /// far: the worst input.
    pub fn coupling_error(&self) -> f64 {
        self.largest_error
    }

    /// What a resumed run needs to be judged as if it had never stopped.
    pub fn save(&self, out: &mut StateWriter) {
        let windows = self.outputs.iter().chain(&self.signals).chain(&self.errors);
        out.reals(&windows.flat_map(|window| [window.first, window.last, window.peak]).collect::<Vec<_>>());
    }

    /// Goes on from what was saved, for a system with so many outputs and inputs.
    pub fn load(&mut self, (outputs, inputs): (usize, usize), from: &mut StateReader<'_>) -> Result<()> {
        let mut values = vec![0.0; 3 * (outputs + 2 * inputs)];
        from.reals(&mut values)?;
        let windows: Vec<_> =
            values.chunks_exact(3).map(|w| Windows { first: w[0], last: w[1], peak: w[2] }).collect();
        self.u = vec![0.0; inputs];
        self.outputs = windows[..outputs].to_vec();
        self.signals = windows[outputs..outputs + inputs].to_vec();
        self.errors = windows[outputs + inputs..].to_vec();
        Ok(())
    }
}

impl Observer for GrowthWatch {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        let (outputs, coupled) = (engine.outputs(), engine.coupled());
        if self.outputs.len() != outputs.len() || self.u.len() != coupled.len() {
            self.u = vec![0.0; coupled.len()];
            self.outputs = vec![Windows::default(); outputs.len()];
            self.signals = vec![Windows::default(); coupled.len()];
            self.errors = self.signals.clone();
        }
        if self.yardsticks.len() != coupled.len() {
            let ports = engine.descriptions().iter().flat_map(|description| &description.inputs);
            self.yardsticks = yardsticks(ports);
        }
        engine.inputs_at_end(&mut self.u);
        self.steps = engine.experiment().steps();
        let share = engine.k() as f64 / self.steps.max(1) as f64;
        self.outputs.iter_mut().zip(outputs).for_each(|(windows, y)| windows.add(share, *y));
        self.largest_error = 0.0;
        for (j, (z, u)) in coupled.iter().zip(&self.u).enumerate() {
            if engine.coupling().sources(j).next().is_none() {
                continue;
            }
            self.signals[j].add(share, *z);
            self.errors[j].add(share, z - u);
            let scale = self.signals[j].first.max(self.signals[j].last).max(z.abs());
            if scale >= f64::MIN_POSITIVE {
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
        let amplitudes = |first, last| Amplitudes(vec![Windows { first, last, peak: f64::max(first, last) }]);
        assert!(amplitudes(1.0, 1.2).unstable_against(&amplitudes(1.0, 0.5)));
        assert!(!amplitudes(1.0, 0.9).unstable_against(&amplitudes(1.0, 0.5)));
        // The reference grows as well: a driven system.
        assert!(!amplitudes(1.0, 3.2).unstable_against(&amplitudes(1.0, 3.0)));
        assert!(amplitudes(1.0, 9.0).unstable_against(&amplitudes(1.0, 3.0)));
    }

    /// A signal grows with its coupling error beside a large one that rests: unstable in whatever units both are, unless
    /// it has hardly begun.
    #[test]
    fn the_guess_does_not_depend_on_units() {
        let still = |size: f64| Windows { first: size, last: size, peak: size };
        let growing = |size: f64| Windows { first: 0.1 * size, last: size, peak: size };
        let looks_unstable = |ports: [Port; 2], large: f64, small: f64| {
            GrowthWatch {
                signals: vec![still(large), growing(small)],
                errors: vec![still(0.0), growing(small)],
                yardsticks: yardsticks(ports.iter()),
                steps: 100,
                ..GrowthWatch::default()
            }
            .looks_unstable()
        };
        let port = |unit: Option<&str>, nominal: Option<f64>| Port {
            unit: unit.map(str::to_owned),
            nominal,
            ..Port::new("u", "1", 1.0)
        };
        // 1e9 Pa and 1 um, in other units, and beside 1e-14 of its nominal value.
        let metres = |unit, nominal| [port(Some("Pa"), Some(1e9)), port(Some(unit), Some(nominal))];
        assert!(looks_unstable(metres("m", 1e-6), 1e9, 1e-6));
        assert!(looks_unstable(metres("km", 1e-9), 1e9, 1e-9));
        assert!(!looks_unstable(metres("m", 1e-6), 1e9, 1e-20));
        // Without nominal values only what has the same unit is compared.
        let units = |first, second| [port(first, None), port(second, None)];
        assert!(looks_unstable(units(Some("Pa"), Some("m")), 1e9, 1e-6));
        assert!(!looks_unstable(units(Some("m"), Some("m")), 1e9, 1e-6));
        assert!(looks_unstable(units(None, None), 1e9, 1e-6));
    }

    #[test]
    fn windows_hold_the_first_and_last_fifth() {
        let rows: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(Amplitudes::of(&rows, 1).0, [Windows { first: 2.0, last: 10.0, peak: 10.0 }]);
    }
}
