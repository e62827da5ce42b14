//! A crate of its own that adds a coupling method, a source of models, a solver and a subsystem to costep. A project names them like those
//! that come with costep, once they are in the [`Registry`] that it is opened with:
//!
//! ```
//! let system = costep::System::from_toml(costep_extension::PROJECT, "rig.toml", costep_extension::registry())?;
//! let outcome = system.run(costep::Run::new())?;
//! assert!(outcome.error().is_none());
//! # Ok::<(), costep::Errors>(())
//! ```

pub mod damped_line;
pub mod heun;
pub mod smoothed;
pub mod thermostat;

use costep::Registry;

/// What comes with costep, and what is here.
pub fn registry() -> Registry {
    Registry::standard()
        .with_method(&damped_line::ENTRY)
        .with_source(&smoothed::ENTRY)
        .with_model(&thermostat::ENTRY)
        .with_solver(&heun::ENTRY)
}

/// A room with a thermostat, coupled by the method of this crate.
pub const PROJECT: &str = r#"
[system]
name = "room"
model = "thermostat"
stop = "2 h"
solver = "heun:5 s"

[step]
size = "10 s"

[method]
id = "damped-line"
alpha = 0.3
"#;
