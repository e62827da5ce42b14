//! The choice of integrator and its settings.

use costep_core::quantity::{exact_time, one_word, parse_time, rewrite_times};
use costep_core::{Code, Error, Result};

use crate::dopri5::Dopri5;
use crate::equations::Equations;
use crate::euler::Euler;
use crate::exact_lti::ExactLti;
use crate::integrator::Integrator;
use crate::linear_implicit::LinearImplicit;
use crate::multistep::{AtPoint, Family, MultistepIntegrator};
use crate::rk4::Rk4;

/// Which integrator, with which settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solver {
    /// Explicit Euler with inner steps of at most this length.
    Euler(f64),
    /// Classical Runge-Kutta of order 4 with inner steps of at most this length.
    Rk4(f64),
    /// Linearly implicit Euler with inner steps of at most this length.
    LinearImplicit(f64),
    /// Dormand-Prince 5(4) with this relative tolerance.
    Dopri5(f64),
    /// Exact steps by the matrix exponential, for linear systems.
    Exact,
    /// Variable-step, variable-order multistep formulas with this relative tolerance, and what they do
    /// where inputs change.
    Multistep(Family, f64, AtPoint),
    /// One of another crate, with the value of its setting.
    Other(&'static SolverEntry, f64),
}

impl Solver {
    /// Names of the integrators as users write them.
    pub const NAMES: [&str; 7] = ["euler", "rk4", "linear-implicit", "dopri5", "exact", "bdf", "adams"];

    /// The sharpest relative tolerance there is.
    pub const SHARPEST: f64 = 1e-14;

    /// Reads `euler:10us`, `rk4:0.1ms`, `linear-implicit:1ms`, `dopri5:1e-8`, `exact`, `bdf:1e-6` or `adams:1e-8:restart`. Without
    /// a value the default is taken.
    pub fn parse(text: &str, default_micro_step: f64) -> Result<Self> {
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
        let typed = |hint: &str| rewrite_times(hint, |time| format!("{name}:{}", one_word(time)));
        let time = |text| {
            parse_time(text).map_err(|error| {
                let hint = typed(error.help());
                error.hint(hint)
            })
        };
        let micro_step = || value.map_or(Ok(default_micro_step), time);
        let solver = match name {
            "euler" => Self::Euler(micro_step()?),
            "rk4" => Self::Rk4(micro_step()?),
            "linear-implicit" => Self::LinearImplicit(micro_step()?),
            "dopri5" => Self::Dopri5(tolerance(value, 1e-8)?),
            "bdf" => multistep(Family::Bdf, value)?,
            "adams" => multistep(Family::Adams, value)?,
            "exact" if value.is_none() => Self::Exact,
            "exact" => return Err(Error::new(Code::BadValue, "the solver `exact` takes no value")),
            _ => return Err(unknown(name, Self::NAMES)),
        };
        solver.check()?;
        Ok(solver)
    }

    /// Refuses settings that cannot work.
    pub fn check(&self) -> Result<()> {
        if let Some(step) = self.inner_step().filter(|step| !(*step > 0.0 && step.is_finite())) {
            return Err(Error::new(Code::BadValue, format!("an inner step of {step} s is not possible")));
        }
        if let Some(tolerance) = self.tolerance().filter(|value| !(Self::SHARPEST..=0.1).contains(value)) {
            let message = format!("a tolerance of {tolerance} is not between 1e-14 and 0.1");
            return Err(Error::new(Code::BadValue, message).hint("choose one between: 1e-8 for one"));
        }
        Ok(())
    }

