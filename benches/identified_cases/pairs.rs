//! Loops of two linear parts with and without direct feedthrough: circuits, walls, controllers with plants.

use costep_core::Port;
use costep_integrate::{Linear, Solver};
use costep_system::{Component, SystemDescription};

/// A part from rows of numbers; the start gives the number of states.
fn part(
    name: &str,
    (inputs, outputs): (usize, usize),
    matrices: [&[f64]; 4],
    start: &[f64],
) -> Box<dyn Component> {
    let ports = |letter: char, count: usize| {
        (0..count).map(|i| Port::new(&format!("{letter}{i}"), "1", 1.0)).collect::<Vec<_>>()
    };
    Box::new(Linear::new(name, (ports('u', inputs), ports('y', outputs)), matrices, start))
}

/// A loop of two parts with one output each.
fn of(parts: [Box<dyn Component>; 2]) -> SystemDescription {
    SystemDescription::new(parts.into(), Solver::Exact, 1.0, 1e-2)
        .connected([((1, 0), (0, 0)), ((0, 0), (1, 0))])
}

/// A coil and a resistor in series with a source (second input) give a current into a capacitor with a load, whose voltage
/// acts back; the capacitor feeds a second one through a resistor.
pub(super) fn circuit([coil, resistor, first, second, between, load]: [f64; 6]) -> SystemDescription {
    let source = part(
        "source",
        (2, 1),
        [&[-resistor / coil], &[-1.0 / coil, 1.0 / coil], &[1.0], &[0.0, 0.0]],
        &[0.0],
    );
    let a = [
        -1.0 / (between * first),
        1.0 / (between * first),
        1.0 / (between * second),
        -(1.0 / between + 1.0 / load) / second,
    ];
    let network = part("network", (1, 1), [&a, &[1.0 / first, 0.0], &[1.0, 0.0], &[0.0]], &[0.0, 0.0]);
    of([source, network])
}

/// A room that is heated (second input) and a wall of two layers: temperature of the room to the wall, heat flow
/// from the wall back. The flow hangs on the temperature at once.
pub(super) fn wall([room, layer, core, surface, inside, outside]: [f64; 6], start: f64) -> SystemDescription {
    let room = part("room", (2, 1), [&[0.0], &[1.0 / room, 1.0 / room], &[1.0], &[0.0, 0.0]], &[start]);
    let a = [
        -(1.0 / surface + 1.0 / inside) / layer,
        1.0 / (inside * layer),
        1.0 / (inside * core),
        -(1.0 / inside + 1.0 / outside) / core,
    ];
    let b = [1.0 / (surface * layer), 0.0];
    let wall = part("wall", (1, 1), [&a, &b, &[1.0 / surface, 0.0], &[-1.0 / surface]], &[0.0, 0.0]);
    of([room, wall])
}

/// Two lags in a row under a controller with proportional and integral action: u = K (e + integral e / T), e = r - y, with the
/// sign in the plant. The command is the second input of the controller.
pub(super) fn controlled(
    [gain, slow, fast, proportional, integral]: [f64; 5],
    start: f64,
) -> SystemDescription {
    let a = [-1.0 / slow, 0.0, 1.0 / fast, -1.0 / fast];
    let plant = part("plant", (1, 1), [&a, &[gain / slow, 0.0], &[0.0, 1.0], &[0.0]], &[start, start]);
    let ki = proportional / integral;
    let (c, d) = ([ki], [-proportional, proportional]);
    let controller = part("controller", (2, 1), [&[0.0], &[-1.0, 1.0], &c, &d], &[0.0]);
    of([plant, controller])
}

/// A drive and a load with a shaft between them: speed of the drive to the load, torque of the shaft back. `damping` of the shaft makes
/// the torque hang on the speed at once. The torque of the motor is the second input.
pub(super) fn shaft([drive, load, friction, stiffness, damping]: [f64; 5]) -> SystemDescription {
    let motor = part(
        "drive",
        (2, 1),
        [&[-friction / drive], &[-1.0 / drive, 1.0 / drive], &[1.0], &[0.0, 0.0]],
        &[0.0],
    );
    // States: twist of the shaft, speed of the load.
    let a = [0.0, -1.0, stiffness / load, -(damping + friction) / load];
    let b = [1.0, damping / load];
    let rest = part("load", (1, 1), [&a, &b, &[stiffness, -damping], &[damping]], &[0.0, 0.0]);
    of([motor, rest])
}
