//! The registry of models, and helpers of their files.

use costep_core::{Description, Port, Result};
use costep_system::SystemDescription;

use crate::parameters::{ParameterSpec, Parameters};

/// One row of the registry of models.
pub struct ModelEntry {
    /// Short name, `dual-mass`.
    pub id: &'static str,
    /// Long name.
    pub title: &'static str,
    /// What it is, in a few sentences.
    pub summary: &'static str,
    /// Paper and place.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParameterSpec],
    /// Builds it from checked parameters.
    pub build: fn(&Parameters) -> SystemDescription,
}

impl ModelEntry {
    /// The model with these parameters and defaults for the others.
    pub fn model(&self, given: &[(String, f64)]) -> Result<(Parameters, SystemDescription)> {
        let parameters = Parameters::check(self.id, self.parameters, given)?;
        let model = (self.build)(&parameters);
        Ok((parameters, model))
    }
}

/// A description of a native part.
pub(crate) fn describe(
    name: &str,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    feedthrough: &[&[usize]],
) -> Description {
    assert_eq!(outputs.len(), feedthrough.len(), "one row of direct feedthrough per output of `{name}`");
    Description {
        name: name.into(),
        inputs,
        outputs,
        feedthrough: feedthrough.iter().map(|inputs| (*inputs).into()).collect(),
        ..Description::default()
    }
}

/// Typical sizes of states that are also ports, in this order.
pub(crate) fn nominal_from(ports: &[Port], x: &mut [f64]) {
    x.iter_mut().zip(ports).for_each(|(x, port)| *x = port.nominal.unwrap_or(1.0));
}

/// Names the states of a part, for messages.
macro_rules! state_names {
    ($($name:literal),*) => {
        fn state_name(&self, i: usize) -> String {
            [$($name),*].get(i).map_or_else(|| format!("x[{i}]"), |name| (*name).into())
        }
    };
}
pub(crate) use state_names;

/// Lets a part be renamed: it keeps its description in a field of that name.
macro_rules! renamable {
    ($part:ty) => {
        impl costep_integrate::Renamable for $part {
            fn description_mut(&mut self) -> &mut costep_core::Description {
                &mut self.description
            }
        }
    };
}
pub(crate) use renamable;
