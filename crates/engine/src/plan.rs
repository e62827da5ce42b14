//! What is known of a run before its first step, and does not change any more.

use costep_core::{
    AfterStep, Coupling, Description, Experiment, External, InputPolynomials, KnownInputs, Layout,
    LowerOrders, MicroSamples, MicroView, ModelDemand, Request, Result, SegmentPlace,
};

use crate::draft::Draft;
use crate::guard::{Bounds, Guard, Moment};
use crate::plant::Plant;
use crate::reach::Reach;
use crate::schedule::Schedule;
use crate::step_control::StepControl;
use crate::system::Group;

/// What is known of a run before its first step, and does not change any more.
pub(crate) struct Plan {
    pub(crate) experiment: Experiment,
    pub(crate) descriptions: Vec<Description>,
    pub(crate) layout: Layout,
    pub(crate) coupling: Coupling,
    /// r(t): (index into u, signal).
    pub(crate) externals: Vec<(usize, External)>,
    /// The inputs that `externals` end at, each once.
    pub(crate) external_inputs: Vec<usize>,
    pub(crate) schedule: Schedule,
    pub(crate) guard: Guard,
    /// Order of the polynomial of each input, by its group and what its subsystem takes.
    pub(crate) input_orders: Vec<usize>,
    /// The same before polynomials that are too high for an input have given way to lower ones.
    pub(crate) formed_orders: Vec<usize>,
    pub(crate) corrections: Corrections,
    /// Where the inputs of each subsystem are, in the highest order of its groups.
    pub(crate) segments: Vec<SegmentPlace>,
    /// All inputs are the coupled ones, held over the step.
    pub(crate) holds: bool,
    /// Inputs of discrete signals, which no method forms.
    pub(crate) held: Vec<usize>,
    /// What becomes of each input where its values are known, by its group; empty if none is held at its mean.
    known_inputs: Vec<KnownInputs>,
    pub(crate) roles: Roles,
    /// How much of the local models the methods use together.
    pub(crate) models: ModelDemand,
    /// Steps may be repeated or rejected.
    pub(crate) goes_back: bool,
    /// Parts of a macro step that is divided.
    pub(crate) parts: usize,
    /// Number of diagnostic columns of each group.
    pub(crate) diagnostic_counts: Vec<usize>,
}

/// What is done to the inputs that the methods have formed.
pub(crate) struct Corrections {
    /// Those that get the nearest lower polynomials, often means, and their orders.
    lowered: Vec<(usize, usize)>,
    /// What they can be.
    reach: Reach,
}

impl Corrections {
    #[inline(always)]
    pub(crate) fn apply(&self, coupled: &[f64], length: f64, inputs: &mut InputPolynomials) {
        self.lowered.iter().for_each(|(j, order)| inputs.lower(*j, *order, length));
        self.reach.keep(coupled, length, inputs);
    }
}

/// Groups by what their methods do beside filling inputs, and what the step control does.
pub(crate) struct Roles {
    /// They form their coupled inputs themselves.
    pub(crate) forming: Vec<usize>,
    /// They may want steps in parts.
    pub(crate) dividing: Vec<usize>,
    /// They look at the outcome of a step.
    pub(crate) looking_back: Vec<usize>,
    /// Their inputs are projections of what is expected.
    pub(crate) projecting: Vec<usize>,
    /// So does the step control.
    pub(crate) control_looks: bool,
    /// Some look inside of steps. Others must not: what a run records beside would change it.
    look_inside: bool,
}

