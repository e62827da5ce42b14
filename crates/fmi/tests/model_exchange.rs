//! FMUs for Model Exchange: against native subsystems, against formulas, and their events.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod fmus;

use std::sync::Arc;

use costep_core::{
    Capable, Code, Connection, Experiment, InputPolynomials, LocalModel, ModelOrigin, Persistence,
    StateReader, StateWriter, Subsystem, Variation,
};
use costep_engine::{Engine, System};
use costep_fmi::{FmuLibrary, ModelExchangeSubsystem};
use costep_fmu_file::{Fmu, Severity};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use fmus::{BOTH, EVERY, Fmi, build_exchange, exchange};

const G: f64 = 9.81;

fn system(subsystems: Vec<Box<dyn Subsystem>>, connections: Vec<Connection>, method: &str, h: f64) -> System {
    System {
        micro_samples: method.starts_with("nepce") || method.starts_with("mbcorr"),
        ..System::new(
            subsystems,
            connections,
            (MethodSpec::parse(method).unwrap().build(), Box::new(costep_ident::Exact::new(1))),
            Experiment { start: 0.0, stop: 0.1, step: h },
        )
    }
}

/// The outputs x, v and F over a run of the native dual mass oscillator.
fn native(solver: Solver, method: &str, h: f64) -> Vec<[f64; 3]> {
    let model = costep_models::find("dual-mass").unwrap().model(&[]).unwrap().1;
    let parts = model.parts.iter().map(|part| part.subsystem(&solver).unwrap()).collect();
    run(system(parts, model.connections.clone(), method, h))
}

/// The typical sizes of the states of the native parts.
fn nominals() -> [[f64; 2]; 2] {
    let model = costep_models::find("dual-mass").unwrap().model(&[]).unwrap().1;
    [0, 1].map(|part| {
        let description = model.parts[part].description();
        let ports = if part == 0 { &description.outputs } else { &description.inputs };
        [0, 1].map(|i| ports[i].nominal.unwrap())
    })
}

/// S1 and S2 as libraries.
fn pair(fmi: Fmi, plain: bool) -> [Arc<FmuLibrary>; 2] {
    ["S1", "S2"].map(|model| build_exchange(fmi, model, plain, "").load_exchange())
}

