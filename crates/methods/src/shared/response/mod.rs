//! Exact response of a local model over one macro step to inputs that are polynomials.
//!
//! x' = A x + B u + b, y = C x + D u, u(theta) = sum_a c_a Q_a(theta), theta = t / h in [0, 1], Q_a orthonormal
//! Legendre polynomials. One exponential gives everything:
//!
//! ```text
//! w_j' = w_(j+1)                 w_0 = u: chain of the derivatives of the input
//! x'   = h (A x + B w_0 + f)     f = b, constant
//! m_0' = C x, m_(l+1)' = m_l     m_l(1) = integral of (1 - theta)^l / l! C x
//! ```
//!
//! A subsystem that solves its equations by explicit Euler steps has another response: that of its N steps, which is
//! the N-th power of the matrix of one step. The input then counts at the starts of the steps, and so does the
//! projection of the outputs: a sum over these points in place of the integral. For polynomials through all points
//! this is exactly what the inner solver would do with the coupled system as a whole.
//!
//! With more inputs than states the chain carries the states' forcing instead (I in place of B), with more outputs
//! than states the moments of the states (I in place of C).

mod euler;

use costep_core::{LocalModel, inner_steps};
use costep_linalg::{Exponential, Lu, Matrix};

use crate::shared::legendre::{coefficient, factorial, mirrored_coefficient};
use crate::shared::per_subsystem::RAMP;

/// The response maps of one subsystem. Coefficient a of signal j is at `j * width + a`, width = p + 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Response {
    /// E = e^(A h): x(h) from x(0).
    pub(crate) state_to_state: Matrix,
    /// G: x(h) from the coefficients of the inputs.
    pub(crate) input_to_state: Matrix,
    /// G_b: x(h) from the constant forcing b.
    pub(crate) forcing_to_state: Matrix,
    /// M_x: coefficients of the outputs from x(0).
    pub(crate) state_to_output: Matrix,
    /// M_u: coefficients of the outputs from the coefficients of the inputs.
    pub(crate) input_to_output: Matrix,
    /// M_b: coefficients of the outputs from b.
    pub(crate) forcing_to_output: Matrix,
    width: usize,
}

/// Room for the computation of responses, shared by subsystems of the same size: among the maps of thousands of
/// subsystems it would only push these out of the caches.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseWorkspace {
    works: Vec<Work>,
}

/// Beyond so many Euler steps in a macro step they are as good as continuous, and not worth their time.
const MOST_EULER_STEPS: f64 = 1e5;

/// More rooms of one size are not kept.
const MOST_WORKS: usize = 8;

impl ResponseWorkspace {
    /// Room for a chain of this size and so many Euler steps; 0 = continuous.
    fn work(&mut self, chain: Chain, steps: usize) -> &mut Work {
        let of_size = |work: &Work| work.chain == chain;
        let exact = |work: &Work| of_size(work) && work.gram_steps == steps;
        let place = self.works.iter().position(exact).or_else(|| {
            let full = self.works.iter().filter(|work| of_size(work)).count() >= MOST_WORKS;
            if full { self.works.iter().position(of_size) } else { None }
        });
        let place = place.unwrap_or_else(|| {
            self.works.push(Work::new(chain));
            self.works.len() - 1
        });
        &mut self.works[place]
    }
}

/// Room for the exponential and for intermediate products.
#[derive(Clone, Debug, Default)]
struct Work {
    chain: Chain,
    generator: Matrix,
    exponential: Matrix,
    method: Exponential,
    /// Scalar products of the Legendre polynomials over the starts of so many inner steps.
    gram: Lu,
    gram_steps: usize,
    column: Vec<f64>,
    /// Room for powers.
    power: Matrix,
    /// Blocks in terms of chain inputs and chain outputs.
    state_block: Matrix,
    moment_block: Matrix,
}

/// Sizes of the augmented system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Chain {
    states: usize,
    /// Chain inputs: inputs through B, or states directly.
    inputs: usize,
    through_b: bool,
    /// Chain outputs: outputs through C, or states directly.
    outputs: usize,
    through_c: bool,
    width: usize,
}

impl Chain {
    fn new(n: usize, m: usize, r: usize, width: usize) -> Self {
        let (through_b, through_c) = (m < n, r < n);
        Self {
            states: n,
            inputs: if through_b { m } else { n },
            through_b,
            outputs: if through_c { r } else { n },
            through_c,
            width,
        }
    }

    /// Where w_j starts.
    fn input(&self, j: usize) -> usize {
        j * self.inputs
    }

