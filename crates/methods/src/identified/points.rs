//! What happens at a point: the models learn from the last step, and the inputs of the next follow from them.

use costep_core::{Signals, StepContext};

use super::outside::Outside;
use super::phases::LearningPhase;
use super::{Identified, SubsystemLearner};
use crate::shared::law::{Form, Start};

/// What the law starts from.
fn start_of_step<'a>(u_last: &'a [f64], outside: &'a Outside, signals: &'a Signals<'_>) -> Start<'a> {
    Start {
        y: signals.y,
        coupled: signals.coupled,
        u: u_last,
        external: outside.ends(),
        external_now: signals.external,
        held: outside.held(),
        coupling: signals.coupling,
    }
}

impl Identified {
    /// Learns from the last step, once per point; at a macro step chooses the phase and, where they last the whole step, the inputs.
    pub(super) fn arrive(&mut self, step: &StepContext, signals: &Signals<'_>) {
        if self.clock.arrived == step.t {
            if self.ladder.is_used && self.clock.h != step.h {
                // Done again, shorter.
                self.form_inputs_of_any_length(step, signals);
            }
            return;
        }
        self.clock.arrived = step.t;
        if self.settings.knows_feedthrough {
            self.take_feedthrough(signals);
        }
        signals.inputs.evaluate(self.clock.last_length, &mut self.u_last);
        self.begin.go_on(&self.u_last);
        if self.course.is_frozen {
            return self.go_on_frozen(step, signals);
        }
        let (is_first, at_macro_step) = (self.clock.macro_step == 0, self.clock.macro_step != step.k + 1);
        self.observe(at_macro_step, signals);
        if at_macro_step {
            self.clock.macro_step = step.k + 1;
            self.clock.macro_start = step.t;
            if is_first {
                self.outside.begin(step.t);
            }
            if self.ladder.is_used {
                self.learn_on_ladder(step.t, signals);
                return self.form_inputs_of_any_length(step, signals);
            }
            self.outside.look((step.t, self.clock.h), &self.inputs, signals);
            self.begin.observe(signals, self.outside.ends().0);
            self.choose_phase(step.k, signals);
            match self.course.phase {
                LearningPhase::Quiet => self.u.copy_from_slice(&self.u_last),
                LearningPhase::Small => {}
                LearningPhase::Between(_) | LearningPhase::Large => self.solve(signals),
            }
        }
    }

    fn form_inputs_of_any_length(&mut self, step: &StepContext, signals: &Signals<'_>) {
        self.clock.h = step.h;
        self.outside.look((step.t, step.h), &self.inputs, signals);
        self.take_models_for(step.h, signals);
        self.solve(signals);
    }