/// S1 and S2 as FMUs: F to S1, x and v to S2.
fn coupled([s1, s2]: &[Arc<FmuLibrary>; 2], solver: Solver) -> (Vec<Box<dyn Subsystem>>, Vec<Connection>) {
    let [n1, n2] = nominals();
    let make = |library: &Arc<FmuLibrary>, name: &str, n: [f64; 2]| -> Box<dyn Subsystem> {
        Box::new(exchange(library, name, solver, &[("n1", n[0]), ("n2", n[1])]))
    };
    let parts = vec![make(s1, "s1", n1), make(s2, "s2", n2)];
    let connections = [(2, 0), (0, 1), (1, 2)].map(|(output, input)| Connection { output, input, gain: 1.0 });
    (parts, connections.to_vec())
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
fn coupled_fmus_equal_native_subsystems_with_every_integrator() {
    let h = 1e-4;
    let libraries = BOTH.map(|fmi| pair(fmi, false));
    for solver in ["euler:10us", "rk4:25us", "dopri5:1e-8", "bdf:1e-6", "adams:1e-8"] {
        let solver = Solver::parse(solver, 1e-5).unwrap();
        for method in ["zoh", "foh", "predictive", "nepce", "mbcorr"] {
            let native = native(solver, method, h);
            for (fmi, libraries) in BOTH.iter().zip(&libraries) {
                let (parts, connections) = coupled(libraries, solver);
                let worst = difference(&native, &run(system(parts, connections, method, h)));
                // The FMUs have more outputs, which shows in the last bits of a prediction, and multistep formulas choose
                // their steps by the last bits.
                let chooses = matches!(solver, Solver::Multistep(..)) && method == "predictive";
                let allowed = if chooses { 30.0 * solver.tolerance().unwrap() } else { 1e-12 };
                assert!(worst <= allowed, "{fmi:?} {} {method}: {worst:e}", solver.label());
            }
        }
    }
}

#[test]
fn differences_are_nearly_as_good_as_directional_derivatives() {
    let solver = Solver::Rk4(2.5e-5);
    let native = native(solver, "predictive", 1e-4);
    for fmi in EVERY {
        let (mut parts, connections) = coupled(&pair(fmi, true), solver);
        let by_differences =
            |part: &mut Box<dyn Subsystem>| part.linearised().unwrap().origin() == ModelOrigin::Differences;
        assert!(parts.iter_mut().all(by_differences));
        let worst = difference(&native, &run(system(parts, connections, "predictive", 1e-4)));
        assert!(worst <= 1e-8, "{fmi:?}: {worst:e}");
    }
}

#[test]
fn local_models_are_the_jacobians() {
    let expected_a = [0.0, 1.0, -(1e7 + 1e5) / 10.0, -(2.0 + 1e3) / 10.0];
    for fmi in BOTH {
        for plain in [false, true] {
            let library = build_exchange(fmi, "S2", plain, "").load_exchange();
            let mut subsystem = exchange(&library, "s2", Solver::Dopri5(1e-8), &[("n1", 0.1), ("n2", 30.0)]);
            begin(&mut subsystem, &[0.1, 0.0]);
            let mut model = LocalModel::new(2, 2, 3);
            subsystem.linearised().unwrap().local_model(&[0.2, 0.0], &mut model).unwrap();
            let tolerance = if plain { 1e-9 } else { 0.0 };
            let near = |found: &[f64], expected: &[f64]| {
                for (found, expected) in found.iter().zip(expected) {
                    let error = (found - expected).abs() / expected.abs().max(1e-3);
                    assert!(error <= tolerance, "{found} instead of {expected}");
                }
            };
            near(&model.a, &expected_a);
            near(&model.b, &[0.0, 0.0, 1e4, 1e2]);
            near(&model.c, &[1e5, 1e3, 1.0, 0.0, 0.0, 1.0]);
            near(&model.d, &[-1e5, -1e3, 0.0, 0.0, 0.0, 0.0]);
            near(&model.x_dot, &[0.0, 2e3]);
            let origin = if plain { ModelOrigin::Differences } else { ModelOrigin::Exact };
            assert_eq!(subsystem.linearised().unwrap().origin(), origin);
            assert_eq!(subsystem.notes().iter().any(|note| note.contains("differences")), plain);
        }
    }
}

const RUN: Experiment = Experiment { start: 0.0, stop: 10.0, step: 0.1 };

fn begin(subsystem: &mut ModelExchangeSubsystem, u: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; subsystem.description().outputs.len()];
    subsystem.initialise(&RUN).unwrap();
    subsystem.initial_outputs(u, &mut y).unwrap();
    y
}

fn step(subsystem: &mut dyn Subsystem, k: u64, u: &[f64]) -> Vec<f64> {
    let mut inputs = InputPolynomials::new(u.len(), 0);
    inputs.coefficients_mut(0).copy_from_slice(u);
    let mut y = vec![0.0; subsystem.description().outputs.len()];
    let outcome = subsystem.step(RUN.interval(k), inputs.segment(0..u.len(), 0), &mut y).unwrap();
    assert_eq!(outcome.reached, RUN.time(k + 1));
    y
}

/// Height and speed of the ball, and how often it has bounced.
fn ball(t: f64, e: f64, threshold: f64) -> (f64, f64, u64) {
    let (mut start, mut speed) = ((2.0 / G).sqrt(), (2.0 * G).sqrt());
    if t < start {
        return (1.0 - 0.5 * G * t * t, -G * t, 0);
    }
    for bounce in 1.. {
        speed *= e;
        if speed < threshold {
            return (0.0, 0.0, bounce);
        }
        let length = 2.0 * speed / G;
        if t < start + length {
            let s = t - start;
            return (speed * s - 0.5 * G * s * s, speed - G * s, bounce);
        }
        start += length;
    }
    unreachable!()
}

#[test]
fn a_ball_bounces_as_the_formula_says() {
    for fmi in EVERY {
        let library = build_exchange(fmi, "Ball", false, "").load_exchange();
        for solver in ["dopri5:1e-10", "rk4:50ms", "adams:1e-10"] {
            let solver = Solver::parse(solver, 1e-3).unwrap();
            let mut subsystem = exchange(&library, "ball", solver, &[("e", 0.9), ("threshold", 1e-3)]);
            assert_eq!(begin(&mut subsystem, &[]), [1.0, 0.0]);
            for k in 0..100 {
                let y = step(&mut subsystem, k, &[]);
                let (height, speed, bounces) = ball(RUN.time(k + 1), 0.9, 1e-3);
                assert_eq!(subsystem.events().state, bounces, "{solver:?} at {}", RUN.time(k + 1));
                // A bounce that is wrong by 1e-9 s moves the ball by 1e-8 m.
                assert!((y[0] - height).abs() < 1e-8, "{solver:?}: {} instead of {height}", y[0]);
                assert!((y[1] - speed).abs() < 1e-8, "{solver:?}: {} instead of {speed}", y[1]);
            }
            assert_eq!(subsystem.events().state, 80);
        }
    }
}

