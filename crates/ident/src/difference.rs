//! A model of the change of the outputs over a step, by recursive least squares on differences:
//!
//! ```text
//! phi = [y^k - y_ref, (p = 2: y^k - y^(k-1)), u^k - u_ref, u^(k+1) - u^k, (p = 2: u^k - u^(k-1)), 1]
//! y^(k+1) = y^k + T^T phi
//! ```
//!
//! Of order p = 1 or 2, with y_ref, u_ref the first values. All zero it says that nothing changes. Why differences: at
//! small steps y^k and y^(k-1), u^(k+1) and u^k are nearly equal; as differences each has a scale of its own.
//!
//! With u^(k+1) - u_ref in the place of u^k - u_ref ([`DifferenceModel::expect_held_inputs`]) the model is the same, but not what it says before it
//! has seen as many points as it has parameters: what is held over a step acts by its value, so where nothing is fed through, the parameters
//! of u^(k+1) - u^k are zero, as they are at the start.

use costep_core::{InterfaceModel, Result, StateReader, StateWriter};

use crate::bank::Affine;
use crate::covariance::Forgetting;
use crate::file::InitialModel;
use crate::lags::Lags;
use crate::scaled_rls::ScaledRls;
use crate::tuning::RlsTuning;

/// The last outputs and inputs of a subsystem. The newest input is the one that led to the newest output.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// y^k, y^(k-1).
    pub y: Lags,
    /// u^k, u^(k-1).
    pub u: Lags,
}

impl Past {
    /// Room for two points.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        Self { y: Lags::new(outputs, 2), u: Lags::new(inputs, 2) }
    }

    /// Adds a point.
    pub fn push(&mut self, u: &[f64], y: &[f64]) {
        self.u.push(u);
        self.y.push(y);
    }

    /// Forgets all points.
    pub fn clear(&mut self) {
        self.u.clear();
        self.y.clear();
    }

    /// Writes it.
    pub fn save(&self, out: &mut StateWriter) {
        self.y.save(out);
        self.u.save(out);
    }

    /// Reads it.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.y.load(from)?;
        self.u.load(from)?;
        self.y.check_same_length(&self.u)
    }
}

/// y_ref, u_ref, and how large the signals have been: common to the models of a subsystem.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// First outputs.
    pub y: Vec<f64>,
    /// First inputs.
    pub u: Vec<f64>,
    greatest_y: Vec<f64>,
    greatest_u: Vec<f64>,
    /// Differences below this share of the signal are round-off.
    round_off: f64,
}

impl Reference {
    /// Room for the first values.
    pub fn new(inputs: usize, outputs: usize, tuning: &RlsTuning) -> Self {
        Self {
            y: vec![0.0; outputs],
            u: vec![0.0; inputs],
            greatest_y: vec![0.0; outputs],
            greatest_u: vec![0.0; inputs],
            round_off: tuning.round_off,
        }
    }

    /// Sets the first values.
    pub fn start(&mut self, u: &[f64], y: &[f64]) {
        self.u.copy_from_slice(u);
        self.y.copy_from_slice(y);
        self.note(u, y);
    }

    /// Takes note of values.
    pub fn note(&mut self, u: &[f64], y: &[f64]) {
        raise(&mut self.greatest_u, u);
        raise(&mut self.greatest_y, y);
    }

    /// Whether inputs or outputs differ by more than round-off.
    pub fn has_moved(&self, u: (&[f64], &[f64]), y: (&[f64], &[f64])) -> bool {
        self.differ(u, &self.greatest_u) || self.differ(y, &self.greatest_y)
    }

    fn differ(&self, (a, b): (&[f64], &[f64]), greatest: &[f64]) -> bool {
        a.iter().zip(b).zip(greatest).any(|((a, b), greatest)| (a - b).abs() > self.round_off * greatest)
    }

    /// Writes it.
    pub fn save(&self, out: &mut StateWriter) {
        for values in [&self.y, &self.u, &self.greatest_y, &self.greatest_u] {
            out.reals(values);
        }
    }

    /// Reads it.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        for values in [&mut self.y, &mut self.u, &mut self.greatest_y, &mut self.greatest_u] {
            from.reals(values)?;
        }
        Ok(())
    }
}

fn raise(greatest: &mut [f64], values: &[f64]) {
    greatest.iter_mut().zip(values).for_each(|(greatest, value)| *greatest = greatest.max(value.abs()));
}

