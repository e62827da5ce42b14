//! Points to look at the models from.
#![allow(dead_code, reason = "each test binary uses its own share")]

use costep_core::{Layout, Port};
use costep_integrate::Equations;
use costep_models::MODELS;
use costep_system::SystemDescription;

/// Every model with its default parameters, and some with others that change their structure.
pub(crate) fn models() -> Vec<(String, SystemDescription)> {
    let mut models: Vec<_> =
        MODELS.iter().map(|entry| (entry.id.to_owned(), entry.model(&[]).unwrap().1)).collect();
    models.extend([2.0, 3.0, 4.0].map(|n| (format!("chain of {n}"), model("chain", &[("n", n)]))));
    models
}

pub(crate) fn model(id: &str, parameters: &[(&str, f64)]) -> SystemDescription {
    let given: Vec<_> = parameters.iter().map(|(name, value)| ((*name).into(), *value)).collect();
    costep_models::find(id).unwrap().model(&given).unwrap().1
}

/// The equations of all parts.
pub(crate) fn equations(model: &SystemDescription) -> Vec<Box<dyn Equations>> {
    model.parts.iter().map(|part| part.equations().expect("a native part")).collect()
}

/// Repeatable random numbers between -1 and 1.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A point of typical size.
    pub(crate) fn point(&mut self, sizes: &[f64]) -> Vec<f64> {
        sizes.iter().map(|size| size * self.next()).collect()
    }
}

pub(crate) fn state_sizes(equations: &dyn Equations) -> Vec<f64> {
    let mut sizes = vec![f64::NAN; equations.states()];
    equations.nominals(&mut sizes);
    sizes
}

pub(crate) fn input_sizes(equations: &dyn Equations) -> Vec<f64> {
    equations.description().inputs.iter().map(|port: &Port| port.nominal.unwrap()).collect()
}

/// `part.port` of every output, and where a part's outputs are.
pub(crate) fn output_index(model: &SystemDescription, name: &str) -> usize {
    let layout: Layout = model.layout();
    let (part, port) = name.split_once('.').unwrap();
    let i = model.parts.iter().position(|p| p.description().name == part).unwrap();
    let outputs = &model.parts[i].description().outputs;
    layout.output_range(i).start + outputs.iter().position(|p| p.name == port).unwrap()
}
