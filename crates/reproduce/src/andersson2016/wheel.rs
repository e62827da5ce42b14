//! A wheel of a car with 37 inputs, in the spirit of [A16 section 5.3], whose own model is not published.
//!
//! ```text
//! J W'  = T_drive - T_brake tanh W - R F_x - c_r R F_z tanh W - J (w_hub' . e_y)     spin
//! a'    = R W - v_x - |v_x| a / s,     b' = v_y + y' - |v_x| b / s                   deflections of the tyre
//! m z'' = -k_s z - d_s z' + F_z (n . e_z) - F_preload - m (g + a_hub . e_z)          wheel against the hub, up
//! m y'' = -k_y y - d_y y' + F_y + F_wind - m (a_hub . e_y)                           wheel against the hub, along its axle
//! p'    = (c F_y - p) / t_p                                                          steering that gives way
//! ```
//!
//! F_z = k_t q (r + sqrt(r^2 + e^2)) / 2, r how far the road presses the tyre in; F_x and F_y share mu F_z sin(C atan S),
//! S the slip of both directions. Inputs: position 0..3, rotation matrix 3..12, velocity 12..15, angular velocity 15..18,
//! acceleration 18..21 and angular acceleration 21..24 of the hub; point 24..27 and normal 27..30 of the road; friction 30,
//! torques of drive 31 and brake 32, pressure of the tyre 33, rolling resistance 34, preload 35, wind 36. Positions are seen
//! from a point that moves with the car.
//!
//! The car of this case is not simulated: its motion is prescribed, through bends to both sides with rising speed.

use std::f64::consts::TAU;

use super::segments::{Random, Setting, Subject, with_differences};

/// Number of inputs, as in the paper.
pub(super) const INPUTS: usize = 37;
/// How many segments there are, as in the paper.
const SEGMENTS: usize = 200;
/// Length of a segment; the paper does not give it.
const LENGTH: f64 = 0.05;
/// The same course seen more often.
const SHORT: f64 = 0.01;

const RADIUS: f64 = 0.33;
const INERTIA: f64 = 1.2;
const MASS: f64 = 20.0;
const GRAVITY: f64 = 9.81;
/// Stiffness of the tyre, N/m, and where its contact sets in, m.
const TYRE: (f64, f64) = (2e5, 1e-3);
/// Distance a tyre rolls until its force has built up, s.
const RELAXATION: f64 = 0.1;
/// Stiffness and damping against the hub: up, and along the axle.
const UP: (f64, f64) = (3e4, 1.5e3);
const ALONG: (f64, f64) = (5e5, 600.0);
/// Force of the tyre over its slip: shape C and slopes along and across.
const SHAPE: f64 = 1.4;
const SLOPES: (f64, f64) = (12.0, 10.0);
/// Steering that gives way: rad/N and s.
const COMPLIANCE: (f64, f64) = (2e-6, 0.02);

struct Wheel;

type Vector = [f64; 3];

fn vector(u: &[f64], at: usize) -> Vector {
    [u[at], u[at + 1], u[at + 2]]
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: Vector) -> Vector {
    let length = dot(a, a).sqrt();
    a.map(|a| a / length)
}

impl Subject for Wheel {
    fn f(&self, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let [spin, along, across, z, z_dot, y, y_dot, steer] = std::array::from_fn(|i| x[i]);
        let axis = |j: usize| [u[3 + j], u[6 + j], u[9 + j]];
        let (axle, up, normal) = (axis(1), axis(2), unit(vector(u, 27)));
        // Forward and sideways on the road, turned with the steering; a rotation matrix of interpolated numbers is
        // not quite one.
        let ahead = unit(cross(axle, normal));
        let side = cross(normal, ahead);
        let (velocity, turn) = (vector(u, 12), dot(vector(u, 15), normal));
        let (v_x, v_y) = (dot(velocity, ahead), dot(velocity, side) - 0.02 * turn);
        let height: f64 = (0..3).map(|i| (u[i] + z * up[i] - u[24 + i]) * normal[i]).sum();
        let pressed = RADIUS - height;
        let load = TYRE.0 * u[33] * 0.5 * (pressed + pressed.hypot(TYRE.1));
        let camber = dot(axle, normal);
        let slip_x = SLOPES.0 * along / RELAXATION;
        let slip_y = SLOPES.1 * (across / RELAXATION + steer + 0.1 * camber);
        let slip = slip_x.hypot(slip_y).hypot(1e-6);
        let force = u[30] * load * (SHAPE * slip.atan()).sin() / slip;
        let (f_x, f_y) = (force * slip_x, -force * slip_y);
        let (acceleration, turning) = (vector(u, 18), vector(u, 21));
        let resistance = u[32] + u[34] * RADIUS * load;
        x_dot[0] = (u[31] - resistance * spin.tanh() - RADIUS * f_x) / INERTIA - dot(turning, axle);
        x_dot[1] = RADIUS * spin - v_x - v_x.abs() / RELAXATION * along;
        x_dot[2] = v_y + y_dot - v_x.abs() / RELAXATION * across;
        x_dot[3] = z_dot;
        x_dot[4] = (load * dot(normal, up) - UP.0 * z - UP.1 * z_dot - u[35]) / MASS
            - GRAVITY
            - dot(acceleration, up);
        x_dot[5] = y_dot;
        x_dot[6] = (f_y + u[36] - ALONG.0 * y - ALONG.1 * y_dot) / MASS - dot(acceleration, axle);
        x_dot[7] = (COMPLIANCE.0 * f_y - steer) / COMPLIANCE.1;
    }
}

/// Speed and heading of the car, m/s and rad.
fn course(t: f64, phase: f64) -> (f64, f64) {
    (15.0 + t, 0.4 * (TAU * t / 5.0 + phase).sin())
}