    /// The text [`Solver::parse`] reads.
    pub fn label(&self) -> String {
        match *self {
            Self::Euler(step) => format!("euler:{}", exact_time(step)),
            Self::Rk4(step) => format!("rk4:{}", exact_time(step)),
            Self::LinearImplicit(step) => format!("linear-implicit:{}", exact_time(step)),
            Self::Dopri5(tolerance) => format!("dopri5:{tolerance:e}"),
            Self::Exact => "exact".into(),
            Self::Multistep(family, tolerance, at_point) => {
                let family = if family == Family::Bdf { "bdf" } else { "adams" };
                let is_default = at_point == AtPoint::default();
                let mode = if is_default { String::new() } else { format!(":{}", at_point.name()) };
                format!("{family}:{tolerance:e}{mode}")
            }
            Self::Other(entry, value) => match entry.setting {
                SolverSetting::InnerStep => format!("{}:{}", entry.id, exact_time(value)),
                SolverSetting::Tolerance { .. } => format!("{}:{value:e}", entry.id),
            },
        }
    }

    /// An integrator for these equations.
    pub fn integrator(&self, equations: &mut dyn Equations) -> Result<Box<dyn Integrator>> {
        self.check()?;
        let (states, inputs) = (equations.states(), equations.description().inputs.len());
        Ok(match *self {
            Self::Euler(step) => Box::new(Euler::new(step, states, inputs)),
            Self::Rk4(step) => Box::new(Rk4::new(step, states, inputs)),
            Self::LinearImplicit(step) => Box::new(LinearImplicit::new(step, equations)),
            Self::Dopri5(tolerance) => Box::new(Dopri5::new(tolerance, states, inputs)),
            Self::Exact => Box::new(ExactLti::new(equations)?),
            Self::Multistep(family, tolerance, at_point) => {
                Box::new(MultistepIntegrator::new(family, tolerance, at_point, equations))
            }
            Self::Other(entry, value) => (entry.build)(value, equations)?,
        })
    }

    /// Whether it asks equations for their Jacobians.
    pub fn takes_jacobians(&self) -> bool {
        match self {
            Self::LinearImplicit(_) | Self::Exact | Self::Multistep(..) => true,
            Self::Euler(_) | Self::Rk4(_) | Self::Dopri5(_) | Self::Other(..) => false,
        }
    }

    /// The relative tolerance, if it controls its error.
    pub fn tolerance(&self) -> Option<f64> {
        match *self {
            Self::Dopri5(tolerance) | Self::Multistep(_, tolerance, _) => Some(tolerance),
            Self::Other(entry, value) => (entry.setting != SolverSetting::InnerStep).then_some(value),
            Self::Euler(_) | Self::Rk4(_) | Self::LinearImplicit(_) | Self::Exact => None,
        }
    }

    /// The length that its inner steps do not exceed, if that is given.
    pub fn inner_step(&self) -> Option<f64> {
        match *self {
            Self::Euler(step) | Self::Rk4(step) | Self::LinearImplicit(step) => Some(step),
            Self::Other(entry, value) => (entry.setting == SolverSetting::InnerStep).then_some(value),
            Self::Dopri5(_) | Self::Multistep(..) | Self::Exact => None,
        }
    }

    /// The same with another relative tolerance; as it is if it has none.
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        match self {
            Self::Dopri5(_) => Self::Dopri5(tolerance),
            Self::Multistep(family, _, at_point) => Self::Multistep(family, tolerance, at_point),
            Self::Other(entry, _) if self.tolerance().is_some() => Self::Other(entry, tolerance),
            Self::Other(..) | Self::Euler(_) | Self::Rk4(_) | Self::LinearImplicit(_) | Self::Exact => self,
        }
    }
}

/// A solver that another crate adds.
#[derive(Debug)]
pub struct SolverEntry {
    /// Its name, as users write it before the colon.
    pub id: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// What is written behind the colon.
    pub setting: SolverSetting,
    /// Makes the integrator for these equations, with the value of the setting.
    pub build: fn(f64, &mut dyn Equations) -> Result<Box<dyn Integrator>>,
}

impl PartialEq for SolverEntry {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// What the accuracy of a solver is set by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolverSetting {
    /// The greatest length of its inner steps, as a time.
    InnerStep,
    /// A relative tolerance.
    Tolerance {
        /// Taken where none is written.
        default: f64,
    },
}

