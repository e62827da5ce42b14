//! Recursive least squares of one ARX model per output [T 2.3.2]:
//!
//! ```text
//! y_i^(k+1) = a_1 y_i^k + .. + a_N y_i^(k+1-N) + sum_j (b_j1 u_j^(k+1) + .. + b_jM u_j^(k+2-M))      [T (2.86)]
//! ```
//!
//! with u^(k+1) the input that was held over (T^k, T^(k+1)]. An output knows only its own past, so the parameters are few:
//! N + m M. As an Interface Jacobian model by Gilbert's realisation with unit vectors as output directions:
//! S_y = diag(a_1 / max(N, M)), S_p = first Markov parameters b_j1, S_u = 0. For N = M = 1 that is the model itself;
//! for more it depends on the arbitrary choice of a realisation, which is why N = M = 1 is best.

use costep_core::{
    InterfaceModel, Learning as Learns, ModelKind, Options, Result, SourceEntry, StateReader, StateWriter,
    join, options,
};

use crate::covariance::{Covariance, Forgetting};
use crate::estimator::Algorithm;
use crate::lags::Lags;
use crate::learning::{Learning, RecursiveOptions, SampleOptions, discrete};

/// Row of the registry.
pub(crate) const ENTRY: SourceEntry = SourceEntry {
    id: "rls",
    title: "recursive least squares, an ARX model per output",
    summary: "Identifies during the run, from inputs and outputs alone: y_i^(k+1) by N past values of the output \
              itself and M values of every input.",
    needs: "nothing; with `samples` micro samples",
    source: "[T] section 2.3.2, table 3.12",
    kind: ModelKind::Discrete,
    options: &join::<6>(&[RlsOptions::SPECS, RecursiveOptions::SPECS, SampleOptions::SPECS]),
    settle: |_| {},
    offer: |options| discrete(Learns::Recursive, options),
    build: |options| {
        let (outputs, inputs) = arx_orders(options);
        let RecursiveOptions { forgetting, variance } = RecursiveOptions::read(options);
        let algorithm = Algorithm::Rls(RlsSettings { outputs, inputs, forgetting, start: variance });
        Box::new(Learning::by(algorithm, options))
    },
};

options! {
    /// Options of the source. Defaults: [T table 3.12].
    struct RlsOptions {
        /// past outputs N of the ARX model
        n: usize = 1 in 1..=4;
        /// inputs M of the ARX model
        m: usize = 1 in 1..=4;
    }
}

/// N and M of checked options.
pub fn arx_orders(options: &Options) -> (usize, usize) {
    let options = RlsOptions::read(options);
    (options.n, options.m)
}

/// Settings; the defaults are those of [T table 3.12].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RlsSettings {
    /// N, past outputs.
    pub outputs: usize,
    /// M, inputs.
    pub inputs: usize,
    /// lambda.
    pub forgetting: f64,
    /// Diagonal of P at the start.
    pub start: f64,
}

impl Default for RlsSettings {
    fn default() -> Self {
        Self { outputs: 1, inputs: 1, forgetting: 0.996, start: 1e6 }
    }
}

/// ARX models of one subsystem.
#[derive(Clone, Debug)]
pub struct Rls {
    settings: RlsSettings,
    /// Parameters per output: a_1 .. a_N, then b_j1 .. b_jM for each input j.
    theta: Vec<Vec<f64>>,
    covariances: Vec<Covariance>,
    past_outputs: Lags,
    past_inputs: Lags,
    regressor: Vec<f64>,
    /// Greatest regressors seen of each output.
    sizes: Vec<Vec<f64>>,
}

