//! The macro-step loop.
//!
//! ```text
//! +-> method.pre_step     input polynomials <- f(history, outputs)          per group of connections
//! |   stage by stage      known inputs interpolated, subsystems stepped     in parallel, disjoint slices
//! |   guard.check         finite? within bounds? end time reached?
//! |   method.post_step -> Repeat: restore, again | Accept
//! +-- outputs, history and coupled inputs move on; T^k = start + k h, never t += h
//! ```
//!
//! A method may ask for a macro step in equal parts; each is then done like a step of its own.
//!
//! After the first steps (which fill the caches of integrators and methods, and may start threads) nothing in here
//! takes memory, a lock or a look at a name.

use costep_core::{
    Arrival, Code, Companion, Coupling, Description, Error, Experiment, External, History, InputPolynomials,
    Interval, Layout, ModelSource, Observation, PARTS, Place, Result, SampleRule, SegmentPlace, Signals,
    SolverCounts, StateReader, StateWriter, StepContext, Subsystem, SystemView, Verdict, mean_outputs,
};

use crate::checks::{check_experiment, check_groups, check_indices, check_needs};
use crate::clocks::Clocks;
use crate::guard::{Guard, Moment};
use crate::initialise::initialise;
use crate::pool::{Job, place};
use crate::rows::{Lane, lanes};
use crate::schedule::Schedule;
use crate::substeps::divide_steps;
use crate::system::{Group, System, take_held};
use crate::threads::ThreadChoice;

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
            subsystems: &$engine.subsystems,
            models: &*$engine.models,
            companions: &mut $engine.companions,
            u_end: &$engine.u_end,
        }
    };
}

/// How often a method may repeat one step.
const MAX_REPETITIONS: u32 = 100;
/// Counters in a saved state beyond this are damage.
const MAX_COUNT: u64 = 1 << 53;
/// A coupled system on its way through time.
pub struct Engine {
    experiment: Experiment,
    subsystems: Vec<Box<dyn Subsystem>>,
    descriptions: Vec<Description>,
    layout: Layout,
    coupling: Coupling,
    externals: Vec<(usize, External)>,
    /// The inputs that `externals` end at, each once.
    external_inputs: Vec<usize>,
    groups: Vec<Group>,
    /// Number of diagnostic columns of each group.
    diagnostic_counts: Vec<usize>,
    /// Order of the polynomial of each input, by its group.
    input_orders: Vec<usize>,
    /// Where the inputs of each subsystem are, in the highest order of its groups.
    segments: Vec<SegmentPlace>,
    /// Inputs of discrete signals, which no method forms.
    held: Vec<usize>,
    /// Whether an input is held at its mean where that is known, by its group.
    hold_known_mean: Vec<bool>,
    needs_known_means: bool,
    schedule: Schedule,
    /// Per stage.
    lanes: Vec<Vec<Lane>>,
    guard: Guard,
    threads: ThreadChoice,
    rollback: bool,
    /// Groups that form their coupled inputs themselves.
    forming: Vec<usize>,
    models: Box<dyn ModelSource>,
    needs_models: bool,
    /// The rest of the system as each subsystem sees it, if a method asks for it.
    companions: Vec<Companion>,
    /// Room for means of outputs over the step.
    mean: Vec<f64>,
    /// u(T^k) at the end of the last step, if somebody needs it.
    u_end: Vec<f64>,
    /// Subsystems whose inputs may end otherwise than their polynomials.
    own_ends: Vec<usize>,

    /// Number of accepted steps; the engine stands at T^k.
    k: u64,
    resumed: bool,
    failed: bool,
    /// y^k and y^(k+1).
    y: Vec<f64>,
    y_next: Vec<f64>,
    /// z^k = L y^k + r(T^k).
    coupled: Vec<f64>,
    /// r(T^k) and r(T^(k+1)).
    external: Vec<f64>,
    external_next: Vec<f64>,
    history: History,
    inputs: InputPolynomials,
    /// Length of the step that `inputs` are of: h, that of a part, or 0 at the start.
    last_length: f64,
    subsystem_steps: u64,
    /// Times of steps, and whether this step is timed.
    clocks: Clocks,
    timed: bool,
    /// Accepted steps of this process, and all, with those that were repeated.
    stepped: u64,
    attempts: u64,
}

