//! Error test, step length and order.

use costep_core::{Result, StateReader, StateWriter};

use super::nordsieck::Nordsieck;
use super::{Failure, Family, Multistep, Reason, RightHandSide, norm};

/// Safety factors of the error estimates of one order less, of the same, and of one more.
const BIAS: [f64; 3] = [6.0, 6.0, 10.0];
const ADDON: f64 = 1e-6;
/// A longer step is taken only if it is worth a new factorisation.
const WORTH_IT: f64 = 1.5;
const FIRST_GROWTH: f64 = 1e4;
const GROWTH: f64 = 10.0;
const MIN_SHRINK: f64 = 0.1;
const REPEATED_SHRINK: f64 = 0.2;
const CONVERGENCE_SHRINK: f64 = 0.25;
const MAX_ERROR_FAILURES: usize = 7;
/// After so many failures the order is lowered.
const LOWER_ORDER_AFTER: usize = 3;
const MAX_CONVERGENCE_FAILURES: usize = 10;
/// Steps to wait for after the order could not be lowered any more.
const LONG_WAIT: usize = 10;
/// Keeps a step that is to end at the stop time from going beyond it.
const SHORTEN: f64 = 1.0 - 4.0 * f64::EPSILON;

/// What is planned for the next step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    /// Step, as a multiple of the last one.
    ratio: f64,
    /// Order.
    order: usize,
    /// Largest growth allowed.
    max_ratio: f64,
    /// Steps until a change of order is looked at.
    pub(super) wait: usize,
    /// Scale that belongs to the saved correction; 0 = none saved.
    saved_scale: f64,
}

impl Default for Control {
    fn default() -> Self {
        Self { ratio: 1.0, order: 1, max_ratio: FIRST_GROWTH, wait: 2, saved_scale: 0.0 }
    }
}

impl Control {
    /// Shortens the planned step so that it ends at `stop`.
    pub(super) fn stop_at(&mut self, stop: f64, history: &Nordsieck) {
        if history.t + history.h * self.ratio > stop {
            self.ratio = (stop - history.t) * SHORTEN / history.h;
        }
    }

    /// Takes over a growth factor if it is worth it.
    fn plan(&mut self, ratio: f64, order: usize, history: &Nordsieck, max_step: f64) {
        (self.ratio, self.order) = (1.0, history.order);
        if ratio >= WORTH_IT {
            let ratio = ratio.min(self.max_ratio);
            self.ratio = ratio / (history.h * ratio / max_step).max(1.0);
            self.order = order;
        }
    }

    pub(super) fn save(&self, writer: &mut StateWriter) {
        [self.ratio, self.max_ratio, self.saved_scale].into_iter().for_each(|value| writer.real(value));
        writer.integer(self.order as u64);
        writer.integer(self.wait as u64);
    }

    pub(super) fn load(&mut self, reader: &mut StateReader<'_>) -> Result<()> {
        [self.ratio, self.max_ratio, self.saved_scale] = [reader.real()?, reader.real()?, reader.real()?];
        self.order = reader.index(super::MAX_ORDER + 1)?.max(1);
        self.wait = reader.index(1000)?;
        Ok(())
    }
}

/// How an attempt went.
pub(super) enum Attempt {
    /// Newton converged; this is the norm of the correction.
    Converged(f64),
    /// Newton did not converge.
    Failed,
}

/// Why the Newton matrix is made anew, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// First attempt of a step.
    Nothing,
    /// The last attempt did not converge.
    NoConvergence,
    /// The last attempt had too large an error.
    TooLargeError,
}

