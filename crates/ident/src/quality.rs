//! How good an identified model is, and whether the data can tell.

use costep_core::{Result, StateReader, StateWriter};

/// eps_SI [T (2.92), (2.93)]: the mean over the outputs of |y - y_model| / range(y), with the range of a sliding window. The
/// thesis takes the range of the whole past; a learning phase that oscillates then hides a bad model for ever.
#[derive(Clone, Debug)]
pub struct Quality {
    /// Points of a block. The range is that of the present and the last block: one to two blocks long.
    block: u64,
    count: u64,
    /// (least, greatest) per output, of the present block and of the last one.
    present: Extremes,
    last_block: Extremes,
    value: f64,
}

#[derive(Clone, Debug)]
struct Extremes {
    least: Vec<f64>,
    greatest: Vec<f64>,
}

impl Extremes {
    fn new(outputs: usize) -> Self {
        Self { least: vec![f64::MAX; outputs], greatest: vec![f64::MIN; outputs] }
    }

    fn clear(&mut self) {
        self.least.fill(f64::MAX);
        self.greatest.fill(f64::MIN);
    }

    fn take(&mut self, y: &[f64]) {
        self.least.iter_mut().zip(y).for_each(|(least, y)| *least = least.min(*y));
        self.greatest.iter_mut().zip(y).for_each(|(greatest, y)| *greatest = greatest.max(*y));
    }
}

impl Quality {
    /// For so many outputs, with the range of the last `window` points or up to twice as many.
    pub fn new(outputs: usize, window: usize) -> Self {
        Self {
            block: window.max(1) as u64,
            count: 0,
            present: Extremes::new(outputs),
            last_block: Extremes::new(outputs),
            value: f64::INFINITY,
        }
    }

    /// Forgets what it has seen.
    pub fn reset(&mut self) {
        self.present.clear();
        self.last_block.clear();
        (self.count, self.value) = (0, f64::INFINITY);
    }

    /// What an earlier run has found, until something is seen.
    pub fn assume(&mut self, eps_si: f64) {
        self.value = eps_si;
    }

    /// Takes in outputs that no model speaks of: their range counts.
    pub fn note(&mut self, y: &[f64]) {
        if self.count == self.block {
            std::mem::swap(&mut self.present, &mut self.last_block);
            self.present.clear();
            self.count = 0;
        }
        self.count += 1;
        self.present.take(y);
    }

    /// Takes in the outputs and what the model says they are. Gives eps_SI; infinite while nothing has moved.
    pub fn observe(&mut self, y: &[f64], modelled: &[f64]) -> f64 {
        self.note(y);
        let (mut sum, mut moving) = (0.0, 0);
        for (i, (y, modelled)) in y.iter().zip(modelled).enumerate() {
            let greatest = self.present.greatest[i].max(self.last_block.greatest[i]);
            let range = greatest - self.present.least[i].min(self.last_block.least[i]);
            if range > 0.0 {
                sum += (y - modelled).abs() / range;
                moving += 1;
            }
        }
        self.value = if moving > 0 { sum / f64::from(moving) } else { f64::INFINITY };
        self.value
    }

    /// The last eps_SI.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Writes its memory.
    pub fn save(&self, out: &mut StateWriter) {
        out.integer(self.count);
        for extremes in [&self.present, &self.last_block] {
            out.reals(&extremes.least);
            out.reals(&extremes.greatest);
        }
        out.real(self.value);
    }

    /// Reads its memory.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.count = from.index(self.block as usize + 1)? as u64;
        for extremes in [&mut self.present, &mut self.last_block] {
            from.reals(&mut extremes.least)?;
            from.reals(&mut extremes.greatest)?;
        }
        self.value = from.real()?;
        Ok(())
    }
}

/// Persistence of excitation: the ratio of the least to the greatest singular value of the inputs of a window, each
/// in units of its range. At zero the data say nothing about some combination of the inputs.
pub fn excitation(singular: &[f64]) -> f64 {
    let greatest = singular.iter().copied().fold(0.0, f64::max);
    let least = singular.iter().copied().fold(f64::INFINITY, f64::min);
    if greatest > 0.0 { least / greatest } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_forgets() {
        let mut quality = Quality::new(1, 2);
        assert_eq!(quality.observe(&[0.0], &[1.0]), f64::INFINITY);
        assert_eq!(quality.observe(&[100.0], &[101.0]), 0.01);
        for y in [1.0, 2.0, 3.0, 4.0] {
            quality.observe(&[y], &[y]);
        }
        assert_eq!(quality.observe(&[5.0], &[5.5]), 0.25);
    }

    #[test]
    fn outputs_that_do_not_move_do_not_count() {
        let mut quality = Quality::new(2, 5);
        quality.observe(&[0.0, 7.0], &[0.0, 7.0]);
        assert_eq!(quality.observe(&[2.0, 7.0], &[1.0, 9.0]), 0.5);
    }
}
