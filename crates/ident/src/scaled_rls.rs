//! Recursive least squares for several targets with one covariance, in units that fit the data: each regressor and
//! each target is divided by the greatest value seen of it. Positions of 0.1 and forces of 1e5 then weigh the same.

use costep_core::{Result, StateReader, StateWriter};
use costep_linalg::Matrix;

use crate::covariance::{Covariance, Forgetting};
use crate::tuning::RlsTuning;

/// t = St T^T (phi ./ sf).
#[derive(Clone, Debug)]
pub struct ScaledRls {
    forgetting: Forgetting,
    /// A scale is raised only when it is exceeded by more than this, so that it settles.
    slack: f64,
    /// sf, 0 while a regressor has only been zero.
    scale: Vec<f64>,
    /// St.
    target_scale: Vec<f64>,
    /// T, one row per regressor.
    theta: Matrix,
    covariance: Covariance,
    scaled: Vec<f64>,
}

impl ScaledRls {
    /// Parameters all zero with variance `start` in scaled units.
    pub fn new(regressors: usize, targets: usize, forgetting: Forgetting, start: f64) -> Self {
        Self {
            forgetting,
            slack: RlsTuning::DEFAULT.slack,
            scale: vec![0.0; regressors],
            target_scale: vec![0.0; targets],
            theta: Matrix::zeros(regressors, targets),
            covariance: Covariance::new(regressors, start),
            scaled: vec![0.0; regressors],
        }
    }

    /// With scales that are raised when they are exceeded by this factor.
    pub fn with_slack(self, slack: f64) -> Self {
        Self { slack, ..self }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.scale.fill(0.0);
        self.target_scale.fill(0.0);
        self.theta.fill(0.0);
        self.covariance.reset();
    }

    /// Starts from parameters, in the units of the data, and the sizes of the data they were found with. What was zero then is unknown.
    pub fn begin(&mut self, sizes: &[f64], target_sizes: &[f64], coefficient: impl Fn(usize, usize) -> f64) {
        self.scale.copy_from_slice(sizes);
        self.target_scale.copy_from_slice(target_sizes);
        for (j, size) in sizes.iter().enumerate() {
            for (i, target) in target_sizes.iter().enumerate() {
                let scaled = coefficient(j, i) * size / target;
                self.theta[(j, i)] = if scaled.is_finite() { scaled } else { 0.0 };
            }
        }
    }

    /// What the past is worth from now on.
    pub fn set_forgetting(&mut self, forgetting: Forgetting) {
        self.forgetting = forgetting;
    }

    /// P <- factor * P.
    pub fn scale_covariance(&mut self, factor: f64) {
        self.covariance.scale(factor);
    }

    /// Persistence of excitation, 0 to 1.
    pub fn excitation(&self) -> f64 {
        self.covariance.excitation(|j| f64::from(u8::from(self.scale[j] > 0.0)))
    }

    /// The parameter between regressor j and target i, in the units of the data.
    pub fn coefficient(&self, j: usize, i: usize) -> f64 {
        if self.scale[j] > 0.0 { self.theta[(j, i)] * self.target_scale[i] / self.scale[j] } else { 0.0 }
    }

    /// The targets that belong to a regressor.
    pub fn predict(&self, phi: &[f64], targets: &mut [f64]) {
        targets.fill(0.0);
        for (j, (phi, scale)) in phi.iter().zip(&self.scale).enumerate() {
            if *phi != 0.0 && *scale > 0.0 {
                let f = phi / scale;
                targets.iter_mut().zip(self.theta.row(j)).for_each(|(t, theta)| *t += theta * f);
            }
        }
        targets.iter_mut().zip(&self.target_scale).for_each(|(t, scale)| *t *= scale);
    }

    /// Takes in a sample. `least` and `least_target` are sizes below which values are round-off.
    pub fn update(&mut self, phi: &[f64], targets: &[f64], least: &[f64], least_target: &[f64]) {
        self.raise_scales(phi, targets, least, least_target);
        for ((scaled, phi), scale) in self.scaled.iter_mut().zip(phi).zip(&self.scale) {
            *scaled = if *scale > 0.0 { phi / scale } else { 0.0 };
        }
        self.covariance.update(&self.scaled, self.forgetting);
        for (i, target) in targets.iter().enumerate() {
            if self.target_scale[i] == 0.0 {
                continue;
            }
            let predicted: f64 = self.scaled.iter().enumerate().map(|(j, f)| self.theta[(j, i)] * f).sum();
            let error = target / self.target_scale[i] - predicted;
            for (j, gain) in self.covariance.gain().iter().enumerate() {
                self.theta[(j, i)] += gain * error;
            }
        }
    }

    fn raise_scales(&mut self, phi: &[f64], targets: &[f64], least: &[f64], least_target: &[f64]) {
        for j in 0..phi.len() {
            if let Some(growth) = raise(&mut self.scale[j], self.slack, phi[j].abs().max(least[j])) {
                self.theta.row_mut(j).iter_mut().for_each(|theta| *theta *= growth);
                self.covariance.scale_parameter(j, growth);
                self.confine(j);
            }
        }
        for i in 0..targets.len() {
            let target = targets[i].abs().max(least_target[i]);
            if let Some(growth) = raise(&mut self.target_scale[i], self.slack, target) {
                (0..phi.len()).for_each(|j| self.theta[(j, i)] /= growth);
            }
        }
    }

    /// Values that were tiny when they were first seen must not leave a parameter without any prior: along combinations that the
    /// data never show, what was fitted to the tiny values would stay, in units that have become huge.
    fn confine(&mut self, j: usize) {
        if !self.covariance.confine(j) {
            return;
        }
        for i in 0..self.target_scale.len() {
            let excess = self.theta[(j, i)];
            for (l, gain) in self.covariance.gain().iter().enumerate() {
                self.theta[(l, i)] -= gain * excess;
            }
        }
    }

    /// Writes its memory.
    pub fn save(&self, out: &mut StateWriter) {
        out.reals(&self.scale);
        out.reals(&self.target_scale);
        out.reals(self.theta.data());
        self.covariance.save(out);
    }

    /// Reads its memory.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.scale)?;
        from.reals(&mut self.target_scale)?;
        from.reals(self.theta.data_mut())?;
        self.covariance.load(from)
    }
}

/// Raises a scale to a value that exceeds it by more than the slack. Gives the factor if there was a scale before.
fn raise(scale: &mut f64, slack: f64, value: f64) -> Option<f64> {
    if *scale == 0.0 {
        *scale = value;
        None
    } else if value > slack * *scale {
        let growth = value / *scale;
        *scale = value;
        Some(growth)
    } else {
        None
    }
}
