//! What came of the iterations, for the recording and for people.

use std::fmt::Write;

use costep_core::{Code, Error, Place, Result, StateReader, StateWriter, StepContext};

/// Room for the warning, so that it is written without taking memory.
const WARNING: usize = 600;
/// A run has no more steps than this.
const MOST_STEPS: usize = 1 << 53;

/// How the last step went, and how many did not converge.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    id: &'static str,
    /// Tries of the step that count against the limit, and all with those for Jacobians.
    pub(crate) tries: usize,
    pub(crate) sweeps: usize,
    /// Residual of the last of them.
    pub(crate) norm: f64,
    /// Steps that were accepted without convergence, and whether the last one is among them.
    failed: usize,
    has_failed: bool,
    /// Steps that were done in halves instead.
    halved: usize,
    worst: Worst,
    warning: String,
}

/// The worst of the steps that did not converge.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    norm: f64,
    time: f64,
    unknown: usize,
}

impl Outcome {
    pub(crate) fn new(id: &'static str) -> Self {
        Self { id, warning: String::with_capacity(WARNING), ..Self::default() }
    }

    /// A step begins.
    pub(crate) fn begin(&mut self) {
        (self.tries, self.sweeps, self.has_failed) = (0, 0, false);
    }

    /// Takes note of a try.
    pub(crate) fn note(&mut self, norm: f64, was_probe: bool) {
        self.sweeps += 1;
        if !was_probe {
            self.tries += 1;
            self.norm = norm;
        }
    }

    /// Takes note that a step is accepted all the same, with the greatest residual at this unknown.
    pub(crate) fn accept_as_it_is(&mut self, step: &StepContext, unknown: usize) {
        if !self.has_failed {
            self.failed += 1;
            self.has_failed = true;
        }
        if self.norm > self.worst.norm || self.failed == 1 {
            self.worst = Worst { norm: self.norm, time: step.t, unknown };
        }
    }

    /// Takes note that a step is done in halves.
    pub(crate) fn halve(&mut self, step: &StepContext, unknown: usize) {
        self.halved += 1;
        if self.halved == 1 {
            self.worst = Worst { norm: self.norm, time: step.t, unknown };
        }
    }

    /// Writes the warning anew, in the room that it has: a name that is too long is left out.
    pub(crate) fn describe(&mut self, names: &[String], tolerance: f64) {
        let Self { id, failed, halved, worst, warning, .. } = self;
        let (count, what, which) = match (*failed, *halved) {
            (0, 0) => return,
            (0, halved) => (halved, "and halved them", "first"),
            (failed, _) => (failed, "which were accepted as they were", "worst"),
        };
        let name = names.get(worst.unknown).filter(|name| name.len() < WARNING / 2);
        warning.clear();
        // Into a string it cannot fail.
        let _ = write!(
            warning,
            "`{id}` did not converge in {count} macro steps, {what}; the {which} at t = {} s, input `{}`, residual {:.1e} \
             (tolerance {tolerance:e})",
            worst.time,
            name.map_or("?", |name| name),
            worst.norm
        );
    }

    /// What has to be said after a run.
    pub(crate) fn warning(&self) -> Option<&str> {
        (!self.warning.is_empty()).then_some(&*self.warning)
    }

    /// The run ends, since this input and the output that feeds it do not come together.
    #[cold]
    pub(crate) fn error(
        &self,
        step: &StepContext,
        (name, (applied, caused)): (&str, (f64, f64)),
        tolerance: f64,
    ) -> Error {
        let message = format!(
            "`{}` did not converge in {} tries: `{name}` is {applied:e} and causes {caused:e}, a residual of {:.1e} where \
             {tolerance:e} is allowed",
            self.id, self.tries, self.norm
        );
        Error::new(Code::Repeats, message).at(Place::Run {
            subsystem: None,
            signal: None,
            time: step.t,
            step: step.k,
        })
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        out.integer(self.failed as u64);
        out.integer(self.halved as u64);
        out.integer(self.worst.unknown as u64);
        out.reals(&[self.worst.norm, self.worst.time]);
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.failed = from.index(MOST_STEPS)?;
        self.halved = from.index(MOST_STEPS)?;
        self.worst.unknown = from.index(MOST_STEPS)?;
        let mut worst = [0.0; 2];
        from.reals(&mut worst)?;
        (self.worst.norm, self.worst.time) = (worst[0], worst[1]);
        Ok(())
    }
}
