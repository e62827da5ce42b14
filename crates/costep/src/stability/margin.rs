//! The loop of a system under held inputs, opened at one connection [V14 2.3]: what comes back of a signal that is put in there.
//!
//! ```text
//! x' = Phi_A x + Phi_B u,  y = C x + D u_before,  u = L y, but for the input at which the loop is open
//! T(z) = what comes back / what is put in,   1 - T(z) = 0 at the factors of the closed loop
//! ```

use std::f64::consts::{PI, TAU};

use costep_core::{Code, Error, LocalModel, Result};
use costep_linalg::{Complex, Matrix, variable_order_exponential};
use costep_project::Project;

/// Frequencies of a Nyquist plot.
const POINTS: usize = 2000;
/// The lowest one relative to half the rate of the steps.
const LOWEST: f64 = 1e-5;

/// What comes back, by frequency.
#[derive(Clone, Debug)]
pub struct OpenLoop {
    /// The input at which the loop is open.
    pub input: String,
    /// In Hz, rising, up to half the rate of the steps.
    pub frequencies: Vec<f64>,
    /// -T(z): the closed loop is on the edge where this is -1.
    pub values: Vec<Complex>,
}

/// Distance from the edge of stability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseMargin {
    /// Least angle between the value and -1 where its size is 1, in degrees.
    pub degrees: f64,
    /// Where that is, in Hz.
    pub frequency: f64,
}

impl OpenLoop {
    /// The phase margin; nothing where the loop nowhere has a gain of one.
    pub fn phase_margin(&self) -> Option<PhaseMargin> {
        let crossing = |k: usize| {
            let (a, b) = (self.values[k], self.values[k + 1]);
            let (from, to) = (a.abs().ln(), b.abs().ln());
            if from == to || (from > 0.0) == (to > 0.0) {
                return None;
            }
            let share = from / (from - to);
            let turn = (b / a).angle();
            let angle = a.angle() + share * turn;
            let margin = (angle + PI).rem_euclid(TAU);
            let degrees = margin.min(TAU - margin).to_degrees();
            let frequency = self.frequencies[k] * (self.frequencies[k + 1] / self.frequencies[k]).powf(share);
            Some(PhaseMargin { degrees, frequency })
        };
        let all = (0..self.values.len().saturating_sub(1)).filter_map(crossing);
        all.min_by(|a, b| a.degrees.total_cmp(&b.degrees))
    }
}

/// The loop opened at an input of the whole system, with this step.
pub(super) fn open_loop(
    project: &Project,
    models: &[LocalModel],
    (input, name): (usize, &str),
    step: f64,
) -> Result<OpenLoop> {
    let loop_ = Held::new(project, models, step)?;
    let nyquist = 0.5 / step;
    let frequency = |k: usize| nyquist * LOWEST.powf(1.0 - k as f64 / (POINTS - 1) as f64);
    let frequencies: Vec<f64> = (0..POINTS).map(frequency).collect();
    let value = |f: &f64| {
        let angle = TAU * f * step;
        loop_.returned(input, Complex::new(angle.cos(), angle.sin()))
    };
    let values = frequencies.iter().map(value).collect::<Option<Vec<_>>>().ok_or_else(|| {
        Error::new(Code::NotFinite, format!("the loop through `{name}` has no finite response"))
    })?;
    Ok(OpenLoop { input: name.into(), frequencies, values })
}

/// All parts over a step under held inputs.
struct Held {
    phi_a: Matrix,
    phi_b: Matrix,
    c: Matrix,
    d: Matrix,
    /// L.
    links: Vec<(usize, usize, f64)>,
}

