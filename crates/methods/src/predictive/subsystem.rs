//! What predictive coupling knows of one subsystem.

use costep_core::{LocalModel, Result, StateReader, StateWriter};
use costep_ident::convert::OutputForm;

use super::matching::Matching;
use super::observer::Observer;
use super::offsets::Persistence;
use super::settings::{Fit, Offsets, Settings, States};
use crate::shared::legendre;
use crate::shared::per_subsystem::row;
use crate::shared::response::{Response, ResponseWorkspace};

/// An offset below this share of the terms it is the difference of is their round-off.
const ROUND_OFF: f64 = 1e-14;

/// Where a subsystem stands: its state, and offsets.
#[derive(Default)]
pub(super) struct Place {
    x: Vec<f64>,
    forcing: Vec<f64>,
    beta: Vec<f64>,
    has_forcing: bool,
}

impl Place {
    /// The origin of a subsystem like this one.
    pub(super) fn origin_of(part: &SubsystemPredictor) -> Self {
        let zeros = |values: &[f64]| vec![0.0; values.len()];
        Self { x: zeros(&part.x), forcing: zeros(&part.forcing), beta: zeros(&part.beta), has_forcing: false }
    }

    /// Whether it has the states of such a subsystem.
    pub(super) fn fits(&self, part: &SubsystemPredictor) -> bool {
        (self.x.len(), self.beta.len()) == (part.x.len(), part.beta.len())
    }
}

#[derive(Default)]
pub(super) struct SubsystemPredictor {
    /// The model in use: that of the subsystem, or its output form.
    pub(super) model: LocalModel,
    pub(super) response: Response,
    /// x, or z = y - D u_end, or an estimate of x.
    pub(super) x: Vec<f64>,
    /// b.
    pub(super) forcing: Vec<f64>,
    pub(super) beta: Vec<f64>,
    /// Room for a state at the end of the step.
    end: Vec<f64>,
    has_forcing: bool,
    output_form: Option<OutputForm>,
    observer: Option<Box<Observer>>,
    persistence: Option<Box<Persistence>>,
    matching: Option<Box<Matching>>,
    /// What a checkpoint said before there was a model to say how much that is.
    loaded: Option<Vec<f64>>,
}

