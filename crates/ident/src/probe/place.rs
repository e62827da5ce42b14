//! Where a subsystem stands in the coordinates of its probed model, by a few trial steps under its present input.
//!
//! ```text
//! x' = A x + B (u - u0) + b,  y = y0 + C x + D (u - u0),   x = 0 where the model was made
//! y_j - y0 - D (u - u0) - forced_j = C A_d^j x + C (I + .. + A_d^(j-1)) G b,   j = 0 .. s
//! ```
//!
//! Least squares for x and b: b, what the model does not know, stays what it was unless the outputs tell otherwise.
//!
//! Where there are more states than outputs, some of b tells nothing: x + v and b - A v with C v = 0 give the same outputs for ever.
//! Of all such pairs that with the least b is taken, or else what once got there would stay: a mode that never decays.

use costep_core::{InputPolynomials, LocalModel, Result, StateReader, StateWriter, Subsystem};
use costep_linalg::{Exponential, Matrix, PseudoInverse};

use super::trial::{self, Clock};

/// Weight of b as it was, over what the outputs say of it.
const PRIOR: f64 = 1e-5;
/// Singular values below this share count as zero.
const CUT: f64 = 1e-11;
/// The same for what outputs show of states.
const UNSEEN: f64 = 1e-9;

/// Finds the state of one subsystem.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    /// u0 and y0.
    u: Vec<f64>,
    y: Vec<f64>,
    /// b.
    offset: Vec<f64>,
    units: Vec<f64>,
    /// Of the data, to (x, b).
    inverse: Matrix,
    /// Of u - u0, to the data.
    forced: Matrix,
    prior: f64,
    /// From b to what leaves (x, b) without the part of b that tells nothing.
    redundant: Matrix,
    held: InputPolynomials,
    seen: Vec<f64>,
    data: Vec<f64>,
    found: Vec<f64>,
    room: Vec<f64>,
}

impl Finder {
    /// For a model that was made at this point. None if its response is not finite.
    pub(super) fn new(model: &LocalModel, clock: &Clock, u: &[f64], y: &[f64]) -> Option<Self> {
        let (o, m, n) = (model.states, model.inputs, model.outputs);
        // Enough to tell b from x, within one macro step.
        let steps = if o == 0 { 0 } else { (2 * o).div_ceil(n.max(1)).clamp(1, clock.parts) };
        let units = units(model, clock.step);
        let (rows, steps_of) = ((steps + 1) * n, discrete(model, clock.spacing())?);
        let (mut map, mut forced) = (Matrix::zeros(rows + o, 2 * o), Matrix::zeros(rows, m));
        // Columns: x, b per macro step, u; the state after j steps as a function of them.
        let mut state = Matrix::zeros(o, 2 * o + m);
        (0..o).for_each(|k| state[(k, k)] = 1.0);
        for j in 0..=steps {
            for (i, unit) in units.iter().enumerate() {
                let row = j * n + i;
                for column in 0..2 * o + m {
                    let sum: f64 = (0..o).map(|k| model.c[i * o + k] * state[(k, column)]).sum();
                    if column < 2 * o {
                        map[(row, column)] = sum / unit;
                    } else {
                        forced[(row, column - 2 * o)] = sum + model.d[i * m + column - 2 * o];
                    }
                }
            }
            state = steps_of.advance(&state, clock.step);
        }
        let prior = PRIOR * (0..o).map(|k| column_norm(&map, rows, o + k)).fold(0.0, f64::max);
        (0..o).for_each(|k| map[(rows + k, o + k)] = prior);
        let mut inverse = Matrix::zeros(2 * o, rows + o);
        PseudoInverse::new(rows + o, 2 * o).compute(&map, CUT, &mut inverse);
        (inverse.is_finite() && forced.is_finite()).then(|| Self {
            u: u.to_vec(),
            y: y.to_vec(),
            offset: vec![0.0; o],
            inverse,
            forced,
            prior,
            redundant: redundant(model, &units, clock.step),
            units,
            held: InputPolynomials::new(m, 0),
            seen: vec![0.0; rows],
            data: vec![0.0; rows + o],
            found: vec![0.0; 2 * o],
            room: vec![0.0; o],
        })
    }

    /// x and x' at the present point.
    pub(super) fn locate(
        &mut self,
        subsystem: &mut dyn Subsystem,
        clock: &Clock,
        (u, y): (&[f64], &[f64]),
        model: &mut LocalModel,
    ) -> Result<()> {
        let (o, m, n) = (model.states, model.inputs, model.outputs);
        if o == 0 {
            return Ok(());
        }
        self.seen[..n].copy_from_slice(y);
        let ahead = &mut self.seen[n..];
        subsystem.trial(|subsystem| trial::run(subsystem, clock, &mut self.held, u, None, ahead))??;
        let change = |q: usize| u[q] - self.u[q];
        for (row, seen) in self.seen.iter().enumerate() {
            let forced: f64 = (0..m).map(|q| self.forced[(row, q)] * change(q)).sum();
            self.data[row] = (seen - self.y[row % n] - forced) / self.units[row % n];
        }
        let rows = self.seen.len();
        for k in 0..o {
            self.data[rows + k] = self.prior * self.offset[k] * clock.step;
        }
        self.found.fill(0.0);
        self.inverse.multiply_add(&self.data, &mut self.found);
        self.room.copy_from_slice(&self.found[o..]);
        self.redundant.multiply_add(&self.room, &mut self.found);
        // A trial that diverges says nothing: the last state stays.
        if self.found.iter().all(|value| value.is_finite()) {
            model.x.copy_from_slice(&self.found[..o]);
            for k in 0..o {
                self.offset[k] = self.found[o + k] / clock.step;
                let by_states: f64 = (0..o).map(|l| model.a[k * o + l] * model.x[l]).sum();
                let by_inputs: f64 = (0..m).map(|q| model.b[k * m + q] * change(q)).sum();
                model.x_dot[k] = by_states + by_inputs + self.offset[k];
            }
        }
        Ok(())
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        for values in [&self.u, &self.y, &self.offset] {
            out.reals(values);
        }
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        for values in [&mut self.u, &mut self.y, &mut self.offset] {
            from.reals(values)?;
        }
        Ok(())
    }
}

