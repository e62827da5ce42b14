//! The coupled local models as one system, for the fits `l2` and `end`.
//!
//! ```text
//! u = L W (C x + beta) + (I + L W D) r,  W = (I - D L)^-1
//! x' = (A + B L W C) x + B (I + L W D) r + b + B L W beta
//! ```
//!
//! Dense: for comparison, and for systems of up to 400 states. Subsystems are ordered by name in here, so that round-off
//! does not depend on how they are numbered.

use costep_core::{Code, Error, Layout, LocalModel, Result, StepContext, SystemView};
use costep_linalg::{DirectLoop, Matrix};

use super::subsystem::SubsystemPredictor;
use crate::shared::response::{Response, ResponseWorkspace};
use crate::shared::seen_outputs::singular_loop;

/// Most states of a system.
const MOST_STATES: usize = 400;

#[derive(Default)]
pub(super) struct ClosedLoop {
    /// Subsystems by name.
    order: Vec<usize>,
    /// Places of the first state, input and output of each subsystem.
    places: Vec<BlockRow>,
    sizes: BlockRow,
    /// Inputs of the system in the order of the columns.
    inputs: Vec<usize>,
    /// Connections of the group: (input, output, gain).
    links: Vec<(usize, usize, f64)>,
    /// The same by columns and rows.
    direct: DirectLoop,
    model: LocalModel,
    response: Response,
    shop: ResponseWorkspace,
    /// W C, W D and then L W C, L W D.
    seen: Matrix,
    x: Vec<f64>,
    end: Vec<f64>,
    forcing: Vec<f64>,
    /// beta, then W beta; L W beta.
    beta: Vec<f64>,
    offset: Vec<f64>,
    known: Vec<f64>,
    c: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct BlockRow {
    state: usize,
    input: usize,
    output: usize,
}

impl ClosedLoop {
    pub(super) fn new(system: &SystemView<'_>) -> Self {
        let layout = system.layout;
        let mut order: Vec<_> = (0..layout.subsystems()).collect();
        order.sort_by(|a, b| system.descriptions[*a].name.cmp(&system.descriptions[*b].name));
        Self { order, links: system.coupling.links(system.inputs.iter()), ..Self::default() }
    }

    /// Takes room when the sizes of the models are known.
    fn take_room(&mut self, parts: &[SubsystemPredictor], layout: &Layout, width: usize) -> Result<()> {
        let mut at = BlockRow::default();
        self.places = vec![at; parts.len()];
        let (mut column_of, mut row_of) = (vec![0; layout.inputs()], vec![0; layout.outputs()]);
        self.inputs.clear();
        for i in self.order.iter().copied() {
            self.places[i] = at;
            for j in layout.input_range(i) {
                column_of[j] = self.inputs.len();
                self.inputs.push(j);
            }
            for (k, output) in layout.output_range(i).enumerate() {
                row_of[output] = at.output + k;
            }
            at.state += parts[i].x.len();
            at.input += layout.input_range(i).len();
            at.output += layout.output_range(i).len();
        }
        let (n, m, r) = (at.state, at.input, at.output);
        if n > MOST_STATES {
            let message = format!("the closed loop of this fit is dense; {n} states are too many for it");
            return Err(Error::new(Code::NeedsMissing, message).hint("use `fit=galerkin` or `fit=sharp`"));
        }
        self.sizes = at;
        let placed = |(j, output, gain): &(usize, usize, f64)| (column_of[*j], row_of[*output], *gain);
        self.direct = DirectLoop::new(r, self.links.iter().map(placed).collect());
        self.model = LocalModel::new(n, m, m);
        self.response = Response::new(n, m, m, width);
        self.seen = Matrix::zeros(r, n + m);
        (self.x, self.end, self.forcing) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        (self.beta, self.offset) = (vec![0.0; r], vec![0.0; m]);
        (self.known, self.c) = (vec![0.0; m * width], vec![0.0; m * width]);
        Ok(())
    }

    pub(super) fn update(
        &mut self,
        parts: &[SubsystemPredictor],
        layout: &Layout,
        (step, width): (&StepContext, usize),
    ) -> Result<()> {
        let states: usize = parts.iter().map(|part| part.x.len()).sum();
        if self.places.len() != parts.len() || self.sizes.state != states {
            self.take_room(parts, layout, width)?;
        }
        self.close_outputs(parts)?;
        self.close_states(parts);
        if self.response.compute(&self.model, step.h, &mut self.shop) {
            return Ok(());
        }
        Err(Error::new(Code::NotFinite, "the predicted coupled system is not finite over one step")
            .hint("try a smaller step, or `fit=galerkin`"))
    }

