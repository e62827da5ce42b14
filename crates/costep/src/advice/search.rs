//! The search for the cheapest method and step with an error that is small enough: best first. What is predicted to cost least is
//! tried next, so that the first trial that is good enough is about the cheapest one, however errors depend on steps; then steps
//! between those of the first look are tried, of all methods that could still be cheaper.

use costep_analysis::ReferenceKind;
use costep_core::quantity::{exact_time, format_time};
use costep_core::{Code, Error, Experiment, Result};
use costep_methods::MethodSpec;

use super::calls::CallsPerStep;
use super::lattice::{self, CLOSE, COARSE};
use super::yardstick::{Measured, Yardstick};
use super::{Advising, MacroSteps, Trial};
use crate::report::{RunReport, Verdict};
use crate::run::Run;
use crate::system::System;
use crate::waiting::Waiting;

/// Trials whose calls differ by less cost the same: the one with the smaller error is better.
const SAME_COST: f64 = 1.05;
/// From a step of the first look to the next longer one, calls fall by at most this.
const WINDOW: f64 = 2.6;
/// An error that falls to no less than this from step to step does not fall, and so many of these are enough.
const FALLS: f64 = 0.8;
const MOST_STALLS: u32 = 4;
/// So many trials of a method that fail without another one that came to its end are enough.
const MOST_FAILURES: u32 = 4;
/// An FMU that hangs in so many trials ends the search: each of them costs what a call may take.
const MOST_HANGS: usize = 3;
/// Errors fall at most by the order of a method and this: only such as are no more than visible are extrapolated.
const EXTRA_ORDER: i32 = 1;
const LEAST_ORDER: i32 = 2;
const EXTRAPOLATED: f64 = 0.1;

/// A method that takes part.
pub(super) struct Contender {
    pub(super) method: MethodSpec,
    /// Calls per macro step, as far as known.
    calls: CallsPerStep,
    wall_per_step: f64,
    /// The next step of the first look.
    next: usize,
    /// The last step with an error that means something, and that error.
    last: Option<(f64, f64)>,
    stalls: u32,
    failures: u32,
    /// It has reached the error, or never will.
    is_settled: bool,
    /// It can still be tried between steps of the first look.
    pub(super) is_out: bool,
}

impl Contender {
    /// One of which nothing is known; a macro step is expected to take so many calls.
    pub(super) fn new(method: MethodSpec, calls: f64) -> Self {
        Self {
            method,
            calls: CallsPerStep::new(calls),
            wall_per_step: 0.0,
            next: 0,
            last: None,
            stalls: 0,
            failures: 0,
            is_settled: false,
            is_out: false,
        }
    }
}

/// How far a search has come.
pub(super) struct Search<'a> {
    /// With steps of one length.
    pub(super) system: System,
    pub(super) asked: f64,
    pub(super) waiting: Waiting,
    pub(super) yardstick: Yardstick,
    pub(super) contenders: Vec<Contender>,
    pub(super) trials: Vec<Trial>,
    pub(super) not_possible: Vec<(String, Error)>,
    /// The best trial so far.
    pub(super) best: Option<Found>,
    /// What could not be tried for want of time.
    pub(super) left_out: Vec<String>,
    /// Whether the time was over before the error of a stable trial was measured.
    pub(super) is_unmeasured: bool,
    /// Trials in which an FMU did not return from a call.
    pub(super) hung: Vec<(String, Error)>,
    /// The shortest step in one of these: an FMU that hangs with one method may well do so with another.
    hangs_at: f64,
    pub(super) coarse: Vec<f64>,
    /// Whether the method of the project is tried, whatever others are.
    pub(super) takes_own: bool,
    /// What it takes in s to start the parts once, where that was measured.
    pub(super) start_up: f64,
    /// Only steps that go into the run without a rest can be measured.
    only_whole: bool,
    progress: &'a mut dyn FnMut(&str, Option<std::time::Duration>),
}

