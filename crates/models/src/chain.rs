//! A chain of n masses in n subsystems, for scaling.
//!
//! Odd masses (1, 3, ...): inputs are the forces from left and right, outputs x and v; a damper to ground.
//! Even masses (2, 4, ...): inputs are x and v of both neighbours, outputs the forces k (x - x_n) + d (v - v_n)
//! on the left and on the right neighbour. The first and the last mass also have a spring to ground. A square
//! wave pushes the last mass.

use costep_core::{Description, External, LocalModel, Port};
use costep_integrate::{Ode, Solver};
use costep_system::{Component, SystemDescription};

use crate::model::{ModelEntry, describe, nominal_from, renamable, state_names};
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "chain",
    title: "chain of masses",
    summary: "n masses in n subsystems, coupled by springs and dampers, pushed at the end by a square wave. \
              Linear; shows how cost and error grow with the number of subsystems.",
    source: "costep",
    parameters: &[
        ParameterSpec {
            name: "n",
            unit: "1",
            default: 5.0,
            min: 2.0,
            max: 1e6,
            whole: true,
            help: "number of masses",
        },
        ParameterSpec::positive("m", "kg", 1.0, "first mass"),
        ParameterSpec::not_negative(
            "spread",
            "1",
            0.0,
            "how much heavier the last mass is, as a share; those between in equal steps",
        ),
        ParameterSpec::not_negative("k", "N/m", 1e4, "springs between masses"),
        ParameterSpec::not_negative("d", "N.s/m", 5.0, "dampers between masses"),
        ParameterSpec::not_negative("kg", "N/m", 2e4, "springs from the ends to ground"),
        ParameterSpec::not_negative("dg", "N.s/m", 1.0, "dampers from odd masses to ground"),
        ParameterSpec::free("force", "N", 300.0, "force on the last mass: this, then minus half of it"),
        ParameterSpec::not_negative("frequency", "Hz", 2.3, "of the force"),
        ParameterSpec::not_negative("idle", "s", 0.0, "time before the force starts"),
        ParameterSpec::micro_step(1e-5),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let n = p.get("n") as usize;
    let ground = |i: usize| if i == 0 || i + 1 == n { p.get("kg") } else { 0.0 };
    let part = |i: usize| -> Box<dyn Component> {
        if i.is_multiple_of(2) {
            Box::new(Mass::new(p, i, ground(i)))
        } else {
            Box::new(Link::new(p, i, ground(i), i + 1 < n))
        }
    };
    let mut pairs = Vec::new();
    for i in (1..n).step_by(2) {
        pairs.extend([((i - 1, 0), (i, 0)), ((i - 1, 1), (i, 1)), ((i, 0), (i - 1, 1))]);
        if i + 1 < n {
            pairs.extend([((i + 1, 0), (i, 2)), ((i + 1, 1), (i, 3)), ((i, 1), (i + 1, 0))]);
        }
    }
    let push = External::Square {
        high: p.get("force"),
        low: -0.5 * p.get("force"),
        frequency: p.get("frequency"),
        phase: 0.1,
        start: p.get("idle"),
    };
    // The free input of the last part: the right force of a mass, or the push of a link at the end.
    let push_input = if n % 2 == 1 { 1 } else { 2 };
    let model =
        SystemDescription::new((0..n).map(part).collect(), Solver::Euler(p.get("micro_step")), 1.0, 1e-3)
            .connected(pairs)
            .driven(n - 1, push_input, push);
    // The left force on the first mass is nobody's: a constant zero says so.
    model.driven(0, 0, External::Constant(0.0))
}

/// Mass i.
fn mass(p: &Parameters, i: usize) -> f64 {
    p.get("m") * (1.0 + p.get("spread") * i as f64 / (p.get("n") - 1.0))
}

/// Typical sizes under the push.
fn ports(p: &Parameters) -> ([Port; 2], impl Fn(&str) -> Port) {
    let force = p.get("force").abs().max(1.0);
    let x = force / p.get("kg").max(p.get("k")).max(1.0);
    let v = x * (p.get("kg").max(p.get("k")).max(1.0) / p.get("m")).sqrt();
    ([Port::new("x", "m", x), Port::new("v", "m/s", v)], move |name: &str| Port::new(name, "N", force))
}

