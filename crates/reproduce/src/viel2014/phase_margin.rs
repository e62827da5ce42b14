//! The phase margin of two parts that hold their inputs over a step [V14 (7) to (11)].

use std::f64::consts::PI;

use costep_core::LocalModel;
use costep_linalg::{Lu, Matrix, variable_order_exponential};

/// Frequencies looked at between two of which the gain may cross one.
const FREQUENCIES: usize = 2000;

/// A complex number: its real and its imaginary part.
type Complex = (f64, f64);

/// A part that sees a held input: x_{k+1} = A x_k + b u_k, y_k = c x_k.
struct Sampled {
    /// A and b, side by side.
    step: Matrix,
    c: Vec<f64>,
}

impl Sampled {
    /// The first input and the first output of a part without feedthrough.
    fn new(part: &LocalModel, h: f64) -> Self {
        let n = part.states;
        let mut generator = Matrix::zeros(n + 1, n + 1);
        for i in 0..n {
            (0..n).for_each(|j| generator[(i, j)] = h * part.a[i * n + j]);
            generator[(i, n)] = h * part.b[i * part.inputs];
        }
        Self { step: variable_order_exponential(&generator), c: part.c[..n].to_vec() }
    }

    /// c (z I - A)^-1 b; not a number at a pole.
    fn gain(&self, z: Complex) -> Complex {
        let n = self.c.len();
        // Real and imaginary parts as unknowns of their own.
        let mut lu = Lu::new(2 * n);
        let mut x: Vec<f64> = (0..n).map(|i| self.step[(i, n)]).chain(vec![0.0; n]).collect();
        for i in 0..n {
            for half in [0, n] {
                (0..n).for_each(|j| lu.matrix_mut()[(half + i, half + j)] = -self.step[(i, j)]);
                lu.matrix_mut()[(half + i, half + i)] += z.0;
            }
            lu.matrix_mut()[(i, n + i)] = -z.1;
            lu.matrix_mut()[(n + i, i)] = z.1;
        }
        if !lu.factor() {
            return (f64::NAN, 0.0);
        }
        lu.solve(&mut x);
        let output = |x: &[f64]| self.c.iter().zip(x).map(|(c, x)| c * x).sum::<f64>();
        (output(&x[..n]), output(&x[n..]))
    }
}

/// How far, in degrees, the open loop of two parts is from -1 where its gain falls below one; `omega0` is the frequency
/// of one of them. Negative: unstable.
pub(super) fn phase_margin(parts: [&LocalModel; 2], omega0: f64, h: f64) -> f64 {
    let [first, second] = parts.map(|part| Sampled::new(part, h));
    let open_loop = |omega: f64| {
        let z = ((omega * h).cos(), (omega * h).sin());
        let (a, b) = (first.gain(z), second.gain(z));
        (b.1 * a.1 - a.0 * b.0, -(a.0 * b.1 + a.1 * b.0))
    };
    let highest = (3.0 * omega0).min(PI / h);
    let omega = |k: usize| highest * k as f64 / FREQUENCIES as f64;
    let above = |omega: f64| {
        let (re, im) = open_loop(omega);
        re.hypot(im) > 1.0
    };
    let Some(last) = (1..FREQUENCIES).rev().find(|k| above(omega(*k))) else { return 180.0 };
    let (mut low, mut high) = (omega(last), omega(last + 1));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if above(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (re, im) = open_loop(low);
    (-im).atan2(-re).to_degrees()
}
