//! The response of a subsystem that solves its equations by explicit Euler steps.

use costep_core::LocalModel;

use super::{Response, ResponseWorkspace, Work};
use crate::shared::legendre::{factorial, polynomial};

impl Response {
    /// Computes all maps for a step h that is divided into explicit Euler steps. False if they are not finite.
    #[must_use]
    pub(crate) fn compute_euler(
        &mut self,
        model: &LocalModel,
        h: f64,
        steps: usize,
        shop: &mut ResponseWorkspace,
    ) -> bool {
        let work = shop.work(self.chain(model), steps);
        work.fill_euler_step(model, h, steps);
        if !work.raise(steps) {
            return false;
        }
        self.state_maps(model, work);
        self.output_maps(model, work);
        let width = self.width.min(steps);
        if !work.fill_gram(width, steps) {
            return false;
        }
        self.project(width, work);
        self.add_feedthrough(model, width);
        true
    }

    /// From scalar products with the Legendre polynomials to coefficients. So many points tell no more than so many
    /// coefficients; the others are zero.
    fn project(&mut self, known: usize, work: &mut Work) {
        let Self { state_to_output, input_to_output, forcing_to_output, width, .. } = self;
        for map in [state_to_output, input_to_output, forcing_to_output] {
            for i in 0..map.rows() / *width {
                for column in 0..map.columns() {
                    for a in 0..*width {
                        work.column[a] = if a < known { map[(i * *width + a, column)] } else { 0.0 };
                    }
                    work.gram.solve(&mut work.column);
                    (0..*width).for_each(|a| map[(i * *width + a, column)] = work.column[a]);
                }
            }
        }
    }
}

impl Work {
    /// exponential = the augmented system over one Euler step of length h / steps.
    fn fill_euler_step(&mut self, model: &LocalModel, h: f64, steps: usize) {
        self.fill_generator(model, h);
        let Self { chain, generator, exponential, .. } = self;
        let delta = 1.0 / steps as f64;
        let taylor = |order: usize| delta.powi(order as i32) / factorial(order);
        exponential.set_identity();
        // The input goes on along its polynomial.
        for j in 0..chain.width {
            for i in j + 1..chain.width {
                for q in 0..chain.inputs {
                    exponential[(chain.input(j) + q, chain.input(i) + q)] = taylor(i - j);
                }
            }
        }
        // The states take one step along x' at its start.
        for row in chain.state()..chain.state() + chain.states {
            for column in 0..chain.state() + chain.states {
                exponential[(row, column)] += delta * generator[(row, column)];
            }
        }
        // The sums take in the outputs at the start of the step, then all of them move away from the end by one step.
        for l in 0..chain.width {
            for p in 0..chain.outputs {
                let row = chain.moment(l) + p;
                for i in 0..l {
                    exponential[(row, chain.moment(i) + p)] = taylor(l - i);
                }
                for k in 0..chain.states {
                    let output = generator[(chain.moment(0) + p, chain.state() + k)];
                    exponential[(row, chain.state() + k)] = taylor(l) * delta * output;
                }
            }
        }
    }

    /// exponential = exponential^power, by squaring. False if it is not finite.
    fn raise(&mut self, power: usize) -> bool {
        let Self { generator: base, exponential: result, power: work, .. } = self;
        base.copy_from(result);
        // The highest bit is the base itself.
        for bit in (0..power.ilog2()).rev() {
            work.set_product(result, result);
            std::mem::swap(work, result);
            if power >> bit & 1 == 1 {
                work.set_product(result, base);
                std::mem::swap(work, result);
            }
        }
        result.is_finite()
    }

    fn fill_gram(&mut self, known: usize, steps: usize) -> bool {
        if steps == self.gram_steps {
            return true;
        }
        let gram = self.gram.matrix_mut();
        gram.set_identity();
        for a in 0..known {
            for b in 0..known {
                let sum: f64 = (0..steps)
                    .map(|j| j as f64 / steps as f64)
                    .map(|theta| polynomial(a, theta) * polynomial(b, theta))
                    .sum();
                gram[(a, b)] = sum / steps as f64;
            }
        }
        self.gram_steps = if self.gram.factor() { steps } else { 0 };
        self.gram_steps == steps
    }
}
