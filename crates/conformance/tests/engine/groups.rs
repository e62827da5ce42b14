//! Connections in groups, each with its own method.

use costep_core::{Code, InputSet, Restricted, Variation};
use costep_engine::{Engine, Group, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;

use costep_conformance::systems::{coupled, method, model};
use costep_conformance::toys::error_of;

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

#[test]
fn each_input_follows_the_method_of_its_group() {
    let (zoh, foh) = (method("zoh"), method("foh"));
    for (held, extrapolated) in [(&[0][..], &[1, 2][..]), (&[1], &[2, 0]), (&[2, 0], &[1])] {
        let mut engine = Engine::new(grouped(&[(&zoh, held), (&foh, extrapolated)])).unwrap();
        let mut last = engine.coupled().to_vec();
        for k in 0..20 {
            let now = engine.coupled().to_vec();
            let t = [engine.experiment().time(k.max(1) - 1), engine.time()];
            engine.step().unwrap();
            for j in 0..3 {
                let slope =
                    if held.contains(&j) || k == 0 { 0.0 } else { (now[j] - last[j]) / (t[1] - t[0]) };
                let coefficients = [0, 1].map(|a| engine.inputs().coefficients(a)[j]);
                assert_eq!(coefficients, [now[j], slope], "input {j}, step {k}");
            }
            last = now;
        }
    }
}

#[test]
fn every_input_is_in_exactly_one_group() {
    let zoh = method("zoh");
    let code = |groups: &[&[usize]]| {
        error_of(grouped(&groups.iter().map(|inputs| (&zoh, *inputs)).collect::<Vec<_>>())).code()
    };
    assert_eq!(code(&[&[0], &[1]]), Code::Missing);
    assert_eq!(code(&[&[0, 1], &[1, 2]]), Code::Duplicate);
    assert_eq!(code(&[&[0, 1, 2, 3]]), Code::BadValue);
}

#[test]
fn discrete_inputs_are_held_whatever_the_method() {
    for method in ["zoh", "foh", "soh", "predictive"].map(method) {
        let mut system = grouped(&[(&method, &[0, 1, 2])]);
        // The inputs of the second part, position and velocity.
        let second = system.subsystems.remove(1);
        let discrete = Restricted::new(second).describe(|description| {
            description.inputs.iter_mut().for_each(|port| port.variation = Variation::Discrete)
        });
        system.subsystems.push(discrete.boxed());
        let mut engine = Engine::new(system).unwrap();
        for _ in 0..20 {
            let now = engine.coupled().to_vec();
            engine.step().unwrap();
            for j in [1, 2] {
                assert_eq!(engine.inputs().coefficients(0)[j], now[j], "{}", method.label());
                for a in 1..=engine.inputs().order() {
                    assert_eq!(engine.inputs().coefficients(a)[j], 0.0, "{}", method.label());
                }
            }
        }
    }
}
