//! Linear subsystems whose states are read: eta = M_x x is all that a step needs of them.

use crate::shared::packed::Packed;
use crate::shared::response::Response;

#[derive(Default)]
pub(super) struct LinearResponses {
    count: usize,
    maps: Packed,
}

impl LinearResponses {
    /// Takes the maps of the responses there are.
    pub(super) fn collect<'a>(&mut self, responses: impl Iterator<Item = Option<&'a Response>> + Clone) {
        let numbers = responses.clone().flatten().map(|response| response.state_to_output.data().len());
        self.count = responses.clone().count();
        self.maps.restart(self.count, numbers.sum());
        for response in responses {
            let map = response.map(|response| response.state_to_output.data());
            self.maps.push(map.as_slice());
        }
    }

    /// M_x of a plain subsystem.
    #[inline]
    pub(super) fn map(&self, i: usize) -> Option<&[f64]> {
        (i < self.count).then(|| self.maps.of(i)).filter(|map| !map.is_empty())
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
    fn only_linear_parts_have_a_map() {
        let mut response = Response::new(1, 1, 1, 2);
        response.state_to_output.fill(3.0);
        let mut linear_responses = LinearResponses::default();
        assert_eq!(linear_responses.map(0), None);
        linear_responses.collect([Some(&response), None].into_iter());
        assert_eq!(
            (linear_responses.map(0), linear_responses.map(1), linear_responses.map(2)),
            (Some(&[3.0, 3.0][..]), None, None)
        );
    }
}
