//! Two hydraulic lines in series with real oil: the system of [V14] section 2.1, whose parameters the paper does not
//! give. Chosen so that linearised at 10 L/min it is the linear one of `hydraulic_linear.rs`.
//!
//! p_i' = B(p_i) rho0 / (V rho(p_i)) (q_i - q_out - q_leak(p_i))        volume
//! q_i' = (p_in - p_i - dp_f(q_i, rho((p_in + p_i) / 2))) / I           pipe; q = mass flow / rho0
//!
//! rho(p) = rho0 (1 + m p / B0)^(1/m), B(p) = B0 + m p: density and stiffness of the oil.
//! dp_f: laminar and turbulent friction, blended between Re = 2000 and 4000. q_leak: an orifice to the tank.
//! left: input f2 = q_2, output p_1; right: inputs p_1 and the flow f3 taken off, output q_2.

use std::f64::consts::PI;

use costep_core::{Description, External, LocalModel, Port};
use costep_integrate::{Ode, Solver};
use costep_system::SystemDescription;

use crate::model::{ModelEntry, describe, renamable, state_names};
use crate::parameters::{ParameterSpec, Parameters};

/// A litre per minute in m3/s.
const LITRE_PER_MINUTE: f64 = 1e-3 / 60.0;

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "hydraulic",
    title: "two hydraulic lines in series with real oil",
    summary: "Pipe and volume twice, with compressible oil, laminar and turbulent friction and a leak; the flow \
              taken off jumps at 0.1 s and at 1 s. Nonlinear, lightly damped.",
    source: "[V14] section 2.1; parameters chosen here",
    parameters: &[
        ParameterSpec::positive("rho0", "kg/m3", 850.0, "density of the oil at no pressure"),
        ParameterSpec::positive("B0", "Pa", 1.7e9, "bulk modulus of the oil at no pressure"),
        ParameterSpec::positive("m", "1", 10.0, "growth of the bulk modulus with pressure"),
        ParameterSpec::positive("mu", "Pa.s", 0.0244, "viscosity of the oil"),
        ParameterSpec::positive("V", "m3", 7.923e-5, "volume of a chamber"),
        ParameterSpec::positive("L", "m", 0.1, "length of a pipe"),
        ParameterSpec::positive("D", "m", 0.01, "diameter of a pipe"),
        ParameterSpec::positive("d", "m", 1.09e-3, "diameter of a leak"),
        ParameterSpec::positive("p0", "Pa", 1e7, "pressure of the source"),
        ParameterSpec::free("flow", "L/min", 5.0, "flow taken off at the start"),
        ParameterSpec::free("flow_1", "L/min", 10.0, "flow taken off from t1 on"),
        ParameterSpec::free("flow_2", "L/min", 40.0, "flow taken off from t2 on"),
        ParameterSpec::not_negative("t1", "s", 0.1, "time of the first jump"),
        ParameterSpec::not_negative("t2", "s", 1.0, "time of the second jump"),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let oil = Oil::new(p);
    let flow = |name: &str| p.get(name) * LITRE_PER_MINUTE;
    let [left, right] = oil.steady_state(p.get("p0"), flow("flow"));
    let parts: Vec<Box<dyn costep_system::Component>> =
        vec![Box::new(Left::new(oil, p.get("p0"), left)), Box::new(Right::new(oil, right))];
    let jump =
        |from: &str, to: &str, at: &str| External::Step { value: flow(to) - flow(from), start: p.get(at) };
    SystemDescription::new(parts, Solver::Dopri5(1e-5), 2.0, 50e-6)
        .connected([((1, 0), (0, 0)), ((0, 0), (1, 0))])
        .driven(1, 1, External::Constant(flow("flow")))
        .driven(1, 1, jump("flow", "flow_1", "t1"))
        .driven(1, 1, jump("flow_1", "flow_2", "t2"))
}

/// A value and its derivative.
type WithSlope = (f64, f64);

/// Oil in pipes and volumes.
#[derive(Clone, Copy, Debug)]
struct Oil {
    rho0: f64,
    b0: f64,
    m: f64,
    volume: f64,
    /// I = rho0 L / A.
    inertia: f64,
    /// Reynolds number per flow.
    reynolds: f64,
    /// L mu^2 / (2 D^3): friction pressure is this times F(Re) / rho.
    friction: f64,
    /// Area of a leak by rho0, times the largest flow coefficient.
    leak_area: f64,
    /// Flow coefficient: tanh(leak_onset * mass flux).
    leak_onset: f64,
}

