//! The search where parts take long to start, so that there is time for few trials: from the step of the project, whose own method is tried
//! first, to longer or shorter steps of what was best there.

use std::time::Instant;

use costep_core::Result;

use super::search::{Contender, Found, Search};
use super::{MacroSteps, Trial};
use crate::assemble::{self, Choice};
use crate::report::Verdict;

/// If there is time for fewer starts, the search is this one.
const STARTS: f64 = 100.0;
/// What part of the time may be spent at the step of the project.
const SHARE_OF_METHODS: f64 = 0.5;
/// Methods that are tried first: they need the least of the parts.
const FIRST: [&str; 4] = ["foh", "nepce", "soh", "zoh"];
/// How fast an error falls with the step at most, and rises with it at least: steps beyond that are not tried.
const MOST_ORDER: f64 = 3.0;
const LEAST_ORDER: f64 = 1.0;

impl Search<'_> {
    /// Whether starting the parts takes so long that few trials fit into the time. They are started once for that.
    pub(super) fn is_slow_to_start(&mut self) -> Result<bool> {
        let project = &self.system.project;
        if project.given.fmus.is_empty() {
            return Ok(false);
        }
        let begun = Instant::now();
        // What is wrong with them, the first trial says.
        let Ok(_engine) = assemble::engine(project, &Choice::of(project), false) else { return Ok(false) };
        self.start_up = begun.elapsed().as_secs_f64();
        self.waiting.check()?;
        Ok(!self.has_time_for(STARTS * self.start_up))
    }

    /// Few trials, the most telling first.
    pub(super) fn look_nearby(&mut self) -> Result<()> {
        let step = self.system.project.model.experiment.step;
        let left = |search: &Self| search.waiting.left().map_or(f64::INFINITY, |left| left.as_secs_f64());
        let begun = left(self);
        for contender in self.by_promise() {
            if self.trials.is_empty() || left(self) > (1.0 - SHARE_OF_METHODS) * begun {
                self.attempt(contender, step, true)?;
                self.take_best();
            } else {
                self.contenders[contender].is_out = true;
                self.left_out.push(self.contenders[contender].method.label());
            }
        }
        while let Some((contender, step)) = self.next_nearby() {
            let known = self.trials.len();
            self.attempt(contender, step, true)?;
            self.take_best();
            if self.trials.len() == known {
                self.contenders[contender].is_out = true;
            }
        }
        Ok(())
    }

    /// All contenders, the method of the project first, whether it takes part or not.
    fn by_promise(&mut self) -> Vec<usize> {
        let own = self.system.project.groups[0].method.clone();
        let label = |contender: &Contender| contender.method.label();
        if self.takes_own && !self.contenders.iter().any(|contender| label(contender) == own.label()) {
            let parts = self.system.project.model.parts.len() as f64;
            self.contenders.push(Contender::new(own.clone(), parts));
        }
        let rank = |contender: usize| {
            let label = label(&self.contenders[contender]);
            let known = FIRST.iter().position(|first| *first == label).unwrap_or(FIRST.len());
            if label == own.label() { 0 } else { known + 1 }
        };
        let mut order: Vec<usize> = (0..self.contenders.len()).collect();
        order.sort_by_key(|contender| rank(*contender));
        order
    }

    /// Takes over the cheapest trial with the error that is asked for. One at a smaller step confirms it, if there is one.
    fn take_best(&mut self) {
        for trial in 0..self.trials.len() {
            if !self.trials[trial].reaches {
                continue;
            }
            let confirms = |other: &Trial| {
                other.reaches
                    && other.method == self.trials[trial].method
                    && length(other) < length(&self.trials[trial])
            };
            let smaller = self.trials.iter().position(confirms);
            self.best = Some(self.better(self.best, Found { trial, smaller }));
        }
    }

    /// The next longer step of what reaches the error, or the longest shorter one that could reach it.
    fn next_nearby(&self) -> Option<(usize, f64)> {
        let open = self.contenders.iter().enumerate().filter(|(_, contender)| !contender.is_out);
        let candidates =
            open.filter_map(|(i, contender)| self.next_of(&contender.method.label()).map(|next| (i, next)));
        // Of those that are as cheap, the one that is expected to be the most accurate.
        let order = |a: &(usize, (f64, f64)), b: &(usize, (f64, f64))| {
            let (a, b) = (a.1, b.1);
            b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1))
        };
        candidates.min_by(order).map(|(i, (step, _))| (i, step))
    }

    /// The next step of a method and the error that is expected there; nothing where it is no better than the best one.
    fn next_of(&self, method: &str) -> Option<(f64, f64)> {
        let own =
            || self.trials.iter().filter(|trial| trial.method == method && trial.verdict == Verdict::Stable);
        let error = |trial: &Trial| trial.error.map_or(f64::INFINITY, |error| error.value);
        let longest_good = own().filter(|trial| trial.reaches).max_by(|a, b| length(a).total_cmp(&length(b)));
        let is_tried =
            |step: f64| self.trials.iter().any(|trial| trial.method == method && length(trial) == step);
        let needed = self.best.map_or(0.0, |best| length(&self.trials[best.trial]));
        match longest_good {
            Some(good) => {
                let step = self
                    .coarse
                    .iter()
                    .copied()
                    .filter(|step| *step > length(good) * (1.0 + 1e-9))
                    .reduce(f64::min)?;
                let expected = error(good) * (step / length(good)).powf(LEAST_ORDER);
                (step > needed && expected <= self.asked && !is_tried(step)).then_some((step, expected))
            }
            None => {
                let least = own().min_by(|a, b| length(a).total_cmp(&length(b)))?;
                let expected = |step: f64| error(least) * (step / length(least)).powf(MOST_ORDER);
                let could =
                    |step: &f64| *step < length(least) * (1.0 - 1e-9) && expected(*step) <= self.asked;
                let step = self.coarse.iter().copied().filter(could).reduce(f64::max)?;
                (step > needed && !is_tried(step)).then_some((step, expected(step)))
            }
        }
    }
}

