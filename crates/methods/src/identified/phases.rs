//! From small steps to large ones: when, and with what models.

use costep_core::Signals;
use costep_ident::Bank;

use super::trial::Subject;
use super::tuning::TrialTuning;
use super::{Identified, SubsystemLearner, direct, memory};
use crate::shared::law::Form;

/// The waiting for a trial is doubled with every further return to small steps, up to so many times: beyond, no run is that long.
const MOST_DOUBLINGS: u64 = 20;

/// What the run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LearningPhase {
    Quiet,
    Small,
    /// With the number of steps still to do.
    Between(u64),
    Large,
}

/// How the run has come to what it is doing.
pub(super) struct Course {
    pub(super) phase: LearningPhase,
    /// Whether macro steps can be divided at all.
    can_be_small: bool,
    /// Points in a row at which all were trusted.
    pub(super) trusted: u64,
    /// Macro steps in parts so far.
    pub(super) small_steps: u64,
    /// While the whole step has been found unstable: the number of small steps at which it is tried again.
    pub(super) next_trial: u64,
    /// Whether outputs have changed as never before over the last macro step.
    pub(super) alarmed: bool,
    /// How often that was so since the steps became large.
    pub(super) alarms: u64,
    /// How often the run has come back from large steps to small ones.
    pub(super) returns: u64,
    /// Whether what was learnt stays as it is (`frozen.rs`).
    pub(super) is_frozen: bool,
}

impl Course {
    /// Before the first step, which is in parts or not.
    pub(super) fn new(is_small: bool) -> Self {
        Self {
            phase: if is_small { LearningPhase::Small } else { LearningPhase::Large },
            can_be_small: is_small,
            trusted: 0,
            small_steps: 0,
            next_trial: 0,
            alarmed: false,
            alarms: 0,
            returns: 0,
            is_frozen: false,
        }
    }

    /// A whole step that was found unstable is not tried again soon, and the later the more often the run had to come back from it.
    fn wait(&mut self, tuning: &TrialTuning) {
        let steps = (self.small_steps / tuning.wait_part as u64).max(tuning.wait as u64);
        self.next_trial =
            self.small_steps.saturating_add(steps << self.returns.saturating_sub(1).min(MOST_DOUBLINGS));
    }
}

impl Identified {
    /// Whether all that move in loops are trusted, and something does: at rest there is nothing to be trusted for.
    pub(super) fn all_are_trusted(&self, bank: impl Fn(&SubsystemLearner) -> &Bank) -> bool {
        let moves = |part: &&SubsystemLearner| part.in_loop && bank(part).rho().is_some();
        let mut moving = self.parts.iter().filter(moves).map(&bank).peekable();
        moving.peek().is_some() && moving.all(|bank| bank.trust() > self.settings.tuning.start.trusted)
    }

    pub(super) fn choose_phase(&mut self, k: u64, signals: &Signals<'_>) {
        self.course.phase = match self.course.phase {
            LearningPhase::Large => self.go_on_large(signals),
            LearningPhase::Between(left) if left > 1 => LearningPhase::Between(left - 1),
            LearningPhase::Between(_) => self.enlarge(),
            LearningPhase::Quiet | LearningPhase::Small => self.go_on_small(k, signals),
        };
    }

    fn go_on_small(&mut self, k: u64, signals: &Signals<'_>) -> LearningPhase {
        if k > 0 && self.is_quiet(signals) {
            return LearningPhase::Quiet;
        }
        let start = self.settings.tuning.start;
        if self.course.small_steps >= self.course.next_trial && self.is_ready() {
            if !self.runs_away(signals) {
                return LearningPhase::Between(start.transition as u64);
            }
            self.course.wait(&self.settings.tuning.trial);
        }
        // Who gives up has not been found unstable at least.
        let patience = match self.settings.form {
            Form::Hold => start.patience_of_hold,
            Form::Ramp => start.patience_of_ramp,
        };
        let patience = patience as f64 + start.patience_share * k as f64;
        if self.course.next_trial == 0 && self.course.small_steps as f64 > patience {
            return self.give_up(signals);
        }
        self.course.small_steps += 1;
        LearningPhase::Small
    }

