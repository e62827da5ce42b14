//! FMUs for Co-Simulation in coupled runs, compared with native subsystems.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod fmus;

use std::sync::Arc;

use costep_core::{
    Capabilities, Code, Connection, Experiment, InputPolynomials, Interval, Linearisation, Linearised,
    LocalModel, MicroRecorder, Persistence, Rollback, StateReader, StateWriter, Subsystem, Telemetry,
    Variation,
};
use costep_engine::{Engine, System};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, FmuLibrary, InputRouting, SignalVariations};
use costep_fmu_file::Values;
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use fmus::{BOTH, Fmi, Variant, build, build_as, build_edited, build_wide, instance, options};

fn system(subsystems: Vec<Box<dyn Subsystem>>, connections: Vec<Connection>, method: &str, h: f64) -> System {
    System::new(
        subsystems,
        connections,
        (MethodSpec::parse(method).unwrap().build(), Box::new(costep_ident::Exact::new(1))),
        Experiment { start: 0.0, stop: 0.1, step: h },
    )
}

/// The outputs x, v and F over a run of the native dual mass oscillator.
fn native(method: &str, h: f64) -> Vec<[f64; 3]> {
    let model = costep_models::find("dual-mass").unwrap().model(&[]).unwrap().1;
    let solver = Solver::Euler(1e-5);
    let parts = model.parts.iter().map(|part| part.subsystem(&solver).unwrap()).collect();
    run(system(parts, model.connections.clone(), method, h))
}

/// The same with FMUs.
fn coupled(fmi: Fmi, method: &str, h: f64) -> Vec<[f64; 3]> {
    let (s1, s2) = (build(fmi, "S1").load(), build(fmi, "S2").load());
    let make = |library: &Arc<FmuLibrary>, name: &str| -> Box<dyn Subsystem> {
        let options = CoSimulationOptions { input_order: Some(4), ..CoSimulationOptions::default() };
        Box::new(CoSimulationSubsystem::new(library, name, &options).unwrap())
    };
    run(system(vec![make(&s1, "s1"), make(&s2, "s2")], loop_of_two(), method, h))
}

/// S1 and S2 as FMUs: F to S1, x and v to S2.
fn loop_of_two() -> Vec<Connection> {
    [(2, 0), (0, 1), (1, 2)].map(|(output, input)| Connection { output, input, gain: 1.0 }).to_vec()
}

fn run(system: System) -> Vec<[f64; 3]> {
    let mut engine = Engine::new(system).unwrap();
    let row = |engine: &Engine| [engine.outputs()[0], engine.outputs()[1], engine.outputs()[2]];
    let mut rows = vec![row(&engine)];
    while engine.k() < engine.experiment().steps() {
        engine.step().unwrap();
        rows.push(row(&engine));
    }
    rows
}

/// Largest difference relative to the largest value of each signal.
fn difference(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    assert_eq!(a.len(), b.len());
    let mut worst: f64 = 0.0;
    for signal in 0..3 {
        let size = a.iter().fold(0.0, |size: f64, row| size.max(row[signal].abs()));
        for (a, b) in a.iter().zip(b) {
            worst = worst.max((a[signal] - b[signal]).abs() / size);
        }
    }
    worst
}

#[test]
fn coupled_fmus_equal_native_subsystems() {
    for fmi in BOTH {
        let worst = difference(&native("zoh", 1e-4), &coupled(fmi, "zoh", 1e-4));
        println!("{fmi:?} zoh: {worst:e}");
        assert!(worst <= 1e-12, "{fmi:?} zoh: {worst:e}");
    }
}

#[test]
fn input_polynomials_equal_native_ones() {
    // Native parts tell that they take Euler steps, FMUs do not.
    for method in ["foh", "soh", "predictive:euler_step=1e-5"] {
        let native = native(method, 1e-4);
        for fmi in BOTH {
            let worst = difference(&native, &coupled(fmi, method, 1e-4));
            println!("{fmi:?} {method}: {worst:e}");
            assert!(worst <= 1e-12, "{fmi:?} {method}: {worst:e}");
        }
    }
}

