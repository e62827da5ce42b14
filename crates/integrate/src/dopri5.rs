//! Dormand-Prince 5(4): Runge-Kutta of order 5 with error control, and continuous output of order 4.
//!
//! Coefficients: Dormand & Prince 1980; continuous extension and step control as in Hairer, Norsett &
//! Wanner, Solving Ordinary Differential Equations I, II.4 to II.6. The step is not carried across
//! communication points (inputs jump there), its length is. A jump inside a macro step is crossed by a step
//! as short as the resolution of time, whatever its error estimate says: nobody can do better.

use costep_core::{Code, Error, Result, SolverCounts, StateReader, StateWriter};

use crate::equations::Equations;
use crate::integrator::{Integrator, Start, Stretch};

const C: [f64; 7] = [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0];
const A: [[f64; 6]; 7] = [
    [0.0; 6],
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Order 5 minus order 4.
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];
/// Continuous extension.
const D: [f64; 7] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

/// Absolute tolerance as a share of the nominal value of a state, or of the largest it has had.
const ABSOLUTE_SHARE: f64 = 1e-3;
const SAFETY: f64 = 0.9;
const MAX_GROWTH: f64 = 5.0;
const MAX_SHRINK: f64 = 0.2;
const MAX_STEPS: usize = 1_000_000;
/// A step this much longer than proposed is taken if it ends the macro step: a crumb of one would remain.
const STRETCH: f64 = 1.01;
/// Shortest step, relative to the time it is taken at.
const RESOLUTION: f64 = 16.0 * f64::EPSILON;
/// How many steps of a stretch may be that short in spite of their error.
const MAX_JUMPS: usize = 20;

/// Dormand-Prince 5(4).
#[derive(Clone, Debug)]
pub(crate) struct Dopri5 {
    tolerance: f64,
    /// Proposal for the next stretch; 0 = none yet.
    step: f64,
    saved_step: f64,
    /// The nominal values are not known yet.
    is_new: bool,
    /// Typical size of each state.
    nominal: Vec<f64>,
    /// Largest absolute value of each state so far, at least the nominal, for the absolute tolerance.
    largest: Vec<f64>,
    slopes: [Vec<f64>; 7],
    stage: Vec<f64>,
    /// State at the start of the last step.
    before: Vec<f64>,
    u: Vec<f64>,
    progress: Progress,
    counts: SolverCounts,
}

/// Where it stands in a stretch.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Position reached.
    s: f64,
    /// Length of the last step; 0 = none yet.
    dt: f64,
    proposal: f64,
    shortest: f64,
    steps: usize,
    jumps: usize,
}

impl Dopri5 {
    pub(crate) fn new(tolerance: f64, states: usize, inputs: usize) -> Self {
        let zeros = || vec![0.0; states];
        Self {
            tolerance,
            step: 0.0,
            saved_step: 0.0,
            is_new: true,
            nominal: zeros(),
            largest: zeros(),
            slopes: std::array::from_fn(|_| zeros()),
            stage: zeros(),
            before: zeros(),
            u: vec![0.0; inputs],
            progress: Progress::default(),
            counts: SolverCounts::default(),
        }
    }

    fn update_largest(&mut self, x: &[f64]) {
        self.largest.iter_mut().zip(x).for_each(|(largest, x)| *largest = largest.max(x.abs()));
    }

    /// Fills the seven slopes and the end state of a step; the first slope is known.
    fn stages(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        (s, dt): (f64, f64),
        x: &[f64],
    ) -> Result<()> {
        for i in 1..7 {
            for (k, stage) in self.stage.iter_mut().enumerate() {
                let sum: f64 = (0..i).map(|j| A[i][j] * self.slopes[j][k]).sum();
                *stage = x[k] + dt * sum;
            }
            stretch.input.evaluate(s + C[i] * dt, &mut self.u);
            equations.derivatives(
                stretch.start + s + C[i] * dt,
                &self.stage,
                &self.u,
                &mut self.slopes[i],
            )?;
        }
        Ok(())
    }

    /// Error estimate relative to the tolerance, root mean square.
    fn error(&self, dt: f64, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (k, (before, after)) in x.iter().zip(&self.stage).enumerate() {
            sum += self.error_of(k, dt, *before, *after).powi(2);
        }
        (sum / x.len().max(1) as f64).sqrt()
    }

    #[inline(always)]
    fn error_of(&self, k: usize, dt: f64, before: f64, after: f64) -> f64 {
        let estimate: f64 = (0..7).map(|j| E[j] * self.slopes[j][k]).sum::<f64>() * dt;
        let largest = self.largest[k].max(after.abs());
        let scale = self.tolerance * (before.abs().max(after.abs()) + ABSOLUTE_SHARE * largest);
        estimate / scale.max(f64::MIN_POSITIVE)
    }

