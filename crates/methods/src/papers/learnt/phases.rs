//! Which way the inputs are formed at a communication point [T 2.4].
//!
//! ```text
//! learning    t < T_learn: from signals                                                          [T 2.4.3]
//! switching   then for T_switch: u = (1 - f) u_signal + f u_model,
//!             f = (tanh(-5 + 10 (t - T_learn) / T_switch) + 1) / 2                               [T 2.4.4]
//! check       eps = |eps_SI of all subsystems|: signals if eps >= th_SBC, modified if eps >= th_mod   [T (2.93)]
//! ```

use costep_core::Signals;

use super::options::Settings;

/// A way to form the inputs. Their numbers are those of the result column `phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// From signals, until enough has been learnt.
    Learning = 0,
    /// Models take over.
    Switching = 1,
    /// From signals: the models are not good enough.
    Signal = 2,
    /// From models, without input optimisation.
    Modified = 3,
    /// From models.
    Full = 4,
}

impl Phase {
    /// The phase with this number.
    pub fn of(number: f64) -> Option<Self> {
        let all = [Self::Learning, Self::Switching, Self::Signal, Self::Modified, Self::Full];
        all.into_iter().find(|phase| *phase as usize as f64 == number)
    }
}

/// What has been decided for a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decision {
    pub(crate) phase: Phase,
    /// f, share of the inputs from models.
    pub(crate) share: f64,
    /// Whether inputs are optimised.
    pub(crate) full: bool,
    /// eps_SI of the whole system.
    pub(crate) eps_si: f64,
}

/// eps_SI,global [T (2.93)]; infinite if a model is missing.
pub(crate) fn eps_si(signals: &Signals<'_>) -> f64 {
    let each = (0..signals.descriptions.len()).map(|i| {
        if signals.descriptions[i].outputs.is_empty() {
            return 0.0;
        }
        match signals.models.interface(i) {
            Some(_) => signals.models.quality(i).eps_si.powi(2),
            None => f64::INFINITY,
        }
    });
    each.sum::<f64>().sqrt()
}

impl Decision {
    /// From signals, for want of anything else.
    pub(crate) fn signal() -> Self {
        Self { phase: Phase::Learning, share: 0.0, full: false, eps_si: f64::INFINITY }
    }

    /// The decision at time t since the start; `good`: whether the inputs that models have proposed were.
    pub(crate) fn at(t: f64, h: f64, settings: &Settings, (eps_si, good): (f64, bool)) -> Self {
        let (learning, switching) = (settings.learning.seconds(h), settings.switching.seconds(h));
        // Communication points carry round-off: one that lies at the end of a phase belongs to the next.
        let since = t - learning + 1e-9 * h;
        let signal = |phase| Self { phase, share: 0.0, full: false, eps_si };
        if since < 0.0 {
            return signal(Phase::Learning);
        }
        let bad = eps_si.is_nan() || eps_si >= settings.signal;
        if bad || !settings.paper && !good {
            return signal(Phase::Signal);
        }
        let full = eps_si < settings.modified;
        if since < switching {
            let share = 0.5 * ((-5.0 + 10.0 * since / switching).tanh() + 1.0);
            return Self { phase: Phase::Switching, share, full, eps_si };
        }
        Self { phase: if full { Phase::Full } else { Phase::Modified }, share: 1.0, full, eps_si }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Length;
    use super::*;

    fn settings() -> Settings {
        Settings {
            learning: Length::Steps(10.0),
            switching: Length::Steps(4.0),
            signal: 2.0,
            modified: 0.5,
            line: false,
            parameters: false,
            paper: false,
            samples: false,
            intermediate: false,
        }
    }

    #[test]
    fn phases_follow_one_another() {
        let at = |k: f64| Decision::at(k * 0.1, 0.1, &settings(), (0.1, true));
        assert_eq!((at(9.0).phase, at(9.0).share), (Phase::Learning, 0.0));
        assert_eq!(at(10.0).phase, Phase::Switching);
        assert!((at(10.0).share - 4.5e-5).abs() < 1e-6, "{}", at(10.0).share);
        assert!((at(12.0).share - 0.5).abs() < 1e-6);
        assert_eq!((at(14.0).phase, at(14.0).share), (Phase::Full, 1.0));
    }

    #[test]
    fn errors_of_the_models_decide() {
        let with = |eps, good| Decision::at(5.0, 0.1, &settings(), (eps, good)).phase;
        assert_eq!(with(0.1, true), Phase::Full);
        assert_eq!(with(0.5, true), Phase::Modified);
        assert_eq!(with(2.0, true), Phase::Signal);
        assert_eq!(with(f64::NAN, true), Phase::Signal);
        assert_eq!(with(0.1, false), Phase::Signal);
        let paper = Settings { paper: true, ..settings() };
        assert_eq!(Decision::at(5.0, 0.1, &paper, (0.1, false)).phase, Phase::Full);
    }
}