impl Engine {
    /// Checks the system, takes all memory and finds consistent initial values.
    pub fn new(system: System) -> Result<Self> {
        let System {
            mut subsystems,
            connections,
            mut models,
            externals,
            mut groups,
            scheduling,
            bounds,
            experiment,
            ..
        } = system;
        check_experiment(&experiment)?;
        let mut descriptions: Vec<_> = subsystems.iter().map(|s| s.description().clone()).collect();
        let layout = Layout::of(&descriptions);
        check_groups(&groups, &layout)?;
        let held = take_held(&mut groups, &descriptions);
        // A default group whose inputs have all been given to others has nothing to do.
        groups.retain(|group| !group.inputs.is_empty());
        check_indices(&connections, &externals, &bounds, &layout)?;
        if let Some((j, signal)) = externals.iter().find(|(_, signal)| !signal.is_finite()) {
            return Err(Error::new(
                Code::BadValue,
                format!("the signal at input {j} is not finite: {signal:?}"),
            ));
        }
        let coupling = Coupling::new(layout.inputs(), &connections);
        let mut schedule = Schedule::new(&scheduling, &descriptions, &layout, &coupling)?;
        let step = experiment.step;
        let divisible = subsystems.iter().all(|subsystem| subsystem.can_step_by(step / PARTS as f64));
        for group in &mut groups {
            let inputs = &group.inputs;
            let view = SystemView {
                descriptions: &descriptions,
                layout: &layout,
                coupling: &coupling,
                inputs,
                step,
                divisible,
            };
            group.method.choose(&view)?;
        }
        let needs: Vec<_> = groups.iter().map(|group| group.method.needs()).collect();
        if system.micro_samples || needs.iter().any(|needs| needs.micro_samples) {
            subsystems.iter_mut().for_each(|subsystem| subsystem.record_micro_samples(true, &experiment));
        }
        for (group, needs) in groups.iter().zip(&needs).filter(|(_, needs)| needs.substeps > 1) {
            let is_ours = |i: usize| layout.input_range(i).any(|j| group.inputs.contains(j));
            for i in divide_steps(&mut subsystems, (needs, step), is_ours)? {
                descriptions[i] = subsystems[i].description().clone();
            }
        }
        let mut input_orders = vec![0; layout.inputs()];
        let mut hold_known_mean = vec![false; layout.inputs()];
        for (group, needs) in groups.iter_mut().zip(&needs) {
            check_needs(group, needs, &descriptions, &layout)?;
            for j in group.inputs.iter() {
                let takes = descriptions[layout.input_owner(j)].capabilities.input_order;
                input_orders[j] = needs.input_order.min(takes);
                hold_known_mean[j] = needs.hold_known_mean;
            }
            if needs.keeps_known_inputs {
                schedule.forget_known(|j| group.inputs.contains(j));
            }
            group.method.prepare(&SystemView {
                descriptions: &descriptions,
                layout: &layout,
                coupling: &coupling,
                inputs: &group.inputs,
                step,
                divisible,
            })?;
        }
        let input_order = input_orders.iter().copied().max().unwrap_or(0);
        let history_depth =
            needs.iter().map(|needs| needs.history).max().unwrap_or(0).max(usize::from(input_order > 1));
        let (inputs, outputs, segments) = (layout.inputs(), layout.outputs(), layout.subsystems());
        let segment_order = |i: usize| input_orders[layout.input_range(i)].iter().copied().max().unwrap_or(0);
        let polynomials = InputPolynomials::new(inputs, input_order);
        let place = |i: usize| polynomials.place(layout.input_range(i), segment_order(i));
        let places: Vec<_> = (0..segments).map(place).collect();
        let needs_models = needs.iter().any(|needs| needs.local_models);
        let wants_companions = needs.iter().any(|needs| needs.companions);
        if needs_models {
            models.prepare(&subsystems, &experiment)?;
        }
        let mut engine = Self {
            guard: Guard::new(&descriptions, &bounds),
            threads: ThreadChoice::new(system.threads, schedule.widest()),
            external_inputs: unique(externals.iter().map(|(j, _)| *j)),
            diagnostic_counts: groups.iter().map(|group| group.method.diagnostic_names().len()).collect(),
            rollback: needs.iter().any(|needs| needs.rollback),
            forming: (0..groups.len()).filter(|g| needs[*g].forms_coupled).collect(),
            models,
            needs_models,
            companions: vec![Companion::default(); if wants_companions { segments } else { 0 }],
            mean: vec![0.0; outputs],
            u_end: vec![0.0; inputs],
            own_ends: Vec::new(),
            lanes: Vec::new(),
            k: 0,
            resumed: false,
            failed: false,
            y: vec![0.0; outputs],
            y_next: vec![0.0; outputs],
            coupled: vec![0.0; inputs],
            external: vec![0.0; inputs],
            external_next: vec![0.0; inputs],
            history: History::new(inputs, history_depth),
            inputs: polynomials,
            last_length: 0.0,
            subsystem_steps: 0,
            clocks: Clocks::new(segments),
            timed: false,
            stepped: 0,
            attempts: 0,
            experiment,
            subsystems,
            descriptions,
            layout,
            coupling,
            externals,
            groups,
            segments: places,
            input_orders,
            needs_known_means: hold_known_mean.contains(&true),
            hold_known_mean,
            held,
            schedule,
        };
        engine.form_lanes();
        engine.initialise()?;
        Ok(engine)
    }

