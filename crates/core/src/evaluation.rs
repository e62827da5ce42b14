//! In which order outputs can be evaluated, and which of them depend on themselves without delay.

use crate::graph::Graph;
use crate::{Coupling, Description, InputList, Layout};

/// Outputs level by level: those of a level need only inputs that lower levels feed.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// The levels, lowest first.
    pub levels: Vec<Level>,
}

/// Parts and loops whose outputs can be evaluated when those of lower levels are known.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Parts, rising.
    pub parts: Vec<usize>,
    /// Outputs that depend on each other.
    pub loops: Vec<AlgebraicLoop>,
}

/// Outputs that depend on themselves without delay: their inputs are the solution of an equation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlgebraicLoop {
    /// Indices into y.
    pub outputs: Vec<usize>,
    /// Indices into u: the inputs through which they depend on each other.
    pub inputs: Vec<usize>,
    /// The parts that own them.
    pub parts: Vec<usize>,
}

impl Evaluation {
    /// The order for coupled parts, by their direct feedthrough.
    pub fn new(descriptions: &[Description], layout: &Layout, coupling: &Coupling) -> Self {
        let graph = feedthrough_graph(descriptions.iter().enumerate(), layout, coupling, MANY);
        let mut level_of = vec![0; graph.nodes()];
        let mut levels: Vec<Level> = vec![Level::default()];
        for component in graph.components() {
            let level = component.iter().map(|output| level_of[*output]).max().unwrap_or(0);
            if levels.len() <= level {
                levels.resize(level + 1, Level::default());
            }
            for target in component.iter().flat_map(|output| graph.targets(*output)) {
                level_of[*target] = level_of[*target].max(level + 1);
            }
            let is_loop = graph.is_loop(&component);
            let outputs: Vec<usize> = component.into_iter().filter(|node| *node < layout.outputs()).collect();
            match outputs.first() {
                Some(_) if is_loop => {
                    levels[level].loops.push(AlgebraicLoop::new(outputs, descriptions, layout, coupling));
                }
                Some(output) => levels[level].parts.push(layout.output_owner(*output)),
                None => {}
            }
        }
        for level in &mut levels {
            level.parts.sort_unstable();
            level.parts.dedup();
        }
        Self { levels }
    }

    /// All loops.
    pub fn loops(&self) -> impl Iterator<Item = &AlgebraicLoop> {
        self.levels.iter().flat_map(|level| &level.loops)
    }
}

/// Longer lists of inputs than this become a node of the graph where several outputs share them.
const MANY: usize = 64;

/// Arrows from each output to those that follow it at once, directly or, for more than `many` inputs, by way of a node for their list:
/// arrows from all to all would take memory by the square of the signals.
fn feedthrough_graph<'a>(
    parts: impl Iterator<Item = (usize, &'a Description)>,
    layout: &Layout,
    coupling: &Coupling,
    many: usize,
) -> Graph {
    let (mut arrows, mut nodes) = (Vec::new(), layout.outputs());
    for (i, description) in parts {
        let (inputs, outputs) = (layout.input_range(i), layout.output_range(i));
        let mut shared: Option<(&InputList, usize)> = None;
        for (output, through) in outputs.zip(&description.feedthrough) {
            let sources = || through.iter().flat_map(|input| coupling.sources(inputs.start + input));
            if through.len() <= many {
                arrows.extend(sources().map(|(source, _)| (source, output)));
                continue;
            }
            let node = match shared.filter(|(list, _)| list.shares(through)) {
                Some((_, node)) => node,
                None => {
                    arrows.extend(sources().map(|(source, _)| (source, nodes)));
                    nodes += 1;
                    nodes - 1
                }
            };
            shared = Some((through, node));
            arrows.push((node, output));
        }
    }
    Graph::new(nodes, &arrows)
}

/// The outputs of each loop of these parts, which may be some of all. Rising.
pub fn direct_loops<'a>(
    parts: impl Iterator<Item = (usize, &'a Description)>,
    layout: &Layout,
    coupling: &Coupling,
) -> Vec<Vec<usize>> {
    let graph = feedthrough_graph(parts, layout, coupling, MANY);
    let loops = graph.components().into_iter().filter(|component| graph.is_loop(component));
    let own = |component: Vec<usize>| component.into_iter().filter(|node| *node < layout.outputs()).collect();
    loops.map(own).collect()
}

impl AlgebraicLoop {
    fn new(outputs: Vec<usize>, descriptions: &[Description], layout: &Layout, coupling: &Coupling) -> Self {
        let mut parts: Vec<usize> = outputs.iter().map(|output| layout.output_owner(*output)).collect();
        parts.dedup();
        let comes_from =
            |j: usize| coupling.sources(j).any(|(output, _)| outputs.binary_search(&output).is_ok());
        let leads_to = |i: usize, input: usize| {
            let own = layout.output_range(i);
            let rows = descriptions[i].feedthrough.iter().enumerate();
            rows.filter(|(_, inputs)| inputs.contains(&input))
                .any(|(output, _)| outputs.binary_search(&(own.start + output)).is_ok())
        };
        let of_part = |i: &usize| {
            let (i, own) = (*i, layout.input_range(*i));
            own.clone().filter(move |j| comes_from(*j) && leads_to(i, j - own.start)).collect::<Vec<_>>()
        };
        let inputs = parts.iter().flat_map(of_part).collect();
        Self { outputs, inputs, parts }
    }

