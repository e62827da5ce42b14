//! The start with small steps: what the models of small steps say about large ones.

use costep_core::{Result, StateReader, StateWriter};
use costep_ident::{Affine, Bank, Forgetting, Lags, Past, Reference};

use super::memory::StaticFit;
use super::tuning::{LessonTuning, Tuning};
use crate::shared::law::Form;

/// The last points with small steps of a subsystem, and room to roll its model ahead.
pub(super) struct Record {
    /// Small steps in a macro step.
    parts: usize,
    lessons: LessonTuning,
    /// The small-step model must tell the change over a macro step up to this share.
    roll_error: f64,
    /// lambda of the large-step models after their lessons.
    forgetting: f64,
    y: Lags,
    u: Lags,
    past: Past,
    coarse_past: Past,
    u_next: Vec<f64>,
    u_goal: Vec<f64>,
    u_start: Vec<f64>,
    ahead: Vec<f64>,
    y_range: Vec<(f64, f64)>,
    u_range: Vec<f64>,
    static_fit: StaticFit,
}

impl Record {
    pub(super) fn new(inputs: usize, outputs: usize, parts: usize, tuning: &Tuning) -> Self {
        Self {
            parts,
            lessons: tuning.lessons,
            roll_error: tuning.start.roll_error,
            forgetting: tuning.bank.rls.forgetting,
            y: Lags::new(outputs, tuning.start.record),
            u: Lags::new(inputs, tuning.start.record),
            past: Past::new(inputs, outputs),
            coarse_past: Past::new(inputs, outputs),
            u_next: vec![0.0; inputs],
            u_goal: vec![0.0; inputs],
            u_start: vec![0.0; inputs],
            ahead: vec![0.0; outputs],
            y_range: vec![(0.0, 0.0); outputs],
            u_range: vec![0.0; inputs],
            static_fit: StaticFit::new(inputs, tuning.start.record),
        }
    }

    /// Small steps in a macro step.
    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    /// Whether there are two steps that could be one.
    pub(super) fn has_pair(&self) -> bool {
        self.y.len() > 2
    }

    /// Ranges of the inputs, as last looked at.
    pub(super) fn input_ranges(&self) -> &[f64] {
        &self.u_range
    }

    /// Whether the outputs follow from the present inputs alone.
    pub(super) fn shows_no_memory(&mut self) -> bool {
        self.static_fit.explains((&self.u, &self.y), &self.u_range)
    }

    pub(super) fn push(&mut self, u: &[f64], y: &[f64]) {
        self.u.push(u);
        self.y.push(y);
    }

    pub(super) fn clear(&mut self) {
        self.u.clear();
        self.y.clear();
    }

    /// Puts the model back to the point `lag` small steps ago. False if that is too long ago.
    fn go_back(&mut self, lag: usize) -> bool {
        if lag + 1 >= self.y.len() {
            return false;
        }
        self.past.push(self.u.get(lag + 1), self.y.get(lag + 1));
        self.past.push(self.u.get(lag), self.y.get(lag));
        true
    }

    /// One small step of the model to the input `u_next`.
    fn roll(&mut self, reference: &Reference, bank: &mut Bank) {
        bank.model_mut().predict(reference, &self.past, &self.u_next, &mut self.ahead);
        self.past.push(&self.u_next, &self.ahead);
    }

    /// One macro step of the model from the input `u_start` to `u_goal`.
    fn roll_macro_step(&mut self, form: Form, reference: &Reference, bank: &mut Bank) {
        for part in 1..=self.parts {
            let share = if form == Form::Hold { 1.0 } else { part as f64 / self.parts as f64 };
            for (j, next) in self.u_next.iter_mut().enumerate() {
                *next = self.u_start[j] + share * (self.u_goal[j] - self.u_start[j]);
            }
            self.roll(reference, bank);
        }
    }

