//! What every coupling method has to keep to, as checks for methods of any crate: constants are fixed
//! points, the order of convergence is the one that is claimed, a short last step does no harm, a saved run
//! goes on bit by bit, the result depends neither on threads nor on the order in which parts are listed, a
//! repeated step is the same step, what is not a number ends the run, bad options are refused, and nothing is
//! allocated while steps are done.
//!
//! ```no_run
//! // In a test of the crate that has the method.
//! costep_conformance::assert_conforms(&costep_methods::zoh::ENTRY);
//! ```
//!
//! A check is a function that panics with what is wrong. [`CHECKS`] lists them, [`check_method`] runs all of
//! them and gives what failed. A method that cannot keep to one of them says so in its
//! [`MethodEntry::deviations`].

mod allocations;
mod bad_values;
mod determinism;
mod fixed_points;
mod groups;
mod last_step;
mod options;
pub mod order;
pub mod rollback;
mod save_load;
pub mod signals;
mod solvers;
mod sources;
pub mod systems;
pub mod toys;
mod variants;
pub mod varying_steps;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use costep_core::MethodEntry;

pub use allocations::check_allocations;
pub use options::check_source_options;
pub use solvers::{assert_solver_conforms, check_solver};
pub use sources::{assert_source_conforms, check_source, source_variants};
pub use variants::variants;

/// One of the checks.
#[derive(Clone, Copy)]
pub struct Check {
    /// What it checks, as a sentence with underscores.
    pub name: &'static str,
    /// Panics with what is wrong.
    pub run: fn(&'static MethodEntry),
}

macro_rules! checks {
    ($($module:ident::$name:ident,)*) => {
        /// All checks that need nothing but the method.
        pub const CHECKS: &[Check] = &[$(Check { name: stringify!($name), run: $module::$name }),*];
    };
}

checks![
    bad_values::what_is_not_a_number_goes_nowhere,
    bad_values::nor_does_it_in_a_loop,
    bad_values::a_gain_that_overflows_is_stopped_at_the_input,
    bad_values::growth_far_beyond_the_nominal_value_is_divergence,
    determinism::any_number_of_threads_gives_the_same_bits,
    determinism::the_order_of_parts_and_connections_does_not_matter,
    fixed_points::two_lags_in_a_loop_keep_their_equilibrium,
    fixed_points::a_dual_mass_keeps_its_equilibrium_under_a_constant_force,
    groups::two_groups_with_the_same_method_are_as_one,
    last_step::a_short_last_step_is_as_good_as_the_others,
    options::values_out_of_range_or_of_another_type_are_refused,
    options::unknown_options_are_refused,
    options::defaults_may_be_given,
    order::every_method_has_its_order,
    order::a_start_in_motion_leaves_order_two,
    rollback::a_repeated_step_is_the_same_step,
    rollback::inputs_are_of_an_order_that_the_subsystem_takes,
    save_load::a_resumed_run_has_the_same_bits,
    save_load::every_truncated_state_is_refused_and_the_whole_one_still_loads,
    save_load::a_run_resumed_after_a_long_time_has_the_same_bits,
    save_load::damaged_bytes_never_lead_to_a_panic,
    signals::an_input_is_the_weighted_sum_of_its_sources_and_a_signal_from_outside,
    signals::a_method_never_gets_worse_without_delay,
    signals::what_comes_from_outside_of_loops_is_applied_as_it_is,
    variants::every_variant_builds_and_its_label_makes_it_again,
];

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The method, source or solver.
    pub subject: &'static str,
    /// The check.
    pub check: &'static str,
    /// What is wrong.
    pub message: String,
}

/// The check with this name.
pub fn find(name: &str) -> Option<Check> {
    CHECKS.iter().copied().find(|check| check.name == name)
}

/// Runs a check on a method.
pub fn run(check: Check, entry: &'static MethodEntry) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(|| (check.run)(entry))).map_err(|payload| Failure {
        subject: entry.id,
        check: check.name,
        message: message_of(&*payload),
    })
}

/// What a check has panicked with.
fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).into()));
    text.unwrap_or_else(|| "it panicked".into())
}

/// Runs all checks on a method and gives those that fail.
///
/// ```
/// // Options alone, to be quick; all of them take a minute.
/// let check = costep_conformance::find("unknown_options_are_refused").unwrap();
/// assert_eq!(costep_conformance::run(check, &costep_methods::zoh::ENTRY), Ok(()));
/// ```
pub fn check_method(entry: &'static MethodEntry) -> Vec<Failure> {
    CHECKS.iter().filter_map(|check| run(*check, entry).err()).collect()
}

/// Runs all checks on a method.
///
/// # Panics
///
/// If one of them fails; the message has all that fail.
pub fn assert_conforms(entry: &'static MethodEntry) {
    assert_none(entry.id, &check_method(entry));
}

/// A check of something else, and its name.
type NamedCheck<T> = (&'static str, fn(&'static T));

/// Runs checks on a source or a solver.
fn failures_of<T>(subject: &'static str, entry: &'static T, checks: &[NamedCheck<T>]) -> Vec<Failure> {
    let failure = |(check, run): &NamedCheck<T>| {
        let outcome = catch_unwind(AssertUnwindSafe(|| run(entry)));
        outcome.err().map(|payload| Failure { subject, check, message: message_of(&*payload) })
    };
    checks.iter().filter_map(failure).collect()
}

fn assert_none(subject: &str, failures: &[Failure]) {
    let texts: Vec<_> =
        failures.iter().map(|failure| format!("{}: {}", failure.check, failure.message)).collect();
    assert!(texts.is_empty(), "`{subject}` does not conform:\n{}", texts.join("\n"));
}
