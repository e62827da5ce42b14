//! Interface quasi-Newton by least squares: what the tries so far tell about the Jacobian of the residual.
//!
//! ```text
//! V = [R_i - R_(i-1), ...],  W = [H_i - H_(i-1), ...]   newest first, those of earlier steps after them
//! c = argmin |V c + R_i|,    U = H_i + W c
//! ```
//!
//! V = Q R, column by column; a column that the newer ones explain already is left out (Haelterman et al. 2016, filter QR2).

use costep_core::{Result, StateReader, StateWriter, StepContext};

use super::Trial;

/// A column of which less than this is new is left out.
const FILTER: f64 = 1e-3;
/// More columns than this tell nothing new, or cost more than a try.
const MOST_COLUMNS: usize = 48;

/// A run has no more steps than this.
const MOST_STEPS: usize = 1 << 53;

/// Differences of tries, newest first.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    unknowns: usize,
    /// How many steps before this one count.
    reuse: u64,
    /// Number of the step, of those that gave columns.
    step: u64,
    /// Of this step, and of those before it.
    current: Ring,
    earlier: Ring,
    /// The try before this one.
    has_last: bool,
    last_gap: Vec<f64>,
    last_ends: Vec<f64>,
    /// Room for Q, R and c.
    room: usize,
    q: Vec<f64>,
    r: Vec<f64>,
    c: Vec<f64>,
    /// The columns in use: whether they are of this step, and their slots.
    kept: Vec<(bool, usize)>,
    rest: Vec<f64>,
}

/// The last columns of V and W, and the steps that they are of.
#[derive(Debug, Default)]
struct Ring {
    v: Vec<f64>,
    w: Vec<f64>,
    steps: Vec<u64>,
    newest: usize,
    count: usize,
}

impl Ring {
    fn new(unknowns: usize, room: usize) -> Self {
        let values = || vec![0.0; room * unknowns];
        Self { v: values(), w: values(), steps: vec![0; room], newest: 0, count: 0 }
    }

    fn slot(&self, back: usize) -> usize {
        (self.newest + back) % self.steps.len()
    }

    /// Takes a place for a column more, in front of all.
    fn push(&mut self, step: u64) -> usize {
        let room = self.steps.len();
        self.newest = (self.newest + room - 1) % room;
        self.count = (self.count + 1).min(room);
        self.steps[self.newest] = step;
        self.newest
    }

    fn save(&self, out: &mut StateWriter) {
        out.integer(self.newest as u64);
        out.integer(self.count as u64);
        self.steps.iter().for_each(|step| out.integer(*step));
        out.reals(&self.v);
        out.reals(&self.w);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.newest = from.index(self.steps.len())?;
        self.count = from.index(self.steps.len() + 1)?;
        for step in &mut self.steps {
            *step = from.index(MOST_STEPS)? as u64;
        }
        from.reals(&mut self.v)?;
        from.reals(&mut self.w)
    }
}

impl Columns {
    /// Room for so many unknowns, with the columns of so many earlier steps.
    pub(crate) fn new(unknowns: usize, reuse: usize) -> Self {
        let room = (2 * unknowns).clamp(1, MOST_COLUMNS);
        Self {
            unknowns,
            reuse: reuse as u64,
            current: Ring::new(unknowns, room),
            earlier: Ring::new(unknowns, room),
            last_gap: vec![0.0; unknowns],
            last_ends: vec![0.0; unknowns],
            room,
            q: vec![0.0; room * unknowns],
            r: vec![0.0; room * room],
            c: vec![0.0; room],
            kept: vec![(false, 0); room],
            rest: vec![0.0; unknowns],
            ..Self::default()
        }
    }

    /// A step begins; what one that was rejected has shown is forgotten.
    pub(crate) fn begin(&mut self, context: &StepContext) {
        if context.repetition == 0 && self.current.count > 0 {
            self.step += 1;
            self.take_over();
        }
        (self.current.count, self.has_last) = (0, false);
        let Self { earlier, reuse, step, .. } = self;
        while earlier.count > 0 && earlier.steps[earlier.slot(earlier.count - 1)] + *reuse < *step {
            earlier.count -= 1;
        }
    }

    /// The columns of the last step become those of an earlier one.
    fn take_over(&mut self) {
        let Self { current, earlier, unknowns, .. } = self;
        for back in (0..current.count).rev() {
            let from = current.slot(back);
            let to = earlier.push(current.steps[from]) * *unknowns;
            let from = from * *unknowns;
            earlier.v[to..to + *unknowns].copy_from_slice(&current.v[from..from + *unknowns]);
            earlier.w[to..to + *unknowns].copy_from_slice(&current.w[from..from + *unknowns]);
        }
    }

    /// Takes a try in.
    pub(crate) fn add(&mut self, trial: &Trial<'_>) {
        let gap = |n: usize| trial.ends[n] - trial.guess[n];
        if self.has_last && (0..self.unknowns).any(|n| gap(n) != self.last_gap[n]) {
            let at = self.current.push(self.step) * self.unknowns;
            for n in 0..self.unknowns {
                self.current.v[at + n] = gap(n) - self.last_gap[n];
                self.current.w[at + n] = trial.ends[n] - self.last_ends[n];
            }
        }
        self.has_last = true;
        (0..self.unknowns).for_each(|n| self.last_gap[n] = gap(n));
        self.last_ends.copy_from_slice(trial.ends);
    }

