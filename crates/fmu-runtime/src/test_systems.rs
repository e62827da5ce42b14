//! Systems for tests and benchmarks of FMUs. They do one Euler step per communication step, so that what is
//! measured is the cost of the calls.

use costep_core::{Description, LocalModel, Port, Result};
use costep_integrate::{Ode, Renamable, Solver};
use costep_models::{ModelEntry, ParameterSpec, Parameters};
use costep_system::SystemDescription;

/// The systems of this file, beside those of [`costep_models::MODELS`].
pub static TEST_SYSTEMS: &[ModelEntry] = &[LAG, WIDE];

/// The model with this name.
pub fn find(id: &str) -> Result<&'static ModelEntry> {
    TEST_SYSTEMS.iter().find(|entry| entry.id == id).map_or_else(|| costep_models::find(id), Ok)
}

const LAG: ModelEntry = ModelEntry {
    id: "Lag",
    title: "first-order lag",
    summary: "T y' = u - y, one Euler step per communication step.",
    source: "costep",
    parameters: &[
        ParameterSpec::positive("T", "s", 1.0, "time constant"),
        ParameterSpec::free("x0", "1", 0.0, "initial value"),
    ],
    build: |p| lags("Lag", 1, p.get("T"), p.get("x0")),
};

const WIDE: ModelEntry = ModelEntry {
    id: "Wide",
    title: "many lags side by side",
    summary: "y_i' = u_i - y_i, one Euler step per communication step.",
    source: "costep",
    parameters: &[ParameterSpec {
        name: "width",
        unit: "1",
        default: 100.0,
        min: 1.0,
        // Its local model has as many rows and columns.
        max: 5e3,
        whole: true,
        help: "number of signals each way",
    }],
    build: |p: &Parameters| lags("Wide", p.get("width") as usize, 1.0, 0.0),
};

fn lags(name: &str, count: usize, time_constant: f64, start: f64) -> SystemDescription {
    let port = |letter: &str, i: usize| {
        let name = if count == 1 { letter.to_owned() } else { format!("{letter}{i}") };
        Port::new(&name, "1", 1.0)
    };
    let description = Description {
        name: name.into(),
        inputs: (0..count).map(|i| port("u", i)).collect(),
        outputs: (0..count).map(|i| port("y", i)).collect(),
        feedthrough: vec![Default::default(); count],
        ..Description::default()
    };
    // An inner step longer than any communication step: each of these is one inner step.
    SystemDescription::new(
        vec![Box::new(Lags { description, time_constant, start })],
        Solver::Euler(f64::MAX),
        1.0,
        1e-3,
    )
}

/// T y_i' = u_i - y_i.
#[derive(Clone)]
struct Lags {
    description: Description,
    time_constant: f64,
    start: f64,
}

impl Renamable for Lags {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Lags {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.description.outputs.len()
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.fill(self.start);
    }

    #[inline]
    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        for ((x_dot, x), u) in x_dot.iter_mut().zip(x).zip(u) {
            *x_dot = (u - x) / self.time_constant;
        }
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        let n = model.states;
        [&mut model.a, &mut model.b, &mut model.c, &mut model.d].into_iter().for_each(|m| m.fill(0.0));
        for i in 0..n {
            model.a[i * n + i] = -1.0 / self.time_constant;
            model.b[i * n + i] = 1.0 / self.time_constant;
            model.c[i * n + i] = 1.0;
        }
    }

    fn is_linear(&self) -> bool {
        true
    }
}
