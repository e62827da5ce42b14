//! Every method that comes with costep keeps to everything.

use costep_conformance::{CHECKS, check_allocations, check_source_options, find};
use costep_ident::sources::SOURCES;
use costep_methods::METHODS;

/// Runs one check on every method.
fn on_every_method(name: &str) {
    let check = find(name).unwrap_or_else(|| panic!("there is no check `{name}`"));
    METHODS.iter().for_each(|entry| (check.run)(entry));
}

macro_rules! checks {
    ($($name:ident,)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() {
            on_every_method(stringify!($name));
        })*
    };
}

checks![
    what_is_not_a_number_goes_nowhere,
    nor_does_it_in_a_loop,
    a_gain_that_overflows_is_stopped_at_the_input,
    growth_far_beyond_the_nominal_value_is_divergence,
    any_number_of_threads_gives_the_same_bits,
    the_order_of_parts_and_connections_does_not_matter,
    two_lags_in_a_loop_keep_their_equilibrium,
    a_dual_mass_keeps_its_equilibrium_under_a_constant_force,
    two_groups_with_the_same_method_are_as_one,
    a_short_last_step_is_as_good_as_the_others,
    values_out_of_range_or_of_another_type_are_refused,
    unknown_options_are_refused,
    defaults_may_be_given,
    every_method_has_its_order,
    a_start_in_motion_leaves_order_two,
    a_repeated_step_is_the_same_step,
    inputs_are_of_an_order_that_the_subsystem_takes,
    a_resumed_run_has_the_same_bits,
    every_truncated_state_is_refused_and_the_whole_one_still_loads,
    a_run_resumed_after_a_long_time_has_the_same_bits,
    damaged_bytes_never_lead_to_a_panic,
    an_input_is_the_weighted_sum_of_its_sources_and_a_signal_from_outside,
    a_method_never_gets_worse_without_delay,
    what_comes_from_outside_of_loops_is_applied_as_it_is,
    every_variant_builds_and_its_label_makes_it_again,
];

#[test]
fn no_check_is_forgotten_here() {
    assert_eq!(CHECKS.iter().map(|check| check.name).collect::<Vec<_>>(), NAMES);
}

#[test]
fn no_method_takes_memory_in_the_loop() {
    for entry in METHODS {
        check_allocations(entry, &mut |work| allocation_counter::measure(work).count_total);
    }
}

/// Their other checks are done with the methods, which are tried with every source.
#[test]
fn sources_refuse_bad_options() {
    SOURCES.iter().for_each(check_source_options);
}
