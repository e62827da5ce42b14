//! Coupled linear systems as one.

use crate::direct_loop::DirectLoop;
use crate::matrix::Matrix;

/// Where the signals of a system start among those of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackPlace {
    /// Its first state.
    pub state: usize,
    /// Its first input.
    pub input: usize,
    /// Its first output.
    pub output: usize,
}

/// Systems x' = A x + B u, y = C x + D u, one after the other, coupled by u = L y + E r:
///
/// ```text
/// x' = (A + B L W C) x + B (E + L W D E) r
/// y  = W C x + W D E r                         with W = (I - D L)^-1
/// u  = L W C x + (E + L W D E) r
/// ```
///
/// A, B, C and D are given system by system, row by row. Memory is taken once.
#[derive(Clone, Debug, Default)]
pub struct ClosedLoop {
    /// Of each system, and of the end.
    places: Vec<StackPlace>,
    direct: DirectLoop,
    /// E: input, external signal, gain.
    drives: Vec<(usize, usize, f64)>,
    d: Matrix,
    outputs: Matrix,
    inputs: Matrix,
}

impl ClosedLoop {
    /// Room for systems with so many states, inputs and outputs, and so many external `signals` r. L by its
    /// entries (input, output, gain), E by (input, signal, gain).
    pub fn new(
        sizes: impl Iterator<Item = [usize; 3]>,
        links: Vec<(usize, usize, f64)>,
        (drives, signals): (Vec<(usize, usize, f64)>, usize),
    ) -> Self {
        let mut end = StackPlace::default();
        let mut places = vec![end];
        for [states, inputs, outputs] in sizes {
            end.state += states;
            end.input += inputs;
            end.output += outputs;
            places.push(end);
        }
        Self {
            places,
            direct: DirectLoop::new(end.output, links),
            drives,
            d: Matrix::zeros(end.output, end.input),
            outputs: Matrix::zeros(end.output, end.state + signals),
            inputs: Matrix::zeros(end.input, end.state + signals),
        }
    }

    /// Where a system is; the place after the last one is the end.
    pub fn place(&self, i: usize) -> StackPlace {
        self.places[i]
    }

    /// W, and L.
    pub fn direct(&self) -> &DirectLoop {
        &self.direct
    }

    /// y per unit of x, then of r.
    pub fn outputs(&self) -> &Matrix {
        &self.outputs
    }

    /// u per unit of x, then of r.
    pub fn inputs(&self) -> &Matrix {
        &self.inputs
    }

    /// Takes C and D of each system. False if I - D L is singular: then W = I is taken.
    #[must_use]
    pub fn close<'a>(&mut self, block: impl Fn(usize) -> [&'a [f64]; 2]) -> bool {
        let Self { places, direct, drives, d, outputs, inputs } = self;
        let states = places[places.len() - 1].state;
        outputs.fill(0.0);
        for (i, pair) in places.windows(2).enumerate() {
            let ([c, own_d], [at, end]) = (block(i), [pair[0], pair[1]]);
            put(outputs, (at.output, at.state..end.state), c);
            put(d, (at.output, at.input..end.input), own_d);
        }
        for (input, signal, gain) in drives.iter() {
            (0..d.rows()).for_each(|i| outputs[(i, states + signal)] += d[(i, *input)] * gain);
        }
        let is_regular = direct.close(|i, j| d[(i, j)]);
        if is_regular {
            direct.solve_columns(outputs);
        }
        inputs.fill(0.0);
        drives.iter().for_each(|(input, signal, gain)| inputs[(*input, states + signal)] += gain);
        for (input, output, gain) in direct.links() {
            add_scaled(inputs.row_mut(*input), *gain, outputs.row(*output));
        }
        is_regular
    }

    /// Takes A and B of each system, and writes x' = `a` x + `b` r.
    pub fn couple<'a>(&self, block: impl Fn(usize) -> [&'a [f64]; 2], a: &mut [f64], b: &mut [f64]) {
        let n = self.places[self.places.len() - 1].state;
        let signals = self.inputs.columns() - n;
        a.fill(0.0);
        b.fill(0.0);
        for (i, pair) in self.places.windows(2).enumerate() {
            let ([own_a, own_b], [at, end]) = (block(i), [pair[0], pair[1]]);
            for row in at.state..end.state {
                let (k, width) = (row - at.state, end.state - at.state);
                let a = &mut a[row * n..(row + 1) * n];
                let b = &mut b[row * signals..(row + 1) * signals];
                a[at.state..end.state].copy_from_slice(&own_a[k * width..(k + 1) * width]);
                let width = end.input - at.input;
                for (input, gain) in (at.input..end.input).zip(&own_b[k * width..(k + 1) * width]) {
                    if *gain != 0.0 {
                        let (by_state, by_signal) = self.inputs.row(input).split_at(n);
                        add_scaled(a, *gain, by_state);
                        add_scaled(b, *gain, by_signal);
                    }
                }
            }
        }
    }
}

/// Row-major values from a row on, into these columns.
fn put(matrix: &mut Matrix, (row, columns): (usize, std::ops::Range<usize>), values: &[f64]) {
    for (i, values) in values.chunks_exact(columns.len().max(1)).enumerate() {
        matrix.row_mut(row + i)[columns.clone()].copy_from_slice(values);
    }
}

/// to += factor from.
fn add_scaled(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}
