//! LU factorisation of matrices made of dense blocks, most of which are zero: one block row per subsystem, one block
//! per connection.
//!
//! Blocks are eliminated in an order of least degree, so that chains, rings, trees and stars stay sparse and the cost
//! grows linearly with the number of blocks. Pivots are chosen inside diagonal blocks only: the matrices of this
//! project are I minus loop gains, whose diagonal blocks are regular; where one is not, `factor` says so.

use std::collections::{BTreeMap, BTreeSet};

use crate::lu::{Lu, solve_factored};
use crate::matrix::Matrix;

/// A factored block matrix. Its memory is taken once, from the pattern.
#[derive(Clone, Debug, Default)]
pub struct BlockLu {
    /// First row of each block row, and the end.
    starts: Vec<usize>,
    /// Block rows in the order of elimination.
    order: Vec<usize>,
    /// Blocks off the diagonal, at `index`.
    blocks: Vec<Matrix>,
    /// (row, column) to its place in `blocks`.
    index: BTreeMap<(usize, usize), usize>,
    diagonal: Vec<Lu>,
    /// For each block row v: the later block rows it touches.
    steps: Vec<Step>,
    column: Vec<f64>,
    packed: Packed,
}

/// The factors once more, in the order in which [`BlockLu::solve`] goes through them: with thousands of blocks the time
/// goes into fetching them, and one stream is fetched ahead. Along a chain of equal parts the factors soon repeat bit by
/// bit; those that equal one of the last few are not kept twice.
#[derive(Clone, Debug, Default)]
struct Packed {
    /// For each block row in the order of elimination: its factors, then the blocks below; behind them all, in reverse
    /// order, the blocks to the right.
    values: Vec<f64>,
    /// First row and size of a block row, number of blocks, where their values are, then first row and size of each
    /// block; the same twice.
    places: Vec<u32>,
    /// Row exchanges inside the diagonal blocks.
    pivots: Vec<u32>,
}

/// Where a block is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockPlace {
    /// On the diagonal, in this block row.
    Diagonal(usize),
    /// Off the diagonal.
    Beside(usize),
}

/// What the elimination of one block row does.
#[derive(Clone, Debug, Default)]
struct Step {
    /// Blocks (i, v) below: row and place.
    below: Vec<(usize, usize)>,
    /// Blocks (v, j) to the right: column and place.
    right: Vec<(usize, usize)>,
    /// Places of the blocks (i, j) that change, row by row of `below`; none for diagonal ones.
    updated: Vec<Option<usize>>,
}

impl BlockLu {
    /// Room for a matrix with block rows of these sizes and nonzero blocks at these places (the diagonal is always
    /// there).
    pub fn new(sizes: &[usize], pattern: &[(usize, usize)]) -> Self {
        let mut starts = vec![0];
        sizes.iter().for_each(|size| starts.push(starts[starts.len() - 1] + size));
        let (order, filled) = eliminate_symbolically(sizes.len(), pattern);
        let mut place = vec![0; sizes.len()];
        order.iter().enumerate().for_each(|(position, v)| place[*v] = position);
        let (mut index, mut blocks) = (BTreeMap::new(), Vec::new());
        for (v, neighbours) in filled.iter().enumerate() {
            for i in neighbours {
                for pair in [(*i, v), (v, *i)] {
                    index.insert(pair, blocks.len());
                    blocks.push(Matrix::zeros(sizes[pair.0], sizes[pair.1]));
                }
            }
        }
        let step = |(v, neighbours): (usize, &BTreeSet<usize>)| Step {
            below: neighbours.iter().map(|i| (*i, index[&(*i, v)])).collect(),
            right: neighbours.iter().map(|j| (*j, index[&(v, *j)])).collect(),
            updated: neighbours
                .iter()
                .flat_map(|i| neighbours.iter().map(|j| index.get(&(*i, *j)).copied()))
                .collect(),
        };
        let steps = filled.iter().enumerate().map(step).collect();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        Self {
            diagonal: sizes.iter().map(|size| Lu::new(*size)).collect(),
            column: vec![0.0; largest],
            starts,
            order,
            blocks,
            index,
            steps,
            packed: Packed::default(),
        }
        .with_places()
    }

