//! How much of the response over a step comes at once.
//!
//! Over a step of length h the gain is S(h) = D + h B + ..., and who has models of a whole step and of a part of it knows D: many
//! FMUs do not say whether they have direct feedthrough, and a response that only looks like it costs held inputs their second order.

use costep_core::{Result, StateReader, StateWriter};
use costep_ident::Bank;

/// D / S for steps in parts and for whole ones, row by row; 1 as long as nothing is known.
pub(super) struct DirectShares {
    inputs: usize,
    /// Whether direct feedthrough is assumed, because nobody has said anything about it.
    is_assumed: bool,
    small: Vec<f64>,
    large: Vec<f64>,
}

impl DirectShares {
    pub(super) fn new(inputs: usize, outputs: usize, is_assumed: bool) -> Self {
        Self { inputs, is_assumed, small: vec![1.0; inputs * outputs], large: vec![1.0; inputs * outputs] }
    }

    /// Those for small steps or for large ones.
    pub(super) fn of(&self, is_small: bool) -> &[f64] {
        if is_small { &self.small } else { &self.large }
    }

    /// D at the length zero, from models of a step and of one of so many parts of it. In a closed loop a position and its velocity
    /// go together: where there is direct feedthrough, S as a whole is known better than D.
    pub(super) fn compare(&mut self, parts: f64, fine: &Bank, coarse: &Bank) {
        for at in (0..self.small.len()).filter(|_| self.is_assumed) {
            let (i, j) = (at / self.inputs, at % self.inputs);
            let (small, large) = (fine.gain(i, j), coarse.gain(i, j));
            let direct = (parts * small - large) / (parts - 1.0);
            self.small[at] = share(direct, small);
            self.large[at] = share(direct, large);
        }
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.reals(&self.small);
        out.reals(&self.large);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.small)?;
        from.reals(&mut self.large)
    }
}

fn share(direct: f64, gain: f64) -> f64 {
    let share = direct / gain;
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 }
}
