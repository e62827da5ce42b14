//! What is kept of a run while it goes, to judge it when it has ended.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use costep_core::{Port, Result, StateReader, StateWriter};
use costep_engine::divergence::limits;
use costep_engine::{Engine, Flow, Observer};

use crate::amplitude_windows::{AmplitudeWindows, Amplitudes, WINDOWS, windows_at};
use crate::reference::Twin;
use crate::samples::Samples;
use crate::stability::{FEWEST_STEPS, Growth};

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

/// So many values are looked at one by one: they have just been written one by one, and a processor that wants several of
/// them at once has to wait until they have left its store buffer.
const FEW: usize = 8;

/// Greatest absolute values of some signals. Those of the newest points are kept apart, one number per signal, until the
/// windows change: five for each would be too much for every step.
#[derive(Clone, Debug, Default)]
struct Peaks {
    fifths: Vec<AmplitudeWindows>,
    /// Of the points that are not in `fifths` yet.
    newest: Vec<f64>,
}

impl Peaks {
    fn of(fifths: Vec<AmplitudeWindows>) -> Self {
        Self { newest: vec![0.0; fifths.len()], fifths }
    }

    /// Takes a value of every signal. What is no number, such as text, is smaller than all that are, so that it is enough
    /// to sort it out when the newest points are put into their windows.
    #[inline(always)]
    fn add(&mut self, values: impl Iterator<Item = f64>) {
        if self.newest.len() > FEW {
            return self.add_many(values);
        }
        for (peak, value) in self.newest.iter_mut().zip(values.map(f64::abs)) {
            if value > *peak {
                *peak = value;
            }
        }
    }

    #[inline(never)]
    fn add_many(&mut self, values: impl Iterator<Item = f64>) {
        let each = self.newest.iter_mut().zip(values.map(f64::abs));
        each.for_each(|(peak, value)| *peak = if value > *peak { value } else { *peak });
    }

    /// With the newest points, which belong to these windows.
    fn settled(&self, windows: &RangeInclusive<usize>) -> impl Iterator<Item = AmplitudeWindows> {
        self.fifths.iter().zip(&self.newest).map(|(fifths, newest)| {
            let mut settled = *fifths;
            settled.add(windows.clone(), *newest);
            settled
        })
    }

    /// Puts the newest points into their windows.
    fn settle(&mut self, windows: &RangeInclusive<usize>) {
        for (fifths, newest) in self.fifths.iter_mut().zip(&mut self.newest) {
            fifths.add(windows.clone(), std::mem::take(newest));
        }
    }
}

/// Watches amplitudes while a run goes: of outputs, to be compared with those of a reference, and of inputs with
/// their coupling errors, to judge a run that has none.
#[derive(Clone, Debug)]
pub struct GrowthWatch {
    outputs: Peaks,
    /// Coupled inputs, and their coupling errors; inputs from outside only stay zero.
    signals: Peaks,
    errors: Peaks,
    /// Inputs from outside only.
    outside: Vec<usize>,
    /// What each input is measured by; made new from the system, not saved.
    yardsticks: Vec<Yardstick>,
    /// Outputs to be compared with a twin, if there will be one.
    samples: Option<Samples>,
    /// Inputs at the end of the last step, where they were not held.
    u: Vec<f64>,
    steps: u64,
    /// The windows of the newest points, and the first communication point that may belong to others.
    windows: RangeInclusive<usize>,
    until: u64,
}

impl Default for GrowthWatch {
    fn default() -> Self {
        Self {
            outputs: Peaks::default(),
            signals: Peaks::default(),
            errors: Peaks::default(),
            outside: Vec::new(),
            yardsticks: Vec::new(),
            samples: None,
            u: Vec::new(),
            steps: 0,
            windows: 0..=0,
            until: 0,
        }
    }
}

impl GrowthWatch {
    /// One that keeps what [`Twin`] needs.
    pub fn with_samples() -> Self {
        Self { samples: Some(Samples::default()), ..Self::default() }
    }

    /// Whether the run is long enough to be judged.
    pub fn can_judge(&self) -> bool {
        self.steps >= FEWEST_STEPS
    }

    /// Whether the run is unstable by its twin, the same system solved as one.
    pub fn is_unstable_against(&self, twin: &Twin) -> bool {
        let each = self.outputs.settled(&self.windows).zip(&twin.amplitudes.0).zip(&twin.errors.0);
        each.map(|((own, reference), error)| Growth { own, reference: *reference, error: *error })
            .any(|growth| growth.is_unstable(self.can_judge()))
    }

    /// The samples that were kept.
    pub(crate) fn samples(&self) -> Option<&Samples> {
        self.samples.as_ref()
    }

    /// A guess without reference: unstable if an input and its coupling error grow and the error is a large part of
    /// the signal. A driven system grows too, but its coupling error stays a small part.
    ///
    /// Signals that have hardly begun do not count: what reaches the far end of a chain grows by powers of time, from
    /// nothing, and says nothing about the coupling before it is of a size with the others. Only what can be compared
    /// is: the verdict does not depend on units.
    pub fn looks_unstable(&self) -> bool {
        let signals = || self.yardsticks.iter().zip(self.signals.settled(&self.windows));
        let mut largest = vec![0.0_f64; self.yardsticks.len()];
        for (yardstick, signal) in signals() {
            let largest = &mut largest[yardstick.group];
            *largest = largest.max(signal.last() / yardstick.size);
        }
        self.can_judge()
            && signals().zip(self.errors.settled(&self.windows)).any(|((yardstick, signal), error)| {
                signal.last() / yardstick.size > limits::NEGLIGIBLE * largest[yardstick.group]
                    && signal.grows()
                    && error.grows()
                    && error.last() > limits::COUPLING_ERROR * signal.last()
            })
    }

