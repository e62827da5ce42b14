//! A subsystem whose outputs are seen with noise.

use costep_core::{
    InputSegment, Interval, Persistence, Restricted, Result, StateReader, StateWriter, StepOutcome,
    Subsystem, Wrapper,
};

/// White Gaussian noise on every output, the same in every run.
pub(super) struct Noisy {
    inner: Box<dyn Subsystem>,
    /// Standard deviation per output.
    deviation: Vec<f64>,
    random: u64,
}

impl Noisy {
    pub(super) fn new(inner: Box<dyn Subsystem>, deviation: &[f64], seed: u64) -> Self {
        // A multiple of an odd number, so that neighbouring seeds begin far apart.
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        // What cannot be seen without the noise is not offered.
        let inner = Restricted::new(inner).without_rollback().without_linearisation();
        let inner = inner.without_micro_samples().without_environment().boxed();
        Self { inner, deviation: deviation.to_vec(), random }
    }

    /// Between 0 and 1, neither included.
    fn uniform(&mut self) -> f64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Of variance 1 (Box and Muller).
    fn gaussian(&mut self) -> f64 {
        let (radius, turn) = (self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
    }
}

impl Wrapper for Noisy {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let outcome = self.inner.step(interval, u, y)?;
        for (i, y) in y.iter_mut().enumerate() {
            *y += self.deviation[i] * self.gaussian();
        }
        Ok(outcome)
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        Some(self)
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        Some(self)
    }
}

impl Persistence for Noisy {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        out.integer(self.random);
        self.inner.demand_persistence()?.save(out)
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.random = from.integer()?;
        self.inner.demand_persistence_mut()?.load(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_has_the_deviation_it_should() {
        let model = costep_models::find("chain").unwrap().model(&[]).unwrap().1;
        let mut noisy = Noisy::new(model.parts[0].subsystem(&model.solver).unwrap(), &[2.0, 0.0], 3);
        let samples: Vec<f64> = (0..20_000).map(|_| noisy.gaussian()).collect();
        let mean = samples.iter().sum::<f64>() / 2e4;
        let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2e4;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