#[test]
fn micro_samples_equal_native_ones() {
    for method in ["nepce", "mbcorr"] {
        let worst = difference(&native(method, 1e-4), &coupled(Fmi::V3, method, 1e-4));
        println!("{method}: {worst:e}");
        assert!(worst <= 1e-12, "{method}: {worst:e}");
    }
}

#[test]
fn a_resumed_run_has_the_same_bits() {
    for fmi in BOTH {
        let (s1, s2) = (build(fmi, "S1").load(), build(fmi, "S2").load());
        let engine = || {
            let subsystems: Vec<Box<dyn Subsystem>> =
                vec![Box::new(instance(&s1, "s1")), Box::new(instance(&s2, "s2"))];
            Engine::new(system(subsystems, loop_of_two(), "foh", 1e-4)).unwrap()
        };
        let mut whole = engine();
        (0..50).for_each(|_| whole.step().unwrap());
        let saved = whole.save().unwrap();
        let mut resumed = engine();
        resumed.load(&saved).unwrap();
        for _ in 0..50 {
            whole.step().unwrap();
            resumed.step().unwrap();
            assert_eq!(whole.outputs(), resumed.outputs());
        }
    }
}

#[test]
fn held_model_based_inputs_equal_native_ones() {
    for fmi in BOTH {
        // The FMUs do not tell that they take explicit Euler steps of 10 us; the native parts do.
        for method in ["predictive:order=0,inner_steps=false", "predictive:order=0,euler_step=1e-5"] {
            let worst = difference(&native(method, 1e-4), &coupled(fmi, method, 1e-4));
            println!("{fmi:?} {method}: {worst:e}");
            assert!(worst <= 1e-12, "{fmi:?} {method}: {worst:e}");
        }
    }
}

const RUN: Experiment = Experiment { start: 0.0, stop: 1.0, step: 1e-3 };

fn started(library: &Arc<FmuLibrary>, u: &[f64]) -> (CoSimulationSubsystem, Vec<f64>) {
    let mut subsystem = instance(library, "s");
    let mut y = vec![0.0; subsystem.description().outputs.len()];
    subsystem.initialise(&RUN).unwrap();
    subsystem.initial_outputs(u, &mut y).unwrap();
    (subsystem, y)
}

fn step(subsystem: &mut dyn Subsystem, k: u64, u: &[f64]) -> Vec<f64> {
    let mut inputs = InputPolynomials::new(u.len(), 0);
    inputs.coefficients_mut(0).copy_from_slice(u);
    let mut y = vec![0.0; subsystem.description().outputs.len()];
    let outcome = subsystem.step(RUN.interval(k), inputs.segment(0..u.len(), 0), &mut y).unwrap();
    assert_eq!(outcome.reached, RUN.time(k + 1));
    y
}

#[test]
fn descriptions_come_from_the_model_description() {
    for fmi in BOTH {
        let mut subsystem = instance(&build(fmi, "S2").load(), "s2");
        let capabilities = Capabilities::of(&mut subsystem);
        let description = subsystem.description();
        assert_eq!(description.name, "s2");
        let names =
            |ports: &[costep_core::Port]| -> Vec<String> { ports.iter().map(|p| p.name.clone()).collect() };
        assert_eq!(names(&description.inputs), ["u1", "u2"]);
        assert_eq!(names(&description.outputs), ["F", "x", "v"]);
        assert_eq!(description.feedthrough, [vec![0, 1], vec![], vec![]]);
        assert!(capabilities.rollback && capabilities.linearisation == Linearisation::Full);
        assert_eq!(description.input_order, if fmi == Fmi::V2 { 1 } else { 8 });
        assert_eq!(capabilities.micro_samples.is_some(), fmi == Fmi::V3);
        assert_eq!(capabilities.states, 2);
    }
}

