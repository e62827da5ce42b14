//! A PI controller and what it controls: the flow through a pipe, set by a valve. A chapter of the book.
//!
//! controller: u = Kp (r - y) + Kp / Ti x,  x' = r - y         inputs r and y, output u with direct feedthrough
//! plant:      Tv v' = u - v,  Tp y' = K v - y                 valve, then pipe

use costep_core::{External, Port};
use costep_integrate::{Linear, Solver};
use costep_system::{Component, SystemDescription};

use crate::model::ModelEntry;
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "pi-plant",
    title: "PI controller and plant",
    summary: "A flow that a PI controller sets by a valve, from an empty pipe. Linear, stable and well damped \
              in itself; the delay of held inputs takes the damping away.",
    source: "a chapter of the book",
    parameters: &[
        ParameterSpec::positive("Kp", "s/kg", 4.0, "proportional gain of the controller"),
        ParameterSpec::positive("Ti", "s", 0.5, "integral time of the controller"),
        ParameterSpec::positive("K", "kg/s", 1.0, "flow through the open valve"),
        ParameterSpec::positive("Tv", "s", 0.1, "time constant of the valve"),
        ParameterSpec::positive("Tp", "s", 0.5, "time constant of the pipe"),
        ParameterSpec::free("r", "kg/s", 0.5, "set point; the pipe is empty at the start"),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let [kp, ti, k, tv, tp] = ["Kp", "Ti", "K", "Tv", "Tp"].map(|name| p.get(name));
    let flow = |name: &str| Port::new(name, "kg/s", 1.0);
    let opening = || vec![Port::new("u", "1", 1.0)];
    let controller = Linear::new(
        "controller",
        (vec![Port::new("r", "kg/s", 0.5), flow("y")], opening()),
        [&[0.0], &[1.0, -1.0], &[kp / ti], &[kp, -kp]],
        &[0.0],
    );
    let plant = Linear::new(
        "plant",
        (opening(), vec![flow("y")]),
        [&[-1.0 / tv, 0.0, k / tp, -1.0 / tp], &[1.0 / tv, 0.0], &[0.0, 1.0], &[0.0]],
        &[0.0; 2],
    );
    let parts: Vec<Box<dyn Component>> = vec![Box::new(controller), Box::new(plant)];
    SystemDescription::new(parts, Solver::Exact, 4.0, 0.05)
        .connected([((0, 0), (1, 0)), ((1, 0), (0, 1))])
        .driven(0, 0, External::Constant(p.get("r")))
}