impl Held {
    fn new(project: &Project, models: &[LocalModel], step: f64) -> Result<Self> {
        let count = |of: fn(&LocalModel) -> usize| models.iter().map(of).sum();
        let (n, m, r) = (count(|of| of.states), count(|of| of.inputs), count(|of| of.outputs));
        let mut held = Self {
            phi_a: Matrix::zeros(n, n),
            phi_b: Matrix::zeros(n, m),
            c: Matrix::zeros(r, n),
            d: Matrix::zeros(r, m),
            links: project
                .model
                .connections
                .iter()
                .map(|link| (link.input, link.output, link.gain))
                .collect(),
        };
        let (mut x, mut u, mut y) = (0, 0, 0);
        for model in models {
            let size = model.states + model.inputs;
            let mut generator = Matrix::zeros(size, size);
            for i in 0..model.states {
                let row = generator.row_mut(i);
                let own = &model.a[i * model.states..(i + 1) * model.states];
                let driven = &model.b[i * model.inputs..(i + 1) * model.inputs];
                row.iter_mut().zip(own.iter().chain(driven)).for_each(|(to, from)| *to = from * step);
            }
            let whole = variable_order_exponential(&generator);
            if !whole.is_finite() {
                return Err(Error::new(Code::NotFinite, "a part has no finite response over a step"));
            }
            for i in 0..model.states {
                held.phi_a.row_mut(x + i)[x..x + model.states].copy_from_slice(&whole.row(i)[..model.states]);
                held.phi_b.row_mut(x + i)[u..u + model.inputs].copy_from_slice(&whole.row(i)[model.states..]);
            }
            for i in 0..model.outputs {
                let (c, d) = (&model.c[i * model.states..], &model.d[i * model.inputs..]);
                held.c.row_mut(y + i)[x..x + model.states].copy_from_slice(&c[..model.states]);
                held.d.row_mut(y + i)[u..u + model.inputs].copy_from_slice(&d[..model.inputs]);
            }
            (x, u, y) = (x + model.states, u + model.inputs, y + model.outputs);
        }
        Ok(held)
    }

    /// -T(z) for the loop that is open at input `open`: u = L (C (z - Phi_A)^-1 Phi_B + D / z) u there and elsewhere.
    fn returned(&self, open: usize, z: Complex) -> Option<Complex> {
        let (n, m) = (self.phi_b.rows(), self.phi_b.columns());
        // X = (z - Phi_A)^-1 Phi_B, then Y = C X + D / z and U = L Y.
        let mut left: Vec<Complex> = self.phi_a.data().iter().map(|a| -Complex::from(*a)).collect();
        (0..n).for_each(|i| left[i * n + i] = left[i * n + i] + z);
        let mut x: Vec<Complex> = self.phi_b.data().iter().map(|b| Complex::from(*b)).collect();
        solve(&mut left, n, &mut x, m)?;
        let mut u = vec![Complex::default(); m * m];
        for (input, output, gain) in &self.links {
            for j in 0..m {
                let states = (0..n).fold(Complex::default(), |sum, k| {
                    sum + Complex::from(self.c[(*output, k)]) * x[k * m + j]
                });
                let direct = Complex::from(self.d[(*output, j)]) / z;
                u[input * m + j] = u[input * m + j] + Complex::from(*gain) * (states + direct);
            }
        }
        // The other inputs close: (I - U_oo) v = U_o,open; back comes U_open,open + U_open,o v.
        let others: Vec<usize> = (0..m).filter(|j| *j != open).collect();
        let k = others.len();
        let mut left = vec![Complex::default(); k * k];
        for (a, i) in others.iter().enumerate() {
            for (b, j) in others.iter().enumerate() {
                let own = Complex::from(if a == b { 1.0 } else { 0.0 });
                left[a * k + b] = own - u[i * m + j];
            }
        }
        let mut v: Vec<Complex> = others.iter().map(|i| u[i * m + open]).collect();
        solve(&mut left, k, &mut v, 1)?;
        let back = others.iter().zip(&v).fold(u[open * m + open], |sum, (j, v)| sum + u[open * m + *j] * *v);
        (back.re.is_finite() && back.im.is_finite()).then_some(-back)
    }
}

/// Solves for several right-hand sides in place, by elimination with pivots.
fn solve(left: &mut [Complex], n: usize, right: &mut [Complex], columns: usize) -> Option<()> {
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| left[i * n + k].abs().total_cmp(&left[j * n + k].abs()))?;
        if left[pivot * n + k].abs() == 0.0 {
            return None;
        }
        (0..n).for_each(|j| left.swap(k * n + j, pivot * n + j));
        (0..columns).for_each(|j| right.swap(k * columns + j, pivot * columns + j));
        for i in k + 1..n {
            let share = left[i * n + k] / left[k * n + k];
            (k..n).for_each(|j| left[i * n + j] = left[i * n + j] - share * left[k * n + j]);
            (0..columns).for_each(|j| {
                right[i * columns + j] = right[i * columns + j] - share * right[k * columns + j]
            });
        }
    }
    for k in (0..n).rev() {
        for j in 0..columns {
            let known = (k + 1..n)
                .fold(right[k * columns + j], |sum, i| sum - left[k * n + i] * right[i * columns + j]);
            right[k * columns + j] = known / left[k * n + k];
        }
    }
    Some(())
}