impl<'a> Search<'a> {
    pub(super) fn new(
        system: System,
        advising: &Advising,
        methods: Vec<MethodSpec>,
        progress: &'a mut dyn FnMut(&str, Option<std::time::Duration>),
    ) -> Result<Self> {
        let model = &system.project.model;
        let (run, parts) = (&model.experiment, model.parts.len() as f64);
        let span = run.stop - run.start;
        let inner = model.has_equations().then(|| model.solver.inner_step()).flatten();
        let coarse = lattice::steps(COARSE, lattice::shortest(span, inner), lattice::longest(span));
        Ok(Self {
            yardstick: Yardstick::new(&system, advising.error)?,
            asked: advising.error,
            waiting: Waiting::new(&advising.cancel, Some(advising.time)),
            contenders: methods.into_iter().map(|method| Contender::new(method, parts)).collect(),
            system,
            trials: Vec::new(),
            best: None,
            not_possible: Vec::new(),
            left_out: Vec::new(),
            is_unmeasured: false,
            hung: Vec::new(),
            hangs_at: f64::INFINITY,
            coarse,
            takes_own: advising.methods.is_empty(),
            start_up: 0.0,
            only_whole: false,
            progress,
        })
    }

    /// Looks for the best trial. What was found before an error stays found.
    pub(super) fn search(&mut self) -> Result<()> {
        if self.is_slow_to_start()? {
            return self.look_nearby();
        }
        self.first_look()?;
        match self.best {
            Some(best) => self.closer_look(self.cost(best)),
            None => Ok(()),
        }
    }

    /// Steps of the first look, best first.
    fn first_look(&mut self) -> Result<()> {
        while let Some((i, step, cost)) = self.cheapest() {
            if self.best.is_some_and(|best| cost > SAME_COST * self.cost(best)) {
                break;
            }
            self.contenders[i].next += 1;
            // The shortest step is tried in any case: what is least has to be known.
            if self.is_hopeless(i, step) && self.contenders[i].next < self.coarse.len() {
                continue;
            }
            let Some(trial) = self.attempt(i, step, true)? else { continue };
            self.contenders[i].is_settled = self.take(i, trial, COARSE)?;
        }
        Ok(())
    }

    /// Steps between those of the first look, of whatever could be cheaper than the best one there.
    fn closer_look(&mut self, cost: f64) -> Result<()> {
        let Experiment { start, stop, .. } = self.system.project.model.experiment;
        let longest = lattice::longest(stop - start);
        let all = lattice::steps(CLOSE, lattice::shortest(stop - start, None), longest);
        let of_all = |i: usize| all.iter().map(move |step| (i, *step));
        let mut open: Vec<(usize, f64)> = (0..self.contenders.len()).flat_map(of_all).collect();
        loop {
            // What a trial has shown changes what others are expected to cost.
            let most = self.best.map_or(cost, |best| SAME_COST * self.cost(best)).min(cost / SAME_COST);
            let expected = open.iter().enumerate().filter_map(|(k, (i, step))| {
                let calls = self.predicted(*i, *step);
                let is_tried = !self.contenders[*i].is_out && (cost / WINDOW..most).contains(&calls);
                (is_tried && !self.is_hopeless(*i, *step)).then_some((k, calls))
            });
            let Some((k, _)) = expected.min_by(|a, b| a.1.total_cmp(&b.1)) else { return Ok(()) };
            let (i, step) = open.swap_remove(k);
            if let Some(trial) = self.attempt(i, step, false)? {
                self.take(i, trial, CLOSE)?;
            }
        }
    }

    /// Takes a trial over that has the error, if it is no accident and better than the best one. Whether it is no accident.
    fn take(&mut self, contender: usize, trial: usize, digits: &[f64]) -> Result<bool> {
        if !self.trials[trial].reaches {
            return Ok(false);
        }
        let confirmed = self.confirmed(contender, trial, digits);
        if confirmed.is_err() && self.best.is_none() {
            // What was interrupted was only to confirm it: without that it is still the best there is.
            self.best = Some(Found { trial, smaller: None });
        }
        let found = confirmed?;
        if let Some(found) = found {
            self.best = Some(self.better(self.best, found));
        }
        Ok(found.is_some())
    }

