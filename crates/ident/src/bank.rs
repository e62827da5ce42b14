//! Models of one subsystem of orders 1 and 2 side by side, and how far they are to be trusted.
//!
//! Trust is measured on what has not been learnt yet: rho is the size of the errors one step ahead over the size of the changes of
//! the outputs, over the last active steps. rho = 1 is no better than to say that nothing changes. It needs no unit and no
//! count of samples.

use costep_core::{InterfaceModel, Result, StateReader, StateWriter};

use crate::covariance::Forgetting;
use crate::difference::{DifferenceModel, Past, Reference};
use crate::extrapolation::Extrapolation;
use crate::file::InitialModel;
use crate::lags::Lags;
use crate::quality::Quality;
use crate::tuning::{BankTuning, TrustTuning};

/// Errors are expected to go on from this share of the one before on, and up to its inverse: what grows faster is new.
const STEADY: f64 = 0.5;

/// Points of the sliding range of eps_SI.
const QUALITY_WINDOW: usize = 100;

/// y^(k+1) = F + S u^(k+1), after trust and fall-back are mixed.
#[derive(Clone, Debug, Default)]
pub struct Affine {
    /// F.
    pub offset: Vec<f64>,
    /// S, row by row.
    pub gain: Vec<f64>,
    /// The share of each of them that acts at once, D / S, where there is direct feedthrough; 1 where nothing else is known.
    pub direct: Vec<f64>,
}

impl Affine {
    /// All zero.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        let gains = outputs * inputs;
        Self { offset: vec![0.0; outputs], gain: vec![0.0; gains], direct: vec![1.0; gains] }
    }

    /// Output i under an input. Without gains it is the offset.
    pub fn at(&self, i: usize, u: &[f64]) -> f64 {
        let row = self.gain.get(i * u.len()..(i + 1) * u.len()).unwrap_or_default();
        self.offset[i] + row.iter().zip(u).map(|(gain, u)| gain * u).sum::<f64>()
    }
}

impl Affine {
    /// The outputs after a share of the step that began with these outputs and inputs: they go there in a line, but for what
    /// follows at once.
    pub fn shorten(&mut self, share: f64, y: &[f64], u: &[f64], follows_at_once: impl Fn(usize) -> bool) {
        let inputs = if self.gain.is_empty() { 0 } else { u.len() };
        for (i, offset) in self.offset.iter_mut().enumerate() {
            let mut start = y[i];
            for (j, u) in u.iter().enumerate().take(inputs) {
                let at = i * inputs + j;
                let at_once = if follows_at_once(i) { self.direct[at] } else { 0.0 };
                start -= at_once * self.gain[at] * u;
                self.gain[at] *= share + (1.0 - share) * at_once;
            }
            *offset = (1.0 - share) * start + share * *offset;
        }
    }
}

/// Models of one subsystem for one length of steps.
#[derive(Clone, Debug)]
pub struct Bank {
    tuning: TrustTuning,
    /// Whether there are models; else all is extrapolated.
    learns: bool,
    models: [DifferenceModel; 2],
    /// Index of the model in use.
    chosen: usize,
    past: Past,
    /// Errors of the models over the last active steps.
    errors: [Lags; 2],
    /// Changes of the outputs over the same steps.
    changes: Lags,
    /// What stands in for a model that is not trusted.
    fall_back: Extrapolation,
    /// sd: sizes of the changes of each output.
    weights: Vec<f64>,
    /// Trust before there are errors to judge by.
    assumed: f64,
    /// D, row by row, where it is known: for the fall-back.
    through: Vec<f64>,
    quality: Quality,
    ahead: [Vec<f64>; 2],
    room: Vec<f64>,
}

impl Bank {
    /// Nothing known.
    pub fn new(inputs: usize, outputs: usize, tuning: &BankTuning) -> Self {
        Self::with(true, inputs, outputs, tuning)
    }

