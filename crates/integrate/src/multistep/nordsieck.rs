//! The history of a solution as its scaled derivatives z_j = h^j x^(j) / j!, and what is done to it.

use costep_core::{Result, StateReader, StateWriter};

use super::{Family, MAX_ORDER};

/// Columns z_0 .. z_q of all states and the step lengths they come from.
#[derive(Debug)]
pub(super) struct Nordsieck {
    /// Column by column.
    z: Vec<f64>,
    states: usize,
    /// Time the columns belong to.
    pub(super) t: f64,
    /// Step the columns are scaled with. CVODE's hscale; h is the same once a step is prepared.
    pub(super) h: f64,
    /// Order of the next attempt.
    pub(super) order: usize,
    /// Highest order there is room for.
    pub(super) max_order: usize,
    /// tau: lengths of the last steps, the last first, from index 1.
    pub(super) past_steps: [f64; MAX_ORDER + 2],
    /// Steps since the start.
    pub(super) steps: u64,
    /// Order of the last step.
    pub(super) last_order: usize,
    /// Length of the last step.
    pub(super) last_step: f64,
}

impl Nordsieck {
    pub(super) fn new(states: usize, max_order: usize) -> Self {
        Self {
            z: vec![0.0; states * (max_order + 1)],
            states,
            t: 0.0,
            h: 0.0,
            order: 1,
            max_order,
            past_steps: [0.0; MAX_ORDER + 2],
            steps: 0,
            last_order: 0,
            last_step: 0.0,
        }
    }

    /// Forgets everything but the state.
    pub(super) fn start(&mut self, t: f64, x: &[f64]) {
        self.z.fill(0.0);
        self.column_mut(0).copy_from_slice(x);
        (self.t, self.h, self.order, self.steps) = (t, 0.0, 1, 0);
        (self.last_order, self.last_step) = (0, 0.0);
        self.past_steps.fill(0.0);
    }

    /// Whether no step length has been found yet.
    pub(super) fn is_new(&self) -> bool {
        self.h == 0.0
    }

    pub(super) fn column(&self, j: usize) -> &[f64] {
        &self.z[j * self.states..(j + 1) * self.states]
    }

