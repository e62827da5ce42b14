//! A helicopter near hover and its controller [T 4], coupled by u1 = y2, u2 = r - y1, with r the commands of the pilot.
//!
//! The controller of the thesis is not published. `bookI` has the published weights, `fit487` weights fitted to
//! the thesis' own figures [T (4.10)]; both have its stiffness of 3.4e5. The commands are made after the text of [T 4].

use costep_core::{Connection, External, Port};
use costep_integrate::{Linear, Solver};
use costep_system::{Component, SystemDescription};

use crate::model::ModelEntry;
use crate::parameters::{ParameterSpec, Parameters};

/// Row of the registry.
pub(crate) const ENTRY: ModelEntry = ModelEntry {
    id: "helicopter",
    title: "helicopter with its controller",
    summary: "A helicopter near hover (8 states, unstable by itself) under a controller with 20 states and a stiffness \
              of 3.4e5, flown by one of five pilots. Held inputs are unstable above about 0.15 s.",
    source: "[T] chapter 4; COMPleib HE6",
    parameters: &[
        ParameterSpec {
            name: "pilot",
            unit: "1",
            default: 1.0,
            min: 1.0,
            max: 5.0,
            whole: true,
            help: "commands: 1 single manoeuvres, 2 steps, 3 to 5 all at once",
        },
        ParameterSpec {
            name: "controller",
            unit: "1",
            default: 1.0,
            min: 1.0,
            max: 2.0,
            whole: true,
            help: "1 bookI, 2 fit487",
        },
        ParameterSpec {
            name: "velocities",
            unit: "1",
            default: 0.0,
            min: 0.0,
            max: 1.0,
            whole: true,
            help: "1: the velocities vx, vy, vz of [T (4.3)] are outputs too",
        },
    ],
    build,
};

const DATA: &str = include_str!("../data/helicopter.txt");

fn build(p: &Parameters) -> SystemDescription {
    let motion = || {
        let angle = |name: &str| Port::new(name, "rad", 0.1);
        let rate = |name: &str| Port::new(name, "rad/s", 0.1);
        vec![
            Port::new("climb", "ft/s", 1.0),
            angle("pitch"),
            angle("roll"),
            rate("heading_rate"),
            rate("roll_rate"),
            rate("pitch_rate"),
        ]
    };
    let controls =
        || ["main", "longitudinal", "lateral", "tail"].map(|name| Port::new(name, "rad", 0.1)).to_vec();
    let controller = if p.get("controller") == 1.0 { "bookI" } else { "fit487" };
    let plant = if p.get("velocities") == 1.0 {
        with_velocities(controls(), motion())
    } else {
        linear("plant", "helicopter", controls(), motion())
    };
    let parts: Vec<Box<dyn Component>> =
        vec![Box::new(plant), Box::new(linear(controller, "controller", motion(), controls()))];
    let mut model = SystemDescription::new(parts, Solver::Exact, 90.0, 0.1)
        .connected((0..4).map(|control| ((1, control), (0, control))));
    // u2 = r - y1.
    let feedback = |output: usize| Connection { output, input: 4 + output, gain: -1.0 };
    model.connections.extend((0..6).map(feedback));
    for (input, signal) in commands(p.get("pilot") as u32) {
        model = model.driven(1, input, signal);
    }
    model
}

/// The helicopter with its velocities, the last three of its states [T (4.3)], behind its other outputs. Nothing is connected to them.
fn with_velocities(inputs: Vec<Port>, mut outputs: Vec<Port>) -> Linear {
    let [a, b, mut c] = ["A", "B", "C"].map(|block| matrix(&format!("plant.{block}")));
    let states = a.len().isqrt();
    for (i, name) in ["vx", "vy", "vz"].into_iter().enumerate() {
        outputs.push(Port::new(name, "ft/s", 1.0));
        c.extend((0..states).map(|k| f64::from(u8::from(k == states - 3 + i))));
    }
    let d = vec![0.0; inputs.len() * outputs.len()];
    Linear::new("helicopter", (inputs, outputs), [&a, &b, &c, &d], &vec![0.0; states])
}

