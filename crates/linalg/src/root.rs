//! Roots of small systems of equations: Newton's method with damping. Jacobians are those that the equations give, else differences, and
//! are kept while they serve. Where the Jacobian is singular, the shortest step.
//!
//! A given Jacobian is not believed: a root is what leaves no residual, whatever led there, and one whose own step does not bear it out is
//! replaced by differences. A wrong one costs evaluations, not the root.

use crate::lu::Lu;
use crate::matrix::Matrix;
use crate::pseudo_inverse::PseudoInverse;

/// Residual relative to the size of its unknown at which a root is found.
const TARGET: f64 = 1e-13;
/// The same where round-off does not let it become smaller.
const ACCEPTED: f64 = 1e-9;
/// Change of an unknown for differences, relative to its size.
const CHANGE: f64 = 1e-7;
/// A step that leaves more than this of the residual asks for a new Jacobian.
const SLOW: f64 = 0.1;
const MAX_STEPS: usize = 100;
const MAX_HALVINGS: usize = 30;
/// Singular values below this share of the greatest are zero.
const CUT: f64 = 1e-12;

/// What came of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootOutcome {
    /// Whether there is a root.
    pub is_found: bool,
    /// The greatest residual, relative to the size of its unknown; not finite if the equations gave no number at the start.
    pub residual: f64,
    /// The unknown that it belongs to.
    pub worst: usize,
}

/// Equations r(x) = g(x) - x = 0.
pub trait RootProblem {
    /// Why they could not be evaluated at all.
    type Error;

    /// Fills r(x). What is no number cannot be computed there.
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), Self::Error>;

    /// Fills dr/dx. False if it is not known.
    fn jacobian(&mut self, _x: &[f64], _jacobian: &mut Matrix) -> Result<bool, Self::Error> {
        Ok(false)
    }
}

/// Where a Jacobian is from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slopes {
    Given,
    Differences,
}

/// Room for the search of roots with so many unknowns. Keeps the last Jacobian, for a search nearby.
#[derive(Clone, Debug, Default)]
pub struct RootFinder {
    lu: Lu,
    /// Where the last Jacobian is from, while it serves.
    known: Option<Slopes>,
    /// A given Jacobian has not brought the residual down as one should.
    disbelieves: bool,
    jacobian: Matrix,
    residual: Vec<f64>,
    trial: Vec<f64>,
    trial_residual: Vec<f64>,
    step: Vec<f64>,
    shortest: Option<(PseudoInverse, Matrix)>,
}

impl RootFinder {
    /// For so many unknowns.
    pub fn new(unknowns: usize) -> Self {
        let values = || vec![0.0; unknowns];
        Self {
            lu: Lu::new(unknowns),
            known: None,
            disbelieves: false,
            jacobian: Matrix::zeros(unknowns, unknowns),
            residual: values(),
            trial: values(),
            trial_residual: values(),
            step: values(),
            shortest: None,
        }
    }

    /// Forgets the last Jacobian, and what became of it.
    pub fn forget(&mut self) {
        (self.known, self.disbelieves) = (None, false);
    }

    /// Searches for a root from x on. `sizes` are typical sizes of the unknowns.
    pub fn solve<P: RootProblem>(
        &mut self,
        x: &mut [f64],
        sizes: &[f64],
        problem: &mut P,
    ) -> Result<RootOutcome, P::Error> {
        problem.residual(x, &mut self.residual)?;
        let mut outcome = measure(x, sizes, &self.residual);
        for _ in 0..MAX_STEPS {
            if outcome.residual <= TARGET || !outcome.residual.is_finite() {
                break;
            }
            let is_fresh = self.known.is_none();
            let slopes = match self.known {
                Some(slopes) => slopes,
                None => self.differentiate(x, sizes, problem)?,
            };
            let norm = outcome.residual;
            self.newton_step();
            let mut improved = self.search(x, sizes, problem)?;
            if improved.is_none() && is_fresh && slopes == Slopes::Differences {
                // Newton's step leads nowhere, as from a singular point: on to g(x).
                self.step.iter_mut().zip(&self.residual).for_each(|(step, r)| *step = -r);
                improved = self.search(x, sizes, problem)?;
            }
            match improved {
                Some(better) => {
                    let serves = better.residual < SLOW * norm || (is_fresh && better.residual <= ACCEPTED);
                    self.disbelieves |= is_fresh && slopes == Slopes::Given && !serves;
                    self.known = serves.then_some(slopes);
                    outcome = better;
                }
                // An old Jacobian may be to blame, or one that was given.
                None if !is_fresh || slopes == Slopes::Given => {
                    self.disbelieves |= is_fresh;
                    self.known = None;
                }
                None => break,
            }
        }
        outcome.is_found = outcome.residual <= ACCEPTED;
        self.known = self.known.filter(|_| outcome.is_found);
        Ok(outcome)
    }

