//! The interface system (I - M L) eta = b: M has one block per subsystem (how its outputs respond to its own
//! inputs), L is the coupling. Every model-based method solves one; they differ in what M and b are.
//!
//! Each signal may stand for several numbers (`width`: the coefficients of a polynomial). Entry a of output i is
//! at `i * width + a`; blocks are ordered alike. The system falls apart into the strongly connected components of
//! the coupling, which are solved one after the other, so that feed-forward parts cost nothing. Nothing is assembled
//! from states here, and M L is never formed as a whole: it is not the closed loop of linalg.

use costep_core::graph::Graph;
use costep_core::{InputSet, Layout, SystemView};
use costep_linalg::{BlockLu, BlockPlace, Lu, Matrix};

/// A connection of the group.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Input, counted inside its subsystem.
    input: usize,
    /// Output, counted over all subsystems.
    output: usize,
    gain: f64,
}

/// The structure of the interface system, and its factors.
#[derive(Debug, Default)]
pub(crate) struct Interface {
    width: usize,
    layout: Layout,
    /// Connections into each subsystem.
    links: Vec<Vec<Link>>,
    components: Vec<Component>,
    /// Connections between components, with the subsystem they end at, in the order of the components.
    between: Vec<Vec<(usize, Link)>>,
    /// Component of each subsystem, and where its outputs start in the vector of that component.
    place: Vec<(usize, usize)>,
}

/// A loop of subsystems, or a single one.
#[derive(Debug)]
struct Component {
    subsystems: Vec<usize>,
    factors: Factors,
    values: Vec<f64>,
}

/// The factors of a component.
#[derive(Debug)]
enum Factors {
    /// A subsystem that does not feed itself: its matrix is the identity.
    Identity,
    /// A small loop.
    Dense(Lu),
    /// A large loop, and for each connection inside it the place of its block.
    Blocks(Box<BlockLu>, Vec<BlockPlace>),
}

/// Loops up to this size are dense: there the way through blocks costs more.
const LARGEST_DENSE: usize = 24;
/// Loops up to this size become dense where one of their diagonal blocks is singular, which blocks cannot pivot around.
const LARGEST_RESCUED: usize = 512;

impl Interface {
    /// The interface of a group of inputs, with `width` numbers per signal.
    pub(crate) fn new(system: &SystemView<'_>, width: usize) -> Self {
        Self::of_responding(system, width, |_| true)
    }

    /// The same where some subsystems do not respond: their M is zero, and takes no room.
    pub(crate) fn of_responding(
        system: &SystemView<'_>,
        width: usize,
        responds: impl Fn(usize) -> bool,
    ) -> Self {
        let SystemView { layout, coupling, inputs, .. } = *system;
        let mut links: Vec<Vec<Link>> = vec![Vec::new(); layout.subsystems()];
        for j in inputs.iter().filter(|j| responds(layout.input_owner(*j))) {
            let owner = layout.input_owner(j);
            for (output, gain) in coupling.sources(j) {
                links[owner].push(Link { input: j - layout.input_range(owner).start, output, gain });
            }
        }
        let graph = connected(system, responds);
        let mut place = vec![(0, 0); layout.subsystems()];
        let mut components = Vec::new();
        for mut subsystems in graph.components() {
            // By name, so that the round-off of the solution does not depend on how the subsystems are numbered.
            subsystems.sort_by(|a, b| system.descriptions[*a].name.cmp(&system.descriptions[*b].name));
            let mut size = 0;
            for i in &subsystems {
                place[*i] = (components.len(), size);
                size += width * layout.output_range(*i).len();
            }
            components.push(Component { subsystems, factors: Factors::Identity, values: vec![0.0; size] });
        }
        let between = vec![Vec::new(); components.len()];
        let mut interface = Self { width, layout: layout.clone(), links, components, between, place };
        for c in 0..interface.components.len() {
            if graph.is_loop(&interface.components[c].subsystems) {
                interface.components[c].factors = interface.room_for_factors(c);
            }
            interface.between[c] =
                interface.links_of(c).filter(|(_, l)| !interface.is_inside(c, l)).collect();
        }
        interface
    }

    fn room_for_factors(&self, c: usize) -> Factors {
        let Component { subsystems, values, .. } = &self.components[c];
        if values.len() <= LARGEST_DENSE {
            return Factors::Dense(Lu::new(values.len()));
        }
        let sizes: Vec<_> =
            subsystems.iter().map(|i| self.width * self.layout.output_range(*i).len()).collect();
        let mut position = vec![usize::MAX; self.layout.subsystems()];
        subsystems.iter().enumerate().for_each(|(row, i)| position[*i] = row);
        let inner: Vec<_> = self
            .links_inside(c)
            .map(|(i, link)| (position[i], position[self.layout.output_owner(link.output)]))
            .collect();
        let blocks = BlockLu::new(&sizes, &inner);
        let places = inner.iter().filter_map(|(row, column)| blocks.find(*row, *column)).collect();
        Factors::Blocks(Box::new(blocks), places)
    }

