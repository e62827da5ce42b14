//! A moving window of samples as the triangular factor of its rows [u^k .. u^(k+r-1), y^k .. y^(k+r-1)].
//!
//! A new row is rotated in and the oldest rotated out. Taking out costs digits, so a second factor grows beside it from new rows alone; after
//! a window's length it has the same rows, has lost nothing, and takes over.

use costep_core::{Result, StateReader, StateWriter};
use costep_linalg::{Matrix, Triangle};

use crate::lags::Lags;

/// Removing a row that leaves less than this of a direction would leave round-off.
const CUT: f64 = 1e-7;
/// A scale is raised only when it is exceeded by more than this.
const SLACK: f64 = 2.0;

/// The factor of a moving window of rows.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    block_rows: usize,
    length: usize,
    inputs: Lags,
    outputs: Lags,
    /// Greatest value seen of each signal; 0 while there was none.
    input_scale: Vec<f64>,
    output_scale: Vec<f64>,
    /// Rows in `full`.
    rows: usize,
    full: Triangle,
    /// Rows in `young`.
    young_rows: usize,
    young: Triangle,
    row: Vec<f64>,
}

impl Window {
    /// Room for so many samples.
    pub(crate) fn new(inputs: usize, outputs: usize, block_rows: usize, samples: usize) -> Self {
        let size = block_rows * (inputs + outputs);
        Self {
            block_rows,
            length: samples - block_rows + 1,
            inputs: Lags::new(inputs, samples + 1),
            outputs: Lags::new(outputs, samples + 1),
            input_scale: vec![0.0; inputs],
            output_scale: vec![0.0; outputs],
            rows: 0,
            full: Triangle::new(size),
            young_rows: 0,
            young: Triangle::new(size),
            row: vec![0.0; size],
        }
    }

    /// Forgets all samples and scales.
    pub(crate) fn clear(&mut self) {
        self.inputs.clear();
        self.outputs.clear();
        self.input_scale.fill(0.0);
        self.output_scale.fill(0.0);
        (self.rows, self.young_rows) = (0, 0);
        self.full.clear();
        self.young.clear();
    }

    /// R of the rows in the window, in units of the scales.
    pub(crate) fn factor(&self) -> &Matrix {
        self.full.factor()
    }

    /// Number of rows in the window.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Unit of input j.
    pub(crate) fn input_unit(&self, j: usize) -> f64 {
        unit(self.input_scale[j])
    }

    /// Unit of output i.
    pub(crate) fn output_unit(&self, i: usize) -> f64 {
        unit(self.output_scale[i])
    }

    /// Takes in a sample.
    pub(crate) fn observe(&mut self, u: &[f64], y: &[f64]) {
        self.inputs.push(u);
        self.outputs.push(y);
        self.raise_scales(u, y);
        if self.inputs.len() < self.block_rows {
            return;
        }
        self.fill_row(0);
        self.full.append(&self.row);
        self.young.append(&self.row);
        self.rows += 1;
        self.young_rows += 1;
        if self.rows > self.length {
            self.fill_row(self.length);
            // What cannot be taken out safely stays until the young factor takes over.
            if self.full.remove(&self.row, CUT) || self.young_rows == self.length {
                self.rows -= 1;
            } else {
                self.rows = self.length;
            }
        }
        if self.young_rows == self.length {
            std::mem::swap(&mut self.full, &mut self.young);
            self.rows = self.length;
            self.young.clear();
            self.young_rows = 0;
        }
    }

    /// The row whose newest sample lies `lag` samples back.
    fn fill_row(&mut self, lag: usize) {
        let (r, m, n) = (self.block_rows, self.input_scale.len(), self.output_scale.len());
        for block in 0..r {
            let back = lag + r - 1 - block;
            for (j, u) in self.inputs.get(back).iter().enumerate() {
                self.row[block * m + j] = u / unit(self.input_scale[j]);
            }
            for (i, y) in self.outputs.get(back).iter().enumerate() {
                self.row[r * m + block * n + i] = y / unit(self.output_scale[i]);
            }
        }
    }

    fn raise_scales(&mut self, u: &[f64], y: &[f64]) {
        let (r, m, n) = (self.block_rows, u.len(), y.len());
        for (j, u) in u.iter().enumerate() {
            if let Some(factor) = raise(&mut self.input_scale[j], u.abs()) {
                (0..r).for_each(|block| self.scale_column(block * m + j, factor));
            }
        }
        for (i, y) in y.iter().enumerate() {
            if let Some(factor) = raise(&mut self.output_scale[i], y.abs()) {
                (0..r).for_each(|block| self.scale_column(r * m + block * n + i, factor));
            }
        }
    }

    fn scale_column(&mut self, column: usize, factor: f64) {
        self.full.scale_column(column, factor);
        self.young.scale_column(column, factor);
    }

    /// Writes its memory.
    pub(crate) fn save(&self, out: &mut StateWriter) {
        self.inputs.save(out);
        self.outputs.save(out);
        out.reals(&self.input_scale);
        out.reals(&self.output_scale);
        out.integer(self.rows as u64);
        out.integer(self.young_rows as u64);
        out.reals(self.full.factor().data());
        out.reals(self.young.factor().data());
    }

    /// Reads its memory.
    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.inputs.load(from)?;
        self.outputs.load(from)?;
        from.reals(&mut self.input_scale)?;
        from.reals(&mut self.output_scale)?;
        self.rows = from.index(self.length + 1)?;
        self.young_rows = from.index(self.length + 1)?;
        from.reals(self.full.factor_mut().data_mut())?;
        from.reals(self.young.factor_mut().data_mut())
    }
}

/// A signal that has only been zero keeps its unit.
fn unit(scale: f64) -> f64 {
    if scale > 0.0 { scale } else { 1.0 }
}

/// Raises a scale. Gives what columns in the old unit have to be multiplied by.
fn raise(scale: &mut f64, value: f64) -> Option<f64> {
    if !(value > SLACK * *scale && value.is_finite()) {
        return None;
    }
    let factor = unit(*scale) / value;
    *scale = value;
    Some(factor)
}
