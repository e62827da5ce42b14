//! How far the model of one subsystem is to be believed: before and after it has learnt from a step.

use costep_core::{Result, StateReader, StateWriter};

use crate::quality::Quality;

/// Squares of errors and of changes count this much less with every step.
const MEMORY: f64 = 0.9;
/// Sizes of the changes of the outputs are forgotten by this factor per step.
const WEIGHT_MEMORY: f64 = 0.98;
/// A range over the whole past, in steps.
const FOR_EVER: usize = 1 << 52;

/// eps_SI, and rho: errors one step ahead over changes of the outputs.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    quality: Quality,
    weights: Vec<f64>,
    errors: f64,
    changes: f64,
}

impl Judge {
    /// With the range of so many points in eps_SI; 0 for the whole past.
    pub(crate) fn new(outputs: usize, range: usize) -> Self {
        let range = if range == 0 { FOR_EVER } else { range };
        Self { quality: Quality::new(outputs, range), weights: vec![0.0; outputs], errors: 0.0, changes: 0.0 }
    }

    /// Forgets what it has seen: the model is a new one.
    pub(crate) fn reset(&mut self) {
        self.quality.reset();
        self.weights.fill(0.0);
        (self.errors, self.changes) = (0.0, 0.0);
    }

    /// Takes in what was predicted from the last point.
    pub(crate) fn ahead(&mut self, y_before: &[f64], y: &[f64], predicted: &[f64]) {
        let (mut errors, mut changes) = (0.0, 0.0);
        for (i, weight) in self.weights.iter_mut().enumerate() {
            let change = (y[i] - y_before[i]).abs();
            *weight = (WEIGHT_MEMORY * *weight).max(change);
            if *weight > 0.0 {
                errors += ((y[i] - predicted[i]) / *weight).powi(2);
                changes += (change / *weight).powi(2);
            }
        }
        self.errors = MEMORY * self.errors + errors;
        self.changes = MEMORY * self.changes + changes;
    }

    /// Takes in what the model says of the same step after it has learnt from it.
    pub(crate) fn behind(&mut self, y: &[f64], modelled: &[f64]) {
        self.quality.observe(y, modelled);
    }

    /// eps_SI before anything has been seen.
    pub(crate) fn assume(&mut self, eps_si: f64) {
        self.quality.assume(eps_si);
    }

    /// Takes in outputs while there is no model: their range counts.
    pub(crate) fn note(&mut self, y: &[f64]) {
        self.quality.note(y);
    }

    pub(crate) fn eps_si(&self) -> f64 {
        self.quality.value()
    }

    pub(crate) fn rho(&self) -> Option<f64> {
        let rho = (self.errors / self.changes).sqrt();
        (self.changes > 0.0 && !rho.is_nan()).then_some(rho)
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        self.quality.save(out);
        out.reals(&self.weights);
        out.real(self.errors);
        out.real(self.changes);
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.quality.load(from)?;
        from.reals(&mut self.weights)?;
        self.errors = from.real()?;
        self.changes = from.real()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_has_rho_one_and_a_good_model_less() {
        let (mut hold, mut good) = (Judge::new(1, 0), Judge::new(1, 0));
        assert_eq!(hold.rho(), None);
        for k in 0..30 {
            let (before, now) = (f64::from(k).sin(), f64::from(k + 1).sin());
            hold.ahead(&[before], &[now], &[before]);
            good.ahead(&[before], &[now], &[now + 0.01]);
        }
        assert!((hold.rho().unwrap() - 1.0).abs() < 1e-12);
        assert!(good.rho().unwrap() < 0.03);
        good.behind(&[1.0], &[1.5]);
        good.reset();
        assert!(good.rho().is_none() && good.eps_si().is_infinite());
    }
}
