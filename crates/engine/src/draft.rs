//! A system on its way to a plan: checked, and its methods asked.

use costep_core::{
    AfterStep, Capabilities, Coupling, Description, Division, Experiment, InputSet, KnownInputs, Layout,
    LengthDemand, LowerOrders, ModelDemand, ModelSource, Request, Result, Sweep, SystemView, profiles,
};

use crate::checks::{check_control, check_externals, check_groups, check_indices, check_request};
use crate::schedule::{Schedule, Scheduling};
use crate::step_control::{ControlView, InputTraits, StepControl};
use crate::substeps::divide_steps;
use crate::system::{Group, System, take_held};

/// What is known of a system while its methods are asked.
pub(crate) struct Draft {
    pub(crate) experiment: Experiment,
    equal_steps: bool,
    pub(crate) descriptions: Vec<Description>,
    capabilities: Vec<Capabilities>,
    pub(crate) layout: Layout,
    pub(crate) coupling: Coupling,
    pub(crate) schedule: Schedule,
    /// How macro steps are divided, if a method wants it.
    pub(crate) division: Division,
    /// Inputs of discrete signals, which no method forms.
    pub(crate) held: Vec<usize>,
}

impl Draft {
    /// Checks a system and takes inputs that no method forms off its groups.
    pub(crate) fn new(system: &mut System, equal_steps: bool) -> Result<Self> {
        let (descriptions, capabilities) = profiles(&mut system.subsystems);
        let layout = Layout::of(&descriptions);
        check_groups(&system.groups, &layout)?;
        check_indices(&system.connections, &system.externals, &system.bounds, &layout)?;
        let held = take_held(&mut system.groups, &descriptions, &system.connections);
        // A default group whose inputs have all been given to others has nothing to do.
        system.groups.retain(|group| !group.inputs.is_empty());
        check_externals(&system.externals)?;
        let coupling = Coupling::new(layout.inputs(), &system.connections);
        let schedule =
            Schedule::new(&system.scheduling, &descriptions, (&layout, &coupling), &external_inputs(system))?;
        // Until the methods have said what they want.
        let division = Division::Parts(1);
        let experiment = system.experiment;
        Ok(Self {
            experiment,
            equal_steps,
            descriptions,
            capabilities,
            layout,
            coupling,
            schedule,
            division,
            held,
        })
    }

    /// The system as a method sees it that is responsible for these inputs.
    fn view<'a>(&'a self, inputs: &'a InputSet) -> SystemView<'a> {
        SystemView {
            descriptions: &self.descriptions,
            capabilities: &self.capabilities,
            layout: &self.layout,
            coupling: &self.coupling,
            inputs,
            equal_steps: self.equal_steps,
            step: self.experiment.step,
            division: self.division,
            known_inputs: &self.schedule.known_inputs,
        }
    }

    /// Lets the methods choose how to work, and asks what they need for it.
    pub(crate) fn ask(&mut self, system: &mut System) -> Result<Vec<Request>> {
        let ask = |group: &mut Group| {
            group.method.choose(&self.view(&group.inputs))?;
            Ok(group.method.request())
        };
        let requests: Vec<Request> = system.groups.iter_mut().map(ask).collect::<Result<_>>()?;
        let sequential = requests.iter().any(|request| request.sweep == Sweep::Sequential);
        if sequential && system.scheduling == Scheduling::Auto {
            let (order, parts) = (Scheduling::Sequential(Vec::new()), (&self.layout, &self.coupling));
            self.schedule = Schedule::new(&order, &self.descriptions, parts, &external_inputs(system))?;
        }
        let wanted = requests.iter().map(|request| request.divides).max().unwrap_or(0);
        if wanted > 0 {
            self.division = Division::of(&self.descriptions, self.experiment.step, wanted);
        }
        Ok(requests)
    }