    /// seen = W (C, D).
    fn close_outputs(&mut self, parts: &[SubsystemPredictor]) -> Result<()> {
        let n = self.sizes.state;
        self.seen.fill(0.0);
        for (part, at) in parts.iter().zip(&self.places) {
            let LocalModel { states, inputs, outputs, .. } = part.model;
            for i in 0..outputs {
                for k in 0..states {
                    self.seen[(at.output + i, at.state + k)] = part.model.c[i * states + k];
                }
                for q in 0..inputs {
                    self.seen[(at.output + i, n + at.input + q)] = part.model.d[i * inputs + q];
                }
            }
        }
        if !self.direct.close(|row, column| self.seen[(row, n + column)]) {
            return Err(singular_loop());
        }
        self.direct.solve_columns(&mut self.seen);
        Ok(())
    }

    /// The model x -> u, with r as input.
    fn close_states(&mut self, parts: &[SubsystemPredictor]) {
        let (n, m) = (self.sizes.state, self.sizes.input);
        let LocalModel { a, b, c, d, .. } = &mut self.model;
        for values in [&mut *a, b, c, d] {
            values.fill(0.0);
        }
        (0..m).for_each(|q| d[q * m + q] = 1.0);
        for (to, row, gain) in self.direct.links() {
            let from = self.seen.row(*row);
            c[to * n..(to + 1) * n].iter_mut().zip(&from[..n]).for_each(|(c, from)| *c += gain * from);
            d[to * m..(to + 1) * m].iter_mut().zip(&from[n..]).for_each(|(d, from)| *d += gain * from);
        }
        for (part, at) in parts.iter().zip(&self.places) {
            let LocalModel { states, inputs, .. } = part.model;
            for i in 0..states {
                let row = at.state + i;
                for k in 0..states {
                    a[row * n + at.state + k] += part.model.a[i * states + k];
                }
                for q in 0..inputs {
                    let gain = part.model.b[i * inputs + q];
                    let from = at.input + q;
                    (0..n).for_each(|k| a[row * n + k] += gain * c[from * n + k]);
                    (0..m).for_each(|k| b[row * m + k] += gain * d[from * m + k]);
                }
            }
        }
    }

    /// c of all inputs from the known r_hat in it, and the end states.
    pub(super) fn predict(&mut self, parts: &[SubsystemPredictor], c: &mut [f64]) {
        let width = c.len() / self.inputs.len().max(1);
        for (part, at) in parts.iter().zip(&self.places) {
            self.x[at.state..at.state + part.x.len()].copy_from_slice(&part.x);
            self.beta[at.output..at.output + part.beta.len()].copy_from_slice(&part.beta);
        }
        for (column, j) in self.inputs.iter().enumerate() {
            self.known[column * width..(column + 1) * width].copy_from_slice(&c[j * width..(j + 1) * width]);
        }
        self.direct.solve(&mut self.beta);
        self.offset.fill(0.0);
        for (column, row, gain) in self.direct.links() {
            self.offset[*column] += gain * self.beta[*row];
        }
        for (part, at) in parts.iter().zip(&self.places) {
            let inputs = part.model.inputs;
            for i in 0..part.x.len() {
                let through: f64 =
                    (0..inputs).map(|q| part.model.b[i * inputs + q] * self.offset[at.input + q]).sum();
                self.forcing[at.state + i] = part.forcing[i] + through;
            }
        }
        self.c.fill(0.0);
        self.response.state_to_output.multiply_add(&self.x, &mut self.c);
        self.response.forcing_to_output.multiply_add(&self.forcing, &mut self.c);
        self.response.input_to_output.multiply_add(&self.known, &mut self.c);
        self.end.fill(0.0);
        self.response.state_to_state.multiply_add(&self.x, &mut self.end);
        self.response.forcing_to_state.multiply_add(&self.forcing, &mut self.end);
        self.response.input_to_state.multiply_add(&self.known, &mut self.end);
        for (column, j) in self.inputs.iter().enumerate() {
            let from = &self.c[column * width..(column + 1) * width];
            c[j * width..(j + 1) * width].copy_from_slice(from);
            c[j * width] += self.offset[column];
        }
    }

    /// The predicted end states from those of a subsystem on.
    pub(super) fn end_state(&self, i: usize) -> &[f64] {
        &self.end[self.places[i].state..]
    }
}
