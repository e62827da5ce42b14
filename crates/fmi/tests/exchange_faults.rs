//! FMUs for Model Exchange that fail or lie end in a coded message that names instance, call and time.
#![cfg(unix)]

mod fmus;

use std::sync::Arc;

use costep_core::{Capable, Code, Error, Experiment, InputPolynomials, Result, Subsystem};
use costep_fmi::{FmuLibrary, ModelExchangeOptions, ModelExchangeSubsystem};
use costep_fmu_file::{Fmu, Use, Values};
use costep_integrate::Solver;
use fmus::{BOTH, EVERY, Fmi, build, build_exchange, exchange};

const RUN: Experiment = Experiment { start: 0.0, stop: 1.0, step: 0.1 };

/// The faults of tests/fmus/exchange.h.
#[derive(Clone, Copy, Debug)]
enum Fault {
    NanRate = 1,
    DiscardRate,
    ErrorRate,
    DiscardAbove,
    BadNominals,
    PastEvent,
    NanEvent,
    EndAtEvent,
    EndAfterStep,
    EndlessEvent,
    ErrorEvent = 12,
    NoState,
    InfiniteState,
    NewNominals,
}

fn faulty(library: &Arc<FmuLibrary>, fault: Fault, solver: Solver) -> ModelExchangeSubsystem {
    let parameters = vec![("fault".to_owned(), Values::Int64(vec![fault as i64]))];
    let options = ModelExchangeOptions { parameters, solver, logging: Some(true), ..Default::default() };
    ModelExchangeSubsystem::new(library, "lag", &options).unwrap()
}

/// Runs with a new input value in every step.
fn run(subsystem: &mut ModelExchangeSubsystem) -> Result<f64> {
    let mut y = [0.0; 2];
    let (inputs, outputs) = (subsystem.description().inputs.len(), subsystem.description().outputs.len());
    subsystem.initialise(&RUN)?;
    subsystem.initial_outputs(&[0.0][..inputs], &mut y[..outputs])?;
    for k in 0..RUN.steps() {
        let mut u = InputPolynomials::new(inputs, 0);
        u.coefficients_mut(0).fill(1.0 + 0.01 * k as f64);
        subsystem.step(RUN.interval(k), u.segment(0..inputs, 0), &mut y[..outputs])?;
    }
    Ok(y[0])
}

fn expect(error: &Error, code: Code, words: &[&str]) {
    assert_eq!(error.code(), code, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "`{word}` is not in\n{error}");
    }
}

#[test]
fn faults_of_the_equations_end_with_instance_time_and_reason() {
    use Fault::*;
    let (dopri5, rk4) = (Solver::Dopri5(1e-8), Solver::Rk4(0.01));
    let bdf = Solver::parse("bdf:1e-6", 1.0).unwrap();
    for fmi in EVERY {
        let library = build_exchange(fmi, "Fault", false, "").load_exchange();
        let is_3 = fmi == Fmi::V3;
        let rates = &*fmi.name(if is_3 { "GetContinuousStateDerivatives" } else { "GetDerivatives" });
        let set = &*fmi.name("SetContinuousStates");
        let update =
            if fmi == Fmi::V1 { "EventUpdate returned Error" } else { "DiscreteStates returned Error" };
        for (fault, solver, code, words) in [
            (NanRate, dopri5, Code::StepTooSmall, &["`lag`", "t = 0.5", "derivative of `y`"][..]),
            (NanRate, rk4, Code::NotFinite, &["`y` of `lag`", "t = 0.51"]),
            (NanRate, bdf, Code::StepTooSmall, &["`lag`", "t = 0.5"]),
            (DiscardRate, dopri5, Code::StepTooSmall, &["`lag`", rates, "Discard", "division by zero"]),
            (DiscardRate, rk4, Code::NotFinite, &["`lag`", rates, "Discard", "division by zero"]),
            (ErrorRate, dopri5, Code::FmuError, &["`lag`", rates, "Error", "no solution"]),
            (ErrorRate, bdf, Code::FmuError, &["`lag`", rates, "Error", "no solution"]),
            (DiscardAbove, dopri5, Code::StepTooSmall, &["`lag`", set, "Discard", "beyond the range"]),
            (PastEvent, dopri5, Code::EventsWithoutEnd, &["`lag`", "announced a time event", "100 events"]),
            (NanEvent, dopri5, Code::FmuError, &["`lag`", "next event", "not a number", "t = 0 s"]),
            (EndAtEvent, dopri5, Code::FmuEnds, &["`lag`", "asked to end the simulation at t = 0.5"]),
            (EndAfterStep, rk4, Code::FmuEnds, &["`lag`", "asked to end the simulation at t = 0.41"]),
            (EndlessEvent, rk4, Code::EventsWithoutEnd, &["`lag`", "does not end", "1000 times"]),
            (ErrorEvent, rk4, Code::FmuError, &["`lag`", update, "the event failed"]),
            (InfiniteState, rk4, Code::NotFinite, &["`y` of `lag`", "inf", "t = 0.1"]),
        ] {
            if fmi == Fmi::V1 && matches!(fault, EndAfterStep) {
                // It has no way to say so.
                continue;
            }
            let error = run(&mut faulty(&library, fault, solver)).unwrap_err();
            println!("{fault:?} {}\n{error}", solver.label());
            expect(&error, code, words);
        }
    }
}

