//! FMUs that are stepped in a batch do what they do alone, whatever happens.
#![cfg(unix)]

mod fmus;

use std::sync::Arc;

use costep_core::{Batch, Code, Experiment, InputPolynomials, Result, StateWriter, Subsystem};
use costep_fmi::{CoSimulationSubsystem, FmuLibrary};
use fmus::{Fmi, build, options};

const RUN: Experiment = Experiment { start: 2.0, stop: 12.0, step: 0.5 };
const STEPS: u64 = 12;
const COUNT: usize = 3;

/// Instances, initialised. The one in the middle has a fault from 4.5 s on.
fn members(library: &Arc<FmuLibrary>, fault: i32) -> Vec<Box<dyn Subsystem>> {
    let make = |i: usize| -> Box<dyn Subsystem> {
        let parameters = match fault {
            0 => options(&[("x0", i as f64)]),
            _ if i == 1 => options(&[("fault", fault.into()), ("at", 4.5), ("x0", 1.0)]),
            _ => options(&[("x0", i as f64)]),
        };
        Box::new(CoSimulationSubsystem::new(library, &format!("fmu{i}"), &parameters).unwrap())
    };
    let mut members: Vec<_> = (0..COUNT).map(make).collect();
    for member in &mut members {
        let (inputs, outputs) = (member.description().inputs.len(), member.description().outputs.len());
        member.initialise(&RUN).unwrap();
        member.initial_outputs(&vec![1.0; inputs], &mut vec![0.0; outputs]).unwrap();
    }
    members
}

fn batch_of(members: Vec<Box<dyn Subsystem>>) -> Box<dyn Batch> {
    let mut batch = None;
    for member in members {
        assert!(member.join_batch(&mut batch).is_ok());
    }
    batch.unwrap()
}

/// Inputs of a step: each member and each step has others.
fn inputs(k: u64, width: usize) -> InputPolynomials {
    let mut inputs = InputPolynomials::new(COUNT * width, 0);
    inputs.coefficients_mut(0).iter_mut().enumerate().for_each(|(j, u)| *u = (k as f64 + j as f64).sin());
    inputs
}

fn bits(y: &[f64]) -> Vec<u64> {
    y.iter().map(|y| y.to_bits()).collect()
}

/// One macro step of each member alone.
fn step(k: u64, members: &mut [Box<dyn Subsystem>]) -> Result<Vec<u64>> {
    let (us, ys) = (members[0].description().inputs.len(), members[0].description().outputs.len());
    let (u, mut y) = (inputs(k, us), vec![0.0; COUNT * ys]);
    for (i, (member, y)) in members.iter_mut().zip(y.chunks_mut(ys)).enumerate() {
        let outcome = member.step(RUN.interval(k), u.segment(i * us..(i + 1) * us, 0), y)?;
        assert_eq!(outcome.reached, RUN.time(k + 1));
    }
    Ok(bits(&y))
}

/// One macro step of a batch.
fn step_batch(k: u64, batch: &mut dyn Batch) -> Result<Vec<u64>> {
    let first = batch.member(0).description();
    let (us, ys) = (first.inputs.len(), first.outputs.len());
    let mut y = vec![0.0; COUNT * ys];
    match batch.step(&RUN.interval(k), inputs(k, us).coefficients(0), &mut y) {
        Ok(()) => Ok(bits(&y)),
        Err((_, outcome)) => Err(outcome.expect_err("all come to the end of the step")),
    }
}

fn story(outcome: &Result<Vec<u64>>) -> (Option<&Vec<u64>>, Option<String>) {
    (outcome.as_ref().ok(), outcome.as_ref().err().map(ToString::to_string))
}

