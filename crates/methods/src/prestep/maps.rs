//! What a step reads of every subsystem, in the order in which it is read; and step 3, the input that takes a subsystem to the
//! predicted output [T (2.41)].

use super::subsystem::SubsystemResponse;
use crate::shared::packed::{Packed, multiply_add};
use crate::shared::per_subsystem::row;

/// The maps of all subsystems, one row per loop over them.
#[derive(Default)]
pub(super) struct Maps {
    /// D where there is any; else nothing.
    through: Packed,
    /// C, S_y and C B.
    locating: Packed,
    /// M_x and M_b.
    coupling: Packed,
    /// phi_A = e^(S_y h), the response to w, and that to the coefficients of the inputs.
    ending: Packed,
    /// P, P^+ and, for ramps, the response to their start.
    optimising: Packed,
}

impl Maps {
    /// Takes the maps of all parts. `sparse`: also those by which large loops are solved.
    pub(super) fn collect(&mut self, parts: &[SubsystemResponse], ramp: bool, sparse: bool) {
        let numbers = |maps: fn(&SubsystemResponse) -> usize| parts.iter().map(maps).sum();
        self.through.restart(parts.len(), numbers(|part| part.d.data().len()));
        let located =
            |part: &SubsystemResponse| part.c.data().len() + part.model.a.len() + part.model.b.len();
        self.locating.restart(parts.len(), numbers(located));
        self.coupling.restart(parts.len(), numbers(|part| 2 * part.response.state_to_output.data().len()));
        let ending =
            |part: &SubsystemResponse| 2 * part.model.a.len() + part.response.input_to_state.data().len();
        self.ending.restart(parts.len(), numbers(ending));
        self.optimising.restart(parts.len(), numbers(|part| 3 * part.gain.data().len()));
        for SubsystemResponse { model, response, c, d, held, gain, inverse } in parts {
            let has_through = d.data().iter().any(|d| *d != 0.0);
            self.through.push(&[if has_through { d.data() } else { &[] }]);
            self.locating.push(&[c.data(), &model.a, &model.b]);
            let start = if ramp { held.data() } else { &[] };
            self.optimising.push(&[gain.data(), inverse.data(), start]);
            let forced = response.forcing_to_state.data();
            if sparse {
                let (m_x, m_b) = (&response.state_to_output, &response.forcing_to_output);
                self.coupling.push(&[m_x.data(), m_b.data()]);
                self.ending.push(&[response.state_to_state.data(), forced, response.input_to_state.data()]);
            } else {
                self.ending.push(&[response.state_to_state.data(), forced]);
            }
        }
    }

    /// D of a subsystem, row by row; empty if it is zero.
    #[inline]
    pub(super) fn through(&self, i: usize) -> &[f64] {
        self.through.of(i)
    }

    /// M_x and M_b.
    #[inline]
    pub(super) fn coupling(&self, i: usize) -> (&[f64], &[f64]) {
        let maps = self.coupling.of(i);
        maps.split_at(maps.len() / 2)
    }

    /// phi_A, the response to w, and that to the coefficients of the inputs, for so many outputs.
    #[inline]
    pub(super) fn ending(&self, i: usize, outputs: usize) -> (&[f64], &[f64], &[f64]) {
        let (phi_a, rest) = self.ending.of(i).split_at(outputs * outputs);
        let (forced, inputs) = rest.split_at(outputs * outputs);
        (phi_a, forced, inputs)
    }

    /// z = y - D u_end, and w = z' - S_y z - C B u_end if x' is given.
    #[inline]
    pub(super) fn locate(
        &self,
        i: usize,
        (y, u_end): (&[f64], &[f64]),
        x_dot: Option<&[f64]>,
        (z, w): (&mut [f64], &mut [f64]),
    ) {
        z.copy_from_slice(y);
        let d = self.through.of(i);
        if !d.is_empty() {
            z.iter_mut().enumerate().for_each(|(k, z)| *z -= row(d, k, u_end));
        }
        let Some(x_dot) = x_dot else { return };
        let (c, rest) = self.locating.of(i).split_at(y.len() * x_dot.len());
        let (s_y, cb) = rest.split_at(y.len() * y.len());
        for (k, w) in w.iter_mut().enumerate() {
            *w = row(c, k, x_dot) - row(s_y, k, z) - row(cb, k, u_end);
        }
    }

    /// reference += P^+ (yhat - phi_A z - (response to w) - P u_ref), and to the start of a ramp.
    #[inline]
    pub(super) fn optimise(
        &self,
        i: usize,
        (z, w): (&[f64], &[f64]),
        y_ahead: &[f64],
        ramp_start: Option<&[f64]>,
        (reference, rest): (&mut [f64], &mut [f64]),
    ) {
        let size = z.len() * reference.len();
        let (gain, inverses) = self.optimising.of(i).split_at(size);
        let (inverse, held) = inverses.split_at(size);
        let (phi_a, forced, _) = self.ending(i, z.len());
        for (k, (rest, y_ahead)) in rest.iter_mut().zip(y_ahead).enumerate() {
            *rest = y_ahead - row(phi_a, k, z) - row(forced, k, w) - row(gain, k, reference);
            if let Some(u0) = ramp_start {
                *rest -= row(held, k, u0);
            }
        }
        multiply_add(inverse, rest, reference);
    }
}
