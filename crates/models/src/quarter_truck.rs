//! A quarter of a truck that drives over a kerb: chassis with its suspension, and wheel with its tyre. A chapter of the
//! book.
//!
//! chassis: M v' = F,  F = k s + c (v_wheel - v),  s' = v_wheel - v,  z' = v      input v_wheel, outputs F and z
//! wheel:   m v_wheel' = kt (road - z_wheel) - F,  z_wheel' = v_wheel             inputs F and road, output v_wheel
//!
//! Around the position of rest, without weight. F v_wheel is the power that goes from one to the other.

use costep_core::{External, Port};
use costep_integrate::{Linear, Solver};
use costep_system::{Component, SystemDescription};

use crate::model::ModelEntry;
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "quarter-truck",
    title: "quarter truck over a kerb",
    summary: "Chassis on its suspension and wheel on its tyre, coupled by force and velocity at the axle. Linear; the \
              wheel hops with 10 Hz. The force has direct feedthrough, which held inputs make stale.",
    source: "a chapter of the book; masses and stiffnesses of the quarter truck of libcosim",
    parameters: &[
        ParameterSpec::positive("M", "kg", 400.0, "mass of the chassis"),
        ParameterSpec::positive("m", "kg", 40.0, "mass of the wheel"),
        ParameterSpec::positive("k", "N/m", 1.5e4, "stiffness of the suspension"),
        ParameterSpec::not_negative("c", "N.s/m", 1e3, "damping of the suspension"),
        ParameterSpec::positive("kt", "N/m", 1.5e5, "stiffness of the tyre"),
        ParameterSpec::free("kerb", "m", 0.1, "height of the road from 0.1 s on"),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let [chassis, wheel, k, c, kt] = ["M", "m", "k", "c", "kt"].map(|name| p.get(name));
    let velocity = |name: &str| Port::new(name, "m/s", 1.0);
    let force = || Port::new("F", "N", 1e3);
    let height = |name: &str| Port::new(name, "m", 0.1);
    // States z, v, s.
    let body = Linear::new(
        "chassis",
        (vec![velocity("v_wheel")], vec![force(), height("z")]),
        [
            &[0.0, 1.0, 0.0, 0.0, -c / chassis, k / chassis, 0.0, -1.0, 0.0],
            &[0.0, c / chassis, 1.0],
            &[0.0, -c, k, 1.0, 0.0, 0.0],
            &[c, 0.0],
        ],
        &[0.0; 3],
    );
    // States z_wheel, v_wheel.
    let axle = Linear::new(
        "wheel",
        (vec![force(), height("road")], vec![velocity("v_wheel"), height("z")]),
        [
            &[0.0, 1.0, -kt / wheel, 0.0],
            &[0.0, 0.0, -1.0 / wheel, kt / wheel],
            &[0.0, 1.0, 1.0, 0.0],
            &[0.0; 4],
        ],
        &[0.0; 2],
    );
    let parts: Vec<Box<dyn Component>> =
        vec![Box::new(body.storing(&[0.0, chassis, k])), Box::new(axle.storing(&[kt, wheel]))];
    SystemDescription::new(parts, Solver::Exact, 3.0, 0.01)
        .connected([((0, 0), (1, 0)), ((1, 0), (0, 0))])
        .driven(1, 1, External::Step { value: p.get("kerb"), start: 0.1 })
}