    /// d r_n / d u_m of what is solved for the inputs of the loop, r = L y(u) + external - u, by D of its parts, row by row.
    pub fn slope<'a>(
        &self,
        (n, m): (usize, usize),
        layout: &Layout,
        coupling: &Coupling,
        d: impl Fn(usize) -> &'a [f64],
    ) -> f64 {
        let input = self.inputs[m];
        let owner = layout.input_owner(input);
        let (own, outputs) = (layout.input_range(owner), layout.output_range(owner));
        let of_output = |output: usize| d(owner)[(output - outputs.start) * own.len() + input - own.start];
        let sources = coupling.sources(self.inputs[n]).filter(|(output, _)| outputs.contains(output));
        let follows: f64 = sources.map(|(output, gain)| gain * of_output(output)).sum();
        follows - f64::from(u8::from(n == m))
    }

    /// The way from an output back to itself, shortest first: `s2.F -> s1.u -> s1.y -> s2.u -> s2.F`.
    pub fn path(&self, descriptions: &[Description], layout: &Layout, coupling: &Coupling) -> String {
        let graph = feedthrough_graph(descriptions.iter().enumerate(), layout, coupling, usize::MAX);
        let Some(start) = self.outputs.first().copied() else { return String::new() };
        // Breadth first, inside the loop.
        let (mut before, mut queue) = (vec![usize::MAX; layout.outputs()], vec![start]);
        let mut at = 0;
        while before[start] == usize::MAX && at < queue.len() {
            let from = queue[at];
            for to in graph.targets(from).iter().filter(|to| self.outputs.binary_search(to).is_ok()) {
                if before[*to] == usize::MAX {
                    before[*to] = from;
                    queue.push(*to);
                }
            }
            at += 1;
        }
        let mut way = vec![start];
        while before[way[way.len() - 1]] != usize::MAX {
            way.push(before[way[way.len() - 1]]);
            if way[way.len() - 1] == start {
                break;
            }
        }
        way.reverse();
        let mut names = vec![output_name(descriptions, layout, start)];
        for pair in way.windows(2) {
            let owner = layout.output_owner(pair[1]);
            let own = layout.input_range(owner);
            let row = &descriptions[owner].feedthrough[pair[1] - layout.output_range(owner).start];
            let is_on_the_way =
                |input: &&usize| coupling.sources(own.start + **input).any(|(output, _)| output == pair[0]);
            if let Some(input) = row.iter().find(is_on_the_way) {
                names.push(input_name(descriptions, layout, own.start + input));
            }
            names.push(output_name(descriptions, layout, pair[1]));
        }
        names.join(" -> ")
    }
}

/// `part.port` of an input of the whole system.
pub fn input_name(descriptions: &[Description], layout: &Layout, input: usize) -> String {
    let owner = layout.input_owner(input);
    let of = &descriptions[owner];
    format!("{}.{}", of.name, of.inputs[input - layout.input_range(owner).start].name)
}

/// `part.port` of an output of the whole system.
pub fn output_name(descriptions: &[Description], layout: &Layout, output: usize) -> String {
    let owner = layout.output_owner(output);
    let of = &descriptions[owner];
    format!("{}.{}", of.name, of.outputs[output - layout.output_range(owner).start].name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, Port};

    fn part(name: &str, feedthrough: &[&[usize]], inputs: usize) -> Description {
        let port = |name: String| Port { name, ..Port::default() };
        Description {
            name: name.into(),
            inputs: (0..inputs).map(|i| port(format!("u{i}"))).collect(),
            outputs: (0..feedthrough.len()).map(|i| port(format!("y{i}"))).collect(),
            feedthrough: feedthrough.iter().map(|row| row.to_vec().into()).collect(),
            ..Description::default()
        }
    }

    /// a.y0 = f(u0), b.y0 = g(u0), b.y1 = h(u1): a and b feed each other through their first ports, c follows.
    #[test]
    fn loops_are_found_with_their_inputs_and_what_follows_them_comes_after() {
        let parts = [part("c", &[&[0]], 1), part("a", &[&[0], &[]], 1), part("b", &[&[0], &[1]], 2)];
        let layout = Layout::of(&parts);
        let connect = |output, input| Connection { output, input, gain: 1.0 };
        // c.y0 = 0, a.y0 = 1, a.y1 = 2, b.y0 = 3, b.y1 = 4; c.u0 = 0, a.u0 = 1, b.u0 = 2, b.u1 = 3.
        let connections = [connect(3, 1), connect(1, 2), connect(2, 3), connect(4, 0)];
        let coupling = Coupling::new(layout.inputs(), &connections);
        let evaluation = Evaluation::new(&parts, &layout, &coupling);
        let loops: Vec<_> = evaluation.loops().collect();
        let expected = AlgebraicLoop { outputs: vec![1, 3], inputs: vec![1, 2], parts: vec![1, 2] };
        assert_eq!(loops, [&expected]);
        assert_eq!(evaluation.levels[0].parts, [1]);
        assert_eq!(evaluation.levels[1].parts, [2]);
        assert_eq!(evaluation.levels[2].parts, [0]);
        // a.y0 = 2 u0, b.y0 = 3 u0 + 5 u1.
        let d: [&[f64]; 3] = [&[1.0], &[2.0, 0.0], &[3.0, 5.0, 0.0, 7.0]];
        let slope = |n, m| expected.slope((n, m), &layout, &coupling, |part| d[part]);
        assert_eq!([slope(0, 0), slope(0, 1), slope(1, 0), slope(1, 1)], [-1.0, 3.0, 2.0, -1.0]);
        let path = expected.path(&parts, &layout, &coupling);
        assert_eq!(path, "a.y0 -> b.u0 -> b.y0 -> a.u0 -> a.y0");
    }
}