    /// Makes the subsystems ready for what the methods ask.
    pub(crate) fn equip(&mut self, system: &mut System, requests: &[Request]) -> Result<()> {
        if system.micro_samples || requests.iter().any(|request| request.micro_samples) {
            let recorders = system.subsystems.iter_mut().filter_map(|subsystem| subsystem.micro_recorder());
            recorders.for_each(|recorder| recorder.record(true, &self.experiment));
        }
        for (group, request) in system.groups.iter().zip(requests) {
            let LowerOrders::Substeps(parts) = request.inputs.lower_orders() else { continue };
            let is_ours = |i: usize| self.layout.input_range(i).any(|j| group.inputs.contains(j));
            let (order, step) = (request.inputs.order(), self.experiment.step);
            divide_steps(&mut system.subsystems, (order, parts, step), is_ours)?;
            (self.descriptions, self.capabilities) = profiles(&mut system.subsystems);
        }
        Ok(())
    }

    /// Whether all subsystems can do the last step, also in parts where a method may want that.
    pub(crate) fn can_end(&self, requests: &[Request]) -> bool {
        let last = self.experiment.last_step();
        let parts = self.division.parts().filter(|_| requests.iter().any(|request| request.divides > 0));
        let part = last / parts.unwrap_or(1) as f64;
        let lengths = || self.descriptions.iter().map(|description| description.step_lengths);
        last == self.experiment.step || lengths().all(|lengths| lengths.allow(last) && lengths.allow(part))
    }

    /// Lets a control of steps take its memory.
    pub(crate) fn prepare_control(
        &self,
        control: &mut dyn StepControl,
        system: &System,
        requests: &[Request],
    ) -> Result<()> {
        let mut inputs = vec![None; self.layout.inputs()];
        for (group, request) in system.groups.iter().zip(requests) {
            let view = self.view(&group.inputs);
            for j in group.inputs.iter().filter(|j| self.coupling.sources(*j).next().is_some()) {
                let order = request.inputs.order().min(view.order_of_input(j));
                let owner = self.layout.input_owner(j);
                let own = j - self.layout.input_range(owner).start;
                let is_direct =
                    self.descriptions[owner].feedthrough.iter().any(|inputs| inputs.contains(&own));
                inputs[j] = Some(InputTraits { order, is_projected: request.projected, is_direct });
            }
        }
        let mut each = self.descriptions.iter().zip(&self.capabilities);
        control.prepare(&ControlView {
            experiment: &self.experiment,
            descriptions: &self.descriptions,
            externals: &system.externals,
            inputs: &inputs,
            repeats: requests.iter().any(|request| request.after_step == AfterStep::Judge),
            doubles: requests.iter().any(|request| request.lengths == LengthDemand::Doubled),
            carries_on: requests.iter().any(|request| request.after_step == AfterStep::Look),
            without_rollback: each.find(|(_, can)| !can.rollback).map(|(description, _)| description),
        })
    }

    /// Checks that everybody can do what is asked, and lets the methods take their memory.
    pub(crate) fn prepare(
        &mut self,
        groups: &mut [Group],
        requests: &[Request],
        control: &dyn StepControl,
    ) -> Result<()> {
        check_control(control, requests, &self.descriptions, &self.capabilities)?;
        for (group, request) in groups.iter_mut().zip(requests) {
            check_request(group, request, &self.descriptions, &self.capabilities, &self.layout)?;
            if request.known_inputs == KnownInputs::Kept {
                self.schedule.forget_known(|j| group.inputs.contains(j));
            }
            // Who forms polynomials looks at external inputs itself.
            if !request.only_holds() {
                let Self { schedule, coupling, .. } = &mut *self;
                let is_external = |j| coupling.sources(j).next().is_none();
                schedule.forget_known(|j| group.inputs.contains(j) && is_external(j));
            }
            group.method.prepare(&self.view(&group.inputs))?;
        }
        Ok(())
    }

    /// Lets the source of local models take its memory, for as much of them as is asked for.
    pub(crate) fn prepare_models(&self, models: &mut dyn ModelSource, demand: ModelDemand) -> Result<()> {
        if !demand.is_any() {
            return Ok(());
        }
        if demand != (ModelDemand::Full { states: true }) {
            models.leave_out_states();
        }
        if !demand.is_full() {
            models.settle_for_feedthrough();
        }
        models.prepare(&self.descriptions, &self.capabilities, &self.experiment)
    }
}

/// The inputs that external signals end at.
fn external_inputs(system: &System) -> Vec<usize> {
    system.externals.iter().map(|(j, _)| *j).collect()
}
