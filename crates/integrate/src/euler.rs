//! Explicit Euler with a fixed inner step, the inner solver of the papers.

use costep_core::{InputSegment, Interval};

use crate::ode::Ode;
use crate::solver::{InnerSteps, Watch};

/// Explicit Euler.
#[derive(Clone, Debug)]
pub struct Euler {
    inner: InnerSteps,
    x_dot: Vec<f64>,
    u: Vec<f64>,
}

impl Euler {
    pub(crate) fn new(micro_step: f64, states: usize, inputs: usize) -> Self {
        Self { inner: InnerSteps::new(micro_step), x_dot: vec![0.0; states], u: vec![0.0; inputs] }
    }

    pub(crate) fn inner(&self) -> &InnerSteps {
        &self.inner
    }

    pub(crate) fn advance<S: Ode + ?Sized, W: Watch>(
        &mut self,
        ode: &S,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        watch: &mut W,
    ) {
        // Few states live in registers while they are stepped: several times faster than in memory.
        match x.len() {
            1 => self.advance_small::<1, S, W>(ode, interval, input, x, watch),
            2 => self.advance_small::<2, S, W>(ode, interval, input, x, watch),
            3 => self.advance_small::<3, S, W>(ode, interval, input, x, watch),
            4 => self.advance_small::<4, S, W>(ode, interval, input, x, watch),
            _ => {
                let mut x_dot = std::mem::take(&mut self.x_dot);
                self.integrate(ode, interval, input, x, &mut x_dot, watch);
                self.x_dot = x_dot;
            }
        }
    }

    fn advance_small<const N: usize, S: Ode + ?Sized, W: Watch>(
        &mut self,
        ode: &S,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        watch: &mut W,
    ) {
        let mut local = [0.0; N];
        local.copy_from_slice(x);
        self.integrate(ode, interval, input, &mut local, &mut [0.0; N], watch);
        x.copy_from_slice(&local);
    }

    #[inline(always)]
    fn integrate<S: Ode + ?Sized, W: Watch>(
        &mut self,
        ode: &S,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        x_dot: &mut [f64],
        watch: &mut W,
    ) {
        let (steps, dt) = self.inner.divide(interval.length);
        if input.order() == 0 {
            let u = input.coefficients(0);
            watch.see(interval.start, x, u);
            for j in 0..steps {
                euler_step(ode, interval.start + j as f64 * dt, dt, x, u, x_dot);
                watch.see(inner_end(interval, j, steps, dt), x, u);
            }
        } else {
            input.evaluate(0.0, &mut self.u);
            watch.see(interval.start, x, &self.u);
            for j in 0..steps {
                euler_step(ode, interval.start + j as f64 * dt, dt, x, &self.u, x_dot);
                input.evaluate((j + 1) as f64 * dt, &mut self.u);
                watch.see(inner_end(interval, j, steps, dt), x, &self.u);
            }
        }
    }
}

#[inline(always)]
fn euler_step<S: Ode + ?Sized>(ode: &S, t: f64, dt: f64, x: &mut [f64], u: &[f64], x_dot: &mut [f64]) {
    ode.derivatives(t, x, u, x_dot);
    for (x, x_dot) in x.iter_mut().zip(x_dot) {
        *x += dt * *x_dot;
    }
}

/// End of inner step j; the last one ends exactly with the interval.
#[inline(always)]
pub(crate) fn inner_end(interval: Interval, j: usize, steps: usize, dt: f64) -> f64 {
    if j + 1 == steps { interval.end } else { interval.start + (j + 1) as f64 * dt }
}