    /// Lays out the packed factors.
    fn with_places(mut self) -> Self {
        let Self { starts, order, steps, packed, .. } = &mut self;
        let size = |v: usize| starts[v + 1] - starts[v];
        let mut count = 0;
        let mut lay = |v: usize, beside: &[(usize, usize)]| {
            // The fourth number, where the values are, is known when they are packed.
            let header = [starts[v], size(v), beside.len(), 0];
            let blocks = beside.iter().flat_map(|(i, _)| [starts[*i], size(*i)]);
            packed.places.extend(header.into_iter().chain(blocks).map(|place| place as u32));
            count += beside.iter().map(|(i, _)| size(*i) * size(v)).sum::<usize>();
        };
        order.iter().for_each(|v| lay(*v, &steps[*v].below));
        order.iter().rev().for_each(|v| lay(*v, &steps[*v].right));
        count += order.iter().map(|v| size(*v) * size(*v)).sum::<usize>();
        packed.values = vec![0.0; count];
        packed.pivots = vec![0; starts[order.len()]];
        self
    }

    /// Writes the factors in the order of the solution.
    fn pack(&mut self) {
        let Self { order, blocks, diagonal, steps, packed, .. } = self;
        let Packed { values, places, pivots } = packed;
        let (mut writer, mut header, mut pivot) = (Writer { values, end: 0, recent: [(0, 0); RECENT] }, 0, 0);
        for v in order.iter() {
            let start = writer.end;
            writer.put(diagonal[*v].factors().data());
            steps[*v].below.iter().for_each(|(_, place)| writer.put(blocks[*place].data()));
            places[header + 3] = writer.settle(start) as u32;
            header += 4 + 2 * steps[*v].below.len();
            for own in diagonal[*v].pivots() {
                pivots[pivot] = *own as u32;
                pivot += 1;
            }
        }
        writer.recent = [(0, 0); RECENT];
        for v in order.iter().rev() {
            let start = writer.end;
            steps[*v].right.iter().for_each(|(_, place)| writer.put(blocks[*place].data()));
            places[header + 3] = writer.settle(start) as u32;
            header += 4 + 2 * steps[*v].right.len();
        }
    }

    /// Sets the matrix to the identity.
    pub fn set_identity(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.fill(0.0));
        self.diagonal.iter_mut().for_each(|lu| lu.matrix_mut().set_identity());
    }

    /// Where the block at (row, column) is; nothing if it is not in the pattern.
    pub fn find(&self, row: usize, column: usize) -> Option<BlockPlace> {
        if row == column {
            return (row < self.diagonal.len()).then_some(BlockPlace::Diagonal(row));
        }
        self.index.get(&(row, column)).map(|place| BlockPlace::Beside(*place))
    }

    /// A block, to be written to before `factor`.
    pub fn block_mut(&mut self, place: BlockPlace) -> &mut Matrix {
        match place {
            BlockPlace::Diagonal(row) => self.diagonal[row].matrix_mut(),
            BlockPlace::Beside(place) => &mut self.blocks[place],
        }
    }

    /// Factors what was written. False if a diagonal block is singular.
    #[must_use]
    pub fn factor(&mut self) -> bool {
        let Self { order, blocks, diagonal, steps, column, .. } = self;
        for v in order.iter().copied() {
            if !diagonal[v].factor() {
                return false;
            }
            let step = &steps[v];
            for (_, place) in &step.right {
                diagonal[v].solve_columns(&mut blocks[*place], column);
            }
            let mut updated = step.updated.iter();
            for (i, below) in &step.below {
                for ((_, right), target) in step.right.iter().zip(&mut updated) {
                    match target {
                        // Taken out while it changes: the borrow checker cannot see that the three differ.
                        Some(place) => {
                            let mut block = std::mem::take(&mut blocks[*place]);
                            block.add_product(-1.0, &blocks[*below], &blocks[*right]);
                            blocks[*place] = block;
                        }
                        None => {
                            diagonal[*i].matrix_mut().add_product(-1.0, &blocks[*below], &blocks[*right]);
                        }
                    }
                }
            }
        }
        self.pack();
        true
    }

    /// Solves A x = b in place.
    pub fn solve(&self, b: &mut [f64]) {
        let Packed { values, places, .. } = &self.packed;
        let mut stream = Stream { values, places, all: values };
        let mut pivots = &self.packed.pivots[..];
        for _ in &self.order {
            let (start, size, blocks) = stream.header();
            let own;
            (own, pivots) = pivots.split_at(size);
            let pivots = own.iter().map(|pivot| *pivot as usize);
            solve_factored(stream.block(size, size), pivots, &mut b[start..start + size]);
            for _ in 0..blocks {
                let (to, rows) = stream.place();
                subtract(stream.block(rows, size), (start, size), (to, rows), b);
            }
        }
        for _ in &self.order {
            let (start, size, blocks) = stream.header();
            for _ in 0..blocks {
                let (from, columns) = stream.place();
                subtract(stream.block(size, columns), (from, columns), (start, size), b);
            }
        }
    }
}