fn velocity(t: f64, phase: f64) -> Vector {
    let (speed, heading) = course(t, phase);
    [speed * heading.cos(), speed * heading.sin(), 0.05 * (3.0 * t).sin()]
}

/// Roll of the hub and angle of its wheel against the course.
fn lean(t: f64, phase: f64) -> (f64, f64) {
    let bend = (TAU * t / 5.0 + phase).cos();
    (0.03 * bend, 0.03 * bend + 0.002 * (4.0 * t).sin())
}

fn angular_velocity(t: f64, phase: f64) -> Vector {
    let (heading, (roll, steer)) = (|t| course(t, phase).1, (|t| lean(t, phase).0, |t| lean(t, phase).1));
    [rate(roll, t), 0.02 * (2.0 * t).cos(), rate(heading, t) + rate(steer, t)]
}

/// Slope of a smooth signal.
fn rate(signal: impl Fn(f64) -> f64, t: f64) -> f64 {
    (signal(t + 1e-5) - signal(t - 1e-5)) / 2e-5
}

/// All inputs at a time.
fn inputs(t: f64, phase: f64) -> Vec<f64> {
    let (roll, steer) = lean(t, phase);
    let (sin, cos) = (course(t, phase).1 + steer).sin_cos();
    let (sin_roll, cos_roll) = roll.sin_cos();
    let mut u = vec![0.0; INPUTS];
    u[..3].copy_from_slice(&[0.0, 0.0, RADIUS - 0.02 + 0.002 * (3.0 * t).sin()]);
    u[3..12].copy_from_slice(&[
        cos,
        -sin * cos_roll,
        sin * sin_roll,
        sin,
        cos * cos_roll,
        -cos * sin_roll,
        0.0,
        sin_roll,
        cos_roll,
    ]);
    u[12..15].copy_from_slice(&velocity(t, phase));
    u[15..18].copy_from_slice(&angular_velocity(t, phase));
    for i in 0..3 {
        u[18 + i] = rate(|t| velocity(t, phase)[i], t);
        u[21 + i] = rate(|t| angular_velocity(t, phase)[i], t);
        u[24 + i] = if i == 2 { 0.004 * (TAU * 1.5 * t).sin() + 0.002 * (TAU * 3.1 * t).sin() } else { 0.0 };
    }
    u[27..30].copy_from_slice(&[0.01 * (1.1 * t).sin(), 0.02 * (0.7 * t).cos(), 1.0]);
    u[30] = 1.1 + 0.05 * (0.9 * t).sin();
    u[31] = 250.0 + 100.0 * (0.8 * t + phase).sin();
    u[32] = 60.0 * (1.0 - (0.8 * t + phase).sin());
    u[33] = 1.0 + 0.005 * t;
    u[34] = 0.012 + 0.001 * (0.5 * t).sin();
    u[35] = 3200.0 + 800.0 * (TAU * t / 5.0 + phase).cos();
    u[36] = 30.0 * (1.7 * t).sin();
    u
}

fn setting(phase: f64, length: f64) -> Setting {
    let values: Vec<_> = (0..SEGMENTS).map(|i| inputs(i as f64 * length, phase)).collect();
    let spin = course(0.0, phase).0 / RADIUS;
    let start = vec![spin, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    Setting { subject: &Wheel, start, length, segments: with_differences(&values, length) }
}

/// Begins in the middle of a straight piece.
pub(super) fn fixed() -> Setting {
    setting(0.0, LENGTH)
}

/// The first fifth of it, in segments of a fifth of the length.
pub(super) fn fixed_short() -> Setting {
    setting(0.0, SHORT)
}

/// Begins anywhere on the course.
pub(super) fn drawn(draw: u64) -> Setting {
    setting(std::f64::consts::PI * Random(draw + 1).next(), LENGTH)
}

/// Begins anywhere, in short segments.
pub(super) fn drawn_short(draw: u64) -> Setting {
    setting(std::f64::consts::PI * Random(draw + 1).next(), SHORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_moves_and_every_input_matters() {
        let (first, later) = (inputs(0.3, 0.0), inputs(0.9, 0.0));
        let x = [50.0, 2e-3, 3e-3, 1e-3, 0.02, 1e-4, 0.01, 1e-3];
        let rates = |u: &[f64]| {
            let mut x_dot = [0.0; 8];
            Wheel.f(&x, u, &mut x_dot);
            x_dot
        };
        let plain = rates(&first);
        assert!(plain.iter().all(|rate| rate.is_finite()));
        // The first column of the rotation follows from the others, and the horizontal position only counts where the
        // road slopes.
        let unused = [3, 6, 9];
        for j in (0..INPUTS).filter(|j| !unused.contains(j)) {
            let mut u = first.clone();
            u[j] += 0.01;
            assert_ne!(rates(&u), plain, "input {j}");
            let follows = [0, 1, 24, 25, 29].contains(&j);
            assert!(follows || first[j] != later[j], "input {j} stands still");
        }
    }

    /// The wheel stays on the road and rolls: the case is about driving, not about flying.
    #[test]
    fn the_wheel_rolls() {
        use costep_integrate::multistep::{AtPoint, Family};
        let (mut least, mut most, mut height) = (f64::INFINITY, 0.0_f64, 0.0_f64);
        let watch = |solver: &costep_integrate::multistep::Multistep| {
            let x = solver.x();
            least = least.min(x[0]);
            most = most.max(x[0]);
            height = height.max(x[3].abs());
        };
        fixed().run(Family::Bdf, AtPoint::Restart, watch).unwrap();
        assert!(least > 0.9 * 15.0 / RADIUS && most < 1.15 * 25.0 / RADIUS, "{least} to {most} rad/s");
        assert!(height < 0.1, "{height} m");
    }
}
