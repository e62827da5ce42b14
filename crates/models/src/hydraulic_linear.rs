//! Two hydraulic lines in series, linear [V14 (1) to (4)]: each a pipe (inertia I, head loss r) and a volume
//! (compressibility C, leak R), coupled by the pressure of the first and the flow of the second.
//!
//! q_i' = -q_i / tau + p_i / I - f_out          q_i charge of the volume
//! p_i' = -q_i / C - 2 zeta omega0 p_i + e_in   p_i momentum of the pipe
//! left:  input f2, output e1 = q_1 / C;   right: inputs e1 and the flow f3 taken off, output f2 = p_2 / I
//!
//! In scaled units, I = C = 1 / omega0. tau = R C where the paper prints 1 / (R C). It also prints omega0 tau = 0.5,
//! which contradicts its stability claims; with 40 the hold of inputs is stable up to 5.05 us, as it claims.

use std::f64::consts::PI;

use costep_core::{Description, External, LocalModel, Port};
use costep_integrate::{Ode, Solver};
use costep_system::SystemDescription;

use crate::model::{ModelEntry, describe, renamable, state_names};
use crate::parameters::{ParameterSpec, Parameters};

/// The faster mode of two equal lines is this many times as fast as one line alone.
const PHI: f64 = 1.618_033_988_749_895;

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "hydraulic-linear",
    title: "two hydraulic lines in series, linear",
    summary: "Pipe and volume twice, coupled by pressure and flow, lightly damped. Inputs held over a step are \
              stable up to 5 us only, a hundredth of its fastest period.",
    source: "[V14] section 2, (1) to (4)",
    parameters: &[
        ParameterSpec::positive("omega0", "rad/s", PI / (425e-6 * PHI), "frequency of one line"),
        ParameterSpec::not_negative("zeta", "1", 1e-3, "damping ratio of a pipe"),
        ParameterSpec::positive("omega0_tau", "1", 40.0, "time constant of a leak, times omega0"),
        ParameterSpec::free("flow", "1", 1.0, "flow taken off at the end of the second line"),
        ParameterSpec::not_negative("flow_start", "s", 4e-4, "time from which on the flow is taken off"),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let parts: Vec<Box<dyn costep_system::Component>> =
        vec![Box::new(Line::new(p, End::Left)), Box::new(Line::new(p, End::Right))];
    let flow = External::Step { value: p.get("flow"), start: p.get("flow_start") };
    SystemDescription::new(parts, Solver::Exact, 0.02, 50e-6)
        .connected([((1, 0), (0, 0)), ((0, 0), (1, 0))])
        .driven(1, 1, flow)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Left,
    Right,
}

/// A pipe and a volume.
#[derive(Clone)]
struct Line {
    description: Description,
    end: End,
    omega0: f64,
    /// 1 / tau.
    leak: f64,
    /// 2 zeta omega0.
    loss: f64,
}
renamable!(Line);

impl Line {
    fn new(p: &Parameters, end: End) -> Self {
        let (effort, flow) = (Port::new("e", "1", 1.0), Port::new("f", "1", 1.0));
        let description = match end {
            End::Left => describe("left", vec![flow], vec![effort], &[&[]]),
            End::Right => {
                let inputs = vec![effort, Port::new("f_end", "1", 1.0)];
                describe("right", inputs, vec![flow], &[&[]])
            }
        };
        let omega0 = p.get("omega0");
        let (leak, loss) = (omega0 / p.get("omega0_tau"), 2.0 * p.get("zeta") * omega0);
        Self { description, end, omega0, leak, loss }
    }
}

impl Ode for Line {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    state_names!("q", "p");

    fn initial_state(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        x.fill(1.0 / self.omega0);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let (effort, flow) = if self.end == End::Left { (0.0, u[0]) } else { (u[0], u[1]) };
        x_dot[0] = -self.leak * x[0] + self.omega0 * x[1] - flow;
        x_dot[1] = -self.omega0 * x[0] - self.loss * x[1] + effort;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y[0] = self.omega0 * if self.end == End::Left { x[0] } else { x[1] };
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&[-self.leak, self.omega0, -self.omega0, -self.loss]);
        match self.end {
            End::Left => {
                model.b.copy_from_slice(&[-1.0, 0.0]);
                model.c.copy_from_slice(&[self.omega0, 0.0]);
            }
            End::Right => {
                model.b.copy_from_slice(&[0.0, -1.0, 1.0, 0.0]);
                model.c.copy_from_slice(&[0.0, self.omega0]);
            }
        }
        model.d.fill(0.0);
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn energy(&self, x: &[f64], _u: &[f64]) -> Option<f64> {
        Some(0.5 * self.omega0 * (x[0] * x[0] + x[1] * x[1]))
    }
}
