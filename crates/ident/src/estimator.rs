//! The ways to identify a model of one subsystem, behind one face.

use costep_core::{InterfaceModel, Observation, Result, StateReader, StateWriter};

use crate::covariance::Forgetting;
use crate::file::InitialModel;
use crate::ij_rls::IjRls;
use crate::moesp::{Moesp, MoespSettings};
use crate::rls::{Rls, RlsSettings};

/// How a model is identified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// One ARX model per output.
    Rls(RlsSettings),
    /// Interface Jacobians directly.
    IjRls {
        /// lambda.
        forgetting: f64,
        /// Diagonal of P at the start, in scaled units.
        start: f64,
    },
    /// Subspace identification over a moving window.
    Moesp {
        /// Number of states; 0 chooses.
        order: usize,
        /// r; 0 for two more than the states need.
        block_rows: usize,
        /// Number of samples in the window.
        window: usize,
        /// Singular values of the inputs below this share carry no information.
        cut: f64,
        /// Samples between two realisations: the factor of the window is renewed with every sample, the model costs an SVD.
        interval: usize,
    },
}

/// What learns of one subsystem.
#[derive(Clone, Debug)]
pub(crate) enum Estimator {
    Rls(Rls),
    IjRls(IjRls),
    Moesp(Box<Moesp>, u64),
}

/// States at most and block rows of MOESP with n outputs, from its options.
pub(crate) fn subspace_sizes(order: usize, block_rows: usize, n: usize) -> (usize, usize) {
    // Gamma without its last block row must show all states; automatic orders go up to two per output.
    let states = if order > 0 { order } else { 2 * n };
    let least = states.div_ceil(n.max(1)) + 1;
    (states, if block_rows == 0 { least + 1 } else { block_rows.max(least) })
}

impl Estimator {
    pub(crate) fn new(m: usize, n: usize, algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Rls(settings) => Self::Rls(Rls::new(m, n, settings)),
            Algorithm::IjRls { forgetting, start } => {
                Self::IjRls(IjRls::new(m, n, Forgetting::Exponential(forgetting), start))
            }
            Algorithm::Moesp { order, block_rows, window, cut, interval } => {
                let (_, block_rows) = subspace_sizes(order, block_rows, n);
                let window = window.max(2 * block_rows * (n + m + 1));
                let settings = MoespSettings { order, block_rows, window, cut };
                Self::Moesp(Box::new(Moesp::new(m, n, settings)), interval as u64)
            }
        }
    }

    pub(crate) fn start(&mut self, seen: &Observation<'_>) {
        match self {
            Self::Rls(rls) => rls.start(seen.y),
            Self::IjRls(rls) => rls.observe(seen.u, seen.y),
            // No input has been held over a step that ends here.
            Self::Moesp(..) => {}
        }
    }

    pub(crate) fn observe(&mut self, u: &[f64], y: &[f64]) {
        match self {
            Self::Rls(rls) => rls.observe(u, y),
            Self::IjRls(rls) => rls.observe(u, y),
            Self::Moesp(moesp, _) => moesp.observe(u, y),
        }
    }

    /// Starts from a model.
    pub(crate) fn begin(&mut self, start: &InitialModel) {
        match self {
            Self::Rls(rls) => rls.begin(&start.model),
            Self::IjRls(rls) => rls.begin(&start.model, &start.input_sizes, &start.output_sizes),
            // A window holds samples, not parameters: Interface Jacobians go on in its place.
            Self::Moesp(..) => {}
        }
    }

    /// Number of parameters of an output, where that decides when there is a model.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Rls(rls) => rls.size(),
            Self::IjRls(rls) => rls.size(),
            Self::Moesp(..) => 0,
        }
    }

    /// Writes the model, if there is a new one.
    pub(crate) fn renew(&mut self, count: u64, model: &mut InterfaceModel) -> bool {
        match self {
            Self::Rls(rls) => rls.interface(model),
            Self::IjRls(rls) => rls.interface(model),
            Self::Moesp(moesp, interval) => {
                if !(count.is_multiple_of(*interval) && moesp.identify()) {
                    return false;
                }
                moesp.interface(model);
            }
        }
        true
    }

    pub(crate) fn reset(&mut self) {
        match self {
            Self::Rls(rls) => rls.reset(),
            Self::IjRls(rls) => rls.reset(),
            Self::Moesp(moesp, _) => moesp.reset(),
        }
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        match self {
            Self::Rls(rls) => rls.save(out),
            Self::IjRls(rls) => rls.save(out),
            Self::Moesp(moesp, _) => moesp.save(out),
        }
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        match self {
            Self::Rls(rls) => rls.load(from),
            Self::IjRls(rls) => rls.load(from),
            Self::Moesp(moesp, _) => moesp.load(from),
        }
    }
}