/// Odd mass: forces in, motion out.
#[derive(Clone)]
struct Mass {
    description: Description,
    m: f64,
    kg: f64,
    dg: f64,
}
renamable!(Mass);

impl Mass {
    fn new(p: &Parameters, i: usize, kg: f64) -> Self {
        let (motion, force) = ports(p);
        let inputs = vec![force("left"), force("right")];
        let name = format!("m{}", i + 1);
        let description = describe(&name, inputs, motion.to_vec(), &[&[], &[]]);
        Self { description, m: mass(p, i), kg, dg: p.get("dg") }
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
        x.fill(0.0);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal_from(&self.description.outputs, x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = x[1];
        x_dot[1] = (u[0] + u[1] - self.kg * x[0] - self.dg * x[1]) / self.m;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&[0.0, 1.0, -self.kg / self.m, -self.dg / self.m]);
        model.b.copy_from_slice(&[0.0, 0.0, 1.0 / self.m, 1.0 / self.m]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn energy(&self, x: &[f64], _u: &[f64]) -> Option<f64> {
        Some(0.5 * (self.m * x[1] * x[1] + self.kg * x[0] * x[0]))
    }
}

/// Even mass: motion of the neighbours in, forces on them out. At the end of the chain it has no right
/// neighbour but takes the push.
#[derive(Clone)]
struct Link {
    description: Description,
    m: f64,
    k: f64,
    d: f64,
    kg: f64,
    has_right: bool,
}
renamable!(Link);

impl Link {
    fn new(p: &Parameters, i: usize, kg: f64, has_right: bool) -> Self {
        let ([x, v], force) = ports(p);
        let named = |port: &Port, name: &str| Port { name: name.into(), ..port.clone() };
        let mut inputs = vec![named(&x, "x_left"), named(&v, "v_left")];
        let mut outputs = vec![force("left")];
        let mut feedthrough: Vec<&[usize]> = vec![&[0, 1]];
        if has_right {
            inputs.extend([named(&x, "x_right"), named(&v, "v_right")]);
            outputs.push(force("right"));
            feedthrough.push(&[2, 3]);
        } else {
            inputs.push(force("push"));
        }
        let name = format!("m{}", i + 1);
        let description = describe(&name, inputs, outputs, &feedthrough);
        Self { description, m: mass(p, i), k: p.get("k"), d: p.get("d"), kg, has_right }
    }

    /// Force on the neighbour whose position and velocity stand at `u[at..]`.
    fn force(&self, x: &[f64], u: &[f64], at: usize) -> f64 {
        self.k * (x[0] - u[at]) + self.d * (x[1] - u[at + 1])
    }
}

impl Ode for Link {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    state_names!("x", "v");

    fn initial_state(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal_from(&self.description.inputs, x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let right = if self.has_right { -self.force(x, u, 2) } else { u[2] };
        x_dot[0] = x[1];
        x_dot[1] = (right - self.force(x, u, 0) - self.kg * x[0]) / self.m;
    }

    fn outputs(&self, _t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        y[0] = self.force(x, u, 0);
        if self.has_right {
            y[1] = self.force(x, u, 2);
        }
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        let Self { m, k, d, kg, has_right, .. } = *self;
        let neighbours = if has_right { 2.0 } else { 1.0 };
        model.a.copy_from_slice(&[0.0, 1.0, -(neighbours * k + kg) / m, -neighbours * d / m]);
        if has_right {
            model.b.copy_from_slice(&[0.0, 0.0, 0.0, 0.0, k / m, d / m, k / m, d / m]);
            model.c.copy_from_slice(&[k, d, k, d]);
            model.d.copy_from_slice(&[-k, -d, 0.0, 0.0, 0.0, 0.0, -k, -d]);
        } else {
            model.b.copy_from_slice(&[0.0, 0.0, 0.0, k / m, d / m, 1.0 / m]);
            model.c.copy_from_slice(&[k, d]);
            model.d.copy_from_slice(&[-k, -d, 0.0]);
        }
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        let spring = |at: usize| self.k * (x[0] - u[at]).powi(2);
        let springs = spring(0) + if self.has_right { spring(2) } else { 0.0 };
        Some(0.5 * (self.m * x[1] * x[1] + self.kg * x[0] * x[0] + springs))
    }
}
