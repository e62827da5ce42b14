//! Signals that run away until something overflows.

use costep_core::{Code, Error};
use costep_engine::Engine;

/// No signal of any system of units is that large; one that has become so has run away.
const RUNAWAY: f64 = 1e30;

/// What has not grown by this factor was that large from the start.
const GROWN: f64 = 1e3;

/// The signals of a run at its start.
pub(crate) struct StartSignals(Vec<f64>);

impl StartSignals {
    pub(crate) fn of(engine: &Engine) -> Self {
        Self(signals(engine).collect())
    }

    /// Signals without a nominal value have no limit to diverge beyond: they run away until something
    /// overflows or an integrator gives up. That is the same end as that of signals with one.
    pub(crate) fn blame_runaway(&self, error: Error, engine: &Engine) -> Error {
        if !matches!(error.code(), Code::NotFinite | Code::StepTooSmall | Code::FmuEnds) {
            return error;
        }
        let Some(value) = run_away(&self.0, signals(engine)) else { return error };
        let details = error.details();
        let message =
            format!("the run diverged: a signal had grown to {value:.0e}, then {}", details.message);
        let diverged = Error::new(Code::Diverged, message).at(details.place.clone());
        let diverged = match &details.cause {
            Some(cause) => diverged.because(cause.clone()),
            None => diverged,
        };
        diverged.hint("try a smaller step or another method: `costep compare`")
    }
}

fn signals(engine: &Engine) -> impl Iterator<Item = f64> {
    engine.outputs().iter().chain(engine.coupled()).copied()
}

/// The first value that is that large and was not at the start.
fn run_away(start: &[f64], now: impl Iterator<Item = f64>) -> Option<f64> {
    let has_run_away =
        |start: f64, now: f64| now.is_finite() && now.abs() > RUNAWAY && now.abs() / GROWN > start.abs();
    start.iter().zip(now).find(|(start, now)| has_run_away(**start, *now)).map(|(_, now)| now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_large_from_the_start_has_not_run_away() {
        assert_eq!(run_away(&[1e31, 0.0], [1.1e31, 5.0].into_iter()), None);
        assert_eq!(run_away(&[1e31, 0.0], [1.1e31, -1e40].into_iter()), Some(-1e40));
        assert_eq!(run_away(&[1e31], [1e60].into_iter()), Some(1e60));
        assert_eq!(run_away(&[0.0, 1.0], [f64::NAN, 1e29].into_iter()), None);
    }
}