impl Plan {
    /// The plan of a system that is ready but for its subsystems, with room for the inputs over a step.
    pub(crate) fn new(
        draft: Draft,
        groups: &[Group],
        requests: &[Request],
        externals: Vec<(usize, External)>,
        bounds: &[(usize, Bounds)],
        control: &dyn StepControl,
    ) -> (Self, InputPolynomials) {
        let Draft { experiment, descriptions, layout, coupling, schedule, held, division, .. } = draft;
        let mut input_orders = vec![0; layout.inputs()];
        let mut formed_orders = vec![0; layout.inputs()];
        let mut known_inputs = vec![KnownInputs::default(); layout.inputs()];
        for (group, request) in groups.iter().zip(requests) {
            let keeps_to_orders = request.inputs.lower_orders() == LowerOrders::Kept;
            for j in group.inputs.iter() {
                let owner = layout.input_owner(j);
                let first = layout.input_range(owner).start;
                let takes = descriptions[owner].order_of_input(j - first);
                input_orders[j] = request.inputs.order().min(takes);
                formed_orders[j] = if keeps_to_orders { input_orders[j] } else { request.inputs.order() };
                known_inputs[j] = match request.known_inputs {
                    KnownInputs::MeanUnlessSwitched if !feeds_through(&descriptions[owner], j - first) => {
                        KnownInputs::Mean
                    }
                    known => known,
                };
            }
        }
        let lowered = (0..layout.inputs()).filter(|j| formed_orders[*j] > input_orders[*j]);
        let lowered = lowered.map(|j| (j, input_orders[j])).collect();
        if !known_inputs.iter().any(|known| holds_means(*known)) {
            known_inputs.clear();
        }
        let order = formed_orders.iter().copied().max().unwrap_or(0);
        let inputs = InputPolynomials::new(layout.inputs(), order);
        let segment_order = |i: usize| input_orders[layout.input_range(i)].iter().copied().max().unwrap_or(0);
        let segment = |i: usize| inputs.place(layout.input_range(i), segment_order(i));
        let those = |asked: fn(&Request) -> bool| {
            requests.iter().enumerate().filter(|(_, request)| asked(request)).map(|(g, _)| g).collect()
        };
        let is_judge = |request: &Request| request.after_step == AfterStep::Judge;
        let goes_back = control.after_step() == AfterStep::Judge || requests.iter().any(is_judge);
        let external_inputs = unique(externals.iter().map(|(j, _)| *j));
        let plan = Self {
            guard: Guard::new(
                &descriptions,
                bounds,
                (0..layout.inputs()).any(|j| coupling.sources(j).next().is_some()),
            ),
            corrections: Corrections {
                lowered,
                reach: Reach::new(&descriptions, &coupling, &external_inputs),
            },
            external_inputs,
            segments: (0..layout.subsystems()).map(segment).collect(),
            holds: order == 0 && !goes_back && requests.iter().all(Request::only_holds),
            roles: Roles {
                forming: those(|request| request.forms_coupled),
                dividing: those(|request| request.divides > 0),
                looking_back: those(|request| request.after_step != AfterStep::Nothing),
                projecting: those(|request| request.projected),
                control_looks: control.after_step() != AfterStep::Nothing,
                look_inside: requests.iter().any(|request| request.micro_samples),
            },
            models: requests.iter().fold(ModelDemand::None, |all, request| all.and(request.models)),
            goes_back,
            parts: division.parts().unwrap_or(1),
            diagnostic_counts: groups.iter().map(|group| group.method.diagnostic_names().len()).collect(),
            experiment,
            descriptions,
            layout,
            coupling,
            externals,
            schedule,
            input_orders,
            formed_orders,
            held,
            known_inputs,
        };
        (plan, inputs)
    }

    /// Outputs inside of steps, as far as methods have asked for them.
    #[inline(always)]
    pub(crate) fn micro<'a>(&self, plant: &'a Plant) -> &'a dyn MicroView {
        if self.roles.look_inside { plant } else { &NothingInside }
    }

    /// Whether a method uses local models.
    #[inline(always)]
    pub(crate) fn uses_models(&self) -> bool {
        self.models.is_any()
    }

    /// Whether an input is held at its mean over the step where that is known.
    pub(crate) fn is_held_at_mean(&self, j: usize) -> bool {
        self.known_inputs.get(j).is_some_and(|known| holds_means(*known))
    }

    /// Whether an input is held at the new value of a source that has been switched.
    pub(crate) fn looks_for_switches(&self, j: usize) -> bool {
        self.known_inputs.get(j) == Some(&KnownInputs::MeanUnlessSwitched)
    }

    /// Whether some inputs are held at their means.
    #[inline(always)]
    pub(crate) fn holds_means(&self) -> bool {
        !self.known_inputs.is_empty()
    }

    /// Stops bad outputs of a stage before the next one sees them.
    #[inline(always)]
    pub(crate) fn check_stage(&self, stage: usize, at: Moment, y: &[f64]) -> Result<()> {
        if let [_] = &self.schedule.stages[..] {
            return self.guard.check(at, 0..y.len(), y);
        }
        let mut ranges = self.schedule.stages[stage].iter().map(|i| self.layout.output_range(*i));
        ranges.try_for_each(|range| self.guard.check(at, range, y))
    }

    /// Whether a subsystem gets no more than held inputs.
    pub(crate) fn takes_held_inputs(&self, i: usize) -> bool {
        self.input_orders[self.layout.input_range(i)].iter().all(|order| *order == 0)
    }
}

/// No outputs inside of steps.
struct NothingInside;

impl MicroView for NothingInside {
    fn subsystems(&self) -> usize {
        0
    }

    fn micro_samples(&self, _subsystem: usize) -> Option<MicroSamples<'_>> {
        None
    }
}

fn unique(indices: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut indices: Vec<_> = indices.collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn feeds_through(description: &Description, input: usize) -> bool {
    description.feedthrough_lists().any(|list| list.contains(&input))
}

fn holds_means(known: KnownInputs) -> bool {
    matches!(known, KnownInputs::Mean | KnownInputs::MeanUnlessSwitched)
}