    fn observe(&mut self, at_macro_step: bool, signals: &Signals<'_>) {
        let is_first = self.clock.macro_step == 0;
        let was_part = !self.ladder.is_used && self.clock.last_length < 0.75 * self.clock.h;
        let is_large = self.course.phase == LearningPhase::Large;
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (u, y) = (&self.u_last[self.layout.input_range(i)], &signals.y[self.layout.output_range(i)]);
            if is_first {
                part.reference.start(u, y);
                if let Some((fine, coarse)) = &part.loaded {
                    part.fine.begin(&part.reference, fine);
                    part.coarse.begin(&part.reference, coarse);
                }
            }
            part.reference.note(u, y);
            if is_large {
                if !at_macro_step {
                    continue;
                }
                if self.ladder.is_used && !self.ladder.teaches() {
                    part.coarse.push(u, y);
                } else {
                    part.coarse.observe(&part.reference, u, y);
                }
                continue;
            }
            if was_part || is_first {
                part.fine.observe(&part.reference, u, y);
            } else {
                // After a whole step the points are too far apart for the small-step models.
                part.fine.restart();
                part.fine.push(u, y);
                part.record.clear();
            }
            part.record.push(u, y);
            if at_macro_step {
                part.coarse.push(u, y);
            }
        }
        self.ranges.observe(signals.coupled, signals.external);
        if is_first || was_part {
            self.guards.fine.observe(signals.coupled);
        }
        if at_macro_step {
            self.guards.coarse.observe(signals.coupled);
            self.course.alarmed = self.alarm.rings(signals.y);
            self.whole_steps.note(self.parts.iter().any(|part| part.coarse.rho().is_some()));
        }
        self.course.trusted =
            if self.all_are_trusted(|part| &part.fine) { self.course.trusted + 1 } else { 0 };
    }

    /// Begins ramps anew where signals are known, and those of a whole step where they surprise.
    fn begin_ramps(&mut self) {
        let is_large = self.course.phase == LearningPhase::Large;
        let mut is_anew = self.outside.begin_known(self.begin.inputs_mut());
        if is_large && !self.ladder.is_used && !self.course.is_frozen {
            is_anew |= self.begin.look_for_surprises(&self.inputs);
        }
        if !is_anew {
            return;
        }
        for (i, part) in self.parts.iter_mut().enumerate() {
            let bank = if is_large { &mut part.coarse } else { &mut part.fine };
            bank.begin_at(&self.begin.inputs()[self.layout.input_range(i)]);
        }
    }

    /// u^(k+1) from all models, over the step that `outside` has looked at.
    pub(super) fn solve(&mut self, signals: &Signals<'_>) {
        if self.settings.form == Form::Ramp {
            self.begin_ramps();
        }
        self.solve_law(signals);
        if self.course.is_frozen {
            self.hold_switched(signals);
        } else {
            self.limit(signals);
        }
        self.outside.restore_known(self.settings.form, &mut self.u);
    }

    fn solve_law(&mut self, signals: &Signals<'_>) {
        for part in &mut self.parts {
            let SubsystemLearner { reference, fine, coarse, record, affine, .. } = part;
            match self.course.phase {
                LearningPhase::Large => coarse.affine(reference, affine),
                LearningPhase::Between(_) => record.macro_affine(self.settings.form, reference, fine, affine),
                LearningPhase::Small | LearningPhase::Quiet => fine.affine(reference, affine),
            }
        }
        if !self.ladder.is_on_rung() {
            self.shorten_models(signals);
        }
        let start = start_of_step(&self.u_last, &self.outside, signals);
        let parts = &self.parts;
        self.law.solve(self.settings.form, &self.inputs, &start, |i| &parts[i].affine, &mut self.u);
    }

    /// Keeps inputs near the signals and within what these have been, and shakes those of small steps.
    fn limit(&mut self, signals: &Signals<'_>) {
        let guard =
            if self.course.phase == LearningPhase::Small { &self.guards.fine } else { &self.guards.coarse };
        let limits = self.settings.tuning.limits;
        let changes = if self.whole_steps.is_guessing() { limits.narrow } else { limits.wide };
        let start = start_of_step(&self.u_last, &self.outside, signals);
        guard.clip(changes, &self.inputs, &start, &mut self.u);
        if self.course.phase == LearningPhase::Small && self.settings.form == Form::Hold {
            self.excitation.shake(signals.coupled, &mut self.u);
        }
        let over_step = self.outside.over_step(self.settings.form);
        let outside = |j: usize| over_step[j];
        self.ranges.keep(outside, &mut self.u);
        if self.settings.form == Form::Hold {
            self.ranges.ask_ahead(outside, self.law.halves(), &mut self.u);
            self.ranges.keep(outside, &mut self.u);
        }
    }

    /// The fall-back of all subsystems goes on with y - D u from now on.
    pub(super) fn take_feedthrough(&mut self, signals: &Signals<'_>) {
        for (i, part) in self.parts.iter_mut().enumerate() {
            if let Some(model) = signals.models.model(i) {
                part.fine.set_feedthrough(&model.d);
                part.coarse.set_feedthrough(&model.d);
            }
        }
    }

    /// Writes the inputs over a step, or over a part of one whose inputs last the whole step.
    pub(super) fn fill(&self, step: &StepContext, signals: &mut Signals<'_>) {
        if self.settings.form == Form::Hold {
            self.inputs.copy(&self.u, signals.inputs.coefficients_mut(0));
            return;
        }
        // Where a ramp lasts for several parts, it goes on from the input at the start of this part.
        let left = if self.course.phase == LearningPhase::Small {
            step.h
        } else {
            self.clock.h - (step.t - self.clock.macro_start)
        };
        let begin = self.begin.inputs();
        for j in self.inputs.iter() {
            signals.inputs.coefficients_mut(0)[j] = begin[j];
            signals.inputs.coefficients_mut(1)[j] = (self.u[j] - begin[j]) / left;
        }
    }
}
