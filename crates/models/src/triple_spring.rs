//! Two masses between two walls, on three springs and three dampers [A16 5.1], split at the middle by displacement:
//! each half takes position and velocity of the other mass.
//!
//! m1 x1'' = -(k1 + k2) x1 - (c1 + c2) x1' + k2 u1 + c2 u2                              [A16 (16a)]
//! m2 x2'' = -(k3 + k2) x2 - (c3 + c2) x2' + k2 u1 + c2 u2                              [A16 (17a)]

use costep_core::{Description, LocalModel, Port};
use costep_integrate::multistep::{AtPoint, Family};
use costep_integrate::{Ode, Solver};
use costep_system::SystemDescription;

use crate::model::{ModelEntry, describe, nominal_from, renamable, state_names};
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "triple-spring",
    title: "two masses on three springs and three dampers",
    summary: "Two masses between walls, split by displacement and displacement. Linear; for multistep solvers that \
              keep their history across communication points.",
    source: "[A16] section 5.1",
    parameters: &[
        ParameterSpec::positive("m1", "kg", 1.0, "mass 1"),
        ParameterSpec::positive("m2", "kg", 1.0, "mass 2"),
        ParameterSpec::not_negative("k1", "N/m", 10.0, "spring from mass 1 to the wall"),
        ParameterSpec::not_negative("k2", "N/m", 25.0, "spring between the masses"),
        ParameterSpec::not_negative("k3", "N/m", 50.0, "spring from mass 2 to the wall"),
        ParameterSpec::not_negative("c1", "N.s/m", 1.0, "damper from mass 1 to the wall"),
        ParameterSpec::not_negative("c2", "N.s/m", 0.1, "damper between the masses"),
        ParameterSpec::not_negative("c3", "N.s/m", 2.0, "damper from mass 2 to the wall"),
        ParameterSpec::free("x1", "m", 1.0, "initial position of mass 1"),
        ParameterSpec::free("v1", "m/s", 0.0, "initial velocity of mass 1"),
        ParameterSpec::free("x2", "m", 1.0, "initial position of mass 2"),
        ParameterSpec::free("v2", "m/s", 0.0, "initial velocity of mass 2"),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let [left, right] = [("left", ["m1", "k1", "c1", "x1", "v1"]), ("right", ["m2", "k3", "c3", "x2", "v2"])]
        .map(|(name, keys)| Half::new(name, p, keys));
    // The energy of the spring between them is counted once.
    let right = Half { owns_middle: true, ..right };
    let parts: Vec<Box<dyn costep_system::Component>> = vec![Box::new(left), Box::new(right)];
    let solver = Solver::Multistep(Family::Bdf, 1e-6, AtPoint::CorrectSecond);
    SystemDescription::new(parts, solver, 2.0, 0.1).connected([
        ((1, 0), (0, 0)),
        ((1, 1), (0, 1)),
        ((0, 0), (1, 0)),
        ((0, 1), (1, 1)),
    ])
}

/// A mass on its own spring and damper and on the middle ones.
#[derive(Clone)]
struct Half {
    description: Description,
    m: f64,
    k: f64,
    c: f64,
    k2: f64,
    c2: f64,
    start: [f64; 2],
    owns_middle: bool,
}
renamable!(Half);

impl Half {
    fn new(name: &str, p: &Parameters, keys: [&str; 5]) -> Self {
        let motion = |x, v| vec![Port::new(x, "m", 1.0), Port::new(v, "m/s", 1.0)];
        let (inputs, outputs) = (motion("x_other", "v_other"), motion("x", "v"));
        let description = describe(name, inputs, outputs, &[&[], &[]]);
        let [m, k, c, x, v] = keys.map(|key| p.get(key));
        let (k2, c2) = (p.get("k2"), p.get("c2"));
        Self { description, m, k, c, k2, c2, start: [x, v], owns_middle: false }
    }
}

impl Ode for Half {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    state_names!("x", "v");

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal_from(&self.description.outputs, x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let Self { m, k, c, k2, c2, .. } = self;
        x_dot[0] = x[1];
        x_dot[1] = (-(k + k2) * x[0] - (c + c2) * x[1] + k2 * u[0] + c2 * u[1]) / m;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        let Self { m, k, c, k2, c2, .. } = self;
        model.a.copy_from_slice(&[0.0, 1.0, -(k + k2) / m, -(c + c2) / m]);
        model.b.copy_from_slice(&[0.0, 0.0, k2 / m, c2 / m]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        let middle = if self.owns_middle { self.k2 * (x[0] - u[0]).powi(2) } else { 0.0 };
        Some(0.5 * (self.m * x[1] * x[1] + self.k * x[0] * x[0] + middle))
    }
}
