//! What the engine itself has to keep to, whatever the method.

mod bad_values;
mod division;
mod failures;
mod groups;
mod initial_values;
mod order;
mod rollback;
mod save_load;
mod signals;
mod varying_steps;