    /// Where the forcing starts; if the chain carries states, w_0 is the forcing.
    fn forcing(&self) -> usize {
        if self.through_b { self.width * self.inputs } else { 0 }
    }

    fn state(&self) -> usize {
        self.width * self.inputs + if self.through_b { self.states } else { 0 }
    }

    /// Where m_l starts.
    fn moment(&self, l: usize) -> usize {
        self.state() + self.states + l * self.outputs
    }

    fn size(&self) -> usize {
        self.moment(self.width)
    }
}

impl Response {
    /// Room for a model of this size and inputs of degree `width` - 1.
    pub(crate) fn new(states: usize, inputs: usize, outputs: usize, width: usize) -> Self {
        let (n, m, r) = (states, inputs * width, outputs * width);
        Self {
            state_to_state: Matrix::zeros(n, n),
            input_to_state: Matrix::zeros(n, m),
            forcing_to_state: Matrix::zeros(n, n),
            state_to_output: Matrix::zeros(r, n),
            input_to_output: Matrix::zeros(r, m),
            forcing_to_output: Matrix::zeros(r, n),
            width,
        }
    }

    /// Coefficients per signal.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Response of state `row` to a ramp of slope 1 in an input over a step h.
    pub(crate) fn to_ramp(&self, row: usize, input: usize, h: f64) -> f64 {
        let at = self.width * input;
        h * (RAMP[0] * self.input_to_state[(row, at)] + RAMP[1] * self.input_to_state[(row, at + 1)])
    }

    /// Computes all maps for a step h. False if they are not finite.
    #[must_use]
    pub(crate) fn compute(&mut self, model: &LocalModel, h: f64, shop: &mut ResponseWorkspace) -> bool {
        let work = shop.work(self.chain(model), 0);
        work.fill_generator(model, h);
        if !work.method.compute(&work.generator, &mut work.exponential) {
            return false;
        }
        self.state_maps(model, work);
        self.output_maps(model, work);
        self.add_feedthrough(model, self.width);
        true
    }

    /// Computes all maps for a step h of a subsystem that solves its equations by explicit Euler steps of this length, or by
    /// another solver if it is zero. False if they are not finite.
    #[must_use]
    pub(crate) fn compute_as_solved(
        &mut self,
        model: &LocalModel,
        h: f64,
        euler_step: f64,
        shop: &mut ResponseWorkspace,
    ) -> bool {
        match euler_step * MOST_EULER_STEPS > h {
            true => self.compute_euler(model, h, inner_steps(h, euler_step), shop),
            false => self.compute(model, h, shop),
        }
    }

    /// Whether there is room for a model of this size and inputs of degree `width` - 1.
    pub(crate) fn is_of(&self, (states, inputs, outputs): (usize, usize, usize), width: usize) -> bool {
        let Self { input_to_state, state_to_output, .. } = self;
        self.width == width
            && (input_to_state.rows(), input_to_state.columns()) == (states, inputs * width)
            && state_to_output.rows() == outputs * width
    }

    fn chain(&self, model: &LocalModel) -> Chain {
        Chain::new(model.states, model.inputs, model.outputs, self.width)
    }

    fn state_maps(&mut self, model: &LocalModel, work: &mut Work) {
        let (chain, n) = (work.chain, model.states);
        let exponential = &work.exponential;
        for i in 0..n {
            for k in 0..n {
                self.state_to_state[(i, k)] = exponential[(chain.state() + i, chain.state() + k)];
                self.forcing_to_state[(i, k)] = exponential[(chain.state() + i, chain.forcing() + k)];
            }
        }
        for b in 0..self.width {
            // Response to Q_b: w_j(0) = j! times the coefficient of theta^j.
            work.state_block.fill(0.0);
            for j in 0..=b {
                let weight = coefficient(b, j) * factorial(j);
                for i in 0..n {
                    for q in 0..chain.inputs {
                        work.state_block[(i, q)] +=
                            weight * work.exponential[(chain.state() + i, chain.input(j) + q)];
                    }
                }
            }
            for i in 0..n {
                for q in 0..model.inputs {
                    self.input_to_state[(i, q * self.width + b)] =
                        from_chain_inputs(chain, model, work.state_block.row(i), q);
                }
            }
        }
    }

    fn output_maps(&mut self, model: &LocalModel, work: &mut Work) {
        let (chain, width) = (work.chain, self.width);
        for a in 0..width {
            work.moments(a, chain.state(), model.states, |_| 1.0, 1);
            self.store_output_block((model, work), a, model.states, Target::State);
            work.moments(a, chain.forcing(), model.states, |_| 1.0, 1);
            self.store_output_block((model, work), a, model.states, Target::Forcing);
            for b in 0..width {
                work.moments(a, 0, chain.inputs, |j| coefficient(b, j) * factorial(j), b + 1);
                self.store_output_block((model, work), a, model.inputs, Target::Input(b));
            }
        }
    }

