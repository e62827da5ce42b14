//! The loop of a system under held inputs, opened at one connection [V14 2.3]: what comes back of a signal that is put in there.
//!
//! ```text
//! x' = Phi_A x + Phi_B u,  y = C x + D u_before,  u = L y, but for the input at which the loop is open
//! T(z) = what comes back / what is put in,   1 - T(z) = 0 at the factors of the closed loop
//! T(z) = 1 - 1 / ((I - U)^-1)_kk             U = L (C (z - Phi_A)^-1 Phi_B + D / z), opened at input k
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

/// The loops opened at inputs of the whole system, each by itself, with this step.
pub(super) fn open_loops(
    project: &Project,
    models: &[LocalModel],
    inputs: &[(usize, &str)],
    step: f64,
) -> Result<Vec<Result<OpenLoop>>> {
    let mut held = Held::new(project, models, step)?;
    let nyquist = 0.5 / step;
    let frequency = |k: usize| nyquist * LOWEST.powf(1.0 - k as f64 / (POINTS - 1) as f64);
    let frequencies: Vec<f64> = (0..POINTS).map(frequency).collect();
    let mut values = vec![Vec::with_capacity(POINTS); inputs.len()];
    for f in &frequencies {
        let angle = TAU * f * step;
        let is_known = held.respond(Complex::new(angle.cos(), angle.sin())).is_some();
        let inverse = if is_known { held.inverse() } else { None };
        for ((input, _), values) in inputs.iter().zip(&mut values) {
            let back = match &inverse {
                // 1 - T is the determinant of I - U over that without the row and column of this input.
                Some(inverse) => {
                    Some(Complex::from(1.0) / inverse[input * held.inputs + input] - Complex::from(1.0))
                }
                None if is_known => held.returned(*input),
                None => None,
            };
            values.extend(back.filter(|back| back.re.is_finite() && back.im.is_finite()));
        }
    }
    let open = |((_, name), values): (&(usize, &str), Vec<Complex>)| match values.len() == frequencies.len() {
        true => Ok(OpenLoop { input: (*name).into(), frequencies: frequencies.clone(), values }),
        false => {
            Err(Error::new(Code::NotFinite, format!("the loop through `{name}` has no finite response")))
        }
    };
    Ok(inputs.iter().zip(values).map(open).collect())
}

/// A part over a step under held inputs.
struct Part {
    phi_a: Matrix,
    phi_b: Matrix,
    c: Matrix,
    d: Matrix,
    /// Its first input in those of the system.
    first_input: usize,
    /// What its outputs are of its inputs, output by output.
    response: Vec<Complex>,
}

impl Part {
    fn new(model: &LocalModel, first_input: usize, step: f64) -> Result<Self> {
        let (n, m, r) = (model.states, model.inputs, model.outputs);
        let mut generator = Matrix::zeros(n + m, n + m);
        for i in 0..n {
            let (own, driven) = (&model.a[i * n..(i + 1) * n], &model.b[i * m..(i + 1) * m]);
            let entries = own.iter().chain(driven);
            generator.row_mut(i).iter_mut().zip(entries).for_each(|(to, from)| *to = from * step);
        }
        let whole = variable_order_exponential(&generator);
        if !whole.is_finite() {
            return Err(Error::new(Code::NotFinite, "a part has no finite response over a step"));
        }
        let (mut phi_a, mut phi_b) = (Matrix::zeros(n, n), Matrix::zeros(n, m));
        for i in 0..n {
            phi_a.row_mut(i).copy_from_slice(&whole.row(i)[..n]);
            phi_b.row_mut(i).copy_from_slice(&whole.row(i)[n..]);
        }
        let (c, d) = (Matrix::from_rows(r, n, &model.c), Matrix::from_rows(r, m, &model.d));
        Ok(Self { phi_a, phi_b, c, d, first_input, response: vec![Complex::default(); r * m] })
    }

    /// C (z - Phi_A)^-1 Phi_B + D / z.
    fn respond(&mut self, z: Complex) -> Option<()> {
        let (n, m) = (self.phi_b.rows(), self.d.columns());
        let mut left: Vec<Complex> = self.phi_a.data().iter().map(|a| -Complex::from(*a)).collect();
        (0..n).for_each(|i| left[i * n + i] = left[i * n + i] + z);
        let mut x: Vec<Complex> = self.phi_b.data().iter().map(|b| Complex::from(*b)).collect();
        solve(&mut left, n, &mut x, m)?;
        for output in 0..self.d.rows() {
            for j in 0..m {
                let direct = Complex::from(self.d[(output, j)]) / z;
                self.response[output * m + j] =
                    (0..n).fold(direct, |sum, k| sum + Complex::from(self.c[(output, k)]) * x[k * m + j]);
            }
        }
        Some(())
    }
}

/// All parts over a step under held inputs.
struct Held {
    parts: Vec<Part>,
    /// L: input, part and output of it, gain.
    links: Vec<(usize, (usize, usize), f64)>,
    inputs: usize,
    /// U: what all inputs become of all inputs.
    u: Vec<Complex>,
}

impl Held {
    fn new(project: &Project, models: &[LocalModel], step: f64) -> Result<Self> {
        let (mut parts, mut inputs, mut owners) = (Vec::with_capacity(models.len()), 0, Vec::new());
        for (i, model) in models.iter().enumerate() {
            parts.push(Part::new(model, inputs, step)?);
            owners.extend((0..model.outputs).map(|output| (i, output)));
            inputs += model.inputs;
        }
        let links = project.model.connections.iter().map(|link| (link.input, owners[link.output], link.gain));
        Ok(Self { parts, links: links.collect(), inputs, u: vec![Complex::default(); inputs * inputs] })
    }

    /// U = L (C (z - Phi_A)^-1 Phi_B + D / z).
    fn respond(&mut self, z: Complex) -> Option<()> {
        self.parts.iter_mut().try_for_each(|part| part.respond(z))?;
        self.u.fill(Complex::default());
        for (input, (part, output), gain) in &self.links {
            let part = &self.parts[*part];
            let m = part.d.columns();
            let row = &mut self.u[input * self.inputs + part.first_input..][..m];
            for (to, response) in row.iter_mut().zip(&part.response[output * m..]) {
                *to = *to + Complex::from(*gain) * *response;
            }
        }
        Some(())
    }

    /// (I - U)^-1; nothing where the closed loop has a factor of just this frequency.
    fn inverse(&self) -> Option<Vec<Complex>> {
        let m = self.inputs;
        let unit = |i: usize| Complex::from(if i / m == i % m { 1.0 } else { 0.0 });
        let mut left: Vec<Complex> = self.u.iter().enumerate().map(|(i, u)| unit(i) - *u).collect();
        let mut inverse: Vec<Complex> = (0..m * m).map(unit).collect();
        solve(&mut left, m, &mut inverse, m)?;
        Some(inverse)
    }

    /// -T(z) for the loop that is open at one input, the others closed: (I - U_oo) v = U_o,open; back comes U_open,open + U_open,o v.
    fn returned(&self, open: usize) -> Option<Complex> {
        let (m, u) = (self.inputs, &self.u);
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
        Some(-back)
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
            // Parts meet few others: most rows have nothing here.
            if left[i * n + k] == Complex::default() {
                continue;
            }
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
