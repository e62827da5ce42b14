//! Methods that repeat steps, and subsystems that cannot.

use costep_conformance::rollback::{Stubborn, repeated};
use costep_conformance::systems::method;
use costep_conformance::toys::{Toy, error_of, wired};
use costep_core::{Code, Restricted};
use costep_engine::Engine;

#[test]
fn too_many_repetitions_are_an_error() {
    let zoh = method("zoh");
    assert!(Engine::new(repeated(&zoh, &zoh, 100)).unwrap().step().is_ok());
    let error = Engine::new(repeated(&zoh, &zoh, u32::MAX)).unwrap().step().unwrap_err();
    assert_eq!(error.code(), Code::Repeats);
}

#[test]
fn repeating_needs_subsystems_that_can_go_back() {
    let rigid = Restricted::new(Toy::listener("rigid").0.boxed()).without_rollback();
    let mut system = wired(vec![rigid.boxed()], &[(0, 0)], &method("zoh"));
    system.groups[0].method = Box::new(Stubborn { asks: true, inner: method("zoh").build(), repetitions: 1 });
    let error = error_of(system);
    assert_eq!(error.code(), Code::NeedsMissing);
    assert!(error.to_string().contains("`rigid`"), "{error}");
}

#[test]
fn a_method_that_repeats_without_asking_for_rollback_is_an_error() {
    let mut system = repeated(&method("zoh"), &method("zoh"), 0);
    let silent = Stubborn { asks: false, inner: method("zoh").build(), repetitions: 1 };
    system.groups[0].method = Box::new(silent);
    assert_eq!(error_of(system).code(), Code::Bug);
}