    /// The Jacobian at x, factored.
    fn differentiate<P: RootProblem>(
        &mut self,
        x: &[f64],
        sizes: &[f64],
        problem: &mut P,
    ) -> Result<Slopes, P::Error> {
        let is_given =
            !self.disbelieves && problem.jacobian(x, &mut self.jacobian)? && self.jacobian.is_finite();
        if !is_given {
            self.take_differences(x, sizes, problem)?;
        }
        self.lu.matrix_mut().copy_from(&self.jacobian);
        if self.lu.factor() {
            self.shortest = None;
        } else {
            let n = x.len();
            let (mut method, mut inverse) = (PseudoInverse::new(n, n), Matrix::zeros(n, n));
            method.compute(&self.jacobian, CUT, &mut inverse);
            self.shortest = Some((method, inverse));
        }
        Ok(if is_given { Slopes::Given } else { Slopes::Differences })
    }

    fn take_differences<P: RootProblem>(
        &mut self,
        x: &[f64],
        sizes: &[f64],
        problem: &mut P,
    ) -> Result<(), P::Error> {
        for j in 0..x.len() {
            self.trial.copy_from_slice(x);
            for sign in [1.0, -1.0] {
                let change = sign * CHANGE * size(x[j], sizes[j]);
                self.trial[j] = x[j] + change;
                problem.residual(&self.trial, &mut self.trial_residual)?;
                if self.trial_residual.iter().all(|r| r.is_finite()) {
                    break;
                }
            }
            let change = self.trial[j] - x[j];
            for i in 0..x.len() {
                let slope = (self.trial_residual[i] - self.residual[i]) / change;
                self.jacobian[(i, j)] = if slope.is_finite() { slope } else { 0.0 };
            }
        }
        Ok(())
    }

    fn newton_step(&mut self) {
        match &self.shortest {
            None => {
                self.step.copy_from_slice(&self.residual);
                self.lu.solve(&mut self.step);
            }
            Some((_, inverse)) => {
                self.step.fill(0.0);
                inverse.multiply_add(&self.residual, &mut self.step);
            }
        }
    }

    /// Goes along a step as far as the residual falls; none if it does not.
    fn search<P: RootProblem>(
        &mut self,
        x: &mut [f64],
        sizes: &[f64],
        problem: &mut P,
    ) -> Result<Option<RootOutcome>, P::Error> {
        // By sizes that stay: far away every residual is small beside its unknown.
        let weighed = |r: &f64, (x, nominal): (&f64, &f64)| r.abs() / size(*x, *nominal);
        let merit = |residual: &[f64], x: &[f64]| {
            let all = residual.iter().zip(x.iter().zip(sizes));
            all.map(|(r, of)| weighed(r, of))
                .fold(0.0, |greatest: f64, r| if r > greatest || r.is_nan() { r } else { greatest })
        };
        let before = merit(&self.residual, x);
        let mut share = 1.0;
        for _ in 0..MAX_HALVINGS {
            for (trial, (x, step)) in self.trial.iter_mut().zip(x.iter().zip(&self.step)) {
                *trial = x - share * step;
            }
            if self.trial.iter().all(|x| x.is_finite()) {
                problem.residual(&self.trial, &mut self.trial_residual)?;
                if merit(&self.trial_residual, x) < before * (1.0 - 1e-4 * share) {
                    let outcome = measure(&self.trial, sizes, &self.trial_residual);
                    x.copy_from_slice(&self.trial);
                    std::mem::swap(&mut self.residual, &mut self.trial_residual);
                    return Ok(Some(outcome));
                }
            }
            share *= 0.5;
        }
        Ok(None)
    }
}

/// Size of an unknown.
fn size(x: f64, size: f64) -> f64 {
    x.abs().max(size)
}