/// The step of a trial.
fn length(trial: &Trial) -> f64 {
    match trial.steps {
        MacroSteps::Equal(step) => step,
        MacroSteps::Varying { first, .. } => first,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Advising, methods};
    use super::*;
    use crate::system::System;

    /// A search that has found what it can from the step of the project.
    fn nearby(advising: Advising, look: impl FnOnce(&Search<'_>)) {
        let system = System::opening("dual-mass").set("step.size", "1ms").open().unwrap();
        let advising = advising.time(Duration::from_secs(600));
        let methods = methods(&system, &advising).unwrap();
        let mut quiet = |_: &str, _: Option<Duration>| {};
        let mut search = Search::new(system, &advising, methods, &mut quiet).unwrap();
        search.look_nearby().unwrap();
        look(&search);
    }

    #[test]
    fn what_a_run_would_give_is_tried_first_and_then_what_is_cheaper() {
        nearby(Advising::new().error(1e-2), |search| {
            assert_eq!(
                (&*search.trials[0].method, search.trials[0].steps),
                ("auto", MacroSteps::Equal(1e-3))
            );
            let best = search.best.unwrap();
            let (trial, first) = (&search.trials[best.trial], &search.trials[0]);
            assert!(trial.reaches && trial.calls <= first.calls, "{trial:?}");
            assert!(search.trials[1..].iter().filter(|trial| length(trial) == 1e-3).count() > 3);
            // Nothing is tried twice.
            for (k, one) in search.trials.iter().enumerate() {
                let is_same = |other: &Trial| other.method == one.method && other.steps == one.steps;
                assert!(!search.trials[k + 1..].iter().any(is_same), "{one:?}");
            }
        });
    }

    #[test]
    fn steps_become_shorter_where_nothing_reaches_the_error() {
        nearby(Advising::new().error(1e-4).method("zoh"), |search| {
            assert!(search.trials.iter().any(|trial| length(trial) < 1e-3));
            assert!(search.trials.iter().all(|trial| length(trial) <= 1e-3));
        });
    }
}
