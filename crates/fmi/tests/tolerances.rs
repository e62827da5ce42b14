//! FMUs as tools write them: what is against the standard, and runs all the same with a warning.
#![cfg(unix)]

mod fmus;
#[path = "../../import/tests/common/real.rs"]
mod real;

use real::real_files;
use std::sync::Mutex;

use costep_core::{
    Capable, Connection, Experiment, InputPolynomials, LocalModel, NoModels, Result, Subsystem,
};
use costep_engine::{Engine, System};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, FmuLibrary, Notice, listen};
use costep_fmu_file::Fmu;
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use fmus::{BOTH, EVERY, Fmi, Variant, build_as, build_exchange, exchange, instance};

/// What FMUs of this process have said, with the names of their instances.
static SAID: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

fn keep_notices() {
    listen(|instance, notice| {
        if let Notice::Logged(message) = notice {
            let text = format!("{} {}", message.category, message.text);
            SAID.lock().unwrap().push((instance.to_owned(), text));
        }
    });
}

/// What an instance has said.
fn said(instance: &str) -> Vec<String> {
    let of = |(name, text): &(String, String)| (name == instance).then(|| text.clone());
    SAID.lock().unwrap().iter().filter_map(of).collect()
}

/// Runs an FMU without inputs, or with inputs at zero; gives its outputs at all communication points.
fn run(subsystem: &mut CoSimulationSubsystem, run: Experiment) -> Result<Vec<Vec<f64>>> {
    let (m, r) = (subsystem.description().inputs.len(), subsystem.description().outputs.len());
    let (u, mut y) = (InputPolynomials::new(m, 0), vec![0.0; r]);
    subsystem.initialise(&run)?;
    subsystem.initial_outputs(&vec![0.0; m], &mut y)?;
    let mut rows = vec![y.clone()];
    for k in 0..run.steps() {
        let interval = run.interval(k);
        let outcome = subsystem.step(interval, u.segment(0..m, 0), &mut y)?;
        assert_eq!(outcome.reached, interval.end);
        rows.push(y.clone());
    }
    subsystem.terminate();
    Ok(rows)
}

#[test]
fn steps_that_are_done_without_a_time_have_reached_their_ends() {
    keep_notices();
    let experiment = Experiment { start: 0.5, stop: 1.0, step: 0.1 };
    let rows = ["", "-DNO_LAST", "-DZERO_LAST"].map(|flag| {
        let library = build_as(Fmi::V3, "Lag", "Lag", Variant { flag, ..Variant::default() }).load();
        run(&mut instance(&library, &format!("timeless{flag}")), experiment).unwrap()
    });
    assert_eq!((&rows[1], &rows[2]), (&rows[0], &rows[0]));
    assert_eq!(said("timeless"), [""; 0]);
    assert_eq!(said("timeless-DNO_LAST"), [""; 0], "there is nothing to be seen");
    let warned = said("timeless-DZERO_LAST");
    assert_eq!(warned, ["W0110 it completes the step from 0.5 s to 0.6 s without saying its time"]);
}

#[test]
fn fixed_inner_steps_may_be_longer_than_those_of_the_run() {
    keep_notices();
    for (name, inner) in [("Dahlquist", 0.1), ("Stair", 0.2)] {
        let Some(path) = real_files(&format!("ecos/data/fmus/3.0/ref/{name}.fmu")) else { return };
        let library = FmuLibrary::load(&mut Fmu::open(path).unwrap()).unwrap();
        let rows = [inner, inner / 4.0].map(|step| {
            let name = format!("{name} {step}");
            run(&mut instance(&library, &name), Experiment { start: 0.0, stop: 2.0, step }).unwrap()
        });
        // An inner step begins when it fits into what has been asked for; round-off decides on the last one.
        for (k, row) in rows[0].iter().enumerate() {
            assert!(rows[1][4 * k] == *row || rows[1][4 * k + 1] == *row, "{name} {k}");
        }
        let warned = said(&format!("{name} {}", inner / 4.0));
        assert_eq!(warned.len(), 1, "{warned:?}");
        assert!(warned[0].starts_with("W0110 after the step from 0 s"), "{warned:?}");
    }
}

#[test]
fn no_step_leads_behind_the_stop_time_that_an_fmu_was_told() {
    let mut behind = 0;
    for fmi in EVERY {
        let variant = Variant { flag: "-DCHECKS_STEPS", ..Variant::default() };
        let library = build_as(fmi, "Lag", "Lag", variant).load();
        for step in [0.1, 0.05, 0.02, 0.01, 1e-3] {
            for stop in [0.3, 0.6, 1.0, 1.7, 3.0] {
                let experiment = Experiment { start: 0.0, stop, step };
                run(&mut instance(&library, "strict"), experiment).unwrap();
                let last = experiment.interval(experiment.steps() - 1);
                assert_eq!((last.end, last.length), (stop, step));
                behind += u32::from(last.start + last.length > stop);
            }
        }
    }
    assert!(behind >= 9, "{behind}");
}

