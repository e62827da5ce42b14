//! Steps of varying length: models for each of some lengths, every one twice as long as the one before.
//!
//! What is learnt of steps of one length says nothing about steps of another. So each length has a bank of its own, kept while others are
//! in use. Two steps of one length are one of the next, whose bank learns from them too (`start.rs`): models know the motion that they have
//! seen, and that may be another than when they were left. On the way down they are what they were, and extrapolate where they never
//! were. Points of the past that a model looks back to are those that were there, or lie on a parabola through them (`trail.rs`).
//!
//! A step between two lengths, which ends where something has to be met, is done with the model of the longer one: outputs go there
//! in a line, but for what follows at once. Nothing is learnt from it. Nor from a step that is rejected: all that is learnt is learnt when
//! a step has come to its end.

use costep_core::{Result, Signals, StateReader, StateWriter};

use super::trail::Trail;
use super::{Identified, SubsystemLearner, direct};

/// Lengths whose models are kept at a time: from one to 128 times of it.
const KEPT: usize = 8;
/// Doublings of the length of the first step, up and down, beyond which no run goes.
const FARTHEST: i64 = 60;
/// A length is on the ladder up to this share of it.
const SAME: f64 = 1e-6;

/// Where a run with steps of varying length is.
#[derive(Default)]
pub(super) struct Ladder {
    /// Whether steps vary at all.
    pub(super) is_used: bool,
    /// Length of the first step; zero before.
    first: f64,
    /// Doublings from there to the length whose models are in use.
    rung: i64,
    /// The present step as a share of that length.
    share: f64,
    /// Both for the step that led here.
    came_by: (i64, f64),
    /// The length whose steps are on record, if the last one had one that is learnt.
    recorded: Option<i64>,
    /// Lengths whose banks are kept.
    kept: [Option<i64>; KEPT],
    pub(super) trail: Trail,
}

impl Ladder {
    pub(super) fn new(is_used: bool, trail: Trail) -> Self {
        Self { is_used, share: 1.0, came_by: (0, 1.0), recorded: Some(0), trail, ..Self::default() }
    }

    /// Number of banks that a subsystem has beside the one in use.
    pub(super) fn banks(&self) -> usize {
        if self.is_used { KEPT } else { 0 }
    }

    /// Whether a step had one of the lengths that are learnt.
    pub(super) fn is_on_rung(&self) -> bool {
        self.share == 1.0
    }

    /// Whether something is to be learnt from the step that led here: that, and the one before, had one of the lengths that are learnt. What a past
    /// of other steps leads to is not what models expect.
    pub(super) fn teaches(&self) -> bool {
        self.is_on_rung() && self.recorded.is_some()
    }

    /// The rung for a step: that of its length, or the next longer one; and the share of it.
    fn rung_for(&self, h: f64) -> (i64, f64) {
        let doublings = (h / self.first).log2();
        // The next one after it is known too.
        let rung = (doublings - SAME).ceil().clamp(-FARTHEST as f64, (FARTHEST - 1) as f64);
        let share = h / (self.first * 2.0f64.powi(rung as i32));
        (rung as i64, if (share - 1.0).abs() < SAME { 1.0 } else { share })
    }

    /// Length of the steps of the models in use.
    fn length(&self) -> f64 {
        self.first * 2.0f64.powi(self.rung as i32)
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        [self.first, self.share].iter().for_each(|value| out.real(*value));
        let number = |rung: i64| (rung + FARTHEST) as u64;
        out.integer(number(self.rung));
        let known = self.kept.iter().chain([&self.recorded]);
        known.for_each(|rung| out.integer(rung.map_or(0, |rung| 1 + number(rung))));
        self.trail.save(out);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let numbers = 2 * FARTHEST as usize + 1;
        (self.first, self.share) = (from.real()?, from.real()?);
        self.rung = from.index(numbers)? as i64 - FARTHEST;
        for rung in self.kept.iter_mut().chain([&mut self.recorded]) {
            *rung =
                (from.index(numbers + 1)? as i64).checked_sub(1).filter(|n| *n >= 0).map(|n| n - FARTHEST);
        }
        self.trail.load(from)
    }
}