/// The model of one order.
#[derive(Clone, Debug)]
pub struct DifferenceModel {
    order: usize,
    inputs: usize,
    outputs: usize,
    rls: ScaledRls,
    /// Whether u^(k+1) - u_ref is a regressor instead of u^k - u_ref.
    holds: bool,
    phi: Vec<f64>,
    least: Vec<f64>,
    target: Vec<f64>,
    least_target: Vec<f64>,
}

impl DifferenceModel {
    /// Of order 1 or 2: nothing changes.
    pub fn new(order: usize, inputs: usize, outputs: usize, tuning: &RlsTuning) -> Self {
        let size = outputs * order + inputs * (order + 1) + 1;
        let forgetting = Forgetting::Directional(tuning.forgetting);
        Self {
            order,
            inputs,
            outputs,
            rls: ScaledRls::new(size, outputs, forgetting, tuning.variance).with_slack(tuning.slack),
            holds: false,
            phi: vec![0.0; size],
            least: vec![0.0; size],
            target: vec![0.0; outputs],
            least_target: vec![0.0; outputs],
        }
    }

    /// Lets the first few points speak of inputs that act by their value over the step. For a model without any.
    pub fn expect_held_inputs(&mut self) {
        self.holds = true;
    }

    /// p.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Whether the past is long enough.
    pub fn can_use(&self, past: &Past) -> bool {
        past.y.len() >= self.order && past.u.len() >= self.order
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.rls.reset();
    }

    /// Starts from a model of an earlier run:
    ///
    /// y^(k+1) - y^k = (S_y - I)(y - y_ref) + (S_u + S_p)(u - u_ref) + S_p (u^(k+1) - u^k) + its value at the reference.
    ///
    /// Where u is not u^k but u^(k+1), -S_u takes the place of S_p in the difference.
    pub fn begin(&mut self, reference: &Reference, initial: &InitialModel) {
        let (n, m, p) = (self.outputs, self.inputs, self.order);
        let InitialModel { model, input_sizes, output_sizes, .. } = initial;
        let by_output = |i: usize, l: usize| model.d_y[i * n + l] - f64::from(u8::from(i == l));
        let by_input = |i: usize, q: usize| model.d_u[i * m + q] + model.d_up[i * m + q];
        let drift = |i: usize| {
            let outputs: f64 = (0..n).map(|l| by_output(i, l) * reference.y[l]).sum();
            let inputs: f64 = (0..m).map(|q| by_input(i, q) * reference.u[q]).sum();
            model.offset[i] + outputs + inputs
        };
        let mut sizes = output_sizes.repeat(p);
        (0..=p).for_each(|_| sizes.extend_from_slice(input_sizes));
        sizes.push(1.0);
        let (inputs, constant) = (n * p, n * p + m * (p + 1));
        self.rls.begin(&sizes, output_sizes, |j, i| match j {
            j if j < n => by_output(i, j),
            // What the earlier run did not look at: differences further back.
            j if j < inputs => 0.0,
            j if j < inputs + m => by_input(i, j - inputs),
            j if j < inputs + 2 * m && self.holds => -model.d_u[i * m + j - inputs - m],
            j if j < inputs + 2 * m => model.d_up[i * m + j - inputs - m],
            j if j < constant => 0.0,
            _ => drift(i),
        });
    }

    /// The same the other way round: what it has learnt, as far as one step back.
    pub fn interface(&self, reference: &Reference) -> InterfaceModel {
        let (n, m, p) = (self.outputs, self.inputs, self.order);
        let mut model = InterfaceModel::new(m, n);
        for i in 0..n {
            model.offset[i] = self.rls.coefficient(n * p + m * (p + 1), i);
            for l in 0..n {
                let by_output = self.rls.coefficient(l, i);
                model.d_y[i * n + l] = by_output + f64::from(u8::from(i == l));
                model.offset[i] -= by_output * reference.y[l];
            }
            for q in 0..m {
                let by_input = self.rls.coefficient(n * p + q, i);
                model.d_up[i * m + q] = self.gain(i, q);
                model.d_u[i * m + q] = by_input - self.gain(i, q);
                model.offset[i] -= by_input * reference.u[q];
            }
        }
        model
    }

    /// What the past is worth from now on.
    pub fn set_forgetting(&mut self, forgetting: Forgetting) {
        self.rls.set_forgetting(forgetting);
    }

    /// Makes the parameters uncertain again.
    pub fn scale_covariance(&mut self, factor: f64) {
        self.rls.scale_covariance(factor);
    }

    /// Outputs one step ahead.
    pub fn predict(&mut self, reference: &Reference, past: &Past, u_next: &[f64], ahead: &mut [f64]) {
        self.fill(reference, past, u_next);
        self.rls.predict(&self.phi, ahead);
        ahead.iter_mut().zip(past.y.get(0)).for_each(|(ahead, y)| *ahead += y);
    }

