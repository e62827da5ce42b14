//! How good an identified model is, and whether the data can tell.

use costep_core::{Result, StateReader, StateWriter};

use crate::lags::Lags;

/// eps_SI [T (2.92), (2.93)]: the mean over the outputs of |y - y_model| / range(y), with the range of a sliding window. The
/// thesis takes the range of the whole past; a learning phase that oscillates then hides a bad model for ever.
#[derive(Clone, Debug)]
pub struct Quality {
    past: Lags,
    last: f64,
}

impl Quality {
    /// For so many outputs, with the range of the last `window` points.
    pub fn new(outputs: usize, window: usize) -> Self {
        Self { past: Lags::new(outputs, window.max(1)), last: f64::INFINITY }
    }

    /// Takes in the outputs and what the model says they are. Gives eps_SI; infinite while nothing has moved.
    pub fn observe(&mut self, y: &[f64], modelled: &[f64]) -> f64 {
        self.past.push(y);
        let range = |i: usize| {
            let values = (0..self.past.len()).map(|lag| self.past.get(lag)[i]);
            let (least, most) = values.fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(y), b.max(y)));
            most - least
        };
        let (mut sum, mut moving) = (0.0, 0);
        for (i, (y, modelled)) in y.iter().zip(modelled).enumerate() {
            let range = range(i);
            if range > 0.0 {
                sum += (y - modelled).abs() / range;
                moving += 1;
            }
        }
        self.last = if moving > 0 { sum / f64::from(moving) } else { f64::INFINITY };
        self.last
    }

    /// The last eps_SI.
    pub fn value(&self) -> f64 {
        self.last
    }

    /// Writes its memory.
    pub fn save(&self, out: &mut StateWriter) {
        self.past.save(out);
        out.real(self.last);
    }

    /// Reads its memory.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.past.load(from)?;
        self.last = from.real()?;
        Ok(())
    }
}

/// Persistence of excitation: the ratio of the least to the greatest singular value of the inputs of a window, each
/// in units of its range. At zero the data say nothing about some combination of the inputs.
pub fn excitation(singular: &[f64]) -> f64 {
    match (singular.first(), singular.last()) {
        (Some(greatest), Some(least)) if *greatest > 0.0 => least / greatest,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_forgets() {
        let mut quality = Quality::new(1, 3);
        assert_eq!(quality.observe(&[0.0], &[1.0]), f64::INFINITY);
        assert_eq!(quality.observe(&[100.0], &[101.0]), 0.01);
        quality.observe(&[1.0], &[1.0]);
        quality.observe(&[2.0], &[2.0]);
        assert_eq!(quality.observe(&[3.0], &[3.5]), 0.25);
    }

    #[test]
    fn outputs_that_do_not_move_do_not_count() {
        let mut quality = Quality::new(2, 5);
        quality.observe(&[0.0, 7.0], &[0.0, 7.0]);
        assert_eq!(quality.observe(&[2.0, 7.0], &[1.0, 9.0]), 0.5);
    }
}
