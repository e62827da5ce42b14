//! Two pendula whose bobs are joined by a spring, each pushed at its pivot [A16 5.2]. Unit masses and lengths; the
//! pivots are `distance` apart, which is also the length of the spring at rest.
//!
//! a'' = (-g + u3) sin a + (u1 + u2) cos a                                              [A16 (18b)]
//! u1 the push, (u2, u3) the force of the spring on the bob. The left pendulum takes the force; the right one owns the
//! spring, takes the angle of the left and gives the force (direct feedthrough).

use costep_core::{Description, External, LocalModel, Port};
use costep_integrate::multistep::{AtPoint, Family};
use costep_integrate::{Ode, Solver};
use costep_system::SystemDescription;

use crate::model::{ModelEntry, describe, nominal_from, renamable, state_names};
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "coupled-pendula",
    title: "two pendula joined by a spring",
    summary: "Two pushed pendula whose bobs are joined by a spring, split by force and angle. Nonlinear.",
    source: "[A16] section 5.2; stiffness, push and start chosen here",
    parameters: &[
        ParameterSpec::free("g", "m/s2", 9.81, "gravity"),
        ParameterSpec::not_negative("k", "N/m", 200.0, "spring between the bobs"),
        ParameterSpec::positive(
            "distance",
            "m",
            1.0,
            "distance of the pivots and length of the spring at rest",
        ),
        ParameterSpec::free("push", "N", 1.0, "greatest push"),
        ParameterSpec::not_negative("frequency", "rad/s", 5.0, "frequency of the push"),
        ParameterSpec::free("phase", "rad", std::f64::consts::FRAC_PI_2, "lead of the push on the right"),
        ParameterSpec::free("left", "rad", 0.2, "initial angle of the left pendulum"),
        ParameterSpec::free("right", "rad", -0.2, "initial angle of the right pendulum"),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let spring = Spring { k: p.get("k"), distance: p.get("distance") };
    let (g, [left, right]) = (p.get("g"), ["left", "right"].map(|name| p.get(name)));
    let parts: Vec<Box<dyn costep_system::Component>> =
        vec![Box::new(Left::new(g, left)), Box::new(Right::new(g, spring, right))];
    let push = |phase: f64| External::Sine {
        amplitude: p.get("push"),
        frequency: p.get("frequency") / std::f64::consts::TAU,
        phase,
        start: 0.0,
    };
    let solver = Solver::Multistep(Family::Bdf, 1e-6, AtPoint::CorrectSecond);
    SystemDescription::new(parts, solver, 2.0, 0.05)
        .connected([((1, 0), (0, 1)), ((1, 1), (0, 2)), ((0, 0), (1, 1))])
        .driven(0, 0, push(0.0))
        .driven(1, 0, push(p.get("phase")))
}

/// Spring between the bobs.
#[derive(Clone, Copy)]
struct Spring {
    k: f64,
    distance: f64,
}

impl Spring {
    /// From the left bob to the right one, and its length.
    fn span(&self, left: f64, right: f64) -> ([f64; 2], f64) {
        let r = [self.distance + right.sin() - left.sin(), left.cos() - right.cos()];
        (r, r[0].hypot(r[1]))
    }

    /// Force on the left bob.
    fn force(&self, left: f64, right: f64) -> [f64; 2] {
        let (r, length) = self.span(left, right);
        r.map(|r| self.k * (1.0 - self.distance / length) * r)
    }

    /// Change of the force with the angle of a bob that moves the span by `direction`.
    fn slope(&self, left: f64, right: f64, direction: [f64; 2]) -> [f64; 2] {
        let (r, length) = self.span(left, right);
        let slack = self.distance / length;
        let along = (r[0] * direction[0] + r[1] * direction[1]) * slack / (length * length);
        std::array::from_fn(|i| self.k * ((1.0 - slack) * direction[i] + along * r[i]))
    }

    fn energy(&self, left: f64, right: f64) -> f64 {
        0.5 * self.k * (self.span(left, right).1 - self.distance).powi(2)
    }
}

/// a'' under a force on the bob.
fn acceleration(g: f64, a: f64, [across, up]: [f64; 2]) -> f64 {
    let (sin, cos) = a.sin_cos();
    (up - g) * sin + across * cos
}