#[test]
fn bounces_are_located_to_a_nanosecond() {
    // The first samples after bounces: with samples at both sides of events their times are the bounces.
    let library = build_exchange(Fmi::V3, "Ball", false, "").load_exchange();
    let mut subsystem = exchange(&library, "ball", Solver::Dopri5(1e-10), &[("e", 0.8)]);
    subsystem.micro_recorder().unwrap().record(true, &RUN);
    begin(&mut subsystem, &[]);
    let mut found = Vec::new();
    for k in 0..40 {
        step(&mut subsystem, k, &[]);
        let samples = subsystem.telemetry().unwrap().micro_samples().unwrap();
        found.extend(samples.times.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]));
    }
    let first = (2.0 / G).sqrt();
    let mut expected = first;
    assert!(found.len() >= 15);
    for (n, found) in found.iter().enumerate() {
        assert!((found - expected).abs() < 1e-9, "bounce {n} at {found} instead of {expected}");
        expected += 2.0 * first * 0.8f64.powi(n as i32 + 1);
    }
}

#[test]
fn fixed_steps_converge_to_the_ball() {
    let library = build_exchange(Fmi::V2, "Ball", false, "").load_exchange();
    let error = |micro: f64| {
        let mut subsystem = exchange(&library, "ball", Solver::Euler(micro), &[("e", 0.8)]);
        begin(&mut subsystem, &[]);
        (0..10).map(|k| step(&mut subsystem, k, &[])[0]).last().unwrap() - ball(1.0, 0.8, 0.05).0
    };
    let ratio = error(2e-3) / error(1e-3);
    assert!((1.8..2.2).contains(&ratio), "{ratio}");
}

#[test]
fn samples_are_taken_at_the_announced_times() {
    for fmi in EVERY {
        let library = build_exchange(fmi, "Sampler", false, "").load_exchange();
        for period in [0.1, 0.03, 0.25, 1.7] {
            let mut subsystem = exchange(&library, "sampler", Solver::Dopri5(1e-10), &[("period", period)]);
            begin(&mut subsystem, &[1.0, 1.0]);
            // y' = sampled - y with a constant input: zero before the first sample.
            for k in 0..30 {
                let y = step(&mut subsystem, k, &[1.0, 1.0]);
                let t = RUN.time(k + 1);
                let expected = if t > period { 1.0 - (period - t).exp() } else { 0.0 };
                assert!((y[0] - expected).abs() < 1e-9, "{} instead of {expected} at {t}", y[0]);
            }
            let expected = ((3.0 + 1e-9) / period).floor() as u64;
            assert_eq!(subsystem.events().time, expected, "{fmi:?} {period}");
        }
    }
}

#[test]
fn discrete_inputs_are_set_at_events_only() {
    for fmi in EVERY {
        let library = build_exchange(fmi, "Sampler", false, "").load_exchange();
        let mut subsystem = exchange(&library, "sampler", Solver::Rk4(0.01), &[]);
        let held: Vec<_> = subsystem.description().inputs.iter().map(|port| port.variation).collect();
        assert_eq!(held, [Variation::Continuous, Variation::Discrete]);
        begin(&mut subsystem, &[1.0, 1.0]);
        assert_eq!(step(&mut subsystem, 0, &[2.0, 1.0])[1], 2.0);
        // The gate is closed: no new sample.
        assert_eq!(step(&mut subsystem, 1, &[3.0, 0.0])[1], 2.0);
        assert_eq!(step(&mut subsystem, 2, &[4.0, 1.0])[1], 4.0);
        assert_eq!(subsystem.events().input, 3);
        // Nothing changes: no event of the input.
        step(&mut subsystem, 3, &[4.0, 1.0]);
        assert_eq!(subsystem.events().input, 3);
        let mut model = LocalModel::new(1, 2, 2);
        subsystem.linearised().unwrap().local_model(&[4.0, 1.0], &mut model).unwrap();
        assert!((model.a[0] + 1.0).abs() < 1e-9);
        assert_eq!(model.b, [0.0, 0.0]);
    }
}

