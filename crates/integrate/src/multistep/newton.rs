//! The corrector equation x - x(0) = gamma f(t, x) - rest, by modified Newton with a matrix that is kept as
//! long as it serves.

use costep_core::{Result, StateReader, StateWriter};
use costep_linalg::{Lu, Matrix};

use super::control::{Attempt, Before};
use super::{Failure, Family, Multistep, Reason, RightHandSide, norm};

const MAX_ITERATIONS: usize = 3;
/// Share of the error tolerance that the iteration may leave.
const ACCURACY: f64 = 0.1;
/// Smallest rate of convergence believed in from one iteration to the next.
const RATE_DOWN: f64 = 0.3;
const DIVERGENCE: f64 = 2.0;
/// Steps after which the matrix, and the Jacobian in it, are made anew.
const MATRIX_AGE: u64 = 20;
const JACOBIAN_AGE: u64 = 51;
/// Change of gamma that asks for a new matrix, and below which a failure is put down to the Jacobian.
const MATRIX_CHANGE: f64 = 0.3;
const JACOBIAN_CHANGE: f64 = 0.2;

/// Jacobian and factors of I - gamma J.
#[derive(Debug)]
pub(super) struct Newton {
    jacobian: Matrix,
    factors: Lu,
    /// gamma of the factors; 0 = none.
    gamma: f64,
    /// Convergence rate estimate.
    rate: f64,
    /// Steps at the last factorisation and the last Jacobian.
    factored_at: u64,
    jacobian_at: u64,
    /// x, f and the update of the iteration.
    pub(super) x: Vec<f64>,
    f: Vec<f64>,
    update: Vec<f64>,
}

impl Newton {
    pub(super) fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n];
        Self {
            jacobian: Matrix::zeros(n, n),
            factors: Lu::new(n),
            gamma: 0.0,
            rate: 1.0,
            factored_at: 0,
            jacobian_at: 0,
            x: zeros(),
            f: zeros(),
            update: zeros(),
        }
    }

    /// The matrices are of another solution.
    pub(super) fn forget(&mut self) {
        self.gamma = 0.0;
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.jacobian.copy_from(&other.jacobian);
        self.factors.copy_from(&other.factors);
        (self.gamma, self.rate) = (other.gamma, other.rate);
        (self.factored_at, self.jacobian_at) = (other.factored_at, other.jacobian_at);
    }

    pub(super) fn save(&self, writer: &mut StateWriter) {
        writer.reals(self.jacobian.data());
        writer.real(self.gamma);
        writer.real(self.rate);
        writer.integer(self.factored_at);
        writer.integer(self.jacobian_at);
    }

    pub(super) fn load(&mut self, reader: &mut StateReader<'_>) -> Result<()> {
        reader.reals(self.jacobian.data_mut())?;
        (self.gamma, self.rate) = (reader.real()?, reader.real()?);
        (self.factored_at, self.jacobian_at) = (reader.integer()?, reader.integer()?);
        if self.gamma != 0.0 && !self.factor(self.gamma) {
            self.gamma = 0.0;
        }
        Ok(())
    }

    /// Factors I - gamma J.
    fn factor(&mut self, gamma: f64) -> bool {
        let matrix = self.factors.matrix_mut();
        matrix.set_identity();
        matrix.add_scaled(-gamma, &self.jacobian);
        self.factors.factor()
    }
}

/// How the iteration ended.
enum Iteration {
    Converged(f64),
    Diverged,
}

