//! Explicit Euler with a fixed inner step, the inner solver of the papers.

use costep_core::{InputSegment, Interval};

use crate::ode::Ode;
use crate::solver::{Watch, inner_steps};

/// Explicit Euler.
#[derive(Clone, Debug)]
pub struct Euler {
    micro_step: f64,
    x_dot: Vec<f64>,
    u: Vec<f64>,
}

impl Euler {
    pub(crate) fn new(micro_step: f64, states: usize, inputs: usize) -> Self {
        Self { micro_step, x_dot: vec![0.0; states], u: vec![0.0; inputs] }
    }

    pub(crate) fn micro_step(&self) -> f64 {
        self.micro_step
    }

    pub(crate) fn advance<S: Ode + ?Sized, W: Watch>(
        &mut self,
        ode: &S,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        watch: &mut W,
    ) {
        let steps = inner_steps(interval.length(), self.micro_step);
        let dt = interval.length() / steps as f64;
        let held = input.order() == 0;
        input.evaluate(0.0, &mut self.u);
        watch.see(interval.start, x, &self.u);
        for j in 0..steps {
            let s = j as f64 * dt;
            ode.derivatives(interval.start + s, x, &self.u, &mut self.x_dot);
            for (x, x_dot) in x.iter_mut().zip(&self.x_dot) {
                *x += dt * x_dot;
            }
            if !held {
                input.evaluate((j + 1) as f64 * dt, &mut self.u);
            }
            watch.see(
                if j + 1 == steps { interval.end } else { interval.start + (j + 1) as f64 * dt },
                x,
                &self.u,
            );
        }
    }
}
