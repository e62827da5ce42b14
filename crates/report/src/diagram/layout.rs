//! Where blocks stand and how wires run: blocks in layers along the longest paths, wires that do not lead to the next
//! layer in lanes above (forwards) and below (backwards).

use super::{Block, Diagram, Wire};
use crate::svg::text_width;

pub(super) const NAME_SIZE: f64 = 13.0;
pub(super) const PIN_SIZE: f64 = 11.0;
pub(super) const SMALL: f64 = 10.0;
const ROW: f64 = 18.0;
const PADDING: f64 = 12.0;
const FOOT: f64 = 18.0;
const BETWEEN_BLOCKS: f64 = 30.0;
const MARGIN: f64 = 28.0;
const TITLE: f64 = 34.0;
const LANE: f64 = 9.0;
/// Room between layers, and for each wire that turns there.
const GAP: f64 = 46.0;
const TURN: f64 = 7.0;
/// How often blocks are sorted by their neighbours.
const SWEEPS: usize = 6;

/// The rectangle of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    /// Height of the row of a pin.
    pub(super) fn row(&self, pin: usize) -> f64 {
        self.y + head_height() + ROW * (pin as f64 + 0.5)
    }
}

/// Everything in its place.
pub(super) struct Plan {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) frames: Vec<Frame>,
    /// The corners of every wire; two of them: a curve from one to the other.
    pub(super) paths: Vec<Vec<(f64, f64)>>,
}

fn head_height() -> f64 {
    PADDING + NAME_SIZE + SMALL + 12.0
}

impl Plan {
    pub(super) fn new(diagram: &Diagram) -> Self {
        let layer = layers(diagram);
        let order = ordered(diagram, &layer);
        let mut plan = Self { width: 0.0, height: 0.0, frames: frames(&diagram.blocks), paths: Vec::new() };
        let routes: Vec<Route> = diagram.wires.iter().map(|wire| Route::of(wire, &layer)).collect();
        let above = routes.iter().filter(|route| **route == Route::Above).count();
        let turns = turns(diagram, &routes, &layer, order.len());
        plan.place(&order, &turns, TITLE + MARGIN + LANE * above as f64);
        plan.run_wires(diagram, &routes, &layer);
        plan
    }

    /// Puts layers side by side and blocks of a layer below each other, all around one middle line.
    fn place(&mut self, order: &[Vec<usize>], turns: &[[usize; 2]], top: f64) {
        let height = |blocks: &Vec<usize>| {
            blocks.iter().map(|block| self.frames[*block].height + BETWEEN_BLOCKS).sum::<f64>()
                - BETWEEN_BLOCKS
        };
        let heights: Vec<f64> = order.iter().map(height).collect();
        let tallest = heights.iter().copied().fold(0.0, f64::max);
        let mut x = MARGIN;
        for ((blocks, height), turns) in order.iter().zip(heights).zip(turns) {
            x += GAP / 2.0 + TURN * turns[0] as f64;
            let width = blocks.iter().map(|block| self.frames[*block].width).fold(0.0, f64::max);
            let mut y = top + (tallest - height) / 2.0;
            for block in blocks {
                let frame = &mut self.frames[*block];
                (frame.x, frame.y, frame.width) = (x, y, width);
                y += frame.height + BETWEEN_BLOCKS;
            }
            x += width + GAP / 2.0 + TURN * turns[1] as f64;
        }
        (self.width, self.height) = (x + MARGIN, top + tallest);
    }