#[test]
fn an_indicator_that_is_not_a_number_is_an_error() {
    for fmi in EVERY {
        let fmu = build_exchange(fmi, "Ball", false, "-DALWAYS_FAULT=NAN_INDICATOR");
        let error = run(&mut exchange(&fmu.load_exchange(), "ball", Solver::Rk4(0.01), &[])).unwrap_err();
        expect(&error, Code::NotFinite, &["`ball`", "event indicator 0", "t = 0.3"]);
    }
}

#[test]
fn nominal_values_that_are_not_positive_become_one() {
    for fmi in EVERY {
        let library = build_exchange(fmi, "Fault", false, "").load_exchange();
        let good = run(&mut exchange(&library, "lag", Solver::Dopri5(1e-8), &[])).unwrap();
        let mut subsystem = faulty(&library, Fault::BadNominals, Solver::Dopri5(1e-8));
        assert_eq!(run(&mut subsystem).unwrap(), good);
        assert!(subsystem.notes().iter().any(|note| note.contains("nominal value of `y`")));
        // New ones are asked for when they are announced.
        assert_eq!(run(&mut faulty(&library, Fault::NewNominals, Solver::Dopri5(1e-8))).unwrap(), good);
    }
}

#[test]
fn states_that_an_fmu_does_not_give_are_missed() {
    for fmi in BOTH {
        let library = build_exchange(fmi, "Fault", false, "").load_exchange();
        let mut subsystem = faulty(&library, Fault::NoState, Solver::Rk4(0.01));
        run(&mut subsystem).unwrap();
        assert_eq!(subsystem.rollback().unwrap().restore().unwrap_err().code(), Code::NeedsMissing);
        expect(&subsystem.rollback().unwrap().snapshot().unwrap_err(), Code::FmuError, &["gave no state"]);
    }
}

#[test]
fn libraries_and_interfaces_that_do_not_fit_are_refused() {
    for fmi in EVERY {
        let load =
            |fmu: &fmus::TestFmu, usage| FmuLibrary::load_for(&mut Fmu::open(&fmu.path).unwrap(), usage);
        let without = build_exchange(fmi, "Lag", false, "-DNO_NOMINALS");
        let error = load(&without, Use::ModelExchange).unwrap_err();
        let nominals = match fmi {
            Fmi::V1 => "Lag_fmiGetNominalContinuousStates",
            _ => "GetNominalsOfContinuousStates",
        };
        expect(&error, Code::FmuSymbol, &[nominals, "Lag.fmu"]);
        let error = load(&without, Use::CoSimulation).unwrap_err();
        expect(&error, Code::FmuInterface, &["not for Co-Simulation", "it is for Model Exchange"]);
        let error = load(&build(fmi, "Lag"), Use::ModelExchange).unwrap_err();
        expect(&error, Code::FmuInterface, &["not for Model Exchange", "it is for Co-Simulation"]);
    }
}

#[test]
fn solvers_that_cannot_work_are_refused() {
    let library = build_exchange(Fmi::V3, "Lag", false, "").load_exchange();
    for (solver, words) in [
        (Solver::Exact, "is not linear"),
        (Solver::Dopri5(1.0), "tolerance of 1 is not between"),
        (Solver::Rk4(-1.0), "inner step of -1 s"),
    ] {
        let options = ModelExchangeOptions { solver, ..Default::default() };
        let error = ModelExchangeSubsystem::new(&library, "lag", &options).err().unwrap();
        expect(&error, Code::BadValue, &[words]);
    }
}

#[test]
fn calls_out_of_order_are_errors() {
    for fmi in [Fmi::V1, Fmi::V2] {
        let library = build_exchange(fmi, "Lag", false, "").load_exchange();
        let mut subsystem = exchange(&library, "lag", Solver::Rk4(0.01), &[]);
        let inputs = InputPolynomials::new(1, 0);
        let step = |s: &mut ModelExchangeSubsystem| {
            s.step(RUN.interval(0), inputs.segment(0..1, 0), &mut [0.0]).unwrap_err().code()
        };
        assert_eq!(step(&mut subsystem), Code::Bug);
        subsystem.terminate();
        assert_eq!(step(&mut subsystem), Code::Bug);
        run(&mut subsystem).unwrap();
        subsystem.terminate();
        run(&mut subsystem).unwrap();
    }
}
