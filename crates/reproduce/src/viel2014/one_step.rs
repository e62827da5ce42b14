//! A macro step of a coupled linear system as a matrix: what the engine makes of each unit vector of states.

use costep_core::{Connection, Description, Experiment, LocalModel, Port, Result};
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::{Ode, Renamable, Solver};
use costep_linalg::{Matrix, spectral_radius};
use costep_methods::MethodSpec;
use costep_system::{Component, SystemDescription};

/// Tight beside what decides about stability: the growth per step, 1e-5 and more.
const SOLVER: Solver = Solver::Dopri5(1e-12);

/// The linear parts of a model and their connections.
pub(super) struct Linear {
    parts: Vec<Shown>,
    connections: Vec<Connection>,
}

/// A linear part that starts anywhere and shows its states behind its outputs.
#[derive(Clone)]
struct Shown {
    description: Description,
    model: LocalModel,
}

impl Renamable for Shown {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Shown {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.model.states
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.model.x);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        affine([&self.model.a, &self.model.b], [x, u], x_dot);
    }

    fn outputs(&self, _t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        affine([&self.model.c, &self.model.d], [x, u], y);
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&self.model.a);
        model.b.copy_from_slice(&self.model.b);
        model.c.copy_from_slice(&self.model.c);
        model.d.copy_from_slice(&self.model.d);
    }
}

/// P x + Q u for matrices by rows.
fn affine([p, q]: [&[f64]; 2], [x, u]: [&[f64]; 2], out: &mut [f64]) {
    let product = |matrix: &[f64], i: usize, v: &[f64]| -> f64 {
        matrix[i * v.len()..(i + 1) * v.len()].iter().zip(v).map(|(m, v)| m * v).sum()
    };
    for (i, out) in out.iter_mut().enumerate() {
        *out = product(p, i, x) + product(q, i, u);
    }
}

impl Linear {
    /// The parts of a linear model, without external inputs.
    pub(super) fn of(model: &SystemDescription) -> Result<Self> {
        let twin = model.parts.iter().filter_map(|part| part.ode());
        let parts: Vec<Shown> = twin.map(|ode| Shown::new(&*ode)).collect();
        let layout = model.layout();
        // Behind the outputs of every part lie its states.
        let shift = |output: usize| -> usize {
            parts[..layout.output_owner(output)].iter().map(|part| part.model.states).sum()
        };
        let connections =
            model.connections.iter().map(|c| Connection { output: c.output + shift(c.output), ..*c });
        let connections = connections.collect();
        Ok(Self { parts, connections })
    }

    /// A, B, C, D of a part, whose first rows of C and D are its outputs.
    pub(super) fn part(&self, i: usize) -> &LocalModel {
        &self.parts[i].model
    }

    /// The states after a step of length `h`, one column for each state that is 1 before it.
    pub(super) fn matrix(&self, method: &str, h: f64) -> Result<Matrix> {
        let states = self.parts.iter().map(|part| part.model.states).sum();
        let mut matrix = Matrix::zeros(states, states);
        for j in 0..states {
            let column = self.after_step(method, h, j)?;
            column.into_iter().enumerate().for_each(|(i, value)| matrix[(i, j)] = value);
        }
        Ok(matrix)
    }

    /// Largest amplification of a mode in a step.
    pub(super) fn radius(&self, method: &str, h: f64) -> Result<f64> {
        Ok(spectral_radius(&self.matrix(method, h)?))
    }

    fn after_step(&self, method: &str, h: f64, unit: usize) -> Result<Vec<f64>> {
        let mut next = 0..;
        let parts: Vec<Shown> = self
            .parts
            .iter()
            .cloned()
            .map(|mut part| {
                part.model.x.iter_mut().zip(&mut next).for_each(|(x, j)| *x = f64::from(u8::from(j == unit)));
                part
            })
            .collect();
        let mut engine = Engine::new(System {
            scheduling: Scheduling::Parallel,
            ..System::new(
                parts.iter().map(|part| part.subsystem(&SOLVER)).collect::<Result<_>>()?,
                self.connections.clone(),
                (MethodSpec::parse(method)?.build(), Box::new(costep_ident::Exact::new(1))),
                Experiment { start: 0.0, stop: 2.0 * h, step: h },
            )
        })?;
        engine.step()?;
        let (mut y, mut x) = (engine.outputs(), Vec::new());
        for part in &parts {
            let (own, rest) = y.split_at(part.model.outputs);
            x.extend_from_slice(&own[part.model.outputs - part.model.states..]);
            y = rest;
        }
        Ok(x)
    }
}

impl Shown {
    fn new(ode: &dyn Ode) -> Self {
        let mut description = ode.description().clone();
        let (n, m, r) = (ode.states(), description.inputs.len(), description.outputs.len());
        let mut plain = LocalModel::new(n, m, r);
        ode.jacobians(0.0, &vec![0.0; n], &vec![0.0; m], &mut plain);
        let mut model = LocalModel::new(n, m, r + n);
        model.a = plain.a;
        model.b = plain.b;
        model.c[..r * n].copy_from_slice(&plain.c);
        model.d[..r * m].copy_from_slice(&plain.d);
        for i in 0..n {
            model.c[(r + i) * n + i] = 1.0;
            description.outputs.push(Port::new(&format!("x{i}"), "1", 1.0));
            description.feedthrough.push(Default::default());
        }
        Self { description, model }
    }
}
