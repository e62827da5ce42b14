//! The coupling u = L y + r: which outputs feed which input, with which gain.

/// A connection between an output and an input, both counted in the stacked vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connection {
    /// Index into y.
    pub output: usize,
    /// Index into u.
    pub input: usize,
    /// Factor on the way.
    pub gain: f64,
}

/// The matrix L. Most systems connect each input to one output with gain 1: then L is a list of indices.
/// Sums and gains are rows of a sparse matrix. The terms of a row keep the order in which the connections
/// were given, so that the sum does not depend on how the subsystems are numbered.
#[derive(Clone, Debug)]
pub struct Coupling {
    rows: Rows,
}

#[derive(Clone, Debug)]
enum Rows {
    /// Row j is the output `sources[j]`. If many neighbours come from neighbours, `runs` say the same.
    Gather { sources: Vec<u32>, runs: Vec<Run> },
    /// Row j is the sum of `terms[starts[j]..starts[j + 1]]`, (output, gain) each.
    Sparse { starts: Vec<u32>, terms: Vec<(u32, f64)> },
}

/// Neighbouring inputs that come from neighbouring outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    input: usize,
    output: usize,
    length: usize,
}

/// Length of runs, in the mean, from which on they are copied as such.
const LONG_RUN: usize = 8;

/// The runs of a list of sources; none if they are short.
fn long_runs(sources: &[u32]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (input, output) in sources.iter().map(|source| *source as usize).enumerate() {
        match runs.last_mut() {
            Some(last) if last.output + last.length == output => last.length += 1,
            _ => runs.push(Run { input, output, length: 1 }),
        }
    }
    if runs.len() * LONG_RUN > sources.len() { Vec::new() } else { runs }
}

impl Coupling {
    /// The coupling of this many inputs by these connections.
    pub fn new(inputs: usize, connections: &[Connection]) -> Self {
        let mut starts = vec![0u32; inputs + 1];
        for connection in connections {
            starts[connection.input + 1] += 1;
        }
        for j in 0..inputs {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let mut terms = vec![(0, 0.0); connections.len()];
        for connection in connections {
            let slot = &mut next[connection.input];
            terms[*slot as usize] = (connection.output as u32, connection.gain);
            *slot += 1;
        }
        let plain = (0..inputs).all(|j| starts[j + 1] - starts[j] == 1) && terms.iter().all(|t| t.1 == 1.0);
        let rows = if plain {
            let sources: Vec<u32> = terms.iter().map(|term| term.0).collect();
            Rows::Gather { runs: long_runs(&sources), sources }
        } else {
            Rows::Sparse { starts, terms }
        };
        Self { rows }
    }

    /// u = L y.
    #[inline]
    pub fn apply(&self, y: &[f64], u: &mut [f64]) {
        match &self.rows {
            Rows::Gather { runs, .. } if !runs.is_empty() => {
                for Run { input, output, length } in runs.iter().copied() {
                    u[input..input + length].copy_from_slice(&y[output..output + length]);
                }
            }
            Rows::Gather { sources, .. } => {
                for (u, source) in u.iter_mut().zip(sources) {
                    *u = y[*source as usize];
                }
            }
            Rows::Sparse { starts, terms } => {
                for (u, bounds) in u.iter_mut().zip(starts.windows(2)) {
                    *u = row_sum(&terms[bounds[0] as usize..bounds[1] as usize], y);
                }
            }
        }
    }

    /// Row j of L y.
    pub fn row(&self, j: usize, y: &[f64]) -> f64 {
        match &self.rows {
            Rows::Gather { sources, .. } => y[sources[j] as usize],
            Rows::Sparse { starts, terms } => row_sum(&terms[starts[j] as usize..starts[j + 1] as usize], y),
        }
    }

    /// The (output, gain) pairs that feed input j.
    pub fn sources(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (gather, sparse) = match &self.rows {
            Rows::Gather { sources, .. } => (Some((sources[j] as usize, 1.0)), &[][..]),
            Rows::Sparse { starts, terms } => (None, &terms[starts[j] as usize..starts[j + 1] as usize]),
        };
        gather.into_iter().chain(sparse.iter().map(|(output, gain)| (*output as usize, *gain)))
    }

    /// The entries of L in the rows of these inputs: input, output, gain.
    pub fn links(&self, inputs: impl IntoIterator<Item = usize>) -> Vec<(usize, usize, f64)> {
        let row = |j: usize| self.sources(j).map(move |(output, gain)| (j, output, gain));
        inputs.into_iter().flat_map(row).collect()
    }
}

#[inline]
fn row_sum(terms: &[(u32, f64)], y: &[f64]) -> f64 {
    terms.iter().map(|(output, gain)| gain * y[*output as usize]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connect(output: usize, input: usize, gain: f64) -> Connection {
        Connection { output, input, gain }
    }

    #[test]
    fn a_permutation_is_a_gather() {
        let coupling = Coupling::new(2, &[connect(1, 0, 1.0), connect(0, 1, 1.0)]);
        assert!(matches!(coupling.rows, Rows::Gather { .. }));
        let mut u = [0.0; 2];
        coupling.apply(&[3.0, 4.0], &mut u);
        assert_eq!(u, [4.0, 3.0]);
    }

    #[test]
    fn runs_copy_what_a_gather_would() {
        let sources: Vec<u32> = (10..30).chain(0..10).chain([30]).collect();
        let connections: Vec<_> = (0..31).map(|j| connect(sources[j] as usize, j, 1.0)).collect();
        let coupling = Coupling::new(31, &connections);
        assert!(matches!(&coupling.rows, Rows::Gather { runs, .. } if runs.len() == 3));
        let y: Vec<f64> = (0..31).map(f64::from).collect();
        let mut u = [0.0; 31];
        coupling.apply(&y, &mut u);
        assert!(u.iter().zip(&sources).all(|(u, source)| *u == f64::from(*source)));
        assert!(long_runs(&[1, 0]).is_empty(), "short ones are gathered");
    }

    #[test]
    fn sums_gains_and_open_inputs() {
        let coupling = Coupling::new(3, &[connect(0, 2, 2.0), connect(1, 0, 1.0), connect(1, 2, -1.0)]);
        let mut u = [9.0; 3];
        coupling.apply(&[3.0, 4.0], &mut u);
        assert_eq!(u, [4.0, 0.0, 2.0]);
        assert_eq!(coupling.row(2, &[3.0, 4.0]), 2.0);
        assert_eq!(coupling.sources(2).collect::<Vec<_>>(), [(0, 2.0), (1, -1.0)]);
    }
}