/// x -> A_d x + B_d u + G b over one trial step.
pub(super) struct Discrete {
    pub(super) a: Matrix,
    pub(super) b: Matrix,
    /// G.
    forcing: Matrix,
}

impl Discrete {
    /// Of the state as a function of (x, b times the macro step, u).
    fn advance(&self, state: &Matrix, step: f64) -> Matrix {
        let o = self.a.rows();
        let mut next = Matrix::zeros(o, state.columns());
        next.set_product(&self.a, state);
        for k in 0..o {
            (0..o).for_each(|l| next[(k, o + l)] += self.forcing[(k, l)] / step);
            (0..self.b.columns()).for_each(|q| next[(k, 2 * o + q)] += self.b[(k, q)]);
        }
        next
    }
}

/// exp([A B I; 0 0 0] spacing).
pub(super) fn discrete(model: &LocalModel, spacing: f64) -> Option<Discrete> {
    let (o, m) = (model.states, model.inputs);
    let size = 2 * o + m;
    let (mut generator, mut whole) = (Matrix::zeros(size, size), Matrix::zeros(size, size));
    for k in 0..o {
        let row = generator.row_mut(k);
        row[..o].copy_from_slice(&model.a[k * o..(k + 1) * o]);
        row[o..o + m].copy_from_slice(&model.b[k * m..(k + 1) * m]);
        row[o + m + k] = 1.0;
    }
    generator.scale(spacing);
    if !Exponential::new(size).compute(&generator, &mut whole) {
        return None;
    }
    let block = |from: usize, width: usize| {
        let mut block = Matrix::zeros(o, width);
        (0..o).for_each(|k| block.row_mut(k).copy_from_slice(&whole.row(k)[from..from + width]));
        block
    };
    Some(Discrete { a: block(0, o), b: block(o, m), forcing: block(o + m, o) })
}

/// From b per macro step to changes of (x, b): with P = I - C^+ C and W = A P, x + P W^+ b and b - W W^+ b.
fn redundant(model: &LocalModel, units: &[f64], step: f64) -> Matrix {
    let (o, n) = (model.states, model.outputs);
    let mut whole = Matrix::zeros(2 * o, o);
    if o == 0 {
        return whole;
    }
    let (mut c, mut c_inverse) = (Matrix::from_rows(n, o, &model.c), Matrix::zeros(o, n));
    for (i, unit) in units.iter().enumerate() {
        c.row_mut(i).iter_mut().for_each(|entry| *entry /= unit);
    }
    if PseudoInverse::new(n, o).compute(&c, UNSEEN, &mut c_inverse) == o {
        return whole;
    }
    let product = |a: &Matrix, b: &Matrix| {
        let mut product = Matrix::zeros(a.rows(), b.columns());
        product.set_product(a, b);
        product
    };
    let mut unseen = product(&c_inverse, &c);
    unseen.scale(-1.0);
    (0..o).for_each(|k| unseen[(k, k)] += 1.0);
    let w = product(&Matrix::from_rows(o, o, &model.a), &unseen);
    let mut w_inverse = Matrix::zeros(o, o);
    PseudoInverse::new(o, o).compute(&w, UNSEEN, &mut w_inverse);
    let (moved, left) = (product(&unseen, &w_inverse), product(&w, &w_inverse));
    for k in 0..o {
        for l in 0..o {
            whole[(k, l)] = moved[(k, l)] / step;
            whole[(o + k, l)] = -left[(k, l)];
        }
    }
    whole
}

/// What a state of size 1 does to each output, so that outputs in other units weigh the same.
fn units(model: &LocalModel, step: f64) -> Vec<f64> {
    let o = model.states;
    let size = |i: usize| {
        let row = &model.c[i * o..(i + 1) * o];
        let rate = |l: usize| (0..o).map(|k| row[k] * model.a[k * o + l]).sum::<f64>();
        let greatest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |a: f64, b| a.max(b.abs()));
        greatest(&mut row.iter().copied()).max(greatest(&mut (0..o).map(|l| step * rate(l))))
    };
    (0..model.outputs).map(|i| Some(size(i)).filter(|unit| *unit > 0.0).unwrap_or(1.0)).collect()
}

fn column_norm(matrix: &Matrix, rows: usize, column: usize) -> f64 {
    (0..rows).map(|row| matrix[(row, column)].powi(2)).sum::<f64>().sqrt()
}
