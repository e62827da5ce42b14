//! Systems under test, built from the registries of models and methods.

use costep_core::Experiment;
use costep_engine::System;
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

/// A benchmark model with some parameters changed.
///
/// # Panics
///
/// If there is no such model or parameter.
pub fn model(id: &str, parameters: &[(&str, f64)]) -> SystemDescription {
    let given: Vec<_> = parameters.iter().map(|(name, value)| ((*name).into(), *value)).collect();
    costep_models::find(id).unwrap().model(&given).unwrap().1
}

/// A method that comes with costep, written as on the command line.
///
/// # Panics
///
/// If there is none.
pub fn method(text: &str) -> MethodSpec {
    MethodSpec::parse(text).unwrap()
}

/// The parts of a model under one method for all inputs, on one thread.
///
/// # Panics
///
/// If a part cannot be made.
pub fn coupled(
    model: &SystemDescription,
    solver: &Solver,
    method: &MethodSpec,
    stop: f64,
    step: f64,
) -> System {
    System {
        externals: model.externals.clone(),
        ..System::new(
            model.parts.iter().map(|part| part.subsystem(solver).unwrap()).collect(),
            model.connections.clone(),
            (method.build(), method.models()),
            Experiment { start: 0.0, stop, step },
        )
    }
}
