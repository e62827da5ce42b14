//! Maps of many subsystems in one row.
//!
//! With thousands of subsystems the time goes into fetching what is known of each. So what a loop over all of them reads stands in one
//! row, in the order in which it is read, and what equals one of the last few is not kept twice: equal parts share it.

/// So many different records are compared with.
const RECENT: usize = 8;

/// One record of numbers per subsystem.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    /// Where the record of each subsystem starts and ends.
    places: Vec<(u32, u32)>,
    values: Vec<f64>,
    recent: [(usize, usize); RECENT],
}

impl Packed {
    /// Forgets all records, with room for so many with so many numbers.
    pub(crate) fn restart(&mut self, records: usize, numbers: usize) {
        self.places.clear();
        self.values.clear();
        self.recent = [(0, 0); RECENT];
        self.places.reserve(records);
        self.values.reserve(numbers);
    }

    /// The record of the next subsystem: matrices one after the other, or none.
    pub(crate) fn push(&mut self, matrices: &[&[f64]]) {
        let start = self.values.len();
        matrices.iter().for_each(|matrix| self.values.extend_from_slice(matrix));
        let end = self.values.len();
        if start == end {
            self.places.push((0, 0));
            return;
        }
        let same = |(from, to): &(usize, usize)| self.values[*from..*to] == self.values[start..end];
        match self.recent.iter().position(same) {
            Some(at) => {
                self.recent[..=at].rotate_right(1);
                self.values.truncate(start);
            }
            None => {
                self.recent.rotate_right(1);
                self.recent[0] = (start, end);
            }
        }
        self.places.push((self.recent[0].0 as u32, self.recent[0].1 as u32));
    }

    /// The record of a subsystem; empty if it has none.
    #[inline]
    pub(crate) fn of(&self, i: usize) -> &[f64] {
        let (start, end) = self.places[i];
        &self.values[start as usize..end as usize]
    }
}

/// result += map x.
#[inline]
pub(crate) fn multiply_add(map: &[f64], x: &[f64], result: &mut [f64]) {
    for (result, row) in result.iter_mut().zip(map.chunks_exact(x.len().max(1))) {
        *result += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_records_are_kept_once_and_others_are_found() {
        let mut packed = Packed::default();
        for _ in 0..2 {
            packed.restart(5, 8);
            packed.push(&[&[1.0], &[1.0, 2.0]]);
            packed.push(&[&[2.0, 2.0]]);
            packed.push(&[]);
            packed.push(&[&[1.0, 1.0], &[2.0]]);
            packed.push(&[&[2.0, 2.0]]);
            assert_eq!(packed.values.len(), 5);
            assert_eq!((packed.of(0), packed.of(3)), (&[1.0, 1.0, 2.0][..], &[1.0, 1.0, 2.0][..]));
            assert_eq!(
                (packed.of(1), packed.of(4), packed.of(2)),
                (&[2.0, 2.0][..], &[2.0, 2.0][..], &[][..])
            );
        }
    }
}