    fn run_wires(&mut self, diagram: &Diagram, routes: &[Route], layer: &[usize]) {
        let layers = layer.iter().max().map_or(0, |last| last + 1);
        // Wires that have turned so far, left and right of each layer, and lanes that are taken.
        let (mut left, mut right) = (vec![0; layers], vec![0; layers]);
        let (mut above, mut below) = (0, 0);
        let floor = self.height + MARGIN / 2.0;
        for (wire, route) in diagram.wires.iter().zip(routes) {
            let (from, to) = (self.frames[wire.from.0], self.frames[wire.to.0]);
            let start = (from.x + from.width, from.row(wire.from.1));
            let end = (to.x, to.row(wire.to.1));
            let lane = match route {
                Route::Next => {
                    self.paths.push(vec![start, end]);
                    continue;
                }
                Route::Above => {
                    above += 1;
                    TITLE + MARGIN / 2.0 + LANE * above as f64
                }
                Route::Below => {
                    below += 1;
                    floor + LANE * below as f64
                }
            };
            let turn = |taken: &mut usize| {
                *taken += 1;
                GAP / 4.0 + TURN * *taken as f64
            };
            let out = start.0 + turn(&mut right[layer[wire.from.0]]);
            let back = end.0 - turn(&mut left[layer[wire.to.0]]);
            self.paths.push(vec![start, (out, start.1), (out, lane), (back, lane), (back, end.1), end]);
        }
        self.height = floor + LANE * below as f64 + MARGIN;
    }
}

/// Which way a wire takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Route {
    /// Straight to the next layer.
    Next,
    /// Forwards over other layers.
    Above,
    /// Backwards.
    Below,
}

impl Route {
    fn of(wire: &Wire, layer: &[usize]) -> Self {
        let (from, to) = (layer[wire.from.0], layer[wire.to.0]);
        match to {
            to if to == from + 1 => Self::Next,
            to if to > from => Self::Above,
            _ => Self::Below,
        }
    }
}

/// How many wires turn left and right of each layer.
fn turns(diagram: &Diagram, routes: &[Route], layer: &[usize], layers: usize) -> Vec<[usize; 2]> {
    let mut turns = vec![[0; 2]; layers];
    for (wire, _) in diagram.wires.iter().zip(routes).filter(|(_, route)| **route != Route::Next) {
        turns[layer[wire.to.0]][0] += 1;
        turns[layer[wire.from.0]][1] += 1;
    }
    turns
}

fn frames(blocks: &[Block]) -> Vec<Frame> {
    let frame = |block: &Block| {
        let widest =
            |pins: &[super::Pin]| pins.iter().map(|pin| text_width(&pin.label, PIN_SIZE)).fold(0.0, f64::max);
        let rows = block.inputs.len().max(block.outputs.len()) as f64;
        let foot = if block.rest.is_empty() { PADDING / 2.0 } else { FOOT };
        let texts = [
            text_width(&block.name, 1.1 * NAME_SIZE),
            text_width(&block.kind, SMALL),
            text_width(&block.rest, SMALL),
            widest(&block.inputs) + widest(&block.outputs) + 4.0 * PADDING,
        ];
        let width = texts.into_iter().fold(70.0, f64::max) + 2.0 * PADDING;
        Frame { x: 0.0, y: 0.0, width, height: head_height() + ROW * rows + foot }
    };
    blocks.iter().map(frame).collect()
}

/// The layer of each block: behind all that feed it, without the wires that close loops.
fn layers(diagram: &Diagram) -> Vec<usize> {
    let n = diagram.blocks.len();
    let mut targets = vec![Vec::new(); n];
    for wire in &diagram.wires {
        targets[wire.from.0].push(wire.to.0);
    }
    let after = finishing_order(&targets);
    let mut place = vec![0; n];
    after.iter().enumerate().for_each(|(at, block)| place[*block] = at);
    let mut layer = vec![0; n];
    // From the block that was left last on: a topological order of all wires that close no loop.
    for block in after.iter().rev() {
        for target in targets[*block].iter().filter(|target| place[**target] < place[*block]) {
            layer[*target] = layer[*target].max(layer[*block] + 1);
        }
    }
    layer
}