    #[cold]
    fn too_small(&self, equations: &dyn Equations, (t, x): (f64, &[f64]), dt: f64) -> Error {
        let name = &equations.description().name;
        let message = format!("the integrator of `{name}` needs steps of {dt:e} s at t = {t} s");
        let infinite = (0..x.len()).find(|k| self.slopes.iter().any(|slope| !slope[*k].is_finite()));
        let error = |k: &usize| self.error_of(*k, dt, x[*k], self.stage[*k]).abs();
        let worst = (0..x.len()).max_by(|i, k| error(i).total_cmp(&error(k)));
        let blame = match (infinite, worst) {
            (Some(state), _) => {
                format!("; the derivative of `{}` is not finite", equations.state_name(state))
            }
            (None, Some(state)) => format!("; most of the error is in `{}`", equations.state_name(state)),
            (None, None) => String::new(),
        };
        Error::new(Code::StepTooSmall, message)
            .because(format!("relative tolerance {:e}{blame}", self.tolerance))
            .hint("loosen the tolerance, or use a fixed step: `--solver rk4:10us`")
    }
}

impl Integrator for Dopri5 {
    fn begin(
        &mut self,
        stretch: &Stretch<'_>,
        start: Start,
        equations: &mut dyn Equations,
        x: &[f64],
    ) -> Result<()> {
        if self.is_new || start == Start::Event {
            equations.nominals(&mut self.nominal);
            self.is_new = false;
        }
        // The largest values are of this stretch only: nothing but the step length is carried on.
        self.largest.copy_from_slice(&self.nominal);
        self.update_largest(x);
        let h = stretch.to - stretch.from;
        self.progress = Progress {
            s: stretch.from,
            proposal: if self.step > 0.0 { self.step.min(h) } else { h * 0.01 },
            shortest: RESOLUTION * stretch.start.abs().max(stretch.end.abs()),
            ..Progress::default()
        };
        stretch.input.evaluate(stretch.from, &mut self.u);
        self.counts.evaluations += 1;
        equations.derivatives(stretch.time(stretch.from), x, &self.u, &mut self.slopes[0])
    }

    // Kept out of line, so that callers have a small frame.
    #[inline(never)]
    fn inner_step(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        x: &mut [f64],
    ) -> Result<f64> {
        if self.progress.dt > 0.0 {
            // The last slope of a step is the first of the next.
            self.slopes.swap(0, 6);
        }
        let Progress { s, mut proposal, shortest, mut steps, mut jumps, .. } = self.progress;
        while steps < MAX_STEPS {
            steps += 1;
            let last = s + proposal.max(shortest) * STRETCH >= stretch.to;
            let dt = if last { stretch.to - s } else { proposal.max(shortest) };
            self.stages(stretch, equations, (s, dt), x)?;
            self.counts.evaluations += 6;
            let error = self.error(dt, x);
            let factor = (SAFETY * error.powf(-0.2)).clamp(MAX_SHRINK, MAX_GROWTH);
            let is_jump = error > 1.0 && error.is_finite() && dt <= shortest * STRETCH;
            jumps += usize::from(is_jump);
            if jumps > MAX_JUMPS || (!error.is_finite() && dt <= shortest * STRETCH) {
                return Err(self.too_small(equations, (stretch.start + s, x), dt));
            }
            if error <= 1.0 || is_jump {
                self.counts.steps += 1;
                self.before.copy_from_slice(x);
                x.copy_from_slice(&self.stage);
                self.update_largest(x);
                let next = dt * factor;
                // A last step that was cut short says little about the next length: keep the proposal.
                self.step = if last { proposal.max(next) } else { next };
                let s = if last { stretch.to } else { s + dt };
                self.progress = Progress { s, dt, proposal: next, shortest, steps, jumps };
                return Ok(s);
            }
            self.counts.error_failures += 1;
            // An error that is not finite says nothing but that the step is too long.
            proposal = dt * if error.is_finite() { factor } else { MAX_SHRINK };
        }
        Err(self.too_small(equations, (stretch.start + s, x), proposal))
    }

    fn interpolate(
        &mut self,
        _stretch: &Stretch<'_>,
        _equations: &mut dyn Equations,
        s: f64,
        x: &mut [f64],
    ) -> Result<()> {
        let dt = self.progress.dt;
        let rest = ((self.progress.s - s) / dt).clamp(0.0, 1.0);
        let theta = 1.0 - rest;
        for (k, x) in x.iter_mut().enumerate() {
            let before = self.before[k];
            let change = self.stage[k] - before;
            let bend = dt * self.slopes[0][k] - change;
            let end_bend = change - dt * self.slopes[6][k] - bend;
            let correction: f64 = dt * (0..7).map(|j| D[j] * self.slopes[j][k]).sum::<f64>();
            *x = before + theta * (change + rest * (bend + theta * (end_bend + rest * correction)));
        }
        Ok(())
    }

    fn counts(&self) -> Option<SolverCounts> {
        Some(self.counts)
    }

    fn reset(&mut self) {
        (self.step, self.is_new) = (0.0, true);
    }

    fn snapshot(&mut self) {
        self.saved_step = self.step;
    }

    fn restore(&mut self) {
        (self.step, self.is_new) = (self.saved_step, true);
    }

    fn save(&self, out: &mut StateWriter) {
        out.real(self.step);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        (self.step, self.is_new) = (from.real()?, true);
        Ok(())
    }
}
