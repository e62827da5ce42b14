//! A direct-current motor, split into its winding and its rotor. A chapter of the book.
//!
//! winding: L i' = V - R i - k omega,  torque M = k i          inputs omega and V
//! rotor:   J omega' = M - b omega - load                      inputs M and load
//!
//! M omega is the power that goes from one to the other.

use costep_core::{External, Port};
use costep_integrate::{Linear, Solver};
use costep_system::{Component, SystemDescription};

use crate::model::ModelEntry;
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "motor-drive",
    title: "motor drive: winding and rotor",
    summary: "A motor that is switched on and loaded later, split where electrical power becomes mechanical. Linear; \
              winding and rotor swing with 16 Hz, which held inputs at 5 ms make grow.",
    source: "a chapter of the book",
    parameters: &[
        ParameterSpec::positive("L", "H", 5e-3, "inductance of the winding"),
        ParameterSpec::not_negative("R", "Ohm", 0.2, "resistance of the winding"),
        ParameterSpec::positive("k", "N.m/A", 0.1, "torque by current, and voltage by speed"),
        ParameterSpec::positive("J", "kg.m2", 2e-4, "inertia of the rotor"),
        ParameterSpec::not_negative("b", "N.m.s/rad", 2e-4, "friction of the rotor"),
        ParameterSpec::free("V", "V", 24.0, "voltage, on from 20 ms on"),
        ParameterSpec::free("load", "N.m", 1.0, "load, on from 0.4 s on"),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let [l, r, k, j, b] = ["L", "R", "k", "J", "b"].map(|name| p.get(name));
    let speed = || Port::new("omega", "rad/s", 100.0);
    let torque = || Port::new("M", "N.m", 1.0);
    let winding = Linear::new(
        "winding",
        (vec![speed(), Port::new("V", "V", 24.0)], vec![torque(), Port::new("i", "A", 10.0)]),
        [&[-r / l], &[-k / l, 1.0 / l], &[k, 1.0], &[0.0; 4]],
        &[0.0],
    );
    let rotor = Linear::new(
        "rotor",
        (vec![torque(), Port::new("load", "N.m", 0.5)], vec![speed()]),
        [&[-b / j], &[1.0 / j, -1.0 / j], &[1.0], &[0.0; 2]],
        &[0.0],
    );
    let parts: Vec<Box<dyn Component>> = vec![Box::new(winding.storing(&[l])), Box::new(rotor.storing(&[j]))];
    SystemDescription::new(parts, Solver::Exact, 0.8, 5e-3)
        .connected([((0, 0), (1, 0)), ((1, 0), (0, 0))])
        .driven(0, 1, External::Step { value: p.get("V"), start: 0.02 })
        .driven(1, 1, External::Step { value: p.get("load"), start: 0.4 })
}
