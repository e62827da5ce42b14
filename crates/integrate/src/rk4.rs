//! Classical Runge-Kutta method of order 4 with a fixed inner step.

use costep_core::{InputSegment, Interval};

use crate::euler::inner_end;
use crate::ode::Ode;
use crate::solver::{InnerSteps, Watch};

/// Runge-Kutta of order 4.
#[derive(Clone, Debug)]
pub struct Rk4 {
    inner: InnerSteps,
    slope: Vec<f64>,
    sum: Vec<f64>,
    stage: Vec<f64>,
    u: Vec<f64>,
}

/// Nodes of the four stages and weights of their slopes in the sum.
const STAGES: [(f64, f64); 4] = [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)];

impl Rk4 {
    pub(crate) fn new(micro_step: f64, states: usize, inputs: usize) -> Self {
        let zeros = || vec![0.0; states];
        Self {
            inner: InnerSteps::new(micro_step),
            slope: zeros(),
            sum: zeros(),
            stage: zeros(),
            u: vec![0.0; inputs],
        }
    }

    pub(crate) fn inner(&self) -> &InnerSteps {
        &self.inner
    }

    // Kept out of line, so that the hot path of the small integrator has a small frame.
    #[inline(never)]
    pub(crate) fn advance<S: Ode + ?Sized, W: Watch>(
        &mut self,
        ode: &S,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        watch: &mut W,
    ) {
        let (steps, dt) = self.inner.divide(interval.length);
        input.evaluate(0.0, &mut self.u);
        watch.see(interval.start, x, &self.u);
        for j in 0..steps {
            self.sum.fill(0.0);
            for (node, weight) in STAGES {
                let s = (j as f64 + node) * dt;
                input.evaluate(s, &mut self.u);
                // `slope` still is the one of the stage before; at the first stage its weight is 0.
                for ((stage, x), slope) in self.stage.iter_mut().zip(&*x).zip(&self.slope) {
                    *stage = if node == 0.0 { *x } else { x + node * dt * slope };
                }
                ode.derivatives(interval.start + s, &self.stage, &self.u, &mut self.slope);
                for (sum, slope) in self.sum.iter_mut().zip(&self.slope) {
                    *sum += weight * slope;
                }
            }
            for (x, sum) in x.iter_mut().zip(&self.sum) {
                *x += dt / 6.0 * sum;
            }
            watch.see(inner_end(interval, j, steps, dt), x, &self.u);
        }
    }
}
