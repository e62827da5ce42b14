//! The outputs of a run in memory, at the communication points and inside the steps.

use costep_core::{MicroView, Result};
use costep_engine::{Engine, Flow, Observer};

/// How many values are kept of the points inside the steps; longer runs are measured at the communication
/// points only. 2e7 values are 160 MB.
const MICRO_LIMIT: usize = 20_000_000;

/// Outputs at the communication points, the start included.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Number of outputs.
    pub outputs: usize,
    /// T^k.
    pub times: Vec<f64>,
    /// One row of outputs per time.
    pub rows: Vec<f64>,
    /// Sum of the stored energies per time; empty if a subsystem does not know its own.
    pub energy: Vec<f64>,
    /// Outputs inside the steps, if all subsystems report the same instants.
    pub micro: Option<MicroTrace>,
}

/// Outputs at the start of the run and after each inner step.
#[derive(Clone, Debug, Default)]
pub struct MicroTrace {
    /// Instants.
    pub times: Vec<f64>,
    /// One row of outputs per instant.
    pub rows: Vec<f64>,
}

impl Trace {
    /// An empty trace; `micro` asks for the points inside the steps.
    pub fn new(outputs: usize, micro: bool) -> Self {
        Self { outputs, micro: micro.then(MicroTrace::default), ..Self::default() }
    }

    /// The outputs at communication point k.
    pub fn row(&self, k: usize) -> &[f64] {
        &self.rows[k * self.outputs..(k + 1) * self.outputs]
    }

    /// Adds a communication point, with the outputs inside the step that led there.
    pub(crate) fn push(&mut self, t: f64, y: &[f64], energy: Option<f64>, inside: &dyn MicroView) {
        if !self.times.is_empty() {
            self.push_micro(inside);
        } else if let Some(micro) = &mut self.micro {
            micro.times.push(t);
            micro.rows.extend_from_slice(y);
        }
        self.times.push(t);
        self.rows.extend_from_slice(y);
        self.energy.extend(energy);
    }

    fn push_micro(&mut self, inside: &dyn MicroView) {
        let Some(micro) = &mut self.micro else { return };
        let samples = || (0..inside.subsystems()).map(|i| inside.micro_samples(i));
        let Some(Some(first)) = samples().next() else {
            self.micro = None;
            return;
        };
        let same_instants = samples().all(|s| s.is_some_and(|s| s.times.len() == first.times.len()));
        let points = first.times.len() - 1;
        if !same_instants || micro.rows.len() + points * self.outputs > MICRO_LIMIT {
            self.micro = None;
            return;
        }
        micro.times.extend_from_slice(&first.times[1..]);
        for point in 1..=points {
            for samples in samples().flatten() {
                let width = samples.outputs.len() / samples.times.len();
                micro.rows.extend_from_slice(&samples.outputs[point * width..(point + 1) * width]);
            }
        }
    }
}

impl Observer for Trace {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        self.push(engine.time(), engine.outputs(), engine.energy(), engine.micro());
        Ok(Flow::Continue)
    }
}