    fn form_lanes(&mut self) {
        let Self { schedule, subsystems, layout, input_orders, .. } = self;
        let is_held = |i: usize| input_orders[layout.input_range(i)].iter().all(|order| *order == 0);
        self.lanes = schedule.stages.iter().map(|stage| lanes(stage, subsystems, layout, is_held)).collect();
    }

    fn initialise(&mut self) -> Result<()> {
        self.sample_externals(self.experiment.time(0), self.experiment.time(1));
        let system = (&self.layout, &self.coupling, &self.external[..]);
        initialise(&mut self.subsystems, &self.experiment, system, &mut self.y, &mut self.coupled)?;
        self.inputs.coefficients_mut(0).copy_from_slice(&self.coupled);
        let start = Moment { time: self.experiment.start, step: 0 };
        self.guard.check(start, 0..self.y.len(), &self.y)?;
        self.guard.check_inputs(start, &self.inputs)?;
        self.observe_models(Interval::new(self.experiment.start, self.experiment.start))
    }

    /// Shows the model source every subsystem at T^k.
    fn observe_models(&mut self, interval: Interval) -> Result<()> {
        if !self.needs_models && self.forming.is_empty() {
            return Ok(());
        }
        let mut u_end = std::mem::take(&mut self.u_end);
        self.evaluate_inputs(interval.length, &mut u_end);
        self.u_end = u_end;
        if !self.needs_models {
            return Ok(());
        }
        for (i, subsystem) in self.subsystems.iter_mut().enumerate() {
            let seen = Observation {
                k: self.k,
                interval,
                u: &self.u_end[self.layout.input_range(i)],
                y: &self.y[self.layout.output_range(i)],
            };
            self.models
                .observe(i, &mut **subsystem, &seen)
                .map_err(|error| place(&**subsystem, interval.end, self.k, error))?;
        }
        Ok(())
    }

    /// Does one macro step. After an error the subsystems stand at different times: every further step is refused.
    pub fn step(&mut self) -> Result<()> {
        if self.failed {
            return Err(Error::new(Code::Bug, "the run has failed before and cannot be stepped on"));
        }
        self.failed = true;
        self.timed = self.clocks.is_due(self.stepped);
        if self.timed {
            self.clocks.warm_up(self.stepped);
        }
        self.step_once()?;
        if self.timed {
            self.clocks.done(self.stepped);
        }
        self.stepped += 1;
        self.failed = false;
        Ok(())
    }