/// FMI 3.0, Intermediate Update Mode: first all values are got, then some may be set. The FMU refuses another order.
#[test]
fn inside_a_step_outputs_are_got_before_inputs_are_set() {
    let library = build(Fmi::V3, "S2").load();
    let (mut subsystem, _) = started(&library, &[0.1, 0.0]);
    subsystem.record(true, &RUN);
    let mut inputs = InputPolynomials::new(2, 1);
    let mut y = [0.0; 3];
    for k in 0..3 {
        inputs.coefficients_mut(0).copy_from_slice(&[0.1, 0.0]);
        inputs.coefficients_mut(1).copy_from_slice(&[100.0, 0.0]);
        subsystem.step(RUN.interval(k), inputs.segment(0..2, 1), &mut y).unwrap();
        let samples = subsystem.micro_samples().unwrap();
        assert!(samples.times.len() > 10, "{}", samples.times.len());
        // The force at the start is that of the input there, and follows it.
        assert!((samples.outputs[3] + 1e4).abs() < 2e3, "{}", samples.outputs[3]);
        assert!(samples.outputs[samples.outputs.len() - 6] < -1.5e4);
    }
}

#[test]
fn initial_outputs_can_be_asked_for_repeatedly() {
    for fmi in BOTH {
        let library = build(fmi, "S2").load();
        let (mut subsystem, mut y) = started(&library, &[0.1, 0.0]);
        assert_eq!(y, [-1e4, 0.0, 0.0]);
        subsystem.initial_outputs(&[0.2, 1.0], &mut y).unwrap();
        assert_eq!(y, [-2.1e4, 0.0, 0.0]);
        step(&mut subsystem, 0, &[0.2, 1.0]);
        assert_eq!(subsystem.initial_outputs(&[0.0; 2], &mut y).unwrap_err().code(), Code::Bug);
        // A run can be started again.
        subsystem.initialise(&RUN).unwrap();
        subsystem.initial_outputs(&[0.1, 0.0], &mut y).unwrap();
        assert_eq!(y, [-1e4, 0.0, 0.0]);
    }
}