#[test]
fn every_outcome_is_that_of_steps_alone() {
    // None, a warning in every step; Error, an unknown status, Pending and Discard in a step; an error when values are got
    // or set, which comes in the first step already.
    for (fault, code) in [
        (0, None),
        (7, None),
        (3, Some(Code::FmuError)),
        (15, Some(Code::FmuError)),
        (10, Some(Code::FmuPending)),
        (6, Some(Code::FmuDiscard)),
        (60, Some(Code::FmuEnds)),
        (4, Some(Code::FmuError)),
        (11, Some(Code::FmuError)),
    ] {
        for fmi in [Fmi::V1, Fmi::V2] {
            // FMI 1 cannot ask for the end.
            let code = code
                .map(|code| if fmi == Fmi::V1 && code == Code::FmuEnds { Code::FmuDiscard } else { code });
            let library = build(fmi, "Fault").load();
            let (mut batch, mut single) = (batch_of(members(&library, fault)), members(&library, fault));
            let mut last = None;
            for k in 0..STEPS {
                let outcome = step_batch(k, &mut *batch);
                assert_eq!(story(&outcome), story(&step(k, &mut single)), "{fault} {k}");
                last = outcome.err();
                if last.is_some() {
                    break;
                }
            }
            assert_eq!(last.map(|error| error.code()), code, "{fault}");
        }
    }
}

fn saved(member: &dyn Subsystem) -> Vec<u8> {
    let mut out = StateWriter::default();
    member.demand_persistence().unwrap().save(&mut out).unwrap();
    out.into_bytes()
}

#[test]
fn members_know_what_they_did_in_a_batch() {
    let library = build(Fmi::V2, "S1").load();
    let (mut batch, mut single) = (batch_of(members(&library, 0)), members(&library, 0));
    let compare = |batch: &dyn Batch, single: &[Box<dyn Subsystem>]| {
        single.iter().enumerate().for_each(|(i, alone)| assert_eq!(saved(batch.member(i)), saved(&**alone)));
    };
    for k in 0..5 {
        assert_eq!(story(&step_batch(k, &mut *batch)), story(&step(k, &mut single)));
    }
    compare(&*batch, &single);
    // One that stores its state comes back to the time of the batch.
    for (i, alone) in single.iter_mut().enumerate() {
        batch.member_mut(i).demand_rollback().unwrap().snapshot().unwrap();
        alone.demand_rollback().unwrap().snapshot().unwrap();
    }
    for _ in 0..2 {
        assert_eq!(story(&step_batch(5, &mut *batch)), story(&step(5, &mut single)));
        for (i, alone) in single.iter_mut().enumerate() {
            batch.member_mut(i).demand_rollback().unwrap().restore().unwrap();
            alone.demand_rollback().unwrap().restore().unwrap();
        }
    }
    compare(&*batch, &single);
}

#[test]
fn a_member_that_is_stepped_by_itself_comes_back_into_the_batch() {
    let library = build(Fmi::V2, "S1").load();
    let (mut batch, mut single) = (batch_of(members(&library, 0)), members(&library, 0));
    for k in 0..7 {
        let expected = step(k, &mut single).unwrap();
        let ours = if k == 3 {
            let (us, ys) = (single[0].description().inputs.len(), single[0].description().outputs.len());
            let (u, mut y) = (inputs(k, us), vec![0.0; COUNT * ys]);
            for (i, y) in y.chunks_mut(ys).enumerate() {
                let own = u.segment(i * us..(i + 1) * us, 0);
                batch.member_mut(i).step(RUN.interval(k), own, y).unwrap();
            }
            bits(&y)
        } else {
            step_batch(k, &mut *batch).unwrap()
        };
        assert_eq!(ours, expected, "step {k}");
    }
    for (i, alone) in single.iter().enumerate() {
        assert_eq!(saved(batch.member(i)), saved(&**alone));
    }
}

#[test]
fn only_equals_form_a_batch() {
    let (one, other) = (build(Fmi::V2, "Fault").load(), build(Fmi::V2, "S1").load());
    let mut batch = None;
    assert!(members(&one, 0).remove(0).join_batch(&mut batch).is_ok());
    let refused = members(&other, 0).remove(0).join_batch(&mut batch);
    assert_eq!(refused.err().map(|back| back.description().name.clone()), Some("fmu0".into()));
    let another_library = build(Fmi::V2, "Fault").load();
    assert!(members(&another_library, 0).remove(0).join_batch(&mut batch).is_err());
    assert_eq!(batch.unwrap().members(), 1);
}