    /// Amplitudes of the outputs.
    pub fn amplitudes(&self) -> Amplitudes {
        Amplitudes(self.outputs.settled(&self.windows).collect())
    }

    /// Coupling error |z - u| at the communication point of the engine, the last one that was seen, relative to the
    /// largest value of the signal so far: the worst input. Zero before a point was seen.
    pub fn coupling_error(&self, engine: &Engine) -> f64 {
        if self.until == 0 {
            return 0.0;
        }
        let u = engine.held_inputs().unwrap_or(&self.u);
        let each = engine.coupled().iter().zip(u).zip(self.signals.settled(&self.windows)).enumerate();
        each.filter(|(j, _)| engine.coupling().sources(*j).next().is_some())
            .map(|(_, ((z, u), signal))| ((z - u).abs(), signal.first().max(signal.last()).max(z.abs())))
            .filter(|(_, scale)| *scale >= f64::MIN_POSITIVE)
            .fold(0.0, |largest, (error, scale)| largest.max(error / scale))
    }

    /// What a resumed run needs to be judged as if it had never stopped.
    pub fn save(&self, out: &mut StateWriter) {
        let all = [&self.outputs, &self.signals, &self.errors];
        let windows = all.into_iter().flat_map(|peaks| peaks.settled(&self.windows));
        out.reals(&windows.flat_map(|fifths| fifths.0).collect::<Vec<_>>());
        self.samples.iter().for_each(|samples| samples.save(out));
    }

    /// Goes on from what was saved, for a system with so many outputs and inputs.
    pub fn load(&mut self, (outputs, inputs): (usize, usize), from: &mut StateReader<'_>) -> Result<()> {
        let mut values = vec![0.0; WINDOWS * (outputs + 2 * inputs)];
        from.reals(&mut values)?;
        let windows: Vec<_> = values.as_chunks().0.iter().map(|values| AmplitudeWindows(*values)).collect();
        self.u = vec![0.0; inputs];
        self.outputs = Peaks::of(windows[..outputs].to_vec());
        self.signals = Peaks::of(windows[outputs..outputs + inputs].to_vec());
        self.errors = Peaks::of(windows[outputs + inputs..].to_vec());
        self.until = 0;
        self.samples.iter_mut().try_for_each(|samples| samples.load(outputs, from))
    }

    /// Learns about the system, if that is new, and turns to the windows of the present communication point.
    #[cold]
    #[inline(never)]
    fn turn_to(&mut self, engine: &Engine) {
        let (outputs, inputs) = (engine.outputs().len(), engine.coupled().len());
        if self.outputs.fifths.len() != outputs || self.u.len() != inputs {
            self.u = vec![0.0; inputs];
            self.outputs = Peaks::of(vec![AmplitudeWindows::default(); outputs]);
            self.signals = Peaks::of(vec![AmplitudeWindows::default(); inputs]);
            self.errors = self.signals.clone();
        }
        if self.yardsticks.len() != inputs {
            let ports = engine.descriptions().iter().flat_map(|description| &description.inputs);
            self.yardsticks = yardsticks(ports);
            let is_outside = |j: &usize| engine.coupling().sources(*j).next().is_none();
            self.outside = (0..inputs).filter(is_outside).collect();
        }
        self.steps = engine.experiment().steps();
        let windows = windows_at(engine.progress());
        if windows != self.windows {
            for peaks in [&mut self.outputs, &mut self.signals, &mut self.errors] {
                peaks.settle(&self.windows);
            }
        }
        self.until = self.last_point_of(&windows, engine) + 1;
        self.windows = windows;
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
}

impl Observer for GrowthWatch {
    #[inline(always)]
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        if engine.k() >= self.until {
            self.turn_to(engine);
        }
        let (outputs, coupled) = (engine.outputs(), engine.coupled());
        self.outputs.add(outputs.iter().copied());
        self.signals.add(coupled.iter().copied());
        let u = engine.held_inputs().unwrap_or_else(|| {
            engine.inputs_at_end(&mut self.u);
            &self.u
        });
        self.errors.add(coupled.iter().zip(u).map(|(z, u)| z - u));
        for j in self.outside.iter().copied() {
            (self.signals.newest[j], self.errors.newest[j]) = (0.0, 0.0);
        }
        if let Some(samples) = &mut self.samples {
            samples.add(engine.k(), self.steps, outputs);
        }
        Ok(Flow::Continue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signal grows with its coupling error beside a large one that rests: unstable in whatever units both are, unless
    /// it has hardly begun.
    #[test]
    fn the_guess_does_not_depend_on_units() {
        let still = |size: f64| AmplitudeWindows([size; WINDOWS]);
        let growing = |size: f64| AmplitudeWindows([0.1, 0.2, 0.4, 0.6, 1.0].map(|share| share * size));
        let looks_unstable = |ports: [Port; 2], large: f64, small: f64| {
            GrowthWatch {
                signals: Peaks::of(vec![still(large), growing(small)]),
                errors: Peaks::of(vec![still(0.0), growing(small)]),
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
}