/// The solvers that a project may name: those that come with costep, and those of other crates.
#[derive(Clone, Debug, Default)]
pub struct Solvers {
    others: Vec<&'static SolverEntry>,
}

impl Solvers {
    /// Those that come with costep.
    pub fn standard() -> Self {
        Self::default()
    }

    /// Adds one. It hides one of the same name.
    pub fn with(mut self, entry: &'static SolverEntry) -> Self {
        self.others.retain(|known| known.id != entry.id);
        self.others.push(entry);
        self
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let hidden = |name: &&str| !self.others.iter().any(|entry| entry.id == *name);
        Solver::NAMES.into_iter().filter(hidden).chain(self.others.iter().map(|entry| entry.id))
    }

    /// [`Solver::parse`] for all of them.
    pub fn parse(&self, text: &str, default_micro_step: f64) -> Result<Solver> {
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
        let Some(entry) = self.others.iter().find(|entry| entry.id == name) else {
            let is_known = Solver::NAMES.contains(&name);
            return if is_known {
                Solver::parse(text, default_micro_step)
            } else {
                Err(unknown(name, self.names()))
            };
        };
        let value = match entry.setting {
            SolverSetting::InnerStep => value.map_or(Ok(default_micro_step), parse_time)?,
            SolverSetting::Tolerance { default } => tolerance(value, default)?,
        };
        let solver = Solver::Other(entry, value);
        solver.check()?;
        Ok(solver)
    }
}

fn unknown(name: &str, known: impl IntoIterator<Item = &'static str>) -> Error {
    Error::new(Code::BadValue, format!("unknown solver `{name}`")).suggest(name, known)
}

fn tolerance(text: Option<&str>, default: f64) -> Result<f64> {
    let bad = |text| {
        Error::new(Code::BadValue, format!("`{text}` is not a tolerance")).hint(
            "a number without a unit: 1e-8 for one; an inner step is that of `euler:10us` and `rk4:10us`",
        )
    };
    text.map_or(Ok(default), |text| text.parse().map_err(|_| bad(text)))
}

/// `1e-6`, `1e-6:restart` or `restart`.
fn multistep(family: Family, text: Option<&str>) -> Result<Solver> {
    let mode =
        |name: &str| AtPoint::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, mode)| mode);
    let (value, name) = match text.map(|text| text.split_once(':').ok_or(text)) {
        None => (None, None),
        Some(Ok((value, name))) => (Some(value), Some(name)),
        Some(Err(name)) if mode(name).is_some() => (None, Some(name)),
        Some(Err(value)) => (Some(value), None),
    };
    let at_point = name.map_or(Ok(AtPoint::default()), |name| {
        let unknown =
            || Error::new(Code::BadValue, format!("`{name}` is not a way to cross communication points"));
        mode(name).ok_or_else(|| unknown().suggest(name, AtPoint::NAMES.map(|(name, _)| name)))
    })?;
    Ok(Solver::Multistep(family, tolerance(value, 1e-6)?, at_point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solvers_are_written_as_text() {
        for text in [
            "euler:10us",
            "rk4:100us",
            "linear-implicit:1ms",
            "dopri5:1e-8",
            "exact",
            "bdf:1e-6",
            "adams:1e-8:restart",
        ] {
            assert_eq!(Solver::parse(text, 1.0).unwrap().label(), text);
        }
        assert_eq!(Solver::Euler(1.234567891e-5).label(), "euler:1.234567891e-5s");
        assert_eq!(Solver::parse("euler", 1e-5).unwrap(), Solver::Euler(1e-5));
        assert!(Solver::parse("eluer", 1e-5).unwrap_err().to_string().contains("did you mean `euler`?"));
        for bad in ["euler:0s", "dopri5:1", "dopri5:x", "exact:1", "bdf:0", "bdf:1e-6:fly", "adams:restart:1"]
        {
            assert!(Solver::parse(bad, 1e-5).is_err(), "{bad}");
        }
    }
}
