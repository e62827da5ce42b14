//! What the engine itself has to keep to, whatever the method.

mod bad_values;
mod division;
mod failures;
mod groups;
mod initial_values;
mod order;
mod rates;
mod rollback;
mod save_load;
mod signals;
mod step_control;
mod varying_steps;