    /// Whether the model, with the inputs of the last macro step, comes to where the outputs are.
    pub(super) fn is_reproduced(&mut self, reference: &Reference, bank: &mut Bank) -> bool {
        if !self.go_back(self.parts) {
            return false;
        }
        for lag in (0..self.parts).rev() {
            self.u_next.copy_from_slice(self.u.get(lag));
            self.roll(reference, bank);
        }
        let (now, before) = (self.y.get(0), self.y.get(self.parts));
        let (mut error, mut change) = (0.0, 0.0);
        for (i, weight) in bank.weights().iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            error += ((self.ahead[i] - now[i]) / weight).powi(2);
            change += ((now[i] - before[i]) / weight).powi(2);
        }
        error <= self.roll_error * self.roll_error * change
    }

    /// The outputs a macro step ahead as a function of the input, by the small-step model.
    pub(super) fn macro_affine(
        &mut self,
        form: Form,
        reference: &Reference,
        bank: &mut Bank,
        affine: &mut Affine,
    ) {
        let inputs = self.u_next.len();
        let trust = bank.trust();
        affine.gain.fill(0.0);
        affine.offset.fill(0.0);
        if trust > 0.0 && self.y.len() >= 2 {
            self.find_ranges();
            self.u_start.copy_from_slice(self.u.get(0));
            self.u_goal.copy_from_slice(self.u.get(0));
            self.go_back(0);
            self.roll_macro_step(form, reference, bank);
            affine.offset.copy_from_slice(&self.ahead);
            for j in 0..inputs {
                let by = if self.u_range[j] > 0.0 { self.u_range[j] } else { 1.0 };
                self.u_goal.copy_from_slice(self.u.get(0));
                self.u_goal[j] += by;
                self.go_back(0);
                self.roll_macro_step(form, reference, bank);
                for (i, ahead) in self.ahead.iter().enumerate() {
                    // At this point the offset is that of the held input.
                    affine.gain[i * inputs + j] = (ahead - affine.offset[i]) / by;
                }
            }
            for (i, offset) in affine.offset.iter_mut().enumerate() {
                let row = &affine.gain[i * inputs..(i + 1) * inputs];
                *offset -= row.iter().zip(self.u.get(0)).map(|(gain, u)| gain * u).sum::<f64>();
            }
        }
        bank.mix(trust, affine);
    }

    /// Teaches the large-step models by rolling the small-step one with random inputs from points of the record.
    pub(super) fn teach(
        &mut self,
        form: Form,
        reference: &Reference,
        (fine, coarse): (&mut Bank, &mut Bank),
    ) {
        let LessonTuning { points, doubt, .. } = self.lessons;
        self.find_ranges();
        coarse.unlearn();
        coarse.set_forgetting(Forgetting::Directional(1.0));
        // The same inputs in every run, whatever the number of the subsystem.
        let mut random = Random(1);
        for lag in (0..points.min(self.y.len().saturating_sub(1))).rev() {
            self.lesson(lag, form, reference, (fine, coarse), &mut random);
        }
        coarse.set_forgetting(Forgetting::Directional(self.forgetting));
        coarse.models_mut().iter_mut().for_each(|model| model.scale_covariance(doubt));
        coarse.assume(fine);
    }

    /// Teaches models of twice the step by the record itself: two steps that follow each other are one of twice the length, under an input
    /// that is nearly one of its form. It counts as the one at the end: a ramp goes there, and outputs that follow at once were read under
    /// it, which the past of models is too (`trail.rs`). With the mean of two holds steps were up to a third shorter. What the models are taught by rolling them would be right as well, but also speaks of inputs that they
    /// have never seen: with a record of a few points that does more harm than good. Who has been taught by all pairs before is taught by the
    /// newest one.
    pub(super) fn teach_by_pairs(
        &mut self,
        reference: &Reference,
        (fine, coarse): (&mut Bank, &mut Bank),
        newest_only: bool,
    ) {
        self.find_ranges();
        let points = self.y.len();
        let pairs = points.saturating_sub(2).min(if newest_only { 1 } else { points });
        for lag in (0..pairs).rev() {
            self.coarse_past.clear();
            for before in [lag + 4, lag + 2].into_iter().filter(|before| *before < points) {
                self.coarse_past.push(self.u.get(before), self.y.get(before));
            }
            for model in coarse.models_mut() {
                if model.can_use(&self.coarse_past) {
                    model.update(reference, &self.coarse_past, self.u.get(lag), self.y.get(lag));
                }
            }
        }
        coarse.assume(fine);
    }

    fn lesson(
        &mut self,
        lag: usize,
        form: Form,
        reference: &Reference,
        (fine, coarse): (&mut Bank, &mut Bank),
        random: &mut Random,
    ) {
        if !self.go_back(lag) {
            return;
        }
        let LessonTuning { steps, excitation, farthest, .. } = self.lessons;
        self.coarse_past.clear();
        self.u_goal.copy_from_slice(self.u.get(lag));
        for _ in 0..steps {
            self.u_start.copy_from_slice(&self.u_goal);
            for (j, goal) in self.u_goal.iter_mut().enumerate() {
                *goal = self.u.get(lag)[j] + excitation * random.next() * self.u_range[j];
            }
            self.roll_macro_step(form, reference, fine);
            let stays = |(y, (least, greatest)): (&f64, &(f64, f64))| {
                (y - 0.5 * (least + greatest)).abs() <= farthest * (greatest - least)
            };
            if !self.ahead.iter().zip(&self.y_range).all(stays) {
                return;
            }
            for model in coarse.models_mut() {
                if model.can_use(&self.coarse_past) {
                    model.update(reference, &self.coarse_past, &self.u_goal, &self.ahead);
                }
            }
            self.coarse_past.push(&self.u_goal, &self.ahead);
        }
    }

    fn find_ranges(&mut self) {
        for (i, range) in self.y_range.iter_mut().enumerate() {
            *range = extremes(&self.y, i);
        }
        for (j, range) in self.u_range.iter_mut().enumerate() {
            let (least, greatest) = extremes(&self.u, j);
            *range = greatest - least;
        }
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        self.y.save(out);
        self.u.save(out);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.y.load(from)?;
        self.u.load(from)?;
        self.y.check_same_length(&self.u)
    }
}

fn extremes(lags: &Lags, column: usize) -> (f64, f64) {
    let values = (0..lags.len()).map(|lag| lags.get(lag)[column]);
    values.fold((f64::MAX, f64::MIN), |(least, greatest), value| (least.min(value), greatest.max(value)))
}

/// Repeatable numbers between -1 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = 3 u under held inputs that are another one in every step: what is read at the end of two of them is that of the last.
    #[test]
    fn pairs_of_holds_count_as_the_last() {
        let tuning = Tuning::DEFAULT;
        let mut reference = Reference::new(1, 1, &tuning.bank.rls);
        let (mut fine, mut coarse) = (Bank::new(1, 1, &tuning.bank), Bank::new(1, 1, &tuning.bank));
        let mut record = Record::new(1, 1, 2, &tuning);
        let mut random = Random(7);
        for k in 0..60 {
            let u = random.next();
            let (u, y) = ([u], [3.0 * u]);
            if k == 0 {
                reference.start(&u, &y);
            }
            reference.note(&u, &y);
            fine.observe(&reference, &u, &y);
            record.push(&u, &y);
            if record.has_pair() {
                record.teach_by_pairs(&reference, (&mut fine, &mut coarse), true);
            }
        }
        let gain = coarse.gain(0, 0) / fine.gain(0, 0);
        assert!((gain - 1.0).abs() < 1e-6, "{gain}");
    }
}
