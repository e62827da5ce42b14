//! Inputs in several groups with the same method.

use costep_core::{InputSet, MethodEntry};
use costep_engine::{Engine, Group, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;

use crate::systems::{coupled, method, model};
use crate::toys::bits_after;
use crate::variants::variants;

const STEP: f64 = 1e-3;

/// A dual mass whose inputs (force; position and velocity) are in these groups.
fn grouped(groups: &[(&MethodSpec, &[usize])]) -> System {
    let mut system = coupled(&model("dual-mass", &[]), &Solver::Euler(1e-4), &method("zoh"), 1.0, STEP);
    let group = |(method, inputs): &(&MethodSpec, &[usize])| Group {
        method: method.build(),
        inputs: InputSet::Some(inputs.to_vec()),
    };
    system.groups = groups.iter().map(group).collect();
    system
}

pub(crate) fn two_groups_with_the_same_method_are_as_one(entry: &'static MethodEntry) {
    // A method with models sees the loops of its group only, so there the partition matters.
    let uses_models = |method: &MethodSpec| {
        entry.deviations.partition_matters
            || Engine::new(grouped(&[(method, &[0, 1, 2])])).unwrap().uses_models()
    };
    for method in variants(entry).into_iter().filter(|method| !uses_models(method)) {
        let bits =
            |groups: &[(&MethodSpec, &[usize])]| bits_after(&mut Engine::new(grouped(groups)).unwrap(), 100);
        let one = bits(&[(&method, &[0, 1, 2])]);
        assert!(bits(&[(&method, &[0]), (&method, &[1, 2])]) == one, "{}", method.label());
        assert!(bits(&[(&method, &[2]), (&method, &[1]), (&method, &[0])]) == one, "{}", method.label());
    }
}
