//! Where local models of subsystems come from, one file per source: exact Jacobians, and identification from inputs
//! and outputs alone.

mod bank;
mod covariance;
mod difference;
mod exact;
mod ij_rls;
mod lags;
mod moesp;
mod quality;
mod resample;
mod rls;
mod scaled_rls;
mod window;

pub use bank::{Affine, Bank};
pub use covariance::{Covariance, Forgetting};
pub use difference::{DifferenceModel, Past, Reference};
pub use exact::Exact;
pub use ij_rls::IjRls;
pub use lags::Lags;
pub use moesp::{Moesp, MoespSettings, StateSpace};
pub use quality::{Quality, excitation};
pub use resample::{InputForm, resample, resample_arx};
pub use rls::{Rls, RlsSettings};
pub use scaled_rls::ScaledRls;