    /// One without models, whose memory is linear in the signals: it is never trusted, and extrapolates all outputs.
    /// Its [`Affine`] has no gains.
    pub fn without_models(inputs: usize, outputs: usize, tuning: &BankTuning) -> Self {
        Self::with(false, inputs, outputs, tuning)
    }

    fn with(learns: bool, inputs: usize, outputs: usize, tuning: &BankTuning) -> Self {
        let BankTuning { rls, trust, fallback } = tuning;
        let (modelled, window) = if learns { ((inputs, outputs), trust.window) } else { ((0, 0), 1) };
        let lags = |depth| Lags::new(outputs, depth);
        Self {
            tuning: *trust,
            learns,
            models: [1, 2].map(|order| DifferenceModel::new(order, modelled.0, modelled.1, rls)),
            chosen: 0,
            past: Past::new(inputs, outputs),
            errors: [lags(window), lags(window)],
            changes: lags(window),
            fall_back: Extrapolation::new(outputs, fallback),
            weights: vec![0.0; outputs],
            assumed: 0.0,
            through: vec![0.0; modelled.0 * modelled.1],
            quality: Quality::new(modelled.1, QUALITY_WINDOW),
            ahead: [vec![0.0; outputs], vec![0.0; outputs]],
            room: vec![0.0; outputs],
        }
    }

    /// For models that are asked before they have seen as many points as they have parameters.
    pub fn expect_held_inputs(&mut self) {
        self.models.iter_mut().for_each(DifferenceModel::expect_held_inputs);
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.unlearn();
        self.restart();
    }

    /// Starts from a model of an earlier run, unless it said less than a hold. It is trusted as soon as its errors are seen to be small,
    /// like any other.
    pub fn begin(&mut self, reference: &Reference, initial: &InitialModel) {
        if self.learns && initial.beats_hold {
            self.models.iter_mut().for_each(|model| model.begin(reference, initial));
        }
    }

    /// Forgets what was learnt, but not the last points.
    pub fn unlearn(&mut self) {
        self.models.iter_mut().for_each(DifferenceModel::reset);
        self.chosen = 0;
        self.errors.iter_mut().for_each(Lags::clear);
        self.changes.clear();
        self.weights.fill(0.0);
        self.assumed = 0.0;
    }

    /// Forgets the points before the present, but not what was learnt from them.
    pub fn restart(&mut self) {
        self.past.clear();
        self.fall_back.clear();
    }

    /// Takes in a point without learning from it.
    pub fn push(&mut self, u: &[f64], y: &[f64]) {
        self.past.push(u, y);
        for (i, (room, y)) in self.room.iter_mut().zip(y).enumerate() {
            let row = self.through.get(i * u.len()..(i + 1) * u.len()).unwrap_or_default();
            *room = y - row.iter().zip(u).map(|(d, u)| d * u).sum::<f64>();
        }
        self.fall_back.push(&self.room);
    }

    /// The next step begins with other inputs than the last one ended with.
    pub fn begin_at(&mut self, u: &[f64]) {
        self.past.u.replace(u);
    }

    /// Learns from a step: its input and the outputs at its end. The first point only sets the start.
    pub fn observe(&mut self, reference: &Reference, u: &[f64], y: &[f64]) {
        if self.past.y.is_empty() || !self.learns {
            self.push(u, y);
            return;
        }
        for (change, (y, before)) in self.room.iter_mut().zip(y.iter().zip(self.past.y.get(0))) {
            *change = y - before;
        }
        if reference.has_moved((u, self.past.u.get(0)), (y, self.past.y.get(0))) {
            self.learn(reference, u, y);
        }
        self.push(u, y);
    }