    /// The contender and step with the least predicted cost.
    fn cheapest(&self) -> Option<(usize, f64, f64)> {
        let open = self.contenders.iter().enumerate().filter(|(_, c)| !c.is_settled && !c.is_out);
        let next = open.filter_map(|(i, c)| {
            let step = *self.coarse.get(c.next)?;
            Some((i, step, self.predicted(i, step)))
        });
        next.min_by(|a, b| a.2.total_cmp(&b.2))
    }

    /// Calls that a trial is expected to take.
    fn predicted(&self, contender: usize, step: f64) -> f64 {
        self.steps(step) * self.contenders[contender].calls.at(step)
    }

    fn steps(&self, step: f64) -> f64 {
        Experiment { step, ..self.system.project.model.experiment }.steps() as f64
    }

    fn cost(&self, found: Found) -> f64 {
        self.trials[found.trial].calls as f64
    }

    pub(super) fn better(&self, best: Option<Found>, new: Found) -> Found {
        let Some(best) = best else { return new };
        let ratio = self.cost(new) / self.cost(best);
        let error = |found: Found| self.trials[found.trial].error.map_or(f64::INFINITY, |error| error.value);
        let is_better = ratio * SAME_COST < 1.0 || ratio < SAME_COST && error(new) < error(best);
        if is_better { new } else { best }
    }

    /// Whether the error of a method would have to fall faster than it can.
    fn is_hopeless(&self, contender: usize, step: f64) -> bool {
        let Contender { method, last, .. } = &self.contenders[contender];
        let Some((known, error)) = last.filter(|(_, error)| *error < EXTRAPOLATED) else { return false };
        let order = i32::try_from(method.entry.convergence_order).unwrap_or(LEAST_ORDER).max(LEAST_ORDER);
        step < known && error * (step / known).powi(order + EXTRA_ORDER) > self.asked
    }

    /// Whether a smaller step with these digits reaches the error too: else the first one did by accident. Where there is no
    /// time left for that, it is taken as it is.
    fn confirmed(&mut self, contender: usize, trial: usize, digits: &[f64]) -> Result<Option<Found>> {
        let MacroSteps::Equal(step) = self.trials[trial].steps else { return Ok(None) };
        let mut smaller = lattice::smaller(digits, step);
        while smaller.is_some_and(|smaller| self.only_whole && !self.is_whole(smaller)) {
            smaller = smaller.and_then(|smaller| lattice::smaller(digits, smaller));
        }
        let Some(smaller) = smaller else { return Ok(Some(Found { trial, smaller: None })) };
        // A reference for it alone is not made.
        let second = self.attempt(contender, smaller, false)?;
        Ok(match second {
            Some(second) if !self.trials[second].reaches => None,
            smaller => Some(Found { trial, smaller }),
        })
    }

    fn is_whole(&self, step: f64) -> bool {
        let run = Experiment { step, ..self.system.project.model.experiment };
        run.last_step() == run.step
    }

    /// Does a trial, if it has not been done; nothing if that is not possible.
    pub(super) fn attempt(&mut self, contender: usize, step: f64, may_refine: bool) -> Result<Option<usize>> {
        let label = self.contenders[contender].method.label();
        let steps = MacroSteps::Equal(step);
        let known = self.trials.iter().position(|trial| trial.method == label && trial.steps == steps);
        if known.is_some() || self.only_whole && !self.is_whole(step) || step >= self.hangs_at {
            return Ok(known);
        }
        let wall = self.start_up + self.steps(step) * self.contenders[contender].wall_per_step;
        if !self.has_time_for(wall) {
            self.leave_out(contender, step);
            return Ok(None);
        }
        let run = Run::new().method(&self.contenders[contender].method).step(step);
        let name = format!("{label} at {}", format_time(step));
        let measured =
            self.system.configured(&run, None).and_then(|system| self.run(&system, &name, may_refine))?;
        let Measured::Run(report, kind) = measured else {
            if may_refine {
                self.leave_out(contender, step);
            }
            return Ok(None);
        };
        if report.passed_stop.is_some() && !self.system.project.model.has_equations() {
            // Its last step cannot be shorter: there is nothing to compare its end with.
            self.only_whole = true;
            if report.errors.eps_mono.is_none() {
                return Ok(None);
            }
        }
        self.learn(contender, step, &report, kind)
    }