    pub(super) fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.z[j * self.states..(j + 1) * self.states]
    }

    /// Taylor's polynomial at the end of the step: a multiplication with Pascal's triangle.
    pub(super) fn predict(&mut self) {
        self.pascal(|low, high| *low += high);
    }

    /// Takes back [`Nordsieck::predict`].
    pub(super) fn unpredict(&mut self) {
        self.pascal(|low, high| *low -= high);
    }

    fn pascal(&mut self, combine: impl Fn(&mut f64, f64)) {
        let n = self.states;
        for k in 1..=self.order {
            for j in (k..=self.order).rev() {
                let (low, high) = self.z[(j - 1) * n..(j + 1) * n].split_at_mut(n);
                low.iter_mut().zip(high).for_each(|(low, high)| combine(low, *high));
            }
        }
    }

    /// Scales the columns to a step `ratio` times as long.
    pub(super) fn rescale(&mut self, ratio: f64) {
        let mut factor = ratio;
        for j in 1..=self.order {
            self.column_mut(j).iter_mut().for_each(|z| *z *= factor);
            factor *= ratio;
        }
        self.h *= ratio;
    }

    /// z_j += l_j e for a step that has been accepted.
    pub(super) fn correct(&mut self, l: &[f64], correction: &[f64]) {
        for (j, l) in l.iter().enumerate().take(self.order + 1) {
            self.add_to_column(j, *l, correction);
        }
    }

    fn add_to_column(&mut self, j: usize, factor: f64, vector: &[f64]) {
        self.column_mut(j).iter_mut().zip(vector).for_each(|(z, v)| *z += factor * v);
    }

    /// Takes note of a step that has been accepted.
    pub(super) fn step_taken(&mut self) {
        self.steps += 1;
        (self.last_order, self.last_step) = (self.order, self.h);
        self.past_steps.copy_within(1..=self.order.max(2) - 1, 2);
        self.past_steps[1] = self.h;
    }

    /// Changes the order by one; `correction` is what the new column of BDF is made of.
    pub(super) fn change_order(&mut self, family: Family, order: usize, correction: &[f64]) {
        match (family, order > self.order) {
            // The first two orders share their columns.
            (_, false) if self.order == 2 => {}
            (Family::Adams, true) => self.column_mut(order).fill(0.0),
            (Family::Adams, false) => self.lower_adams(),
            (Family::Bdf, true) => self.raise_bdf(correction),
            (Family::Bdf, false) => self.lower_bdf(),
        }
        self.order = order;
    }

    /// z_j -= d_j z_q with the integral of prod (s + xi_i) from the points that remain. CVODE overwrites
    /// coefficients that it still needs here; this is the polynomial that its guide describes.
    fn lower_adams(&mut self) {
        let q = self.order;
        let mut d = [0.0; MAX_ORDER + 2];
        d[1] = 1.0;
        let mut back = 0.0;
        for j in 1..=q - 2 {
            back += self.past_steps[j];
            multiply_by_root(&mut d, 1..=j + 1, back / self.h);
        }
        for j in (1..=q - 2).rev() {
            d[j + 1] = q as f64 * d[j] / (j + 1) as f64;
        }
        self.subtract_last_column(&d);
    }

    /// z_j -= d_j z_q with prod s^2 (s + xi_i), which vanishes at the points that remain.
    fn lower_bdf(&mut self) {
        let mut d = [0.0; MAX_ORDER + 2];
        d[2] = 1.0;
        let mut back = 0.0;
        for j in 1..=self.order - 2 {
            back += self.past_steps[j];
            multiply_by_root(&mut d, 2..=j + 2, back / self.h);
        }
        self.subtract_last_column(&d);
    }

    fn subtract_last_column(&mut self, d: &[f64]) {
        let (n, q) = (self.states, self.order);
        let (columns, last) = self.z.split_at_mut(q * n);
        for j in 2..q {
            let column = &mut columns[j * n..(j + 1) * n];
            column.iter_mut().zip(&*last).for_each(|(z, last)| *z -= d[j] * last);
        }
    }

    /// A new column from the last correction; the polynomial keeps its values at the points of the formula.
    fn raise_bdf(&mut self, correction: &[f64]) {
        let q = self.order;
        let mut d = [0.0; MAX_ORDER + 2];
        d[2] = 1.0;
        let (mut alpha_0, mut alpha_1, mut product, mut root) = (-1.0, 1.0, 1.0, 1.0);
        let mut back = self.h;
        for j in 1..q {
            back += self.past_steps[j + 1];
            let next = back / self.h;
            product *= next;
            alpha_0 -= 1.0 / (j + 1) as f64;
            alpha_1 += 1.0 / next;
            multiply_by_root(&mut d, 2..=j + 2, root);
            root = next;
        }
        let factor = (-alpha_0 - alpha_1) / product;
        self.column_mut(q + 1).iter_mut().zip(correction).for_each(|(z, e)| *z = factor * e);
        let n = self.states;
        let (columns, last) = self.z.split_at_mut((q + 1) * n);
        for j in 2..=q {
            let column = &mut columns[j * n..(j + 1) * n];
            column.iter_mut().zip(&*last).for_each(|(z, last)| *z += d[j] * last);
        }
    }

    /// x(t) near the present time.
    pub(super) fn evaluate(&self, t: f64, x: &mut [f64]) {
        let s = if self.h == 0.0 { 0.0 } else { (t - self.t) / self.h };
        x.copy_from_slice(self.column(self.order));
        for j in (0..self.order).rev() {
            x.iter_mut().zip(self.column(j)).for_each(|(x, z)| *x = *x * s + z);
        }
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        let Self { z, states: _, t, h, order, max_order: _, past_steps, steps, last_order, last_step } = self;
        z.copy_from_slice(&other.z);
        (*t, *h, *order, *steps) = (other.t, other.h, other.order, other.steps);
        (*past_steps, *last_order, *last_step) = (other.past_steps, other.last_order, other.last_step);
    }

    pub(super) fn save(&self, writer: &mut StateWriter) {
        writer.reals(&self.z);
        writer.reals(&self.past_steps);
        [self.t, self.h, self.last_step].into_iter().for_each(|value| writer.real(value));
        writer.integer(self.order as u64);
        writer.integer(self.last_order as u64);
        writer.integer(self.steps);
    }

    pub(super) fn load(&mut self, reader: &mut StateReader<'_>) -> Result<()> {
        reader.reals(&mut self.z)?;
        reader.reals(&mut self.past_steps)?;
        [self.t, self.h, self.last_step] = [reader.real()?, reader.real()?, reader.real()?];
        self.order = reader.index(self.max_order + 1)?.max(1);
        self.last_order = reader.index(self.max_order + 1)?;
        self.steps = reader.integer()?;
        Ok(())
    }
}

/// Multiplies the polynomial with coefficients in `range` by (s + root).
fn multiply_by_root(d: &mut [f64], range: std::ops::RangeInclusive<usize>, root: f64) {
    for i in range.rev() {
        d[i] = d[i] * root + d[i - 1];
    }
}
