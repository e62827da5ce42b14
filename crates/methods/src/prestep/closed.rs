//! Steps 1 and 2 of pre-step stabilisation: the coupled system as its outputs see it [T (2.27), (2.37)].

use costep_core::{Code, Error, Layout, LocalModel, Result, SystemView};
use costep_linalg::{DirectLoop, Matrix};

use super::forcing::Forcing;
use super::subsystem::SubsystemResponse;
use crate::shared::response::{Response, ResponseWorkspace};
use crate::shared::seen_outputs::singular_loop;

/// y' = Ahat y + (I - D L)^-1 (S_u e + D e') for a line e(t): the coupled system as its outputs see it. Its
/// states are the outputs, Ahat = (I - D L)^-1 (S_y + S_u L): not those of `ClosedLoop` in linalg, with which it has
/// only (I - D L)^-1 in common.
///
/// Subsystems are ordered by name in here, so that round-off does not depend on how they are numbered.
#[derive(Default)]
pub(super) struct ClosedLoop {
    /// Outputs and inputs of the system in the order of the rows and columns.
    outputs: Vec<usize>,
    inputs: Vec<usize>,
    /// First row and first column of each subsystem.
    places: Vec<(usize, usize)>,
    /// Of the group.
    direct: DirectLoop,
    model: LocalModel,
    /// By which step 1 and step 2 are solved.
    responses: [Response; 2],
    workspaces: ResponseWorkspace,
    /// S_u and D, block-diagonal.
    s_u: Matrix,
    d: Matrix,
    /// Forcing at the start of the step, and its slope.
    forcing: Vec<f64>,
    forcing_slope: Vec<f64>,
    state: Vec<f64>,
    column: Vec<f64>,
    /// S_y + S_u L.
    closed: Matrix,
    h: f64,
}

impl ClosedLoop {
    pub(super) fn new(system: &SystemView<'_>, is_ours: &[bool]) -> Self {
        let (m, r) = (system.layout.inputs(), system.layout.outputs());
        let mut order: Vec<_> = (0..system.layout.subsystems()).collect();
        order.sort_by(|a, b| system.descriptions[*a].name.cmp(&system.descriptions[*b].name));
        let (mut outputs, mut inputs) = (Vec::with_capacity(r), Vec::with_capacity(m));
        let mut places = vec![(0, 0); order.len()];
        for i in order {
            places[i] = (outputs.len(), inputs.len());
            outputs.extend(system.layout.output_range(i));
            inputs.extend(system.layout.input_range(i));
        }
        let mut row_of = vec![0; r];
        outputs.iter().enumerate().for_each(|(row, output)| row_of[*output] = row);
        let mut links = Vec::new();
        for (column, j) in inputs.iter().enumerate().filter(|(_, j)| is_ours[**j]) {
            links.extend(system.coupling.sources(*j).map(|(output, gain)| (column, row_of[output], gain)));
        }
        let mut model = LocalModel::new(r, r, r);
        for i in 0..r {
            (model.b[i * r + i], model.c[i * r + i]) = (1.0, 1.0);
        }
        Self {
            outputs,
            inputs,
            places,
            direct: DirectLoop::new(r, links),
            model,
            responses: [Response::new(r, r, r, 2), Response::new(r, r, r, 2)],
            workspaces: ResponseWorkspace::default(),
            s_u: Matrix::zeros(r, m),
            d: Matrix::zeros(r, m),
            forcing: vec![0.0; r],
            forcing_slope: vec![0.0; r],
            state: vec![0.0; r],
            column: vec![0.0; r],
            closed: Matrix::zeros(r, r),
            h: 0.0,
        }
    }

