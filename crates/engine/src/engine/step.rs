//! One macro step, from T^k to T^(k+1).

use costep_core::{Code, Error, Place, Result, StepContext, Verdict};

use super::Engine;
use crate::guard::Moment;
use crate::job::Job;

/// How often one step may be tried again.
const MAX_REPETITIONS: u32 = 100;

/// What became of a step.
enum Attempt {
    Accepted,
    /// It was too long: a step of at most this length is wanted, after so many tries.
    Rejected {
        shorter: f64,
        tries: u32,
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

    #[inline]
    fn step_once(&mut self) -> Result<()> {
        let mut whole = self.ledger.context(self.exchange.last_length, 0);
        if self.is_divided(&whole) {
            return self.step_in_parts(&whole);
        }
        while let Attempt::Rejected { shorter, tries } = self.step_to_the_end_of(&whole)? {
            whole = self.shorten(&whole, shorter, tries)?;
        }
        self.arrive(&whole, &whole)
    }

    #[inline(never)]
    fn step_in_parts(&mut self, whole: &StepContext) -> Result<()> {
        self.ledger.divided_steps += 1;
        let mut pieces = whole.interval().split(self.plan.parts).peekable();
        while let Some(piece) = pieces.next() {
            let context = StepContext { h_before: self.exchange.last_length, ..whole.over(piece) };
            self.exchange.sample_externals(&self.plan, piece.start, piece.end);
            if let Attempt::Rejected { .. } = self.step_to_the_end_of(&context)? {
                return Err(Error::new(Code::Bug, "a method rejects a part of a step that is divided"));
            }
            match pieces.peek() {
                Some(next) => {
                    self.exchange.sample_externals(&self.plan, next.start, next.end);
                    self.look_around(&context)?;
                }
                None => self.arrive(whole, &context)?,
            }
        }
        Ok(())
    }

    /// Whether a method wants the step done in parts. All are asked: they may prepare for it.
    fn is_divided(&mut self, context: &StepContext) -> bool {
        let Self { plan, plant, exchange, groups, models, .. } = self;
        let mut divided = false;
        for g in plan.roles.dividing.iter().copied() {
            divided |= groups[g].method.divides(context, &exchange.signals(plan, plant, &**models));
        }
        divided
    }

    /// Does a step, or a part of one, as often as the methods ask for.
    #[inline]
    fn step_to_the_end_of(&mut self, context: &StepContext) -> Result<Attempt> {
        let attempt = if self.plan.goes_back {
            self.step_until_judged(*context)?
        } else if self.try_step(context)? == Verdict::Accept {
            Attempt::Accepted
        } else {
            let message = "a coupling method repeats a step but has not asked for rollback";
            return Err(Error::new(Code::Bug, message));
        };
        if matches!(attempt, Attempt::Accepted) {
            self.exchange.move_on(context);
        }
        Ok(attempt)
    }

    #[inline(never)]
    fn step_until_judged(&mut self, mut context: StepContext) -> Result<Attempt> {
        let at = (context.t, context.k);
        self.plant.try_each(at, |_, subsystem| subsystem.demand_rollback()?.snapshot())?;
        loop {
            let verdict = self.try_step(&context)?;
            if verdict == Verdict::Accept {
                return Ok(Attempt::Accepted);
            }
            if context.repetition == MAX_REPETITIONS {
                return Err(no_convergence(&context));
            }
            context.repetition += 1;
            self.plant.try_each(at, |_, subsystem| subsystem.demand_rollback()?.restore())?;
            if let Verdict::Reject { shorter } = verdict {
                return Ok(Attempt::Rejected { shorter, tries: context.repetition });
            }
        }
    }

    /// The step in place of one that was rejected.
    #[cold]
    fn shorten(&mut self, rejected: &StepContext, shorter: f64, tries: u32) -> Result<StepContext> {
        let Self { plan, exchange, ledger, control, .. } = self;
        if !(shorter > 0.0 && shorter < rejected.h) {
            let message = format!("a step of {} s was rejected for one of {shorter} s", rejected.h);
            return Err(Error::new(Code::Bug, message));
        }
        control.rejected(rejected, shorter)?;
        ledger.next = control.next_step(ledger.k);
        let context = ledger.context(rejected.h_before, tries);
        if context.t != rejected.t || context.h.partial_cmp(&rejected.h) != Some(std::cmp::Ordering::Less) {
            return Err(Error::new(Code::Bug, "the step control does not shorten a step that was rejected"));
        }
        exchange.sample_externals(plan, context.t, context.t_next);
        Ok(context)
    }

    #[inline]
    fn try_step(&mut self, context: &StepContext) -> Result<Verdict> {
        self.form_inputs(context)?;
        let Self { plan, plant, exchange, ledger, .. } = self;
        plan.guard.check_inputs(Moment { time: context.t, step: context.k }, &exchange.inputs)?;
        for stage in 0..plan.schedule.stages.len() {
            exchange.interpolate_known_inputs(plan, stage, context)?;
            let job = Job {
                plan,
                interval: context.interval(),
                step: context.k,
                stage,
                inputs: &exchange.inputs,
                environments: &exchange.environments,
                clocks: ledger.timed.then_some(ledger.clocks.all()),
            };
            plant.step(&job, &mut exchange.y_next)?;
            let at = Moment { time: context.t_next, step: context.k };
            plan.check_stage(stage, at, &exchange.y_next)?;
            exchange.take_means(plan, plant, stage);
        }
        ledger.subsystem_steps += plant.len() as u64;
        ledger.attempts += 1;
        self.judge(context)
    }

    /// What the methods, and the step control, say about a step that has been tried.
    #[inline]
    fn judge(&mut self, context: &StepContext) -> Result<Verdict> {
        let Self { plan, plant, exchange, groups, models, control, .. } = self;
        let mut verdict = Verdict::Accept;
        for g in plan.roles.looking_back.iter().copied() {
            let signals = exchange.signals(plan, plant, &**models);
            verdict = verdict.and(groups[g].method.post_step(context, &signals)?);
        }
        if plan.goes_back && control.judges() {
            verdict = verdict.and(control.judge(context, &exchange.signals(plan, plant, &**models))?);
        }
        Ok(verdict)
    }

    /// The input polynomials of the step.
    #[inline]
    fn form_inputs(&mut self, context: &StepContext) -> Result<()> {
        let Self { plan, plant, exchange, groups, models, .. } = self;
        if plan.holds {
            // What comes back is overwritten when the next coupled inputs are formed.
            exchange.inputs.hold(&mut exchange.coupled);
            return Ok(());
        }
        for group in groups {
            group.method.pre_step(context, &mut exchange.signals(plan, plant, &**models))?;
        }
        for j in &plan.held {
            exchange.inputs.coefficients_mut(0)[*j] = exchange.coupled[*j];
        }
        Ok(())
    }
}

#[cold]
fn no_convergence(context: &StepContext) -> Error {
    let message = format!("the step was repeated {MAX_REPETITIONS} times without success");
    let (time, step) = (context.t, context.k);
    Error::new(Code::Repeats, message).at(Place::Run { subsystem: None, signal: None, time, step })
}