impl Oil {
    fn new(p: &Parameters) -> Self {
        let [rho0, mu, length, pipe, leak] = ["rho0", "mu", "L", "D", "d"].map(|name| p.get(name));
        Self {
            rho0,
            b0: p.get("B0"),
            m: p.get("m"),
            volume: p.get("V"),
            inertia: rho0 * length / (PI * pipe * pipe / 4.0),
            reynolds: 4.0 * rho0 / (PI * pipe * mu),
            friction: length * mu * mu / (2.0 * pipe.powi(3)),
            leak_area: 0.7 * PI * leak * leak / 4.0 / rho0,
            leak_onset: 2.0 * leak / (1000.0 * mu),
        }
    }

    /// B(p).
    fn stiffness(&self, p: f64) -> f64 {
        self.b0 + self.m * p
    }

    /// rho(p); its slope is rho / B.
    fn density(&self, p: f64) -> f64 {
        self.rho0 * (1.0 + self.m * p / self.b0).powf(1.0 / self.m)
    }

    /// q_leak.
    fn leak(&self, p: f64) -> WithSlope {
        let density = self.density(p);
        let flux = (2.0 * p.abs() * density).sqrt();
        let tanh = (self.leak_onset * flux).tanh();
        let value = p.signum() * self.leak_area * flux * tanh;
        // d(flux) / dp is (rho + p rho / B) / flux; the quotient stays finite at no pressure.
        let by_flux = if flux > 0.0 {
            tanh / flux + self.leak_onset * (1.0 - tanh * tanh)
        } else {
            2.0 * self.leak_onset
        };
        (value, self.leak_area * by_flux * density * (1.0 + p / self.stiffness(p)))
    }

    /// dp_f and its derivatives by the flow and by the density.
    fn friction(&self, q: f64, density: f64) -> (f64, [f64; 2]) {
        let (factor, slope) = friction_factor(self.reynolds * q.abs());
        let scale = self.friction / density;
        let loss = q.signum() * scale * factor;
        (loss, [scale * slope * self.reynolds, -loss / density])
    }

    /// p' of a volume with this net flow into it, before the leak.
    fn pressure_rate(&self, p: f64, inflow: f64) -> f64 {
        self.stiffness(p) * self.rho0 / (self.volume * self.density(p)) * (inflow - self.leak(p).0)
    }

    /// dp'/dp and dp'/d(inflow).
    fn pressure_slopes(&self, p: f64, inflow: f64) -> [f64; 2] {
        let (density, (leak, leak_slope)) = (self.density(p), self.leak(p));
        let scale = self.rho0 / (self.volume * density);
        let gain = scale * self.stiffness(p);
        [scale * (self.m - 1.0) * (inflow - leak) - gain * leak_slope, gain]
    }

    /// q' of a pipe.
    fn flow_rate(&self, q: f64, p_in: f64, p_out: f64) -> f64 {
        let density = self.density((p_in + p_out) / 2.0);
        (p_in - p_out - self.friction(q, density).0) / self.inertia
    }

    /// dq'/dq, dq'/dp_in, dq'/dp_out.
    fn flow_slopes(&self, q: f64, p_in: f64, p_out: f64) -> [f64; 3] {
        let mean = (p_in + p_out) / 2.0;
        let density = self.density(mean);
        let (_, [by_flow, by_density]) = self.friction(q, density);
        let by_mean = by_density * density / self.stiffness(mean) / 2.0;
        [-by_flow, 1.0 - by_mean, -1.0 - by_mean].map(|slope| slope / self.inertia)
    }

    /// (p, q) of both lines at rest, when `flow` is taken off behind the second.
    fn steady_state(&self, source: f64, flow: f64) -> [[f64; 2]; 2] {
        let before = |p: f64, q: f64| {
            // Pressure before a pipe; the density hardly depends on it.
            (0..50).fold(p, |p_in, _| p + self.friction(q, self.density((p_in + p) / 2.0)).0)
        };
        let mut end = source;
        let mut lines = [[0.0; 2]; 2];
        for _ in 0..100 {
            let q2 = flow + self.leak(end).0;
            let p1 = before(end, q2);
            let q1 = q2 + self.leak(p1).0;
            lines = [[p1, q1], [end, q2]];
            // The losses hardly depend on the pressure, so that this converges at once.
            end += source - before(p1, q1);
        }
        lines
    }
}

/// F(Re) = lambda Re^2.
fn friction_factor(re: f64) -> WithSlope {
    let laminar = (64.0 * re, 64.0);
    let turbulent = (0.3164 * re.powf(1.75), 1.75 * 0.3164 * re.powf(0.75));
    let s = ((re - 2000.0) / 2000.0).clamp(0.0, 1.0);
    let (weight, weight_slope) = (s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s) / 2000.0);
    let value = laminar.0 + weight * (turbulent.0 - laminar.0);
    let slope = laminar.1 + weight * (turbulent.1 - laminar.1) + weight_slope * (turbulent.0 - laminar.0);
    (value, slope)
}