fn measure(x: &[f64], sizes: &[f64], residual: &[f64]) -> RootOutcome {
    let mut worst = RootOutcome { is_found: false, residual: 0.0, worst: 0 };
    for (i, r) in residual.iter().enumerate() {
        let relative = if *r == 0.0 { 0.0 } else { r.abs() / size(x[i], sizes[i]) };
        if relative > worst.residual || relative.is_nan() {
            let residual = if relative.is_nan() { f64::INFINITY } else { relative };
            worst = RootOutcome { residual, worst: i, ..worst };
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Equations with or without a Jacobian, and how often they were evaluated.
    struct Counted<F> {
        equations: F,
        slopes: Option<fn(&[f64], &mut Matrix)>,
        evaluations: usize,
    }

    impl<F: Fn(&[f64], &mut [f64])> RootProblem for Counted<F> {
        type Error = Infallible;

        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), Infallible> {
            self.evaluations += 1;
            (self.equations)(x, r);
            Ok(())
        }

        fn jacobian(&mut self, x: &[f64], jacobian: &mut Matrix) -> Result<bool, Infallible> {
            Ok(self.slopes.map(|slopes| slopes(x, jacobian)).is_some())
        }
    }

    fn solve_with(
        x: &mut [f64],
        equations: impl Fn(&[f64], &mut [f64]),
        slopes: Option<fn(&[f64], &mut Matrix)>,
    ) -> (RootOutcome, usize) {
        let mut problem = Counted { equations, slopes, evaluations: 0 };
        let outcome = RootFinder::new(x.len()).solve(x, &vec![1.0; x.len()], &mut problem).unwrap();
        assert!(problem.evaluations < 400, "{}", problem.evaluations);
        (outcome, problem.evaluations)
    }

    fn solve(x: &mut [f64], equations: impl Fn(&[f64], &mut [f64])) -> RootOutcome {
        solve_with(x, equations, None).0
    }

    #[test]
    fn linear_nonlinear_and_stiff_equations_have_their_roots() {
        let mut x = [0.0, 0.0];
        assert!(solve(&mut x, |x, r| (r[0], r[1]) = (2.0 * x[1] + 1.0 - x[0], 3.0 * x[0] - x[1])).is_found);
        assert!((x[0] + 0.2).abs() < 1e-12 && (x[1] + 0.6).abs() < 1e-12, "{x:?}");
        // Where the search begins, the Jacobian of both is singular.
        let mut x = [0.0, 0.0];
        let from_a_singular_point = |x: &[f64], r: &mut [f64]| {
            (r[0], r[1]) = (0.25 + x[1].sin() - x[0], 0.25 + x[0].sin() - x[1]);
        };
        assert!(
            solve(&mut x, from_a_singular_point).is_found && (x[0] - 1.171_229_652_501_666).abs() < 1e-9,
            "{x:?}"
        );
        // The undamped step leads away from zero.
        let mut x = [3.0];
        assert!(solve(&mut x, |x, r| r[0] = x[0].atan()).is_found && x[0].abs() < 1e-9, "{x:?}");
        // Not defined below 2: differences and steps stay where numbers are.
        let mut x = [2.0];
        assert!(
            solve(&mut x, |x, r| r[0] = (x[0] - 2.0).sqrt() - 0.5).is_found && (x[0] - 2.25).abs() < 1e-9
        );
        let mut x = [0.0];
        assert!(solve(&mut x, |x, r| r[0] = (20.0 * x[0]).exp() - 1e6).is_found, "{x:?}");
    }

    #[test]
    fn what_has_no_root_is_told_with_what_is_left() {
        let mut x = [0.3];
        let outcome = solve(&mut x, |x, r| r[0] = x[0] * x[0] + 1.0);
        assert!(!outcome.is_found && (0.9..1.1).contains(&outcome.residual), "{outcome:?}");
        assert!(!solve(&mut [0.0], |_, r| r[0] = 1.0).is_found);
        assert!(!solve(&mut [0.0], |_, r| r[0] = f64::NAN).residual.is_finite());
    }

    #[test]
    fn of_many_roots_of_a_singular_system_the_nearest_is_taken() {
        let mut x = [0.0, 0.0];
        let outcome = solve(&mut x, |x, r| (r[0], r[1]) = (x[0] + x[1] - 2.0, 2.0 * x[0] + 2.0 * x[1] - 4.0));
        assert!(outcome.is_found && (x[0] - 1.0).abs() < 1e-9 && (x[1] - 1.0).abs() < 1e-9, "{x:?}");
    }

    /// x0 = cos x1, x1 = sin x0 + 1/2 with its Jacobian, without it, and with wrong ones.
    #[test]
    fn a_given_jacobian_saves_evaluations_and_a_wrong_one_costs_some() {
        let equations = |x: &[f64], r: &mut [f64]| {
            (r[0], r[1]) = (x[1].cos() - x[0], x[0].sin() + 0.5 - x[1]);
        };
        fn right(x: &[f64], jacobian: &mut Matrix) {
            (jacobian[(0, 0)], jacobian[(0, 1)]) = (-1.0, -x[1].sin());
            (jacobian[(1, 0)], jacobian[(1, 1)]) = (x[0].cos(), -1.0);
        }
        fn against(x: &[f64], jacobian: &mut Matrix) {
            right(x, jacobian);
            jacobian.scale(-1.0);
        }
        fn nothing(_: &[f64], jacobian: &mut Matrix) {
            jacobian.fill(0.0);
        }
        fn no_number(_: &[f64], jacobian: &mut Matrix) {
            jacobian.fill(f64::NAN);
        }
        let run = |slopes| {
            let mut x = [0.0, 0.0];
            let (outcome, evaluations) = solve_with(&mut x, equations, slopes);
            assert!(outcome.is_found, "{outcome:?}");
            (x, evaluations)
        };
        let (by_differences, many) = run(None);
        let (exact, few) = run(Some(right));
        assert!(few < many, "{few} {many}");
        for (x, _) in [(exact, 0), run(Some(against)), run(Some(nothing)), run(Some(no_number))] {
            assert!((0..2).all(|i| (x[i] - by_differences[i]).abs() < 1e-9), "{x:?} {by_differences:?}");
        }
    }
}
