//! Classical Runge-Kutta method of order 4 with a fixed inner step.

use costep_core::Result;

use crate::equations::Equations;
use crate::inner_steps::{InnerSteps, check_inner_steps};
use crate::integrator::{Integrator, Start, Stretch};

/// Runge-Kutta of order 4.
#[derive(Clone, Debug)]
pub(crate) struct Rk4 {
    inner: InnerSteps,
    /// Number of the next inner step.
    j: usize,
    slope: Vec<f64>,
    sum: Vec<f64>,
    stage: Vec<f64>,
    u: Vec<f64>,
    /// State and slope at the start of the last inner step, state and slope at its end.
    before: Vec<f64>,
    first_slope: Vec<f64>,
    after: Vec<f64>,
    last_slope: Vec<f64>,
    /// The slope at the end is computed when it is asked for.
    knows_last_slope: bool,
}

/// Nodes of the four stages and weights of their slopes in the sum.
const STAGES: [(f64, f64); 4] = [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)];

impl Rk4 {
    pub(crate) fn new(micro_step: f64, states: usize, inputs: usize) -> Self {
        let zeros = || vec![0.0; states];
        Self {
            inner: InnerSteps::new(micro_step),
            j: 0,
            slope: zeros(),
            sum: zeros(),
            stage: zeros(),
            u: vec![0.0; inputs],
            before: zeros(),
            first_slope: zeros(),
            after: zeros(),
            last_slope: zeros(),
            knows_last_slope: false,
        }
    }
}

impl Integrator for Rk4 {
    fn begin(
        &mut self,
        stretch: &Stretch<'_>,
        _start: Start,
        _equations: &mut dyn Equations,
        _x: &[f64],
    ) -> Result<()> {
        self.inner.divide(stretch.to - stretch.from);
        self.j = 0;
        Ok(())
    }

    fn inner_step(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        x: &mut [f64],
    ) -> Result<f64> {
        let (steps, dt) = self.inner.division();
        self.before.copy_from_slice(x);
        self.sum.fill(0.0);
        for (i, (node, weight)) in STAGES.into_iter().enumerate() {
            let s = stretch.from + (self.j as f64 + node) * dt;
            stretch.input.evaluate(s, &mut self.u);
            // `slope` still is the one of the stage before; at the first stage its weight is 0.
            for ((stage, x), slope) in self.stage.iter_mut().zip(&*x).zip(&self.slope) {
                *stage = if node == 0.0 { *x } else { x + node * dt * slope };
            }
            equations.derivatives(stretch.start + s, &self.stage, &self.u, &mut self.slope)?;
            if i == 0 {
                self.first_slope.copy_from_slice(&self.slope);
            }
            for (sum, slope) in self.sum.iter_mut().zip(&self.slope) {
                *sum += weight * slope;
            }
        }
        for (x, sum) in x.iter_mut().zip(&self.sum) {
            *x += dt / 6.0 * sum;
        }
        self.after.copy_from_slice(x);
        self.knows_last_slope = false;
        self.j += 1;
        Ok(if self.j >= steps { stretch.to } else { stretch.from + self.j as f64 * dt })
    }

    /// Cubic Hermite polynomial: its error is of the order of that of an inner step.
    fn interpolate(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        s: f64,
        x: &mut [f64],
    ) -> Result<()> {
        let dt = self.inner.division().1;
        let start = stretch.from + (self.j - 1) as f64 * dt;
        if !self.knows_last_slope {
            let end = stretch.from + self.j as f64 * dt;
            stretch.input.evaluate(end, &mut self.u);
            equations.derivatives(stretch.start + end, &self.after, &self.u, &mut self.last_slope)?;
            self.knows_last_slope = true;
        }
        let theta = (s - start) / dt;
        let rest = 1.0 - theta;
        for (k, x) in x.iter_mut().enumerate() {
            let change = self.after[k] - self.before[k];
            let (bend, end_bend) = (dt * self.first_slope[k] - change, change - dt * self.last_slope[k]);
            *x = self.before[k] + theta * (change + rest * (rest * bend + theta * end_bend));
        }
        Ok(())
    }

    fn has_fixed_steps(&self) -> bool {
        true
    }

    fn points(&self, h: f64) -> usize {
        self.inner.points(h)
    }

    fn check_step(&self, h: f64) -> Result<()> {
        check_inner_steps(self.inner.points(h), h)
    }
}
