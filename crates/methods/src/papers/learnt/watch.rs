//! Whether inputs from models come nearer to the coupling signal than inputs from signals do.
//!
//! After each step it is known what the input should have been: the mean of z over the step.
//! miss = that minus the input which the models proposed, whether it was followed or not; the same for the input from
//! signals. Models that miss by much more are not followed. Identified models may predict outputs badly and still give good
//! inputs, so it is the inputs that are judged.

use costep_core::{InputSet, Result, StateReader, StateWriter};

/// Squares of misses count this much less with every step.
const MEMORY: f64 = 0.9;
/// Sizes of the changes of the coupling signal are forgotten by this factor per step.
const WEIGHT_MEMORY: f64 = 0.98;
/// Models are not followed if they miss by more than this, over what signals miss by.
const WORST: f64 = 2.0;
/// Inputs from models stay within so many of the greatest recent changes of the coupling signal.
const FURTHEST: f64 = 10.0;

#[derive(Default)]
pub(super) struct Watch {
    /// Inputs from models and from signals for the step that is being done; the first may be missing.
    models: Vec<f64>,
    signals: Vec<f64>,
    proposed: bool,
    weights: Vec<f64>,
    /// Means of squares.
    missed_by_models: f64,
    missed_by_signals: f64,
}

impl Watch {
    pub(super) fn new(inputs: usize) -> Self {
        Self {
            models: vec![0.0; inputs],
            signals: vec![0.0; inputs],
            proposed: false,
            weights: vec![0.0; inputs],
            missed_by_models: 0.0,
            missed_by_signals: 0.0,
        }
    }

    /// Judges what was proposed for the last step.
    pub(super) fn judge(&mut self, inputs: &InputSet, z_before: &[f64], z: &[f64]) {
        let (mut models, mut signals) = (0.0, 0.0);
        for j in inputs.iter() {
            let change = z[j] - z_before[j];
            self.weights[j] = (WEIGHT_MEMORY * self.weights[j]).max(change.abs());
            if self.weights[j] > 0.0 {
                let right = z_before[j] + 0.5 * change;
                models += ((right - self.models[j]) / self.weights[j]).powi(2);
                signals += ((right - self.signals[j]) / self.weights[j]).powi(2);
            }
        }
        if self.proposed {
            self.missed_by_models = MEMORY * self.missed_by_models + models;
            self.missed_by_signals = MEMORY * self.missed_by_signals + signals;
        }
    }

    /// Keeps inputs from models near the coupling signal: one step under a wild input can be one too many.
    pub(super) fn bound(&self, inputs: &InputSet, z: &[f64], u: &mut [f64]) {
        for j in inputs.iter() {
            let limit = FURTHEST * self.weights[j];
            let (low, high) = (z[j] - limit, z[j] + limit);
            u[j] = if low.is_finite() && high.is_finite() { u[j].clamp(low, high) } else { z[j] };
        }
    }

    /// Takes note of the inputs for the next step.
    pub(super) fn propose(&mut self, signals: &[f64], models: Option<&[f64]>) {
        self.signals.copy_from_slice(signals);
        self.proposed = models.is_some();
        if let Some(models) = models {
            self.models.copy_from_slice(models);
        }
    }

    /// miss of the models over miss of the signals; 1 while nothing moves.
    pub(super) fn ratio(&self) -> f64 {
        let ratio = (self.missed_by_models / self.missed_by_signals).sqrt();
        if ratio.is_nan() { 1.0 } else { ratio }
    }

    /// Whether models may be followed.
    pub(super) fn is_good(&self) -> bool {
        self.ratio() <= WORST
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        for values in [&self.models, &self.signals, &self.weights] {
            out.reals(values);
        }
        out.integer(u64::from(self.proposed));
        out.real(self.missed_by_models);
        out.real(self.missed_by_signals);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        for values in [&mut self.models, &mut self.signals, &mut self.weights] {
            from.reals(values)?;
        }
        self.proposed = from.index(2)? == 1;
        self.missed_by_models = from.real()?;
        self.missed_by_signals = from.real()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// z rises by 1 per step; a proposal that is off by `off` from the mean over the step.
    fn watched(off: f64) -> Watch {
        let mut watch = Watch::new(1);
        for k in 0..20 {
            let z = f64::from(k);
            watch.judge(&InputSet::All(1), &[z - 1.0], &[z]);
            watch.propose(&[z], Some(&[z + 0.5 + off]));
        }
        watch
    }

    #[test]
    fn what_misses_more_than_twice_as_much_is_bad() {
        assert!((watched(0.5).ratio() - 1.0).abs() < 1e-12);
        assert!(watched(-0.9).is_good() && !watched(1.1).is_good());
    }

    #[test]
    fn at_rest_nothing_is_bad() {
        let mut watch = Watch::new(1);
        watch.propose(&[1.0], Some(&[1.0]));
        watch.judge(&InputSet::All(1), &[1.0], &[1.0]);
        assert!(watch.is_good());
    }
}
