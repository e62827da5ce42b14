//! What every source of models has to keep to.

use costep_core::{ModelsSpec, SourceEntry, Value};
use costep_methods::{METHODS, MethodSpec};

use crate::determinism::{order_does_not_matter, threads_do_not_matter};
use crate::save_load::{resumed_runs_are_the_same, truncated_states_are_refused};
use crate::variants::{changed, defaults, within_reason};
use crate::{Failure, NamedCheck, assert_none, check_source_options, failures_of};

/// A source under every method that comes with costep, uses models and can work with its own; and under the first
/// of them with each option in turn at every other value that can be derived from its declaration.
///
/// # Panics
///
/// If a value that follows from the declaration is refused.
pub fn source_variants(source: &'static SourceEntry) -> Vec<MethodSpec> {
    let fits = METHODS.iter().filter(|entry| entry.models.contains(&source.kind)).map(defaults);
    let methods: Vec<_> = fits.filter(MethodSpec::uses_models).collect();
    let with = |method: &MethodSpec, given: Vec<(String, Value)>| {
        method.clone().with_models(&ModelsSpec::new(source, given).unwrap()).unwrap()
    };
    let options = source.options.iter().flat_map(changed).map(within_reason);
    let changed: Vec<_> =
        options.flat_map(|option| methods.first().map(|first| with(first, vec![option]))).collect();
    methods.iter().map(|method| with(method, vec![])).chain(changed).collect()
}

/// Runs the checks of sources on one, and gives those that fail: bad options are refused, a saved run goes on bit
/// by bit, damaged states are refused, and the result depends neither on threads nor on the order of parts.
pub fn check_source(source: &'static SourceEntry) -> Vec<Failure> {
    let checks: [NamedCheck<SourceEntry>; 5] = [
        ("values_out_of_range_are_refused", check_source_options),
        ("a_resumed_run_has_the_same_bits", |source| resumed_runs_are_the_same(&source_variants(source))),
        ("every_truncated_state_is_refused", |source| truncated_states_are_refused(&source_variants(source))),
        ("any_number_of_threads_gives_the_same_bits", |source| {
            threads_do_not_matter(&source_variants(source))
        }),
        ("the_order_of_parts_does_not_matter", |source| order_does_not_matter(&source_variants(source))),
    ];
    failures_of(source.id, source, &checks)
}

/// Runs the checks of sources on one.
///
/// # Panics
///
/// If one of them fails; the message has all that fail.
pub fn assert_source_conforms(source: &'static SourceEntry) {
    assert_none(source.id, &check_source(source));
}