/// Where the bank of a rung is kept.
fn place(rung: i64) -> usize {
    rung.rem_euclid(KEPT as i64) as usize
}

impl Identified {
    /// Learns from the step that led here, at both lengths that it speaks of.
    pub(super) fn learn_on_ladder(&mut self, t: f64, signals: &Signals<'_>) {
        let (is_on_rung, rung) = (self.ladder.is_on_rung(), self.ladder.rung);
        self.ladder.came_by = (rung, self.ladder.share);
        let goes_on = is_on_rung && self.ladder.recorded == Some(rung);
        self.ladder.recorded = is_on_rung.then_some(rung);
        let next = place(rung + 1);
        let is_new = is_on_rung && self.ladder.kept[next].replace(rung + 1) != Some(rung + 1);
        let trusted = self.settings.tuning.start.trusted;
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (inputs, outputs) = (self.layout.input_range(i), self.layout.output_range(i));
            let SubsystemLearner { reference, coarse, kept, record, affine, teaches, .. } = part;
            let longer = &mut kept[next];
            if is_new {
                longer.reset();
            }
            if !goes_on {
                *teaches = false;
                record.clear();
                // Where it began to be so long.
                if let Some((u, y)) = self.ladder.trail.newest().filter(|_| is_on_rung) {
                    record.push(&u[inputs.clone()], &y[outputs.clone()]);
                }
            }
            record.push(&self.u_last[inputs], &signals.y[outputs]);
            // Who is not trusted himself teaches nobody.
            if is_on_rung && record.has_pair() && coarse.trust() > trusted {
                if !*teaches && longer.trust() <= trusted {
                    longer.unlearn();
                }
                record.teach_by_pairs(reference, (coarse, longer), *teaches);
                direct::find(
                    record.parts() as f64,
                    (coarse, longer),
                    record.input_ranges(),
                    &mut affine.direct,
                );
                *teaches = true;
            }
        }
        self.ladder.trail.push(t, &self.u_last, signals.y);
    }

    /// Makes the models for a step of this length those in use.
    pub(super) fn take_models_for(&mut self, h: f64, signals: &Signals<'_>) {
        if self.ladder.first == 0.0 {
            self.ladder.first = h;
            self.ladder.kept[place(0)] = Some(0);
        }
        let (from, (to, share)) = (self.ladder.rung, self.ladder.rung_for(h));
        if to != from {
            self.change_rung(from, to);
            if self.settings.knows_feedthrough {
                self.take_feedthrough(signals);
            }
        }
        self.ladder.share = share;
        if self.ladder.came_by != (to, 1.0) {
            self.look_back(signals);
        }
    }

    fn change_rung(&mut self, from: i64, to: i64) {
        self.ladder.rung = to;
        let is_new = self.ladder.kept[place(to)].replace(to) != Some(to);
        for part in &mut self.parts {
            std::mem::swap(&mut part.coarse, &mut part.kept[place(from)]);
            std::mem::swap(&mut part.coarse, &mut part.kept[place(to)]);
            if is_new {
                part.coarse.reset();
            }
        }
    }

    /// Outputs after a step that is shorter than that of the models.
    pub(super) fn shorten_models(&mut self, signals: &Signals<'_>) {
        let Self { ladder, layout, parts, u_last, law, .. } = self;
        for (i, part) in parts.iter_mut().enumerate() {
            let (outputs, u) = (layout.output_range(i), &u_last[layout.input_range(i)]);
            let follows = |row: usize| law.follows_at_once(outputs.start + row);
            part.affine.shorten(ladder.share, &signals.y[outputs.clone()], u, follows);
        }
    }

    /// The past, as far as models in use look back to it.
    fn look_back(&mut self, signals: &Signals<'_>) {
        let Self { ladder, layout, parts, u_last, .. } = self;
        let has_before = ladder.trail.look_back(ladder.length(), self.settings.form);
        let (u, y) = ladder.trail.found();
        for (i, part) in parts.iter_mut().enumerate() {
            let (inputs, outputs) = (layout.input_range(i), layout.output_range(i));
            part.coarse.restart();
            if has_before {
                part.coarse.push(&u[inputs.clone()], &y[outputs.clone()]);
            }
            part.coarse.push(&u_last[inputs], &signals.y[outputs]);
        }
    }
}
