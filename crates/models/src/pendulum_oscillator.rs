//! Pendulum coupled to an oscillator by a stiff spring and a damper [G18 section 3]. Outputs are the states.
//!
//! Fc = k (x1 - l sin a) + d (x1' - l a' cos a)                                        [G18 (54)]
//! S1: a''  = -(g/l) sin a + cos a Fc / (m_pend l)       [G18 (55)], whose text repeats the oscillator
//! S2: x1'' = -Fc / m_osc                                                              [G18 (53)]
//!
//! The error of the paper is max_t sum_i |y_i - y_ref,i| [G18 (66)]. Its linearised reference (63)-(65) cannot
//! be what the figures show (it differs from the plant by 0.076 for any inner step); the nonlinear monolithic
//! system under explicit Euler with a fine step is.
//!
//! Micro samples are taken at the start of each inner step, as the inner Euler sees them: sums over end points
//! would leave an error of the size of the inner step.

use costep_core::{Description, LocalModel, MicroSampling, Port};
use costep_integrate::{Ode, Solver};
use costep_system::SystemDescription;

use crate::model::{ModelEntry, describe, nominal_from, renamable, state_names};
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "pendulum-oscillator",
    title: "pendulum coupled to an oscillator",
    summary: "A mathematical pendulum and a mass, coupled by a stiff spring and a damper. Nonlinear; its \
              stiffness ratio is 46500 at the start.",
    source: "[G18] section 3, (52) to (61)",
    parameters: &[
        ParameterSpec::positive("l", "m", 1.0, "length of the pendulum"),
        ParameterSpec::free("g", "m/s2", 9.81, "gravity"),
        ParameterSpec::positive("m_pend", "kg", 1.0, "mass of the pendulum"),
        ParameterSpec::positive("m_osc", "kg", 1.0, "mass of the oscillator"),
        ParameterSpec::not_negative("k", "N/m", 1e3, "coupling spring"),
        ParameterSpec::not_negative("d", "N.s/m", 10.0, "coupling damper"),
        ParameterSpec::free("angle", "deg", 5.0, "initial angle"),
        ParameterSpec::free("stretch", "m", 0.1, "initial stretch of the spring"),
        ParameterSpec::micro_step(1e-4),
    ],
    build,
};

/// Inner step of the reference of (66), in s.
const REFERENCE_STEP: f64 = 1e-6;

fn build(p: &Parameters) -> SystemDescription {
    let parts: Vec<Box<dyn costep_system::Component>> =
        vec![Box::new(Pendulum::new(p)), Box::new(Oscillator::new(p))];
    let model = SystemDescription::new(parts, Solver::Euler(p.get("micro_step")), 1.0, 1e-3).connected([
        ((1, 0), (0, 0)),
        ((1, 1), (0, 1)),
        ((0, 0), (1, 0)),
        ((0, 1), (1, 1)),
    ]);
    SystemDescription { paper_reference: Some(Solver::Euler(REFERENCE_STEP)), ..model }
}

/// Spring and damper between pendulum and oscillator.
#[derive(Clone, Copy)]
struct Link {
    l: f64,
    k: f64,
    d: f64,
}

impl Link {
    fn new(p: &Parameters) -> Self {
        Self { l: p.get("l"), k: p.get("k"), d: p.get("d") }
    }

    fn stretch(&self, angle: f64, x: f64) -> f64 {
        x - self.l * angle.sin()
    }

    /// Fc for pendulum (a, a') and oscillator (x, x').
    fn force(&self, pendulum: &[f64], oscillator: &[f64]) -> f64 {
        let (angle, rate) = (pendulum[0], pendulum[1]);
        self.k * self.stretch(angle, oscillator[0]) + self.d * (oscillator[1] - self.l * rate * angle.cos())
    }

    /// dFc/da and dFc/da'.
    fn gradient(&self, pendulum: &[f64]) -> [f64; 2] {
        let (sin, cos) = pendulum[0].sin_cos();
        [self.l * (self.d * pendulum[1] * sin - self.k * cos), -self.d * self.l * cos]
    }
}

fn angle_ports() -> Vec<Port> {
    vec![Port::new("angle", "rad", 0.1), Port::new("rate", "rad/s", 1.0)]
}

fn motion_ports() -> Vec<Port> {
    vec![Port::new("x", "m", 0.1), Port::new("v", "m/s", 1.0)]
}

/// S1.
#[derive(Clone)]
struct Pendulum {
    description: Description,
    link: Link,
    g: f64,
    m: f64,
    angle: f64,
}
renamable!(Pendulum);

impl Pendulum {
    fn new(p: &Parameters) -> Self {
        let description = describe("pendulum", motion_ports(), angle_ports(), &[&[], &[]]);
        Self {
            description,
            link: Link::new(p),
            g: p.get("g"),
            m: p.get("m_pend"),
            angle: p.get("angle").to_radians(),
        }
    }
}

impl Ode for Pendulum {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    state_names!("angle", "rate");

    fn micro_sampling(&self) -> MicroSampling {
        MicroSampling::Start
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&[self.angle, 0.0]);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal_from(&self.description.outputs, x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let l = self.link.l;
        x_dot[0] = x[1];
        x_dot[1] = -self.g / l * x[0].sin() + x[0].cos() * self.link.force(x, u) / (self.m * l);
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }

    fn jacobians(&self, _t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        let (sin, cos) = x[0].sin_cos();
        let (force, [by_angle, by_rate]) = (self.link.force(x, u), self.link.gradient(x));
        let l = self.link.l;
        let arm = self.m * l;
        let stiffness = -self.g / l * cos + (cos * by_angle - sin * force) / arm;
        model.a.copy_from_slice(&[0.0, 1.0, stiffness, cos * by_rate / arm]);
        model.b.copy_from_slice(&[0.0, 0.0, cos * self.link.k / arm, cos * self.link.d / arm]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    }

    fn energy(&self, x: &[f64], _u: &[f64]) -> Option<f64> {
        let l = self.link.l;
        Some(self.m * (0.5 * l * l * x[1] * x[1] + self.g * l * (1.0 - x[0].cos())))
    }
}

/// S2. Counts the energy of the spring as its own.
#[derive(Clone)]
struct Oscillator {
    description: Description,
    link: Link,
    m: f64,
    x: f64,
}
renamable!(Oscillator);

impl Oscillator {
    fn new(p: &Parameters) -> Self {
        let description = describe("oscillator", angle_ports(), motion_ports(), &[&[], &[]]);
        let link = Link::new(p);
        let x = p.get("stretch") + link.l * p.get("angle").to_radians().sin();
        Self { description, link, m: p.get("m_osc"), x }
    }
}

impl Ode for Oscillator {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    state_names!("x", "v");

    fn micro_sampling(&self) -> MicroSampling {
        MicroSampling::Start
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&[self.x, 0.0]);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal_from(&self.description.outputs, x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = x[1];
        x_dot[1] = -self.link.force(u, x) / self.m;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }

    fn jacobians(&self, _t: f64, _x: &[f64], u: &[f64], model: &mut LocalModel) {
        let [by_angle, by_rate] = self.link.gradient(u);
        let m = self.m;
        model.a.copy_from_slice(&[0.0, 1.0, -self.link.k / m, -self.link.d / m]);
        model.b.copy_from_slice(&[0.0, 0.0, -by_angle / m, -by_rate / m]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        let stretch = self.link.stretch(u[0], x[0]);
        Some(0.5 * (self.m * x[1] * x[1] + self.link.k * stretch * stretch))
    }
}