    /// The next U by all columns, as far as they reach: H if there is none. Gives their number.
    pub(crate) fn solve(&mut self, trial: &Trial<'_>, next: &mut [f64]) -> usize {
        let rank = self.factor(trial.scale);
        for i in 0..rank {
            self.c[i] = -dot(column(&self.q, i, self.unknowns), trial.residual);
        }
        for i in (0..rank).rev() {
            let sum: f64 = (i + 1..rank).map(|k| self.r[i * self.room + k] * self.c[k]).sum();
            self.c[i] = (self.c[i] - sum) / self.r[i * self.room + i];
        }
        next.copy_from_slice(trial.ends);
        for (n, rest) in self.rest.iter_mut().enumerate() {
            *rest = trial.ends[n] - trial.guess[n];
        }
        for (c, (is_current, slot)) in self.c.iter().zip(&self.kept).take(rank) {
            let ring = if *is_current { &self.current } else { &self.earlier };
            let (v, w) = (column(&ring.v, *slot, self.unknowns), column(&ring.w, *slot, self.unknowns));
            next.iter_mut().zip(w).for_each(|(next, w)| *next += c * w);
            self.rest.iter_mut().zip(v).for_each(|(rest, v)| *rest += c * v);
        }
        rank
    }

    /// R + V c: what of the residual the columns do not reach, not scaled.
    pub(crate) fn rest(&self) -> &[f64] {
        &self.rest
    }

    /// Q and R of the columns of V that are not explained by newer ones; gives their number.
    fn factor(&mut self, scale: &[f64]) -> usize {
        let (n, mut rank) = (self.unknowns, 0);
        let (now, before) = (self.current.count, self.earlier.count);
        for back in 0..now + before {
            if rank == n.min(self.room) {
                break;
            }
            let is_current = back < now;
            let (ring, back) = if is_current { (&self.current, back) } else { (&self.earlier, back - now) };
            let slot = ring.slot(back);
            let (done, rest) = self.q.split_at_mut(rank * n);
            let new = &mut rest[..n];
            let v = column(&ring.v, slot, n);
            new.iter_mut().zip(v.iter().zip(scale)).for_each(|(new, (v, scale))| *new = scaled(*v, *scale));
            let size = dot(new, new).sqrt();
            for i in 0..rank {
                self.r[i * self.room + rank] = 0.0;
            }
            // Twice, so that round-off leaves them orthogonal.
            for _ in 0..2 {
                for i in 0..rank {
                    let q = column(done, i, n);
                    let share = dot(q, new);
                    self.r[i * self.room + rank] += share;
                    new.iter_mut().zip(q).for_each(|(v, q)| *v -= share * q);
                }
            }
            let left = dot(new, new).sqrt();
            if left > FILTER * size && left.is_finite() {
                new.iter_mut().for_each(|v| *v /= left);
                self.r[rank * self.room + rank] = left;
                self.kept[rank] = (is_current, slot);
                rank += 1;
            }
        }
        rank
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        out.integer(self.step);
        self.current.save(out);
        self.earlier.save(out);
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.step = from.index(MOST_STEPS)? as u64;
        self.current.load(from)?;
        self.earlier.load(from)
    }
}

/// An unknown that has always been zero has no size, and no difference.
fn scaled(value: f64, scale: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value / scale }
}

fn column(columns: &[f64], i: usize, size: usize) -> &[f64] {
    &columns[i * size..(i + 1) * size]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H(U) = A U + b of three unknowns with gains above one: exact after as many tries as unknowns, and one.
    #[test]
    fn a_linear_problem_is_solved_after_as_many_columns_as_unknowns() {
        let a = [[0.2, -3.0, 0.5], [1.5, 0.1, -2.0], [0.3, 0.7, 4.0]];
        let b = [1.0, -2.0, 0.5];
        let ends = |u: &[f64]| -> Vec<f64> { (0..3).map(|i| b[i] + dot(&a[i], u)).collect() };
        let mut columns = Columns::new(3, 2);
        let mut guess = vec![0.0; 3];
        let tries = |columns: &mut Columns, guess: &mut Vec<f64>| {
            columns.begin(&StepContext { k: 0, t: 0.0, t_next: 1.0, h: 1.0, h_before: 0.0, repetition: 0 });
            for count in 1.. {
                let ends = ends(guess);
                let residual: Vec<f64> = ends.iter().zip(&*guess).map(|(h, u)| h - u).collect();
                let norm = dot(&residual, &residual).sqrt();
                if norm < 1e-10 {
                    return count;
                }
                let scale = [1.0; 3];
                let trial = Trial {
                    guess,
                    ends: &ends,
                    residual: &residual,
                    norm,
                    scale: &scale,
                    inputs: &[0, 1, 2],
                };
                columns.add(&trial);
                let mut next = vec![0.0; 3];
                if columns.solve(&trial, &mut next) == 0 {
                    next = guess.iter().zip(&residual).map(|(u, r)| u + 0.5 * r).collect();
                }
                *guess = next;
            }
            unreachable!()
        };
        assert_eq!(tries(&mut columns, &mut guess), 5);
        guess = vec![7.0, -1.0, 3.0];
        assert_eq!(tries(&mut columns, &mut guess), 2, "the columns of the first step hold for the second");
    }
}
