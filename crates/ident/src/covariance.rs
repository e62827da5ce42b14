//! The covariance of recursive least squares as a square root, P = S S^T (Potter): P stays positive whatever the
//! round-off, which the plain form does not in long idle phases.

use costep_core::{Result, StateReader, StateWriter};
use costep_linalg::Matrix;

/// What the past is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Forgetting {
    /// Everything counts lambda times less with every sample. Directions that are not excited are forgotten too:
    /// their variance grows until it reaches a limit, from where on only the excited direction forgets.
    Exponential(f64),
    /// Only the direction that is excited forgets: nothing winds up in idle phases.
    Directional(f64),
}

/// How much larger than at the start the greatest variance may become.
const GREATEST_GROWTH: f64 = 1e6;

/// P = S S^T and the gain of the last sample.
#[derive(Clone, Debug)]
pub struct Covariance {
    root: Matrix,
    start: f64,
    /// S^T f.
    projected: Vec<f64>,
    /// P f / (1 + f^T P f), or with lambda in place of 1: what a unit error changes the parameters by.
    gain: Vec<f64>,
}

impl Covariance {
    /// P = start * I.
    pub fn new(size: usize, start: f64) -> Self {
        let mut covariance = Self {
            root: Matrix::zeros(size, size),
            start,
            projected: vec![0.0; size],
            gain: vec![0.0; size],
        };
        covariance.reset();
        covariance
    }

    /// Back to the start.
    pub fn reset(&mut self) {
        self.root.set_identity();
        self.root.scale(self.start.sqrt());
    }

    /// P <- factor * P.
    pub fn scale(&mut self, factor: f64) {
        self.root.scale(factor.sqrt());
    }

    /// Parameter j in another unit: P_jl <- P_jl g_j g_l.
    pub fn scale_parameter(&mut self, j: usize, factor: f64) {
        self.root.row_mut(j).iter_mut().for_each(|x| *x *= factor);
    }

    /// Takes in, if parameter j is hardly known at all, that it is zero up to a large variance. A measurement like any
    /// other, so that what is known of combinations stays; cutting a diagonal entry of P would destroy it. Says whether `gain` holds what a
    /// unit of this parameter changes all of them by.
    pub fn confine(&mut self, j: usize) -> bool {
        let limit = GREATEST_GROWTH * self.start;
        let row = self.root.row(j);
        let variance: f64 = row.iter().map(|x| x * x).sum();
        if variance <= limit {
            return false;
        }
        // As in `update` with f = e_j / sqrt(limit) and nothing forgotten.
        self.projected.copy_from_slice(row);
        self.gain.fill(0.0);
        self.root.multiply_add(&self.projected, &mut self.gain);
        let kappa = (1.0 - (limit / (limit + variance)).sqrt()) / variance;
        for (i, gain) in self.gain.iter_mut().enumerate() {
            let factor = kappa * *gain;
            self.root.row_mut(i).iter_mut().zip(&self.projected).for_each(|(s, g)| *s -= factor * g);
            *gain /= limit + variance;
        }
        true
    }

    /// Takes in a regressor f. Gives f^T P f before it, how uncertain its prediction was.
    pub fn update(&mut self, f: &[f64], forgetting: Forgetting) -> f64 {
        self.projected.fill(0.0);
        for (j, f) in f.iter().enumerate().filter(|(_, f)| **f != 0.0) {
            self.projected.iter_mut().zip(self.root.row(j)).for_each(|(p, s)| *p += s * f);
        }
        let spread: f64 = self.projected.iter().map(|x| x * x).sum();
        self.gain.fill(0.0);
        if !(spread > 0.0 && spread.is_finite()) {
            return 0.0;
        }
        self.root.multiply_add(&self.projected, &mut self.gain);
        let forgetting = self.limited(forgetting);
        // S <- S (I - kappa g g^T) with g = S^T f, such that P becomes what the recursion says.
        let (kept, denominator, growth) = match forgetting {
            Forgetting::Exponential(lambda) => (lambda / (lambda + spread), lambda + spread, 1.0 / lambda),
            Forgetting::Directional(lambda) => (1.0 / (lambda * (1.0 + spread)), 1.0 + spread, 1.0),
        };
        let kappa = (1.0 - kept.sqrt()) / spread;
        for (j, gain) in self.gain.iter().enumerate() {
            let factor = kappa * gain;
            self.root.row_mut(j).iter_mut().zip(&self.projected).for_each(|(s, g)| *s -= factor * g);
        }
        self.gain.iter_mut().for_each(|x| *x /= denominator);
        if growth > 1.0 {
            self.scale(growth);
        }
        spread
    }

