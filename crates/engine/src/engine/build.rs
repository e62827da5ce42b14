//! From a description of a system to an engine that stands at its start.

use costep_core::{ModelDemand, Result};

use super::Engine;
use crate::checks::check_experiment;
use crate::draft::Draft;
use crate::exchange::Exchange;
use crate::guard::Moment;
use crate::initialise::initialise;
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::plant::Plant;
use crate::step_control::{FixedSteps, Pace, StepControl};
use crate::system::System;

impl Engine {
    /// Checks the system, takes all memory and finds consistent initial values. All steps are those of its experiment. If
    /// its stop time is no multiple of the step and a subsystem cannot do a shorter one, the run ends at the next point.
    pub fn new(system: System) -> Result<Self> {
        Self::build(system, None)
    }

    /// As [`Engine::new`], with steps that are as long as the control says.
    pub fn with_control(system: System, control: Box<dyn StepControl>) -> Result<Self> {
        Self::build(system, Some(control))
    }

    fn build(mut system: System, control: Option<Box<dyn StepControl>>) -> Result<Self> {
        check_experiment(&system.experiment)?;
        let has_equal_steps = control.as_ref().is_none_or(|control| control.is_uniform());
        let mut draft = Draft::new(&mut system, has_equal_steps)?;
        let requests = draft.ask(&mut system)?;
        draft.equip(&mut system, &requests)?;
        if control.is_none() && !draft.can_end(&requests) {
            draft.experiment = draft.experiment.with_equal_steps();
        }
        let pace = match control {
            None => Pace::Fixed(FixedSteps::new(draft.experiment)),
            Some(mut control) => {
                draft.prepare_control(&mut *control, &system, &requests)?;
                Pace::Controlled(control)
            }
        };
        let control = pace.control();
        draft.prepare(&mut system.groups, &requests, control)?;
        let demand = requests.iter().fold(ModelDemand::None, |all, request| all.and(request.models));
        draft.prepare_models(&mut *system.models, demand)?;
        let System { subsystems, models, externals, groups, bounds, threads, .. } = system;
        let (plan, inputs) = Plan::new(draft, &groups, &requests, externals, &bounds, control);
        let plant = Plant::new(subsystems, threads, &plan);
        let mut engine = Self {
            exchange: Exchange::new(&plan, inputs, &requests),
            ledger: Ledger::new(control.next_step(0), plant.len()),
            plan,
            plant,
            groups,
            models,
            pace,
            notes: Vec::new(),
        };
        engine.initialise()?;
        Ok(engine)
    }

    fn initialise(&mut self) -> Result<()> {
        let Self { plan, plant, exchange, ledger, .. } = self;
        let start = ledger.next.start;
        exchange.sample_externals(plan, &ledger.next);
        initialise(plant, plan, exchange)?;
        exchange.inputs.coefficients_mut(0).copy_from_slice(&exchange.coupled);
        let at = Moment { time: start, step: 0 };
        let outputs = plan.guard.check(at, 0..exchange.y.len(), &exchange.y);
        let all = outputs.and_then(|()| plan.guard.check_inputs(at, &exchange.inputs));
        // No step has been done that could be smaller.
        all.map_err(|error| error.hint("check start values and parameters: this is before the first step"))?;
        self.observe_models()?;
        self.plant.form_batches(&self.plan);
        Ok(())
    }
}
