//! Heun's method, of order 2, with inner steps of at most a given length.

use costep::{SolverEntry, SolverSetting};
use costep_core::Result;
use costep_integrate::{Equations, Integrator, Start, Stretch};

/// Row of the registry.
pub static ENTRY: SolverEntry = SolverEntry {
    id: "heun",
    about: "explicit, of order 2, with inner steps of at most the given length",
    setting: SolverSetting::InnerStep,
    build: |step, equations| Ok(Box::new(Heun::new(step, equations))),
};

struct Heun {
    /// Greatest length of an inner step.
    step: f64,
    /// Number of inner steps of the stretch, their length, and those done.
    steps: usize,
    dt: f64,
    done: usize,
    u: Vec<f64>,
    /// State and slope at the start of the last inner step, and state and slope at its end.
    before: Vec<f64>,
    slope: Vec<f64>,
    ahead: Vec<f64>,
    last_slope: Vec<f64>,
}

impl Heun {
    fn new(step: f64, equations: &dyn Equations) -> Self {
        let zeros = || vec![0.0; equations.states()];
        Self {
            step,
            steps: 0,
            dt: 0.0,
            done: 0,
            u: vec![0.0; equations.description().inputs.len()],
            before: zeros(),
            slope: zeros(),
            ahead: zeros(),
            last_slope: zeros(),
        }
    }
}

impl Integrator for Heun {
    fn begin(&mut self, stretch: &Stretch<'_>, _: Start, _: &mut dyn Equations, _: &[f64]) -> Result<()> {
        let length = stretch.to - stretch.from;
        // A length that is a multiple but for round-off is not divided once more.
        self.steps = ((length / self.step - 1e-9).ceil() as usize).max(1);
        self.dt = length / self.steps as f64;
        self.done = 0;
        Ok(())
    }

    fn inner_step(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        x: &mut [f64],
    ) -> Result<f64> {
        let dt = self.dt;
        let (from, is_last) = (stretch.from + self.done as f64 * dt, self.done + 1 == self.steps);
        let to = if is_last { stretch.to } else { stretch.from + (self.done + 1) as f64 * dt };
        self.before.copy_from_slice(x);
        stretch.input.evaluate(from, &mut self.u);
        equations.derivatives(stretch.time(from), x, &self.u, &mut self.slope)?;
        for (ahead, (x, slope)) in self.ahead.iter_mut().zip(x.iter().zip(&self.slope)) {
            *ahead = x + dt * slope;
        }
        stretch.input.evaluate(to, &mut self.u);
        equations.derivatives(stretch.time(to), &self.ahead, &self.u, &mut self.last_slope)?;
        for (x, (first, last)) in x.iter_mut().zip(self.slope.iter().zip(&self.last_slope)) {
            *x += 0.5 * dt * (first + last);
        }
        self.done += 1;
        Ok(to)
    }

    /// x + theta dt f_0 + theta^2 dt (f_1 - f_0) / 2, of order 2 as well.
    fn interpolate(
        &mut self,
        stretch: &Stretch<'_>,
        _: &mut dyn Equations,
        s: f64,
        x: &mut [f64],
    ) -> Result<()> {
        let past = s - (stretch.from + (self.done - 1) as f64 * self.dt);
        let bend = 0.5 * past * past / self.dt;
        for (k, x) in x.iter_mut().enumerate() {
            *x = self.before[k] + past * self.slope[k] + bend * (self.last_slope[k] - self.slope[k]);
        }
        Ok(())
    }
}
