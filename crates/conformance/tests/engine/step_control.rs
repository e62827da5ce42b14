//! What every control of steps has to keep to, with every method that takes steps of any length.

use costep_core::{
    AfterStep, Code, Connection, Description, Experiment, External, Interval, LengthDemand, PowerBond,
    Restricted, StepLengths, Subsystem,
};
use costep_engine::{CONTROLS, ControlEntry, ControlSpec, Engine, Scheduling, System};
use costep_integrate::{Integrated, Solver};
use costep_methods::{METHODS, MethodSpec};

use costep_conformance::systems::{coupled, method, model};
use costep_conformance::toys::{Lag, Toy, wired};

const STOP: f64 = 0.1;

/// Force and velocity between the masses.
fn bonds() -> Vec<PowerBond> {
    let connection = |output, input| Connection { output, input, gain: 1.0 };
    vec![PowerBond { name: "spring".into(), connections: [connection(1, 2), connection(2, 0)] }]
}

fn spec(entry: &'static ControlEntry) -> ControlSpec {
    ControlSpec::new(entry, 1e-3, STOP)
}

fn controlled(mut system: System, spec: &ControlSpec) -> costep_core::Result<Engine> {
    system.experiment.step = spec.max;
    let control = spec.build(&system.experiment, &bonds());
    Engine::with_control(system, control)
}

fn dual_mass(method: &MethodSpec) -> System {
    coupled(&model("dual-mass", &[]), &Solver::Dopri5(1e-8), method, STOP, STOP)
}

/// Every control with every method that can do without steps of one length, and that it can work with.
fn pairs() -> impl Iterator<Item = (&'static ControlEntry, MethodSpec)> {
    let any = || {
        METHODS
            .iter()
            .map(|entry| method(entry.id))
            .filter(|method| method.build().request().lengths < LengthDemand::Equal)
    };
    let fits = |control: &ControlEntry, method: &MethodSpec| {
        control.takes_tolerance || method.build().request().after_step == AfterStep::Judge
    };
    CONTROLS
        .iter()
        .flat_map(move |control| any().map(move |method| (control, method)))
        .filter(move |(control, method)| fits(control, method))
}

/// A method that a control can work with.
fn usual_method(entry: &ControlEntry) -> MethodSpec {
    method(if entry.takes_tolerance { "foh" } else { "iqn-ils" })
}

/// All steps of a run.
fn steps(engine: &mut Engine) -> Vec<Interval> {
    let mut steps = Vec::new();
    while !engine.is_over() {
        engine.step().unwrap();
        steps.push(engine.last_step());
    }
    steps
}

#[test]
fn steps_join_stay_within_their_limits_and_end_at_the_stop_time() {
    for (entry, method) in pairs() {
        let limits = ControlSpec { min: 2e-5, max: 1.5e-3, first: Some(1e-4), ..spec(entry) };
        let mut engine = controlled(dual_mass(&method), &limits).unwrap();
        let steps = steps(&mut engine);
        let label = format!("{} under {}", method.label(), entry.id);
        assert_eq!((steps[0].start, engine.time()), (0.0, STOP), "{label}");
        assert!(steps.windows(2).all(|pair| pair[0].end == pair[1].start), "{label}");
        let longest = steps.iter().map(|step| step.length).fold(0.0, f64::max);
        assert!(longest <= limits.max * (1.0 + 1e-9), "{label}: {longest}");
        // Two steps that share the rest before a time to be met may each be half as long, and the halves of
        // one.
        let shortest = steps.iter().map(|step| step.length).fold(1.0, f64::min);
        assert!(shortest > 0.24 * limits.min, "{label}: {shortest}");
        let counts = engine.step_counts().unwrap();
        assert_eq!(counts.steps, engine.k(), "{label}");
        assert!(counts.shortest == shortest && counts.longest == longest, "{label}: {counts:?}");
    }
}

#[test]
fn a_resumed_run_has_the_same_bits() {
    for (entry, method) in pairs() {
        let tight = ControlSpec { tolerance: 1e-6, ..spec(entry) };
        let start = || controlled(dual_mass(&method), &tight).unwrap();
        let mut unbroken = start();
        for steps in [1, 2, 30] {
            (0..steps).for_each(|_| drop(one_step(&mut unbroken)));
            let mut resumed = start();
            resumed.load(&unbroken.save().unwrap()).unwrap();
            assert_eq!((resumed.k(), resumed.time()), (unbroken.k(), unbroken.time()));
            let then: Vec<_> = (0..40).map(|_| one_step(&mut unbroken)).collect();
            let now: Vec<_> = (0..40).map(|_| one_step(&mut resumed)).collect();
            assert!(then == now, "{} under {} goes on differently", method.label(), entry.id);
        }
        let state = unbroken.save().unwrap();
        for length in state.len() - 200..state.len() {
            let error = start().load(&state[..length]).unwrap_err();
            assert_eq!(error.code(), Code::CheckpointDamaged, "{} cut to {length}", entry.id);
        }
    }
}