#[test]
fn step_events_are_handled_and_change_the_states() {
    for fmi in EVERY {
        let library = build_exchange(fmi, "Stepper", false, "").load_exchange();
        let mut subsystem = exchange(&library, "stepper", Solver::Rk4(0.01), &[]);
        begin(&mut subsystem, &[]);
        // Ten inner steps: events after 3; then the rest of the step is divided anew, into 7, then 4, then 1.
        let y = step(&mut subsystem, 0, &[]);
        assert!((y[0] - 3.1).abs() < 1e-12, "{}", y[0]);
        assert_eq!((y[1], subsystem.events().step, subsystem.events().inner_steps), (3.0, 3, 10));
    }
}

#[test]
fn chattering_ends_with_a_coded_error() {
    for fmi in EVERY {
        let library = build_exchange(fmi, "Chatter", false, "").load_exchange();
        for solver in [Solver::Dopri5(1e-8), Solver::Rk4(0.01), Solver::Euler(0.01)] {
            let mut subsystem = exchange(&library, "relay", solver, &[]);
            begin(&mut subsystem, &[]);
            let inputs = InputPolynomials::new(0, 0);
            let error = (0..10)
                .find_map(|k| subsystem.step(RUN.interval(k), inputs.segment(0..0, 0), &mut [0.0]).err());
            let error = error.unwrap();
            assert_eq!(error.code(), Code::EventsWithoutEnd, "{error}");
            assert!(error.to_string().contains("`relay` had 100 events"), "{error}");
            assert!(error.to_string().contains("t = 0.35"), "{error}");
        }
        // With a hysteresis it swings.
        let mut subsystem = exchange(&library, "relay", Solver::Dopri5(1e-8), &[("hysteresis", 0.011)]);
        begin(&mut subsystem, &[]);
        for k in 0..20 {
            let y = step(&mut subsystem, k, &[])[0];
            assert!(k < 4 || y.abs() <= 0.011 + 1e-9, "{y}");
        }
        // From 0.35 down to -0.011, then half a swing of 0.022 s each.
        assert_eq!(subsystem.events().state, 1 + ((2.0 - 0.361) / 0.022f64).floor() as u64);
    }
}

#[test]
fn inputs_that_are_polynomials_are_exact_inside_the_step() {
    // y' = u - y with u = 1 + 2 s - 3 s^2: y = p(s) + (y0 - p(0)) exp(-s), p = u - u' + u''.
    for fmi in BOTH {
        let library = build_exchange(fmi, "Lag", false, "").load_exchange();
        let mut subsystem = exchange(&library, "lag", Solver::Dopri5(1e-12), &[("x0", 0.5)]);
        begin(&mut subsystem, &[1.0]);
        let mut inputs = InputPolynomials::new(1, 2);
        for (a, c) in [1.0, 2.0, -3.0].into_iter().enumerate() {
            inputs.coefficients_mut(a)[0] = c;
        }
        let mut y = [0.0];
        subsystem.step(RUN.interval(0), inputs.segment(0..1, 2), &mut y).unwrap();
        let p = |s: f64| 1.0 + 2.0 * s - 3.0 * s * s - (2.0 - 6.0 * s) - 6.0;
        let expected = p(0.1) + (0.5 - p(0.0)) * (-0.1f64).exp();
        assert!((y[0] - expected).abs() < 1e-12, "{} instead of {expected}", y[0]);
        // The input has not jumped: no event.
        assert_eq!(subsystem.events().input, 0);
    }
}

#[test]
fn rollback_repeats_bit_by_bit_even_over_events() {
    for fmi in BOTH {
        for model in ["Ball", "Sampler", "S1"] {
            let library = build_exchange(fmi, model, false, "").load_exchange();
            for solver in [Solver::Dopri5(1e-8), Solver::Rk4(0.01)] {
                let mut subsystem = exchange(&library, "s", solver, &[]);
                let u = vec![1.0; subsystem.description().inputs.len()];
                let other = vec![-2.0; u.len()];
                begin(&mut subsystem, &u);
                for k in 0..20 {
                    subsystem.rollback().unwrap().snapshot().unwrap();
                    let first = step(&mut subsystem, k, &u);
                    subsystem.rollback().unwrap().restore().unwrap();
                    step(&mut subsystem, k, &other);
                    subsystem.rollback().unwrap().restore().unwrap();
                    assert_eq!(step(&mut subsystem, k, &u), first, "{fmi:?} {model} {k}");
                }
            }
        }
    }
}