impl SubsystemPredictor {
    /// New maps for a changed model or step.
    pub(super) fn update(
        &mut self,
        model: &LocalModel,
        (h, width): (f64, usize),
        settings: &Settings,
        (input_sizes, output_sizes): (&[f64], &[f64]),
        shop: &mut ResponseWorkspace,
    ) -> Result<(), &'static str> {
        if (self.x.len(), self.model.inputs, self.model.outputs)
            != (states(model, settings), model.inputs, model.outputs)
        {
            self.take_room(model, width, settings);
        }
        match &mut self.output_form {
            Some(form) => {
                form.convert(model, &mut self.model);
                self.model.nominal.copy_from_slice(output_sizes);
            }
            None => self.model.copy_from(model),
        }
        let euler_step = settings.euler_step(model.euler_step);
        if !self.response.compute_as_solved(&self.model, h, euler_step, shop) {
            return Err("its response over one step is not finite");
        }
        if let Some(observer) = &mut self.observer {
            let sizes = (input_sizes, output_sizes);
            if !observer.design(&self.model, &self.response, sizes, settings.noise) {
                return Err("there is no Kalman gain for it");
            }
        }
        if let Some(persistence) = &mut self.persistence {
            persistence.renew(&self.response);
        }
        Ok(())
    }

    /// Gets ready to match end states with these responses.
    pub(super) fn match_ends(&mut self, fit: Fit, orders: &[Option<usize>], input_sizes: &[f64]) {
        let (matching, model, response) = self.matching();
        matching.design(response, (&model.nominal, input_sizes), orders, fit == Fit::End);
    }

    /// What matches its end states; takes room for it where there is none.
    pub(super) fn matching(&mut self) -> (&mut Matching, &LocalModel, &Response) {
        let Self { model, response, matching, .. } = self;
        let room = || Box::new(Matching::new((model.states, model.inputs), response.width()));
        (matching.get_or_insert_with(room), model, response)
    }

    fn take_room(&mut self, model: &LocalModel, width: usize, settings: &Settings) {
        let (n, m, r) = (states(model, settings), model.inputs, model.outputs);
        let by_outputs = settings.states == States::Outputs;
        self.model = LocalModel::new(n, m, r);
        self.response = Response::new(n, m, r, width);
        (self.x, self.forcing, self.beta) = (vec![0.0; n], vec![0.0; n], vec![0.0; r]);
        self.end = vec![0.0; n];
        self.output_form = by_outputs.then(|| OutputForm::new(model));
        self.observer = match settings.states {
            States::Observed { disturbance } => Some(Box::new(Observer::new((n, m, r), disturbance))),
            _ => None,
        };
        self.persistence =
            (settings.offsets == Offsets::Persistent).then(|| Box::new(Persistence::new(n, r, by_outputs)));
        self.matching = None;
        if let Some(values) = self.loaded.take() {
            self.put_back(&values);
        }
    }

    /// Where the subsystem stands, and what its model does not explain: b = x' - A x - B u, beta = y - C x - D u.
    pub(super) fn locate(
        &mut self,
        known_c: &[f64],
        state: (&[f64], &[f64]),
        (u_end, y): (&[f64], &[f64]),
        sizes: &[f64],
        settings: &Settings,
    ) {
        if let Some(observer) = &mut self.observer {
            observer.correct(state.0, &self.model, (u_end, y), &mut self.x);
            observer.offsets(&self.model, &mut self.forcing, &mut self.beta);
            self.has_forcing = observer.disturbs();
            return;
        }
        if self.output_form.is_some() {
            for (i, z) in self.x.iter_mut().enumerate() {
                *z = y[i] - row(&self.model.d, i, u_end);
            }
        } else {
            self.x.copy_from_slice(state.0);
        }
        if settings.offsets == Offsets::Off {
            return;
        }
        self.measure_offsets(known_c, state.1, u_end, y);
        if let Some(persistence) = &mut self.persistence {
            persistence.weigh(&self.model, (u_end, y), sizes, &self.x, (&mut self.forcing, &mut self.beta));
        }
        self.has_forcing = self.forcing.iter().any(|b| *b != 0.0);
    }

    fn measure_offsets(&mut self, known_c: &[f64], x_dot: &[f64], u_end: &[f64], y: &[f64]) {
        let (model, n) = (&self.model, self.x.len());
        for i in 0..n {
            // In output form the states are z = C x, so z' = C x'.
            let rate = if self.output_form.is_some() { row(known_c, i, x_dot) } else { x_dot[i] };
            self.forcing[i] = unexplained(rate, (&model.a, &self.x), (&model.b, u_end), i);
        }
        for (i, beta) in self.beta.iter_mut().enumerate() {
            *beta = unexplained(y[i], (&model.c, &self.x), (&model.d, u_end), i);
        }
    }

    /// eta = M_x x + M_b b + e_0 beta + M_u r_hat.
    pub(super) fn free_response(&self, known_inputs: &[f64], eta: &mut [f64]) {
        eta.fill(0.0);
        let width = eta.len() / self.beta.len().max(1);
        self.response.state_to_output.multiply_add(&self.x, eta);
        // Mostly there is no offset and no external input, and the maps need not be fetched.
        if self.has_forcing {
            self.response.forcing_to_output.multiply_add(&self.forcing, eta);
        }
        for (eta, beta) in eta.chunks_exact_mut(width.max(1)).zip(&self.beta) {
            eta[0] += beta;
        }
        self.forced_response(known_inputs, eta);
    }

    /// eta += M_u r_hat.
    pub(super) fn forced_response(&self, known_inputs: &[f64], eta: &mut [f64]) {
        if known_inputs.iter().any(|c| *c != 0.0) {
            self.response.input_to_output.multiply_add(known_inputs, eta);
        }
    }

    /// Whether its free response is M_x x with the state that is read, and nobody asks for more: a linear subsystem leaves
    /// nothing unexplained.
    pub(super) fn is_linear_with_read_states(&self, settings: &Settings) -> bool {
        self.model.is_constant
            && settings.states == States::Readable
            && settings.offsets != Offsets::Persistent
    }

    /// y = C x + D u + beta at the end of the step, from the state that is read where there is one, under these inputs.
    pub(super) fn end_outputs(&mut self, read: Option<&[f64]>, c: &[f64], y: &mut [f64]) {
        let Self { model, response, x, forcing, beta, end, .. } = self;
        end.fill(0.0);
        response.state_to_state.multiply_add(read.unwrap_or(x), end);
        response.input_to_state.multiply_add(c, end);
        if read.is_none() {
            response.forcing_to_state.multiply_add(forcing, end);
        }
        let width = response.width();
        let value =
            |c: &[f64]| c.iter().enumerate().map(|(a, c)| c * legendre::polynomial(a, 1.0)).sum::<f64>();
        for (i, y) in y.iter_mut().enumerate() {
            let through = c.chunks_exact(width).zip(&model.d[i * model.inputs..]);
            *y = row(&model.c, i, end)
                + through.map(|(c, d)| if *d == 0.0 { 0.0 } else { d * value(c) }).sum::<f64>();
            *y += if read.is_none() { beta[i] } else { 0.0 };
        }
    }

    /// x(h) = E x + G c, number by number.
    pub(super) fn end_state(&self, c: &[f64], mut show: impl FnMut(usize, f64)) {
        let Response { state_to_state, input_to_state, .. } = &self.response;
        for i in 0..self.x.len() {
            show(i, row(state_to_state.data(), i, &self.x) + row(input_to_state.data(), i, c));
        }
    }

    /// Exchanges where it stands, without what its model does not explain.
    pub(super) fn swap_place(&mut self, other: &mut Place) {
        std::mem::swap(&mut self.x, &mut other.x);
        std::mem::swap(&mut self.forcing, &mut other.forcing);
        std::mem::swap(&mut self.beta, &mut other.beta);
        std::mem::swap(&mut self.has_forcing, &mut other.has_forcing);
    }

    /// Takes aim at an end state: what of it the model does not reach under these inputs.
    pub(super) fn aim_at(&mut self, end: &[f64], c: &[f64]) {
        if let Some(matching) = &mut self.matching {
            let rest = &mut matching.rest;
            rest.copy_from_slice(&end[..self.x.len()]);
            subtract(&self.response.state_to_state, &self.x, rest);
            subtract(&self.response.input_to_state, c, rest);
            subtract(&self.response.forcing_to_state, &self.forcing, rest);
        }
    }

    /// Takes aim at the end state that the inputs lead to before they are truncated.
    pub(super) fn aim_at_truncated(&mut self, orders: &[Option<usize>], c: &[f64]) {
        let Some(matching) = &mut self.matching else { return };
        let width = c.len() / orders.len().max(1);
        for (i, rest) in matching.rest.iter_mut().enumerate() {
            let gains = self.response.input_to_state.row(i).chunks_exact(width.max(1));
            let cut = gains.zip(c.chunks_exact(width.max(1))).zip(orders).map(|((gains, c), order)| {
                let kept = order.map_or(width, |order| order + 1);
                gains[kept..].iter().zip(&c[kept..]).map(|(gain, c)| gain * c).sum::<f64>()
            });
            *rest = cut.sum();
        }
    }

    /// Adds the correction that leads to where was aimed at.
    pub(super) fn correct(&mut self, c: &mut [f64]) {
        if let Some(matching) = &mut self.matching {
            matching.correct(c);
        }
    }

    /// Keeps the end state that the model predicts.
    pub(super) fn remember(&mut self, c: &[f64]) {
        let Self { response, x, forcing, .. } = self;
        if let Some(observer) = &mut self.observer {
            observer.predict(response, (x, forcing), c);
        }
        if let Some(persistence) = &mut self.persistence {
            persistence.predict(&self.model, response, x, c);
        }
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        let mut values = Vec::new();
        if let Some(loaded) = &self.loaded {
            values.extend_from_slice(loaded);
        }
        if let Some(observer) = &self.observer {
            observer.save(&mut values);
        }
        if let Some(persistence) = &self.persistence {
            persistence.save(&mut values);
        }
        out.integer(values.len() as u64);
        out.reals(&values);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let mut values = vec![0.0; from.index(1 << 24)?];
        from.reals(&mut values)?;
        if self.x.is_empty() && self.model == LocalModel::default() {
            self.loaded = Some(values);
        } else {
            self.put_back(&values);
        }
        Ok(())
    }

    fn put_back(&mut self, values: &[f64]) {
        let mut rest = values;
        if let Some(observer) = &mut self.observer {
            rest = observer.load(rest);
        }
        if let Some(persistence) = &mut self.persistence {
            persistence.load(rest);
        }
    }
}

/// Number of states of the model in use.
fn states(model: &LocalModel, settings: &Settings) -> usize {
    if settings.states == States::Outputs { model.outputs } else { model.states }
}

/// value - row i of M x - row i of N u, zero if that is round-off.
fn unexplained(value: f64, (m, x): (&[f64], &[f64]), (n, u): (&[f64], &[f64]), i: usize) -> f64 {
    let terms = |matrix: &[f64], vector: &[f64]| {
        let row = &matrix[i * vector.len()..(i + 1) * vector.len()];
        row.iter()
            .zip(vector)
            .fold((0.0, 0.0), |(sum, size): (f64, f64), (a, v)| (sum + a * v, size + (a * v).abs()))
    };
    let ((by_states, a), (by_inputs, b)) = (terms(m, x), terms(n, u));
    let rest = value - by_states - by_inputs;
    if rest.abs() <= ROUND_OFF * (value.abs() + a + b) { 0.0 } else { rest }
}

/// result -= map x.
fn subtract(map: &costep_linalg::Matrix, x: &[f64], result: &mut [f64]) {
    for (i, result) in result.iter_mut().enumerate() {
        *result -= row(map.data(), i, x);
    }
}
