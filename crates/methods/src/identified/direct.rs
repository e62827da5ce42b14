//! Which outputs respond at once.
//!
//! Over a step of length h the gain is S(h) = D + h B + ..., and who has models of a whole step and of a part of it knows whether there
//! is a D. Many FMUs do not say whether they have direct feedthrough, or say so without having any, and a response that only looks like
//! it costs held inputs their second order. Where there is some, S stands for it: in a closed loop a position and its velocity go
//! together, and S as a whole is known better than D.

use costep_core::{Result, StateReader, StateWriter};
use costep_ident::Bank;

/// An output whose D is less than this share of its S, over the ranges of all inputs, has no direct feedthrough.
const NOTHING: f64 = 0.05;

/// 1 for each gain of an output that responds at once, 0 for the others, row by row; 1 as long as nothing is known.
pub(super) struct DirectShares {
    inputs: usize,
    shares: Vec<f64>,
}

impl DirectShares {
    pub(super) fn new(inputs: usize, outputs: usize) -> Self {
        Self { inputs, shares: vec![1.0; inputs * outputs] }
    }

    /// The shares.
    pub(super) fn all(&self) -> &[f64] {
        &self.shares
    }

    /// Looks at D at the length zero, from models of a step and of one of so many parts of it.
    pub(super) fn compare(&mut self, parts: f64, (fine, coarse): (&Bank, &Bank), ranges: &[f64]) {
        for (i, row) in self.shares.chunks_exact_mut(self.inputs.max(1)).enumerate() {
            let (mut at_once, mut whole) = (0.0, 0.0);
            for (j, range) in ranges.iter().enumerate() {
                let (small, large) = (fine.gain(i, j), coarse.gain(i, j));
                at_once += ((parts * small - large) / (parts - 1.0) * range).abs();
                whole += (large * range).abs();
            }
            row.fill(if at_once < NOTHING * whole { 0.0 } else { 1.0 });
        }
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.reals(&self.shares);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.shares)
    }
}