    /// No wind-up: a variance at its limit must not grow any more.
    fn limited(&self, forgetting: Forgetting) -> Forgetting {
        match forgetting {
            Forgetting::Exponential(lambda)
                if self.greatest_variance() > lambda * GREATEST_GROWTH * self.start =>
            {
                Forgetting::Directional(lambda)
            }
            _ => forgetting,
        }
    }

    fn greatest_variance(&self) -> f64 {
        (0..self.root.rows()).map(|j| self.variance(j)).fold(0.0, f64::max)
    }

    /// How uncertain parameter j is: P_jj.
    pub fn variance(&self, j: usize) -> f64 {
        self.root.row(j).iter().map(|x| x * x).sum()
    }

    /// Persistence of excitation: 1 / (1 + P_jj) of the parameter that is known least, `unit(j)` being the size of its regressor. Near
    /// 1 where many samples speak of every parameter, 0 where none speaks of one of them.
    pub fn excitation(&self, unit: impl Fn(usize) -> f64) -> f64 {
        let known =
            |j: usize| if unit(j) > 0.0 { 1.0 / (1.0 + self.variance(j) * unit(j).powi(2)) } else { 0.0 };
        (0..self.root.rows()).map(known).fold(1.0, f64::min)
    }

    /// What a unit error of the last prediction changes the parameters by.
    pub fn gain(&self) -> &[f64] {
        &self.gain
    }

    /// Writes P.
    pub fn save(&self, out: &mut StateWriter) {
        out.reals(self.root.data());
    }

    /// Reads P.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(self.root.data_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P by the plain recursion of the papers.
    fn plain(p: &mut [[f64; 2]; 2], f: [f64; 2], forgetting: Forgetting) {
        let pf = [0, 1].map(|i| p[i][0] * f[0] + p[i][1] * f[1]);
        let spread = f[0] * pf[0] + f[1] * pf[1];
        let (weight, growth) = match forgetting {
            Forgetting::Exponential(lambda) => (1.0 / (lambda + spread), 1.0 / lambda),
            Forgetting::Directional(lambda) => {
                let b = lambda - (1.0 - lambda) / spread;
                (1.0 / (1.0 / b + spread), 1.0)
            }
        };
        for i in 0..2 {
            for j in 0..2 {
                p[i][j] = growth * (p[i][j] - weight * pf[i] * pf[j]);
            }
        }
    }

    #[test]
    fn a_confined_parameter_has_a_variance_again_and_its_combinations_stay() {
        let mut covariance = Covariance::new(2, 1e-6);
        // p0 + p1 is known well; in other units p0 is not known at all.
        covariance.update(&[1e6, 1e6], Forgetting::Exponential(1.0));
        covariance.scale_parameter(0, 1e6);
        assert!(covariance.confine(0) && !covariance.confine(1));
        let entry = |i: usize, j: usize| -> f64 {
            covariance.root.row(i).iter().zip(covariance.root.row(j)).map(|(a, b)| a * b).sum()
        };
        assert!((entry(0, 0) - 1.0).abs() < 1e-5, "{}", entry(0, 0));
        let sum = 1e-12 * entry(0, 0) + 2e-6 * entry(0, 1) + entry(1, 1);
        assert!(sum < 1e-11, "{sum}");
    }

    #[test]
    fn the_root_follows_the_plain_recursion() {
        for forgetting in [Forgetting::Exponential(0.9), Forgetting::Directional(0.9)] {
            let mut covariance = Covariance::new(2, 10.0);
            let mut p = [[10.0, 0.0], [0.0, 10.0]];
            for k in 0..20 {
                let f = [f64::from(k).sin(), 0.3 + f64::from(k * k % 7)];
                covariance.update(&f, forgetting);
                plain(&mut p, f, forgetting);
            }
            for i in 0..2 {
                for j in 0..2 {
                    let (a, b) = (covariance.root.row(i), covariance.root.row(j));
                    let entry: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    assert!((entry - p[i][j]).abs() < 1e-9 * p[0][0].abs().max(1e-3), "{entry} {}", p[i][j]);
                }
            }
        }
    }
}
