//! Where ramps over whole steps begin.
//!
//! A ramp goes on from where the last one ended, u^k, which was told before the step. What it missed there is missed at the beginning of the next step as
//! well. After a surprise, such as a contact, a ramp begins as far on the other side of the coupling signal, z + (z - u^k), which pays back what the last one
//! lacked on average. It does not always: in a stiff loop the signal answers to u^k by more than u^k was wrong, and inputs that begin at z or beyond it make
//! errors grow (radius 1.087 instead of 0.991: `dual-mass` with ck = 3e3, dk = 1e5, 1 ms).

use costep_core::{InputSet, Result, Signals, StateReader, StateWriter};

/// A surprise is a signal that lies farther from its input than by this share of its change over the step. With 0.3 and with 1 fewer cases of the
/// corpus of `trust` gain.
const SURPRISE: f64 = 0.5;

/// The coupling signals at both ends of the last whole step, and the beginning of the next step or part of one.
#[derive(Default)]
pub(super) struct Begin {
    z: Vec<f64>,
    z_last: Vec<f64>,
    u: Vec<f64>,
}

impl Begin {
    pub(super) fn new(inputs: usize) -> Self {
        Self { z: vec![0.0; inputs], z_last: vec![0.0; inputs], u: vec![0.0; inputs] }
    }

    /// Takes note of the signals at a point, with what comes from outside as inputs get it.
    pub(super) fn observe(&mut self, signals: &Signals<'_>, outside: &[f64]) {
        std::mem::swap(&mut self.z, &mut self.z_last);
        for (j, z) in self.z.iter_mut().enumerate() {
            *z = signals.coupled[j] - signals.external[j] + outside[j];
        }
    }

    /// From the inputs at the end of the last step, or of the last part of one that was rejected as a whole.
    pub(super) fn go_on(&mut self, u_last: &[f64]) {
        self.u.copy_from_slice(u_last);
    }

    /// Beyond the signals where they surprise. Whether any does.
    pub(super) fn look_for_surprises(&mut self, inputs: &InputSet) -> bool {
        let mut any = false;
        for j in inputs.iter() {
            let (z, u) = (self.z[j], &mut self.u[j]);
            if (z - *u).abs() > SURPRISE * (z - self.z_last[j]).abs() {
                (*u, any) = (2.0 * z - *u, true);
            }
        }
        any
    }

    /// The inputs at the beginning of the step.
    pub(super) fn inputs(&self) -> &[f64] {
        &self.u
    }

    /// The same, to be begun anew.
    pub(super) fn inputs_mut(&mut self) -> &mut [f64] {
        &mut self.u
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.reals(&self.z);
        out.reals(&self.u);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.z)?;
        from.reals(&mut self.u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_well_goes_on_and_a_surprise_begins_anew() {
        let mut begin = Begin::new(3);
        (begin.z_last, begin.z) = (vec![0.0, 0.0, 0.0], vec![1.0, 1.0, 1.0]);
        begin.go_on(&[0.6, 0.4, 7.0]);
        assert!(begin.look_for_surprises(&InputSet::Some(vec![0, 1])));
        assert_eq!(begin.inputs(), [0.6, 1.6, 7.0], "of a signal of another group nothing is known");
        assert!(!begin.look_for_surprises(&InputSet::Some(vec![0])));
    }
}
