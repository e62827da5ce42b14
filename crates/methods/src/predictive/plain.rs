//! Linear subsystems whose states are read: eta = M_x x is all that a step needs of them.
//!
//! With thousands of subsystems the time goes into fetching what is known of each. The maps M_x stand in one row, in the
//! order of the steps, and one that equals one of the last few is not kept twice: equal parts share it.

use crate::shared::response::Response;

/// So many different maps are compared with.
const RECENT: usize = 8;

#[derive(Default)]
pub(super) struct PlainParts {
    /// Where the map of each subsystem starts and ends; empty for one that is not plain.
    places: Vec<(u32, u32)>,
    maps: Vec<f64>,
}

impl PlainParts {
    /// Takes the maps of the responses there are.
    pub(super) fn collect<'a>(&mut self, responses: impl Iterator<Item = Option<&'a Response>>) {
        self.places.clear();
        self.maps.clear();
        let mut recent = [(0, 0); RECENT];
        for response in responses {
            let Some(response) = response else {
                self.places.push((0, 0));
                continue;
            };
            let map = response.state_to_output.data();
            let same = |(start, end): &(usize, usize)| self.maps[*start..*end] == *map;
            match recent.iter().position(same) {
                Some(at) => recent[..=at].rotate_right(1),
                None => {
                    recent.rotate_right(1);
                    recent[0] = (self.maps.len(), self.maps.len() + map.len());
                    self.maps.extend(map);
                }
            }
            self.places.push((recent[0].0 as u32, recent[0].1 as u32));
        }
    }

    /// M_x of a plain subsystem.
    #[inline]
    pub(super) fn map(&self, i: usize) -> Option<&[f64]> {
        let (start, end) = *self.places.get(i)?;
        (start < end).then(|| &self.maps[start as usize..end as usize])
    }
}

/// eta = M_x x.
#[inline]
pub(super) fn respond(map: &[f64], x: &[f64], eta: &mut [f64]) {
    for (eta, row) in eta.iter_mut().zip(map.chunks_exact(x.len())) {
        *eta = row.iter().zip(x).map(|(m, x)| m * x).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_maps_are_kept_once_and_others_are_found() {
        let response = |value: f64| {
            let mut response = Response::new(1, 1, 1, 2);
            response.state_to_output.fill(value);
            response
        };
        let (a, b) = (response(1.0), response(2.0));
        let mut plain = PlainParts::default();
        plain.collect([Some(&a), Some(&b), None, Some(&a), Some(&b)].into_iter());
        assert_eq!(plain.maps.len(), 4);
        assert_eq!(plain.map(3), Some(&[1.0, 1.0][..]));
        assert_eq!(plain.map(4), Some(&[2.0, 2.0][..]));
        assert_eq!((plain.map(2), plain.map(5)), (None, None));
    }
}