    fn step_once(&mut self) -> Result<()> {
        let whole = self.context();
        if !self.is_divided(&whole) {
            self.step_to_the_end_of(whole)?;
            return self.arrive(&whole);
        }
        for part in 0..PARTS {
            let context = part_of(&whole, part);
            self.sample_externals(context.t, context.t_next);
            self.step_to_the_end_of(context)?;
            if part + 1 < PARTS {
                self.sample_externals(context.t_next, part_of(&whole, part + 1).t_next);
                self.look_around(&context)?;
            } else {
                self.arrive(&context)?;
            }
        }
        Ok(())
    }

    /// Whether a method wants the step done in parts. All are asked: they may prepare for it.
    fn is_divided(&mut self, context: &StepContext) -> bool {
        let mut divided = false;
        for group in &mut self.groups {
            let signals = signals!(self);
            divided |= group.method.divides(context, &signals);
        }
        divided
    }

    /// Does a step, or a part of one, as often as the methods ask for.
    fn step_to_the_end_of(&mut self, mut context: StepContext) -> Result<()> {
        if self.rollback {
            self.with_each(&context, |subsystem| subsystem.snapshot())?;
        }
        while self.try_step(&context)? == Verdict::Repeat {
            if !self.rollback {
                let message = "a coupling method repeats a step but has not asked for rollback";
                return Err(Error::new(Code::Bug, message));
            }
            if context.repetition == MAX_REPETITIONS {
                return Err(self.no_convergence(&context));
            }
            context.repetition += 1;
            self.with_each(&context, |subsystem| subsystem.restore())?;
        }
        self.history.push(context.t, &self.coupled);
        std::mem::swap(&mut self.y, &mut self.y_next);
        self.last_length = context.h;
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

    fn try_step(&mut self, context: &StepContext) -> Result<Verdict> {
        for group in &mut self.groups {
            let mut signals = signals!(self);
            group.method.pre_step(context, &mut signals)?;
        }
        for j in &self.held {
            self.inputs.coefficients_mut(0)[*j] = self.coupled[*j];
        }
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
        for group in &mut self.groups {
            let signals = signals!(self);
            if group.method.post_step(context, &signals)? == Verdict::Repeat {
                verdict = Verdict::Repeat;
            }
        }
        Ok(verdict)
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
        let job = Job {
            interval: context.interval(),
            step: context.k,
            stage: &self.schedule.stages[stage],
            descriptions: &self.descriptions,
            layout: &self.layout,
            coupling: &self.coupling,
            inputs: &self.inputs,
            segments: &self.segments,
            clocks: self.timed.then_some(self.clocks.all()),
            companions: &self.companions,
        };
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
            let (parts, outputs) = ((&self.subsystems[..], &self.layout), (&self.y[..], &self.y_next[..]));
            let chosen = self.schedule.stages[stage].iter().copied();
            mean_outputs(SampleRule::Declared, parts, chosen, outputs, &mut self.mean);
        }
    }

    /// Arrives at T^(k+1).
    fn arrive(&mut self, context: &StepContext) -> Result<()> {
        self.k += 1;
        self.sample_externals(self.experiment.time(self.k), self.experiment.time(self.k + 1));
        self.look_around(context)?;
        self.threads.decide(self.schedule.stages.len());
        Ok(())
    }

    /// Asks once which subsystems have inputs that end otherwise than their polynomials. With a model of the rest at hand
    /// each of them may, later on.
    #[cold]
    fn find_own_ends(&mut self) {
        let may = |i: &usize| !self.companions.is_empty() || self.subsystems[*i].input_at_end().is_some();
        self.own_ends = (0..self.subsystems.len()).filter(may).collect();
    }

    /// Local models and coupled inputs at the end of a step or of a part of one.
    fn look_around(&mut self, context: &StepContext) -> Result<()> {
        if self.stepped == 0 {
            self.find_own_ends();
        }
        self.observe_models(context.interval())?;
        self.form_coupled()
    }