/// Time and outputs after one step, or after the end of the run.
fn one_step(engine: &mut Engine) -> Vec<u64> {
    if !engine.is_over() {
        engine.step().unwrap();
    }
    [engine.time()].iter().chain(engine.outputs()).map(|value| value.to_bits()).collect()
}

#[test]
fn corners_of_external_signals_and_times_of_output_are_met() {
    let jumps = External::Stairs(vec![(0.0, 0.0), (0.0123, 500.0), (0.05, -200.0)]);
    for entry in CONTROLS {
        let mut system = dual_mass(&usual_method(entry));
        system.externals = vec![(0, jumps.clone())];
        let spec = ControlSpec { meets: Some(0.007), also: vec![0.0311], ..spec(entry) };
        let mut engine = controlled(system, &spec).unwrap();
        let ends: Vec<f64> = steps(&mut engine).iter().map(|step| step.end).collect();
        let outputs = (1..=14).map(|k| 0.007 * f64::from(k));
        for time in [0.0123, 0.05, 0.0311].into_iter().chain(outputs) {
            assert!(ends.iter().any(|end| (end - time).abs() < 1e-15), "{}: {time} of {ends:?}", entry.id);
        }
        // A jump is followed by shorter steps.
        let after = ends.iter().position(|end| (end - 0.0123).abs() < 1e-15).unwrap();
        assert!(ends[after + 1] - ends[after] < 0.5 * (ends[after - 2] - ends[after - 3]), "{}", entry.id);
    }
}

#[test]
fn steps_are_multiples_of_the_inner_step_of_a_subsystem() {
    let inner = 1e-4;
    for entry in CONTROLS {
        let mut system = dual_mass(&usual_method(entry));
        let first = Restricted::new(system.subsystems.remove(0));
        let first = first.describe(|of| of.step_lengths = StepLengths::MultiplesOf(inner)).boxed();
        system.subsystems.insert(0, first);
        let spec = ControlSpec { tolerance: 1e-2, ..spec(entry) };
        let steps = steps(&mut controlled(system, &spec).unwrap());
        let parts = if entry.id == "richardson" { 2.0 } else { 1.0 };
        for step in steps {
            let multiple = parts * step.length / inner;
            assert!((multiple - multiple.round()).abs() < 1e-6 && multiple > 0.5, "{}: {multiple}", entry.id);
        }
    }
}

#[test]
fn who_needs_what_is_not_there_is_told() {
    let find = |id| ControlSpec::find(id).unwrap();
    let rigid = |part: Box<dyn Subsystem>| Restricted::new(part).without_rollback().boxed();
    let mut system = dual_mass(&method("foh"));
    system.subsystems = system.subsystems.into_iter().map(rigid).collect();
    let error = controlled(system, &spec(find("richardson"))).err().expect("it cannot go back");
    assert!(error.code() == Code::ControlNeeds && error.to_string().contains("`s1`"), "{error}");
    let system = dual_mass(&method("foh"));
    let control = spec(find("ecco")).build(&system.experiment, &[]);
    assert_eq!(Engine::with_control(system, control).err().unwrap().code(), Code::ControlNeeds);
    let error =
        controlled(dual_mass(&method("foh")), &spec(find("convergence"))).err().expect("it repeats nothing");
    assert!(error.code() == Code::ControlNeeds && error.to_string().contains("repeats"), "{error}");
    let error = ControlSpec::find("defekt").unwrap_err();
    assert!(error.code() == Code::UnknownControl && error.to_string().contains("`defect`"), "{error}");
    // The others go on without rollback.
    for id in ["defect", "predictor-corrector", "ecco"] {
        let mut system = dual_mass(&method("foh"));
        system.subsystems = system.subsystems.into_iter().map(rigid).collect();
        let mut engine = controlled(system, &spec(find(id))).unwrap();
        steps(&mut engine);
        assert_eq!(engine.step_counts().unwrap().rejected, 0);
    }
}

