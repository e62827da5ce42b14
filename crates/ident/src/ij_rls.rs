//! The Interface Jacobians themselves by recursive least squares on [y^k, u^(k+1), u^k, 1]: no realisation stands
//! between the data and S_y, S_u, S_p. One covariance serves all outputs; regressors are scaled by their size; the
//! constant is for subsystems that do not rest at zero.

use costep_core::{
    InterfaceModel, Learning as Learns, ModelKind, Result, SourceEntry, StateReader, StateWriter, join,
};

use crate::covariance::Forgetting;
use crate::estimator::Algorithm;
use crate::learning::{Learning, RecursiveOptions, SampleOptions, discrete};
use crate::scaled_rls::ScaledRls;

/// Row of the registry.
pub(crate) const ENTRY: SourceEntry = SourceEntry {
    id: "ij-rls",
    title: "recursive least squares, Interface Jacobians directly",
    summary: "Identifies S_y, S_u, S_p and a constant during the run, from inputs and outputs alone, without a \
              realisation between the data and the model.",
    needs: "nothing; with `samples` micro samples",
    source: "costep; after [T] section 2.3.2",
    kind: ModelKind::Discrete,
    options: &join::<4>(&[RecursiveOptions::SPECS, SampleOptions::SPECS]),
    settle: |_| {},
    offer: |options| discrete(Learns::Recursive, options),
    build: |options| {
        let RecursiveOptions { forgetting, variance } = RecursiveOptions::read(options);
        Box::new(Learning::by(Algorithm::IjRls { forgetting, start: variance }, options))
    },
};

/// Values below this share of the greatest seen are round-off.
const ROUND_OFF: f64 = 1e-12;

/// The Interface Jacobians of one subsystem.
#[derive(Clone, Debug)]
pub struct IjRls {
    inputs: usize,
    outputs: usize,
    rls: ScaledRls,
    started: bool,
    y: Vec<f64>,
    u: Vec<f64>,
    regressor: Vec<f64>,
    greatest: Vec<f64>,
    greatest_target: Vec<f64>,
}

impl IjRls {
    /// All zero. `start` is the variance of the parameters in scaled units.
    pub fn new(inputs: usize, outputs: usize, forgetting: Forgetting, start: f64) -> Self {
        let size = outputs + 2 * inputs + 1;
        Self {
            inputs,
            outputs,
            rls: ScaledRls::new(size, outputs, forgetting, start),
            started: false,
            y: vec![0.0; outputs],
            u: vec![0.0; inputs],
            regressor: vec![0.0; size],
            greatest: vec![0.0; size],
            greatest_target: vec![0.0; outputs],
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.rls.reset();
        self.started = false;
        self.greatest.fill(0.0);
        self.greatest_target.fill(0.0);
    }

    /// Number of parameters of an output.
    pub fn size(&self) -> usize {
        self.regressor.len()
    }

    /// Persistence of excitation, 0 to 1.
    pub fn excitation(&self) -> f64 {
        self.rls.excitation()
    }

    /// Starts from a model of an earlier run, in which signals had these sizes.
    pub fn begin(&mut self, model: &InterfaceModel, input_sizes: &[f64], output_sizes: &[f64]) {
        let (n, m) = (self.outputs, self.inputs);
        let sizes = [output_sizes, input_sizes, input_sizes, &[1.0]].concat();
        self.rls.begin(&sizes, output_sizes, |j, i| match j {
            j if j < n => model.d_y[i * n + j],
            j if j < n + m => model.d_up[i * m + j - n],
            j if j < n + 2 * m => model.d_u[i * m + j - n - m],
            _ => model.offset[i],
        });
    }

    /// Takes in the input held over a step and the outputs at its end; the first call only sets the start.
    pub fn observe(&mut self, u: &[f64], y: &[f64]) {
        if self.started {
            let (n, m) = (self.outputs, self.inputs);
            self.regressor[..n].copy_from_slice(&self.y);
            self.regressor[n..n + m].copy_from_slice(u);
            self.regressor[n + m..n + 2 * m].copy_from_slice(&self.u);
            self.regressor[n + 2 * m] = 1.0;
            note_round_off(&mut self.greatest, &self.regressor);
            note_round_off(&mut self.greatest_target, y);
            self.rls.update(&self.regressor, y, &self.greatest, &self.greatest_target);
        }
        self.started = true;
        self.y.copy_from_slice(y);
        self.u.copy_from_slice(u);
    }

    /// Writes the Interface Jacobians.
    pub fn interface(&self, model: &mut InterfaceModel) {
        let (n, m) = (self.outputs, self.inputs);
        for i in 0..n {
            for j in 0..n {
                model.d_y[i * n + j] = self.rls.coefficient(j, i);
            }
            for j in 0..m {
                model.d_up[i * m + j] = self.rls.coefficient(n + j, i);
                model.d_u[i * m + j] = self.rls.coefficient(n + m + j, i);
            }
            model.offset[i] = self.rls.coefficient(n + 2 * m, i);
        }
    }

    /// Writes its memory.
    pub fn save(&self, out: &mut StateWriter) {
        self.rls.save(out);
        out.integer(u64::from(self.started));
        for values in [&self.y, &self.u, &self.greatest, &self.greatest_target] {
            out.reals(values);
        }
    }

    /// Reads its memory.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.rls.load(from)?;
        self.started = from.index(2)? == 1;
        for values in [&mut self.y, &mut self.u, &mut self.greatest, &mut self.greatest_target] {
            from.reals(values)?;
        }
        Ok(())
    }
}

/// Keeps the size below which values are round-off.
fn note_round_off(least: &mut [f64], values: &[f64]) {
    least.iter_mut().zip(values).for_each(|(least, value)| *least = least.max(ROUND_OFF * value.abs()));
}
