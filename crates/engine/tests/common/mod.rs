//! Systems under test, built from the registries of models and methods.

use costep_core::{Experiment, InputSet};
use costep_engine::{Group, Scheduling, System, Threads};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

/// A benchmark model with some parameters changed.
pub(crate) fn model(id: &str, parameters: &[(&str, f64)]) -> SystemDescription {
    let given: Vec<_> = parameters.iter().map(|(name, value)| ((*name).into(), *value)).collect();
    costep_models::find(id).unwrap().model(&given).unwrap().1
}

/// The method written as on the command line.
pub(crate) fn method(text: &str) -> MethodSpec {
    MethodSpec::parse(text).unwrap()
}

/// The parts of a model under one method for all inputs, on one thread.
pub(crate) fn coupled(
    model: &SystemDescription,
    solver: &Solver,
    method: &MethodSpec,
    stop: f64,
    step: f64,
) -> System {
    System {
        subsystems: model.parts.iter().map(|part| part.subsystem(solver).unwrap()).collect(),
        connections: model.connections.clone(),
        models: method.models(),
        externals: model.externals.clone(),
        groups: vec![Group { method: method.build(), inputs: InputSet::All(model.layout().inputs()) }],
        scheduling: Scheduling::Auto,
        bounds: Vec::new(),
        experiment: Experiment { start: 0.0, stop, step },
        threads: Threads::Fixed(1),
        micro_samples: false,
    }
}
