//! Which outputs respond at once.
//!
//! Over a step of length h the gain is S(h) = D + h B + ..., and who has models of a whole step and of a part of it knows whether there
//! is a D. Many FMUs do not say whether they have direct feedthrough, or say so without having any, and a response that only looks like
//! it costs held inputs their second order. Where there is some, S stands for it: in a closed loop a position and its velocity go
//! together, and S as a whole is known better than D.

use costep_ident::Bank;

/// An output whose D is less than this share of its S, over the ranges of all inputs, has no direct feedthrough. With a tenth
/// an oscillator whose parts step one after the other loses its order of convergence.
const NOTHING: f64 = 0.05;

/// Looks at D at the length zero, from models of a step and of one of so many parts of it: 1 for each gain of an output that responds at
/// once, 0 for the others, row by row.
pub(super) fn find(parts: f64, (fine, coarse): (&Bank, &Bank), ranges: &[f64], direct: &mut [f64]) {
    for (i, row) in direct.chunks_exact_mut(ranges.len().max(1)).enumerate() {
        let (mut at_once, mut whole) = (0.0, 0.0);
        for (j, range) in ranges.iter().enumerate() {
            let (small, large) = (fine.gain(i, j), coarse.gain(i, j));
            at_once += ((parts * small - large) / (parts - 1.0) * range).abs();
            whole += (large * range).abs();
        }
        row.fill(if at_once < NOTHING * whole { 0.0 } else { 1.0 });
    }
}

/// Whether input j acts by its integral over a step alone, from the same models: every output responds in proportion to the length of the step, or
/// later. Where one responds sooner, it counts when in the step the input acts.
pub(super) fn acts_by_integral(parts: f64, (fine, coarse): (&Bank, &Bank), ranges: &[f64], j: usize) -> bool {
    (0..coarse.weights().len()).all(|i| {
        let response = |j: usize| coarse.gain(i, j) * ranges[j];
        let whole: f64 = (0..ranges.len()).map(|j| response(j).abs()).sum();
        let (small, large) = (fine.gain(i, j) * ranges[j], response(j));
        let at_once = (parts * small - large) / (parts - 1.0) * large.signum();
        at_once < NOTHING * whole
    })
}
