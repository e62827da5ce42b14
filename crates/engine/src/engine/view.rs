//! What can be seen of an engine between two steps.

use costep_core::{
    Coupling, Description, Experiment, InputPolynomials, InterfaceModel, Interval, Layout, MicroView,
    ModelSource, SolverCounts, Subsystem,
};

use super::Engine;
use crate::schedule::Schedule;
use crate::step_control::StepCounts;
use crate::threads::ThreadChoice;

impl Engine {
    /// Number of accepted steps.
    pub fn k(&self) -> u64 {
        self.ledger.k
    }

    /// T^k.
    pub fn time(&self) -> f64 {
        self.ledger.next.start
    }

    /// The macro step that was done last; of length 0 before the first one of this process.
    pub fn last_step(&self) -> Interval {
        self.ledger.last
    }

    /// Whether the run has come to its end.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.pace.is_over(self.ledger.k)
    }

    /// How much of the run is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        let Experiment { start, stop, .. } = self.plan.experiment;
        let by_time = || ((self.time() - start) / (stop - start)).clamp(0.0, 1.0);
        self.progress_at(self.ledger.k).unwrap_or_else(by_time)
    }

    /// How much of the run is done at communication point k, where that is known beforehand: all steps are equal.
    pub fn progress_at(&self, k: u64) -> Option<f64> {
        let steps = || self.plan.experiment.steps().max(1);
        self.pace.control().is_uniform().then(|| k as f64 / steps() as f64)
    }

    /// What the control of the steps has done, if it chooses their lengths by itself.
    pub fn step_counts(&self) -> Option<StepCounts> {
        self.pace.control().counts()
    }

    /// Steps that failed at first and were done again, shorter, if there were such.
    pub fn failed_trials(&self) -> Option<&str> {
        self.ledger.failed_trials.warning()
    }

    /// Seconds of simulated time that this process has come on.
    pub fn simulated_here(&self) -> f64 {
        self.time() - self.ledger.began
    }

    /// Start, stop and step.
    pub fn experiment(&self) -> &Experiment {
        &self.plan.experiment
    }

    /// Whether it goes on from a saved state.
    pub fn resumed(&self) -> bool {
        self.ledger.resumed
    }

    /// Outputs at T^k.
    pub fn outputs(&self) -> &[f64] {
        &self.exchange.y
    }

    /// z^k = L y^k + r(T^k), what the inputs should be at T^k.
    pub fn coupled(&self) -> &[f64] {
        &self.exchange.coupled
    }

    /// L.
    pub fn coupling(&self) -> &Coupling {
        &self.plan.coupling
    }

    /// The inputs over the last step.
    pub fn inputs(&self) -> &InputPolynomials {
        &self.exchange.inputs
    }

    /// u(T^k): the inputs that were active at the end of the last step.
    #[inline]
    pub fn inputs_at_end(&self, u: &mut [f64]) {
        let Self { plan, plant, exchange, .. } = self;
        exchange.evaluate_inputs(plan, plant, exchange.last_length, u);
    }

    /// The means of the inputs over the last macro step. False if only their values at its end can be told: it was done in parts,
    /// or inputs end otherwise than their polynomials.
    #[inline]
    pub fn mean_inputs(&self, u: &mut [f64]) -> bool {
        let Self { plan, plant, exchange, .. } = self;
        exchange.mean_inputs((plan, plant), self.ledger.last.length, u)
    }

    /// The inputs over the last macro step. Nothing if they are not known over the whole of it: it was done in parts, or inputs
    /// end otherwise than their polynomials.
    pub fn inputs_over_step(&self) -> Option<&InputPolynomials> {
        let Self { exchange, ledger, .. } = self;
        exchange.covers(ledger.last.length).then_some(&exchange.inputs)
    }

    /// Order of the polynomials of an input.
    pub fn input_order(&self, j: usize) -> usize {
        self.plan.input_orders[j]
    }

    /// Whether an input is the projection of what is expected, not a continuation from the start of the step.
    pub fn is_projected(&self, j: usize) -> bool {
        self.plan.roles.projecting.iter().any(|g| self.groups[*g].inputs.contains(j))
    }

    /// The inputs over the last macro step, where all were held over the whole of it.
    #[inline]
    pub fn held_inputs(&self) -> Option<&[f64]> {
        self.exchange.held_inputs(self.ledger.last.length)
    }

    /// One per subsystem.
    pub fn descriptions(&self) -> &[Description] {
        &self.plan.descriptions
    }

    /// Where the signals of each subsystem are.
    pub fn layout(&self) -> &Layout {
        &self.plan.layout
    }

    /// Outputs inside the last step.
    pub fn micro(&self) -> &dyn MicroView {
        &self.plant
    }

    /// A subsystem, by its number.
    pub fn subsystem(&self, i: usize) -> &dyn Subsystem {
        self.plant.subsystem(i)
    }

    /// The order of stepping.
    pub fn schedule(&self) -> &Schedule {
        &self.plan.schedule
    }

    /// Sum of the energies the subsystems report; nothing if one of them does not.
    pub fn energy(&self) -> Option<f64> {
        self.plant.iter().map(|subsystem| subsystem.telemetry()?.energy()).sum()
    }

    /// How many steps of single subsystems were done, repetitions included.
    pub fn subsystem_steps(&self) -> u64 {
        self.ledger.subsystem_steps
    }

    /// Macro steps that were done in parts, because a method wanted them shorter, and how many parts a step then has.
    pub fn divided_steps(&self) -> (u64, usize) {
        (self.ledger.divided_steps, self.plan.parts)
    }

    /// What the integrator of each subsystem has done, where it chooses its steps itself.
    pub fn solver_counts(&self) -> Vec<Option<SolverCounts>> {
        self.plant.iter().map(|subsystem| subsystem.telemetry()?.solver_counts()).collect()
    }

    /// Seconds that this process has spent in the steps of each subsystem: the mean of the steps that were timed, times
    /// their number. Long steps are all timed, of short ones some, late in a run one in 256.
    pub fn step_seconds(&self) -> Vec<f64> {
        self.ledger.clocks.seconds(self.ledger.attempts)
    }

    /// Whether subsystems are stepped at the same time on several threads.
    pub fn steps_in_parallel(&self) -> bool {
        matches!(self.plant.threads, ThreadChoice::Pool(_))
    }

    /// Number of macro steps that this process has done: fewer than all if the run was resumed.
    pub fn steps_here(&self) -> u64 {
        self.ledger.stepped
    }

    /// Whether a method uses local models.
    pub fn uses_models(&self) -> bool {
        self.plan.uses_models()
    }

    /// Where local models come from, if a method uses them.
    pub fn model_source(&self) -> Option<&'static str> {
        self.plan.uses_models().then(|| self.models.name())
    }

    /// The local models, if a method uses them.
    pub fn models(&self) -> Option<&dyn ModelSource> {
        self.plan.uses_models().then_some(&*self.models)
    }

    /// The model of one macro step of a subsystem that has been identified, by the source of local models or by a method itself.
    pub fn identified_model(&self, i: usize) -> Option<InterfaceModel> {
        let of_source = self.models().and_then(|models| models.interface(i)).cloned();
        of_source.or_else(|| self.groups.iter().find_map(|group| group.method.learnt_model(i)))
    }

    /// What the methods have to say about their choices.
    pub fn remarks(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().filter_map(|group| group.method.remark())
    }

    /// Inputs that the methods hold because their signals switch between a few values.
    pub fn switched_inputs(&self) -> Vec<usize> {
        self.groups.iter().flat_map(|group| group.method.switched_inputs()).collect()
    }

    /// Where the methods do less than they could, and what to do about it.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        let of_methods = self.groups.iter().filter_map(|group| group.method.warning());
        self.notes.iter().map(String::as_str).chain(of_methods)
    }

    /// Why methods leave all of their work to others here.
    pub fn replaced_methods(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().filter_map(|group| group.method.stands_aside())
    }

    /// What has turned out about what the methods rely on, at the end of a run.
    pub fn conclusions(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().filter_map(|group| group.method.conclusion())
    }

    /// Adds a warning of whoever has built it.
    pub fn add_warning(&mut self, warning: String) {
        self.notes.push(warning);
    }

    /// Names of the extra columns: of the methods, with the number of the group if there are several, and of the
    /// subsystems, with their names.
    pub fn diagnostic_names(&self) -> Vec<String> {
        let several = self.groups.len() > 1;
        let name = |g: usize, name: String| if several { format!("group{g}.{name}") } else { name };
        let names = self.groups.iter().map(|group| group.method.diagnostic_names());
        let of_methods = names.enumerate().flat_map(|(g, names)| names.into_iter().map(move |n| name(g, n)));
        let of_subsystems = self.plant.iter().zip(&self.plan.descriptions).flat_map(|(subsystem, of)| {
            let names = subsystem.telemetry().map_or(&[][..], |last| last.diagnostic_names());
            names.iter().map(move |name| format!("{}.{name}", of.name))
        });
        of_methods.chain(of_subsystems).collect()
    }

    /// Values of the extra columns.
    pub fn diagnostics(&self, row: &mut [f64]) {
        let mut rest = row;
        for (group, count) in self.groups.iter().zip(&self.plan.diagnostic_counts) {
            let (own, others) = rest.split_at_mut(*count);
            group.method.diagnostics(own);
            rest = others;
        }
        for last in self.plant.iter().filter_map(|subsystem| subsystem.telemetry()) {
            let (own, others) = rest.split_at_mut(last.diagnostic_names().len());
            last.diagnostics(own);
            rest = others;
        }
    }
}
