//! The start with whole steps, for subsystems that cannot divide them.
//!
//! As long as a model has seen fewer points than it has parameters, it tells them all exactly, and what lies between them; about an
//! input in a new direction it only guesses. Such a guess may be right to within the trust it has earned and yet throw a system that a hold already
//! drives away. So the models expect inputs to act by their value over the step, and inputs stay nearer to the coupling signal until every model could have learnt what it needs.

use costep_core::{Layout, Result, StateReader, StateWriter};

use super::checkpoint::MAX_COUNT;

/// How far a start with whole steps has come. By default there is none.
#[derive(Default)]
pub(super) struct WholeStepStart {
    /// Points that the largest model of first order needs.
    needed: u64,
    /// Points at which something has moved.
    seen: u64,
}

impl WholeStepStart {
    pub(super) fn new(layout: &Layout, learns: impl Fn(usize) -> bool) -> Self {
        let parameters = |i: usize| layout.output_range(i).len() + 2 * layout.input_range(i).len() + 1;
        let learning = (0..layout.subsystems()).filter(|i| learns(*i));
        let needed = learning.map(parameters).max().unwrap_or(0);
        Self { needed: needed as u64, seen: 0 }
    }

    /// Takes note of a point at which something had moved, or nothing.
    pub(super) fn note(&mut self, moved: bool) {
        self.seen += u64::from(moved && self.seen < self.needed);
    }

    /// Whether there is a model with fewer points than parameters.
    pub(super) fn is_guessing(&self) -> bool {
        self.seen < self.needed
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.integer(self.seen);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.seen = from.index(MAX_COUNT)? as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_teaches_nothing() {
        let mut start = WholeStepStart { needed: 2, seen: 0 };
        (0..9).for_each(|_| start.note(false));
        start.note(true);
        assert!(start.is_guessing());
        (0..9).for_each(|_| start.note(true));
        assert!(!start.is_guessing() && start.seen == 2);
        assert!(!WholeStepStart::default().is_guessing());
    }
}
