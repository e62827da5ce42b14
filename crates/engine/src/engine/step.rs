//! One macro step, from T^k to T^(k+1).

use std::cmp::Ordering;

use costep_core::{Code, Error, Interval, Place, Result, StepContext, Verdict};

use super::Engine;
use crate::guard::Moment;
use crate::job::Job;

/// How often one step may be tried again.
const MAX_REPETITIONS: u32 = 100;

/// What became of a step.
pub(super) enum Attempt {
    Accepted,
    /// It was too long: a step of at most this length is wanted.
    Rejected {
        shorter: f64,
    },
}

impl Engine {
    /// Does one macro step. After an error the subsystems stand at different times: every further step is refused.
    pub fn step(&mut self) -> Result<()> {
        self.ledger.begin()?;
        if self.ledger.clocks.is_due(self.ledger.stepped) {
            self.step_timed()?;
        } else {
            self.step_once()?;
        }
        self.ledger.end();
        Ok(())
    }

    /// A step whose subsystems are timed.
    #[cold]
    fn step_timed(&mut self) -> Result<()> {
        let stepped = self.ledger.stepped;
        self.ledger.clocks.warm_up(stepped);
        self.ledger.timed = true;
        self.step_once()?;
        self.ledger.timed = false;
        self.ledger.clocks.done(stepped);
        Ok(())
    }

    #[inline(always)]
    fn step_once(&mut self) -> Result<()> {
        let interval = self.ledger.next;
        self.ledger.set_out(interval, self.exchange.last_length);
        if self.plan.goes_back || !self.plan.roles.dividing.is_empty() {
            return self.step_as_requested();
        }
        self.step_through(interval)?;
        self.arrive()
    }

    /// A step that may be divided, repeated or rejected.
    #[inline(never)]
    fn step_as_requested(&mut self) -> Result<()> {
        if self.is_divided() {
            return self.step_in_parts();
        }
        while let Attempt::Rejected { shorter } = self.step_to_the_end_of(self.ledger.next)? {
            if self.pace.is_fixed() {
                let done = self.step_in_halves(self.ledger.next, shorter);
                done.map_err(|error| self.cause_of(error))?;
                break;
            }
            self.shorten(shorter).map_err(|error| self.cause_of(error))?;
        }
        self.arrive()
    }

    #[inline(never)]
    fn step_in_parts(&mut self) -> Result<()> {
        self.ledger.divided_steps += 1;
        let mut pieces = self.ledger.next.split(self.plan.parts).peekable();
        while let Some(piece) = pieces.next() {
            self.ledger.set_out(piece, self.exchange.last_length);
            self.exchange.sample_externals(&self.plan, &piece);
            if let Attempt::Rejected { shorter } = self.step_to_the_end_of(piece)? {
                let done = self.step_in_halves(piece, shorter);
                done.map_err(|error| self.cause_of(error))?;
            }
            match pieces.peek() {
                Some(next) => {
                    self.exchange.sample_externals(&self.plan, next);
                    self.look_around()?;
                }
                None => self.arrive()?,
            }
        }
        Ok(())
    }

    /// Whether a method wants the step done in parts. All are asked: they may prepare for it.
    fn is_divided(&mut self) -> bool {
        let Self { plan, plant, exchange, groups, models, ledger, .. } = self;
        let mut divided = false;
        for g in plan.roles.dividing.iter().copied() {
            divided |= groups[g].method.divides(&ledger.now, &exchange.signals(plan, plant, &**models));
        }
        divided
    }

    /// Does a step, or a part of one, as often as the methods ask for.
    pub(super) fn step_to_the_end_of(&mut self, interval: Interval) -> Result<Attempt> {
        if !self.plan.goes_back {
            return self.step_through(interval).map(|()| Attempt::Accepted);
        }
        let attempt = self.step_until_judged(interval)?;
        if matches!(attempt, Attempt::Accepted) {
            self.exchange.move_on(interval);
        }
        Ok(attempt)
    }

    /// Does a step, or a part of one, that is accepted in any case.
    #[inline(always)]
    fn step_through(&mut self, interval: Interval) -> Result<()> {
        if self.try_step(interval)? != Verdict::Accept {
            return Err(repeats_without_asking());
        }
        self.exchange.move_on(interval);
        Ok(())
    }

    #[inline(never)]
    fn step_until_judged(&mut self, interval: Interval) -> Result<Attempt> {
        let at = (interval.start, self.ledger.k);
        self.plant.try_each(at, |_, subsystem| subsystem.demand_rollback()?.snapshot())?;
        loop {
            let verdict = match self.try_step(interval) {
                Ok(verdict) => verdict,
                Err(error) => self.after_failure(error)?,
            };
            if verdict == Verdict::Accept {
                self.ledger.failed_trials.is_over();
                return Ok(Attempt::Accepted);
            }
            if self.ledger.now.repetition == MAX_REPETITIONS {
                return Err(no_convergence(&self.ledger.now));
            }
            self.ledger.now.repetition += 1;
            self.plant.try_each(at, |_, subsystem| subsystem.demand_rollback()?.restore())?;
            if let Verdict::Reject { shorter } = verdict {
                return Ok(Attempt::Rejected { shorter });
            }
        }
    }