#[test]
fn outputs_set_on_leaving_the_initialisation_are_those_of_the_first_exchange() {
    keep_notices();
    for fmi in BOTH {
        let variant = Variant { flag: "-DLATE_OUTPUTS", ..Variant::default() };
        let library = build_as(fmi, "Lag", "Lag", variant).load();
        let names = ["first", "second"].map(|name| format!("{name} of {fmi:?}"));
        let parts = names.each_ref().map(|name| Box::new(instance(&library, name)) as Box<dyn Subsystem>);
        let connections = [(0, 1), (1, 0)].map(|(output, input)| Connection { output, input, gain: 1.0 });
        let method = (MethodSpec::parse("zoh").unwrap().build(), Box::new(NoModels) as _);
        let experiment = Experiment { start: 0.0, stop: 1.0, step: 0.125 };
        let mut engine =
            Engine::new(System::new(parts.into(), connections.into(), method, experiment)).unwrap();
        assert_eq!(engine.outputs(), [0.5, 0.5], "{fmi:?}");
        engine.step().unwrap();
        // y' = u - y: each is at rest under the output of the other.
        assert_eq!(engine.outputs(), [0.5, 0.5], "{fmi:?}");
        let said = said(&names[0]);
        assert_eq!(said, ["W0114 `y` is 0.5 once it has been initialised, 0 before"], "{fmi:?}");
    }
}

#[test]
fn fmus_that_stand_still_while_they_may_have_to_go_back_move() {
    let experiment = Experiment { start: 0.0, stop: 1.0, step: 0.125 };
    for fmi in BOTH {
        let rows = ["", "-DSTANDS_STILL"].map(|flag| {
            let library = build_as(fmi, "Lag", "Lag", Variant { flag, ..Variant::default() }).load();
            let x0 = fmus::options(&[("x0", 1.0)]);
            let options = CoSimulationOptions { retry_discarded: true, ..x0.clone() };
            let mut retrying = CoSimulationSubsystem::new(&library, "retrying", &options).unwrap();
            let mut tried = CoSimulationSubsystem::new(&library, "tried", &x0).unwrap();
            let (u, mut y) = (InputPolynomials::new(1, 0), [0.0]);
            tried.initialise(&experiment).unwrap();
            tried.initial_outputs(&[0.0], &mut y).unwrap();
            let handle: &mut dyn Subsystem = &mut tried;
            handle
                .trial(|tried| tried.step(experiment.interval(0), u.segment(0..1, 0), &mut [0.0]).map(|_| ()))
                .unwrap()
                .unwrap();
            for k in 0..experiment.steps() {
                tried.step(experiment.interval(k), u.segment(0..1, 0), &mut y).unwrap();
            }
            assert!(tried.rollback().unwrap().restore().is_err(), "the trial is over");
            (run(&mut retrying, experiment).unwrap(), y)
        });
        assert_eq!(rows[0], rows[1], "{fmi:?}");
        assert!(rows[0].0.iter().map(|row| row[0]).is_sorted_by(|before, after| before > after));
    }
}

#[test]
fn outputs_that_are_stale_after_derivatives_have_the_right_slopes() {
    let experiment = Experiment { start: 0.0, stop: 0.02, step: 1e-3 };
    for fmi in EVERY {
        let models = ["", "-DSTALE_OUTPUTS"].map(|flag| {
            let library = build_exchange(fmi, "S2", true, flag).load_exchange();
            let mut part = exchange(&library, "stale", Solver::Dopri5(1e-10), &[("x0", 0.1), ("v0", 2.0)]);
            let (u, mut y) = (InputPolynomials::new(2, 0), [0.0; 3]);
            part.initialise(&experiment).unwrap();
            part.initial_outputs(&[0.0; 2], &mut y).unwrap();
            part.begin(&mut y).unwrap();
            part.step(experiment.interval(0), u.segment(0..2, 0), &mut y).unwrap();
            let mut model = LocalModel::new(2, 2, 3);
            part.linearised().unwrap().local_model(&[0.05, 1.0], &mut model).unwrap();
            (y, model.c, model.d, model.a)
        });
        assert_eq!(models[0], models[1], "{fmi:?}");
        assert!((models[0].1[0].abs() / 1e5 - 1.0).abs() < 1e-6, "the stiffness of the coupling spring");
    }
}
