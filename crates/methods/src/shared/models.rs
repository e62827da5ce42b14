//! What methods with local models share: the length of steps, errors.

use costep_core::{Code, Error, Signals};

/// A subsystem has no local model.
#[cold]
pub(crate) fn no_model(signals: &Signals<'_>, i: usize) -> Error {
    let name = &signals.subsystems[i].description().name;
    Error::new(Code::NeedsMissing, format!("there is no local model of `{name}`"))
        .hint("choose a method that needs none: `costep methods`")
}

/// A local model cannot be used.
#[cold]
pub(crate) fn bad_model(signals: &Signals<'_>, i: usize, cause: &str) -> Error {
    let name = &signals.subsystems[i].description().name;
    Error::new(Code::NotFinite, format!("the local model of `{name}` cannot be used")).because(cause)
}

/// The step that maps are computed for. T^(k+1) - T^k differs from h by round-off, which must not lead to other maps:
/// a resumed run would differ in its last bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepLength {
    usual: f64,
    last: f64,
}

impl StepLength {
    const SAME: f64 = 1e-9;

    pub(crate) fn new(usual: f64) -> Self {
        Self { usual, last: 0.0 }
    }

    /// Takes the length of a step; says whether maps have to be computed again.
    pub(crate) fn take(&mut self, h: f64) -> bool {
        let h = if (h - self.usual).abs() <= Self::SAME * self.usual { self.usual } else { h };
        let is_new = (h - self.last).abs() > Self::SAME * h;
        if is_new {
            self.last = h;
        }
        is_new
    }

    pub(crate) fn get(&self) -> f64 {
        self.last
    }
}