    /// The connections into the subsystems of a component, with the subsystem they end at.
    fn links_of(&self, c: usize) -> impl Iterator<Item = (usize, Link)> + '_ {
        let links = |i: usize| self.links[i].iter().map(move |link| (i, *link));
        self.components[c].subsystems.iter().flat_map(move |i| links(*i))
    }

    /// Those that also come from there.
    fn links_inside(&self, c: usize) -> impl Iterator<Item = (usize, Link)> + '_ {
        self.links_of(c).filter(move |(_, link)| self.is_inside(c, link))
    }

    fn is_inside(&self, c: usize, link: &Link) -> bool {
        self.place[self.layout.output_owner(link.output)].0 == c
    }

    /// Factors I - M L; `block(i)` is M of subsystem i. False if it is singular.
    #[must_use]
    pub(crate) fn factor<'a>(&mut self, block: impl Fn(usize) -> &'a Matrix) -> bool {
        (0..self.components.len()).all(|c| {
            // Taken out, so that the structure can be read while the factors are written.
            let mut factors = std::mem::replace(&mut self.components[c].factors, Factors::Identity);
            let regular = match &mut factors {
                Factors::Identity => true,
                Factors::Dense(lu) => self.factor_dense(c, lu, &block),
                Factors::Blocks(lu, places) => self.factor_blocks(c, lu, places, &block),
            };
            let size = self.components[c].values.len();
            if !regular && matches!(factors, Factors::Blocks(..)) && size <= LARGEST_RESCUED {
                let mut lu = Lu::new(size);
                if self.factor_dense(c, &mut lu, &block) {
                    self.components[c].factors = Factors::Dense(lu);
                    return true;
                }
            }
            self.components[c].factors = factors;
            regular
        })
    }

    fn factor_dense<'a>(&self, c: usize, lu: &mut Lu, block: &impl Fn(usize) -> &'a Matrix) -> bool {
        let matrix = lu.matrix_mut();
        matrix.set_identity();
        for (i, link) in self.links_inside(c) {
            let source = self.layout.output_owner(link.output);
            let column = self.place[source].1 + self.local_column(source, link);
            self.subtract_link(block(i), link, (self.place[i].1, column), matrix);
        }
        lu.factor()
    }

    fn factor_blocks<'a>(
        &self,
        c: usize,
        lu: &mut BlockLu,
        places: &[BlockPlace],
        block: &impl Fn(usize) -> &'a Matrix,
    ) -> bool {
        lu.set_identity();
        for ((i, link), place) in self.links_inside(c).zip(places) {
            let column = self.local_column(self.layout.output_owner(link.output), link);
            self.subtract_link(block(i), link, (0, column), lu.block_mut(*place));
        }
        lu.factor()
    }

    /// Where the source of a link starts among the outputs of its subsystem.
    fn local_column(&self, source: usize, link: Link) -> usize {
        self.width * (link.output - self.layout.output_range(source).start)
    }

    /// matrix -= M L for one connection, with the block of the subsystem it ends at.
    fn subtract_link(&self, block: &Matrix, link: Link, (row, column): (usize, usize), matrix: &mut Matrix) {
        for i in 0..block.rows() {
            for a in 0..self.width {
                matrix[(row + i, column + a)] -= block[(i, self.width * link.input + a)] * link.gain;
            }
        }
    }

    /// Solves in place: b on entry, eta on return.
    pub(crate) fn solve<'a>(&mut self, block: impl Fn(usize) -> &'a Matrix, eta: &mut [f64]) {
        for c in 0..self.components.len() {
            self.add_earlier_components(c, &block, eta);
            let Self { width, layout, components, .. } = self;
            let Component { subsystems, factors, values } = &mut components[c];
            if matches!(factors, Factors::Identity) {
                continue;
            }
            let ranges = || subsystems.iter().map(|i| scaled(layout.output_range(*i), *width));
            let mut start = 0;
            for range in ranges() {
                copy_few(&eta[range.clone()], &mut values[start..start + range.len()]);
                start += range.len();
            }
            match factors {
                Factors::Identity => {}
                Factors::Dense(lu) => lu.solve(values),
                Factors::Blocks(lu, _) => lu.solve(values),
            }
            start = 0;
            for range in ranges() {
                copy_few(&values[start..start + range.len()], &mut eta[range.clone()]);
                start += range.len();
            }
        }
    }

    /// b += M L eta for the outputs of components that are solved already.
    fn add_earlier_components<'a>(&self, c: usize, block: &impl Fn(usize) -> &'a Matrix, eta: &mut [f64]) {
        for (i, link) in &self.between[c] {
            let rows = scaled(self.layout.output_range(*i), self.width);
            for a in 0..self.width {
                let value = link.gain * eta[link.output * self.width + a];
                let column = self.width * link.input + a;
                rows.clone().enumerate().for_each(|(row, at)| eta[at] += block(*i)[(row, column)] * value);
            }
        }
    }
}

