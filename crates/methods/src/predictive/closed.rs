//! The coupled local models as one system, for the fits `l2` and `end`.
//!
//! ```text
//! u = L W (C x + beta) + (I + L W D) r,  W = (I - D L)^-1
//! x' = (A + B L W C) x + B (I + L W D) r + b + B L W beta
//! ```
//!
//! This is [`Coupled`] with E = I, and constants. Dense: for comparison, and for systems of up to 400 states. Subsystems are ordered by name in here, so that round-off
//! does not depend on how they are numbered.

use costep_core::{Code, Error, Layout, LocalModel, Result, StepContext, SystemView};
use costep_linalg::{ClosedLoop as Coupled, Matrix, StackPlace};

use super::subsystem::SubsystemPredictor;
use crate::shared::response::{Response, ResponseWorkspace};
use crate::shared::seen_outputs::singular_loop;

/// Most states of a system.
const MOST_STATES: usize = 400;

#[derive(Default)]
pub(super) struct ClosedLoop {
    /// Subsystems by name.
    order: Vec<usize>,
    /// Places of the first state, input and output of each subsystem, and its number of states.
    places: Vec<StackPlace>,
    states: Vec<usize>,
    /// Inputs of the system in the order of the columns.
    inputs: Vec<usize>,
    /// Connections of the group: (input, output, gain).
    links: Vec<(usize, usize, f64)>,
    coupled: Coupled,
    model: LocalModel,
    response: Response,
    shop: ResponseWorkspace,
    x: Vec<f64>,
    end: Vec<f64>,
    forcing: Vec<f64>,
    /// beta, then W beta; L W beta.
    beta: Vec<f64>,
    offset: Vec<f64>,
    known: Vec<f64>,
    c: Vec<f64>,
}

impl ClosedLoop {
    pub(super) fn new(system: &SystemView<'_>) -> Self {
        let layout = system.layout;
        let mut order: Vec<_> = (0..layout.subsystems()).collect();
        order.sort_by(|a, b| system.descriptions[*a].name.cmp(&system.descriptions[*b].name));
        Self { order, links: system.coupling.links(system.inputs.iter()), ..Self::default() }
    }

    /// Takes room where that for models of such sizes is not taken yet.
    pub(super) fn take_room(
        &mut self,
        parts: &[SubsystemPredictor],
        layout: &Layout,
        width: usize,
    ) -> Result<()> {
        if parts.iter().map(|part| part.x.len()).eq(self.states.iter().copied()) {
            return Ok(());
        }
        let (mut column_of, mut row_of) = (vec![0; layout.inputs()], vec![0; layout.outputs()]);
        self.inputs = self.order.iter().flat_map(|i| layout.input_range(*i)).collect();
        self.inputs.iter().enumerate().for_each(|(column, j)| column_of[*j] = column);
        let outputs = self.order.iter().flat_map(|i| layout.output_range(*i));
        outputs.enumerate().for_each(|(row, output)| row_of[output] = row);
        let (m, r) = (layout.inputs(), layout.outputs());
        let n = parts.iter().map(|part| part.x.len()).sum();
        if n > MOST_STATES {
            let message = format!("the closed loop of this fit is dense; {n} states are too many for it");
            return Err(Error::new(Code::NeedsMissing, message).hint("use `fit=galerkin` or `fit=sharp`"));
        }
        let placed = |(j, output, gain): &(usize, usize, f64)| (column_of[*j], row_of[*output], *gain);
        let links = self.links.iter().map(placed).collect();
        let sizes =
            |i: &usize| [parts[*i].x.len(), layout.input_range(*i).len(), layout.output_range(*i).len()];
        let drives = (0..m).map(|j| (j, j, 1.0)).collect();
        self.coupled = Coupled::new(self.order.iter().map(sizes), links, (drives, m));
        self.places = vec![StackPlace::default(); parts.len()];
        self.order.iter().enumerate().for_each(|(k, i)| self.places[*i] = self.coupled.place(k));
        self.model = LocalModel::new(n, m, m);
        self.response = Response::new(n, m, m, width);
        (self.x, self.end, self.forcing) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        (self.beta, self.offset) = (vec![0.0; r], vec![0.0; m]);
        (self.known, self.c) = (vec![0.0; m * width], vec![0.0; m * width]);
        self.states = parts.iter().map(|part| part.x.len()).collect();
        Ok(())
    }

    /// New maps. Where all subsystems take explicit Euler steps of one length, so does the whole; zero for a continuous response.
    pub(super) fn update(
        &mut self,
        parts: &[SubsystemPredictor],
        layout: &Layout,
        (step, width): (&StepContext, usize),
        euler_step: f64,
    ) -> Result<()> {
        self.take_room(parts, layout, width)?;
        self.close(parts)?;
        if self.response.compute_as_solved(&self.model, step.h, euler_step, &mut self.shop) {
            return Ok(());
        }
        Err(Error::new(Code::NotFinite, "the predicted coupled system is not finite over one step")
            .hint("try a smaller step, or `fit=galerkin`"))
    }

    /// The model x -> u, with r as input.
    fn close(&mut self, parts: &[SubsystemPredictor]) -> Result<()> {
        let Self { order, coupled, model: LocalModel { states, a, b, c, d, .. }, .. } = self;
        let model = |k: usize| &parts[order[k]].model;
        if !coupled.close(|k| [&model(k).c, &model(k).d]) {
            return Err(singular_loop());
        }
        coupled.couple(|k| [&model(k).a, &model(k).b], a, b);
        for j in 0..self.inputs.len() {
            let (by_state, by_signal) = coupled.inputs().row(j).split_at(*states);
            c[j * by_state.len()..][..by_state.len()].copy_from_slice(by_state);
            d[j * by_signal.len()..][..by_signal.len()].copy_from_slice(by_signal);
        }
        Ok(())
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
        self.coupled.direct().solve(&mut self.beta);
        self.offset.fill(0.0);
        for (column, row, gain) in self.coupled.direct().links() {
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

    /// The map of the coupled models over one step.
    pub(super) fn map(&self) -> &Matrix {
        &self.response.state_to_state
    }

    /// The predicted end states from those of a subsystem on.
    pub(super) fn end_state(&self, i: usize) -> &[f64] {
        &self.end[self.places[i].state..]
    }
}