    /// r at both ends of the step, or part, to come, as seen from inside it.
    fn sample_externals(&mut self, start: f64, end: f64) {
        if !self.externals.is_empty() {
            sample(&self.externals, &mut self.external, |signal| signal.value(start));
            sample(&self.externals, &mut self.external_next, |signal| signal.value_before(end));
        }
    }

    /// z = L y + r, or what a method makes of it.
    fn form_coupled(&mut self) -> Result<()> {
        self.coupling.apply(&self.y, &mut self.coupled);
        for j in self.external_inputs.iter().copied() {
            self.coupled[j] += self.external[j];
        }
        for g in self.forming.iter().copied() {
            let arrival = Arrival {
                y_before: &self.y_next,
                y: &self.y,
                u_end: &self.u_end,
                external: &self.external,
                coupling: &self.coupling,
                subsystems: &self.subsystems,
                models: &*self.models,
            };
            self.groups[g].method.form_coupled(&arrival, &mut self.coupled)?;
        }
        Ok(())
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

    /// The whole state as bytes.
    pub fn save(&self) -> Result<Vec<u8>> {
        let mut out = StateWriter::default();
        out.integer(self.k);
        out.integer(self.subsystem_steps);
        for values in [&self.y, &self.coupled, self.inputs.raw()] {
            out.reals(values);
        }
        out.reals(&self.u_end);
        out.real(self.last_length);
        self.history.save(&mut out);
        self.models.save(&mut out);
        self.groups.iter().for_each(|group| group.method.save(&mut out));
        self.subsystems.iter().try_for_each(|subsystem| subsystem.save(&mut out))?;
        Ok(out.into_bytes())
    }

    /// Puts back a saved state.
    pub fn load(&mut self, bytes: &[u8]) -> Result<()> {
        let mut from = StateReader::new(bytes);
        self.k = count(&mut from)?;
        self.subsystem_steps = count(&mut from)?;
        from.reals(&mut self.y)?;
        from.reals(&mut self.coupled)?;
        from.reals(self.inputs.raw_mut())?;
        from.reals(&mut self.u_end)?;
        self.last_length = from.real()?;
        self.history.load(&mut from)?;
        self.models.load(&mut from)?;
        self.groups.iter_mut().try_for_each(|group| group.method.load(&mut from))?;
        self.subsystems.iter_mut().try_for_each(|subsystem| subsystem.load(&mut from))?;
        from.finish()?;
        self.sample_externals(self.experiment.time(self.k), self.experiment.time(self.k + 1));
        self.resumed = true;
        self.failed = false;
        Ok(())
    }

    /// Number of accepted steps.
    pub fn k(&self) -> u64 {
        self.k
    }

    /// T^k.
    pub fn time(&self) -> f64 {
        self.experiment.time(self.k)
    }

    /// Start, stop and step.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// Whether it goes on from a saved state.
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// Outputs at T^k.
    pub fn outputs(&self) -> &[f64] {
        &self.y
    }

    /// z^k = L y^k + r(T^k), what the inputs should be at T^k.
    pub fn coupled(&self) -> &[f64] {
        &self.coupled
    }

    /// L.
    pub fn coupling(&self) -> &Coupling {
        &self.coupling
    }

    /// The inputs over the last step.
    pub fn inputs(&self) -> &InputPolynomials {
        &self.inputs
    }

    /// u(T^k): the inputs that were active at the end of the last step.
    pub fn inputs_at_end(&self, u: &mut [f64]) {
        self.evaluate_inputs(self.last_length, u);
    }

    /// The inputs at the end of a step of this length.
    fn evaluate_inputs(&self, length: f64, u: &mut [f64]) {
        self.inputs.evaluate(length, u);
        for i in self.own_ends.iter().copied() {
            if let Some(end) = self.subsystems[i].input_at_end() {
                u[self.layout.input_range(i)].copy_from_slice(end);
            }
        }
    }

    /// One per subsystem.
    pub fn descriptions(&self) -> &[Description] {
        &self.descriptions
    }

    /// Where the signals of each subsystem are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The subsystems.
    pub fn subsystems(&self) -> &[Box<dyn Subsystem>] {
        &self.subsystems
    }

    /// The order of stepping.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Sum of the energies the subsystems report; nothing if one of them does not.
    pub fn energy(&self) -> Option<f64> {
        self.subsystems.iter().map(|subsystem| subsystem.energy()).sum()
    }

    /// How many steps of single subsystems were done, repetitions included.
    pub fn subsystem_steps(&self) -> u64 {
        self.subsystem_steps
    }

    /// What the integrator of each subsystem has done, where it chooses its steps itself.
    pub fn solver_counts(&self) -> Vec<Option<SolverCounts>> {
        self.subsystems.iter().map(|subsystem| subsystem.solver_counts()).collect()
    }

    /// Seconds that this process has spent in the steps of each subsystem: the mean of the steps that were timed, times
    /// their number. Long steps are all timed, of short ones some, late in a run one in 256.
    pub fn step_seconds(&self) -> Vec<f64> {
        self.clocks.seconds(self.attempts)
    }

    /// Whether subsystems are stepped at the same time on several threads.
    pub fn steps_in_parallel(&self) -> bool {
        matches!(self.threads, ThreadChoice::Pool(_))
    }

    /// Number of macro steps that this process has done: fewer than all if the run was resumed.
    pub fn steps_here(&self) -> u64 {
        self.stepped
    }

    /// Whether a method uses local models.
    pub fn uses_models(&self) -> bool {
        self.needs_models
    }

    /// Where local models come from, if a method uses them.
    pub fn model_source(&self) -> Option<&'static str> {
        self.needs_models.then(|| self.models.name())
    }