/// d a''/da under a constant force.
fn stiffness(g: f64, a: f64, [across, up]: [f64; 2]) -> f64 {
    let (sin, cos) = a.sin_cos();
    (up - g) * cos - across * sin
}

fn energy(g: f64, x: &[f64]) -> f64 {
    0.5 * x[1] * x[1] + g * (1.0 - x[0].cos())
}

fn push() -> Port {
    Port::new("push", "N", 1.0)
}

fn forces() -> Vec<Port> {
    vec![Port::new("fx", "N", 10.0), Port::new("fy", "N", 10.0)]
}

fn angle() -> Port {
    Port::new("angle", "rad", 0.1)
}

/// Inputs push, fx, fy; output angle.
#[derive(Clone)]
struct Left {
    description: Description,
    g: f64,
    start: f64,
}
renamable!(Left);

impl Left {
    fn new(g: f64, start: f64) -> Self {
        let inputs = [vec![push()], forces()].concat();
        let description = describe("left", inputs, vec![angle()], &[&[]]);
        Self { description, g, start }
    }
}

impl Ode for Left {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    state_names!("angle", "rate");

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&[self.start, 0.0]);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal_from(&[angle(), Port::new("rate", "rad/s", 1.0)], x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = x[1];
        x_dot[1] = acceleration(self.g, x[0], [u[0] + u[1], u[2]]);
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y[0] = x[0];
    }

    fn jacobians(&self, _t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        let (sin, cos) = x[0].sin_cos();
        let stiffness = stiffness(self.g, x[0], [u[0] + u[1], u[2]]);
        model.a.copy_from_slice(&[0.0, 1.0, stiffness, 0.0]);
        model.b.copy_from_slice(&[0.0, 0.0, 0.0, cos, cos, sin]);
        model.c.copy_from_slice(&[1.0, 0.0]);
        model.d.fill(0.0);
    }

    fn energy(&self, x: &[f64], _u: &[f64]) -> Option<f64> {
        Some(energy(self.g, x))
    }
}

/// Inputs push, angle of the left; outputs the force on the left bob. Counts the energy of the spring as its own.
#[derive(Clone)]
struct Right {
    description: Description,
    g: f64,
    spring: Spring,
    start: f64,
}
renamable!(Right);

impl Right {
    fn new(g: f64, spring: Spring, start: f64) -> Self {
        let inputs = vec![push(), angle()];
        let description = describe("right", inputs, forces(), &[&[1], &[1]]);
        Self { description, g, spring, start }
    }

    /// Push and reaction of the spring.
    fn pull(&self, x: &[f64], u: &[f64]) -> [f64; 2] {
        let [fx, fy] = self.spring.force(u[1], x[0]);
        [u[0] - fx, -fy]
    }
}

impl Ode for Right {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    state_names!("angle", "rate");

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&[self.start, 0.0]);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal_from(&[angle(), Port::new("rate", "rad/s", 1.0)], x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = x[1];
        x_dot[1] = acceleration(self.g, x[0], self.pull(x, u));
    }

    fn outputs(&self, _t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(&self.spring.force(u[1], x[0]));
    }

    fn jacobians(&self, _t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        let (sin, cos) = x[0].sin_cos();
        let (left_sin, left_cos) = u[1].sin_cos();
        let own = self.spring.slope(u[1], x[0], [cos, sin]);
        let other = self.spring.slope(u[1], x[0], [-left_cos, -left_sin]);
        let turn = |f: [f64; 2]| -f[0] * cos - f[1] * sin;
        let stiffness = stiffness(self.g, x[0], self.pull(x, u)) + turn(own);
        model.a.copy_from_slice(&[0.0, 1.0, stiffness, 0.0]);
        model.b.copy_from_slice(&[0.0, 0.0, cos, turn(other)]);
        model.c.copy_from_slice(&[own[0], 0.0, own[1], 0.0]);
        model.d.copy_from_slice(&[0.0, other[0], 0.0, other[1]]);
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        Some(energy(self.g, x) + self.spring.energy(u[1], x[0]))
    }
}