    /// Takes new models. `steps`: explicit Euler steps for step 1 and
    /// step 2; 0 for the exact solution, none if that step is left out.
    pub(super) fn update(
        &mut self,
        parts: &[SubsystemResponse],
        layout: &Layout,
        h: f64,
        steps: [Option<usize>; 2],
    ) -> Result<()> {
        self.h = h;
        let closed = &mut self.closed;
        closed.fill(0.0);
        for (i, part) in parts.iter().enumerate() {
            let (n, m) = (layout.output_range(i).len(), layout.input_range(i).len());
            let (row, column) = self.places[i];
            for a in 0..n {
                for b in 0..n {
                    closed[(row + a, row + b)] = part.model.a[a * n + b];
                }
                for q in 0..m {
                    let through: f64 =
                        (0..n).map(|b| part.model.a[a * n + b] * part.model.d[b * m + q]).sum();
                    self.s_u[(row + a, column + q)] = part.model.b[a * m + q] - through;
                    self.d[(row + a, column + q)] = part.model.d[a * m + q];
                }
            }
        }
        self.direct.add_after(&self.s_u, closed);
        if !self.direct.close(|i, j| self.d[(i, j)]) {
            return Err(singular_loop());
        }
        self.direct.solve_columns(closed);
        self.model.a.copy_from_slice(closed.data());
        let (model, workspaces) = (&self.model, &mut self.workspaces);
        let finite = self.responses.iter_mut().zip(steps).all(|(response, steps)| match steps {
            None => true,
            Some(0) => response.compute(model, h, workspaces),
            Some(steps) => response.compute_euler(model, h, steps, workspaces),
        });
        if finite {
            return Ok(());
        }
        Err(Error::new(Code::NotFinite, "the predicted coupled system is not finite over one step")
            .hint("try a smaller step, or `predictive`"))
    }

    /// Takes e(t) = value + slope t.
    pub(super) fn force(&mut self, Forcing { value, slope, .. }: &Forcing) {
        for i in 0..self.forcing.len() {
            let sum = |matrix: &Matrix, f: &[f64]| -> f64 {
                let entries = matrix.row(i).iter().zip(&self.inputs).filter(|(a, _)| **a != 0.0);
                entries.map(|(a, j)| a * f[*j]).sum()
            };
            self.forcing[i] = sum(&self.s_u, value) + sum(&self.d, slope);
            self.forcing_slope[i] = sum(&self.s_u, slope);
        }
        self.direct.solve(&mut self.forcing);
        self.direct.solve(&mut self.forcing_slope);
    }

    /// Takes constant forcings w of the outputs in addition.
    pub(super) fn add_offsets(&mut self, w: &[f64]) {
        self.column.iter_mut().zip(&self.outputs).for_each(|(row, output)| *row = w[*output]);
        self.direct.solve(&mut self.column);
        self.forcing.iter_mut().zip(&self.column).for_each(|(forcing, w)| *forcing += w);
    }

    /// y += (I - D L)^-1 D change: outputs under other inputs from outside.
    pub(super) fn feed_through(&mut self, change: impl Fn(usize) -> f64, y: &mut [f64]) {
        for (i, row) in self.column.iter_mut().enumerate() {
            let entries = self.d.row(i).iter().zip(&self.inputs).filter(|(d, _)| **d != 0.0);
            *row = entries.map(|(d, j)| d * change(*j)).sum();
        }
        if self.column.iter().any(|change| *change != 0.0) {
            self.direct.solve(&mut self.column);
            self.column.iter().zip(&self.outputs).for_each(|(change, output)| y[*output] += change);
        }
    }

    /// The solution after the step, from `start`, as step 1 (0) or step 2 (1) is solved.
    pub(super) fn advance(&mut self, which: usize, start: &[f64], result: &mut [f64]) {
        let response = &self.responses[which];
        self.state.iter_mut().zip(&self.outputs).for_each(|(x, output)| *x = start[*output]);
        self.column.fill(0.0);
        response.state_to_state.multiply_add(&self.state, &mut self.column);
        for (i, (sum, output)) in self.column.iter_mut().zip(&self.outputs).enumerate() {
            for q in 0..self.state.len() {
                *sum += response.input_to_state[(i, 2 * q)] * self.forcing[q]
                    + response.to_ramp(i, q, self.h) * self.forcing_slope[q];
            }
            result[*output] = *sum;
        }
    }
}
