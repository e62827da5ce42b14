//! Coupled inputs at the last communication points, without their external share r: what comes from outside is known, and its
//! past says nothing about the future of what comes from other subsystems.

use crate::Result;
use crate::state::{StateReader, StateWriter};

/// A ring of the last accepted communication points, newest first. Its memory is taken once.
#[derive(Clone, Debug)]
pub struct History {
    inputs: usize,
    depth: usize,
    length: usize,
    newest: usize,
    times: Vec<f64>,
    values: Vec<f64>,
}

impl History {
    /// Room for `depth` points.
    pub fn new(inputs: usize, depth: usize) -> Self {
        Self {
            inputs,
            depth,
            length: 0,
            newest: 0,
            times: vec![0.0; depth],
            values: vec![0.0; inputs * depth],
        }
    }

    /// Number of points it holds, at most its depth.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no earlier point: at the start.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Time of the point `back` steps before the current one (1 = last).
    pub fn time(&self, back: usize) -> f64 {
        self.times[self.slot(back)]
    }

    /// z - r at the point `back` steps before the current one (1 = last).
    pub fn coupled(&self, back: usize) -> &[f64] {
        let slot = self.slot(back);
        &self.values[slot * self.inputs..(slot + 1) * self.inputs]
    }

    /// Adds the point that has just become the last one.
    #[inline]
    pub fn push(&mut self, t: f64, coupled: &[f64], external: &[f64]) {
        if self.depth > 0 {
            self.keep(t, coupled, external);
        }
    }

    fn keep(&mut self, t: f64, coupled: &[f64], external: &[f64]) {
        self.newest = (self.newest + 1) % self.depth;
        self.length = (self.length + 1).min(self.depth);
        self.times[self.newest] = t;
        let values = &mut self.values[self.newest * self.inputs..(self.newest + 1) * self.inputs];
        values.iter_mut().zip(coupled.iter().zip(external)).for_each(|(value, (z, r))| *value = z - r);
    }

    /// Writes it to a checkpoint.
    pub fn save(&self, out: &mut StateWriter) {
        out.integer(self.length as u64);
        out.integer(out.ring_start(self.newest) as u64);
        out.ring(&self.times, self.newest);
        out.ring(&self.values, self.newest * self.inputs);
    }

    /// Reads it from a checkpoint.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.length = from.index(self.depth + 1)?;
        self.newest = from.index(self.depth.max(1))?;
        from.reals(&mut self.times)?;
        from.reals(&mut self.values)
    }

    fn slot(&self, back: usize) -> usize {
        assert!(1 <= back && back <= self.length, "the history has {} points, asked for {back}", self.length);
        (self.newest + self.depth + 1 - back) % self.depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_point_comes_first_and_old_ones_fall_out() {
        let mut history = History::new(1, 2);
        assert!(history.is_empty());
        for k in 1..=3 {
            history.push(f64::from(k), &[10.0 * f64::from(k) + 5.0], &[5.0]);
        }
        assert_eq!((history.len(), history.time(1), history.time(2)), (2, 3.0, 2.0));
        assert_eq!((history.coupled(1), history.coupled(2)), (&[30.0][..], &[20.0][..]));
    }

    #[test]
    fn depth_zero_keeps_nothing() {
        let mut history = History::new(1, 0);
        history.push(1.0, &[1.0], &[0.0]);
        assert!(history.is_empty());
    }
}