    /// Chooses the step in place of one that was rejected.
    #[cold]
    fn shorten(&mut self, shorter: f64) -> Result<()> {
        let Self { plan, exchange, ledger, pace, .. } = self;
        let rejected = ledger.now;
        if !(shorter > 0.0 && shorter < rejected.h) {
            let message = format!("a step of {} s was rejected for one of {shorter} s", rejected.h);
            return Err(Error::new(Code::Bug, message));
        }
        pace.control_mut().rejected(&rejected, shorter)?;
        let next = pace.control().next_step(ledger.k);
        if next.start != rejected.t || next.length.partial_cmp(&rejected.h) != Some(Ordering::Less) {
            return Err(Error::new(Code::Bug, "the step control does not shorten a step that was rejected"));
        }
        ledger.next = next;
        ledger.now = rejected.over(next);
        exchange.sample_externals(plan, &next);
        Ok(())
    }

    /// Does a step once. Whoever is not inlined finds the context in the ledger: handed over it would be written to memory
    /// and read again at once, in other pieces, which takes longer than all questions of this function.
    #[inline(always)]
    fn try_step(&mut self, interval: Interval) -> Result<Verdict> {
        self.form_inputs()?;
        let Self { plan, plant, exchange, ledger, .. } = self;
        let k = ledger.k;
        plan.guard.check_inputs(Moment { time: interval.start, step: k }, &exchange.inputs)?;
        for stage in 0..plan.schedule.stages.len() {
            exchange.interpolate_known_inputs(plan, stage, ledger)?;
            let job = Job {
                plan,
                interval,
                step: k,
                stage,
                inputs: &exchange.inputs,
                environments: &exchange.environments,
                clocks: ledger.timed.then_some(ledger.clocks.all()),
            };
            plant.step(&job, &mut exchange.y_next)?;
            plan.check_stage(stage, Moment { time: interval.end, step: k }, &exchange.y_next)?;
            exchange.take_means(plan, plant, stage);
        }
        ledger.subsystem_steps += plant.len() as u64;
        ledger.attempts += 1;
        let roles = &self.plan.roles;
        match roles.looking_back.is_empty() && !self.plan.goes_back && !roles.control_looks {
            true => Ok(Verdict::Accept),
            false => self.judge(),
        }
    }

    /// What the methods, and the step control, say about a step that has been tried.
    #[inline(never)]
    fn judge(&mut self) -> Result<Verdict> {
        let Self { plan, plant, exchange, groups, models, pace, ledger, .. } = self;
        let mut verdict = Verdict::Accept;
        for g in plan.roles.looking_back.iter().copied() {
            let signals = exchange.signals(plan, plant, &**models);
            verdict = verdict.and(groups[g].method.post_step(&ledger.now, &signals)?);
        }
        // A step that is to be repeated has not come to its result.
        if plan.roles.control_looks && verdict == Verdict::Accept {
            let signals = exchange.signals(plan, plant, &**models);
            verdict = pace.control_mut().judge(&ledger.now, &signals)?;
        }
        Ok(verdict)
    }

    /// The input polynomials of the step.
    #[inline(always)]
    fn form_inputs(&mut self) -> Result<()> {
        if self.plan.holds {
            // What comes back is overwritten when the next coupled inputs are formed.
            self.exchange.inputs.hold(&mut self.exchange.coupled);
            return Ok(());
        }
        self.ask_for_inputs()
    }

    #[inline(never)]
    fn ask_for_inputs(&mut self) -> Result<()> {
        let Self { plan, plant, exchange, groups, models, ledger, .. } = self;
        for group in groups {
            group.method.pre_step(&ledger.now, &mut exchange.signals(plan, plant, &**models))?;
        }
        plan.corrections.apply(&exchange.coupled, ledger.now.h, &mut exchange.inputs);
        for j in &plan.held {
            exchange.inputs.coefficients_mut(0)[*j] = exchange.coupled[*j];
        }
        Ok(())
    }
}

#[cold]
fn repeats_without_asking() -> Error {
    Error::new(Code::Bug, "a coupling method repeats a step but has not asked for rollback")
}

#[cold]
fn no_convergence(context: &StepContext) -> Error {
    let message = format!("the step was repeated {MAX_REPETITIONS} times without success");
    let (time, step) = (context.t, context.k);
    Error::new(Code::Repeats, message).at(Place::Run { subsystem: None, signal: None, time, step })
}
