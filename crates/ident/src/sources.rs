//! The list of sources of local models, and the options by which a method chooses one.
//!
//! Every model-based method declares [`OPTIONS`]; what the user says there becomes the source of the whole run.
//! To add a source: one word in [`SOURCE`], one line in [`from_options`].

use costep_core::{ModelSource, OptionKind, OptionSpec, Options};

use crate::{Exact, FiniteDifference, Refresh};

/// The option `source`.
pub const SOURCE: OptionSpec = OptionSpec {
    name: "source",
    kind: OptionKind::Choice(&["exact", "finite-difference"]),
    help: "where local models come from: Jacobians of the subsystems, or differences between trial steps with rollback",
};

/// The option `refresh`.
pub const REFRESH: OptionSpec = OptionSpec {
    name: "refresh",
    kind: OptionKind::Choice(&["always", "changed", "never"]),
    help: "renew local models at every `every`-th communication point, when they no longer explain x' and y, or never",
};

/// The option `every`.
pub const EVERY: OptionSpec = OptionSpec {
    name: "every",
    kind: OptionKind::Integer { default: 1, min: 1, max: 1_000_000 },
    help: "number of macro steps between renewals of local models",
};

/// The source that checked options ask for. Options of a method without models give the exact one, which then is not used.
pub fn from_options(options: &Options) -> Box<dyn ModelSource> {
    if options.iter().all(|(name, _)| name != SOURCE.name) {
        return Box::new(Exact::new(1));
    }
    let refresh = match options.text(REFRESH.name) {
        "changed" => Refresh::Changed,
        "never" => Refresh::Never,
        _ => Refresh::Every(options.integer(EVERY.name) as u64),
    };
    match options.text(SOURCE.name) {
        "finite-difference" => Box::new(FiniteDifference::new(refresh)),
        _ => Box::new(Exact::new(refresh)),
    }
}
