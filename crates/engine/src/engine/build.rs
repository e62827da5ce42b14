//! From a description of a system to an engine that stands at its start.

use costep_core::{
    AfterStep, Code, Coupling, Division, EnvironmentModel, Error, History, InputPolynomials, Interval,
    KnownInputs, Layout, LowerOrders, ModelDemand, Request, Result, SystemView, profiles,
};

use super::Engine;
use crate::checks::{check_experiment, check_groups, check_indices, check_request};
use crate::clocks::Clocks;
use crate::guard::{Guard, Moment};
use crate::initialise::initialise;
use crate::rows::lanes;
use crate::schedule::Schedule;
use crate::substeps::divide_steps;
use crate::system::{System, take_held};
use crate::threads::ThreadChoice;

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
        let (mut descriptions, mut capabilities) = profiles(&mut subsystems);
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
        let division = Division::of(&descriptions, step);
        for group in &mut groups {
            let inputs = &group.inputs;
            let view = SystemView {
                descriptions: &descriptions,
                capabilities: &capabilities,
                layout: &layout,
                coupling: &coupling,
                inputs,
                step,
                division,
            };
            group.method.choose(&view)?;
        }
        let requests: Vec<_> = groups.iter().map(|group| group.method.request()).collect();
        if system.micro_samples || requests.iter().any(|request| request.micro_samples) {
            let recorders = subsystems.iter_mut().filter_map(|subsystem| subsystem.micro_recorder());
            recorders.for_each(|recorder| recorder.record(true, &experiment));
        }
        for (group, request) in groups.iter().zip(&requests) {
            let LowerOrders::Substeps(parts) = request.inputs.lower_orders() else { continue };
            let is_ours = |i: usize| layout.input_range(i).any(|j| group.inputs.contains(j));
            divide_steps(&mut subsystems, (request.inputs.order(), parts, step), is_ours)?;
            (descriptions, capabilities) = profiles(&mut subsystems);
        }
        let mut input_orders = vec![0; layout.inputs()];
        let mut hold_known_mean = vec![false; layout.inputs()];
        for (group, request) in groups.iter_mut().zip(&requests) {
            check_request(group, request, &descriptions, &capabilities, &layout)?;
            for j in group.inputs.iter() {
                let takes = descriptions[layout.input_owner(j)].input_order;
                input_orders[j] = request.inputs.order().min(takes);
                hold_known_mean[j] = request.known_inputs == KnownInputs::Mean;
            }
            if request.known_inputs == KnownInputs::Kept {
                schedule.forget_known(|j| group.inputs.contains(j));
            }
            group.method.prepare(&SystemView {
                descriptions: &descriptions,
                capabilities: &capabilities,
                layout: &layout,
                coupling: &coupling,
                inputs: &group.inputs,
                step,
                division,
            })?;
        }
        let input_order = input_orders.iter().copied().max().unwrap_or(0);
        let history_depth = requests
            .iter()
            .map(|request| request.history)
            .max()
            .unwrap_or(0)
            .max(usize::from(input_order > 1));
        let (inputs, outputs, segments) = (layout.inputs(), layout.outputs(), layout.subsystems());
        let segment_order = |i: usize| input_orders[layout.input_range(i)].iter().copied().max().unwrap_or(0);
        let polynomials = InputPolynomials::new(inputs, input_order);
        let place = |i: usize| polynomials.place(layout.input_range(i), segment_order(i));
        let places: Vec<_> = (0..segments).map(place).collect();
        let demand = requests.iter().fold(ModelDemand::None, |all, request| all.and(request.models));
        let needs_models = demand.is_any();
        let wants_environments = requests.iter().any(|request| request.inputs.has_environment());
        if needs_models {
            if demand != (ModelDemand::Full { states: true }) {
                models.leave_out_states();
            }
            if !demand.is_full() {
                models.settle_for_feedthrough();
            }
            models.prepare(&descriptions, &capabilities, &experiment)?;
        }
        let those =
            |asked: fn(&Request) -> bool| (0..requests.len()).filter(|g| asked(&requests[*g])).collect();
        let mut engine = Self {
            guard: Guard::new(&descriptions, &bounds),
            threads: ThreadChoice::new(system.threads, schedule.widest()),
            external_inputs: unique(externals.iter().map(|(j, _)| *j)),
            diagnostic_counts: groups.iter().map(|group| group.method.diagnostic_names().len()).collect(),
            rollback: requests.iter().any(|request| request.after_step == AfterStep::Judge),
            plain: false,
            holds: input_order == 0 && requests.iter().all(Request::only_holds),
            forming: those(|request| request.forms_coupled),
            dividing: those(|request| request.divides),
            parts: division.parts().unwrap_or(1),
            looking_back: those(|request| request.after_step != AfterStep::Nothing),
            models,
            needs_models,
            environments: vec![EnvironmentModel::default(); if wants_environments { segments } else { 0 }],
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
            divided_steps: 0,
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

    /// Which subsystems are stepped in rows.
    pub(super) fn form_lanes(&mut self) {
        let Self { schedule, subsystems, layout, input_orders, .. } = self;
        // Rows are for one thread: several share subsystems out one by one.
        let is_free = |i: usize| {
            self.threads.is_one() && input_orders[layout.input_range(i)].iter().all(|order| *order == 0)
        };
        self.lanes = schedule.stages.iter().map(|stage| lanes(stage, subsystems, layout, is_free)).collect();
    }

    fn initialise(&mut self) -> Result<()> {
        self.sample_externals(self.experiment.time(0), self.experiment.time(1));
        let system = (&self.layout, &self.coupling, &self.external[..]);
        initialise(&mut self.subsystems, &self.experiment, system, &mut self.y, &mut self.coupled)?;
        self.inputs.coefficients_mut(0).copy_from_slice(&self.coupled);
        let start = Moment { time: self.experiment.start, step: 0 };
        let outputs = self.guard.check(start, 0..self.y.len(), &self.y);
        let all = outputs.and_then(|()| self.guard.check_inputs(start, &self.inputs));
        // No step has been done that could be smaller.
        all.map_err(|error| {
            error.hint("look at the start values and parameters: this is before the first step")
        })?;
        self.observe_models(&Interval::new(self.experiment.start, self.experiment.start))
    }
}

fn unique(indices: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut indices: Vec<_> = indices.collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}
