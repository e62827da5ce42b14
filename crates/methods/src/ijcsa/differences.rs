//! Interface Jacobians by differences: tries in which one input of every subsystem ends a little higher.

use costep_core::{Code, Error, Layout, Result, StateReader, StateWriter, StepContext, SystemView};
use costep_linalg::Matrix;

use crate::iteration::Trial;

/// Change of an input, as a share of its size.
const CHANGE: f64 = 1e-4;
/// A step that needs more tries than this shows that the Jacobians have become old.
const MOST_TRIES: usize = 4;
/// Subsystems with more inputs would take more tries than a step may have.
const MOST_INPUTS: usize = 64;

/// The tries that Jacobians come from, and when they are made anew.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Unknown of each input; of inputs without one, none.
    unknown_of: Vec<Option<usize>>,
    /// Inputs of the subsystem with the most.
    most: usize,
    at_hand: AtHand,
    /// Those of the last step that was accepted, with their blocks.
    accepted: AtHand,
    accepted_blocks: Vec<Matrix>,
    /// They have just been completed.
    has_changed: bool,
    /// The input, counted in each subsystem, that is changed in the try under way.
    under_way: Option<usize>,
    /// The try that the others differ from: outputs, U, H and R.
    y: Vec<f64>,
    guess: Vec<f64>,
    ends: Vec<f64>,
    residual: Vec<f64>,
    norm: f64,
    scale: Vec<f64>,
    inputs: Vec<usize>,
}

/// Jacobians that are at hand, or not.
#[derive(Clone, Copy, Debug, Default)]
struct AtHand {
    is_known: bool,
    /// Of steps of this length.
    length: f64,
    /// Tries of the step with them.
    tries: usize,
}

impl Differences {
    pub(super) fn new(system: &SystemView<'_>, unknowns: &[usize]) -> Result<Self> {
        let inputs_of = |i: usize| system.layout.input_range(i).len();
        let largest = (0..system.layout.subsystems()).max_by_key(|i| inputs_of(*i));
        let most = largest.map_or(0, inputs_of);
        if let Some(i) = largest.filter(|_| most > MOST_INPUTS) {
            let name = &system.descriptions[i].name;
            let message = format!(
                "Jacobians by differences are for subsystems with at most {MOST_INPUTS} inputs; `{name}` has {most}"
            );
            let hint = "use `iqn-ils`, or `ijcsa` with models: `--models rls`";
            return Err(Error::new(Code::NeedsMissing, message).hint(hint));
        }
        let mut unknown_of = vec![None; system.layout.inputs()];
        unknowns.iter().enumerate().for_each(|(n, j)| unknown_of[*j] = Some(n));
        let values = || vec![0.0; unknowns.len()];
        Ok(Self {
            unknown_of,
            most,
            accepted_blocks: (0..system.layout.subsystems())
                .map(|i| Matrix::zeros(system.layout.output_range(i).len(), inputs_of(i)))
                .collect(),
            y: vec![0.0; system.layout.outputs()],
            guess: values(),
            ends: values(),
            residual: values(),
            scale: values(),
            inputs: unknowns.to_vec(),
            ..Self::default()
        })
    }

    /// A step begins. Jacobians of another length of step, or that did not serve the last one, are made anew; those of a step
    /// that was rejected give way to the ones before, which true tells.
    pub(super) fn begin(&mut self, step: &StepContext, blocks: &mut [Matrix]) -> bool {
        let is_again = step.repetition > 0;
        match is_again {
            true => blocks.iter_mut().zip(&self.accepted_blocks).for_each(|(to, from)| to.copy_from(from)),
            false => self.accepted_blocks.iter_mut().zip(&*blocks).for_each(|(to, from)| to.copy_from(from)),
        }
        match is_again {
            true => self.at_hand = self.accepted,
            false => self.accepted = self.at_hand,
        }
        let AtHand { is_known, length, tries } = self.at_hand;
        let serves = is_known && tries <= MOST_TRIES && step.h == length;
        self.at_hand = AtHand { is_known: serves, length: step.h, tries: 0 };
        (self.under_way, self.has_changed) = (None, false);
        is_again && serves
    }

    /// Takes a try in, and says whether one more is needed for the Jacobians, with `next` as its U.
    pub(super) fn probe(
        &mut self,
        trial: &Trial<'_>,
        y_next: &[f64],
        (layout, blocks): (&Layout, &mut [Matrix]),
        next: &mut [f64],
    ) -> bool {
        self.has_changed = false;
        match self.under_way {
            Some(local) => self.take_column(local, y_next, layout, blocks),
            None if self.at_hand.is_known => {
                self.at_hand.tries += 1;
                return false;
            }
            None => self.keep(trial, y_next),
        }
        let local = self.under_way.map_or(0, |local| local + 1);
        if local >= self.most {
            self.under_way = None;
            (self.at_hand.is_known, self.has_changed) = (true, true);
            return false;
        }
        self.under_way = Some(local);
        next.copy_from_slice(&self.guess);
        for i in 0..layout.subsystems() {
            let input = layout.input_range(i).nth(local);
            if let Some(n) = input.and_then(|j| self.unknown_of[j]) {
                next[n] += self.change(n);
            }
        }
        true
    }

    fn change(&self, n: usize) -> f64 {
        CHANGE * if self.scale[n] > 0.0 { self.scale[n] } else { 1.0 }
    }

    fn keep(&mut self, trial: &Trial<'_>, y_next: &[f64]) {
        self.y.copy_from_slice(y_next);
        self.guess.copy_from_slice(trial.guess);
        self.ends.copy_from_slice(trial.ends);
        self.residual.copy_from_slice(trial.residual);
        self.scale.copy_from_slice(trial.scale);
        self.norm = trial.norm;
    }

    fn take_column(&self, local: usize, y_next: &[f64], layout: &Layout, blocks: &mut [Matrix]) {
        for (i, block) in blocks.iter_mut().enumerate().filter(|(_, block)| local < block.columns()) {
            let unknown = self.unknown_of[layout.input_range(i).start + local];
            for (row, at) in layout.output_range(i).enumerate() {
                block[(row, local)] = unknown.map_or(0.0, |n| (y_next[at] - self.y[at]) / self.change(n));
            }
        }
    }

    /// The try that Newton's step goes on from: the one that the Jacobians are of, if they have just been made.
    pub(super) fn base<'a>(&'a self, last: &Trial<'a>) -> Trial<'a> {
        if !self.has_changed {
            return Trial { ..*last };
        }
        Trial {
            guess: &self.guess,
            ends: &self.ends,
            residual: &self.residual,
            norm: self.norm,
            scale: &self.scale,
            inputs: &self.inputs,
        }
    }

    /// Whether Jacobians have just been completed.
    pub(super) fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Whether there are Jacobians.
    pub(super) fn is_known(&self) -> bool {
        self.at_hand.is_known
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.integer(u64::from(self.at_hand.is_known));
        out.integer(self.at_hand.tries as u64);
        out.real(self.at_hand.length);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let (is_known, tries) = (from.index(2)? == 1, from.index(1 << 16)?);
        self.at_hand = AtHand { is_known, tries, length: from.real()? };
        Ok(())
    }
}
