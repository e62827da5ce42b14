//! Where local models of subsystems come from, one file per source: exact Jacobians, differences, and identification from
//! inputs and outputs alone. `sources.rs` lists what methods can choose from.

mod bank;
pub mod convert;
mod covariance;
mod difference;
mod estimator;
mod exact;
mod extrapolation;
mod file;
mod finite_difference;
mod ij_rls;
mod judge;
mod lags;
mod learning;
mod moesp;
mod probe;
mod quality;
mod renewal;
mod resample;
mod rls;
mod scaled_rls;
pub mod sources;
mod tuning;
mod window;

pub use bank::{Affine, Bank};
pub use covariance::{Covariance, Forgetting};
pub use difference::{DifferenceModel, Past, Reference};
pub use estimator::Algorithm;
pub use exact::Exact;
pub use file::{InitialModel, ModelFile, NamedModel, StoredModels};
pub use finite_difference::FiniteDifference;
pub use ij_rls::IjRls;
pub use lags::Lags;
pub use learning::{Learning, LearningSettings};
pub use moesp::{Moesp, MoespSettings, StateSpace};
pub use probe::{Probe, Record, RecordedModel};
pub use quality::{Quality, excitation};
pub use renewal::Refresh;
pub use resample::{InputForm, Resampler, resample, resample_arx, resample_by};
pub use rls::{Rls, RlsSettings};
pub use scaled_rls::ScaledRls;
pub use tuning::{BankTuning, Constant, FallbackTuning, RlsTuning, TrustTuning, Value};
