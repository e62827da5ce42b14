//! Anti-aliasing: the coupling sees the mean of each output over the last macro step instead of its last
//! value ("NEPCE with anti-aliasing filter" of [G18] section 3.2). The engine forms the means; a method only
//! offers the option and passes it on in its `needs`. Costs half a step of delay, so the order falls to one.

use costep_core::{OptionKind, OptionSpec, Options};

/// The option `smooth`.
pub const OPTION: OptionSpec = OptionSpec {
    name: "smooth",
    kind: OptionKind::Bool { default: false },
    help: "couple the mean of each output over the last macro step (anti-aliasing)",
};

/// Whether it is wanted.
pub fn wanted(options: &Options) -> bool {
    options.bool(OPTION.name)
}
