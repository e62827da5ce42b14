//! In which order the subsystems step, and which inputs are therefore known at the end of the step.

use costep_core::graph::Graph;
use costep_core::{Code, Coupling, Description, Error, Layout, Result};

/// What the user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scheduling {
    /// Along the connections: feed-forward parts in order and without delay, loops in parallel.
    #[default]
    Auto,
    /// All at once (Jacobi): every connection is extrapolated.
    Parallel,
    /// One after the other (Gauss-Seidel), in this order or, if empty, in one chosen along the connections
    /// with subsystems without direct feedthrough first. Where inputs are held, external ones are sources
    /// that step before all.
    Sequential(Vec<usize>),
}

/// Stages of subsystems that step together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Subsystems per stage.
    pub stages: Vec<Vec<usize>>,
    /// Inputs per stage whose sources have all stepped in an earlier stage: they are interpolated. Those that are only external are among
    /// them in a sequential schedule. Where an output feeds a loop as well, all that it feeds get the same, unless the user has ordered the
    /// parts: what leaves one part has to enter the other.
    pub known_inputs: Vec<Vec<usize>>,
}

impl Schedule {
    /// Orders the subsystems; `externals` are the inputs that external signals end at.
    pub fn new(
        scheduling: &Scheduling,
        descriptions: &[Description],
        (layout, coupling): (&Layout, &Coupling),
        externals: &[usize],
    ) -> Result<Self> {
        let stages = match scheduling {
            Scheduling::Parallel => vec![(0..descriptions.len()).collect()],
            Scheduling::Auto => merge_independent(&graph(layout, coupling)),
            Scheduling::Sequential(order) if order.is_empty() => {
                sequential_order(descriptions, &graph(layout, coupling))
                    .into_iter()
                    .map(|i| vec![i])
                    .collect()
            }
            Scheduling::Sequential(order) => {
                check_order(order, descriptions)?;
                order.iter().map(|i| vec![*i]).collect()
            }
        };
        let is_sequential = matches!(scheduling, Scheduling::Sequential(_));
        let externals = if is_sequential { externals } else { &[] };
        let mut is_known = known_inputs(&stages, (layout, coupling), externals);
        if !is_sequential {
            share_alike(&mut is_known, coupling, layout.outputs());
        }
        let inputs_of = |stage: &Vec<usize>| {
            let mut inputs: Vec<usize> =
                stage.iter().flat_map(|i| layout.input_range(*i)).filter(|j| is_known[*j]).collect();
            inputs.sort_unstable();
            inputs
        };
        let known_inputs = stages.iter().map(inputs_of).collect();
        Ok(Self { stages, known_inputs })
    }
}

impl Schedule {
    /// Number of subsystems in the largest stage.
    pub(crate) fn widest(&self) -> usize {
        self.stages.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The stage of each of so many subsystems.
    pub(crate) fn stage_of(&self, subsystems: usize) -> Vec<usize> {
        stage_of(&self.stages, subsystems)
    }

    /// Takes inputs off the lists of known ones.
    pub(crate) fn forget_known(&mut self, is_meant: impl Fn(usize) -> bool) {
        self.known_inputs.iter_mut().for_each(|inputs| inputs.retain(|j| !is_meant(*j)));
    }
}

/// Arrows from each source subsystem to the subsystems it feeds.
fn graph(layout: &Layout, coupling: &Coupling) -> Graph {
    let mut arrows = Vec::new();
    for i in 0..layout.subsystems() {
        for j in layout.input_range(i) {
            arrows.extend(coupling.sources(j).map(|(output, _)| (layout.output_owner(output), i)));
        }
    }
    arrows.sort_unstable();
    arrows.dedup();
    Graph::new(layout.subsystems(), &arrows)
}

/// Components at the same depth of the graph become one stage, so that a system of many independent parts
/// keeps its parallelism.
fn merge_independent(graph: &Graph) -> Vec<Vec<usize>> {
    let components = graph.components();
    let mut depth_of = vec![0; graph.nodes()];
    let mut stages: Vec<Vec<usize>> = Vec::new();
    for component in &components {
        let depth = component.iter().map(|i| depth_of[*i]).max().unwrap_or(0);
        if stages.len() <= depth {
            stages.resize(depth + 1, Vec::new());
        }
        stages[depth].extend(component);
        for i in component {
            for target in graph.targets(*i).iter().filter(|target| component.binary_search(target).is_err()) {
                depth_of[*target] = depth_of[*target].max(depth + 1);
            }
        }
    }
    stages.iter_mut().for_each(|stage| stage.sort_unstable());
    stages
}

/// Inside a loop, subsystems without direct feedthrough come first: their outputs do not contain the
/// inputs that were extrapolated (measured in the dual-mass oscillator to halve the error).
fn sequential_order(descriptions: &[Description], graph: &Graph) -> Vec<usize> {
    let passes_through = |i: &usize| descriptions[*i].feedthrough.iter().any(|inputs| !inputs.is_empty());
    let mut order = Vec::new();
    for mut component in graph.components() {
        // By name among equals, so that the order does not depend on how the subsystems are listed.
        component.sort_by_key(|i| (passes_through(i), descriptions[*i].name.clone()));
        order.extend(component);
    }
    order
}

fn check_order(order: &[usize], descriptions: &[Description]) -> Result<()> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if sorted.iter().copied().eq(0..descriptions.len()) {
        return Ok(());
    }
    let names: Vec<_> = descriptions.iter().map(|d| d.name.as_str()).collect();
    Err(Error::new(Code::BadValue, "the given order does not name every subsystem exactly once")
        .hint(format!("subsystems: {}", names.join(", "))))
}

