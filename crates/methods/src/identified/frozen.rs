//! The method once it has stopped learning: the law (12) or (10) with models, trust and phase as they are.
//!
//! Points are still taken in, since models look back at them. What else reacts to what signals do is left out, so that a step is an affine
//! function of the past: the phase is not chosen anew, inputs are neither limited nor shaken, and what has been seen to switch is held.

use costep_core::{Signals, StepContext};

use super::Identified;
use super::phases::LearningPhase;
use crate::shared::law::Form;

impl Identified {
    /// Takes in a point and, where they last the whole step, forms the inputs.
    pub(super) fn go_on_frozen(&mut self, step: &StepContext, signals: &Signals<'_>) {
        self.settle_phase();
        let (is_large, at_macro_step) =
            (self.course.phase == LearningPhase::Large, self.clock.macro_step != step.k + 1);
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (u, y) = (&self.u_last[self.layout.input_range(i)], &signals.y[self.layout.output_range(i)]);
            match is_large {
                false => part.fine.push(u, y),
                true if at_macro_step => part.coarse.push(u, y),
                true => {}
            }
        }
        if at_macro_step {
            self.clock.macro_step = step.k + 1;
            self.clock.macro_start = step.t;
            self.outside.look((step.t, self.clock.h), &self.inputs, signals);
            if is_large {
                self.solve(signals);
            }
        }
    }

    /// Phases that pass are over: what was at rest is moved by perturbations, and the way to whole steps is gone to its end.
    fn settle_phase(&mut self) {
        match self.course.phase {
            LearningPhase::Quiet => self.course.phase = LearningPhase::Small,
            LearningPhase::Between(_) => self.course.phase = self.enlarge(),
            LearningPhase::Small | LearningPhase::Large => {}
        }
    }

    /// Inputs that switch stay as they are; those of parts that decide are asked for where they look.
    pub(super) fn hold_switched(&mut self, signals: &Signals<'_>) {
        let form = self.settings.form;
        let over_step = self.outside.over_step(form);
        let outside = |j: usize| over_step[j];
        self.ranges.hold_switched(outside, (signals.coupled, signals.external), &mut self.u);
        if form == Form::Hold {
            self.ranges.ask_ahead(outside, self.law.halves(), &mut self.u);
        }
    }
}
