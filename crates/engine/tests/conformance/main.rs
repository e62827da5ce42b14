//! What every coupling method has to keep to. The tests go through the registry, so that a new method is
//! covered by the line that registers it.

#[path = "../common/mod.rs"]
mod common;
mod toys;
mod variants;

mod bad_values;
mod determinism;
mod division;
mod failures;
mod fixed_points;
mod groups;
mod initial_values;
mod options;
mod order;
mod rollback;
mod save_load;
mod signals;
