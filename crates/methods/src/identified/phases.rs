//! From small steps to large ones: when, and with what models.

use costep_core::Signals;

use super::trial::Subject;
use super::{Identified, Part};

/// Trust that ends the start, and for how many points in a row.
const TRUSTED: (f64, u64) = (0.9, 3);
/// The start is given up after so many steps, and this share of all steps so far.
const PATIENCE: (f64, f64) = (60.0, 0.1);
/// A whole step that was found unstable is tried again after so many small ones, or a quarter of all so far.
const NEXT_TRIAL: u64 = 16;
/// That waiting is doubled with every return to small steps, up to so many times.
const MOST_DOUBLINGS: u64 = 20;
/// Alarms of large steps that end them, whatever the models say.
const MOST_ALARMS: u64 = 2;
/// Steps under inputs from rolled models: as many as the past that the large-step models look at.
pub(super) const TRANSITION: u64 = 2;

/// What the run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Quiet,
    Small,
    /// With the number of steps still to do.
    Between(u64),
    Large,
}

impl Identified {
    /// Whether all that move in loops are trusted, and something does: at rest there is nothing to be trusted for.
    pub(super) fn all_are_trusted(&self) -> bool {
        let mut moving =
            self.parts.iter().filter(|part| part.in_loop && part.fine.rho().is_some()).peekable();
        moving.peek().is_some() && moving.all(|part| part.fine.trust() > TRUSTED.0)
    }

    pub(super) fn choose_phase(&mut self, k: u64, signals: &Signals<'_>) {
        self.phase = match self.phase {
            Phase::Large => self.go_on_large(signals),
            Phase::Between(left) if left > 1 => Phase::Between(left - 1),
            Phase::Between(_) => self.enlarge(),
            Phase::Quiet | Phase::Small => self.go_on_small(k, signals),
        };
    }

    fn go_on_small(&mut self, k: u64, signals: &Signals<'_>) -> Phase {
        if k > 0 && self.is_quiet(signals) {
            return Phase::Quiet;
        }
        if self.small_steps >= self.next_trial && self.is_ready() {
            if !self.runs_away(signals) {
                return Phase::Between(TRANSITION);
            }
            self.wait();
        }
        // Who gives up has not been found unstable at least.
        if self.next_trial == 0 && self.small_steps as f64 > PATIENCE.0 + PATIENCE.1 * k as f64 {
            return self.give_up(signals);
        }
        self.small_steps += 1;
        Phase::Small
    }

    /// A whole step that was found unstable is not tried again soon, and the later the more often the run had to come back from it.
    fn wait(&mut self) {
        let steps = (self.small_steps / 4).max(NEXT_TRIAL);
        self.next_trial = self.small_steps.saturating_add(steps << self.returns.min(MOST_DOUBLINGS));
    }

    /// Large steps, unless all that changes changes as never before and the coupled models run away; or it goes on like that.
    fn go_on_large(&mut self, signals: &Signals<'_>) -> Phase {
        if !(self.can_be_small && self.alarmed) {
            return Phase::Large;
        }
        self.alarms += 1;
        if self.alarms < MOST_ALARMS && !self.is_unstable(signals) {
            return Phase::Large;
        }
        self.come_back(signals);
        Phase::Small
    }

    /// From large steps to small ones: what was learnt with small ones still holds, but not the points.
    fn come_back(&mut self, signals: &Signals<'_>) {
        self.returns += 1;
        self.wait();
        (self.alarms, self.trusted) = (0, 0);
        self.small_steps += 1;
        self.fine_guard.clear();
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

    /// Whether the large-step models, coupled, run away.
    fn is_unstable(&mut self, signals: &Signals<'_>) -> bool {
        let Self { form, inputs, layout, outside, law, parts, trial, .. } = self;
        trial.runs_away(&Subject { form: *form, inputs, layout, outside }, law, parts, signals)
    }

    /// Large-step models from small-step ones.
    fn teach(&mut self) {
        for part in &mut self.parts {
            let Part { reference, fine, coarse, record, .. } = part;
            record.teach(self.form, reference, (fine, coarse), self.forgetting);
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
        self.trusted >= TRUSTED.1
            && self.parts.iter_mut().filter(|part| part.in_loop && part.fine.rho().is_some()).all(|part| {
                let Part { reference, fine, record, .. } = part;
                record.is_reproduced(reference, fine)
            })
    }

    /// From small-step to large-step models. The last points were reached under inputs that lasted the whole step: they
    /// stay.
    fn enlarge(&mut self) -> Phase {
        self.teach();
        Phase::Large
    }

    /// Large steps with nothing learnt: trust decides.
    fn give_up(&mut self, signals: &Signals<'_>) -> Phase {
        for (i, part) in self.parts.iter_mut().enumerate() {
            part.coarse.reset();
            part.coarse
                .push(&self.u_last[self.layout.input_range(i)], &signals.y[self.layout.output_range(i)]);
        }
        Phase::Large
    }
}
