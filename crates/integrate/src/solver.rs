//! The choice of integrator and its settings.

use costep_core::quantity::{exact_time, parse_time};
use costep_core::{Code, Error, InputSegment, Interval, Result, inner_steps};

use crate::dopri5::Dopri5;
use crate::euler::Euler;
use crate::exact_lti::ExactLti;
use crate::ode::Ode;
use crate::rk4::Rk4;

/// Which integrator, with which settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solver {
    /// Explicit Euler with inner steps of at most this length.
    Euler(f64),
    /// Classical Runge-Kutta of order 4 with inner steps of at most this length.
    Rk4(f64),
    /// Dormand-Prince 5(4) with this relative tolerance.
    Dopri5(f64),
    /// Exact steps by the matrix exponential, for linear systems.
    Exact,
}

/// Names of the integrators as users write them.
const NAMES: [&str; 4] = ["euler", "rk4", "dopri5", "exact"];

impl Solver {
    /// Reads `euler:10us`, `rk4:0.1ms`, `dopri5:1e-8` or `exact`. Without a value the default is taken.
    pub fn parse(text: &str, default_micro_step: f64) -> Result<Self> {
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
        let micro_step = || value.map_or(Ok(default_micro_step), parse_time);
        let solver = match name {
            "euler" => Self::Euler(micro_step()?),
            "rk4" => Self::Rk4(micro_step()?),
            "dopri5" => Self::Dopri5(value.map_or(Ok(1e-8), |value| {
                value.parse().map_err(|_| Error::new(Code::BadValue, format!("`{value}` is not a tolerance")))
            })?),
            "exact" if value.is_none() => Self::Exact,
            "exact" => return Err(Error::new(Code::BadValue, "the solver `exact` takes no value")),
            _ => {
                return Err(
                    Error::new(Code::BadValue, format!("unknown solver `{name}`")).suggest(name, NAMES)
                );
            }
        };
        solver.check()?;
        Ok(solver)
    }

    /// Refuses settings that cannot work.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Euler(step) | Self::Rk4(step) if !(step > 0.0 && step.is_finite()) => {
                Err(Error::new(Code::BadValue, format!("an inner step of {step} s is not possible")))
            }
            Self::Dopri5(tolerance) if !(1e-14..=0.1).contains(&tolerance) => Err(Error::new(
                Code::BadValue,
                format!("a tolerance of {tolerance} is not between 1e-14 and 0.1"),
            )),
            _ => Ok(()),
        }
    }

    /// The text [`Solver::parse`] reads.
    pub fn label(&self) -> String {
        match *self {
            Self::Euler(step) => format!("euler:{}", exact_time(step)),
            Self::Rk4(step) => format!("rk4:{}", exact_time(step)),
            Self::Dopri5(tolerance) => format!("dopri5:{tolerance:e}"),
            Self::Exact => "exact".into(),
        }
    }

    /// An integrator for these equations.
    pub fn integrator(&self, ode: &dyn Ode) -> Result<Integrator> {
        self.check()?;
        let (states, inputs) = (ode.states(), ode.description().inputs.len());
        Ok(match *self {
            Self::Euler(step) => Integrator::Euler(Euler::new(step, states, inputs)),
            Self::Rk4(step) => Integrator::Rk4(Box::new(Rk4::new(step, states, inputs))),
            Self::Dopri5(tolerance) => Integrator::Dopri5(Box::new(Dopri5::new(tolerance, ode))),
            Self::Exact => Integrator::Exact(Box::new(ExactLti::new(ode)?)),
        })
    }
}

/// An integrator with its memory. Large ones are boxed: thousands of subsystems with a small one have to fit
/// into the caches.
#[derive(Clone, Debug)]
pub enum Integrator {
    /// See [`Solver::Euler`].
    Euler(Euler),
    /// See [`Solver::Rk4`].
    Rk4(Box<Rk4>),
    /// See [`Solver::Dopri5`].
    Dopri5(Box<Dopri5>),
    /// See [`Solver::Exact`].
    Exact(Box<ExactLti>),
}

/// Points inside a macro step that integrators without inner steps of their own report.
pub(crate) const REPORTED_POINTS: usize = 20;

/// Most inner steps of a macro step.
const MAX_INNER_STEPS: usize = 100_000_000;