/// A part without feedthrough that starts at rest.
fn linear(matrices: &str, name: &str, inputs: Vec<Port>, outputs: Vec<Port>) -> Linear {
    let [a, b, c] = ["A", "B", "C"].map(|block| matrix(&format!("{matrices}.{block}")));
    let d = vec![0.0; inputs.len() * outputs.len()];
    let start = vec![0.0; a.len().isqrt()];
    Linear::new(name, (inputs, outputs), [&a, &b, &c, &d], &start)
}

/// A matrix of the data file: lines `name rows columns`, then the rows.
///
/// # Panics
/// If the file, which is part of the program, has no such matrix.
fn matrix(name: &str) -> Vec<f64> {
    let mut lines = DATA.lines().skip_while(|line| line.split(' ').next() != Some(name));
    let head: Vec<usize> = lines
        .next()
        .unwrap_or_else(|| panic!("no matrix `{name}`"))
        .split(' ')
        .skip(1)
        .map(|size| size.parse().expect("a size"))
        .collect();
    let rows = lines.take(head[0]).flat_map(|line| line.split(' '));
    let entries: Vec<f64> = rows.map(|entry| entry.parse().expect("a number")).collect();
    assert_eq!(entries.len(), head[0] * head[1], "entries of `{name}`");
    entries
}

/// Inputs of the controller that are commanded.
const CLIMB: usize = 0;
const PITCH: usize = 1;
const ROLL: usize = 2;
const HEADING: usize = 3;

/// The last command of a repeated pattern begins before this time.
const LAST: f64 = 150.0;

/// The commands of a pilot: (input, signal).
fn commands(pilot: u32) -> Vec<(usize, External)> {
    match pilot {
        1 => manoeuvres(),
        2 => steps(),
        3 => [
            repeated(CLIMB, 30.0, &[(2.0, 0.5), (17.0, -0.5)]),
            // In phase with sin(2 pi t / 20).
            vec![sine(PITCH, 0.1, 20.0, 5.0 / 20.0, 5.0), sine(HEADING, 0.05, 30.0, 0.0, 0.0)],
        ]
        .concat(),
        4 => vec![
            sine(CLIMB, 0.5, 25.0, 0.0, 0.0),
            burst(HEADING, 0.05, 18.0, 0.0, 60.0),
            sine(HEADING, 0.05, 18.0, 78.0 / 18.0, 78.0),
        ],
        _ => [
            vec![
                sine(CLIMB, 0.5, 17.0, 0.0, 0.0),
                sine(PITCH, 0.1, 11.0, 0.0, 0.0),
                sine(ROLL, 0.1, 13.0, 0.5 / std::f64::consts::TAU, 0.0),
            ],
            repeated(HEADING, 14.0, &[(0.0, 0.05), (5.0, -0.1), (9.0, 0.05)]),
        ]
        .concat(),
    }
}

/// Single periods of sines, one command after the other.
fn manoeuvres() -> Vec<(usize, External)> {
    let climbs = [1.0, 35.0, 81.0, 115.0].map(|start| period(CLIMB, start, 10.0, 0.5)).to_vec();
    let pairs = |input: usize, times: [(f64, f64); 4], amplitude: f64| {
        times.map(|(start, length)| period(input, start, length, amplitude)).to_vec()
    };
    [
        climbs,
        pairs(PITCH, [(12.0, 7.0), (46.0, 4.0), (92.0, 7.0), (126.0, 4.0)], 0.1),
        pairs(ROLL, [(20.0, 7.0), (51.0, 4.0), (100.0, 7.0), (131.0, 4.0)], 0.1),
        pairs(HEADING, [(28.0, 6.0), (56.0, 4.0), (108.0, 6.0), (136.0, 4.0)], 0.05),
    ]
    .concat()
}