    fn learn(&mut self, reference: &Reference, u: &[f64], y: &[f64]) {
        for (weight, change) in self.weights.iter_mut().zip(&self.room) {
            *weight = (self.tuning.weight_memory * *weight).max(change.abs());
        }
        self.changes.push(&self.room);
        for (p, model) in self.models.iter_mut().enumerate() {
            let usable = model.can_use(&self.past);
            if usable {
                model.predict(reference, &self.past, u, &mut self.ahead[p]);
                model.update(reference, &self.past, u, y);
            } else {
                self.ahead[p].copy_from_slice(self.past.y.get(0));
            }
            for (error, (y, ahead)) in self.room.iter_mut().zip(y.iter().zip(&self.ahead[p])) {
                *error = y - ahead;
            }
            self.errors[p].push(&self.room);
        }
        self.choose_order();
        let model = &mut self.models[self.chosen];
        if model.can_use(&self.past) {
            model.predict(reference, &self.past, u, &mut self.room);
            self.quality.observe(y, &self.room);
        }
    }

    fn choose_order(&mut self) {
        let (old, new) = (self.error(self.chosen), self.error(1 - self.chosen));
        if new < self.tuning.clearly_better * old {
            self.chosen = 1 - self.chosen;
        }
    }

    /// E of a model.
    fn error(&self, p: usize) -> f64 {
        self.mean_square(&self.errors[p], self.left_out(p))
    }

    /// The step that does not count: that of the greatest error that may be a surprise from outside. A model that errs though the outputs rest has no such
    /// excuse.
    fn left_out(&self, p: usize) -> Option<usize> {
        let errors = &self.errors[p];
        if errors.len() < self.tuning.trimmed_from {
            return None;
        }
        let of = |lag: &usize| self.weighted_square(errors.get(*lag));
        let change = |lag: &usize| self.weighted_square(self.changes.get(*lag));
        let TrustTuning { at_rest, excused, .. } = self.tuning;
        let is_excused =
            |lag: &usize| change(lag) >= at_rest.powi(2) || of(lag) <= excused.powi(2) * change(lag);
        (0..errors.len()).filter(is_excused).max_by(|a, b| of(a).total_cmp(&of(b)))
    }

    /// Mean over the steps of the weighted squares, without one of them.
    fn mean_square(&self, steps: &Lags, left_out: Option<usize>) -> f64 {
        let count = steps.len() - usize::from(left_out.is_some());
        let squares = (0..steps.len()).filter(|lag| Some(*lag) != left_out);
        let sum: f64 = squares.map(|lag| self.weighted_square(steps.get(lag))).sum();
        if count == 0 { 0.0 } else { sum / count as f64 }
    }

    /// D. Where all others rest, the change of the step that is left out counts no more than the greatest of them.
    fn usual_change(&self, left_out: Option<usize>) -> f64 {
        let steps = &self.changes;
        let square = |lag: usize| self.weighted_square(steps.get(lag));
        let others = (0..steps.len()).filter(|lag| Some(*lag) != left_out).map(square);
        let (sum, greatest) = others.fold((0.0, 0.0), |(sum, greatest), d| (sum + d, d.max(greatest)));
        let surprise = left_out.map_or(0.0, square);
        let counts = if greatest < self.tuning.at_rest.powi(2) * surprise { greatest } else { surprise };
        (sum + counts) / steps.len() as f64
    }

    fn weighted_square(&self, values: &[f64]) -> f64 {
        let weighted = values.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        weighted.map(|(value, weight)| (value / weight).powi(2)).sum()
    }

    /// rho, while there is something to judge by. Where nothing has changed but in the step that is left out, errors are infinitely large.
    pub fn rho(&self) -> Option<f64> {
        let moves = self.mean_square(&self.changes, None) > 0.0;
        moves.then(|| {
            let left_out = self.left_out(self.chosen);
            let error = self.mean_square(&self.errors[self.chosen], left_out);
            if error == 0.0 { 0.0 } else { (error / self.usual_change(left_out)).sqrt() }
        })
    }

    /// w, 0 to 1.
    pub fn trust(&self) -> f64 {
        if !self.learns || !self.models[self.chosen].can_use(&self.past) {
            return 0.0;
        }
        let TrustTuning { full, none, .. } = self.tuning;
        match self.rho() {
            Some(rho) if rho.is_nan() => 0.0,
            Some(rho) => ((none - rho) / (none - full)).clamp(0.0, 1.0),
            None => self.assumed,
        }
    }

