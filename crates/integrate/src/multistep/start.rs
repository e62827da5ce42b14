//! The length of the first step, from the size of the second derivative.

use super::{Failure, Multistep, Reason, RightHandSide, norm};

const LOWER: f64 = 100.0;
const UPPER: f64 = 0.1;
const SAFETY: f64 = 0.5;
const MAX_PASSES: usize = 4;
const MAX_TRIALS: usize = 4;

impl Multistep {
    /// First evaluation and first step length; at most to `stop`.
    pub(super) fn begin<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        stop: f64,
    ) -> Result<(), Failure> {
        self.update_weights()?;
        self.history.h = 1.0;
        let first = self.reload_first_column(equations).and_then(|()| self.first_step(equations, stop));
        let h = first.inspect_err(|_| self.history.h = 0.0)?.min(self.settings.max_step);
        let room = stop - self.history.t;
        self.history.h = if h > room { room * (1.0 - 4.0 * f64::EPSILON) } else { h };
        let h = self.history.h;
        self.history.column_mut(1).iter_mut().for_each(|z| *z *= h);
        Ok(())
    }

    /// A step whose second-order term is about half the tolerance.
    fn first_step<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        stop: f64,
    ) -> Result<f64, Failure> {
        let distance = stop - self.history.t;
        let resolution = f64::EPSILON * self.history.t.abs().max(stop.abs());
        if distance < 2.0 * resolution {
            return Err(self.failure(Reason::NoTime));
        }
        let shortest = LOWER * resolution;
        let longest = self.longest_first_step(distance);
        let mut trial = (shortest * longest).sqrt();
        if longest < shortest {
            return Ok(trial);
        }
        let mut is_good = false;
        for pass in 1..=MAX_PASSES {
            let bend = self.feasible_bend(equations, &mut trial)?;
            if is_good || pass == MAX_PASSES {
                break;
            }
            let wish =
                if bend * longest * longest > 2.0 { (2.0 / bend).sqrt() } else { (trial * longest).sqrt() };
            let ratio = wish / trial;
            is_good = 0.5 < ratio && ratio < 2.0;
            if pass > 1 && ratio > 2.0 {
                // The estimate is no good: stay.
                is_good = true;
            } else {
                trial = wish;
            }
        }
        Ok((SAFETY * trial).clamp(shortest, longest))
    }

    /// No state may change by more than a tenth of its size, and a tenth of the way is enough.
    fn longest_first_step(&self, distance: f64) -> f64 {
        let states = self.history.column(0).iter().zip(self.history.column(1)).zip(&self.weights);
        let steepest = states.fold(0.0, |steepest: f64, ((x, slope), weight)| {
            steepest.max(slope.abs() / (UPPER * x.abs() + 1.0 / weight))
        });
        let longest = UPPER * distance;
        if longest * steepest > 1.0 { 1.0 / steepest } else { longest }
    }

    /// Norm of the second derivative over a trial step, which is shortened until it is finite.
    fn feasible_bend<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        trial: &mut f64,
    ) -> Result<f64, Failure> {
        for _ in 0..MAX_TRIALS {
            let [x, f] = &mut self.work;
            let columns = self.history.column(0).iter().zip(self.history.column(1));
            x.iter_mut().zip(columns).for_each(|(x, (start, slope))| *x = start + *trial * slope);
            let outcome = equations.derivatives(self.history.t + *trial, x, f);
            self.statistics.evaluations += 1;
            outcome.map_err(|error| self.failure(Reason::Equations(Box::new(error))))?;
            let f = &mut self.work[1];
            f.iter_mut().zip(self.history.column(1)).for_each(|(f, slope)| *f = (*f - slope) / *trial);
            let bend = norm(f, &self.weights);
            if bend.is_finite() {
                return Ok(bend);
            }
            *trial *= 0.2;
        }
        Err(self.failure(Reason::NotFinite))
    }
}
