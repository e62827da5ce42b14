//! Trial steps leave the outputs inside the last real step as they are.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod fmus;

use costep_core::{Experiment, InputPolynomials, Result, Subsystem};
use costep_integrate::Solver;
use fmus::{BOTH, Fmi, build, build_exchange, exchange, instance};

const RUN: Experiment = Experiment { start: 0.0, stop: 1.0, step: 1e-3 };

/// A step of S2 under inputs that grow at this rate.
fn step(subsystem: &mut dyn Subsystem, k: u64, rate: f64) -> Result<Vec<f64>> {
    let order = usize::from(rate != 0.0);
    let mut inputs = InputPolynomials::new(2, order);
    inputs.coefficients_mut(0).copy_from_slice(&[0.1, 0.0]);
    if order > 0 {
        inputs.coefficients_mut(1).copy_from_slice(&[rate, 0.0]);
    }
    let mut y = vec![0.0; 3];
    subsystem.step(RUN.interval(k), inputs.segment(0..2, order), &mut y)?;
    Ok(y)
}

fn samples(subsystem: &dyn Subsystem) -> (Vec<f64>, Vec<f64>) {
    let samples = subsystem.telemetry().unwrap().micro_samples().unwrap();
    (samples.times.to_vec(), samples.outputs.to_vec())
}

/// Does real steps with trial steps between them, and compares with an instance that never tries anything.
fn check(new: impl Fn() -> Box<dyn Subsystem>, what: &str) {
    let [mut tried, mut plain] = [new(), new()];
    for subsystem in [&mut tried, &mut plain] {
        subsystem.micro_recorder().unwrap().record(true, &RUN);
        subsystem.initialise(&RUN).unwrap();
        subsystem.initial_outputs(&[0.1, 0.0], &mut [0.0; 3]).unwrap();
    }
    for k in 0..5 {
        let rate = if k % 2 == 0 { 0.0 } else { 100.0 };
        let y = step(&mut *tried, k, rate).unwrap();
        assert_eq!(y, step(&mut *plain, k, rate).unwrap(), "{what} {k}");
        let real = samples(&*tried);
        assert!(real.0.len() > 10 && real == samples(&*plain), "{what} {k}");
        for rate in [0.0, 30.0] {
            let other = tried.trial(|subsystem| step(subsystem, k + 1, rate)).unwrap().unwrap();
            assert_ne!(other, y);
            assert_eq!(samples(&*tried), real, "{what} {k} {rate}");
        }
    }
}

#[test]
fn co_simulation_keeps_the_samples_of_the_last_real_step() {
    let library = build(Fmi::V3, "S2").load();
    check(|| Box::new(instance(&library, "s2")), "co-simulation");
}

#[test]
fn model_exchange_keeps_the_samples_of_the_last_real_step() {
    for fmi in BOTH {
        let library = build_exchange(fmi, "S2", false, "").load_exchange();
        for solver in ["euler:10us", "rk4:25us", "dopri5:1e-8", "bdf:1e-6"] {
            let parsed = Solver::parse(solver, 1e-5).unwrap();
            check(|| Box::new(exchange(&library, "s2", parsed, &[])), &format!("{fmi:?} {solver}"));
        }
    }
}
