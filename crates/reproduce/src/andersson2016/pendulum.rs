//! The left one of two pendula that are joined by a spring, under the push at its pivot and the force of the spring
//! [A16 section 5.2].

use costep_linalg::Matrix;

use super::segments::{Random, Segment, Setting, Subject, whole};

/// Left pendulum, [A16] (18).
struct Left;

impl Subject for Left {
    fn f(&self, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot.copy_from_slice(&[x[1], (-9.81 + u[2]) * x[0].sin() + (u[0] + u[1]) * x[0].cos()]);
    }

    fn fx(&self, x: &[f64], u: &[f64], jacobian: &mut Matrix) -> bool {
        let stiffness = (-9.81 + u[2]) * x[0].cos() - (u[0] + u[1]) * x[0].sin();
        jacobian.data_mut().copy_from_slice(&[0.0, 1.0, stiffness, 0.0]);
        true
    }

    fn fu(&self, x: &[f64], u_dot: &[f64], out: &mut [f64]) -> bool {
        out.copy_from_slice(&[0.0, u_dot[2] * x[0].sin() + (u_dot[0] + u_dot[1]) * x[0].cos()]);
        true
    }
}

/// Length of a segment, and how many there are.
const LENGTH: f64 = 0.05;
const SEGMENTS: usize = 40;

/// Force of the spring on the left bob.
fn spring(a: f64, b: f64, stiffness: f64) -> [f64; 2] {
    let (dx, dy) = (1.0 + b.sin() - a.sin(), a.cos() - b.cos());
    let length = dx.hypot(dy);
    let force = stiffness * (length - 1.0) / length;
    [force * dx, force * dy]
}

/// Constant segments that are right at their start.
fn setting(x: [f64; 4], stiffness: f64) -> Setting {
    let push = |t: f64, phase: f64| (5.0 * t + phase).sin();
    let motion = |t: f64, x: [f64; 4]| {
        let [fx, fy] = spring(x[0], x[2], stiffness);
        let (mut left, mut right) = ([0.0; 2], [0.0; 2]);
        Left.f(&x[..2], &[push(t, 0.0), fx, fy], &mut left);
        Left.f(&x[2..], &[push(t, std::f64::consts::FRAC_PI_2), -fx, -fy], &mut right);
        [left[0], left[1], right[0], right[1]]
    };
    let states = whole(motion, x, LENGTH * SEGMENTS as f64, SEGMENTS);
    let segment = |(i, x): (usize, &[f64; 4])| {
        let [fx, fy] = spring(x[0], x[2], stiffness);
        Segment { u: vec![push(i as f64 * LENGTH, 0.0), fx, fy], slope: vec![0.0; 3] }
    };
    let segments = states[..SEGMENTS].iter().enumerate().map(segment).collect();
    Setting { subject: &Left, start: x[..2].to_vec(), length: LENGTH, segments }
}

/// A spring of 200 N/m and small angles, so that the sampled force of the spring does not make it diverge.
pub(super) fn fixed() -> Setting {
    setting([0.2, 0.0, -0.2, 0.0], 200.0)
}

/// A random start and one of three springs.
pub(super) fn drawn(draw: u64) -> Setting {
    let mut random = Random(draw + 1);
    let stiffness = [200.0, 500.0, 1000.0][((random.next() + 1.0) * 1.499) as usize];
    setting(std::array::from_fn(|_| random.next()), stiffness)
}
