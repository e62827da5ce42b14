//! Dual mass oscillator with a progressive coupling spring and damper [T 3.1.1] and an external force on
//! mass 1 [T 3.1.2].
//!
//! ck = clip(c |dx|^(nc-1), ck_min, ck_max), dk = clip(d |dv|^(nd-1), dk_min, dk_max)     [T (3.6), (3.7)]
//! with dx = x2 - u1, dv = x2' - u2, and F = ck dx + dk dv.
//!
//! The force [T (3.8)] is printed as an impulse at single instants, which has no effect on an ODE. Read here as
//! held for `width` (1 ms, one communication step of the thesis) from each multiple t_j of `period` on, with
//! the value force * sin(10 t_j): then the amplitudes are those of the thesis. It acts inside S1 and is not
//! known to the coupling.

use costep_core::{Description, LocalModel};
use costep_integrate::{Ode, Solver};
use costep_system::SystemDescription;

use crate::dual_mass::Nominal;
use crate::model::{ModelEntry, describe, nominal_from, renamable, state_names};
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "dual-mass-nonlinear",
    title: "dual mass oscillator with progressive coupling and external force",
    summary: "The dual mass oscillator with a coupling spring and damper that stiffen with deflection, kept \
              in motion by force impulses on mass 1 that the coupling does not know. For identified models.",
    source: "[T] sections 3.1.1 and 3.1.2, table 3.1",
    parameters: &[
        ParameterSpec::positive("m1", "kg", 10.0, "mass 1"),
        ParameterSpec::positive("m2", "kg", 10.0, "mass 2"),
        ParameterSpec::not_negative("c1", "N/m", 1e6, "spring from mass 1 to the wall"),
        ParameterSpec::not_negative("c2", "N/m", 1e7, "spring from mass 2 to the wall"),
        ParameterSpec::not_negative("d1", "N.s/m", 1.0, "damper from mass 1 to the wall"),
        ParameterSpec::not_negative("d2", "N.s/m", 2.0, "damper from mass 2 to the wall"),
        ParameterSpec::positive("c", "N/m", 5e5, "progressive spring: factor"),
        ParameterSpec::positive("ck_min", "N/m", 2.5e4, "least stiffness"),
        ParameterSpec::positive("ck_max", "N/m", 2.5e5, "greatest stiffness"),
        ParameterSpec {
            name: "nc",
            unit: "1",
            default: 1.5,
            min: 1.01,
            max: 4.0,
            whole: false,
            help: "exponent of the spring",
        },
        ParameterSpec::positive("d", "N.s/m", 1e3, "progressive damper: factor"),
        ParameterSpec::positive("dk_min", "N.s/m", 5e2, "least damping"),
        ParameterSpec::positive("dk_max", "N.s/m", 3e3, "greatest damping"),
        ParameterSpec {
            name: "nd",
            unit: "1",
            default: 1.5,
            min: 1.01,
            max: 4.0,
            whole: false,
            help: "exponent of the damper",
        },
        ParameterSpec::free("force", "N", 5e5, "greatest impulse force on mass 1; 0 switches it off"),
        ParameterSpec::positive("period", "s", 0.05, "time between impulses"),
        ParameterSpec::positive("width", "s", 1e-3, "duration of an impulse"),
        ParameterSpec::free("x1", "m", 0.1, "initial position of mass 1"),
        ParameterSpec::free("v1", "m/s", 0.0, "initial velocity of mass 1"),
        ParameterSpec::free("x2", "m", 0.0, "initial position of mass 2"),
        ParameterSpec::free("v2", "m/s", 0.0, "initial velocity of mass 2"),
        ParameterSpec::micro_step(1e-5),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let nominal = Nominal::new(p, p.get("ck_max"), p.get("dk_max"));
    let parts: Vec<Box<dyn costep_system::Component>> =
        vec![Box::new(DrivenMass::new(p, &nominal)), Box::new(ProgressiveMass::new(p, &nominal))];
    SystemDescription::new(parts, Solver::Euler(p.get("micro_step")), 1.0, 1e-3).connected([
        ((1, 0), (0, 0)),
        ((0, 0), (1, 0)),
        ((0, 1), (1, 1)),
    ])
}

/// S1: mass on spring and damper under the coupling force and the impulses.
#[derive(Clone)]
struct DrivenMass {
    description: Description,
    m: f64,
    c: f64,
    d: f64,
    force: f64,
    period: f64,
    width: f64,
    start: [f64; 2],
}
renamable!(DrivenMass);

/// Angular frequency of the impulse heights, rad/s [T 3.1.2].
const IMPULSE_FREQUENCY: f64 = 10.0;

impl DrivenMass {
    fn new(p: &Parameters, nominal: &Nominal) -> Self {
        Self {
            description: describe("s1", nominal.force(), nominal.motion(), &[&[], &[]]),
            m: p.get("m1"),
            c: p.get("c1"),
            d: p.get("d1"),
            force: p.get("force"),
            period: p.get("period"),
            width: p.get("width"),
            start: [p.get("x1"), p.get("v1")],
        }
    }

    fn impulse(&self, t: f64) -> f64 {
        // An inner step that starts at an impulse up to round-off belongs to it; one that starts at its end does not.
        let slack = 1e-6 * self.width;
        let start = ((t + slack) / self.period).floor() * self.period;
        if t - start < self.width - slack { self.force * (IMPULSE_FREQUENCY * start).sin() } else { 0.0 }
    }
}

