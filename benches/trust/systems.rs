//! Systems with what makes trouble in practice: switches, limits, delays, dry friction, sampling, contacts.

use costep::NativePart;
use costep_core::{External, Port};
use costep_integrate::{Linear, Solver};
use costep_system::{Component, SystemDescription};

use super::devices::{Limited, OnBelt, Pulses, Sampled, Thermostat, Transport};
use super::pairs::{fast_masses, passive};
use super::parts::Made;
use crate::identified_cases::drawn::{Draw, excitation, step};

/// A system that was drawn.
pub(super) struct Drawn {
    pub(super) what: String,
    pub(super) model: SystemDescription,
    pub(super) step: f64,
    pub(super) stop: f64,
    /// Outputs with weights whose sum stays what it is.
    pub(super) conserved: Vec<(usize, f64)>,
}

type Kind = (&'static str, fn(&mut Draw) -> Drawn);

/// All kinds.
pub(super) const KINDS: [Kind; 12] = [
    ("fast-masses", fast_masses),
    ("passive", passive),
    ("thermostat", thermostat),
    ("limited-pi", limited),
    ("delay-loop", delayed),
    ("stick-slip", stick_slip),
    ("sampled-pi", sampled),
    ("motor", motor),
    ("three-tanks", tanks),
    ("contact", contact),
    ("backlash", backlash),
    ("one-way", one_way),
];

/// The first of them are pairs of linear parts.
pub(super) const LINEAR: usize = 2;

/// Inner solver where not all parts are linear.
const INNER: Solver = Solver::Dopri5(1e-9);

pub(super) fn linear(
    name: &str,
    (inputs, outputs): (&[&str], &[&str]),
    matrices: [&[f64]; 4],
    start: &[f64],
) -> Box<dyn Component> {
    let ports = |names: &[&str]| names.iter().map(|name| Port::new(name, "1", 1.0)).collect();
    Box::new(Linear::new(name, (ports(inputs), ports(outputs)), matrices, start))
}

/// A part and one of its outputs or inputs, counted from 0.
type PartPort = (usize, usize);

/// Parts of a system and the connections between them.
pub(super) fn of(
    parts: Vec<Box<dyn Component>>,
    pairs: &[(PartPort, PartPort)],
    solver: Solver,
) -> SystemDescription {
    SystemDescription::new(parts, solver, 1.0, 0.1).connected(pairs.iter().copied())
}

pub(super) fn drawn(what: String, model: SystemDescription, step: f64, stop: f64) -> Drawn {
    Drawn { what: format!("{what} h={step}"), model, step, stop, conserved: Vec::new() }
}

/// A command or push that is always there.
pub(super) fn signal(draw: &mut Draw, size: f64, stop: f64) -> (&'static str, External) {
    match excitation(draw, size, stop) {
        (kind, Some(signal)) => (kind, signal),
        (_, None) => ("step", External::Step { value: size, start: 0.0 }),
    }
}

fn thermostat(draw: &mut Draw) -> Drawn {
    let (capacity, loss) = (draw.size(1e5, 2e6), draw.size(30.0, 110.0));
    let (outside, band) = (draw.between(-10.0, 10.0), draw.size(0.2, 2.0));
    let heater = Thermostat { low: 20.0 - band, high: 20.0 + band, power: 4000.0, is_on: false };
    let room = linear(
        "room",
        (&["heat", "outside"], &["temperature"]),
        [&[-loss / capacity], &[1.0 / capacity, loss / capacity], &[1.0], &[0.0, 0.0]],
        &[draw.between(15.0, 20.0)],
    );
    let parts = vec![room, Made::part("thermostat", (&["temperature"], &["heat"]), &[&[]], heater)];
    let weather = External::Constant(outside);
    let model = of(parts, &[((1, 0), (0, 0)), ((0, 0), (1, 0))], Solver::Exact).driven(0, 1, weather);
    // Both ways through the band.
    let power = loss * (20.0 - outside);
    let cycle = 2.0 * band * capacity * (1.0 / (4000.0 - power) + 1.0 / power);
    let h = step(draw, cycle / 200.0, cycle / 5.0);
    let what = format!("C={capacity:.1e} G={loss:.0} band={band:.2} outside={outside:.1}");
    drawn(what, model, h, cycle * draw.between(2.5, 8.0))
}

/// Two lags with a gain. Inputs: u. Outputs: y.
fn lags(gain: f64, slow: f64, fast: f64) -> Box<dyn Component> {
    let a = [-1.0 / slow, 0.0, 1.0 / fast, -1.0 / fast];
    linear("plant", (&["u"], &["y"]), [&a, &[gain / slow, 0.0], &[0.0, 1.0], &[0.0]], &[0.0, 0.0])
}

/// Gain of the loop, lags, and the law that fits them more or less.
fn loop_of(draw: &mut Draw, limits: (f64, f64)) -> (String, Box<dyn Component>, Limited, f64) {
    let (gain, slow) = (draw.size(0.3, 3.0), draw.size(0.3, 3.0));
    let fast = slow * draw.size(0.03, 0.5);
    let proportional = draw.size(0.5, 10.0) / gain;
    let integral = proportional / (slow * draw.between(0.7, 2.0));
    let law = Limited { proportional, integral, limits, sum: 0.0 };
    let what = format!("gain={gain:.2} lags={slow:.2},{fast:.3} kp={proportional:.2} ki={integral:.2}");
    (what, lags(gain, slow, fast), law, slow)
}

const CONTROLLER: (&[&str], &[&str]) = (&["y", "command"], &["u"]);

fn limited(draw: &mut Draw) -> Drawn {
    let limit = draw.size(0.8, 4.0);
    let (what, plant, law, slow) = loop_of(draw, (-limit, limit));
    let stop = slow * draw.between(8.0, 20.0);
    let (kind, command) = signal(draw, 1.0, stop);
    let h = step(draw, slow / 100.0, slow / 2.0);
    let parts = vec![plant, Made::part("controller", CONTROLLER, &[&[0, 1]], law)];
    let model = of(parts, &[((1, 0), (0, 0)), ((0, 0), (1, 0))], Solver::Exact).driven(1, 1, command);
    drawn(format!("{what} limit={limit:.2} {kind}"), model, h, stop)
}

fn delayed(draw: &mut Draw) -> Drawn {
    let (what, plant, law, slow) = loop_of(draw, (-10.0, 10.0));
    let delay = slow * draw.size(0.03, 0.6);
    // A loop that is about as quick as the delay permits.
    let quick = law.proportional.min(draw.between(0.3, 0.8) * slow / delay);
    let law = Limited { integral: law.integral * quick / law.proportional, proportional: quick, ..law };
    let stop = slow * draw.between(8.0, 20.0);
    let (kind, command) = signal(draw, 1.0, stop);
    let h = step(draw, slow / 100.0, slow / 3.0);
    let parts = vec![
        plant,
        Made::part("pipe", (&["in"], &["out"]), &[&[]], Transport::new(delay)),
        Made::part("controller", CONTROLLER, &[&[0, 1]], law),
    ];
    let pairs = [((2, 0), (0, 0)), ((0, 0), (1, 0)), ((1, 0), (2, 0))];
    let model = of(parts, &pairs, Solver::Exact).driven(2, 1, command);
    drawn(format!("{what} kp={quick:.2} delay={delay:.3} {kind}"), model, h, stop)
}

fn sampled(draw: &mut Draw) -> Drawn {
    let (what, plant, law, slow) = loop_of(draw, (-5.0, 5.0));
    let period = step(draw, slow / 50.0, slow / 4.0);
    let stop = slow * draw.between(8.0, 20.0);
    let (kind, command) = signal(draw, 1.0, stop);
    // Parts and multiples of the period, as people choose them, or anything.
    let h = match draw.index(3) {
        0 => step(draw, period / 8.0, 3.0 * period),
        1 => period,
        _ => period / (2 + draw.index(7)) as f64,
    };
    let law = Sampled { law, period, next: 0, value: 0.0 };
    let parts = vec![plant, Made::part("computer", CONTROLLER, &[&[]], law)];
    let model = of(parts, &[((1, 0), (0, 0)), ((0, 0), (1, 0))], Solver::Exact).driven(1, 1, command);
    drawn(format!("{what} period={period} {kind}"), model, h, stop)
}

fn stick_slip(draw: &mut Draw) -> Drawn {
    let (mass, omega) = (draw.size(0.3, 3.0), draw.size(3.0, 30.0));
    let (stiffness, damping) = (mass * omega * omega, 2.0 * draw.size(0.005, 0.2) * mass * omega);
    let sliding = mass * draw.between(1.0, 5.0);
    let sticking = sliding * draw.between(1.2, 2.5);
    let belt = sliding / stiffness * omega * draw.size(0.1, 1.0);
    let body = OnBelt { mass, belt, sticking, sliding, position: 0.0, speed: belt, is_stuck: true };
    let spring = NativePart::new("spring", &[])
        .input("x", "1", 1.0)
        .input("v", "1", 1.0)
        .output_of("force", "1", 1.0, &["x", "v"])
        .outputs(move |_, _, u, y| y[0] = -stiffness * u[0] - damping * u[1]);
    let parts = vec![Made::part("mass", (&["force"], &["x", "v"]), &[&[], &[]], body), Box::new(spring)];
    let model = of(parts, &[((1, 0), (0, 0)), ((0, 0), (1, 0)), ((0, 1), (1, 1))], INNER);
    let h = step(draw, 0.01 / omega, 1.5 / omega);
    // Time to let go for the first time, and some periods.
    let stop = sticking / (stiffness * belt) + draw.between(10.0, 40.0) / omega;
    let what =
        format!("omega={omega:.1} m={mass:.2} sticking={sticking:.2} sliding={sliding:.2} belt={belt:.3}");
    drawn(what, model, h, stop)
}

fn motor(draw: &mut Draw) -> Drawn {
    let (resistance, electrical) = (draw.size(0.2, 2.0), draw.size(5e-4, 1e-2));
    let (constant, mechanical) = (draw.size(0.02, 0.3), draw.size(0.01, 0.2));
    let (coil, inertia) = (resistance * electrical, mechanical * constant * constant / resistance);
    let friction = draw.size(0.01, 0.3) * inertia / mechanical;
    let winding = linear(
        "winding",
        (&["speed", "voltage"], &["current"]),
        [&[-resistance / coil], &[-constant / coil, 1.0 / coil], &[1.0], &[0.0, 0.0]],
        &[0.0],
    );
    let rotor = linear(
        "rotor",
        (&["current"], &["speed"]),
        [&[-friction / inertia], &[constant / inertia], &[1.0], &[0.0]],
        &[0.0],
    );
    let stop = mechanical * draw.between(4.0, 12.0);
    let (kind, voltage) = signal(draw, 12.0, stop);
    let pairs = [((1, 0), (0, 0)), ((0, 0), (1, 0))];
    let model = of(vec![winding, rotor], &pairs, Solver::Exact).driven(0, 1, voltage);
    let h = step(draw, 0.1 * electrical, 3.0 * (electrical * mechanical).sqrt());
    drawn(format!("electrical={electrical:.1e} mechanical={mechanical:.2} {kind}"), model, h, stop)
}

fn tank(name: &str, inputs: &[&str], area: f64, level: f64) -> Box<dyn Component> {
    let flow = |input: &&str| if *input == "in" { 1.0 / area } else { -1.0 / area };
    let (b, d): (Vec<f64>, _) = (inputs.iter().map(flow).collect(), vec![0.0; inputs.len()]);
    linear(name, (inputs, &["level"]), [&[0.0], &b, &[1.0], &d], &[level])
}

fn valve(name: &str, size: f64) -> Box<dyn Component> {
    let valve = NativePart::new(name, &[])
        .input("before", "1", 1.0)
        .input("behind", "1", 1.0)
        .output_of("flow", "1", 1.0, &["before", "behind"])
        .outputs(move |_, _, u, y| {
            let head = u[0] - u[1];
            // Laminar below a millimetre or so.
            y[0] = size * head / (head * head + 1e-5).powf(0.25);
        });
    Box::new(valve)
}

fn tanks(draw: &mut Draw) -> Drawn {
    let areas = [(); 3].map(|()| draw.size(0.3, 3.0));
    let sizes = [(); 2].map(|()| draw.size(0.01, 0.1));
    let levels = [draw.between(2.0, 5.0), draw.between(0.0, 2.0), draw.between(0.0, 2.0)];
    let parts = vec![
        tank("first", &["out"], areas[0], levels[0]),
        tank("second", &["in", "out"], areas[1], levels[1]),
        tank("third", &["in"], areas[2], levels[2]),
        valve("upper", sizes[0]),
        valve("lower", sizes[1]),
    ];
    let pairs = [
        ((0, 0), (3, 0)),
        ((1, 0), (3, 1)),
        ((3, 0), (0, 0)),
        ((3, 0), (1, 0)),
        ((1, 0), (4, 0)),
        ((2, 0), (4, 1)),
        ((4, 0), (1, 1)),
        ((4, 0), (2, 0)),
    ];
    let time = areas[1] / sizes[0].min(sizes[1]);
    let h = step(draw, time / 200.0, time / 3.0);
    let what = format!("areas={areas:.2?} valves={sizes:.3?} levels={levels:.1?}");
    let conserved = areas.iter().enumerate().map(|(tank, area)| (tank, *area)).collect();
    Drawn { conserved, ..drawn(what, of(parts, &pairs, INNER), h, time * draw.between(2.0, 6.0)) }
}

fn contact(draw: &mut Draw) -> Drawn {
    const GRAVITY: f64 = 9.81;
    let (mass, omega) = (draw.size(0.3, 3.0), draw.size(20.0, 200.0));
    let (stiffness, damping) = (mass * omega * omega, 2.0 * draw.size(0.02, 0.3) * mass * omega);
    let height = draw.size(0.05, 0.5);
    let ball = NativePart::new("ball", &[height, 0.0])
        .input("force", "1", 10.0)
        .output("x", "1", 1.0)
        .output("v", "1", 1.0)
        .derivatives(move |_, x, u, dx| dx.copy_from_slice(&[x[1], u[0] / mass - GRAVITY]))
        .outputs(|_, x, _, y| y.copy_from_slice(x));
    let ground = NativePart::new("ground", &[])
        .input("x", "1", 1.0)
        .input("v", "1", 1.0)
        .output_of("force", "1", 10.0, &["x", "v"])
        .outputs(move |_, _, u, y| {
            y[0] = if u[0] < 0.0 { (-stiffness * u[0] - damping * u[1]).max(0.0) } else { 0.0 };
        });
    let pairs = [((1, 0), (0, 0)), ((0, 0), (1, 0)), ((0, 1), (1, 1))];
    let fall = (2.0 * height / GRAVITY).sqrt();
    let h = step(draw, 0.02 / omega, 1.0 / omega);
    let what = format!("omega={omega:.0} m={mass:.2} damping={damping:.2} height={height:.2}");
    let parts: Vec<Box<dyn Component>> = vec![Box::new(ball), Box::new(ground)];
    drawn(what, of(parts, &pairs, INNER), h, fall * draw.between(2.0, 6.0))
}

fn backlash(draw: &mut Draw) -> Drawn {
    let (drive, load) = (draw.size(0.3, 3.0), draw.size(0.3, 3.0));
    let omega = draw.size(5.0, 50.0);
    let reduced = drive * load / (drive + load);
    let (stiffness, damping) = (reduced * omega * omega, 2.0 * draw.size(0.02, 0.3) * reduced * omega);
    let (gap, friction) = (draw.size(0.003, 0.1), draw.size(0.02, 0.5));
    let motor = NativePart::new("drive", &[0.0, 0.0])
        .input("shaft", "1", 1.0)
        .input("torque", "1", 1.0)
        .output("angle", "1", 1.0)
        .output("speed", "1", 1.0)
        .derivatives(move |_, x, u, dx| {
            dx.copy_from_slice(&[x[1], (u[1] - u[0] - friction * x[1]) / drive]);
        })
        .outputs(|_, x, _, y| y.copy_from_slice(x));
    let shaft = move |angle: f64, speed: f64| {
        let twist = angle - angle.clamp(-gap, gap);
        if twist == 0.0 { 0.0 } else { stiffness * twist + damping * speed }
    };
    let rest = NativePart::new("load", &[0.0, 0.0])
        .input("angle", "1", 1.0)
        .input("speed", "1", 1.0)
        .output_of("torque", "1", 1.0, &["angle", "speed"])
        .derivatives(move |_, x, u, dx| {
            let torque = shaft(u[0] - x[0], u[1] - x[1]);
            dx.copy_from_slice(&[x[1], (torque - friction * x[1]) / load]);
        })
        .outputs(move |_, x, u, y| y[0] = shaft(u[0] - x[0], u[1] - x[1]));
    let pairs = [((1, 0), (0, 0)), ((0, 0), (1, 0)), ((0, 1), (1, 1))];
    let stop = draw.between(40.0, 120.0) / omega;
    let (kind, torque) = signal(draw, 1.0, stop);
    let parts: Vec<Box<dyn Component>> = vec![Box::new(motor), Box::new(rest)];
    let h = step(draw, 0.02 / omega, 1.0 / omega);
    let what = format!("omega={omega:.1} inertias={drive:.2},{load:.2} gap={gap:.3} {kind}");
    drawn(what, of(parts, &pairs, INNER).driven(0, 1, torque), h, stop)
}

fn one_way(draw: &mut Draw) -> Drawn {
    let period = draw.size(0.3, 3.0);
    let pulses = Pulses { period, share: draw.between(0.2, 0.8), now: 0.0 };
    let (first, second) = (period * draw.size(0.05, 2.0), period * draw.size(0.05, 2.0));
    let lag = linear(
        "lag",
        (&["u"], &["y"]),
        [&[-1.0 / first], &[1.0 / first], &[1.0], &[0.0]],
        &[draw.between(-1.0, 1.0)],
    );
    let steep = draw.size(0.3, 5.0);
    let bend = NativePart::new("bend", &[0.0])
        .input("u", "1", 1.0)
        .output("y", "1", 1.0)
        .derivatives(move |_, x, u, dx| dx[0] = ((steep * (u[0] - 0.4)).tanh() - x[0]) / second)
        .outputs(|_, x, _, y| y[0] = x[0]);
    let parts = vec![Made::part("pulses", (&[], &["y"]), &[&[]], pulses), lag, Box::new(bend)];
    let model = of(parts, &[((0, 0), (1, 0)), ((1, 0), (2, 0))], INNER);
    let h = step(draw, period / 100.0, period / 4.0);
    drawn(
        format!("period={period:.2} lags={first:.2},{second:.2}"),
        model,
        h,
        period * draw.between(5.0, 15.0),
    )
}