    /// M_u += D for the coefficients below `known`.
    fn add_feedthrough(&mut self, model: &LocalModel, known: usize) {
        let width = self.width;
        for i in 0..model.outputs {
            for q in 0..model.inputs {
                for a in 0..known {
                    self.input_to_output[(i * width + a, q * width + a)] += model.d[i * model.inputs + q];
                }
            }
        }
    }

    /// Writes `moment_block` into the map it belongs to, through C and B where the chain left them out.
    fn store_output_block(
        &mut self,
        (model, work): (&LocalModel, &Work),
        a: usize,
        columns: usize,
        target: Target,
    ) {
        let (chain, width) = (work.chain, self.width);
        for i in 0..model.outputs {
            for q in 0..columns {
                let entry = |p: usize| match target {
                    Target::Input(_) => from_chain_inputs(chain, model, work.moment_block.row(p), q),
                    _ => work.moment_block[(p, q)],
                };
                let value = if chain.through_c {
                    entry(i)
                } else {
                    (0..chain.outputs).map(|p| model.c[i * model.states + p] * entry(p)).sum()
                };
                match target {
                    Target::State => self.state_to_output[(i * width + a, q)] = value,
                    Target::Forcing => self.forcing_to_output[(i * width + a, q)] = value,
                    Target::Input(b) => self.input_to_output[(i * width + a, q * width + b)] = value,
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Target {
    State,
    Forcing,
    Input(usize),
}

/// Entry of input q in a row that is in terms of chain inputs.
fn from_chain_inputs(chain: Chain, model: &LocalModel, row: &[f64], q: usize) -> f64 {
    if chain.through_b {
        row[q]
    } else {
        (0..chain.inputs).map(|k| row[k] * model.b[k * model.inputs + q]).sum()
    }
}

impl Work {
    fn new(chain: Chain) -> Self {
        let (n, size) = (chain.states, chain.size());
        let square = || Matrix::zeros(size, size);
        Self {
            chain,
            generator: square(),
            exponential: square(),
            method: Exponential::new(size),
            gram: Lu::new(chain.width),
            gram_steps: 0,
            column: vec![0.0; chain.width],
            power: square(),
            state_block: Matrix::zeros(n, chain.inputs),
            moment_block: Matrix::zeros(chain.outputs, chain.inputs.max(n)),
        }
    }

    /// moment_block = integral of Q_a times the chain outputs, in terms of `columns` columns from `start` on,
    /// summed over `terms` blocks of them with weights.
    fn moments(
        &mut self,
        a: usize,
        start: usize,
        columns: usize,
        weight: impl Fn(usize) -> f64,
        terms: usize,
    ) {
        let Work { chain, exponential, moment_block, .. } = self;
        moment_block.fill(0.0);
        for l in 0..=a {
            let outer = mirrored_coefficient(a, l) * factorial(l);
            for j in 0..terms {
                let factor = outer * weight(j);
                for p in 0..chain.outputs {
                    for q in 0..columns {
                        moment_block[(p, q)] +=
                            factor * exponential[(chain.moment(l) + p, start + j * chain.inputs + q)];
                    }
                }
            }
        }
    }

    fn fill_generator(&mut self, model: &LocalModel, h: f64) {
        let Self { chain, generator, .. } = self;
        let (n, m) = (model.states, model.inputs);
        generator.fill(0.0);
        for j in 1..chain.width {
            for q in 0..chain.inputs {
                generator[(chain.input(j - 1) + q, chain.input(j) + q)] = 1.0;
            }
        }
        for i in 0..n {
            let row = chain.state() + i;
            for k in 0..n {
                generator[(row, chain.state() + k)] = h * model.a[i * n + k];
            }
            generator[(row, chain.forcing() + i)] = h;
            if chain.through_b {
                for q in 0..m {
                    generator[(row, q)] = h * model.b[i * m + q];
                }
            }
        }
        for p in 0..chain.outputs {
            for k in 0..n {
                let through_c =
                    if chain.through_c { model.c[p * n + k] } else { f64::from(u8::from(p == k)) };
                generator[(chain.moment(0) + p, chain.state() + k)] = through_c;
            }
            for l in 1..chain.width {
                generator[(chain.moment(l) + p, chain.moment(l - 1) + p)] = 1.0;
            }
        }
    }
}

#[cfg(test)]
mod tests;
