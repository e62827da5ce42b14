//! External inputs as polynomials of the order of the inputs: projections, wherever they jump.
//!
//! A projection has the right moments, which is what moves states. But after a jump it ends beyond the signal, and outputs with direct feedthrough are
//! read there. Such inputs end where their signals do: the highest coefficient sees to it, and the moments below stay. From order 2 on: mean and first moment,
//! which move integrators and what they lead to, are more than one point of an output.

use costep_core::{External, StepContext, SystemView};

use crate::shared::legendre;

/// Order from which on a coefficient can be spared.
const LEAST_ORDER: usize = 2;

#[derive(Default)]
pub(super) struct ProjectedExternals {
    /// Whether an output follows an input at once.
    acts_at_once: Vec<bool>,
    /// Coefficients of one signal.
    projected: Vec<f64>,
}

impl ProjectedExternals {
    pub(super) fn new(system: &SystemView<'_>, width: usize) -> Self {
        let mut acts_at_once = vec![false; system.layout.inputs()];
        for (i, description) in system.descriptions.iter().enumerate() {
            let first = system.layout.input_range(i).start;
            description
                .feedthrough_lists()
                .flat_map(|list| list.iter())
                .for_each(|port| acts_at_once[first + port] = true);
        }
        Self { acts_at_once, projected: vec![0.0; width] }
    }

    /// Adds the coefficients of a signal at an input of this order.
    pub(super) fn add(
        &mut self,
        (input, signal): (usize, &External),
        step: &StepContext,
        order: usize,
        c: &mut [f64],
    ) {
        self.projected.fill(0.0);
        signal.each_node((step.t, step.t_next), |theta, weight, value| {
            legendre::project_node(theta, weight * value, &mut self.projected);
        });
        let jumps = || signal.next_jump(step.t).is_some_and(|jump| jump < step.t_next);
        if order >= LEAST_ORDER && self.acts_at_once[input] && jumps() {
            self.end_at(signal.value_before(step.t_next), order);
        }
        c.iter_mut().zip(&self.projected).for_each(|(c, projected)| *c += projected);
    }

    /// Moves the end of the polynomial of this order by its highest coefficient.
    fn end_at(&mut self, value: f64, order: usize) {
        let coefficients = &mut self.projected[..=order];
        let ends: f64 = coefficients.iter().enumerate().map(|(a, c)| c * legendre::polynomial(a, 1.0)).sum();
        coefficients[order] += (value - ends) / legendre::polynomial(order, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit step at a share of the interval: coefficients, mean and end.
    #[test]
    fn a_jump_keeps_its_moments_and_ends_where_it_does() {
        let mut externals = ProjectedExternals { acts_at_once: vec![true, false], projected: vec![0.0; 3] };
        let step = StepContext { k: 1, t: 1.0, t_next: 2.0, h: 1.0, h_before: 1.0, repetition: 0 };
        let jump = External::Step { value: 1.0, start: 1.4 };
        let mut coefficients = |input: usize| {
            let mut c = [0.0; 3];
            externals.add((input, &jump), &step, 2, &mut c);
            c
        };
        let (met, projected) = (coefficients(0), coefficients(1));
        let end = |c: [f64; 3]| (0..3).map(|a| c[a] * legendre::polynomial(a, 1.0)).sum::<f64>();
        assert!((end(met) - 1.0).abs() < 1e-12 && end(projected) > 1.05, "{met:?} {projected:?}");
        // Mean and first moment: of theta, the half and 1 / (2 sqrt(3)) in these polynomials.
        for c in [met, projected] {
            let moment = 0.5 * c[0] + c[1] / 12.0f64.sqrt();
            assert!((c[0] - 0.6).abs() < 1e-12 && (moment - 0.42).abs() < 1e-12, "{c:?}");
        }
    }
}
