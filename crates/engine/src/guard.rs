//! Guards: no NaN, no infinity and nothing outside its bounds goes from one subsystem to another.

use costep_core::{Code, Description, Error, Place, Result, StepContext};

/// How far beyond its nominal value an output may grow before the run counts as diverged.
const DIVERGENCE: f64 = 1e6;

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
}

impl Guard {
    pub(crate) fn new(descriptions: &[Description], bounds: &[(usize, Bounds)]) -> Self {
        let outputs = || descriptions.iter().flat_map(|d| d.outputs.iter().map(move |port| (d, port)));
        let limit: Vec<f64> = outputs()
            .map(|(_, port)| port.nominal.map_or(f64::MAX, |nominal| DIVERGENCE * nominal.abs()))
            .map(|limit| if limit > 0.0 { limit.min(f64::MAX) } else { f64::MAX })
            .collect();
        let names = outputs().map(|(d, port)| format!("{}.{}", d.name, port.name)).collect();
        let mut guard = Self {
            lower: limit.iter().map(|limit| -limit).collect(),
            given: vec![false; limit.len()],
            upper: limit,
            names,
        };
        for (output, bounds) in bounds {
            guard.lower[*output] = bounds.min.max(f64::MIN);
            guard.upper[*output] = bounds.max.min(f64::MAX);
            guard.given[*output] = true;
        }
        guard
    }

    /// Passes if every output is a number within its limits.
    pub(crate) fn check(&self, step: &StepContext, y: &[f64]) -> Result<()> {
        let mut passed = true;
        for ((y, lower), upper) in y.iter().zip(&self.lower).zip(&self.upper) {
            passed &= (lower <= y) & (y <= upper);
        }
        if passed { Ok(()) } else { Err(self.explain(step, y)) }
    }

    #[cold]
    fn explain(&self, step: &StepContext, y: &[f64]) -> Error {
        let bad = |i: &usize| !(self.lower[*i] <= y[*i] && y[*i] <= self.upper[*i]);
        // Of several bad outputs a NaN says most about the cause.
        let worst = (0..y.len()).find(|i| y[*i].is_nan()).or_else(|| (0..y.len()).find(bad)).unwrap_or(0);
        let (name, value) = (&self.names[worst], y[worst]);
        let error = if !value.is_finite() {
            Error::new(Code::NotFinite, format!("`{name}` became {value}"))
                .hint("try a smaller step or another method: `costep compare`")
        } else if self.given[worst] {
            let (lower, upper) = (self.lower[worst], self.upper[worst]);
            Error::new(Code::OutOfBounds, format!("`{name}` = {value:e} is outside [{lower:e}, {upper:e}]"))
        } else {
            let message = format!(
                "`{name}` = {value:e} is beyond {DIVERGENCE:e} times its nominal value: the run diverged"
            );
            Error::new(Code::Diverged, message).hint("try a smaller step or another method: `costep compare`")
        };
        error.at(Place::Run { subsystem: None, signal: Some(name.clone()), time: step.t_next, step: step.k })
    }
}
