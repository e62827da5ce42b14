//! Benchmark systems, one file each, with parameters, exact Jacobians, energy and (through
//! [`costep_integrate::Whole`]) a monolithic twin. To add one: write its file, then add one line to
//! [`MODELS`].
//!
//! Paper tags: \[G18] Genser & Benedikt 2018, \[T] Genser's thesis 2020, \[V14] Viel 2014, \[A16] Andersson et
//! al. 2016.

mod chain;
mod coupled_pendula;
mod dual_mass;
mod dual_mass_nonlinear;
mod helicopter;
mod hydraulic;
mod hydraulic_linear;
mod model;
mod motor_drive;
mod parameters;
mod pendulum_oscillator;
mod pi_plant;
mod quarter_truck;
mod three_tanks;
mod triple_spring;

pub use model::ModelEntry;
pub use parameters::{ParameterSpec, Parameters};

use costep_core::{Code, Error, Result};

/// Every benchmark system.
pub static MODELS: &[ModelEntry] = &[
    dual_mass::ENTRY,
    dual_mass_nonlinear::ENTRY,
    pendulum_oscillator::ENTRY,
    chain::ENTRY,
    helicopter::ENTRY,
    hydraulic_linear::ENTRY,
    hydraulic::ENTRY,
    triple_spring::ENTRY,
    coupled_pendula::ENTRY,
    pi_plant::ENTRY,
    motor_drive::ENTRY,
    three_tanks::ENTRY,
    quarter_truck::ENTRY,
];

/// The entry with this name.
pub fn find(id: &str) -> Result<&'static ModelEntry> {
    MODELS.iter().find(|entry| entry.id == id).ok_or_else(|| {
        Error::new(Code::UnknownModel, format!("unknown model `{id}`"))
            .suggest(id, MODELS.iter().map(|entry| entry.id))
    })
}
