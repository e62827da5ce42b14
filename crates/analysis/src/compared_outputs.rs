//! Which outputs of a run errors are measured of.

use std::borrow::Cow;

use costep_core::Description;

use crate::amplitude_windows::Amplitudes;

/// Outputs of real numbers, or all of them if there is none. Integers often count steps, and Booleans belong to the signals that they
/// switch: one that flips a step later says nothing that these do not say.
#[derive(Clone, Debug)]
pub(crate) struct ComparedOutputs {
    /// How many outputs there are, and which of them are compared.
    all: usize,
    pub(crate) chosen: Vec<usize>,
    /// How many of each subsystem are compared.
    pub(crate) per_subsystem: Vec<usize>,
    /// Their typical sizes.
    pub(crate) nominal: Vec<f64>,
}

impl ComparedOutputs {
    pub(crate) fn of(descriptions: &[Description]) -> Self {
        let ports: Vec<_> = descriptions.iter().flat_map(|description| &description.outputs).collect();
        let has_real = ports.iter().any(|port| port.is_real());
        let is_compared = |is_real: bool| is_real || !has_real;
        let count = |description: &Description| {
            description.outputs.iter().filter(|port| is_compared(port.is_real())).count()
        };
        let chosen: Vec<usize> = (0..ports.len()).filter(|i| is_compared(ports[*i].is_real())).collect();
        Self {
            all: ports.len(),
            nominal: chosen.iter().map(|i| ports[*i].nominal.unwrap_or(1.0)).collect(),
            per_subsystem: descriptions.iter().map(count).collect(),
            chosen,
        }
    }

    /// Rows of all outputs without those that are not compared.
    pub(crate) fn rows<'a>(&self, rows: &'a [f64]) -> Cow<'a, [f64]> {
        if self.chosen.len() == self.all {
            return rows.into();
        }
        let chosen = |row: &'a [f64]| self.chosen.iter().map(move |i| row[*i]);
        rows.chunks_exact(self.all).flat_map(chosen).collect()
    }

    /// The same of amplitudes.
    pub(crate) fn amplitudes(&self, all: &Amplitudes) -> Amplitudes {
        Amplitudes(self.chosen.iter().map(|i| all.0[*i]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use costep_core::{Port, PortKind};

    fn part(kinds: &[PortKind]) -> Description {
        let port = |kind: &PortKind| Port { kind: *kind, ..Port::default() };
        Description { outputs: kinds.iter().map(port).collect(), ..Description::default() }
    }

    #[test]
    fn only_real_numbers_are_compared_if_there_are_any() {
        let parts =
            [part(&[PortKind::Boolean, PortKind::Real]), part(&[PortKind::Integer]), part(&[PortKind::Real])];
        let compared = ComparedOutputs::of(&parts);
        assert_eq!((&compared.chosen[..], &compared.per_subsystem[..]), (&[1, 3][..], &[1, 0, 1][..]));
        assert_eq!(*compared.rows(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), [1.0, 3.0, 5.0, 7.0]);
        let switches = ComparedOutputs::of(&parts[1..2]);
        assert_eq!(switches.chosen, [0]);
    }
}
