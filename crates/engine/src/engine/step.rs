//! One macro step, from T^k to T^(k+1).

use costep_core::{
    Code, Error, MicroView, Place, Result, SampleRule, Signals, StepContext, Subsystem, Verdict, mean_outputs,
};

use super::Engine;
use crate::guard::Moment;
use crate::job::place;

/// What methods see. A macro, because it borrows fields of the engine beside the groups that are at work.
macro_rules! signals {
    ($engine:ident) => {
        Signals {
            y: &$engine.y,
            coupled: &$engine.coupled,
            y_next: &$engine.y_next,
            external: &$engine.external,
            external_next: &$engine.external_next,
            externals: &$engine.externals,
            coupling: &$engine.coupling,
            history: &$engine.history,
            inputs: &mut $engine.inputs,
            micro: &$engine.subsystems,
            descriptions: &$engine.descriptions,
            models: &*$engine.models,
            environments: &mut $engine.environments,
            u_end: &$engine.u_end,
        }
    };
}

/// How often a method may repeat one step.
const MAX_REPETITIONS: u32 = 100;

impl Engine {
    /// Does one macro step. After an error the subsystems stand at different times: every further step is refused.
    pub fn step(&mut self) -> Result<()> {
        if self.failed {
            return Err(Error::new(Code::Bug, "the run has failed before and cannot be stepped on"));
        }
        self.failed = true;
        if self.plain && !self.clocks.is_due(self.stepped) {
            self.step_plainly()?;
        } else {
            self.step_fully()?;
        }
        self.stepped += 1;
        self.failed = false;
        Ok(())
    }

    /// A step of any kind, timed if it is due. Says whether those that follow are plain.
    #[inline(never)]
    fn step_fully(&mut self) -> Result<()> {
        self.timed = self.clocks.is_due(self.stepped);
        if self.timed {
            self.clocks.warm_up(self.stepped);
        }
        self.step_once()?;
        if self.timed {
            self.clocks.done(self.stepped);
        }
        self.plain = self.is_plain();
        Ok(())
    }

    fn step_once(&mut self) -> Result<()> {
        let whole = self.context();
        if self.is_divided(&whole) {
            return self.step_in_parts(&whole);
        }
        self.step_to_the_end_of(&whole)?;
        self.arrive(&whole)
    }

    #[inline(never)]
    fn step_in_parts(&mut self, whole: &StepContext) -> Result<()> {
        self.divided_steps += 1;
        let mut pieces = whole.interval().split(self.parts).peekable();
        while let Some(piece) = pieces.next() {
            let context = whole.over(piece);
            self.sample_externals(context.t, context.t_next);
            self.step_to_the_end_of(&context)?;
            match pieces.peek() {
                Some(next) => {
                    self.sample_externals(next.start, next.end);
                    self.look_around(&context)?;
                }
                None => self.arrive(&context)?,
            }
        }
        Ok(())
    }

    /// Whether a method wants the step done in parts. All are asked: they may prepare for it.
    fn is_divided(&mut self, context: &StepContext) -> bool {
        let mut divided = false;
        for g in self.dividing.iter().copied() {
            let signals = signals!(self);
            divided |= self.groups[g].method.divides(context, &signals);
        }
        divided
    }

    /// Does a step, or a part of one, as often as the methods ask for.
    #[inline]
    fn step_to_the_end_of(&mut self, context: &StepContext) -> Result<()> {
        if self.rollback {
            self.step_until_accepted(*context)?;
        } else if self.try_step(context)? == Verdict::Repeat {
            let message = "a coupling method repeats a step but has not asked for rollback";
            return Err(Error::new(Code::Bug, message));
        }
        self.history.push(context.t, &self.coupled);
        std::mem::swap(&mut self.y, &mut self.y_next);
        self.last_length = context.h;
        Ok(())
    }

    #[inline(never)]
    fn step_until_accepted(&mut self, mut context: StepContext) -> Result<()> {
        self.with_each(&context, |subsystem| subsystem.demand_rollback()?.snapshot())?;
        while self.try_step(&context)? == Verdict::Repeat {
            if context.repetition == MAX_REPETITIONS {
                return Err(self.no_convergence(&context));
            }
            context.repetition += 1;
            self.with_each(&context, |subsystem| subsystem.demand_rollback()?.restore())?;
        }
        Ok(())
    }

    fn with_each(
        &mut self,
        context: &StepContext,
        action: impl Fn(&mut dyn Subsystem) -> Result<()>,
    ) -> Result<()> {
        self.subsystems.iter_mut().try_for_each(|subsystem| {
            action(&mut **subsystem).map_err(|error| place(&**subsystem, context.t, context.k, error))
        })
    }

