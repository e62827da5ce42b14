//! Coupling methods, one file each. To add one: write its file, then add one line to `registry.rs`.
//!
//! Paper tags: \[G18] Genser & Benedikt 2018, \[T] Genser's thesis 2020, \[H18] Haid 2018, \[V14] Viel 2014.

pub mod auto;
mod energy_corrected;
pub mod feedthrough;
pub mod fixed_point;
pub mod foh;
pub mod identified;
pub mod ijcsa;
pub mod iqn_ils;
mod iteration;
pub mod lis;
pub mod mbcorr;
pub mod monolithic;
pub mod nepce;
pub mod papers;
pub mod predictive;
pub mod prestep;
pub mod registry;
pub mod shared;
pub mod soh;
mod spelling;
pub mod zoh;

pub use energy_corrected::energy_corrected;
pub use registry::{METHODS, MethodSpec, Methods, find, models};
