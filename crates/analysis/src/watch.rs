//! What is kept of a run while it goes, to judge it when it has ended.

use std::collections::HashMap;

use costep_core::{Port, Result, StateReader, StateWriter};
use costep_engine::divergence::limits;
use costep_engine::{Engine, Flow, Observer};

use crate::fifths::{Amplitudes, Fifths, WINDOWS, windows_at};
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

/// Watches amplitudes while a run goes: of outputs, to be compared with those of a reference, and of inputs with
/// their coupling errors, to judge a run that has none.
#[derive(Clone, Debug, Default)]
pub struct GrowthWatch {
    outputs: Vec<Fifths>,
    /// Coupled inputs, and their coupling errors; inputs from outside only stay zero.
    signals: Vec<Fifths>,
    errors: Vec<Fifths>,
    /// What each input is measured by; made new from the system, not saved.
    yardsticks: Vec<Yardstick>,
    /// Outputs to be compared with a twin, if there will be one.
    samples: Option<Samples>,
    u: Vec<f64>,
    largest_error: f64,
    steps: u64,
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
        let each = self.outputs.iter().zip(&twin.amplitudes.0).zip(&twin.errors.0);
        each.map(|((own, reference), error)| Growth { own: *own, reference: *reference, error: *error })
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
        let mut largest = vec![0.0_f64; self.yardsticks.len()];
        for (yardstick, signal) in self.yardsticks.iter().zip(&self.signals) {
            let largest = &mut largest[yardstick.group];
            *largest = largest.max(signal.last() / yardstick.size);
        }
        let watched = self.yardsticks.iter().zip(&self.signals).zip(&self.errors);
        self.can_judge()
            && watched.into_iter().any(|((yardstick, signal), error)| {
                signal.last() / yardstick.size > limits::NEGLIGIBLE * largest[yardstick.group]
                    && signal.grows()
                    && error.grows()
                    && error.last() > limits::COUPLING_ERROR * signal.last()
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
        out.reals(&windows.flat_map(|fifths| fifths.0).collect::<Vec<_>>());
        self.samples.iter().for_each(|samples| samples.save(out));
    }

    /// Goes on from what was saved, for a system with so many outputs and inputs.
    pub fn load(&mut self, (outputs, inputs): (usize, usize), from: &mut StateReader<'_>) -> Result<()> {
        let mut values = vec![0.0; WINDOWS * (outputs + 2 * inputs)];
        from.reals(&mut values)?;
        let windows: Vec<_> = values.as_chunks().0.iter().map(|values| Fifths(*values)).collect();
        self.u = vec![0.0; inputs];
        self.outputs = windows[..outputs].to_vec();
        self.signals = windows[outputs..outputs + inputs].to_vec();
        self.errors = windows[outputs + inputs..].to_vec();
        self.samples.iter_mut().try_for_each(|samples| samples.load(outputs, from))
    }
}

impl Observer for GrowthWatch {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        let (outputs, coupled) = (engine.outputs(), engine.coupled());
        if self.outputs.len() != outputs.len() || self.u.len() != coupled.len() {
            self.u = vec![0.0; coupled.len()];
            self.outputs = vec![Fifths::default(); outputs.len()];
            self.signals = vec![Fifths::default(); coupled.len()];
            self.errors = self.signals.clone();
        }
        if self.yardsticks.len() != coupled.len() {
            let ports = engine.descriptions().iter().flat_map(|description| &description.inputs);
            self.yardsticks = yardsticks(ports);
        }
        engine.inputs_at_end(&mut self.u);
        self.steps = engine.experiment().steps();
        let windows = windows_at(engine.progress());
        self.outputs.iter_mut().zip(outputs).for_each(|(fifths, y)| fifths.add(windows.clone(), *y));
        if let Some(samples) = &mut self.samples {
            samples.add(engine.k(), self.steps, outputs);
        }
        self.largest_error = 0.0;
        for (j, (z, u)) in coupled.iter().zip(&self.u).enumerate() {
            if engine.coupling().sources(j).next().is_none() {
                continue;
            }
            self.signals[j].add(windows.clone(), *z);
            self.errors[j].add(windows.clone(), z - u);
            let scale = self.signals[j].first().max(self.signals[j].last()).max(z.abs());
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

    /// A signal grows with its coupling error beside a large one that rests: unstable in whatever units both are, unless
    /// it has hardly begun.
    #[test]
    fn the_guess_does_not_depend_on_units() {
        let still = |size: f64| Fifths([size; WINDOWS]);
        let growing = |size: f64| Fifths([0.1, 0.2, 0.4, 0.6, 1.0].map(|share| share * size));
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
}