fn stage_of(stages: &[Vec<usize>], subsystems: usize) -> Vec<usize> {
    let mut stage_of = vec![0; subsystems];
    for (s, stage) in stages.iter().enumerate() {
        stage.iter().for_each(|i| stage_of[*i] = s);
    }
    stage_of
}

/// Which inputs have sources that have all stepped in an earlier stage.
fn known_inputs(
    stages: &[Vec<usize>],
    (layout, coupling): (&Layout, &Coupling),
    externals: &[usize],
) -> Vec<bool> {
    let stage_of = stage_of(stages, layout.subsystems());
    let mut has_external = vec![false; layout.inputs()];
    externals.iter().for_each(|j| has_external[*j] = true);
    let known = |j: usize| {
        let stage = stage_of[layout.input_owner(j)];
        let mut stages =
            coupling.sources(j).map(|(output, _)| stage_of[layout.output_owner(output)]).peekable();
        (stages.peek().is_some() || has_external[j]) && stages.all(|source| source < stage)
    };
    (0..layout.inputs()).map(known).collect()
}

/// Takes inputs off that share a source with one that is not known.
fn share_alike(is_known: &mut [bool], coupling: &Coupling, outputs: usize) {
    let mut feeds_unknown = vec![false; outputs];
    let mut unknown: Vec<usize> = (0..is_known.len()).filter(|j| !is_known[*j]).collect();
    while !unknown.is_empty() {
        for j in unknown.drain(..) {
            coupling.sources(j).for_each(|(output, _)| feeds_unknown[output] = true);
        }
        let shares =
            |j: &usize| is_known[*j] && coupling.sources(*j).any(|(output, _)| feeds_unknown[output]);
        unknown = (0..is_known.len()).filter(shares).collect();
        unknown.iter().for_each(|j| is_known[*j] = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use costep_core::{Connection, Port};

    fn part(name: &str, feedthrough: bool) -> Description {
        let port = |name| Port { name: String::from(name), ..Port::default() };
        Description {
            name: name.into(),
            inputs: vec![port("u")],
            outputs: vec![port("y")],
            feedthrough: vec![if feedthrough { vec![0] } else { vec![] }.into()],
            ..Description::default()
        }
    }

    /// One input and one output per part; `arrows` are connections.
    fn schedule(scheduling: Scheduling, through: &[bool], arrows: &[(usize, usize)]) -> Schedule {
        let parts: Vec<_> = through.iter().map(|through| part("p", *through)).collect();
        let layout = Layout::of(&parts);
        let connections: Vec<_> = arrows
            .iter()
            .map(|(output, input)| Connection { output: *output, input: *input, gain: 1.0 })
            .collect();
        let coupling = Coupling::new(layout.inputs(), &connections);
        // Whatever nothing is connected to follows an external signal.
        let externals: Vec<usize> =
            (0..parts.len()).filter(|j| arrows.iter().all(|arrow| arrow.1 != *j)).collect();
        Schedule::new(&scheduling, &parts, (&layout, &coupling), &externals).unwrap()
    }

    #[test]
    fn feed_forward_parts_follow_the_connections() {
        let schedule = schedule(Scheduling::Auto, &[false; 4], &[(2, 1), (1, 2), (3, 0)]);
        assert_eq!(schedule.stages, [vec![1, 2, 3], vec![0]]);
        assert_eq!(schedule.known_inputs, [vec![], vec![0]]);
    }

    /// The first feeds the second, which feeds it back, and the third.
    #[test]
    fn what_feeds_a_loop_feeds_all_others_with_the_same() {
        let schedule = schedule(Scheduling::Auto, &[false; 3], &[(0, 1), (1, 0), (1, 2)]);
        assert_eq!(schedule.stages, [vec![0, 1], vec![2]]);
        assert_eq!(schedule.known_inputs, [Vec::<usize>::new(), vec![]]);
    }

    #[test]
    fn sequential_takes_parts_without_feedthrough_first() {
        let schedule = schedule(Scheduling::Sequential(vec![]), &[true, false], &[(0, 1), (1, 0)]);
        assert_eq!(schedule.stages, [vec![1], vec![0]]);
        assert_eq!(schedule.known_inputs, [vec![], vec![0]]);
    }

    #[test]
    fn external_inputs_are_known_in_a_sequential_schedule() {
        let order = Scheduling::Sequential(vec![1, 0]);
        assert_eq!(schedule(order, &[false; 2], &[(0, 1)]).known_inputs, [vec![], vec![0]]);
        assert_eq!(schedule(Scheduling::Auto, &[false; 2], &[(0, 1)]).known_inputs, [vec![], vec![1]]);
    }

    #[test]
    fn parallel_knows_nothing_in_advance() {
        let schedule = schedule(Scheduling::Parallel, &[false; 2], &[(0, 1)]);
        assert_eq!(schedule.stages, [vec![0, 1]]);
        assert_eq!(schedule.known_inputs, [Vec::<usize>::new()]);
    }
}