    /// Large steps, unless all that changes changes as never before and the coupled models diverge; or it goes on like that and
    /// they are not to be trusted.
    fn go_on_large(&mut self, signals: &Signals<'_>) -> LearningPhase {
        if !(self.course.can_be_small && self.course.alarmed) {
            return LearningPhase::Large;
        }
        self.course.alarms += 1;
        let is_patient = self.course.alarms < self.settings.tuning.alarm.most as u64;
        if (is_patient || self.all_are_trusted(|part| &part.coarse)) && !self.is_unstable(signals) {
            return LearningPhase::Large;
        }
        self.come_back(signals);
        LearningPhase::Small
    }

    /// From large steps to small ones: what was learnt with small ones still holds, but not the points.
    fn come_back(&mut self, signals: &Signals<'_>) {
        self.course.returns += 1;
        self.course.wait(&self.settings.tuning.trial);
        (self.course.alarms, self.course.trusted) = (0, 0);
        self.course.small_steps += 1;
        self.guards.fine.clear();
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (u, y) = (&self.u_last[self.layout.input_range(i)], &signals.y[self.layout.output_range(i)]);
            part.fine.restart();
            part.fine.push(u, y);
            part.record.clear();
            part.record.push(u, y);
        }
    }

    /// Whether the whole step would be unstable, by all that is known from small steps.
    fn runs_away(&mut self, signals: &Signals<'_>) -> bool {
        self.teach();
        self.is_unstable(signals)
    }

    /// Whether the large-step models, coupled, diverge.
    fn is_unstable(&mut self, signals: &Signals<'_>) -> bool {
        let Self { settings, inputs, layout, outside, law, parts, trial, .. } = self;
        trial.runs_away(&Subject { form: settings.form, inputs, layout, outside }, law, parts, signals)
    }

    /// Large-step models from small-step ones.
    fn teach(&mut self) {
        for (i, part) in self.parts.iter_mut().enumerate().filter(|(_, part)| part.fine.learns()) {
            let SubsystemLearner { reference, fine, coarse, record, affine, .. } = part;
            record.teach(self.settings.form, reference, (fine, coarse));
            let (parts, ranges) = (record.parts() as f64, record.input_ranges());
            direct::find(parts, (fine, coarse), ranges, &mut affine.direct);
            for (port, j) in self.layout.input_range(i).enumerate() {
                self.outside
                    .act_by_integral(j, direct::acts_by_integral(parts, (fine, coarse), ranges, port));
            }
            let is_whole = self.layout.input_range(i).all(|j| self.inputs.contains(j));
            let answers = self.law.follows_in_all_outputs(i) || self.ranges.decides(i);
            let forgets =
                is_whole && answers && (memory::is_absent_from(coarse, ranges) || record.shows_no_memory());
            self.law.look_at_end(i, forgets);
        }
    }

    /// Whether neither inputs nor outputs are going to move, as far as one can see.
    fn is_quiet(&self, signals: &Signals<'_>) -> bool {
        self.inputs.iter().all(|j| self.outside.rests(j, signals.external[j]))
            && self.parts.iter().enumerate().all(|(i, part)| {
                let (inputs, y) = (self.layout.input_range(i), &part.coarse.past().y);
                let z = &signals.coupled[inputs.clone()];
                y.len() == 2 && !part.reference.has_moved((z, &self.u_last[inputs]), (y.get(0), y.get(1)))
            })
    }

    /// Whether the small-step models are good enough for macro steps.
    fn is_ready(&mut self) -> bool {
        self.course.trusted >= self.settings.tuning.start.trusted_points as u64
            && self.parts.iter_mut().filter(|part| part.in_loop && part.fine.rho().is_some()).all(|part| {
                let SubsystemLearner { reference, fine, record, .. } = part;
                record.is_reproduced(reference, fine)
            })
    }

    /// From small-step to large-step models. The last points were reached under inputs that lasted the whole step: they
    /// stay.
    pub(super) fn enlarge(&mut self) -> LearningPhase {
        self.teach();
        LearningPhase::Large
    }

    /// Large steps with nothing learnt: trust decides.
    fn give_up(&mut self, signals: &Signals<'_>) -> LearningPhase {
        for (i, part) in self.parts.iter_mut().enumerate() {
            self.law.look_at_end(i, false);
            part.coarse.reset();
            part.coarse
                .push(&self.u_last[self.layout.input_range(i)], &signals.y[self.layout.output_range(i)]);
        }
        LearningPhase::Large
    }
}