/// Whether there are loops of connections that go through several groups.
pub(crate) fn is_torn(system: &SystemView<'_>) -> bool {
    let all = InputSet::All(system.layout.inputs());
    let whole = connected(&SystemView { inputs: &all, ..*system }, |_| true);
    system.inputs.len() < all.len() && whole.components().iter().any(|component| whole.is_loop(component))
}

/// Arrows from each subsystem to those that it feeds through the inputs of the group and that respond.
pub(crate) fn connected(system: &SystemView<'_>, responds: impl Fn(usize) -> bool) -> Graph {
    let SystemView { layout, coupling, inputs, .. } = *system;
    let mut arrows = Vec::new();
    for j in inputs.iter().filter(|j| responds(layout.input_owner(*j))) {
        let owner = layout.input_owner(j);
        arrows.extend(coupling.sources(j).map(|(output, _)| (layout.output_owner(output), owner)));
    }
    arrows.sort_unstable();
    arrows.dedup();
    Graph::new(layout.subsystems(), &arrows)
}

/// Copies a few numbers without the call that a copy of unknown length is.
#[inline]
fn copy_few(from: &[f64], to: &mut [f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

fn scaled(range: std::ops::Range<usize>, width: usize) -> std::ops::Range<usize> {
    range.start * width..range.end * width
}

#[cfg(test)]
mod tests {
    use super::*;
    use costep_core::{Capabilities, Connection, Coupling, Description, Division, Port};

    /// An interface of subsystems with so many (inputs, outputs).
    fn interface(sizes: &[(usize, usize)], connections: &[Connection]) -> Interface {
        let port = |_| Port { name: "p".into(), ..Port::default() };
        let describe = |(inputs, outputs): &(usize, usize)| Description {
            name: "s".into(),
            inputs: (0..*inputs).map(port).collect(),
            outputs: (0..*outputs).map(port).collect(),
            feedthrough: vec![Default::default(); *outputs],
            ..Description::default()
        };
        let descriptions: Vec<_> = sizes.iter().map(describe).collect();
        let layout = Layout::of(&descriptions);
        let system = SystemView {
            descriptions: &descriptions,
            capabilities: &vec![Capabilities::default(); sizes.len()],
            coupling: &Coupling::new(layout.inputs(), connections),
            inputs: &InputSet::All(layout.inputs()),
            layout: &layout,
            equal_steps: true,
            step: 1.0,
            division: Division::Parts(8),
            known_inputs: &[],
        };
        Interface::new(&system, 1)
    }

    /// Three subsystems with one output each; 0 and 1 form a loop that feeds 2.
    #[test]
    fn a_loop_and_what_follows_it_are_solved() {
        let connect = |output, input, gain| Connection { output, input, gain };
        let connections = [connect(1, 0, 2.0), connect(0, 1, 1.0), connect(0, 2, 1.0), connect(1, 3, -1.0)];
        let mut interface = interface(&[(1, 1), (1, 1), (2, 1)], &connections);
        let blocks = [
            Matrix::from_rows(1, 1, &[0.1]),
            Matrix::from_rows(1, 1, &[3.0]),
            Matrix::from_rows(1, 2, &[5.0, 7.0]),
        ];
        assert!(interface.factor(|i| &blocks[i]));
        let mut eta = [1.0, 2.0, 3.0];
        interface.solve(|i| &blocks[i], &mut eta);
        // eta0 = 1 + 0.1 (2 eta1), eta1 = 2 + 3 eta0, eta2 = 3 + 5 eta0 - 7 eta1
        let eta0 = 1.4 / 0.4;
        let eta1 = 2.0 + 3.0 * eta0;
        let expected = [eta0, eta1, 3.0 + 5.0 * eta0 - 7.0 * eta1];
        assert!(eta.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{eta:?} {expected:?}");
    }

    /// A ring in which each subsystem feeds itself with gain one: every diagonal block is singular, the whole is not.
    #[test]
    fn a_large_loop_with_singular_diagonal_blocks_is_solved() {
        const N: usize = 40;
        let connect = |output, input, gain| Connection { output, input, gain };
        let connections: Vec<_> =
            (0..N).flat_map(|i| [connect(i, i, 1.0), connect((i + 1) % N, i, 2.0)]).collect();
        let mut interface = interface(&[(1, 1); N], &connections);
        let one = Matrix::from_rows(1, 1, &[1.0]);
        assert!(interface.factor(|_| &one));
        // -2 eta_(i+1) = b_i.
        let mut eta: Vec<f64> = (0..N).map(|i| i as f64).collect();
        interface.solve(|_| &one, &mut eta);
        (0..N).for_each(|i| assert!((eta[(i + 1) % N] + 0.5 * i as f64).abs() < 1e-12, "{eta:?}"));
    }

    #[test]
    fn a_singular_loop_is_seen() {
        let mut interface = interface(&[(1, 1)], &[Connection { output: 0, input: 0, gain: 1.0 }]);
        let one = Matrix::from_rows(1, 1, &[1.0]);
        assert!(!interface.factor(|_| &one));
    }
}