    /// Order of the model in use.
    pub fn order(&self) -> usize {
        self.models[self.chosen].order()
    }

    /// eps_SI of the model in use.
    pub fn eps_si(&self) -> f64 {
        self.quality.value()
    }

    /// S_p of the model in use.
    pub fn gain(&self, i: usize, j: usize) -> f64 {
        if self.learns { self.models[self.chosen].gain(i, j) } else { 0.0 }
    }

    /// What the model that looks back one step alone has learnt. None before its first lesson.
    pub fn interface(&self, reference: &Reference) -> Option<InterfaceModel> {
        let has_learnt = self.weights.iter().any(|weight| *weight > 0.0);
        let model = has_learnt.then(|| self.models[0].interface(reference))?;
        model.is_finite().then_some(model)
    }

    /// Whether it learns anything.
    pub fn learns(&self) -> bool {
        self.learns
    }

    /// The past.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// Sizes of the changes of the outputs.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The model in use.
    pub fn model_mut(&mut self) -> &mut DifferenceModel {
        &mut self.models[self.chosen]
    }

    /// The model that looks back one step alone.
    pub fn first_order(&self) -> &DifferenceModel {
        &self.models[0]
    }

    /// Both models, to be taught.
    pub fn models_mut(&mut self) -> &mut [DifferenceModel; 2] {
        &mut self.models
    }

    /// Takes over order and trust of a bank of other steps, as long as it has no errors of its own to judge by.
    pub fn assume(&mut self, other: &Self) {
        if self.rho().is_none() {
            (self.chosen, self.assumed) = (other.chosen, other.trust());
        }
    }

    /// What the past is worth from now on.
    pub fn set_forgetting(&mut self, forgetting: Forgetting) {
        self.models.iter_mut().for_each(|model| model.set_forgetting(forgetting));
    }

    /// The outputs one step ahead as a function of the input: by the model as far as it is trusted, else extrapolated.
    pub fn affine(&mut self, reference: &Reference, affine: &mut Affine) {
        let trust = self.trust();
        if trust > 0.0 {
            self.models[self.chosen].affine(reference, &self.past, affine);
            for (i, offset) in affine.offset.iter_mut().enumerate() {
                *offset += self.expected_error(i);
            }
        } else {
            affine.gain.fill(0.0);
            affine.offset.fill(0.0);
        }
        self.mix(trust, affine);
    }

    /// The error that output i is going to have, by what is common to each and the next so far: errors of a linear model of what is
    /// not linear come and go slowly. None where they are noise.
    fn expected_error(&self, i: usize) -> f64 {
        let errors = &self.errors[self.chosen];
        if errors.len() < self.tuning.trimmed_from {
            return 0.0;
        }
        let error = |lag: usize| errors.get(lag)[i];
        let (mut together, mut alone) = (0.0, 0.0);
        for lag in 0..errors.len() - 1 {
            together += error(lag) * error(lag + 1);
            alone += error(lag + 1).powi(2);
        }
        let share = together / alone;
        if (STEADY..=1.0 / STEADY).contains(&share) { share.min(1.0) * error(0) } else { 0.0 }
    }

    /// The same by the model alone, from another past.
    pub fn affine_from(&mut self, reference: &Reference, past: &Past, affine: &mut Affine) {
        if !self.learns {
            affine.offset.copy_from_slice(past.y.get(0));
            return;
        }
        let usable = self.models[self.chosen].can_use(past);
        let model = if usable { self.chosen } else { 0 };
        self.models[model].affine(reference, past, affine);
    }

