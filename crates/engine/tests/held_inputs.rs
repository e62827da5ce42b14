//! Predictive coupling of subsystems that take less than it could give, or tell less than it would like to know.

use costep_conformance::systems::{coupled, method, model};
use costep_core::{
    Experiment, InputSegment, Interval, Restricted, Result, StepLengths, StepOutcome, Subsystem, Variation,
    Wrapper,
};
use costep_engine::Engine;
use costep_integrate::Solver;

/// A subsystem that is held to its description, orders of inputs and lengths of steps, and to the stop time as
/// FMUs are told.
struct Strict(Box<dyn Subsystem>, f64);

impl Wrapper for Strict {
    fn inner(&self) -> &dyn Subsystem {
        &*self.0
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.0
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.1 = experiment.latest_sum(1);
        self.0.initialise(experiment)
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        assert!(interval.start + interval.length <= self.1, "{interval:?} {}", self.1);
        assert!(u.order() <= self.0.description().input_order);
        assert!(self.0.description().can_step_by(interval.length));
        self.0.step(interval, u, y)
    }
}

const STEP: f64 = 1e-3;

/// An engine over the dual mass oscillator whose parts take inputs of these orders and steps of this length.
fn limited(label: &str, orders: [usize; 2], least: f64) -> Result<Engine> {
    limited_over(label, orders, StepLengths::MultiplesOf(least), (0.1, STEP))
}

fn limited_over(
    label: &str,
    orders: [usize; 2],
    lengths: StepLengths,
    (stop, step): (f64, f64),
) -> Result<Engine> {
    let linear = model("dual-mass", &[]);
    let mut system = coupled(&linear, &Solver::Exact, &method(label), stop, step);
    let parts = std::mem::take(&mut system.subsystems).into_iter().zip(orders);
    let limit = |(inner, order): (Box<dyn Subsystem>, usize)| -> Box<dyn Subsystem> {
        let limited = Restricted::new(inner).without_micro_samples().without_environment();
        let limited = limited.describe(|description| {
            (description.input_order, description.step_lengths) = (order, lengths);
        });
        Box::new(Strict(limited.boxed(), 0.0))
    };
    system.subsystems = parts.map(limit).collect();
    Engine::new(system)
}

/// Relative error of x1 after 0.1 s against a run at a tenth of the step with free inputs.
fn error(label: &str, orders: [usize; 2]) -> f64 {
    let x1 = |mut engine: Engine| {
        while engine.k() < engine.experiment().steps() {
            engine.step().unwrap();
        }
        engine.outputs()[0]
    };
    let linear = model("dual-mass", &[]);
    let fine = coupled(&linear, &Solver::Exact, &method("predictive:order=3"), 0.1, 0.1 * STEP);
    let fine = x1(Engine::new(fine).unwrap());
    let error = (x1(limited(label, orders, 1e-6).unwrap()) - fine).abs() / 0.1;
    println!("{label} {orders:?}: {error:.1e}");
    error
}

#[test]
fn each_input_gets_the_order_that_its_subsystem_takes() {
    let (free, mixed, held) =
        (error("predictive", [8, 8]), error("predictive", [8, 0]), error("predictive", [0, 0]));
    assert!(free < 1e-8 && mixed < 5e-4 && held < 1e-3 && mixed < held, "{free:e} {mixed:e} {held:e}");
}

#[test]
fn substeps_take_the_place_of_input_polynomials() {
    let held = error("predictive", [0, 0]);
    let four = error("predictive:substeps=4", [0, 0]);
    let twenty = error("predictive:substeps=20", [0, 0]);
    assert!(four < 0.3 * held && twenty < 0.3 * four, "{held:e} {four:e} {twenty:e}");
}

#[test]
fn inputs_that_take_no_polynomial_hold_its_mean() {
    // Of second order, but for what outputs with direct feedthrough still contain of the mean.
    let hold = error("zoh:feedthrough=true", [0, 0]);
    let (line, free) = (error("foh:feedthrough=true", [0, 0]), error("foh:feedthrough=true", [8, 8]));
    assert!(line < 0.1 * hold && line < 2.0 * free, "{hold:e} {line:e} {free:e}");
    assert!(error("foh", [0, 0]) < 0.5 * error("zoh", [0, 0]));
    for label in ["foh", "soh"] {
        let mut engine = limited(label, [0, 8], 1e-6).unwrap();
        let warning = engine.warnings().next().unwrap_or_default().to_owned();
        assert!(warning.contains("mean") && warning.contains("s1.F"), "{warning}");
        let mut before = engine.coupled()[0];
        for k in 0..10 {
            let now = engine.coupled()[0];
            engine.step().unwrap();
            if label == "foh" {
                let expected = now + if k == 0 { 0.0 } else { 0.5 * (now - before) };
                let given = engine.inputs().coefficients(0)[0];
                assert!((given - expected).abs() <= 1e-12 * expected.abs(), "{given} {expected}");
            }
            assert_eq!(engine.inputs().coefficients(1)[0], 0.0);
            before = now;
        }
        assert!(engine.inputs().coefficients(1)[1] != 0.0);
        assert!(limited(label, [8, 8], 1e-6).unwrap().warnings().next().is_none());
    }
}