impl Multistep {
    /// Tries until a step succeeds, then plans the next one.
    pub(super) fn attempt<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        stop: f64,
    ) -> Result<(), Failure> {
        self.prepare();
        let start = self.history.t;
        let (mut before, mut failures, mut not_converged) = (Before::Nothing, 0, 0);
        loop {
            self.history.t = end_of_step(start, self.history.h, stop);
            self.history.predict();
            let wants_all = self.control.wait == 1;
            self.coefficients.set(self.settings.family, &self.history, wants_all);
            let Attempt::Converged(size) = self.solve(equations, before)? else {
                not_converged += 1;
                before = Before::NoConvergence;
                self.after_no_convergence(start, not_converged)?;
                continue;
            };
            let error = size * self.coefficients.error;
            if error <= 1.0 {
                self.accept(error);
                return Ok(());
            }
            failures += 1;
            before = Before::TooLargeError;
            self.after_error(equations, start, error, failures)?;
        }
    }

    /// Brings the history to the planned order and step.
    fn prepare(&mut self) {
        let Control { order, ratio, .. } = self.control;
        if order != self.history.order {
            self.history.change_order(self.settings.family, order, &self.saved_correction);
            self.control.wait = order + 1;
        }
        if ratio != 1.0 {
            self.history.rescale(ratio);
        }
    }

    fn take_back(&mut self, start: f64) {
        self.history.t = start;
        self.history.unpredict();
        self.control.max_ratio = 1.0;
    }

    fn after_no_convergence(&mut self, start: f64, failures: usize) -> Result<(), Failure> {
        self.statistics.convergence_failures += 1;
        self.take_back(start);
        if failures == MAX_CONVERGENCE_FAILURES || self.is_shortest() {
            return Err(self.blame(Reason::Convergence));
        }
        self.history.rescale(CONVERGENCE_SHRINK);
        Ok(())
    }

    fn after_error<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        start: f64,
        error: f64,
        failures: usize,
    ) -> Result<(), Failure> {
        self.statistics.error_failures += 1;
        self.take_back(start);
        if failures == MAX_ERROR_FAILURES || self.is_shortest() {
            return Err(self.blame(Reason::Error));
        }
        let order = self.history.order;
        if failures <= LOWER_ORDER_AFTER {
            let ratio = growth(error, BIAS[1], order + 1).max(MIN_SHRINK);
            self.history.rescale(if failures >= 2 { ratio.min(REPEATED_SHRINK) } else { ratio });
            return Ok(());
        }
        if order > 1 {
            self.history.change_order(self.settings.family, order - 1, &self.saved_correction);
            self.control.wait = order;
            self.history.rescale(MIN_SHRINK);
            return Ok(());
        }
        self.history.h *= MIN_SHRINK;
        self.control.wait = LONG_WAIT;
        self.reload_first_column(equations)
    }

    /// z_1 = h f(t, x).
    pub(super) fn reload_first_column<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
    ) -> Result<(), Failure> {
        let f = &mut self.work[0];
        let outcome = equations.derivatives(self.history.t, self.history.column(0), f);
        outcome.map_err(|error| self.failure(Reason::Equations(Box::new(error))))?;
        self.statistics.evaluations += 1;
        let f = &self.work[0];
        if let Some(state) = f.iter().position(|f| !f.is_finite()) {
            return Err(self.failure(Reason::NotFinite).of_state(state));
        }
        let h = self.history.h;
        self.history.column_mut(1).iter_mut().zip(f).for_each(|(z, f)| *z = h * f);
        Ok(())
    }

    /// Whether time does not move on with the present step.
    fn is_shortest(&self) -> bool {
        self.history.t + self.history.h <= self.history.t
    }

    /// Names the state with the largest correction.
    pub(super) fn blame(&self, reason: Reason) -> Failure {
        let size = |i: &usize| (self.correction[*i] * self.weights[*i]).abs();
        let worst = (0..self.correction.len()).max_by(|a, b| size(a).total_cmp(&size(b)));
        Failure { state: worst, ..self.failure(reason) }
    }

    fn accept(&mut self, error: f64) {
        self.statistics.steps += 1;
        self.history.correct(&self.coefficients.l, &self.correction);
        self.history.step_taken();
        self.control.wait -= 1;
        if self.control.wait == 1 && self.history.order < self.history.max_order {
            self.saved_correction.copy_from_slice(&self.correction);
            self.control.saved_scale = self.coefficients.scale;
        }
        self.plan(error);
        self.control.max_ratio = GROWTH;
    }

    /// Order and length of the next step.
    fn plan(&mut self, error: f64) {
        let order = self.history.order;
        if self.control.max_ratio == 1.0 {
            // A step that had to be repeated is followed by an equal one.
            self.control.wait = self.control.wait.max(2);
            (self.control.ratio, self.control.order) = (1.0, order);
            return;
        }
        let same = growth(error, BIAS[1], order + 1);
        let (mut best, mut best_order) = (same, order);
        if self.control.wait == 0 {
            self.control.wait = 2;
            let (lower, higher) = (self.growth_of_lower(), self.growth_of_higher());
            if lower.max(higher) > same {
                (best, best_order) = if lower >= higher { (lower, order - 1) } else { (higher, order + 1) };
            }
            let raises = best >= WORTH_IT && best_order > order;
            if raises && self.settings.family == Family::Bdf {
                self.saved_correction.copy_from_slice(&self.correction);
            }
        }
        self.control.plan(best, best_order, &self.history, self.settings.max_step);
    }

    fn growth_of_lower(&self) -> f64 {
        let order = self.history.order;
        if order == 1 {
            return 0.0;
        }
        let error = norm(self.history.column(order), &self.weights) * self.coefficients.error_lower;
        growth(error, BIAS[0], order)
    }

    /// From the difference of this correction and that of the step before.
    fn growth_of_higher(&mut self) -> f64 {
        let (order, saved_scale) = (self.history.order, self.control.saved_scale);
        if order == self.history.max_order || saved_scale == 0.0 {
            return 0.0;
        }
        let ratio = self.history.h / self.history.past_steps[2];
        let quotient = self.coefficients.scale / saved_scale * ratio.powi(order as i32 + 1);
        let difference = &mut self.work[0];
        let corrections = self.correction.iter().zip(&self.saved_correction);
        difference.iter_mut().zip(corrections).for_each(|(d, (now, before))| *d = now - quotient * before);
        let error = norm(difference, &self.weights) * self.coefficients.error_higher;
        growth(error, BIAS[2], order + 2)
    }
}

/// The end of a step: `stop`, if it is as near as round-off or beyond. A crumb would be left to step over
/// otherwise.
fn end_of_step(start: f64, h: f64, stop: f64) -> f64 {
    const ROUND_OFF: f64 = 100.0 * f64::EPSILON;
    let end = start + h;
    if stop - end <= ROUND_OFF * (end.abs() + h) { stop } else { end }
}

/// By how much a step may grow whose error goes with its `power`-th power.
fn growth(error: f64, bias: f64, power: usize) -> f64 {
    1.0 / ((bias * error).powf(1.0 / power as f64) + ADDON)
}