/// What rests takes the longest steps, and an output that jumps does not stop a run.
#[test]
fn rest_takes_long_steps_and_jumps_are_passed() {
    for id in ["defect", "predictor-corrector", "richardson"] {
        let entry = ControlSpec::find(id).unwrap();
        let follower = || {
            Toy::new("follower", 1, 1, |_, u, y| {
                y[0] = u[0];
                Ok(())
            })
        };
        for (jump, most) in [(0.0, 60), (1.0, 400)] {
            let source = Toy::source("source", move |t| if t < 0.0321 { 0.0 } else { jump });
            let mut system = wired(vec![source.boxed(), follower().boxed()], &[(0, 0)], &method("zoh"));
            system.experiment = Experiment { start: 0.0, stop: STOP, step: STOP };
            system.scheduling = costep_engine::Scheduling::Parallel;
            let mut engine = controlled(system, &spec(entry)).unwrap();
            let steps = steps(&mut engine);
            assert!(steps.len() < most, "{id}: {} steps", steps.len());
            assert_eq!(engine.outputs()[1], jump, "{id}");
        }
    }
}

/// An output that jumps in a system at rest, and what follows from it: the time of the jump is the error.
#[test]
fn the_time_of_a_jump_is_found_as_closely_as_steps_may_be_short() {
    let exact = 1.0 - (0.0321 - STOP).exp();
    for (id, close) in [("richardson", 1e-4), ("defect", 1e-2)] {
        let entry = ControlSpec::find(id).unwrap();
        for scheduling in [Scheduling::Sequential(Vec::new()), Scheduling::Parallel] {
            let source = Toy::source("source", |t| if t < 0.0321 { 0.0 } else { 1.0 });
            let lag = Integrated::new(Lag::new("lag", 1.0, 0.0), &Solver::Exact).unwrap();
            let mut system = wired(vec![source.boxed(), Box::new(lag)], &[(0, 0)], &method("zoh"));
            system.experiment = Experiment { start: 0.0, stop: STOP, step: STOP };
            let label = format!("{id} {scheduling:?}");
            system.scheduling = scheduling;
            let mut engine = controlled(system, &spec(entry)).unwrap();
            let steps = steps(&mut engine);
            let error = (engine.outputs()[1] / exact - 1.0).abs();
            assert!(error < close && steps.len() < 600, "{label}: {error:e} with {} steps", steps.len());
        }
    }
}

/// Explicit Euler with steps of 10 us inside: whole steps and halves shorter than that differ by its error, which is not the
/// coupling's. This run took 160,000 steps, of down to 0.2 us.
#[test]
fn richardson_does_not_follow_the_error_of_inner_steps() {
    let run = |inner: Option<f64>| {
        let stop = 0.02;
        let system =
            coupled(&model("chain", &[("n", 6.0)]), &Solver::Euler(1e-5), &method("foh"), stop, 0.1 * stop);
        let spec =
            ControlSpec { inner, ..ControlSpec::new(ControlSpec::find("richardson").unwrap(), 1e-4, stop) };
        let mut engine = controlled(system, &spec).unwrap();
        while !engine.is_over() {
            engine.step().unwrap();
        }
        engine.step_counts().unwrap()
    };
    let (followed, kept) = (run(None), run(Some(1e-5)));
    println!("{followed:?}, {kept:?}");
    assert!(kept.steps < 2000 && 10 * kept.steps < followed.steps, "{kept:?} {followed:?}");
    assert!(kept.shortest > 0.999e-5, "{kept:?}");
}

/// Forces that follow an input at once show what that input lacks at the end of a step, which is gone with the next: measured as something
/// that adds up, it asked for ten times the steps at a tenth of the tolerance.
#[test]
fn richardson_takes_the_steps_of_the_order_of_a_method() {
    let run = |tolerance: f64| {
        let stop = 0.02;
        let system =
            coupled(&model("chain", &[("n", 6.0)]), &Solver::Exact, &method("foh"), stop, 0.1 * stop);
        let spec = ControlSpec::new(ControlSpec::find("richardson").unwrap(), tolerance, stop);
        let mut engine = controlled(system, &spec).unwrap();
        steps(&mut engine).len()
    };
    let (few, many) = (run(1e-3), run(1e-4));
    assert!(many < 5 * few && many < 2000, "{few} {many}");
}

/// FMUs that do not say what their outputs depend on, with held inputs: a force lags behind what it follows by a step, however short. As an error that adds up, that
/// asked for the shortest steps for ever.
#[test]
fn richardson_finds_what_follows_an_input_at_once() {
    let run = |id: &str, tolerance: f64| {
        let stop = 0.1;
        let mut system = coupled(&model("dual-mass", &[]), &Solver::Exact, &method(id), stop, 0.1 * stop);
        let silent = |part: Box<dyn Subsystem>| {
            let says_nothing = |description: &mut Description| description.assumes_feedthrough = true;
            Restricted::new(part).describe(says_nothing).boxed()
        };
        system.subsystems = system.subsystems.into_iter().map(silent).collect();
        let spec = ControlSpec::new(ControlSpec::find("richardson").unwrap(), tolerance, stop);
        let mut engine = controlled(system, &spec).unwrap();
        let mut count = 0;
        while !engine.is_over() && count < 100_000 {
            engine.step().unwrap();
            count += 1;
        }
        (count, engine.step_counts().unwrap().missed)
    };
    for id in ["zoh", "nepce"] {
        let (few, many) = (run(id, 1e-2), run(id, 1e-3));
        println!("{id}: {few:?} {many:?}");
        assert!(few.0 < 5_000 && many.0 < 60_000 && many.1 < 1000, "{id}: {few:?} {many:?}");
    }
}