/// Takes note of states inside a macro step: (time, state, input).
pub(crate) trait Watch {
    /// Whether it looks at all.
    const LOOKS: bool = true;

    /// Called at the start of the macro step and after every inner step.
    fn see(&mut self, t: f64, x: &[f64], u: &[f64]);
}

/// Takes no note.
pub(crate) struct Blind;

impl Watch for Blind {
    const LOOKS: bool = false;

    #[inline(always)]
    fn see(&mut self, _t: f64, _x: &[f64], _u: &[f64]) {}
}

impl Integrator {
    /// Number of points a [`Watch`] sees in a macro step of length `h`.
    pub(crate) fn points(&self, h: f64) -> usize {
        let steps = match self {
            Self::Euler(euler) => inner_steps(h, euler.inner().micro_step),
            Self::Rk4(rk4) => inner_steps(h, rk4.inner().micro_step),
            Self::Dopri5(_) | Self::Exact(_) => REPORTED_POINTS,
        };
        steps.saturating_add(1)
    }

    /// Advances x over the interval.
    #[inline]
    pub(crate) fn advance<S: Ode + ?Sized, W: Watch>(
        &mut self,
        ode: &S,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        watch: &mut W,
    ) -> Result<()> {
        match self {
            Self::Euler(euler) => euler.advance(ode, interval, input, x, watch),
            Self::Rk4(rk4) => rk4.advance(ode, interval, input, x, watch),
            Self::Dopri5(dopri5) => return dopri5.advance(ode, interval, input, x, watch),
            Self::Exact(exact) => exact.advance(interval, input, x, watch),
        }
        Ok(())
    }

    /// Refuses a macro step that holds more inner steps than anyone means.
    pub(crate) fn check_step(&self, h: f64) -> Result<()> {
        let (Self::Euler(_) | Self::Rk4(_)) = self else { return Ok(()) };
        if self.points(h) <= MAX_INNER_STEPS {
            return Ok(());
        }
        let message = format!("a macro step of {h} s has more than {MAX_INNER_STEPS:e} inner steps");
        Err(Error::new(Code::BadValue, message).hint("give a larger inner step: `--solver euler:10us`"))
    }

    /// Length of its steps if it is explicit Euler, else 0.
    pub(crate) fn euler_step(&self) -> f64 {
        if let Self::Euler(euler) = self { euler.inner().micro_step } else { 0.0 }
    }

    /// What the integrator remembers from step to step.
    pub(crate) fn memory(&self) -> f64 {
        if let Self::Dopri5(dopri5) = self { dopri5.proposal() } else { 0.0 }
    }

    /// Puts back what [`Integrator::memory`] gave.
    pub(crate) fn set_memory(&mut self, memory: f64) {
        if let Self::Dopri5(dopri5) = self {
            dopri5.set_proposal(memory);
        }
    }
}

/// The inner steps of a fixed-step integrator. Remembers the last division: macro steps are mostly equal.
#[derive(Clone, Debug)]
pub(crate) struct InnerSteps {
    pub(crate) micro_step: f64,
    length: f64,
    steps: usize,
    dt: f64,
}

impl InnerSteps {
    pub(crate) fn new(micro_step: f64) -> Self {
        Self { micro_step, length: 0.0, steps: 1, dt: 0.0 }
    }

    /// Number and length of the equal inner steps that fill `h`.
    #[inline]
    pub(crate) fn divide(&mut self, h: f64) -> (usize, f64) {
        if h != self.length {
            self.length = h;
            self.steps = inner_steps(h, self.micro_step);
            self.dt = h / self.steps as f64;
        }
        (self.steps, self.dt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solvers_are_written_as_text() {
        for text in ["euler:10us", "rk4:100us", "dopri5:1e-8", "exact"] {
            assert_eq!(Solver::parse(text, 1.0).unwrap().label(), text);
        }
        assert_eq!(Solver::Euler(1.234567891e-5).label(), "euler:1.234567891e-5s");
        assert_eq!(Solver::parse("euler", 1e-5).unwrap(), Solver::Euler(1e-5));
        assert!(Solver::parse("eluer", 1e-5).unwrap_err().to_string().contains("did you mean `euler`?"));
        for bad in ["euler:0s", "dopri5:1", "dopri5:x", "exact:1"] {
            assert!(Solver::parse(bad, 1e-5).is_err(), "{bad}");
        }
    }
}