fn pressure() -> Port {
    Port::new("p", "Pa", 1e5)
}

fn flow(name: &str) -> Port {
    Port::new(name, "m3/s", LITRE_PER_MINUTE)
}

fn nominal(x: &mut [f64]) {
    x.copy_from_slice(&[1e5, LITRE_PER_MINUTE]);
}

/// First line; states p_1, q_1.
#[derive(Clone)]
struct Left {
    description: Description,
    oil: Oil,
    source: f64,
    start: [f64; 2],
}
renamable!(Left);

impl Left {
    fn new(oil: Oil, source: f64, start: [f64; 2]) -> Self {
        let description = describe("left", vec![flow("q")], vec![pressure()], &[&[]]);
        Self { description, oil, source, start }
    }
}

impl Ode for Left {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    state_names!("p", "q");

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal(x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = self.oil.pressure_rate(x[0], x[1] - u[0]);
        x_dot[1] = self.oil.flow_rate(x[1], self.source, x[0]);
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y[0] = x[0];
    }

    fn jacobians(&self, _t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        let [by_p, gain] = self.oil.pressure_slopes(x[0], x[1] - u[0]);
        let [by_q, _, by_out] = self.oil.flow_slopes(x[1], self.source, x[0]);
        model.a.copy_from_slice(&[by_p, gain, by_out, by_q]);
        model.b.copy_from_slice(&[-gain, 0.0]);
        model.c.copy_from_slice(&[1.0, 0.0]);
        model.d.fill(0.0);
    }
}

/// Second line; states p_2, q_2.
#[derive(Clone)]
struct Right {
    description: Description,
    oil: Oil,
    start: [f64; 2],
}
renamable!(Right);

impl Right {
    fn new(oil: Oil, start: [f64; 2]) -> Self {
        let inputs = vec![pressure(), flow("q_end")];
        let description = describe("right", inputs, vec![flow("q")], &[&[]]);
        Self { description, oil, start }
    }
}

impl Ode for Right {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    state_names!("p", "q");

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        nominal(x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = self.oil.pressure_rate(x[0], x[1] - u[1]);
        x_dot[1] = self.oil.flow_rate(x[1], u[0], x[0]);
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y[0] = x[1];
    }

    fn jacobians(&self, _t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        let [by_p, gain] = self.oil.pressure_slopes(x[0], x[1] - u[1]);
        let [by_q, by_in, by_out] = self.oil.flow_slopes(x[1], u[0], x[0]);
        model.a.copy_from_slice(&[by_p, gain, by_out, by_q]);
        model.b.copy_from_slice(&[0.0, -gain, by_in, 0.0]);
        model.c.copy_from_slice(&[0.0, 1.0]);
        model.d.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use costep_integrate::Equations as _;

    #[test]
    fn linearised_at_ten_litres_it_is_the_linear_system() {
        let (parameters, _) = ENTRY.model(&[]).unwrap();
        let oil = Oil::new(&parameters);
        let [[p1, q1], [_, q2]] = oil.steady_state(1e7, 10.0 * LITRE_PER_MINUTE);
        let [by_p, gain] = oil.pressure_slopes(p1, q1 - q2);
        let [by_q, _, by_out] = oil.flow_slopes(q1, 1e7, p1);
        let omega0 = (-gain * by_out).sqrt();
        let period = PI / (omega0 * 1.618_033_988_749_895);
        assert!((period / 424.99e-6 - 1.0).abs() < 1e-4, "{period}");
        assert!((-by_q / (2.0 * omega0) / 0.09996e-2 - 1.0).abs() < 1e-3, "zeta {}", -by_q / (2.0 * omega0));
        assert!((-omega0 / by_p / 40.03 - 1.0).abs() < 1e-3, "omega0 tau {}", -omega0 / by_p);
    }

    #[test]
    fn it_starts_at_rest() {
        let (_, model) = ENTRY.model(&[]).unwrap();
        let mut twin = model.monolithic().unwrap();
        let mut x = vec![0.0; 4];
        let mut x_dot = vec![0.0; 4];
        twin.start(0.0, &mut x, &mut []).unwrap();
        twin.derivatives(0.0, &x, &[], &mut x_dot).unwrap();
        assert!(x_dot[0].abs() < 1.0 && x_dot[2].abs() < 1.0, "{x_dot:?}");
        assert!(x_dot[1].abs() < 1e-8 && x_dot[3].abs() < 1e-8, "{x_dot:?}");
    }
}