/// Steps of the climb rate beside turns.
fn steps() -> Vec<(usize, External)> {
    let climbs = [
        (1.0, 6.0, 0.5),
        (9.0, 12.0, -0.3),
        (20.0, 40.0, 0.2),
        (45.0, 50.0, 0.6),
        (60.0, 75.0, -0.5),
        (82.0, 84.0, 0.4),
        (90.0, 110.0, -0.2),
        (118.0, 130.0, 0.5),
    ];
    let turns =
        [(2.0, 8.0, 0.05), (15.0, 6.0, 0.05), (50.0, 20.0, 0.04), (95.0, 10.0, 0.05), (125.0, 12.0, 0.04)];
    let holds = [(25.0, 32.0, 0.05), (38.0, 44.0, -0.04), (80.0, 90.0, 0.03), (112.0, 120.0, -0.05)];
    let mut commands = Vec::new();
    climbs.iter().for_each(|(from, to, value)| commands.extend(pulse(CLIMB, *from, *to, *value)));
    turns.iter().for_each(|(start, length, value)| commands.push(period(HEADING, *start, *length, *value)));
    holds.iter().for_each(|(from, to, value)| commands.extend(pulse(HEADING, *from, *to, *value)));
    commands
}

/// amplitude sin(2 pi t / period) from `start` on, where it is `turns` periods old.
fn sine(input: usize, amplitude: f64, period: f64, turns: f64, start: f64) -> (usize, External) {
    let phase = std::f64::consts::TAU * turns;
    (input, External::Sine { amplitude, frequency: 1.0 / period, phase, start })
}

/// A sine between two times.
fn burst(input: usize, amplitude: f64, period: f64, start: f64, stop: f64) -> (usize, External) {
    (input, External::Burst { amplitude, frequency: 1.0 / period, phase: 0.0, start, stop })
}

/// One period of a sine.
fn period(input: usize, start: f64, length: f64, amplitude: f64) -> (usize, External) {
    burst(input, amplitude, length, start, start + length)
}

/// A value between two times.
fn pulse(input: usize, from: f64, to: f64, value: f64) -> [(usize, External); 2] {
    [step(input, value, from), step(input, -value, to)]
}

fn step(input: usize, value: f64, start: f64) -> (usize, External) {
    (input, External::Step { value, start })
}

/// Steps that come again.
fn repeated(input: usize, period: f64, steps: &[(f64, f64)]) -> Vec<(usize, External)> {
    let rounds = (LAST / period).ceil() as u32;
    let round =
        |k: u32| steps.iter().map(move |(start, value)| step(input, *value, f64::from(k) * period + start));
    (0..rounds).flat_map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// r of a pilot at a time.
    fn command(pilot: u32, input: usize, t: f64) -> f64 {
        commands(pilot).iter().filter(|(j, _)| *j == input).map(|(_, signal)| signal.value(t)).sum()
    }

    #[test]
    fn the_pilots_fly_as_told() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(command(1, CLIMB, 3.5), 0.5);
        close(command(1, CLIMB, 11.5), 0.0);
        close(command(1, HEADING, 57.0), 0.05);
        close(command(2, CLIMB, 30.0), 0.2);
        close(command(2, HEADING, 40.0), -0.04);
        close(command(3, CLIMB, 40.0), 0.5);
        close(command(3, CLIMB, 17.0), 0.0);
        close(command(3, PITCH, 4.9), 0.0);
        close(command(3, PITCH, 6.0), 0.1 * (0.6 * std::f64::consts::PI).sin());
        close(command(4, HEADING, 70.0), 0.0);
        close(command(4, HEADING, 80.0), 0.05 * (80.0 / 9.0 * std::f64::consts::PI).sin());
        close(command(5, HEADING, 18.0), 0.05);
        close(command(5, HEADING, 20.0), -0.05);
        close(command(5, HEADING, 24.0), 0.0);
        close(command(5, ROLL, 0.0), 0.1 * 0.5f64.sin());
    }
}