impl Rls {
    /// All parameters zero.
    ///
    /// # Panics
    /// If an order is zero.
    pub fn new(inputs: usize, outputs: usize, settings: RlsSettings) -> Self {
        assert!(settings.outputs > 0 && settings.inputs > 0, "orders of an ARX model are at least 1");
        let size = settings.outputs + inputs * settings.inputs;
        Self {
            settings,
            theta: vec![vec![0.0; size]; outputs],
            covariances: vec![Covariance::new(size, settings.start); outputs],
            past_outputs: Lags::new(outputs, settings.outputs),
            past_inputs: Lags::new(inputs, settings.inputs),
            regressor: vec![0.0; size],
            sizes: vec![vec![0.0; size]; outputs],
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.theta.iter_mut().for_each(|theta| theta.fill(0.0));
        self.covariances.iter_mut().for_each(Covariance::reset);
        self.sizes.iter_mut().for_each(|sizes| sizes.fill(0.0));
        self.past_outputs.clear();
        self.past_inputs.clear();
    }

    /// Number of parameters of an output.
    pub fn size(&self) -> usize {
        self.regressor.len()
    }

    /// Persistence of excitation, 0 to 1, of the output whose parameters are known least.
    pub fn excitation(&self) -> f64 {
        let outputs = self.covariances.iter().zip(&self.sizes);
        outputs.map(|(covariance, sizes)| covariance.excitation(|j| sizes[j])).fold(1.0, f64::min)
    }

    /// Takes in the input held over a step and the outputs at its end.
    pub fn observe(&mut self, u: &[f64], y: &[f64]) {
        self.past_inputs.push(u);
        if self.past_outputs.is_full() && self.past_inputs.is_full() {
            for (i, y) in y.iter().enumerate() {
                self.fill_regressor(i);
                for (size, value) in self.sizes[i].iter_mut().zip(&self.regressor) {
                    *size = size.max(value.abs());
                }
                self.covariances[i]
                    .update(&self.regressor, Forgetting::Exponential(self.settings.forgetting));
                let error = y - product(&self.regressor, &self.theta[i]);
                let gains = self.covariances[i].gain();
                self.theta[i].iter_mut().zip(gains).for_each(|(theta, gain)| *theta += gain * error);
            }
        }
        self.past_outputs.push(y);
    }

    /// Takes in the outputs at the start, before any step.
    pub fn start(&mut self, y: &[f64]) {
        self.past_outputs.push(y);
    }

    fn fill_regressor(&mut self, i: usize) {
        let (n, m) = (self.settings.outputs, self.settings.inputs);
        for lag in 0..n {
            self.regressor[lag] = self.past_outputs.get(lag)[i];
        }
        for lag in 0..m {
            for (j, u) in self.past_inputs.get(lag).iter().enumerate() {
                self.regressor[n + j * m + lag] = *u;
            }
        }
    }

    /// Parameters of output i: a_1 .. a_N, then b_j1 .. b_jM for each input j.
    pub fn parameters(&self, i: usize) -> &[f64] {
        &self.theta[i]
    }

    /// Starts from a model of an earlier run with N = M = 1.
    ///
    /// # Panics
    /// If these are not the orders: a realisation does not tell the parameters of others.
    pub fn begin(&mut self, model: &InterfaceModel) {
        assert_eq!((self.settings.outputs, self.settings.inputs), (1, 1), "orders of a loaded ARX model");
        for (i, theta) in self.theta.iter_mut().enumerate() {
            theta[0] = model.d_y[i * model.outputs + i];
            theta[1..].copy_from_slice(&model.d_up[i * model.inputs..(i + 1) * model.inputs]);
        }
    }

    /// Writes the Interface Jacobians.
    pub fn interface(&self, model: &mut InterfaceModel) {
        let (n, m) = (self.settings.outputs, self.settings.inputs);
        let (outputs, inputs) = (model.outputs, model.inputs);
        model.d_y.fill(0.0);
        model.d_u.fill(0.0);
        model.offset.fill(0.0);
        for (i, theta) in self.theta.iter().enumerate() {
            model.d_y[i * outputs + i] = theta[0] / n.max(m) as f64;
            for j in 0..inputs {
                model.d_up[i * inputs + j] = theta[n + j * m];
            }
        }
    }

    /// Writes its memory.
    pub fn save(&self, out: &mut StateWriter) {
        self.theta.iter().for_each(|theta| out.reals(theta));
        self.covariances.iter().for_each(|covariance| covariance.save(out));
        self.sizes.iter().for_each(|sizes| out.reals(sizes));
        self.past_outputs.save(out);
        self.past_inputs.save(out);
    }

    /// Reads its memory.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.theta.iter_mut().try_for_each(|theta| from.reals(theta))?;
        self.covariances.iter_mut().try_for_each(|covariance| covariance.load(from))?;
        self.sizes.iter_mut().try_for_each(|sizes| from.reals(sizes))?;
        self.past_outputs.load(from)?;
        self.past_inputs.load(from)
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