    /// Mixes a model, in place, with the fall-back.
    pub fn mix(&self, trust: f64, affine: &mut Affine) {
        for (i, offset) in affine.offset.iter_mut().enumerate() {
            *offset = trust * *offset + (1.0 - trust) * self.fall_back.next(i);
        }
        for (gain, d) in affine.gain.iter_mut().zip(&self.through) {
            *gain = trust * *gain + (1.0 - trust) * d;
        }
    }

    /// The direct feedthrough D of the subsystem, row by row: the fall-back goes on with y - D u instead of y.
    pub fn set_feedthrough(&mut self, d: &[f64]) {
        if !self.learns || self.through == d {
            return;
        }
        if !self.past.u.is_empty() {
            // What is kept is of the old D: the newest value is put right, and with it all before that differ little from it.
            let u = self.past.u.get(0);
            for (i, room) in self.room.iter_mut().enumerate() {
                let row = i * u.len()..(i + 1) * u.len();
                let change = self.through[row.clone()].iter().zip(&d[row]).zip(u);
                *room = change.map(|((old, new), u)| (old - new) * u).sum();
            }
            self.fall_back.shift(&self.room);
        }
        self.through.copy_from_slice(d);
    }

    /// Writes its memory.
    pub fn save(&self, out: &mut StateWriter) {
        self.models.iter().for_each(|model| model.save(out));
        out.integer(self.chosen as u64);
        self.past.save(out);
        self.errors.iter().for_each(|errors| errors.save(out));
        self.changes.save(out);
        self.fall_back.save(out);
        out.reals(&self.weights);
        out.reals(&self.through);
        out.real(self.assumed);
        self.quality.save(out);
    }

    /// Reads its memory.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.models.iter_mut().try_for_each(|model| model.load(from))?;
        self.chosen = from.index(2)?;
        self.past.load(from)?;
        self.errors.iter_mut().try_for_each(|errors| errors.load(from))?;
        self.changes.load(from)?;
        self.errors.iter().try_for_each(|errors| self.changes.check_same_length(errors))?;
        self.fall_back.load(from)?;
        from.reals(&mut self.weights)?;
        from.reals(&mut self.through)?;
        self.assumed = from.real()?;
        self.quality.load(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = D u + something that the step has moved from 1 to 3.
    #[test]
    fn a_share_of_a_step_leads_there_in_a_line_but_for_what_follows_at_once() {
        let mut affine = Affine::new(1, 2);
        (affine.offset, affine.gain) = (vec![3.0, 3.0], vec![5.0, 0.5]);
        // The first output stood at 1 + 5 * 2, the second at 1, without direct feedthrough.
        affine.shorten(0.25, &[11.0, 1.0], &[2.0], |i| i == 0);
        assert_eq!((affine.at(0, &[4.0]), affine.at(1, &[4.0])), (1.5 + 5.0 * 4.0, 1.5 + 0.125 * 4.0));
    }

    /// y^(k+1) = y^k / 2 + u: both orders tell it, the first alone with few points.
    fn taught(steps: usize) -> Bank {
        let tuning = BankTuning::default();
        let (mut bank, mut reference) = (Bank::new(1, 1, &tuning), Reference::new(1, 1, &tuning.rls));
        let mut y = 0.3;
        reference.start(&[0.0], &[y]);
        bank.push(&[0.0], &[y]);
        for k in 0..steps {
            let u = (0.7 * k as f64).sin();
            y = 0.5 * y + u;
            reference.note(&[u], &[y]);
            bank.observe(&reference, &[u], &[y]);
        }
        bank
    }

    #[test]
    fn who_has_errors_of_its_own_keeps_its_order() {
        let (mut teacher, mut pupil) = (taught(30), taught(30));
        (teacher.chosen, pupil.chosen) = (1, 0);
        pupil.assume(&teacher);
        assert_eq!((pupil.order(), pupil.assumed), (1, 0.0));
        pupil.unlearn();
        pupil.assume(&teacher);
        assert_eq!((pupil.order(), pupil.assumed), (2, teacher.trust()));
        assert!(pupil.assumed > 0.0);
    }
}