    #[inline]
    fn try_step(&mut self, context: &StepContext) -> Result<Verdict> {
        self.form_inputs(context)?;
        self.guard.check_inputs(Moment { time: context.t, step: context.k }, &self.inputs)?;
        for stage in 0..self.schedule.stages.len() {
            self.interpolate_known_inputs(stage, context)?;
            self.step_stage(stage, context)?;
            self.check_stage(stage, context)?;
            self.take_means(stage);
        }
        self.subsystem_steps += self.subsystems.len() as u64;
        self.attempts += 1;
        let mut verdict = Verdict::Accept;
        for g in self.looking_back.iter().copied() {
            let signals = signals!(self);
            if self.groups[g].method.post_step(context, &signals)? == Verdict::Repeat {
                verdict = Verdict::Repeat;
            }
        }
        Ok(verdict)
    }

    /// The input polynomials of the step.
    fn form_inputs(&mut self, context: &StepContext) -> Result<()> {
        if self.holds {
            // What comes back is overwritten when the next coupled inputs are formed.
            self.inputs.hold(&mut self.coupled);
            return Ok(());
        }
        for group in &mut self.groups {
            let mut signals = signals!(self);
            group.method.pre_step(context, &mut signals)?;
        }
        for j in &self.held {
            self.inputs.coefficients_mut(0)[*j] = self.coupled[*j];
        }
        Ok(())
    }

    /// Inputs whose sources have already stepped go to their known end value: as a hold of that value (or of the
    /// mean, if the method prefers it), a line or a parabola, in the order of their method.
    fn interpolate_known_inputs(&mut self, stage: usize, context: &StepContext) -> Result<()> {
        let h = context.h;
        let known = &self.schedule.known_inputs[stage];
        for j in known.iter().copied() {
            let start = self.coupled[j];
            let end = self.coupling.row(j, &self.y_next) + self.external_next[j];
            let order = self.input_orders[j];
            if self.hold_known_mean[j] {
                let mean_external = 0.5 * (self.external[j] + self.external_next[j]);
                self.inputs.coefficients_mut(0)[j] = self.coupling.row(j, &self.mean) + mean_external;
                continue;
            }
            if order == 0 {
                self.inputs.coefficients_mut(0)[j] = end;
                continue;
            }
            let slope = (end - start) / h;
            let curvature = if order >= 2 && !self.history.is_empty() {
                let gap = context.t - self.history.time(1);
                (slope - (start - self.history.coupled(1)[j]) / gap) / (h + gap)
            } else {
                0.0
            };
            self.inputs.coefficients_mut(0)[j] = start;
            self.inputs.coefficients_mut(1)[j] = slope - h * curvature;
            for a in 2..=order {
                self.inputs.coefficients_mut(a)[j] = if a == 2 { curvature } else { 0.0 };
            }
        }
        let at = Moment { time: context.t_next, step: context.k };
        known.iter().try_for_each(|j| self.guard.check_input(at, *j, &self.inputs))
    }

    fn step_stage(&mut self, stage: usize, context: &StepContext) -> Result<()> {
        let clocks = self.timed.then_some(self.clocks.all());
        let job = job!(self, stage, context.interval(), context.k, clocks);
        self.threads.step(&job, &mut self.lanes[stage], &mut self.subsystems, &mut self.y_next)
    }

    /// Stops bad outputs before the next stage sees them.
    fn check_stage(&self, stage: usize, context: &StepContext) -> Result<()> {
        let at = Moment { time: context.t_next, step: context.k };
        if let [_] = &self.schedule.stages[..] {
            return self.guard.check(at, 0..self.y_next.len(), &self.y_next);
        }
        let mut ranges = self.schedule.stages[stage].iter().map(|i| self.layout.output_range(*i));
        ranges.try_for_each(|range| self.guard.check(at, range, &self.y_next))
    }

    /// Means over the step of the outputs of a stage, where a later stage may want them.
    fn take_means(&mut self, stage: usize) {
        if self.needs_known_means && stage + 1 < self.schedule.stages.len() {
            let (parts, outputs) =
                ((&self.subsystems as &dyn MicroView, &self.layout), (&self.y[..], &self.y_next[..]));
            let chosen = self.schedule.stages[stage].iter().copied();
            mean_outputs(SampleRule::Declared, parts, chosen, outputs, &mut self.mean);
        }
    }

    fn context(&self) -> StepContext {
        StepContext {
            k: self.k,
            t: self.experiment.time(self.k),
            t_next: self.experiment.time(self.k + 1),
            h: self.experiment.step,
            repetition: 0,
        }
    }

    #[cold]
    fn no_convergence(&self, context: &StepContext) -> Error {
        let message = format!("the step was repeated {MAX_REPETITIONS} times without success");
        Error::new(Code::Repeats, message).at(Place::Run {
            subsystem: None,
            signal: None,
            time: context.t,
            step: context.k,
        })
    }
}