/// Blocks in the order in which a depth-first search leaves them; those without sources are visited first.
fn finishing_order(targets: &[Vec<usize>]) -> Vec<usize> {
    let mut fed = vec![false; targets.len()];
    targets.iter().enumerate().for_each(|(block, all)| {
        all.iter().filter(|target| **target != block).for_each(|target| fed[*target] = true);
    });
    let (mut seen, mut left) = (vec![false; targets.len()], Vec::new());
    let roots = (0..targets.len()).filter(|block| !fed[*block]).chain(0..targets.len());
    for root in roots {
        let mut stack = if seen[root] { Vec::new() } else { vec![(root, 0)] };
        seen[root] = true;
        while let Some((block, next)) = stack.pop() {
            match targets[block].get(next) {
                None => left.push(block),
                Some(target) => {
                    stack.push((block, next + 1));
                    if !std::mem::replace(&mut seen[*target], true) {
                        stack.push((*target, 0));
                    }
                }
            }
        }
    }
    left
}

/// Blocks of each layer from top to bottom, near those that they are connected with.
fn ordered(diagram: &Diagram, layer: &[usize]) -> Vec<Vec<usize>> {
    let mut order = vec![Vec::new(); layer.iter().max().map_or(0, |last| last + 1)];
    layer.iter().enumerate().for_each(|(block, layer)| order[*layer].push(block));
    let mut neighbours = vec![Vec::new(); layer.len()];
    for wire in diagram.wires.iter().filter(|wire| wire.from.0 != wire.to.0) {
        neighbours[wire.from.0].push(wire.to.0);
        neighbours[wire.to.0].push(wire.from.0);
    }
    let mut height = vec![0.0; layer.len()];
    for _ in 0..SWEEPS {
        for blocks in &mut order {
            let count = blocks.len() as f64;
            for (at, block) in blocks.iter().enumerate() {
                height[*block] = (at as f64 + 0.5) / count;
            }
            let mean = |block: &usize| {
                let near = &neighbours[*block];
                if near.is_empty() {
                    return height[*block];
                }
                near.iter().map(|other| height[*other]).sum::<f64>() / near.len() as f64
            };
            let mut keyed: Vec<(f64, usize)> = blocks.iter().map(|block| (mean(block), *block)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            *blocks = keyed.into_iter().map(|(_, block)| block).collect();
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::{Pin, Role};
    use super::*;

    fn diagram(blocks: usize, wires: &[(usize, usize)]) -> Diagram {
        let pin = || vec![Pin::default()];
        let block = Block { inputs: pin(), outputs: pin(), ..Block::default() };
        let wire = |(from, to): &(usize, usize)| Wire {
            from: (*from, 0),
            to: (*to, 0),
            role: Role::Chain,
            bond: false,
            label: String::new(),
        };
        let wires = wires.iter().map(wire).collect();
        Diagram { title: String::new(), blocks: vec![block; blocks], wires }
    }

    #[test]
    fn chains_go_to_the_right_and_loops_come_back() {
        assert_eq!(layers(&diagram(3, &[(2, 1), (1, 0)])), [2, 1, 0]);
        assert_eq!(layers(&diagram(3, &[(0, 1), (1, 2), (2, 0)])), [0, 1, 2]);
        assert_eq!(layers(&diagram(2, &[(0, 0)])), [0, 0]);
        assert_eq!(layers(&diagram(4, &[(0, 1), (0, 3), (1, 2), (2, 3)])), [0, 1, 2, 3]);
    }

    #[test]
    fn blocks_do_not_overlap_and_wires_are_inside() {
        let all: Vec<(usize, usize)> = (0..9).flat_map(|i| [(i, (i + 1) % 9), (i, (i * 5) % 9)]).collect();
        let diagram = diagram(9, &all);
        let plan = Plan::new(&diagram);
        for (i, a) in plan.frames.iter().enumerate() {
            for b in &plan.frames[i + 1..] {
                let beside = a.x + a.width <= b.x || b.x + b.width <= a.x;
                assert!(beside || a.y + a.height <= b.y || b.y + b.height <= a.y);
            }
        }
        let inside = |&(x, y): &(f64, f64)| x >= 0.0 && x <= plan.width && y >= TITLE && y <= plan.height;
        assert!(plan.paths.len() == all.len() && plan.paths.iter().flatten().all(inside));
    }

    #[test]
    fn nothing_is_drawn_too() {
        assert!(Diagram::default().to_svg().ends_with("</svg>\n"));
    }
}
