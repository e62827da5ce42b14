//! Everything an engine is made of.

use costep_core::{
    Connection, CouplingMethod, Description, Experiment, External, InputSet, ModelSource, PortKind,
    Subsystem, Variation,
};

use crate::guard::Bounds;
use crate::schedule::Scheduling;

/// Connections that share a coupling method. A group is named by the inputs its connections end at.
pub struct Group {
    /// How its inputs are formed.
    pub method: Box<dyn CouplingMethod>,
    /// Its inputs. The groups of a system together hold every input once.
    pub inputs: InputSet,
}

/// How many threads step the subsystems. The result is the same, bit for bit, for any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One, unless the first steps show that more would pay.
    Auto,
    /// This many.
    Fixed(usize),
}

/// A coupled system, ready to be handed to [`crate::Engine::new`].
pub struct System {
    /// The parts.
    pub subsystems: Vec<Box<dyn Subsystem>>,
    /// L, as single connections.
    pub connections: Vec<Connection>,
    /// Where local models of the subsystems come from, for methods that use them.
    pub models: Box<dyn ModelSource>,
    /// r(t): (index into u, signal).
    pub externals: Vec<(usize, External)>,
    /// Partition of the inputs into groups with a method each.
    pub groups: Vec<Group>,
    /// In which order subsystems step.
    pub scheduling: Scheduling,
    /// Limits on outputs: (index into y, bounds).
    pub bounds: Vec<(usize, Bounds)>,
    /// Start, stop, step.
    pub experiment: Experiment,
    /// Threads.
    pub threads: Threads,
    /// Ask subsystems for outputs inside the steps, even if no method needs them.
    pub micro_samples: bool,
}

impl System {
    /// Subsystems under one method for all inputs, with its source of models; on one thread, without signals from
    /// outside, bounds or points inside the steps.
    pub fn new(
        subsystems: Vec<Box<dyn Subsystem>>,
        connections: Vec<Connection>,
        (method, models): (Box<dyn CouplingMethod>, Box<dyn ModelSource>),
        experiment: Experiment,
    ) -> Self {
        let inputs = subsystems.iter().map(|part| part.description().inputs.len()).sum();
        Self {
            subsystems,
            connections,
            models,
            externals: Vec::new(),
            groups: vec![Group { method, inputs: InputSet::All(inputs) }],
            scheduling: Scheduling::Auto,
            bounds: Vec::new(),
            experiment,
            threads: Threads::Fixed(1),
            micro_samples: false,
        }
    }
}

/// Takes the inputs of discrete signals away from the methods and gives them back: they are held, whatever the method.
pub(crate) fn take_held(
    groups: &mut [Group],
    descriptions: &[Description],
    connections: &[Connection],
) -> Vec<usize> {
    let inputs = descriptions.iter().flat_map(|description| &description.inputs);
    let mut held: Vec<bool> = inputs.map(|port| port.variation == Variation::Discrete).collect();
    hold_discrete_sources(&mut held, descriptions, connections);
    let held: Vec<usize> = (0..held.len()).filter(|j| held[*j]).collect();
    if !held.is_empty() {
        for group in groups {
            let kept = group.inputs.iter().filter(|j| held.binary_search(j).is_err());
            group.inputs = InputSet::Some(kept.collect());
        }
    }
    held
}

/// Adds the inputs that are fed by discrete real outputs and nothing else.
fn hold_discrete_sources(held: &mut [bool], descriptions: &[Description], connections: &[Connection]) {
    let outputs = descriptions.iter().flat_map(|description| &description.outputs);
    let is_discrete: Vec<bool> =
        outputs.map(|port| port.kind == PortKind::Real && port.variation == Variation::Discrete).collect();
    if !is_discrete.contains(&true) {
        return;
    }
    let mut sources = vec![(false, false); held.len()];
    for connection in connections {
        let (discrete, others) = &mut sources[connection.input];
        let is_discrete = is_discrete[connection.output];
        (*discrete, *others) = (*discrete || is_discrete, *others || !is_discrete);
    }
    held.iter_mut().zip(sources).for_each(|(held, source)| *held |= source == (true, false));
}