#[test]
fn local_models_are_the_jacobians() {
    for fmi in BOTH {
        let library = build(fmi, "S2").load();
        let (mut subsystem, _) = started(&library, &[0.1, 0.0]);
        let mut model = LocalModel::new(2, 2, 3);
        subsystem.local_model(&[0.1, 0.0], &mut model).unwrap();
        assert_eq!(model.a, [0.0, 1.0, -(1e7 + 1e5) / 10.0, -(2.0 + 1e3) / 10.0]);
        assert_eq!(model.b, [0.0, 0.0, 1e4, 1e2]);
        assert_eq!(model.c, [1e5, 1e3, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(model.d, [-1e5, -1e3, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!((model.x[0], model.x_dot[1]), (0.0, 1e3));
        // Another input than the FMU has: x' is carried over.
        subsystem.local_model(&[0.2, 0.0], &mut model).unwrap();
        assert_eq!(model.x_dot[1], 2e3);
        step(&mut subsystem, 0, &[0.1, 0.0]);
    }
}

/// S1 and S2, whose states nobody knows.
fn without_states(fmi: Fmi) -> Vec<Box<dyn Subsystem>> {
    let variant = Variant { hides_states: true, ..Variant::default() };
    let make = |model: &str, name: &str| -> Box<dyn Subsystem> {
        Box::new(instance(&build_as(fmi, model, model, variant).load(), name))
    };
    vec![make("S1", "s1"), make("S2", "s2")]
}

#[test]
fn without_states_the_feedthrough_is_known() {
    for fmi in BOTH {
        let mut parts = without_states(fmi);
        for part in &mut parts {
            let capabilities = Capabilities::of(&mut **part);
            assert_eq!((capabilities.linearisation, capabilities.states), (Linearisation::Feedthrough, 0));
        }
        let s2 = &mut parts[1];
        s2.initialise(&RUN).unwrap();
        s2.initial_outputs(&[0.1, 0.0], &mut [0.0; 3]).unwrap();
        let mut model = LocalModel::new(0, 2, 3);
        s2.demand_linearised().unwrap().local_model(&[0.1, 0.0], &mut model).unwrap();
        assert_eq!(model.d, [-1e5, -1e3, 0.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn the_feedthrough_is_enough_for_what_uses_no_more() {
    for fmi in BOTH {
        for method in ["feedthrough", "nepce:feedthrough=true", "identified:feedthrough=true"] {
            let alone = run(system(without_states(fmi), loop_of_two(), method, 1e-3));
            let (s1, s2) = (build(fmi, "S1").load(), build(fmi, "S2").load());
            let whole: Vec<Box<dyn Subsystem>> =
                vec![Box::new(instance(&s1, "s1")), Box::new(instance(&s2, "s2"))];
            assert_eq!(alone, run(system(whole, loop_of_two(), method, 1e-3)), "{method}");
        }
        let error =
            Engine::new(system(without_states(fmi), loop_of_two(), "predictive", 1e-3)).err().unwrap();
        assert_eq!(error.code(), Code::NeedsMissing, "{error}");
        let text = error.to_string();
        assert!(text.contains("`s1` gives no Jacobians of its states"), "{text}");
    }
}

#[test]
fn auto_uses_the_feedthrough_where_no_states_are_known() {
    for fmi in BOTH {
        let engine = Engine::new(system(without_states(fmi), loop_of_two(), "auto", 1e-3)).unwrap();
        let remarks: Vec<_> = engine.remarks().collect();
        assert!(
            remarks.len() == 1 && remarks[0].contains("feedthrough=true, because all subsystems give"),
            "{remarks:?}"
        );
    }
}

#[test]
fn adjoint_derivatives_give_the_same_local_model() {
    let adjoint = |text: String| {
        let edited = text.replace("providesDirectionalDerivatives", "providesAdjointDerivatives");
        assert_ne!(edited, text);
        edited
    };
    let filled = |library: &Arc<FmuLibrary>| {
        let (mut subsystem, _) = started(library, &[0.1, 0.0]);
        assert_eq!(subsystem.level(), Linearisation::Full);
        let mut model = LocalModel::new(2, 2, 3);
        subsystem.local_model(&[0.2, 0.0], &mut model).unwrap();
        model
    };
    let (by_rows, by_columns) =
        (filled(&build_edited(Fmi::V3, "S2", adjoint).load()), filled(&build(Fmi::V3, "S2").load()));
    assert_eq!((by_rows.a, by_rows.b), (by_columns.a, by_columns.b));
    assert_eq!((by_rows.c, by_rows.d, by_rows.x_dot), (by_columns.c, by_columns.d, by_columns.x_dot));
}

/// Adjoint derivatives that are not promised do not stand in for directional ones that are promised and missing.
#[test]
fn adjoint_derivatives_have_to_be_promised() {
    for (attributes, expected) in
        [("", Linearisation::None), ("providesAdjointDerivatives=\"true\"", Linearisation::Full)]
    {
        let variant = Variant { flag: "-DNO_DIRECTIONAL", attributes, ..Variant::default() };
        let mut subsystem = instance(&build_as(Fmi::V3, "S2", "S2", variant).load(), "s");
        assert_eq!(Capabilities::of(&mut subsystem).linearisation, expected, "{attributes}");
    }
}

/// FMUs that fail if an input without a source is set: they get no values, no derivatives and none inside a step.
#[test]
fn open_inputs_are_never_set() {
    let cases = [("u1", 1, "-DREFUSED=0"), ("u2", 2, "-DREFUSED=3")];
    for (fmi, (name, input, refuses)) in BOTH.into_iter().flat_map(|fmi| cases.map(|case| (fmi, case))) {
        let outputs = |flag, open| {
            let s1 = instance(&build(fmi, "S1").load(), "s1");
            let library = build_as(fmi, "S2", "S2", Variant { flag, ..Variant::default() }).load();
            let routing = InputRouting { open, ..InputRouting::default() };
            let options = CoSimulationOptions { routing, ..CoSimulationOptions::default() };
            let s2 = CoSimulationSubsystem::new(&library, "s2", &options).unwrap();
            let mut connections = loop_of_two();
            connections.retain(|connection| connection.input != input);
            run(system(vec![Box::new(s1), Box::new(s2)], connections, "foh", 1e-4))
        };
        // Its start value is zero, which is also what an input without a source would be set to.
        assert_eq!(outputs(refuses, vec![name.into()]), outputs("", Vec::new()), "{fmi:?} {name}");
    }
}

/// A parameter that is driven counts as an input behind the others, set between steps and held over them.
#[test]
fn tunable_parameters_are_set_between_steps() {
    for fmi in BOTH {
        let tunable = |text: String| {
            let (before, after) = text.split_once("name=\"c\"").unwrap();
            format!("{before}name=\"c\"{}", after.replacen("\"fixed\"", "\"tunable\"", 1))
        };
        let library = build_edited(fmi, "S1", tunable).load();
        let routing = InputRouting { tuned: vec!["c".into()], ..InputRouting::default() };
        let tuned = CoSimulationOptions { routing, ..CoSimulationOptions::default() };
        let begin = |options: &CoSimulationOptions, u: &[f64]| {
            let mut subsystem = CoSimulationSubsystem::new(&library, "s", options).unwrap();
            subsystem.initialise(&RUN).unwrap();
            subsystem.initial_outputs(u, &mut [0.0; 2]).unwrap();
            subsystem
        };
        let mut driven = begin(&tuned, &[0.0, 2e6]);
        let description = driven.description();
        assert_eq!(description.inputs[1].name, "c");
        assert_eq!(description.inputs[1].variation, Variation::Discrete);
        assert!(description.feedthrough.iter().all(|list| list.contains(&1)));
        assert!(driven.description().input_order > 0, "other inputs follow polynomials as before");
        let mut plain = begin(&options(&[("c", 2e6)]), &[0.0]);
        let y = step(&mut driven, 0, &[0.0, 2e6]);
        assert_eq!(y, step(&mut plain, 0, &[0.0]), "{fmi:?}");
        // From there on another spring, almost undamped: v = v0 cos(w h) - x0 w sin(w h).
        let [before, after] = [y, step(&mut driven, 1, &[0.0, 5e5])];
        assert_ne!(after, step(&mut plain, 1, &[0.0]), "{fmi:?}");
        let (w, h) = (5e4_f64.sqrt(), RUN.step);
        let soft = before[1] * (w * h).cos() - before[0] * w * (w * h).sin();
        assert!((after[1] - soft).abs() < 0.01 * (soft - before[1]).abs(), "{fmi:?}: {after:?} {soft}");
        let wrong = InputRouting { tuned: vec!["m".into()], ..InputRouting::default() };
        let wrong = CoSimulationOptions { routing: wrong, ..CoSimulationOptions::default() };
        let error = CoSimulationSubsystem::new(&library, "s", &wrong).err().unwrap();
        assert_eq!(error.code(), Code::FmuValue, "{error}");
    }
}

#[test]
fn output_derivatives_are_those_at_the_end_of_a_step() {
    for fmi in BOTH {
        let offer = |text: String| {
            text.replacen("<CoSimulation ", "<CoSimulation maxOutputDerivativeOrder=\"1\" ", 1)
        };
        let library = build_edited(fmi, "S1", offer).load();
        let (mut subsystem, _) = started(&library, &[0.0]);
        let y = step(&mut subsystem, 0, &[0.0]);
        let mut slopes = [0.0; 2];
        subsystem.output_derivatives(1, &mut slopes).unwrap();
        assert_eq!(slopes[0], y[1], "x' = v");
        let acceleration = (-1e6 * y[0] - y[1]) / 10.0;
        assert!((slopes[1] - acceleration).abs() <= 1e-12 * acceleration.abs(), "{slopes:?} {y:?}");
        assert_eq!(subsystem.output_derivatives(2, &mut slopes).unwrap_err().code(), Code::NeedsMissing);
        let (plain, _) = started(&build(fmi, "S1").load(), &[0.0]);
        assert_eq!(plain.output_derivatives(1, &mut slopes).unwrap_err().code(), Code::NeedsMissing);
    }
}

#[test]
fn rollback_repeats_bit_by_bit() {
    for fmi in BOTH {
        let library = build(fmi, "S1").load();
        let (mut subsystem, _) = started(&library, &[0.0]);
        step(&mut subsystem, 0, &[3.0]);
        for k in 1..50 {
            subsystem.snapshot().unwrap();
            let first = step(&mut subsystem, k, &[k as f64]);
            subsystem.restore().unwrap();
            assert_ne!(step(&mut subsystem, k, &[-7.0]), first);
            subsystem.restore().unwrap();
            assert_eq!(step(&mut subsystem, k, &[k as f64]), first);
        }
    }
}

#[test]
fn saved_states_continue_bit_by_bit() {
    for fmi in BOTH {
        let library = build(fmi, "S1").load();
        let (mut subsystem, _) = started(&library, &[0.0]);
        for k in 0..10 {
            step(&mut subsystem, k, &[k as f64]);
        }
        let mut out = StateWriter::default();
        subsystem.save(&mut out).unwrap();
        let bytes = out.into_bytes();
        let (mut other, _) = started(&library, &[0.0]);
        let mut from = StateReader::new(&bytes);
        other.load(&mut from).unwrap();
        from.finish().unwrap();
        for k in 10..20 {
            assert_eq!(step(&mut subsystem, k, &[1.0]), step(&mut other, k, &[1.0]));
        }
        // A state of the wrong size is refused by the FMU.
        let (mut other, _) = started(&library, &[0.0]);
        let mut out = StateWriter::default();
        out.integer(1);
        out.real(f64::NAN);
        out.real(0.0);
        out.reals(&[0.0]);
        out.integer(0);
        out.block(b"abc");
        let error = other.load(&mut StateReader::new(&out.into_bytes())).unwrap_err();
        assert_eq!(error.code(), Code::FmuError);
        assert!(error.to_string().contains("not a state of this FMU"), "{error}");
    }
}

#[test]
fn parameters_are_set_by_name_and_checked() {
    for fmi in BOTH {
        let library = build(fmi, "Fault").load();
        let new = |name: &str, value: Values| {
            let options =
                CoSimulationOptions { parameters: vec![(name.into(), value)], ..Default::default() };
            CoSimulationSubsystem::new(&library, "lag", &options)
        };
        let mut lag =
            CoSimulationSubsystem::new(&library, "lag", &options(&[("T", 0.5), ("x0", 2.0)])).unwrap();
        let mut y = [0.0];
        lag.initialise(&RUN).unwrap();
        lag.initial_outputs(&[0.0], &mut y).unwrap();
        assert_eq!(y, [2.0]);
        assert_eq!(step(&mut lag, 0, &[0.0]), [2.0 + 1e-3 * (0.0 - 2.0) / 0.5]);
        for (name, value) in [
            ("fault", Values::Float64(vec![0.0])),
            ("flag", Values::Boolean(vec![true])),
            ("text", Values::String(vec!["ä".into()])),
            ("u", Values::Float64(vec![1.0])),
        ] {
            new(name, value).unwrap().initialise(&RUN).unwrap();
        }
        for (name, value, code) in [
            ("faul", Values::Float64(vec![0.0]), Code::UnknownName),
            ("fault", Values::Float64(vec![0.5]), Code::FmuValue),
            ("fault", Values::Float64(vec![101.0]), Code::FmuValue),
            ("flag", Values::Float64(vec![1.0]), Code::FmuValue),
            ("T", Values::Float64(vec![1.0, 2.0]), Code::FmuValue),
            ("y", Values::Float64(vec![1.0]), Code::FmuValue),
        ] {
            let error = new(name, value).err().unwrap();
            assert_eq!(error.code(), code, "{name}: {error}");
        }
        let error = new("faul", Values::Int64(vec![0])).err().unwrap();
        assert!(error.to_string().contains("did you mean `fault`"), "{error}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_thousand_instances_share_one_library() {
    for (fmi, identifier) in [(Fmi::V2, "LagMany2"), (Fmi::V3, "LagMany3")] {
        let library = build_as(fmi, "Lag", identifier, Variant::default()).load();
        let start = std::time::Instant::now();
        let mut all: Vec<_> = (0..1000).map(|k| instance(&library, &format!("lag{k}"))).collect();
        println!("{fmi:?}: 1000 instances in {:?}", start.elapsed());
        assert_eq!(library.instances(), 1000);
        let mapped = || -> Vec<String> {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            let paths = maps.lines().filter(|line| line.contains(identifier));
            let mut paths: Vec<_> =
                paths.filter_map(|line| line.split_whitespace().nth(5)).map(str::to_owned).collect();
            paths.dedup();
            paths
        };
        let paths = mapped();
        assert_eq!(paths.len(), 1, "{paths:?}");
        for lag in &mut all {
            lag.initialise(&RUN).unwrap();
            lag.initial_outputs(&[1.0], &mut [0.0]).unwrap();
            assert_eq!(step(lag, 0, &[1.0]), [1e-3]);
        }
        drop(library);
        drop(all);
        assert!(mapped().is_empty());
        assert!(!std::path::Path::new(&paths[0]).exists());
    }
}

#[test]
fn arrays_become_one_port_per_element() {
    let library = build_wide().load();
    let names = |subsystem: &CoSimulationSubsystem| -> Vec<String> {
        subsystem.description().inputs.iter().map(|port| port.name.clone()).collect()
    };
    assert_eq!(names(&instance(&library, "wide")), ["u[1,1]", "u[1,2]", "u[2,1]", "u[2,2]"]);
    // A structural parameter changes the sizes.
    let mut wide = CoSimulationSubsystem::new(&library, "wide", &options(&[("n", 1.0)])).unwrap();
    assert_eq!(names(&wide), ["u[1,1]", "u[1,2]"]);
    assert_eq!(wide.description().feedthrough, [vec![], vec![]] as [Vec<usize>; 2]);
    let mut y = [0.0; 2];
    wide.initialise(&RUN).unwrap();
    wide.initial_outputs(&[1.0, 2.0], &mut y).unwrap();
    assert_eq!(step(&mut wide, 0, &[1.0, 2.0]), [1e-3, 2e-3]);
    let mut model = LocalModel::new(2, 2, 2);
    wide.local_model(&[1.0, 2.0], &mut model).unwrap();
    assert_eq!((&model.a[..], &model.b[..]), (&[-1.0, 0.0, 0.0, -1.0][..], &[1.0, 0.0, 0.0, 1.0][..]));
    assert_eq!((&model.c[..], &model.d[..]), (&[1.0, 0.0, 0.0, 1.0][..], &[0.0; 4][..]));
    assert_eq!((model.x, model.x_dot), (vec![1e-3, 2e-3], vec![1.0 - 1e-3, 2.0 - 2e-3]));
    for wrong in [-1.0, 0.5, 1e9] {
        assert!(CoSimulationSubsystem::new(&library, "wide", &options(&[("n", wrong)])).is_err(), "{wrong}");
    }
}

#[test]
fn inputs_that_are_declared_discrete_get_no_derivatives_unless_they_are_said_to_be_continuous() {
    let declare = |text: String| {
        let input = "name=\"F\" valueReference=\"0\" causality=\"input\" variability=";
        assert!(text.contains(input));
        text.replacen(&format!("{input}\"continuous\""), &format!("{input}\"discrete\""), 1)
    };
    let library = build_edited(Fmi::V2, "S1", declare).load();
    let after_a_ramp = |variations: SignalVariations| {
        let options = CoSimulationOptions { variations, ..options(&[]) };
        let mut subsystem = CoSimulationSubsystem::new(&library, "s1", &options).unwrap();
        subsystem.initialise(&RUN).unwrap();
        let mut y = [0.0; 2];
        subsystem.initial_outputs(&[0.0], &mut y).unwrap();
        let mut line = InputPolynomials::new(1, 1);
        line.coefficients_mut(1)[0] = 1e6;
        subsystem.step(RUN.interval(0), line.segment(0..1, 1), &mut y).unwrap();
        (subsystem.description().inputs[0].variation, subsystem.description().order_of_input(0), y)
    };
    let (variation, order, held) = after_a_ramp(SignalVariations::default());
    assert_eq!((variation, order), (Variation::Stepwise, 0));
    let names = || vec!["F".to_owned()];
    let (variation, order, ramp) =
        after_a_ramp(SignalVariations { continuous: names(), ..Default::default() });
    assert_eq!((variation, order > 0), (Variation::Continuous, true));
    let (variation, order, discrete) =
        after_a_ramp(SignalVariations { discrete: names(), ..Default::default() });
    assert_eq!((variation, order), (Variation::Discrete, 0));
    assert_eq!(held, discrete);
    assert!((ramp[1] - held[1]).abs() > 1e-6, "{ramp:?} {held:?}");
    for wrong in ["f", "m"] {
        let variations = SignalVariations { continuous: vec![wrong.into()], ..Default::default() };
        let options = CoSimulationOptions { variations, ..options(&[]) };
        let error = CoSimulationSubsystem::new(&library, "s1", &options).err().unwrap();
        assert_eq!(error.code(), Code::UnknownPort, "{error}");
    }
}

#[test]
fn derivatives_of_a_former_step_are_forgotten() {
    let (mut s1, _) = started(&build(Fmi::V2, "S1").load(), &[0.0]);
    let (mut other, _) = started(&build(Fmi::V2, "S1").load(), &[0.0]);
    let mut line = InputPolynomials::new(1, 1);
    line.coefficients_mut(1)[0] = 1e6;
    let mut y = [0.0; 2];
    for subsystem in [&mut s1, &mut other] {
        subsystem.step(RUN.interval(0), line.segment(0..1, 1), &mut y).unwrap();
    }
    // The FMU keeps derivatives until they are set again.
    let mut flat = InputPolynomials::new(1, 1);
    flat.coefficients_mut(0)[0] = 5.0;
    other.step(RUN.interval(1), flat.segment(0..1, 1), &mut y).unwrap();
    s1.snapshot().unwrap();
    for _ in 0..2 {
        assert_eq!(step(&mut s1, 1, &[5.0]), y);
        s1.restore().unwrap();
    }
}

#[test]
fn times_are_handed_over_as_they_are() {
    let interval = Interval { start: 0.3, end: 0.4, length: 0.1 };
    for fmi in BOTH {
        let (mut lag, _) = started(&build(fmi, "Lag").load(), &[0.0]);
        let inputs = InputPolynomials::new(1, 0);
        let mut y = [0.0];
        assert_eq!(lag.step(interval, inputs.segment(0..1, 0), &mut y).unwrap().reached, 0.4);
    }
}
