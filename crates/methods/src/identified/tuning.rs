//! Every constant of the method that was chosen by measurement, by topic, with its value and its reason. None is an option for users
//! but `forgetting`: [`tuned`](super::tuned) takes others for studies. `docs/theory/identified.md` shows what half and double of each do.

use costep_ident::{BankTuning, constants};
pub use costep_ident::{Constant, Value};

constants! {
    /// The start with small steps, and its end.
    StartTuning "start" {
        /// Parts of a macro step at the start. More are safer, and cost more than they gain: with 8 the same number of steps is
        /// better spent on a smaller macro step.
        parts_of_hold: usize = 4;
        /// The same for ramps, which have to be told from more points.
        parts_of_ramp: usize = 6;
        /// Trust of the small-step models from which on large steps are considered.
        trusted: f64 = 0.9;
        /// Points in a row with that trust: one good prediction may be chance.
        trusted_points: usize = 3;
        /// The small-step model, rolled over a macro step, may err by this share of the change of the outputs.
        roll_error: f64 = 0.5;
        /// Small-step points that are remembered: those that large-step models are taught from, and a macro step.
        record: usize = 60;
        /// Macro steps in parts after which the start is given up and trust alone decides, with held inputs: a subsystem that is
        /// not learnt by then, such as one that looks at its inputs at times of its own, is hardly learnt later, and parts cost.
        patience_of_hold: usize = 4;
        /// The same for ramps, which have to be told from more points.
        patience_of_ramp: usize = 60;
        /// The same as a share of all steps so far: a long run may learn for longer.
        patience_share: f64 = 0.1;
        /// Macro steps under inputs from rolled small-step models: the past that second-order models need.
        transition: usize = 2;
        /// Excitation of inputs with direct feedthrough, as a share of their distance from the coupling signal:
        /// a quarter of a small step early or late.
        excitation: f64 = 0.5;
    }
}

constants! {
    /// Lessons in which small-step models teach large-step ones.
    LessonTuning "lessons" {
        /// Points of the record that lessons start from.
        points: usize = 40;
        /// Large steps of a lesson; the first one or two only fill the past, the others teach.
        steps: usize = 6;
        /// Inputs of a lesson, as a share of their range around what was seen: within what the model knows.
        excitation: f64 = 0.5;
        /// A lesson ends where an output leaves so many of its ranges: an unstable model teaches nothing.
        farthest: f64 = 20.0;
        /// P after the lessons is multiplied by this: what is seen then counts more than what was taught.
        doubt: f64 = 30.0;
    }
}

constants! {
    /// The trial of the coupled large-step models before large steps, and when it is repeated.
    TrialTuning "trial" {
        /// Steps of a trial: growth by more than 2.3 % per step is seen.
        steps: usize = 200;
        /// Growth from the second to the last quarter that counts as unstable; less may be model error.
        growth: f64 = 10.0;
        /// Changes below this share of those seen so far are round-off.
        negligible: f64 = 1e-9;
        /// Small macro steps before a trial is repeated.
        wait: usize = 16;
        /// The same as a part of all small macro steps so far: one in so many.
        wait_part: usize = 4;
    }
}

constants! {
    /// When large steps are taken for diverging.
    AlarmTuning "alarm" {
        /// The change of an output is unusual from so many times the greatest so far.
        unusual: f64 = 2.0;
        /// Macro steps within which all outputs of a subsystem must have changed unusually.
        recent: usize = 10;
        /// The same as a part of all macro steps so far, one in so many: slow growth is not seen everywhere at once.
        recent_part: usize = 4;
        /// Macro steps before which nothing is known of what is usual.
        fewest: usize = 4;
        /// Alarms that end large steps whatever a trial says.
        most: usize = 2;
    }
}

constants! {
    /// Limits of inputs around the coupling signal.
    LimitTuning "limits" {
        /// Distance of an input from the coupling signal, in greatest recent changes of that signal: extrapolation over one
        /// step needs about one, and a model may be better than that.
        wide: f64 = 3.0;
        /// The same while a model that starts with whole steps has seen fewer points than it has parameters.
        narrow: f64 = 1.0;
        /// Distance in addition, in changes of the external signals over the step, which are known in advance.
        known: f64 = 2.0;
        /// Steps that the greatest recent change is taken from.
        look_back: usize = 10;
    }
}

/// All constants of the method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tuning {
    /// Small steps and their end.
    pub start: StartTuning,
    /// From small-step models to large-step ones.
    pub lessons: LessonTuning,
    /// Models on trial.
    pub trial: TrialTuning,
    /// Large steps that diverge.
    pub alarm: AlarmTuning,
    /// Limits of inputs.
    pub limits: LimitTuning,
    /// Regression, trust and fallback.
    pub bank: BankTuning,
}

impl Tuning {
    /// The values in use.
    pub const DEFAULT: Self = Self {
        start: StartTuning::DEFAULT,
        lessons: LessonTuning::DEFAULT,
        trial: TrialTuning::DEFAULT,
        alarm: AlarmTuning::DEFAULT,
        limits: LimitTuning::DEFAULT,
        bank: BankTuning::DEFAULT,
    };

    /// All constants, to be read or varied.
    pub fn constants(&mut self) -> Vec<Constant<'_>> {
        let mut all = Vec::new();
        let mut show = |constant| all.push(constant);
        self.start.each(&mut show);
        self.lessons.each(&mut show);
        self.trial.each(&mut show);
        self.alarm.each(&mut show);
        self.limits.each(&mut show);
        self.bank.each(&mut show);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that nobody shows could not be varied, nor would the documentation list it.
    #[test]
    fn every_field_is_shown() {
        let mut tuning = Tuning::default();
        let fields = format!("{tuning:#?}");
        let is_value = |line: &&str| line.contains(": ") && !line.ends_with('{');
        let fields: Vec<_> =
            fields.lines().filter(is_value).filter_map(|line| line.trim().split(':').next()).collect();
        let constants = tuning.constants();
        let shown: Vec<_> =
            constants.iter().filter_map(|constant| constant.name.rsplit('.').next()).collect();
        assert_eq!(fields, shown);
    }
}
