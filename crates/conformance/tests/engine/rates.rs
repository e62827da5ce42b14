//! Subsystems that step at rates of their own: the order of the method, outputs at the right times, the
//! same bits after a resume.

use costep_core::{Code, Experiment, External, InputPolynomials, Restricted, StepLengths, Subsystem};
use costep_engine::{Engine, Rate, System};
use costep_integrate::{Integrated, Solver};
use costep_system::SystemDescription;

use costep_conformance::systems::{coupled, method, model};
use costep_conformance::varying_steps::varying;

const STOP: f64 = 1.0;

/// Three masses under a smooth force.
fn masses() -> SystemDescription {
    let mut model = model("chain", &[("n", 3.0), ("k", 1e3), ("kg", 2e3)]);
    for (_, signal) in &mut model.externals {
        *signal = External::Sine { amplitude: 300.0, frequency: 2.3, phase: 0.0, start: 0.0 };
    }
    model
}

/// A chain of masses with slow and fast parts.
fn chain(id: &str, rates: &[Rate], steps: u32) -> System {
    let model = masses();
    let mut system = coupled(&model, &Solver::Exact, &method(id), STOP, STOP / f64::from(steps));
    system.subsystems =
        system.subsystems.into_iter().zip(rates).map(|(part, rate)| rate.apply(part)).collect();
    system
}

/// Greatest error of any output at any macro step of the second half, against the system solved as one at
/// the same time.
fn error(id: &str, rates: &[Rate], steps: u32) -> f64 {
    let model = masses();
    let mut engine = Engine::new(chain(id, rates, steps)).unwrap();
    let mut twin = Integrated::new(model.monolithic().unwrap(), &Solver::Dopri5(1e-12)).unwrap();
    twin.initialise(engine.experiment()).unwrap();
    let (no_input, mut exact) = (InputPolynomials::new(0, 0), engine.outputs().to_vec());
    let mut error = 0.0f64;
    while !engine.is_over() {
        engine.step().unwrap();
        twin.step(engine.last_step(), no_input.segment(0..0, 0), &mut exact).unwrap();
        if engine.time() > 0.5 * STOP {
            let each = engine.outputs().iter().zip(&exact);
            error = each.fold(error, |error, (y, exact)| error.max((y - exact).abs()));
        }
    }
    error
}

#[test]
fn a_chain_with_rates_1_2_and_5_converges_with_the_order_of_its_method() {
    let rates = [Rate::Base, Rate::Every(2), Rate::Every(5)];
    for (id, order) in [("zoh", 1.0), ("foh", 2.0)] {
        let errors: Vec<f64> = [1000, 2000, 4000].map(|steps| error(id, &rates, steps)).into();
        let slopes: Vec<f64> = errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect();
        println!("{id}: {errors:?} {slopes:.2?}");
        assert!(slopes.iter().all(|slope| *slope > order - 0.2), "{id}: {slopes:?}");
    }
    let all_alike = error("foh", &[Rate::Base; 3], 1000);
    let mixed = error("foh", &[Rate::Base, Rate::Parts(4), Rate::Every(2)], 1000);
    println!("alike {all_alike:e}, mixed {mixed:e}");
    assert!(mixed < 20.0 * all_alike, "{mixed:e} {all_alike:e}");
}

/// 1003 macro steps: the last step of each slow part is shorter.
#[test]
fn the_last_step_of_a_slow_part_ends_with_the_run() {
    let rates = [Rate::Base, Rate::Every(2), Rate::Every(5)];
    let (whole, odd) = (error("foh", &rates, 1000), error("foh", &rates, 1003));
    assert!((0.8..1.2).contains(&(odd / whole)), "{whole:e} {odd:e}");
    let mut system = chain("foh", &rates, 1003);
    let rigid = Restricted::new(system.subsystems.remove(2));
    system.subsystems.push(rigid.describe(|of| of.step_lengths = StepLengths::MacroSteps).boxed());
    assert!(Engine::new(system).is_ok(), "slow parts end with any step");
    let model = masses();
    let rigid = Restricted::new(model.parts[2].subsystem(&Solver::Exact).unwrap());
    let rigid = rigid.describe(|of| of.step_lengths = StepLengths::MacroSteps).boxed();
    let mut slow = Rate::Every(5).apply(rigid);
    let run = Experiment { start: 0.0, stop: STOP, step: STOP / 1003.0 };
    assert_eq!(slow.initialise(&run).unwrap_err().code(), Code::NeedsMissing);
}

#[test]
fn a_resumed_run_with_rates_has_the_same_bits() {
    let rates = [Rate::Parts(3), Rate::Every(2), Rate::Every(5)];
    let start = || Engine::new(chain("foh", &rates, 1000)).unwrap();
    let bits = |engine: &Engine| engine.outputs().iter().map(|y| y.to_bits()).collect::<Vec<_>>();
    for steps in [0, 1, 3, 10, 57] {
        let mut unbroken = start();
        (0..steps).for_each(|_| unbroken.step().unwrap());
        let mut resumed = start();
        resumed.load(&unbroken.save().unwrap()).unwrap();
        for _ in 0..23 {
            unbroken.step().unwrap();
            resumed.step().unwrap();
            assert_eq!(bits(&unbroken), bits(&resumed), "after {steps} steps");
        }
        assert_eq!(unbroken.save().unwrap(), resumed.save().unwrap());
    }
}

#[test]
fn slow_parts_need_steps_of_one_length_and_fast_ones_do_not() {
    let error =
        varying(chain("foh", &[Rate::Base, Rate::Every(2), Rate::Base], 1000)).err().expect("refused");
    assert_eq!(error.code(), Code::NeedsMissing, "{error}");
    assert!(varying(chain("foh", &[Rate::Base, Rate::Parts(2), Rate::Base], 1000)).is_ok());
    assert_eq!(Rate::default(), Rate::Base);
}