#[test]
fn inputs_of_first_order_follow_the_line_nearest_to_a_parabola() {
    let label = "soh:feedthrough=true";
    let (held, line, free) = (error(label, [0, 0]), error(label, [1, 1]), error(label, [8, 8]));
    assert!(line < 0.6 * held && (line / free - 1.0).abs() < 0.01, "{held:e} {line:e} {free:e}");
    let mut engine = limited("soh", [1, 8], 1e-6).unwrap();
    (0..5).for_each(|_| engine.step().unwrap());
    // The inputs are F of the first part, then x and v for the second one.
    let [slopes, curvatures] = [1, 2].map(|a| engine.inputs().coefficients(a).to_vec());
    assert!(slopes[0] != 0.0 && curvatures[0] == 0.0 && curvatures[1] != 0.0, "{slopes:?} {curvatures:?}");
}

#[test]
fn stepwise_inputs_hold_means_beside_others_that_follow_polynomials() {
    let engine = |variation: Variation| {
        let linear = model("dual-mass", &[]);
        let mut system = coupled(&linear, &Solver::Exact, &method("foh"), 0.1, STEP);
        let second = system.subsystems.pop().unwrap();
        let described = Restricted::new(second).describe(|of| of.inputs[0].variation = variation);
        system.subsystems.push(described.boxed());
        Engine::new(system).unwrap()
    };
    let (mut stepwise, mut free) = (engine(Variation::Stepwise), engine(Variation::Continuous));
    for engine in [&mut stepwise, &mut free] {
        (0..2).for_each(|_| engine.step().unwrap());
    }
    // The inputs are F of the first part, then x and v for the second one.
    let slopes = [&stepwise, &free].map(|engine| engine.inputs().coefficients(1).to_vec());
    assert!(slopes[0][1] == 0.0 && slopes[0][2] != 0.0 && slopes[1][1] != 0.0, "{slopes:?}");
    assert!(stepwise.inputs().coefficients(0)[1] != free.inputs().coefficients(0)[1]);
}

#[test]
fn what_discrete_outputs_feed_is_held() {
    let linear = model("dual-mass", &[]);
    let mut system = coupled(&linear, &Solver::Exact, &method("foh"), 0.1, STEP);
    let first = system.subsystems.remove(0);
    let described = Restricted::new(first).describe(|of| of.outputs[0].variation = Variation::Discrete);
    system.subsystems.insert(0, described.boxed());
    let mut engine = Engine::new(system).unwrap();
    for _ in 0..5 {
        let now = engine.coupled().to_vec();
        engine.step().unwrap();
        assert_eq!((engine.inputs().coefficients(0)[1], engine.inputs().coefficients(1)[1]), (now[1], 0.0));
    }
    assert!(engine.inputs().coefficients(1)[2] != 0.0);
}

#[test]
fn parts_of_a_step_that_a_subsystem_cannot_do_are_refused() {
    assert!(limited("predictive:substeps=4", [0, 0], 2.5e-4).is_ok());
    let error = limited("predictive:substeps=3", [0, 0], 2.5e-4).err().unwrap();
    assert!(error.to_string().contains("cannot do steps of"), "{error}");
}

#[test]
fn no_part_of_a_step_leads_behind_the_stop_time_that_was_told() {
    for (stop, step, parts) in [(3.0, 0.1, 4), (0.3, 0.02, 2), (1.7, 0.05, 5)] {
        let label = format!("predictive:substeps={parts}");
        let mut engine = limited_over(&label, [0, 0], StepLengths::Any, (stop, step)).unwrap();
        engine.run(&mut []).unwrap();
        assert_eq!(engine.time(), stop);
    }
}

#[test]
fn a_last_step_whose_parts_a_subsystem_cannot_do_is_a_whole_one() {
    // Of 10.5 steps the last is 0.5 ms: two inner steps of 0.25 ms, but not four.
    let over = (0.0105, STEP);
    for (label, end) in [("predictive:substeps=2", 0.0105), ("predictive:substeps=4", 0.011)] {
        let mut engine = limited_over(label, [0, 0], StepLengths::MultiplesOf(2.5e-4), over).unwrap();
        engine.run(&mut []).unwrap();
        assert!((engine.time() - end).abs() < 1e-12, "{label}: {}", engine.time());
    }
}

#[test]
fn trial_steps_are_as_long_as_the_subsystem_can_do() {
    let label = "predictive:source=finite-difference";
    let mut engine = limited(label, [8, 8], 2.5e-4).unwrap();
    (0..20).for_each(|_| engine.step().unwrap());
    let error = limited(label, [8, 8], STEP).err().unwrap();
    assert!(error.to_string().contains("finite differences need steps shorter than"), "{error}");
}

#[test]
fn observers_and_persistent_offsets_come_near_the_states() {
    for (label, allowed) in [
        ("predictive:states=kalman", 1e-6),
        ("predictive:states=disturbance", 1e-6),
        ("predictive:offsets=persistent", 1e-6),
        ("predictive:states=outputs", 1e-3),
    ] {
        let error = error(label, [8, 8]);
        assert!(error < allowed, "{label}: {error:e}");
    }
}

#[test]
fn lis_holds_where_a_subsystem_integrates_itself_and_names_another_method() {
    let run = |label: &str| {
        let mut engine = limited(label, [8, 8], 1e-6).unwrap();
        (0..20).for_each(|_| engine.step().unwrap());
        (engine.outputs().to_vec(), engine.warnings().map(String::from).collect::<Vec<_>>())
    };
    let ((held, none), (fallback, warnings)) = (run("zoh"), run("lis"));
    assert_eq!(held, fallback);
    assert!(none.is_empty() && warnings.len() == 1, "{warnings:?}");
    assert!(warnings[0].contains("as by `zoh`") && warnings[0].contains("`predictive`"), "{warnings:?}");
}