impl Ode for DrivenMass {
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

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = x[1];
        x_dot[1] = (-self.c * x[0] - self.d * x[1] + u[0] + self.impulse(t)) / self.m;
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

    fn energy(&self, x: &[f64], _u: &[f64]) -> Option<f64> {
        Some(0.5 * (self.m * x[1] * x[1] + self.c * x[0] * x[0]))
    }
}

/// A coefficient that grows with deflection between two limits: k(s) = clip(factor |s|^(n-1), min, max).
#[derive(Clone, Copy)]
struct Progressive {
    factor: f64,
    min: f64,
    max: f64,
    exponent: f64,
}

impl Progressive {
    /// k(s) s.
    fn force(&self, s: f64) -> f64 {
        self.coefficient(s) * s
    }

    fn coefficient(&self, s: f64) -> f64 {
        (self.factor * s.abs().powf(self.exponent - 1.0)).min(self.max).max(self.min)
    }

    /// d(k(s) s)/ds.
    fn tangent(&self, s: f64) -> f64 {
        let free = self.factor * s.abs().powf(self.exponent - 1.0);
        if self.min < free && free < self.max { self.exponent * free } else { self.coefficient(s) }
    }

    /// Integral of k(s) s from 0.
    fn energy(&self, s: f64) -> f64 {
        let knee = |limit: f64| (limit / self.factor).powf(1.0 / (self.exponent - 1.0));
        // As in `coefficient`, the lower limit wins if they are the wrong way round.
        let max = self.max.max(self.min);
        let (soft, hard) = (knee(self.min), knee(max));
        let power = self.exponent + 1.0;
        let s = s.abs();
        let lower = 0.5 * self.min * s.min(soft).powi(2);
        let middle = self.factor / power * (s.clamp(soft, hard).powf(power) - soft.powf(power));
        let upper = 0.5 * max * (s.max(hard).powi(2) - hard.powi(2));
        lower + middle + upper
    }
}

/// S2: mass with the progressive coupling spring and damper.
#[derive(Clone)]
struct ProgressiveMass {
    description: Description,
    m: f64,
    c: f64,
    d: f64,
    spring: Progressive,
    damper: Progressive,
    start: [f64; 2],
}
renamable!(ProgressiveMass);

impl ProgressiveMass {
    fn new(p: &Parameters, nominal: &Nominal) -> Self {
        let progressive = |factor, min, max, exponent| Progressive {
            factor: p.get(factor),
            min: p.get(min),
            max: p.get(max),
            exponent: p.get(exponent),
        };
        Self {
            description: describe("s2", nominal.motion(), nominal.force(), &[&[0, 1]]),
            m: p.get("m2"),
            c: p.get("c2"),
            d: p.get("d2"),
            spring: progressive("c", "ck_min", "ck_max", "nc"),
            damper: progressive("d", "dk_min", "dk_max", "nd"),
            start: [p.get("x2"), p.get("v2")],
        }
    }

    fn force(&self, x: &[f64], u: &[f64]) -> f64 {
        self.spring.force(x[0] - u[0]) + self.damper.force(x[1] - u[1])
    }
}

impl Ode for ProgressiveMass {
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

    fn jacobians(&self, _t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        let (m, ck, dk) = (self.m, self.spring.tangent(x[0] - u[0]), self.damper.tangent(x[1] - u[1]));
        model.a.copy_from_slice(&[0.0, 1.0, -(self.c + ck) / m, -(self.d + dk) / m]);
        model.b.copy_from_slice(&[0.0, 0.0, ck / m, dk / m]);
        model.c.copy_from_slice(&[ck, dk]);
        model.d.copy_from_slice(&[-ck, -dk]);
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        Some(0.5 * (self.m * x[1] * x[1] + self.c * x[0] * x[0]) + self.spring.energy(x[0] - u[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPRING: Progressive = Progressive { factor: 5e5, min: 2.5e4, max: 2.5e5, exponent: 1.5 };

    #[test]
    fn the_energy_is_the_integral_of_the_force() {
        for spring in [SPRING, Progressive { max: 1e4, ..SPRING }] {
            for end in [0.001, 0.1, 0.4] {
                let n = 200_000;
                let ds = end / f64::from(n);
                let sum: f64 = (0..n).map(|j| spring.force((f64::from(j) + 0.5) * ds) * ds).sum();
                assert!((spring.energy(end) / sum - 1.0).abs() < 1e-6, "{end}");
            }
        }
    }

    #[test]
    fn an_impulse_lasts_its_width() {
        let (_, model) = ENTRY.model(&[]).unwrap();
        let mut x_dot = [0.0; 2];
        let mut force = |t: f64| {
            model.parts[0].ode().unwrap().derivatives(t, &[0.0; 2], &[0.0], &mut x_dot);
            10.0 * x_dot[1]
        };
        let height = 5e5 * 0.5f64.sin();
        let steps = (0..200).filter(|j| force(0.0495 + f64::from(*j) * 1e-5) != 0.0).count();
        assert_eq!(steps, 100);
        assert!((force(0.05) - height).abs() < 1e-6 * height);
    }
}
