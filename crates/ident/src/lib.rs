//! Where local models of subsystems come from, one file per source: exact Jacobians, differences, and identification from
//! inputs and outputs alone. `sources.rs` lists what methods can choose from.

pub mod convert;
mod covariance;
mod exact;
mod finite_difference;
mod ij_rls;
mod lags;
mod moesp;
mod quality;
mod renewal;
mod resample;
mod rls;
mod scaled_rls;
pub mod sources;
mod window;

pub use covariance::{Covariance, Forgetting};
pub use exact::Exact;
pub use finite_difference::FiniteDifference;
pub use ij_rls::IjRls;
pub use lags::Lags;
pub use moesp::{Moesp, MoespSettings, StateSpace};
pub use quality::{Quality, excitation};
pub use renewal::Refresh;
pub use resample::{InputForm, resample, resample_arx};
pub use rls::{Rls, RlsSettings};
pub use scaled_rls::ScaledRls;
