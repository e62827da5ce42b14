//! What the benchmarks share: a ring of lags, as a coupled system and as a hand-written loop; the cases that
//! `identified` is measured on; the corpus that verdicts are measured on; controlled steps; and advice beside a grid.

pub mod advise;
pub mod cpu_time;
pub mod identified_cases;
pub mod step_control;
pub mod trust;

use costep_core::{Connection, Description, Experiment, LocalModel, Port};
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::{Ode, Renamable, Solver};
use costep_methods::MethodSpec;
use costep_system::Component;

/// Macro step of the ring, in s.
pub const STEP: f64 = 1e-3;

/// A first-order lag T y' = u - y, the smallest native subsystem there is.
#[derive(Clone)]
pub struct Lag {
    description: Description,
    time_constant: f64,
    start: f64,
}

impl Lag {
    /// Lag number `i` of a ring.
    pub fn new(i: usize) -> Self {
        let port = |name: &str| Port::new(name, "1", 1.0);
        Self {
            description: Description {
                name: format!("lag{i}"),
                inputs: vec![port("u")],
                outputs: vec![port("y")],
                feedthrough: vec![Default::default()],
                ..Description::default()
            },
            time_constant: 0.1 + 0.01 * (i % 7) as f64,
            start: (i % 5) as f64,
        }
    }
}

impl Renamable for Lag {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Lag {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        1
    }

    fn initial_state(&self, x: &mut [f64]) {
        x[0] = self.start;
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = (u[0] - x[0]) / self.time_constant;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y[0] = x[0];
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a[0] = -1.0 / self.time_constant;
        model.b[0] = 1.0 / self.time_constant;
        model.c[0] = 1.0;
        model.d[0] = 0.0;
    }
}

/// A ring of `n` lags with `inner_steps` Euler steps per macro step, as a coupled system.
pub fn ring(n: usize, inner_steps: usize, method: &str) -> Engine {
    let solver = Solver::Euler(STEP / inner_steps as f64);
    let subsystem = |i| Lag::new(i).subsystem(&solver).expect("Euler steps every lag");
    let connection = |i| Connection { output: (i + n - 1) % n, input: i, gain: 1.0 };
    Engine::new(System {
        scheduling: Scheduling::Parallel,
        ..System::new(
            (0..n).map(subsystem).collect(),
            (0..n).map(connection).collect(),
            (
                MethodSpec::parse(method).expect("a registered method").build(),
                Box::new(costep_ident::Exact::new(1)),
            ),
            Experiment { start: 0.0, stop: 1e6, step: STEP },
        )
    })
    .expect("a ring of lags is a valid system")
}

/// The same ring as anyone would write it by hand: one struct per lag, a gather, a step.
pub struct HandWritten {
    lags: Vec<HandLag>,
    u: Vec<f64>,
    y: Vec<f64>,
    source: Vec<usize>,
    inner_steps: usize,
}

struct HandLag {
    time_constant: f64,
    x: f64,
}

impl HandWritten {
    /// A ring of `n` lags.
    pub fn new(n: usize, inner_steps: usize) -> Self {
        let lags: Vec<_> = (0..n)
            .map(|i| HandLag { time_constant: Lag::new(i).time_constant, x: Lag::new(i).start })
            .collect();
        Self {
            y: lags.iter().map(|lag| lag.x).collect(),
            u: vec![0.0; n],
            source: (0..n).map(|i| (i + n - 1) % n).collect(),
            lags,
            inner_steps,
        }
    }

    /// One macro step.
    pub fn step(&mut self) {
        for (u, source) in self.u.iter_mut().zip(&self.source) {
            *u = self.y[*source];
        }
        let dt = STEP / self.inner_steps as f64;
        for ((lag, u), y) in self.lags.iter_mut().zip(&self.u).zip(&mut self.y) {
            for _ in 0..self.inner_steps {
                lag.x += dt * ((u - lag.x) / lag.time_constant);
            }
            *y = lag.x;
        }
    }

    /// The outputs.
    pub fn outputs(&self) -> &[f64] {
        &self.y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rings_compute_the_same() {
        let (mut engine, mut hand) = (ring(10, 3, "zoh"), HandWritten::new(10, 3));
        for _ in 0..100 {
            engine.step().unwrap();
            hand.step();
        }
        for (a, b) in engine.outputs().iter().zip(hand.outputs()) {
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b}");
        }
    }
}
