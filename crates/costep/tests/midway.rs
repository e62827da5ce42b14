//! What can be changed in the middle of a run: inputs from outside, and the coupling method.

use costep::{Code, External, NativePart, Run, Simulation, System};

/// Two tanks, the first of which is filled from outside.
fn tanks() -> System {
    let tank = |name: &str| {
        NativePart::new(name, &[1.0])
            .input("flow", "m3/s", 1.0)
            .output("level", "m", 1.0)
            .derivatives(|_, x, u, dx| dx[0] = u[0] - x[0])
            .outputs(|_, x, _, y| y[0] = x[0])
    };
    System::builder()
        .native(tank("first"))
        .native(tank("second"))
        .connect_scaled("first.level", "second.flow", 1.0)
        .drive("first.flow", External::Sine { amplitude: 1.0, frequency: 1.0, phase: 0.0, start: 0.0 })
        .stop(4.0)
        .step(0.1)
        .build()
        .unwrap()
}

fn levels(run: &Simulation) -> Vec<u64> {
    run.outputs().iter().map(|level| level.to_bits()).collect()
}

#[test]
fn inputs_are_set_and_go_back_with_the_state() {
    let system = tanks();
    assert_eq!(system.driven(), ["first.flow"]);
    let mut run = system.start(Run::new().method("zoh")).unwrap();
    run.run_until(1.0).unwrap();
    let before = run.snapshot().unwrap();
    run.run_until(2.0).unwrap();
    let undisturbed = levels(&run);
    run.restore(&before).unwrap();
    run.set_input("first.flow", 3.0).unwrap();
    assert_eq!(run.input("first.flow").unwrap(), 3.0);
    let level = run.output("first.level").unwrap();
    run.step().unwrap();
    // x' = 3 - x over a step of 0.1 s.
    let exact = 3.0 + (level - 3.0) * (-0.1_f64).exp();
    assert!((run.output("first.level").unwrap() - exact).abs() < 1e-6);
    // The state of before knows of the sine again.
    run.restore(&before).unwrap();
    run.run_until(2.0).unwrap();
    assert_eq!(levels(&run), undisturbed);
}

#[test]
fn what_cannot_be_set_is_refused() {
    let mut run = tanks().start(Run::new()).unwrap();
    assert_eq!(run.set_input("second.flow", 1.0).unwrap_err().code(), Code::NeedsMissing);
    assert_eq!(run.set_input("first.flow", f64::NAN).unwrap_err().code(), Code::BadValue);
    assert!(run.set_input("first.flaw", 1.0).unwrap_err().help().contains("first.flow"));
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = tanks().start(Run::new().record(folder.path())).unwrap();
    assert_eq!(recorded.set_input("first.flow", 1.0).unwrap_err().code(), Code::NeedsMissing);
    let error = recorded.change_method("zoh", &costep::Registry::standard()).unwrap_err();
    assert_eq!(error.code(), Code::NeedsMissing);
}

#[test]
fn a_method_that_remembers_nothing_may_begin_anew_at_any_step() {
    let system = System::open("dual-mass").unwrap();
    let start = || system.start(Run::new().method("zoh").step(2e-4)).unwrap();
    let (mut whole, mut changed) = (start(), start());
    whole.run_until(0.05).unwrap();
    changed.run_until(0.02).unwrap();
    changed.change_method("zoh", system.registry()).unwrap();
    changed.run_until(0.05).unwrap();
    assert_eq!((changed.number(), changed.time()), (whole.number(), whole.time()));
    assert_eq!(levels(&changed), levels(&whole));
    let outcome = changed.finish().unwrap();
    assert_eq!(outcome.results.unwrap().times().len(), 251);
}

#[test]
fn a_better_method_ends_an_instability() {
    let system = System::open("dual-mass").unwrap();
    let mut run = system.start(Run::new().method("zoh").step(5e-3).stop(1.0)).unwrap();
    run.run_until(0.02).unwrap();
    run.change_method("predictive", system.registry()).unwrap();
    run.run_until(0.2).unwrap();
    let amplitude = run.output("s1.x").unwrap().abs();
    run.run_until(1.0).unwrap();
    assert!(run.output("s1.x").unwrap().abs() < amplitude.max(1e-3));
    // A method that is not there changes nothing.
    let mut run = system.start(Run::new().method("zoh").step(5e-3)).unwrap();
    assert!(run.change_method("zho", system.registry()).unwrap_err().help().contains("zoh"));
    run.step().unwrap();
}
