//! A mass whose spring becomes twice as stiff in the middle of a run.

use costep_core::{Description, LocalModel};
use costep_integrate::{Ode, Renamable};

const MASS: f64 = 10.0;
const SPRING: f64 = 1e6;
const DAMPER: f64 = 1.0;
const START: [f64; 2] = [0.1, 0.0];

/// Mass 1 of the two-mass oscillator with its default parameters, but for the spring.
#[derive(Clone)]
pub(super) struct Stiffening {
    pub(super) description: Description,
    /// When the spring changes.
    pub(super) at: f64,
}

impl Stiffening {
    fn spring(&self, t: f64) -> f64 {
        if t < self.at { SPRING } else { 2.0 * SPRING }
    }
}

impl Renamable for Stiffening {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Stiffening {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&START);
    }

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = x[1];
        x_dot[1] = (u[0] - self.spring(t) * x[0] - DAMPER * x[1]) / MASS;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }

    fn jacobians(&self, t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&[0.0, 1.0, -self.spring(t) / MASS, -DAMPER / MASS]);
        model.b.copy_from_slice(&[0.0, 1.0 / MASS]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    }
}