impl Multistep {
    /// Solves for the correction of the predicted state.
    pub(super) fn solve<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        before: Before,
    ) -> Result<Attempt, Failure> {
        let gamma = self.history.h / self.coefficients.l[1];
        let mut renew = self.wants_matrix(gamma, before);
        let mut is_fresh = false;
        let mut jacobian_suspect = before == Before::NoConvergence;
        loop {
            self.correction.fill(0.0);
            if !self.evaluate(equations)? {
                return Ok(Attempt::Failed);
            }
            if renew {
                let Some(fresh) = self.renew_matrix(equations, gamma, jacobian_suspect)? else {
                    return Ok(Attempt::Failed);
                };
                is_fresh = fresh;
            }
            match self.iterate(equations, gamma)? {
                Iteration::Converged(size) => return Ok(Attempt::Converged(size)),
                Iteration::Diverged if is_fresh => return Ok(Attempt::Failed),
                Iteration::Diverged => {
                    renew = true;
                    let change = (gamma / self.newton.gamma - 1.0).abs();
                    jacobian_suspect |= change < JACOBIAN_CHANGE;
                }
            }
        }
    }

    fn wants_matrix(&self, gamma: f64, before: Before) -> bool {
        let Newton { gamma: factored, factored_at, .. } = self.newton;
        factored == 0.0
            || before != Before::Nothing
            || self.history.steps >= factored_at + MATRIX_AGE
            || (gamma / factored - 1.0).abs() > MATRIX_CHANGE
    }

    /// New factors, with a new Jacobian if the old one is old or suspect. Says whether the Jacobian is new;
    /// none if the matrix is singular.
    fn renew_matrix<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        gamma: f64,
        jacobian_suspect: bool,
    ) -> Result<Option<bool>, Failure> {
        let is_old = self.newton.gamma == 0.0 || self.history.steps >= self.newton.jacobian_at + JACOBIAN_AGE;
        let renew = is_old || jacobian_suspect;
        if renew {
            self.renew_jacobian(equations)?;
        }
        self.statistics.factorisations += 1;
        (self.newton.rate, self.newton.factored_at) = (1.0, self.history.steps);
        self.newton.gamma = gamma;
        if self.newton.factor(gamma) {
            return Ok(Some(renew));
        }
        self.newton.gamma = 0.0;
        Ok(None)
    }

    fn renew_jacobian<E: RightHandSide + ?Sized>(&mut self, equations: &mut E) -> Result<(), Failure> {
        self.statistics.jacobians += 1;
        self.newton.jacobian_at = self.history.steps;
        let t = self.history.t;
        let known = equations.jacobian(t, &self.newton.x, &mut self.newton.jacobian);
        match known {
            Err(error) => Err(self.failure(Reason::Equations(Box::new(error)))),
            Ok(true) => Ok(()),
            Ok(false) => self.jacobian_by_differences(equations),
        }
    }

    /// One column per state, with a step that disturbs f by about the square root of the resolution.
    fn jacobian_by_differences<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
    ) -> Result<(), Failure> {
        let n = self.weights.len();
        let noise = norm(&self.newton.f, &self.weights);
        let scale = 1e3 * self.history.h.abs() * f64::EPSILON * n as f64 * noise;
        let smallest = if noise > 0.0 { scale } else { 1.0 };
        for j in 0..n {
            let saved = self.newton.x[j];
            let step = (f64::EPSILON.sqrt() * saved.abs()).max(smallest / self.weights[j]);
            self.newton.x[j] = saved + step;
            let step = self.newton.x[j] - saved;
            let outcome = equations.derivatives(self.history.t, &self.newton.x, &mut self.work[0]);
            self.newton.x[j] = saved;
            outcome.map_err(|error| self.failure(Reason::Equations(Box::new(error))))?;
            for (i, disturbed) in self.work[0].iter().enumerate() {
                self.newton.jacobian[(i, j)] = (disturbed - self.newton.f[i]) / step;
            }
        }
        self.statistics.difference_evaluations += n as u64;
        Ok(())
    }

    /// f at the predicted state plus the correction so far. Says whether it is finite.
    fn evaluate<E: RightHandSide + ?Sized>(&mut self, equations: &mut E) -> Result<bool, Failure> {
        let Newton { x, f, .. } = &mut self.newton;
        let predicted = self.history.column(0).iter().zip(&self.correction);
        x.iter_mut().zip(predicted).for_each(|(x, (predicted, e))| *x = predicted + e);
        let outcome = equations.derivatives(self.history.t, x, f);
        outcome.map_err(|error| self.failure(Reason::Equations(Box::new(error))))?;
        self.statistics.evaluations += 1;
        Ok(self.newton.f.iter().all(|f| f.is_finite()))
    }

    fn iterate<E: RightHandSide + ?Sized>(
        &mut self,
        equations: &mut E,
        gamma: f64,
    ) -> Result<Iteration, Failure> {
        let mut last = 0.0;
        for m in 0..MAX_ITERATIONS {
            self.statistics.iterations += 1;
            self.update(gamma);
            let size = norm(&self.newton.update, &self.weights);
            if m > 0 {
                self.newton.rate = (RATE_DOWN * self.newton.rate).max(size / last);
            }
            let left = size * self.newton.rate.min(1.0) * self.coefficients.error;
            if left <= ACCURACY {
                let total = if m == 0 { size } else { norm(&self.correction, &self.weights) };
                return Ok(Iteration::Converged(total));
            }
            let diverges = !size.is_finite() || (m > 0 && size > DIVERGENCE * last);
            if diverges || m + 1 == MAX_ITERATIONS || !self.evaluate(equations)? {
                break;
            }
            last = size;
        }
        Ok(Iteration::Diverged)
    }

    /// One Newton update of the correction.
    fn update(&mut self, gamma: f64) {
        let l1 = self.coefficients.l[1];
        let Newton { f, update, factors, gamma: factored, .. } = &mut self.newton;
        let terms = f.iter().zip(self.history.column(1)).zip(&self.correction);
        update.iter_mut().zip(terms).for_each(|(update, ((f, z1), e))| *update = gamma * f - z1 / l1 - e);
        factors.solve(update);
        if self.settings.family == Family::Bdf && gamma != *factored {
            // Makes up for the other gamma in the factors.
            let factor = 2.0 / (1.0 + gamma / *factored);
            update.iter_mut().for_each(|update| *update *= factor);
        }
        self.correction.iter_mut().zip(&*update).for_each(|(e, update)| *e += update);
    }
}
