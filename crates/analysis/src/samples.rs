//! Outputs of a run at a bounded number of its communication points, to be compared with a reference that is computed later.

use costep_core::{Result, StateReader, StateWriter};

use crate::watch::{ALL_AT_FIRST, CYCLE, LOOKED_AT};

/// Most points that are kept, most values, and how many points at least: ten per fifth of the run.
const MOST_POINTS: usize = 250;
const MOST_VALUES: usize = 1_000_000;
const LEAST_POINTS: usize = 50;

/// Multiples of this, without their whole part, are spread evenly and follow no oscillation.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;

/// Rows of outputs at some communication points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Samples {
    rows: Vec<f64>,
    /// The next point: a run that is resumed shows its first one again.
    next: u64,
}

impl Samples {
    /// Takes the outputs at communication point k of a run of so many steps, if it is one of those that are kept.
    pub(crate) fn add(&mut self, k: u64, steps: u64, outputs: &[f64]) {
        if self.rows.capacity() == 0 {
            // Once, so that the run itself takes no memory.
            self.rows.reserve(most_values(outputs.len()));
        }
        if k >= self.next && is_kept(k, steps, outputs.len()) {
            self.rows.extend_from_slice(outputs);
        }
        self.next = self.next.max(k + 1);
    }

    /// Shows the rows one after the other, to whoever goes through the communication points of the same run.
    pub(crate) fn reader<'a>(&'a self, steps: u64, outputs: usize) -> impl FnMut(u64) -> Option<&'a [f64]> {
        let mut rows = self.rows.chunks_exact(outputs.max(1));
        move |k| if is_kept(k, steps, outputs) { rows.next() } else { None }
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        out.integer(self.next);
        out.integer(self.rows.len() as u64);
        out.reals(&self.rows);
    }

    pub(crate) fn load(&mut self, outputs: usize, from: &mut StateReader<'_>) -> Result<()> {
        self.next = from.integer()?;
        self.rows = vec![0.0; from.index(most_values(outputs).saturating_add(1))?];
        from.reals(&mut self.rows)
    }
}

/// A few points more than asked for may be kept, by the unevenness of their choice.
fn most_values(outputs: usize) -> usize {
    outputs.saturating_mul(wanted(outputs) + MOST_POINTS / 10)
}

fn wanted(outputs: usize) -> usize {
    (MOST_VALUES / outputs.max(1)).clamp(LEAST_POINTS, MOST_POINTS)
}

fn is_kept(k: u64, steps: u64, outputs: usize) -> bool {
    let share = if steps > ALL_AT_FIRST { LOOKED_AT as f64 / CYCLE as f64 } else { 1.0 };
    (share == 1.0 || k % CYCLE < LOOKED_AT)
        && (k as f64 * GOLDEN_RATIO).fract() * (steps + 1) as f64 * share <= wanted(outputs) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_kept_whole_and_long_ones_evenly() {
        assert!((0..=200).all(|k| is_kept(k, 200, 3)));
        for (steps, outputs, wanted) in [(100_000u64, 3, 250), (7_000, 100_000, 50), (3_000, 10_000, 100)] {
            let tenth = steps / 10;
            for part in 0..10 {
                let kept = (part * tenth..(part + 1) * tenth).filter(|k| is_kept(*k, steps, outputs)).count();
                assert!(kept.abs_diff(wanted / 10) <= 2, "{steps} {outputs}: {kept} in part {part}");
            }
        }
    }

    #[test]
    fn a_reader_finds_every_row_again() {
        let mut samples = Samples::default();
        (0..=5_000).for_each(|k| samples.add(k, 5_000, &[k as f64, -(k as f64)]));
        let mut read = samples.reader(5_000, 2);
        let found: Vec<u64> = (0..=5_000)
            .filter(|k| {
                read(*k).is_some_and(|row| {
                    assert_eq!(row, [*k as f64, -(*k as f64)]);
                    true
                })
            })
            .collect();
        assert!(found.len() > 200 && found.len() * 2 == samples.rows.len(), "{}", found.len());
    }
}
