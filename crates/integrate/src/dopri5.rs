//! Dormand-Prince 5(4): Runge-Kutta of order 5 with error control, and continuous output of order 4.
//!
//! Coefficients: Dormand & Prince 1980; continuous extension and step control as in Hairer, Norsett & Wanner,
//! Solving Ordinary Differential Equations I, II.4 to II.6. The step is not carried across communication
//! points (inputs jump there), its length is. A jump inside a macro step is crossed by a step as short as the
//! resolution of time, whatever its error estimate says: nobody can do better.

use costep_core::{Code, Error, InputSegment, Interval, Result};

use crate::ode::Ode;
use crate::solver::{REPORTED_POINTS, Watch};

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
/// How many steps of a macro step may be that short in spite of their error.
const MAX_JUMPS: usize = 20;

/// Dormand-Prince 5(4).
#[derive(Clone, Debug)]
pub struct Dopri5 {
    tolerance: f64,
    /// Proposal for the next step; 0 = none yet.
    step: f64,
    /// Typical size of each state.
    nominal: Vec<f64>,
    /// Largest absolute value of each state so far, at least the nominal, for the absolute tolerance.
    largest: Vec<f64>,
    slopes: [Vec<f64>; 7],
    stage: Vec<f64>,
    between: Vec<f64>,
    u: Vec<f64>,
}

impl Dopri5 {
    pub(crate) fn new(tolerance: f64, ode: &dyn Ode) -> Self {
        let zeros = || vec![0.0; ode.states()];
        let mut nominal = zeros();
        ode.nominal_state(&mut nominal);
        Self {
            tolerance,
            step: 0.0,
            nominal,
            largest: zeros(),
            slopes: std::array::from_fn(|_| zeros()),
            stage: zeros(),
            between: zeros(),
            u: vec![0.0; ode.description().inputs.len()],
        }
    }

    pub(crate) fn proposal(&self) -> f64 {
        self.step
    }

    pub(crate) fn set_proposal(&mut self, step: f64) {
        self.step = step;
    }

    // Kept out of line, so that the hot path of the small integrator has a small frame.
    #[inline(never)]
    pub(crate) fn advance<S: Ode + ?Sized, W: Watch>(
        &mut self,
        ode: &S,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        watch: &mut W,
    ) -> Result<()> {
        let h = interval.length;
        // The largest values are of this macro step only: nothing but the step length is carried on.
        self.largest.copy_from_slice(&self.nominal);
        self.update_largest(x);
        input.evaluate(0.0, &mut self.u);
        watch.see(interval.start, x, &self.u);
        ode.derivatives(interval.start, x, &self.u, &mut self.slopes[0]);
        let mut proposal = if self.step > 0.0 { self.step.min(h) } else { h * 0.01 };
        let shortest = RESOLUTION * interval.start.abs().max(interval.end.abs());
        let (mut s, mut reported, mut jumps) = (0.0, 1, 0);
        for _ in 0..MAX_STEPS {
            let last = s + proposal.max(shortest) * STRETCH >= h;
            let dt = if last { h - s } else { proposal.max(shortest) };
            self.stages(ode, interval.start, s, dt, input, x);
            let error = self.error(dt, x);
            let factor = (SAFETY * error.powf(-0.2)).clamp(MAX_SHRINK, MAX_GROWTH);
            let is_jump = error > 1.0 && error.is_finite() && dt <= shortest * STRETCH;
            if error <= 1.0 || is_jump {
                jumps += usize::from(is_jump);
                if W::LOOKS {
                    self.report(interval, input, (s, dt, last), x, &mut reported, watch);
                }
                x.copy_from_slice(&self.stage);
                self.slopes.swap(0, 6);
                self.update_largest(x);
                if last {
                    // A last step that was cut short says little about the next length: keep the proposal.
                    self.step = proposal.max(dt * factor);
                    return Ok(());
                }
                s += dt;
            }
            if jumps > MAX_JUMPS || (!error.is_finite() && dt <= shortest * STRETCH) {
                return Err(self.too_small(ode, interval.start + s, dt));
            }
            // An error that is not finite says nothing but that the step is too long.
            proposal = dt * if error.is_finite() { factor } else { MAX_SHRINK };
        }
        Err(self.too_small(ode, interval.start + s, proposal))
    }

    fn update_largest(&mut self, x: &[f64]) {
        self.largest.iter_mut().zip(x).for_each(|(largest, x)| *largest = largest.max(x.abs()));
    }

    /// Fills the seven slopes and the end state of a step; the first slope is known.
    fn stages<S: Ode + ?Sized>(
        &mut self,
        ode: &S,
        start: f64,
        s: f64,
        dt: f64,
        input: InputSegment<'_>,
        x: &[f64],
    ) {
        for i in 1..7 {
            for (k, stage) in self.stage.iter_mut().enumerate() {
                let sum: f64 = (0..i).map(|j| A[i][j] * self.slopes[j][k]).sum();
                *stage = x[k] + dt * sum;
            }
            input.evaluate(s + C[i] * dt, &mut self.u);
            ode.derivatives(start + s + C[i] * dt, &self.stage, &self.u, &mut self.slopes[i]);
        }
    }

    /// Error estimate relative to the tolerance, root mean square.
    fn error(&self, dt: f64, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (k, (before, after)) in x.iter().zip(&self.stage).enumerate() {
            let estimate: f64 = (0..7).map(|j| E[j] * self.slopes[j][k]).sum::<f64>() * dt;
            let largest = self.largest[k].max(after.abs());
            let scale = self.tolerance * (before.abs().max(after.abs()) + ABSOLUTE_SHARE * largest);
            sum += (estimate / scale.max(f64::MIN_POSITIVE)).powi(2);
        }
        (sum / x.len().max(1) as f64).sqrt()
    }

    /// Shows the watcher the points of the fixed grid that lie in this step, by the continuous extension.
    fn report<W: Watch>(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        (s, dt, last): (f64, f64, bool),
        x: &[f64],
        reported: &mut usize,
        watch: &mut W,
    ) {
        let h = interval.length;
        while *reported <= REPORTED_POINTS {
            let at = h * *reported as f64 / REPORTED_POINTS as f64;
            let is_end = *reported == REPORTED_POINTS;
            let theta = if is_end { 1.0 } else { (at - s) / dt };
            if theta > 1.0 || (is_end && !last) {
                return;
            }
            self.interpolate(theta, dt, x);
            input.evaluate(at, &mut self.u);
            watch.see(if is_end { interval.end } else { interval.start + at }, &self.between, &self.u);
            *reported += 1;
        }
    }

    fn interpolate(&mut self, theta: f64, dt: f64, x: &[f64]) {
        for (k, between) in self.between.iter_mut().enumerate() {
            let change = self.stage[k] - x[k];
            let bend = dt * self.slopes[0][k] - change;
            let end_bend = change - dt * self.slopes[6][k] - bend;
            let correction: f64 = dt * (0..7).map(|j| D[j] * self.slopes[j][k]).sum::<f64>();
            let rest = 1.0 - theta;
            *between = x[k] + theta * (change + rest * (bend + theta * (end_bend + rest * correction)));
        }
    }

    #[cold]
    fn too_small<S: Ode + ?Sized>(&self, ode: &S, t: f64, dt: f64) -> Error {
        let name = &ode.description().name;
        let message = format!("the integrator of `{name}` needs steps of {dt:e} s at t = {t} s");
        Error::new(Code::StepTooSmall, message)
            .because(format!("relative tolerance {:e}", self.tolerance))
            .hint("loosen the tolerance, or use a fixed step: `--solver rk4:10us`")
    }
}
