//! One record per subsystem of what a model-based method derives from its local model, renewed when the model or the
//! step changes.

use costep_core::{LocalModel, Result, Signals, StepContext};

use super::models::{bad_model, no_model};

/// Records, and the versions of the models they were derived from.
#[derive(Debug, Default)]
pub(crate) struct PerSubsystem<P> {
    pub(crate) each: Vec<P>,
    versions: Vec<Option<u64>>,
    /// The step that the records are of.
    h: f64,
    /// Of the models, when they were last compared.
    generation: Option<u64>,
    /// A model has been seen that may change.
    changing: bool,
}

impl<P: Default> PerSubsystem<P> {
    pub(crate) fn new(subsystems: usize) -> Self {
        Self {
            each: (0..subsystems).map(|_| P::default()).collect(),
            versions: vec![None; subsystems],
            h: 0.0,
            generation: None,
            changing: false,
        }
    }

    /// Another state has been loaded. Versions count the changes of one history: in another one the same number may be
    /// that of another model, unless models never change.
    pub(crate) fn restored(&mut self) {
        if self.changing {
            self.forget();
        }
    }

    /// All records are renewed in the next step.
    pub(crate) fn forget(&mut self) {
        self.versions.fill(None);
        self.generation = None;
    }

    /// Differs where any record has been renewed for another model or step.
    pub(crate) fn edition(&self) -> (u64, f64) {
        (self.versions.iter().flatten().fold(0, |sum, version| sum.wrapping_add(*version)), self.h)
    }

    /// Calls `update(record, number, model)` where a model or the step has changed. Says whether any has.
    pub(crate) fn refresh(
        &mut self,
        step: &StepContext,
        signals: &Signals<'_>,
        mut update: impl FnMut(&mut P, usize, &LocalModel) -> Result<(), &'static str>,
    ) -> Result<bool> {
        let new_step = step.h != self.h;
        self.h = step.h;
        let generation = signals.models.generation();
        if !new_step && generation.is_some() && generation == self.generation {
            return Ok(false);
        }
        let mut changed = false;
        for (i, (part, known)) in self.each.iter_mut().zip(&mut self.versions).enumerate() {
            let version = Some(signals.models.version(i));
            if *known == version && !new_step {
                continue;
            }
            *known = version;
            let model = signals.models.model(i).ok_or_else(|| no_model(signals, i))?;
            self.changing |= !model.is_constant;
            update(part, i, model).map_err(|cause| bad_model(signals, i, cause))?;
            changed = true;
        }
        self.generation = generation;
        Ok(changed)
    }
}

/// Row i of a row-major matrix times a vector.
#[inline]
pub(crate) fn row(matrix: &[f64], i: usize, vector: &[f64]) -> f64 {
    let width = vector.len();
    matrix[i * width..(i + 1) * width].iter().zip(vector).map(|(a, v)| a * v).sum()
}

/// A ramp of slope 1 over a step h is h (Q_0 / 2 + Q_1 / (2 sqrt 3)).
pub(crate) const RAMP: [f64; 2] = [0.5, 0.288_675_134_594_812_9];