    /// Outputs one step ahead as a function of the input.
    pub fn affine(&mut self, reference: &Reference, past: &Past, affine: &mut Affine) {
        let held = past.u.get(0);
        self.predict(reference, past, held, &mut affine.offset);
        for i in 0..self.outputs {
            for (j, held) in held.iter().enumerate() {
                let gain = self.gain(i, j);
                affine.gain[i * self.inputs + j] = gain;
                affine.offset[i] -= gain * held;
            }
        }
    }

    /// Learns from a step.
    pub fn update(&mut self, reference: &Reference, past: &Past, u_next: &[f64], y_next: &[f64]) {
        self.fill(reference, past, u_next);
        for (i, (target, y)) in self.target.iter_mut().zip(past.y.get(0)).enumerate() {
            *target = y_next[i] - y;
            self.least_target[i] = reference.round_off * reference.greatest_y[i];
        }
        self.rls.update(&self.phi, &self.target, &self.least, &self.least_target);
    }

    /// S_p between input j and output i.
    pub fn gain(&self, i: usize, j: usize) -> f64 {
        let value = self.outputs * self.order + j;
        let by_difference = self.rls.coefficient(value + self.inputs, i);
        if self.holds { by_difference + self.rls.coefficient(value, i) } else { by_difference }
    }

    /// S_y S_p + S_u: what is left of the last input j in output i after a step, where the last outputs are what the last input made of them.
    pub fn left_over(&self, i: usize, j: usize) -> f64 {
        let by_outputs: f64 = (0..self.outputs)
            .map(|l| (self.rls.coefficient(l, i) + f64::from(u8::from(l == i))) * self.gain(l, j))
            .sum();
        by_outputs + self.rls.coefficient(self.outputs * self.order + j, i) - self.gain(i, j)
    }

    fn fill(&mut self, reference: &Reference, past: &Past, u_next: &[f64]) {
        let (n, m, two) = (self.outputs, self.inputs, self.order == 2);
        let (y, u) = (past.y.get(0), past.u.get(0));
        let (y_before, u_before) = if two { (past.y.get(1), past.u.get(1)) } else { (y, u) };
        let mut at = 0;
        let mut put = |value: f64, greatest: f64| {
            self.phi[at] = value;
            self.least[at] = reference.round_off * greatest;
            at += 1;
        };
        (0..n).for_each(|i| put(y[i] - reference.y[i], reference.greatest_y[i]));
        if two {
            (0..n).for_each(|i| put(y[i] - y_before[i], reference.greatest_y[i]));
        }
        let value = if self.holds { u_next } else { u };
        (0..m).for_each(|j| put(value[j] - reference.u[j], reference.greatest_u[j]));
        (0..m).for_each(|j| put(u_next[j] - u[j], reference.greatest_u[j]));
        if two {
            (0..m).for_each(|j| put(u[j] - u_before[j], reference.greatest_u[j]));
        }
        put(1.0, 1.0);
    }

    /// Writes its memory.
    pub fn save(&self, out: &mut StateWriter) {
        self.rls.save(out);
    }

    /// Reads its memory.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.rls.load(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A spring keeps nothing of its last input, a lag what its time constant leaves of it.
    #[test]
    fn what_is_left_of_an_input_tells_a_spring_from_a_lag() {
        for (kept, order) in [(0.0, 1), (0.0, 2), (0.6, 1)] {
            let tuning = RlsTuning::DEFAULT;
            let (mut model, mut reference) =
                (DifferenceModel::new(order, 1, 1, &tuning), Reference::new(1, 1, &tuning));
            let mut past = Past::new(1, 1);
            let mut y = 3.0 + 1.0;
            reference.start(&[1.0], &[y]);
            (0..2).for_each(|_| past.push(&[1.0], &[y]));
            for k in 0..60 {
                let u = (f64::from(k) * 1.7).sin() + (f64::from(k * k) * 0.3).cos();
                y = kept * y + (1.0 - kept) * (3.0 * u + 1.0);
                reference.note(&[u], &[y]);
                model.update(&reference, &past, &[u], &[y]);
                past.push(&[u], &[y]);
            }
            let (left, gain) = (model.left_over(0, 0), model.gain(0, 0));
            assert!((gain - 3.0 * (1.0 - kept)).abs() < 1e-4, "{gain}");
            assert!((left - kept * gain).abs() < 1e-4, "{left}");
        }
    }
}