/// Models of black boxes are kept for each length: `identified` needs a fraction of the steps of `nepce`, and its steps are on a ladder but
/// where they meet the end.
#[test]
fn what_is_learnt_is_kept_when_lengths_change() {
    let run = |id: &str| {
        let mut system = coupled(
            &model("dual-mass", &[("ck", 1e5), ("dk", 1e3)]),
            &Solver::Exact,
            &method(id),
            STOP,
            STOP,
        );
        let rigid = |part| Restricted::new(part).without_rollback().boxed();
        system.subsystems = system.subsystems.into_iter().map(rigid).collect();
        steps(&mut controlled(system, &spec(&CONTROLS[0])).unwrap())
    };
    let (extrapolated, learnt) = (run("nepce"), run("identified:form=ramp"));
    let rungs = learnt[..learnt.len() - 2].iter().map(|step| (step.length / learnt[0].length).log2());
    assert!(rungs.clone().all(|rung| rung == rung.round()), "{:?}", rungs.collect::<Vec<_>>());
    let longest = learnt.iter().map(|step| step.length).fold(0.0, f64::max);
    assert!(longest > 1e-3 && 4 * learnt.len() < extrapolated.len(), "{longest} {}", learnt.len());
}

/// A truck that rests until it meets a kerb: what it does then hardly depends on how it got there. With steps of a tenth of those at rest parts that cannot go
/// back were wrong by 180 times the tolerance; with `nepce` what short steps lacked was given back over what was left of a long one, and
/// thousands of steps of the shortest length were beyond the tolerance all the while.
#[test]
fn a_jump_after_rest_is_met_whatever_the_first_step() {
    const STOP: f64 = 1.0;
    // Outputs every 10 ms, and the number of steps.
    let run = |id: &str, first: f64, is_rigid: bool, tolerance: f64| {
        let mut system = coupled(&model("quarter-truck", &[]), &Solver::Exact, &method(id), STOP, STOP);
        if is_rigid {
            let rigid = |part| Restricted::new(part).without_rollback().boxed();
            system.subsystems = system.subsystems.into_iter().map(rigid).collect();
        }
        let spec = ControlSpec {
            first: Some(first),
            meets: Some(0.01),
            ..ControlSpec::new(&CONTROLS[0], tolerance, STOP)
        };
        let mut engine = controlled(system, &spec).unwrap();
        let (mut rows, mut count) = (Vec::new(), 0);
        while !engine.is_over() {
            engine.step().unwrap();
            count += 1;
            let points = engine.last_step().end / 0.01;
            if (points - points.round()).abs() < 1e-9 {
                rows.push(engine.outputs().to_vec());
            }
        }
        assert_eq!(rows.len(), 100);
        (rows, count)
    };
    let (exact, _) = run("predictive", 1e-4, false, 1e-7);
    // Root mean square as a share of the range, mean over the outputs.
    let error = |rows: &[Vec<f64>]| {
        let of = |i: usize| {
            let square: f64 = rows.iter().zip(&exact).map(|(row, exact)| (row[i] - exact[i]).powi(2)).sum();
            let range = |low: f64, value: f64| (low.min(value), low.max(value));
            let (low, high) = exact.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), row| {
                (range(low, row[i]).0, range(high, row[i]).1)
            });
            (square / rows.len() as f64).sqrt() / (high - low)
        };
        (0..exact[0].len()).map(of).sum::<f64>() / exact[0].len() as f64
    };
    for (id, most_steps) in [("nepce", 4000), ("foh", 700)] {
        for is_rigid in [false, true] {
            for first in [1e-6, 1e-4, 1e-3] {
                let (rows, count) = run(id, first, is_rigid, 1e-3);
                let error = error(&rows);
                println!("{id}, rigid {is_rigid}, {first}: {error:.1e}, {count} steps");
                assert!((4e-5..2e-3).contains(&error), "{id} {is_rigid} {first}: {error:e}");
                assert!(count < most_steps, "{id} {is_rigid} {first}: {count}");
            }
        }
    }
}
