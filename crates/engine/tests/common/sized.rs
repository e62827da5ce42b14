//! The typical sizes by which the prototype scaled its tables of the dual mass oscillator.

use costep_core::{Description, LocalModel, Subsystem};
use costep_integrate::{Integrated, Ode, Solver};
use costep_system::Component;

/// m.
pub(crate) const POSITION: f64 = 0.1;
/// m/s.
pub(crate) const VELOCITY: f64 = 31.6;

/// A part with other typical sizes.
struct Sized {
    part: Box<dyn Ode>,
    description: Description,
}

/// A part of the dual mass oscillator with the sizes of the prototype; `force` is that of the coupling.
pub(crate) fn subsystem(part: &dyn Component, solver: &Solver, force: f64) -> Box<dyn Subsystem> {
    let mut description = part.description().clone();
    for port in description.inputs.iter_mut().chain(&mut description.outputs) {
        port.nominal = Some(match port.name.as_str() {
            "x" => POSITION,
            "v" => VELOCITY,
            _ => force,
        });
    }
    Box::new(Integrated::new(Sized { part: part.ode().unwrap(), description }, solver).unwrap())
}

impl Ode for Sized {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.part.states()
    }

    fn initial_state(&self, x: &mut [f64]) {
        self.part.initial_state(x);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&[POSITION, VELOCITY]);
    }

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        self.part.derivatives(t, x, u, x_dot);
    }

    fn outputs(&self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        self.part.outputs(t, x, u, y);
    }

    fn jacobians(&self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        self.part.jacobians(t, x, u, model);
    }
}
