//! Dual mass oscillator [T 3.1]: two masses, each on a spring and a damper to the wall, coupled by a third
//! spring and damper. Split so that S1 takes the coupling force and S2 takes position and velocity of mass 1.
//!
//! S1: m1 x1'' = -c1 x1 - d1 x1' + F           outputs x1, x1'                       [T (3.1), (3.2)]
//! S2: m2 x2'' = -c2 x2 - d2 x2' - F           output F, direct feedthrough         [T (3.3), (3.4)]
//!     F = ck (x2 - u1) + dk (x2' - u2)
//!
//! Micro samples count at the end of each inner step, as FMI 3 intermediate update reports them and as the reference
//! data of this system were computed. Under explicit Euler samples at the start would be the consistent choice (see
//! `pendulum_oscillator.rs`); the difference is of the size of the inner step. `nepce:sampling=start` takes those.

use costep_core::{Description, LocalModel, Port};
use costep_integrate::{Ode, Solver};
use costep_system::SystemDescription;

use crate::model::{ModelEntry, describe, nominal_from, renamable, state_names};
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "dual-mass",
    title: "dual mass oscillator",
    summary: "Two masses coupled by a spring and a damper, split by force and displacement. Linear; the \
              classical benchmark of co-simulation. Stiff when ck or dk is large.",
    source: "[T] section 3.1",
    parameters: &[
        ParameterSpec::positive("m1", "kg", 10.0, "mass 1"),
        ParameterSpec::positive("m2", "kg", 10.0, "mass 2"),
        ParameterSpec::not_negative("c1", "N/m", 1e6, "spring from mass 1 to the wall"),
        ParameterSpec::not_negative("c2", "N/m", 1e7, "spring from mass 2 to the wall"),
        ParameterSpec::not_negative("d1", "N.s/m", 1.0, "damper from mass 1 to the wall"),
        ParameterSpec::not_negative("d2", "N.s/m", 2.0, "damper from mass 2 to the wall"),
        ParameterSpec::not_negative("ck", "N/m", 1e5, "coupling spring"),
        ParameterSpec::not_negative("dk", "N.s/m", 1e3, "coupling damper"),
        ParameterSpec::free("x1", "m", 0.1, "initial position of mass 1"),
        ParameterSpec::free("v1", "m/s", 0.0, "initial velocity of mass 1"),
        ParameterSpec::free("x2", "m", 0.0, "initial position of mass 2"),
        ParameterSpec::free("v2", "m/s", 0.0, "initial velocity of mass 2"),
        ParameterSpec::micro_step(1e-5),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let nominal = Nominal::new(p, p.get("ck"), p.get("dk"));
    let parts: Vec<Box<dyn costep_system::Component>> =
        vec![Box::new(Mass::new(p, &nominal)), Box::new(CoupledMass::new(p, &nominal))];
    SystemDescription::new(parts, Solver::Euler(p.get("micro_step")), 0.1, 1e-3).connected([
        ((1, 0), (0, 0)),
        ((0, 0), (1, 0)),
        ((0, 1), (1, 1)),
    ])
}

/// Typical sizes of position, velocity and coupling force.
pub(crate) struct Nominal {
    x: f64,
    v: f64,
    force: f64,
}

impl Nominal {
    pub(crate) fn new(p: &Parameters, spring: f64, damper: f64) -> Self {
        let frequency = ((p.get("c1") + spring) / p.get("m1")).sqrt().max(1.0);
        let x = [p.get("x1"), p.get("x2"), p.get("v1") / frequency, p.get("v2") / frequency]
            .iter()
            .fold(0.0, |x: f64, value| x.max(value.abs()));
        let x = if x > 0.0 { x } else { 0.1 };
        let v = x * frequency;
        Self { x, v, force: (spring * x + damper * v).max(f64::MIN_POSITIVE) }
    }

    pub(crate) fn motion(&self) -> Vec<Port> {
        vec![Port::new("x", "m", self.x), Port::new("v", "m/s", self.v)]
    }

    pub(crate) fn force(&self) -> Vec<Port> {
        vec![Port::new("F", "N", self.force)]
    }
}

/// S1: mass on spring and damper, driven by a force.
#[derive(Clone)]
struct Mass {
    description: Description,
    m: f64,
    c: f64,
    d: f64,
    start: [f64; 2],
}
renamable!(Mass);

impl Mass {
    fn new(p: &Parameters, nominal: &Nominal) -> Self {
        Self {
            description: describe("s1", nominal.force(), nominal.motion(), &[&[], &[]]),
            m: p.get("m1"),
            c: p.get("c1"),
            d: p.get("d1"),
            start: [p.get("x1"), p.get("v1")],
        }
    }
}

impl Ode for Mass {
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
        x_dot[0] = x[1];
        x_dot[1] = (-self.c * x[0] - self.d * x[1] + u[0]) / self.m;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&[0.0, 1.0, -self.c / self.m, -self.d / self.m]);
        model.b.copy_from_slice(&[0.0, 1.0 / self.m]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn energy(&self, x: &[f64], _u: &[f64]) -> Option<f64> {
        Some(0.5 * (self.m * x[1] * x[1] + self.c * x[0] * x[0]))
    }
}

/// S2: mass on spring and damper with the coupling spring and damper.
#[derive(Clone)]
struct CoupledMass {
    description: Description,
    m: f64,
    c: f64,
    d: f64,
    ck: f64,
    dk: f64,
    start: [f64; 2],
}
renamable!(CoupledMass);

impl CoupledMass {
    fn new(p: &Parameters, nominal: &Nominal) -> Self {
        Self {
            description: describe("s2", nominal.motion(), nominal.force(), &[&[0, 1]]),
            m: p.get("m2"),
            c: p.get("c2"),
            d: p.get("d2"),
            ck: p.get("ck"),
            dk: p.get("dk"),
            start: [p.get("x2"), p.get("v2")],
        }
    }

    fn force(&self, x: &[f64], u: &[f64]) -> f64 {
        self.ck * (x[0] - u[0]) + self.dk * (x[1] - u[1])
    }
}

impl Ode for CoupledMass {
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
        nominal_from(&self.description.inputs, x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = x[1];
        x_dot[1] = (-self.c * x[0] - self.d * x[1] - self.force(x, u)) / self.m;
    }

    fn outputs(&self, _t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        y[0] = self.force(x, u);
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        let Self { m, c, d, ck, dk, .. } = self;
        model.a.copy_from_slice(&[0.0, 1.0, -(c + ck) / m, -(d + dk) / m]);
        model.b.copy_from_slice(&[0.0, 0.0, ck / m, dk / m]);
        model.c.copy_from_slice(&[*ck, *dk]);
        model.d.copy_from_slice(&[-ck, -dk]);
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        let stretch = x[0] - u[0];
        Some(0.5 * (self.m * x[1] * x[1] + self.c * x[0] * x[0] + self.ck * stretch * stretch))
    }
}