    /// What the methods have to say about their choices.
    pub fn remarks(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().filter_map(|group| group.method.remark())
    }

    /// Names of the extra columns: of the methods, with the number of the group if there are several, and of the
    /// subsystems, with their names.
    pub fn diagnostic_names(&self) -> Vec<String> {
        let several = self.groups.len() > 1;
        let name = |g: usize, name: String| if several { format!("group{g}.{name}") } else { name };
        let names = self.groups.iter().map(|group| group.method.diagnostic_names());
        let of_methods = names.enumerate().flat_map(|(g, names)| names.into_iter().map(move |n| name(g, n)));
        let of_subsystems = self.subsystems.iter().zip(&self.descriptions).flat_map(|(subsystem, of)| {
            subsystem.diagnostic_names().iter().map(move |name| format!("{}.{name}", of.name))
        });
        of_methods.chain(of_subsystems).collect()
    }

    /// Values of the extra columns.
    pub fn diagnostics(&self, row: &mut [f64]) {
        let mut rest = row;
        for (group, count) in self.groups.iter().zip(&self.diagnostic_counts) {
            let (own, others) = rest.split_at_mut(*count);
            group.method.diagnostics(own);
            rest = others;
        }
        for subsystem in &self.subsystems {
            let (own, others) = rest.split_at_mut(subsystem.diagnostic_names().len());
            subsystem.diagnostics(own);
            rest = others;
        }
    }
}

/// A part of a macro step. Each begins where the last one ends, bit for bit.
fn part_of(whole: &StepContext, part: usize) -> StepContext {
    let length = whole.h / PARTS as f64;
    let time = |part: usize| if part == PARTS { whole.t_next } else { whole.t + part as f64 * length };
    StepContext { t: time(part), t_next: time(part + 1), h: length, ..*whole }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.subsystems.iter_mut().for_each(|subsystem| subsystem.terminate());
    }
}

fn count(from: &mut StateReader<'_>) -> Result<u64> {
    match from.integer()? {
        value if value < MAX_COUNT => Ok(value),
        value => Err(Error::new(Code::CheckpointDamaged, format!("the saved state counts {value} steps"))),
    }
}

fn unique(indices: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut indices: Vec<_> = indices.collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn sample(externals: &[(usize, External)], values: &mut [f64], value: impl Fn(&External) -> f64) {
    for (j, _) in externals {
        values[*j] = 0.0;
    }
    for (j, signal) in externals {
        values[*j] += value(signal);
    }
}
