//! When a run counts as diverged: one table of limits, and the errors that are divergence under another name.
//!
//! | what is seen | limit | where |
//! |---|---|---|
//! | an output beyond its nominal value | [`limits::NOMINAL`] | every step (`guard.rs`) |
//! | a subsystem fails under an input beyond its nominal value | [`limits::FAILING_INPUT`] | `blame` |
//! | a signal grows fourfold in each of three blocks of 16 steps or more, to a millionfold of all signals before, and no input follows it | | the watch (`costep-analysis`) |
//! | something fails while a signal has grown to a hundredfold like that, or after it has grown beyond all sizes | [`limits::HUGE`], [`limits::GROWN`] | [`StartSignals`] |
//! | the interface system of local models becomes singular | | methods, [`Error::diverged`] |
//! | amplitudes and coupling errors grow | the others | the judgement of a run that came to its end (`costep-analysis`) |

use costep_core::{Code, Coupling, Description, Error, InputSegment};

use crate::engine::Engine;

/// All limits by which runs are judged.
pub mod limits {
    /// How far beyond its nominal value an output may grow.
    pub const NOMINAL: f64 = 1e6;
    /// How far beyond its nominal value a coupled input may be for the failure of its subsystem to be its own.
    pub const FAILING_INPUT: f64 = 10.0;
    /// No signal of any system of units is that large; one that has become so has diverged.
    pub const HUGE: f64 = 1e30;
    /// What has not grown by this factor was that large from the start.
    pub const GROWN: f64 = 1e3;
    /// Coupling error, relative to the signal, below which a growing signal counts as driven, not as unstable.
    pub const COUPLING_ERROR: f64 = 0.2;
    /// Part of the largest signal of its kind below which a signal has hardly begun.
    pub const NEGLIGIBLE: f64 = 1e-12;
    /// How far beyond the reference a growing amplitude has to be.
    pub const BEYOND_REFERENCE: f64 = 1.05;
    /// An amplitude so far beyond that of the reference has not been stable, even if it decays later.
    pub const BLOWN_UP: f64 = 10.0;
    /// By how much more than that of the reference an amplitude has to grow from the first to the last fifth of a run: a
    /// driven system that is wrong all the time, each time in another way, does not grow.
    pub const OUTGROWS: f64 = 1.3;
    /// A reference that grows itself (a driven system, started at rest) says little about small differences.
    pub const GROWING_REFERENCE: f64 = 2.0;
    /// An error that grows by this factor per fifth of the run, three times one after the other, grows exponentially: what
    /// adds up grows by powers of time, up to the fourth more slowly.
    pub const EXPONENTIAL: f64 = 3.0;
}

/// Whether an error may be the consequence of signals that have diverged: a solver with error control gives up long before
/// they overflow, and an end that a subsystem asks for may be the answer to inputs that nothing could cope with.
fn may_be_divergence(error: &Error) -> bool {
    matches!(error.code(), Code::StepTooSmall | Code::NotFinite | Code::FmuEnds)
}

/// Whether an error may be the consequence of signals that explode: whatever a subsystem returns for inputs that nothing could cope with.
fn may_be_explosion(error: &Error) -> bool {
    may_be_divergence(error) || matches!(error.code(), Code::FmuDiscard | Code::FmuError | Code::FmuFatal)
}

/// Turns the failure of a subsystem under coupled inputs far beyond their nominal values into a diverged run. `first` is the
/// number of its first input.
#[cold]
pub(crate) fn blame(
    error: Error,
    description: &Description,
    input: InputSegment<'_>,
    (coupling, first): (&Coupling, usize),
    h: f64,
) -> Error {
    if !may_be_divergence(&error) {
        return error;
    }
    let far = description.inputs.iter().enumerate().find_map(|(j, port)| {
        let nominal = port.nominal.filter(|nominal| *nominal != 0.0)?.abs();
        let start = input.coefficients(0)[j];
        // The end of the step, or its start if that is farther.
        let end = (0..=input.order()).rev().fold(0.0, |sum, a| sum * h + input.coefficients(a)[j]);
        let value = if end.abs() > start.abs() { end } else { start };
        let is_coupled = coupling.sources(first + j).next().is_some();
        (is_coupled && value.abs() > limits::FAILING_INPUT * nominal).then_some((&port.name, value, nominal))
    });
    let Some((port, value, nominal)) = far else { return error };
    let details = error.details();
    let cause = match &details.cause {
        Some(cause) => format!("{}: {cause}", details.message),
        None => details.message.clone(),
    };
    let name = &description.name;
    Error::diverged(format!(
        "`{name}.{port}` = {value:e} is far beyond its nominal value {nominal:e}, and its subsystem \
         fails: the run diverged"
    ))
    .because(cause)
}

/// The signals of a run at its start. Those without a nominal value have no limit to diverge beyond: they grow until
/// something overflows or an integrator gives up, which is the same end as that of signals with one.
pub struct StartSignals(Vec<f64>);

impl StartSignals {
    /// Those of a run that is about to begin.
    pub fn of(engine: &Engine) -> Self {
        Self(signals(engine).collect())
    }

    /// Turns the error that ended the run into divergence, if a signal had grown without bound. `exploding` is an input that was
    /// about to, with its value.
    pub fn blame(&self, error: Error, engine: &Engine, exploding: Option<(usize, f64)>) -> Error {
        let grown = grown(&self.0, signals(engine)).filter(|_| may_be_divergence(&error));
        let exploding = exploding.map(|(_, value)| value).filter(|_| may_be_explosion(&error));
        let Some(value) = grown.or(exploding) else { return error };
        let details = error.details();
        let message =
            format!("the run diverged: a signal had grown to {value:.0e}, then {}", details.message);
        let diverged = Error::diverged(message).at(details.place.clone());
        match &details.cause {
            Some(cause) => diverged.because(cause),
            None => diverged,
        }
    }
}

fn signals(engine: &Engine) -> impl Iterator<Item = f64> {
    engine.outputs().iter().chain(engine.coupled()).copied()
}

/// The first value that is huge and was not at the start.
fn grown(start: &[f64], now: impl Iterator<Item = f64>) -> Option<f64> {
    let has_grown = |start: f64, now: f64| {
        now.is_finite() && now.abs() > limits::HUGE && now.abs() / limits::GROWN > start.abs()
    };
    start.iter().zip(now).find(|(start, now)| has_grown(**start, *now)).map(|(_, now)| now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_large_from_the_start_has_not_diverged() {
        assert_eq!(grown(&[1e31, 0.0], [1.1e31, 5.0].into_iter()), None);
        assert_eq!(grown(&[1e31, 0.0], [1.1e31, -1e40].into_iter()), Some(-1e40));
        assert_eq!(grown(&[1e31], [1e60].into_iter()), Some(1e60));
        assert_eq!(grown(&[0.0, 1.0], [f64::NAN, 1e29].into_iter()), None);
    }
}
