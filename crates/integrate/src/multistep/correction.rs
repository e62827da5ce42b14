//! What happens at a communication point, where inputs jump or bend: Andersson, Fuhrer & Akesson 2016 [A16].
//!
//! The history predicts with the old input. A restart throws it away and begins at order one; the
//! correction writes what is known of the new derivatives into it and leaves the rest, [A16] (12), (15)
//! with the corrections z_1 = h x'+ and z_2 = (h^2 / 2) x''+, where h is the step the columns are scaled
//! with.

use super::{Failure, Multistep, Reason, RightHandSide};

/// What to do with the history when inputs have changed. The default is what takes the fewest evaluations
/// on the problems of \[A16] and on random starts of them (`costep reproduce andersson2016-table2` and
/// `-table3`).
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtPoint {
    /// Begin again at order one.
    Restart,
    /// Go on as if nothing had happened. The error test finds out; it may give up.
    Proceed,
    /// Correct the first derivative, \[A16] (12).
    CorrectFirst,
    /// Correct the first and the second derivative, \[A16] (12), (15).
    #[default]
    CorrectSecond,
}

impl AtPoint {
    /// All, with the names users write.
    pub const NAMES: [(&str, Self); 4] = [
        ("restart", Self::Restart),
        ("proceed", Self::Proceed),
        ("correct-1", Self::CorrectFirst),
        ("correct-2", Self::CorrectSecond),
    ];

    /// The name users write.
    pub fn name(self) -> &'static str {
        let [restart, proceed, first, second] = Self::NAMES.map(|(name, _)| name);
        match self {
            Self::Restart => restart,
            Self::Proceed => proceed,
            Self::CorrectFirst => first,
            Self::CorrectSecond => second,
        }
    }
}

impl Multistep {
    /// Tells the solver that the equations have other inputs from now on, while the state is the same. A
    /// state that jumps needs [`Multistep::start`].
    pub fn inputs_changed<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        mode: AtPoint,
    ) -> Result<(), Failure> {
        if self.history.is_new() || mode == AtPoint::Proceed {
            return Ok(());
        }
        if mode == AtPoint::Restart {
            self.work[0].copy_from_slice(self.history.column(0));
            let x = std::mem::take(&mut self.work[0]);
            self.start(self.history.t, &x);
            self.work[0] = x;
            return Ok(());
        }
        let evaluations = self.statistics.evaluations;
        self.reload_first_column(equations)?;
        if mode == AtPoint::CorrectSecond && self.history.order >= 2 {
            self.reload_second_column(equations)?;
        }
        self.statistics.correction_evaluations += self.statistics.evaluations - evaluations;
        self.statistics.evaluations = evaluations;
        Ok(())
    }

    /// z_2 = (h^2 / 2) (f_x f + f_u u' + f_t); f is in `work[0]`.
    fn reload_second_column<E: RightHandSide + ?Sized>(&mut self, equations: &mut E) -> Result<(), Failure> {
        let [f, bend] = &mut self.work;
        let known = equations.second_derivative(self.history.t, self.history.column(0), f, bend);
        let known = known.map_err(|error| self.failure(Reason::Equations(Box::new(error))))?;
        if !known {
            self.bend_by_difference(equations)?;
        }
        let bend = &self.work[1];
        if let Some(state) = bend.iter().position(|bend| !bend.is_finite()) {
            return Err(self.failure(Reason::NotFinite).of_state(state));
        }
        let factor = self.history.h * self.history.h / 2.0;
        self.history.column_mut(2).iter_mut().zip(bend).for_each(|(z, bend)| *z = factor * bend);
        Ok(())
    }

    /// x'' as the difference of f along the tangent of the solution.
    fn bend_by_difference<E: RightHandSide + ?Sized>(&mut self, equations: &mut E) -> Result<(), Failure> {
        // Short beside the step, so that x''' does not matter; long beside the resolution of time and of f.
        let ahead = (1e-4 * self.history.h).max(1e4 * f64::EPSILON * self.history.t.abs());
        let [f, bend] = &mut self.work;
        let tangent = self.history.column(0).iter().zip(&*f);
        self.newton.x.iter_mut().zip(tangent).for_each(|(x, (start, f))| *x = start + ahead * f);
        let outcome = equations.derivatives(self.history.t + ahead, &self.newton.x, bend);
        self.statistics.evaluations += 1;
        bend.iter_mut().zip(&*f).for_each(|(bend, f)| *bend = (*bend - f) / ahead);
        outcome.map_err(|error| self.failure(Reason::Equations(Box::new(error))))
    }
}
