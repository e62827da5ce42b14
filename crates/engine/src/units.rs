//! What is stepped at once: a subsystem, or a batch of neighbours.

use std::ops::Range;

use costep_core::{Batch, Subsystem};

use crate::plan::Plan;

/// One subsystem, or neighbours that are stepped together.
pub(crate) enum StepUnit {
    Single(Box<dyn Subsystem>),
    Batch(Box<dyn Batch>),
}

impl StepUnit {
    /// How many subsystems it is.
    fn len(&self) -> usize {
        match self {
            Self::Single(_) => 1,
            Self::Batch(batch) => batch.members(),
        }
    }

    /// One of its subsystems.
    pub(crate) fn member(&self, i: usize) -> &dyn Subsystem {
        match self {
            Self::Single(subsystem) => &**subsystem,
            Self::Batch(batch) => batch.member(i),
        }
    }

    /// One of its subsystems.
    pub(crate) fn member_mut(&mut self, i: usize) -> &mut dyn Subsystem {
        match self {
            Self::Single(subsystem) => &mut **subsystem,
            Self::Batch(batch) => batch.member_mut(i),
        }
    }

    /// The subsystem that was at work when a step panicked.
    pub(crate) fn at_work(&self) -> usize {
        match self {
            Self::Single(_) => 0,
            Self::Batch(batch) => batch.at_work(),
        }
    }
}

/// The turn of a unit in a stage: its subsystems and their signals follow each other.
pub(crate) struct Turn {
    pub(crate) unit: usize,
    /// Its first subsystem.
    pub(crate) first: usize,
    pub(crate) inputs: Range<usize>,
    pub(crate) outputs: Range<usize>,
}

/// The units of a system, and in which of them each subsystem is.
#[derive(Default)]
pub(crate) struct Units {
    pub(crate) all: Vec<StepUnit>,
    /// Unit and number in it, per subsystem.
    places: Vec<(usize, usize)>,
    /// Per stage.
    pub(crate) turns: Vec<Vec<Turn>>,
}

impl Units {
    /// Each subsystem alone.
    pub(crate) fn single(subsystems: Vec<Box<dyn Subsystem>>, plan: &Plan) -> Self {
        Self::new(subsystems.into_iter().map(StepUnit::Single).collect(), plan)
    }

    fn new(all: Vec<StepUnit>, plan: &Plan) -> Self {
        let place = |(unit, of): (usize, &StepUnit)| {
            (0..of.len()).map(move |member| (unit, member)).collect::<Vec<_>>()
        };
        let places: Vec<_> = all.iter().enumerate().flat_map(place).collect();
        let turn = |i: &usize| {
            let (unit, member) = places[*i];
            let last = i + all[unit].len() - 1;
            (member == 0).then(|| Turn {
                unit,
                first: *i,
                inputs: plan.layout.input_range(*i).start..plan.layout.input_range(last).end,
                outputs: plan.layout.output_range(*i).start..plan.layout.output_range(last).end,
            })
        };
        let turns =
            plan.schedule.stages.iter().map(|stage| stage.iter().filter_map(turn).collect()).collect();
        Self { all, places, turns }
    }

    pub(crate) fn subsystems(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn subsystem(&self, i: usize) -> &dyn Subsystem {
        let (unit, member) = self.places[i];
        self.all[unit].member(member)
    }

    pub(crate) fn subsystem_mut(&mut self, i: usize) -> &mut dyn Subsystem {
        let (unit, member) = self.places[i];
        self.all[unit].member_mut(member)
    }

    /// The same with neighbours of one stage that get held inputs in batches, as far as they join them.
    pub(crate) fn batched(self, plan: &Plan) -> Self {
        let stage_of = plan.schedule.stage_of(self.subsystems());
        let (mut units, mut open) = (Vec::new(), None);
        for (i, unit) in self.all.into_iter().enumerate() {
            if i > 0 && stage_of[i] != stage_of[i - 1] {
                units.extend(open.take().map(StepUnit::Batch));
            }
            match unit {
                StepUnit::Single(subsystem) if plan.takes_held_inputs(i) => {
                    add(subsystem, &mut open, &mut units)
                }
                other => {
                    units.extend(open.take().map(StepUnit::Batch));
                    units.push(other);
                }
            }
        }
        units.extend(open.map(StepUnit::Batch));
        Self::new(units, plan)
    }
}

/// Adds a subsystem to the open batch, else to a new one, else as it is.
fn add(subsystem: Box<dyn Subsystem>, open: &mut Option<Box<dyn Batch>>, units: &mut Vec<StepUnit>) {
    let Err(subsystem) = subsystem.join_batch(open) else { return };
    units.extend(open.take().map(StepUnit::Batch));
    if let Err(subsystem) = subsystem.join_batch(open) {
        units.push(StepUnit::Single(subsystem));
    }
}