    /// Remembers a trial in which an FMU hung. After some of them it is to blame, not the step.
    fn hang(&mut self, contender: usize, step: f64, error: &Error) -> Result<Option<usize>> {
        let label = self.contenders[contender].method.label();
        self.hung.push((format!("{label} at {}", format_time(step)), error.clone()));
        self.hangs_at = self.hangs_at.min(step);
        if self.hung.len() < MOST_HANGS { Ok(None) } else { Err(error.clone()) }
    }

    fn leave_out(&mut self, contender: usize, step: f64) {
        let Contender { method, is_out, .. } = &mut self.contenders[contender];
        *is_out = true;
        self.left_out.push(format!("{} at {}", method.label(), exact_time(step)));
    }

    /// Whether so many seconds are left.
    pub(super) fn has_time_for(&self, seconds: f64) -> bool {
        self.waiting.left().is_none_or(|left| seconds < left.as_secs_f64())
    }

    /// Measures a system as it is, and tells of it.
    pub(super) fn run(&mut self, system: &System, name: &str, may_refine: bool) -> Result<Measured> {
        self.waiting.check()?;
        (self.progress)(name, self.waiting.left());
        self.yardstick.measure(system, &self.waiting, may_refine)
    }

    /// Takes over what a trial has shown.
    fn learn(
        &mut self,
        contender: usize,
        step: f64,
        report: &RunReport,
        kind: Option<ReferenceKind>,
    ) -> Result<Option<usize>> {
        let c = &mut self.contenders[contender];
        if let Some(error) = &report.error {
            match error.code() {
                Code::Stopped => return Err(error.clone()),
                Code::Hung => return self.hang(contender, step, error),
                Code::TimeLimit => {
                    self.leave_out(contender, step);
                    return Ok(None);
                }
                Code::NeedsMissing => {
                    c.is_out = true;
                    self.not_possible.push((c.method.label(), error.clone()));
                    return Ok(None);
                }
                _ => {}
            }
        }
        if report.verdict == Verdict::Failed {
            c.failures += 1;
            c.is_out = c.failures >= MOST_FAILURES;
        }
        let (work, steps) = (&report.work, report.work.macro_steps.max(1) as f64);
        c.calls.learn(step, work.subsystem_steps as f64 / steps);
        c.wall_per_step = work.wall_s / steps;
        let trial = Trial::of(report, MacroSteps::Equal(step), self.asked, kind);
        if let (Verdict::Stable, Some(error)) = (trial.verdict, trial.error) {
            let falls = c.last.is_none_or(|(at, before)| step > at || error.value < FALLS * before);
            c.stalls = if falls { 0 } else { c.stalls + 1 };
            // A method at the end of its accuracy does not become better.
            c.is_out = c.stalls >= MOST_STALLS;
            if c.last.is_none_or(|(at, _)| step < at) {
                c.last = Some((step, error.value));
            }
        }
        // A second run at half the step would have told it.
        let is_unknown = trial.verdict == Verdict::Stable && trial.error.is_none();
        self.is_unmeasured |= is_unknown && !self.has_time_for(self.start_up + 2.0 * work.wall_s);
        self.trials.push(trial);
        Ok(Some(self.trials.len() - 1))
    }
}

/// A trial with an error that is small enough, and the one at a smaller step that confirms it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) trial: usize,
    pub(super) smaller: Option<usize>,
}