/// So many different groups of values are remembered.
const RECENT: usize = 8;

/// Where packed values go.
struct Writer<'a> {
    values: &'a mut [f64],
    end: usize,
    /// Start and length of the last groups.
    recent: [(usize, usize); RECENT],
}

impl Writer<'_> {
    fn put(&mut self, values: &[f64]) {
        self.values[self.end..self.end + values.len()].copy_from_slice(values);
        self.end += values.len();
    }

    /// Where to find what was put since `start`: there, or where the same has been put before.
    fn settle(&mut self, start: usize) -> usize {
        let length = self.end - start;
        let same = |(from, count): &(usize, usize)| {
            *count == length && self.values[*from..from + count] == self.values[start..self.end]
        };
        if let Some(at) = self.recent.iter().position(same) {
            self.recent[..=at].rotate_right(1);
            self.end = start;
        } else {
            self.recent.rotate_right(1);
            self.recent[0] = (start, length);
        }
        self.recent[0].0
    }
}

/// What is left of the packed factors.
struct Stream<'a> {
    values: &'a [f64],
    places: &'a [u32],
    all: &'a [f64],
}

impl<'a> Stream<'a> {
    #[inline]
    fn number(&mut self) -> usize {
        let (first, rest) = self.places.split_at(1);
        self.places = rest;
        first[0] as usize
    }

    #[inline]
    fn place(&mut self) -> (usize, usize) {
        (self.number(), self.number())
    }

    #[inline]
    fn header(&mut self) -> (usize, usize, usize) {
        let header = (self.number(), self.number(), self.number());
        self.values = &self.all[self.number()..];
        header
    }

    #[inline]
    fn block(&mut self, rows: usize, columns: usize) -> &'a [f64] {
        let (block, rest) = self.values.split_at(rows * columns);
        self.values = rest;
        block
    }
}

/// b[to..] -= block b[from..].
#[inline]
fn subtract(block: &[f64], (from, columns): (usize, usize), (to, rows): (usize, usize), b: &mut [f64]) {
    // Block rows differ, so one of the two lies wholly before the other.
    let (source, target) = if from < to {
        let (before, after) = b.split_at_mut(to);
        (&before[from..from + columns], &mut after[..rows])
    } else {
        let (before, after) = b.split_at_mut(from);
        (&after[..columns], &mut before[to..to + rows])
    };
    for (row, target) in block.chunks_exact(columns.max(1)).zip(target) {
        *target -= row.iter().zip(source).map(|(a, x)| a * x).sum::<f64>();
    }
}

/// An order of least degree on the symmetric pattern, and for each block row its neighbours when it is eliminated.
fn eliminate_symbolically(count: usize, pattern: &[(usize, usize)]) -> (Vec<usize>, Vec<BTreeSet<usize>>) {
    let mut neighbours: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
    for (i, j) in pattern.iter().filter(|(i, j)| i != j) {
        neighbours[*i].insert(*j);
        neighbours[*j].insert(*i);
    }
    let mut queue: BTreeSet<(usize, usize)> = (0..count).map(|v| (neighbours[v].len(), v)).collect();
    let (mut order, mut filled) = (Vec::with_capacity(count), vec![BTreeSet::new(); count]);
    while let Some((_, v)) = queue.pop_first() {
        let own = std::mem::take(&mut neighbours[v]);
        for i in &own {
            queue.remove(&(neighbours[*i].len(), *i));
            neighbours[*i].remove(&v);
            neighbours[*i].extend(own.iter().filter(|j| *j != i));
            queue.insert((neighbours[*i].len(), *i));
        }
        order.push(v);
        filled[v] = own;
    }
    (order, filled)
}
