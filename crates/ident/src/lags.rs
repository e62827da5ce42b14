//! The last values of some signals.

use costep_core::{Code, Error, Result, StateReader, StateWriter};

/// A ring of rows, newest first. Its memory is taken once.
#[derive(Clone, Debug, Default)]
pub struct Lags {
    width: usize,
    depth: usize,
    length: usize,
    newest: usize,
    values: Vec<f64>,
}

impl Lags {
    /// Room for the last `depth` rows of `width` values.
    pub fn new(width: usize, depth: usize) -> Self {
        Self { width, depth, length: 0, newest: 0, values: vec![0.0; width * depth] }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Number of rows it holds.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether it holds as many rows as it can.
    pub fn is_full(&self) -> bool {
        self.length == self.depth
    }

    /// Adds the newest row; the oldest falls out.
    pub fn push(&mut self, row: &[f64]) {
        if self.depth == 0 {
            return;
        }
        self.newest = (self.newest + 1) % self.depth;
        self.length = (self.length + 1).min(self.depth);
        self.values[self.newest * self.width..(self.newest + 1) * self.width].copy_from_slice(row);
    }

    /// Puts other values in the place of the newest row, if there is one.
    pub fn replace(&mut self, row: &[f64]) {
        if self.length > 0 {
            self.values[self.newest * self.width..(self.newest + 1) * self.width].copy_from_slice(row);
        }
    }

    /// The row `lag` before the newest.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn get(&self, lag: usize) -> &[f64] {
        assert!(lag < self.length, "{} rows are kept, asked for {lag}", self.length);
        // A division would be most of the work.
        let slot = if lag <= self.newest { self.newest - lag } else { self.newest + self.depth - lag };
        &self.values[slot * self.width..(slot + 1) * self.width]
    }

    /// Adds the same to every row.
    pub fn shift(&mut self, by: &[f64]) {
        for row in self.values.chunks_exact_mut(self.width.max(1)) {
            row.iter_mut().zip(by).for_each(|(value, by)| *value += by);
        }
    }

    /// Writes it.
    pub fn save(&self, out: &mut StateWriter) {
        out.integer(self.length as u64);
        out.integer(out.ring_start(self.newest) as u64);
        out.ring(&self.values, self.newest * self.width);
    }

    /// Reads it.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.length = from.index(self.depth + 1)?;
        self.newest = from.index(self.depth.max(1))?;
        from.reals(&mut self.values)
    }

    /// Refuses a saved state in which two histories that grow together have not as many rows.
    pub fn check_same_length(&self, other: &Self) -> Result<()> {
        if self.length == other.length {
            return Ok(());
        }
        let message = format!("histories of {} and {} points belong together", self.length, other.length);
        Err(Error::new(Code::CheckpointDamaged, message))
    }
}
