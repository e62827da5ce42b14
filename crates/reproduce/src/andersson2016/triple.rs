//! The right half of a triple spring under the motion of the left one [A16 section 5.1].

use costep_linalg::Matrix;

use super::segments::{Random, Segment, Setting, Subject, whole, with_differences};

/// Right half, [A16] (17).
struct Right;

impl Subject for Right {
    fn f(&self, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot.copy_from_slice(&[x[1], -75.0 * x[0] - 2.1 * x[1] + 25.0 * u[0] + 0.1 * u[1]]);
    }

    fn fx(&self, _: &[f64], _: &[f64], jacobian: &mut Matrix) -> bool {
        jacobian.data_mut().copy_from_slice(&[0.0, 1.0, -75.0, -2.1]);
        true
    }

    fn fu(&self, _: &[f64], u_dot: &[f64], out: &mut [f64]) -> bool {
        out.copy_from_slice(&[0.0, 25.0 * u_dot[0] + 0.1 * u_dot[1]]);
        true
    }
}

/// Length of a segment, and how many there are.
const LENGTH: f64 = 0.1;
const SEGMENTS: usize = 20;

/// The whole, [A16] (16).
fn motion(x: [f64; 4]) -> [f64; 4] {
    let [x1, v1, x2, v2] = x;
    [v1, -35.0 * x1 - 1.1 * v1 + 25.0 * x2 + 0.1 * v2, v2, -75.0 * x2 - 2.1 * v2 + 25.0 * x1 + 0.1 * v1]
}

fn setting(x: [f64; 4], segments: impl Fn(&[[f64; 4]]) -> Vec<Segment>) -> Setting {
    let states = whole(|_, x| motion(x), x, LENGTH * SEGMENTS as f64, SEGMENTS);
    let segments = segments(&states[..SEGMENTS]);
    Setting { subject: &Right, start: x[2..].to_vec(), length: LENGTH, segments }
}

/// Both masses one metre out; segments start right and go on as the last one should have.
pub(super) fn fixed() -> Setting {
    setting([1.0, 0.0, 1.0, 0.0], |states| {
        let inputs: Vec<_> = states.iter().map(|x| x[..2].to_vec()).collect();
        with_differences(&inputs, LENGTH)
    })
}

/// A random start; segments start right, with the true slope.
pub(super) fn drawn(draw: u64) -> Setting {
    let mut random = Random(draw + 1);
    let tangent = |x: &[f64; 4]| Segment { u: x[..2].to_vec(), slope: motion(*x)[..2].to_vec() };
    setting(std::array::from_fn(|_| random.next()), |states| states.iter().map(tangent).collect())
}