#[test]
fn without_stored_states_only_what_has_no_memory_goes_back() {
    for fmi in BOTH {
        let library = build_exchange(fmi, "S1", true, "").load_exchange();
        let mut subsystem = exchange(&library, "s1", Solver::Rk4(1e-3), &[("c", 1e3)]);
        assert!(subsystem.rollback().is_some());
        assert!(subsystem.notes().iter().any(|note| note.contains("is restored from")));
        begin(&mut subsystem, &[0.0]);
        for k in 0..20 {
            subsystem.rollback().unwrap().snapshot().unwrap();
            let first = step(&mut subsystem, k, &[k as f64]);
            subsystem.rollback().unwrap().restore().unwrap();
            step(&mut subsystem, k, &[-7.0]);
            subsystem.rollback().unwrap().restore().unwrap();
            assert_eq!(step(&mut subsystem, k, &[k as f64]), first);
        }
        for model in ["Ball", "Sampler", "Chatter", "Stepper"] {
            let library = build_exchange(fmi, model, true, "").load_exchange();
            let mut subsystem = exchange(&library, "s", Solver::Rk4(1e-3), &[]);
            assert!(subsystem.rollback().is_none(), "{model}");
            let u = vec![0.0; subsystem.description().inputs.len()];
            begin(&mut subsystem, &u);
            let subsystem: &mut dyn Subsystem = &mut subsystem;
            assert_eq!(subsystem.demand_rollback().err().unwrap().code(), Code::NeedsMissing);
            assert_eq!(subsystem.demand_persistence().err().unwrap().code(), Code::NeedsMissing);
        }
    }
}

#[test]
fn saved_states_continue_bit_by_bit() {
    for fmi in BOTH {
        for (model, plain) in [("Ball", false), ("Sampler", false), ("S1", false), ("S1", true)] {
            let library = build_exchange(fmi, model, plain, "").load_exchange();
            let new = || exchange(&library, "s", Solver::Dopri5(1e-8), &[]);
            for after in [0, 7] {
                let mut subsystem = new();
                let u = vec![1.0; subsystem.description().inputs.len()];
                begin(&mut subsystem, &u);
                for k in 0..after {
                    step(&mut subsystem, k, &u);
                }
                let mut out = StateWriter::default();
                subsystem.save(&mut out).unwrap();
                let bytes = out.into_bytes();
                let mut other = new();
                begin(&mut other, &u);
                let mut from = StateReader::new(&bytes);
                other.load(&mut from).unwrap();
                from.finish().unwrap();
                for k in after..after + 13 {
                    let expected = step(&mut subsystem, k, &u);
                    assert_eq!(step(&mut other, k, &u), expected, "{fmi:?} {model} {plain} {after} {k}");
                }
                for length in 0..bytes.len() {
                    let mut other = new();
                    begin(&mut other, &u);
                    assert!(other.load(&mut StateReader::new(&bytes[..length])).is_err());
                }
            }
        }
    }
}

#[test]
fn a_run_can_be_started_again() {
    for fmi in BOTH {
        let library = build_exchange(fmi, "Ball", false, "").load_exchange();
        let mut subsystem = exchange(&library, "ball", Solver::Dopri5(1e-8), &[]);
        let mut run = || {
            begin(&mut subsystem, &[]);
            (0..30).map(|k| step(&mut subsystem, k, &[])[0]).collect::<Vec<_>>()
        };
        assert_eq!(run(), run());
        let mut y = [0.0; 2];
        assert_eq!(subsystem.initial_outputs(&[], &mut y).unwrap_err().code(), Code::Bug);
        subsystem.terminate();
        subsystem.terminate();
    }
}

#[test]
fn the_test_fmus_are_valid() {
    for fmi in BOTH {
        for model in ["Lag", "Fault", "S1", "S2", "Ball", "Sampler", "Chatter", "Stepper"] {
            let fmu = build_exchange(fmi, model, false, "");
            let findings = Fmu::open(&fmu.path).unwrap().validate();
            let errors: Vec<_> = findings.iter().filter(|f| f.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{fmi:?} {model}: {errors:?}");
        }
    }
}
