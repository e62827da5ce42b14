//! The phase margin of two parts that hold their inputs over a step [V14 (7) to (11)].

use std::f64::consts::PI;

use costep_core::LocalModel;
use nalgebra::{Complex, DMatrix};

/// Frequencies looked at between two of which the gain may cross one.
const FREQUENCIES: usize = 2000;

/// A part that sees a held input: x_{k+1} = A x_k + b u_k, y_k = c x_k.
struct Sampled {
    a: DMatrix<Complex<f64>>,
    b: DMatrix<Complex<f64>>,
    c: DMatrix<Complex<f64>>,
}

impl Sampled {
    /// The first input and the first output of a part without feedthrough.
    fn new(part: &LocalModel, h: f64) -> Self {
        let n = part.states;
        let mut generator = DMatrix::zeros(n + 1, n + 1);
        for i in 0..n {
            (0..n).for_each(|j| generator[(i, j)] = h * part.a[i * n + j]);
            generator[(i, n)] = h * part.b[i * part.inputs];
        }
        let step = generator.exp().map(|value| Complex::new(value, 0.0));
        let c = DMatrix::from_fn(1, n, |_, j| Complex::new(part.c[j], 0.0));
        Self { a: step.view((0, 0), (n, n)).into(), b: step.view((0, n), (n, 1)).into(), c }
    }

    /// c (z I - A)^-1 b; not a number at a pole.
    fn gain(&self, z: Complex<f64>) -> Complex<f64> {
        let n = self.a.nrows();
        let shifted = DMatrix::from_diagonal_element(n, n, z) - &self.a;
        let nothing = Complex::new(f64::NAN, 0.0);
        shifted.lu().solve(&self.b).map_or(nothing, |x| (&self.c * x)[(0, 0)])
    }
}

/// How far, in degrees, the open loop of two parts is from -1 where its gain falls below one; `omega0` is the frequency
/// of one of them. Negative: unstable.
pub(super) fn phase_margin(parts: [&LocalModel; 2], omega0: f64, h: f64) -> f64 {
    let [first, second] = parts.map(|part| Sampled::new(part, h));
    let open_loop = |omega: f64| {
        let z = Complex::from_polar(1.0, omega * h);
        -(first.gain(z) * second.gain(z))
    };
    let highest = (3.0 * omega0).min(PI / h);
    let omega = |k: usize| highest * k as f64 / FREQUENCIES as f64;
    let above = |omega: f64| open_loop(omega).norm() > 1.0;
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
    (-open_loop(low)).arg().to_degrees()
}
