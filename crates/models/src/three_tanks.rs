//! Three tanks in a row with a pipe between neighbours: five parts, and water that nobody adds or takes. A chapter of
//! the book.
//!
//! tank: V' = q_in - q_out,  h = V / A
//! pipe: T q' = f(h_left - h_right) - q,  f(d) = a sqrt(2 g) d (d^2 + e^2)^(-1/4): a root of the difference, as of
//! turbulent flow, and a line within e of rest; T for the inertia of the water, q steady at the start

use costep_core::{Description, LocalModel, Port};
use costep_integrate::{Linear, Ode, Solver};
use costep_system::{Component, SystemDescription};

use crate::model::{ModelEntry, describe, nominal_from, renamable, state_names};
use crate::parameters::{ParameterSpec, Parameters};

/// g in m/s2.
const GRAVITY: f64 = 9.81;

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "three-tanks",
    title: "three tanks and two pipes",
    summary: "Water that finds its level: three tanks, two pipes whose flow goes with the root of the difference of the \
              levels. Its volume stays. The closer the levels, the stiffer it is.",
    source: "a chapter of the book",
    parameters: &[
        ParameterSpec::positive("A", "m2", 1.0, "area of a tank"),
        ParameterSpec::positive("a", "m2", 2e-3, "effective area of a pipe"),
        ParameterSpec::positive("T", "s", 1.0, "time in which the flow in a pipe follows"),
        ParameterSpec::positive("e", "m", 0.02, "difference of levels below which the flow is laminar"),
        ParameterSpec::not_negative("h1", "m", 3.0, "level in the first tank at the start"),
        ParameterSpec::not_negative("h2", "m", 1.0, "level in the second tank at the start"),
        ParameterSpec::not_negative("h3", "m", 0.5, "level in the third tank at the start"),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let parts: Vec<Box<dyn Component>> = vec![
        Box::new(tank("tank1", &[OUT], p, "h1")),
        Box::new(Pipe::new("pipe12", 0.01, p, ["h1", "h2"])),
        Box::new(tank("tank2", &[IN, OUT_HALF], p, "h2")),
        Box::new(Pipe::new("pipe23", 0.005, p, ["h2", "h3"])),
        Box::new(tank("tank3", &[IN_HALF], p, "h3")),
    ];
    SystemDescription::new(parts, Solver::Dopri5(1e-8), 600.0, 10.0).connected([
        ((0, 0), (1, 0)),
        ((2, 0), (1, 1)),
        ((1, 0), (0, 0)),
        ((1, 0), (2, 0)),
        ((2, 0), (3, 0)),
        ((4, 0), (3, 1)),
        ((3, 0), (2, 1)),
        ((3, 0), (4, 0)),
    ])
}

fn level(name: &str) -> Port {
    Port::new(name, "m", 1.0)
}

/// A flow; the second pipe carries about half of what the first one does.
fn flow((name, nominal, _): End) -> Port {
    Port::new(name, "m3/s", nominal)
}

/// Name, nominal flow and sign of an end of a pipe.
type End = (&'static str, f64, f64);
const OUT: End = ("q_out", 0.01, -1.0);
const IN: End = ("q_in", 0.01, 1.0);
const OUT_HALF: End = ("q_out", 0.005, -1.0);
const IN_HALF: End = ("q_in", 0.005, 1.0);

/// A tank with these pipes.
fn tank(name: &str, pipes: &[End], p: &Parameters, start: &str) -> Linear {
    let area = p.get("A");
    let signs: Vec<_> = pipes.iter().map(|(_, _, sign)| *sign).collect();
    let ports = (pipes.iter().map(|pipe| flow(*pipe)).collect(), vec![level("h")]);
    let none = vec![0.0; pipes.len()];
    Linear::new(name, ports, [&[0.0], &signs, &[1.0 / area], &none], &[area * p.get(start)])
}

/// A pipe between two tanks.
#[derive(Clone)]
struct Pipe {
    description: Description,
    /// a sqrt(2 g).
    k: f64,
    e: f64,
    time: f64,
    /// Difference of the levels at the start.
    start: f64,
}
renamable!(Pipe);

impl Pipe {
    fn new(name: &str, nominal: f64, p: &Parameters, levels: [&str; 2]) -> Self {
        let flow = Port::new("q", "m3/s", nominal);
        let description = describe(name, vec![level("h_left"), level("h_right")], vec![flow], &[&[]]);
        let [left, right] = levels.map(|name| p.get(name));
        let k = p.get("a") * (2.0 * GRAVITY).sqrt();
        Self { description, k, e: p.get("e"), time: p.get("T"), start: left - right }
    }

    /// f(d) and its slope.
    fn steady(&self, d: f64) -> (f64, f64) {
        let square = d * d + self.e * self.e;
        (self.k * d * square.powf(-0.25), self.k * (square - 0.5 * d * d) * square.powf(-1.25))
    }
}

impl Ode for Pipe {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        1
    }

    state_names!("q");

    fn initial_state(&self, x: &mut [f64]) {
        x[0] = self.steady(self.start).0;
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal_from(&self.description.outputs, x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = (self.steady(u[0] - u[1]).0 - x[0]) / self.time;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y[0] = x[0];
    }

    fn jacobians(&self, _t: f64, _x: &[f64], u: &[f64], model: &mut LocalModel) {
        let slope = self.steady(u[0] - u[1]).1 / self.time;
        model.a[0] = -1.0 / self.time;
        model.b.copy_from_slice(&[slope, -slope]);
        model.c[0] = 1.0;
        model.d.fill(0.0);
    }
}
