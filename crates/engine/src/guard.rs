//! Guards: no NaN, no infinity and nothing outside its bounds goes from one subsystem to another.

use std::ops::Range;

use costep_core::error::SMALLER_STEP;
use costep_core::quantity::short_number;
use costep_core::{Code, Description, Error, InputPolynomials, Place, Port, Result};

use crate::divergence::limits;

/// So many values are looked at one by one. They have just been written one by one: a processor that wants several of them
/// at once has to wait until they have left its store buffer.
const FEW: usize = 8;

/// Whether all pass, without a branch for each.
#[inline(always)]
fn all_at_once(passes: impl Iterator<Item = bool>) -> bool {
    passes.fold(true, |all, passes| all & passes)
}

/// What to do about a value of subsystems that nothing is connected to.
const LOOK_INSIDE: &str = "look at its parameters, and at its inputs before that time: if these are unusual, another method or a smaller step changes them";
const ALONE: &str = "nothing is coupled, so it comes from inside: look at its parameters, start values, inputs and inner solver, or try a smaller step";

/// Limits on an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
}

/// The limits of every output as two plain arrays: one comparison pair per value finds NaN, infinity,
/// divergence and bounds together.
#[derive(Debug)]
pub(crate) struct Guard {
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Whether the limits of an output were given by the user.
    given: Vec<bool>,
    /// `subsystem.port` of every output.
    names: Vec<String>,
    /// `subsystem.port` of every input.
    input_names: Vec<String>,
    /// Whether subsystems are connected.
    is_coupled: bool,
}

/// The time a value belongs to and the macro step it came up in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) time: f64,
    pub(crate) step: u64,
}

impl Guard {
    pub(crate) fn new(descriptions: &[Description], bounds: &[(usize, Bounds)], is_coupled: bool) -> Self {
        let outputs = || descriptions.iter().flat_map(|d| d.outputs.iter().map(move |port| (d, port)));
        let limit: Vec<f64> = outputs()
            .map(|(_, port)| port.nominal.map_or(f64::MAX, |nominal| limits::NOMINAL * nominal.abs()))
            .map(|limit| if limit > 0.0 { limit.min(f64::MAX) } else { f64::MAX })
            .collect();
        let name = |(d, port): (&Description, &Port)| format!("{}.{}", d.name, port.name);
        let inputs = descriptions.iter().flat_map(|d| d.inputs.iter().map(move |port| (d, port)));
        let mut guard = Self {
            lower: limit.iter().map(|limit| -limit).collect(),
            given: vec![false; limit.len()],
            upper: limit,
            names: outputs().map(name).collect(),
            input_names: inputs.map(name).collect(),
            is_coupled,
        };
        for (output, bounds) in bounds {
            guard.lower[*output] = bounds.min.max(f64::MIN);
            guard.upper[*output] = bounds.max.min(f64::MAX);
            guard.given[*output] = true;
        }
        guard
    }

    /// Passes if each of these outputs is a number within its limits.
    #[inline]
    pub(crate) fn check(&self, at: Moment, range: Range<usize>, y: &[f64]) -> Result<()> {
        let limits = self.lower[range.clone()].iter().zip(&self.upper[range.clone()]);
        let mut values =
            y[range.clone()].iter().zip(limits).map(|(y, (lower, upper))| (*lower <= *y) & (*y <= *upper));
        let passed = if range.len() <= FEW { values.all(|passes| passes) } else { all_at_once(values) };
        if passed { Ok(()) } else { Err(self.explain(at, range, y)) }
    }

    /// Passes if all inputs are numbers: sums, gains and extrapolation can make infinity out of finite outputs.
    #[inline]
    pub(crate) fn check_inputs(&self, at: Moment, inputs: &InputPolynomials) -> Result<()> {
        let mut values = inputs.raw().iter().map(|c| c.is_finite());
        let passed =
            if inputs.raw().len() <= FEW { values.all(|passes| passes) } else { all_at_once(values) };
        if passed {
            Ok(())
        } else {
            (0..self.input_names.len()).try_for_each(|j| self.check_input(at, j, inputs))
        }
    }

    /// Passes if input j is a number.
    pub(crate) fn check_input(&self, at: Moment, j: usize, inputs: &InputPolynomials) -> Result<()> {
        match (0..=inputs.order()).map(|a| inputs.coefficients(a)[j]).find(|c| !c.is_finite()) {
            Some(value) => Err(self.not_finite(at, &self.input_names[j], value)),
            None => Ok(()),
        }
    }

    #[cold]
    fn explain(&self, at: Moment, range: Range<usize>, y: &[f64]) -> Error {
        let bad = |i: &usize| !(self.lower[*i] <= y[*i] && y[*i] <= self.upper[*i]);
        // Of several bad outputs a NaN says most about the cause.
        let nan = range.clone().find(|i| y[*i].is_nan());
        let worst = nan.or_else(|| range.clone().find(bad)).unwrap_or(range.start);
        let (name, value) = (&self.names[worst], y[worst]);
        let error = if !value.is_finite() {
            // Inputs are looked at before each step.
            let owner = name.split_once('.').map_or(name.as_str(), |(owner, _)| owner);
            let cause = format!("its inputs were finite: `{owner}` itself produced it");
            let error = self.not_finite(at, name, value).because(cause);
            return if self.is_coupled { error.hint(LOOK_INSIDE) } else { error };
        } else if self.given[worst] {
            let [value, lower, upper] = [value, self.lower[worst], self.upper[worst]].map(short_number);
            Error::new(Code::OutOfBounds, format!("`{name}` = {value} is outside [{lower}, {upper}]"))
        } else {
            let factor = limits::NOMINAL;
            Error::diverged(format!(
                "`{name}` = {value:e} is beyond {factor:e} times its nominal value: the run diverged"
            ))
        };
        error.at(at.place(name))
    }

    #[cold]
    fn not_finite(&self, at: Moment, name: &str, value: f64) -> Error {
        let hint = if self.is_coupled { SMALLER_STEP } else { ALONE };
        Error::new(Code::NotFinite, format!("`{name}` became {value}")).hint(hint).at(at.place(name))
    }
}

impl Moment {
    fn place(self, signal: &str) -> Place {
        Place::Run { subsystem: None, signal: Some(signal.into()), time: self.time, step: self.step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subsystem_alone_is_not_told_to_change_its_coupling() {
        let port = Port { name: "y".into(), ..Port::default() };
        let alone = Description { name: "a".into(), outputs: vec![port], ..Description::default() };
        for (is_coupled, says) in [(false, "parameters"), (true, "another method")] {
            let guard = Guard::new(std::slice::from_ref(&alone), &[], is_coupled);
            let error = guard.check(Moment { time: 0.1, step: 1 }, 0..1, &[f64::NAN]).unwrap_err();
            let hint = error.details().hint.clone().unwrap_or_default();
            assert!(hint.contains(says), "{hint}");
            assert_eq!(hint.contains("another method"), is_coupled);
        }
    }
}
