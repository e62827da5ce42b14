//! Steps 1 and 2 of pre-step stabilisation for large loops: the coupled system of closed.rs without its exponential.
//!
//! ```text
//! y' = Ahat y + (I - D L)^-1 (S_u e + D e' + w)   with   z = y - D (L y + e)   is   z' = S_y z + C B (L y + e) + w
//! ```
//!
//! so each subsystem answers by itself to the coupled input L y + e. That input is found as a polynomial over the step by
//! interface Galerkin, as in `predictive`; the end is off by terms of h^6. Cost linear in the number of
//! subsystems for chains, rings, trees and stars.

use costep_core::{Coupling, Layout, Result, StepContext, SystemView};

use super::forcing::Forcing;
use super::maps::Maps;
use super::subsystem::SubsystemResponse;
use crate::shared::interface::Interface;
use crate::shared::models::singular_interface;
use crate::shared::packed::multiply_add;
use crate::shared::per_subsystem::{RAMP, row};
use crate::shared::seen_outputs::singular_loop;

/// Coefficients per signal: degree two.
pub(super) const WIDTH: usize = 3;

#[derive(Default)]
pub(super) struct SparseLoop {
    layout: Layout,
    is_ours: Vec<bool>,
    /// (I - M_u L) of the polynomials, and I - D L.
    polynomials: Interface,
    direct: Interface,
    /// z at the start, then y at the end.
    state: Vec<f64>,
    /// Coefficients of outputs and inputs.
    eta: Vec<f64>,
    c: Vec<f64>,
}

/// The subsystems, and what is read of all of them.
type Subsystems<'a> = (&'a [SubsystemResponse], &'a Maps);

impl SparseLoop {
    pub(super) fn new(system: &SystemView<'_>, is_ours: &[bool]) -> Self {
        let layout = system.layout;
        Self {
            layout: layout.clone(),
            is_ours: is_ours.to_vec(),
            polynomials: Interface::new(system, WIDTH),
            direct: Interface::new(system, 1),
            state: vec![0.0; layout.outputs()],
            eta: vec![0.0; WIDTH * layout.outputs()],
            c: vec![0.0; WIDTH * layout.inputs()],
        }
    }

    pub(super) fn update(&mut self, parts: &[SubsystemResponse], step: &StepContext) -> Result<()> {
        if !self.direct.factor(|i| &parts[i].d) {
            return Err(singular_loop());
        }
        let regular = self.polynomials.factor(|i| &parts[i].response.input_to_output);
        if regular { Ok(()) } else { Err(singular_interface(step)) }
    }

    /// The solution after a step h, from `start`.
    pub(super) fn advance(
        &mut self,
        (parts, maps): Subsystems<'_>,
        coupling: &Coupling,
        h: f64,
        (forcing, w): (&Forcing, Option<&[f64]>),
        (start, end): (&[f64], &mut [f64]),
    ) {
        self.take_forcing(h, forcing);
        self.take_start(maps, coupling, forcing, start);
        self.couple((parts, maps), coupling, w);
        for i in 0..self.layout.subsystems() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let (phi_a, forced, inputs) = maps.ending(i, ys.len());
            let (z, end) = (&self.state[ys.clone()], &mut end[ys.clone()]);
            end.fill(0.0);
            multiply_add(phi_a, z, end);
            multiply_add(inputs, &self.c[us.start * WIDTH..us.end * WIDTH], end);
            if let Some(w) = w {
                multiply_add(forced, &w[ys], end);
            }
            let through = maps.through(i).chunks_exact(us.len().max(1));
            for (end, d) in end.iter_mut().zip(through) {
                let through = d.iter().zip(us.clone()).filter(|(d, _)| **d != 0.0);
                *end += through.map(|(d, j)| d * forcing.end[j]).sum::<f64>();
            }
        }
        self.direct.solve(|i| &parts[i].d, end);
    }

    /// c = e as Legendre coefficients.
    fn take_forcing(&mut self, h: f64, forcing: &Forcing) {
        for (j, c) in self.c.chunks_exact_mut(WIDTH).enumerate() {
            let rise = h * forcing.slope[j];
            c[0] = forcing.value[j] + RAMP[0] * rise;
            c[1] = RAMP[1] * rise;
            c[2..].fill(0.0);
        }
    }

    /// z = y - D (L y + e).
    fn take_start(&mut self, maps: &Maps, coupling: &Coupling, forcing: &Forcing, y: &[f64]) {
        self.state.copy_from_slice(y);
        for i in (0..self.layout.subsystems()).filter(|i| !maps.through(*i).is_empty()) {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let input = |j: usize| {
                let coupled = if self.is_ours[j] { coupling.row(j, y) } else { 0.0 };
                coupled + forcing.start[j]
            };
            for (z, d) in self.state[ys].iter_mut().zip(maps.through(i).chunks_exact(us.len())) {
                let through = d.iter().zip(us.clone()).filter(|(d, _)| **d != 0.0);
                *z -= through.map(|(d, j)| d * input(j)).sum::<f64>();
            }
        }
    }

    /// c = e + L eta, with the outputs that these inputs cause.
    fn couple(&mut self, (parts, maps): Subsystems<'_>, coupling: &Coupling, w: Option<&[f64]>) {
        for (i, part) in parts.iter().enumerate() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let (m_x, m_b) = maps.coupling(i);
            let eta = &mut self.eta[ys.start * WIDTH..ys.end * WIDTH];
            for (a, eta) in eta.iter_mut().enumerate() {
                *eta = row(m_x, a, &self.state[ys.clone()]);
            }
            if let Some(w) = w.map(|w| &w[ys]).filter(|w| w.iter().any(|w| *w != 0.0)) {
                multiply_add(m_b, w, eta);
            }
            let known = &self.c[us.start * WIDTH..us.end * WIDTH];
            if known.iter().any(|c| *c != 0.0) {
                part.response.input_to_output.multiply_add(known, eta);
            }
        }
        self.polynomials.solve(|i| &parts[i].response.input_to_output, &mut self.eta);
        for (j, c) in self.c.chunks_exact_mut(WIDTH).enumerate().filter(|(j, _)| self.is_ours[*j]) {
            for (output, gain) in coupling.sources(j) {
                let eta = &self.eta[output * WIDTH..(output + 1) * WIDTH];
                c.iter_mut().zip(eta).for_each(|(c, eta)| *c += gain * eta);
            }
        }
    }
}
