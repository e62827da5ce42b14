//! FMUs that are stepped in a row do what they do alone, whatever happens.
#![cfg(unix)]

mod fmus;

use std::sync::Arc;

use costep_core::{Code, Experiment, InputPolynomials, Result, Row, StateWriter, Subsystem};
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

fn row_of(members: &mut [Box<dyn Subsystem>]) -> Box<dyn Row> {
    let mut row = None;
    assert!(members.iter_mut().all(|member| joins(&mut **member, &mut row)));
    row.unwrap()
}

fn joins(member: &mut dyn Subsystem, row: &mut Option<Box<dyn Row>>) -> bool {
    member.row_member().is_some_and(|member| member.join_row(row))
}

/// Inputs of a step: each member and each step has others.
fn inputs(k: u64, members: &[Box<dyn Subsystem>]) -> InputPolynomials {
    let width = members[0].description().inputs.len();
    let mut inputs = InputPolynomials::new(COUNT * width, 0);
    inputs.coefficients_mut(0).iter_mut().enumerate().for_each(|(j, u)| *u = (k as f64 + j as f64).sin());
    inputs
}

/// One macro step; gives the outputs and how many members were stepped alone.
fn step(k: u64, members: &mut [Box<dyn Subsystem>], row: Option<&mut dyn Row>) -> (Result<Vec<u64>>, usize) {
    let u = inputs(k, members);
    let (us, ys) = (members[0].description().inputs.len(), members[0].description().outputs.len());
    let mut y = vec![0.0; COUNT * ys];
    let mut count = 0;
    let mut alone = |i: usize, member: &mut dyn Subsystem, y: &mut [f64]| {
        count += 1;
        let outcome = member.step(RUN.interval(k), u.segment(i * us..(i + 1) * us, 0), y)?;
        assert_eq!(outcome.reached, RUN.time(k + 1));
        Ok(())
    };
    let outcome = match row {
        Some(row) => row.step(&RUN.interval(k), u.coefficients(0), members, &mut y, &mut alone),
        None => members
            .iter_mut()
            .zip(y.chunks_mut(ys))
            .enumerate()
            .try_for_each(|(i, (m, y))| alone(i, &mut **m, y)),
    };
    (outcome.map(|()| y.iter().map(|y| y.to_bits()).collect()), count)
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
        let library = build(Fmi::V2, "Fault").load();
        let (mut in_row, mut single) = (members(&library, fault), members(&library, fault));
        let mut row = row_of(&mut in_row);
        let mut last = None;
        for k in 0..STEPS {
            let (outcome, alone) = step(k, &mut in_row, Some(&mut *row));
            let (expected, _) = step(k, &mut single, None);
            assert_eq!(story(&outcome), story(&expected), "{fault} {k}");
            // The first step ends the initialisation. Then it is the row's.
            match (k, fault) {
                (0, _) => {}
                (1..5, _) | (_, 0) => assert_eq!(alone, 0, "{fault} {k}"),
                // The step at whose end the end is asked for is done, by those from that one on.
                (_, 60) => assert!(alone >= 1, "{k}"),
                // The one that warned and the one behind it, then all of them once more.
                (_, 7) => assert_eq!(alone, if k % 2 == 1 { 2 } else { 3 }, "{k}"),
                _ => assert_eq!(alone, 1, "{fault} {k}"),
            }
            last = outcome.err();
            if last.is_some() {
                break;
            }
        }
        assert_eq!(last.map(|error| error.code()), code, "{fault}");
    }
}

fn saved(member: &dyn Subsystem) -> Vec<u8> {
    let mut out = StateWriter::default();
    member.demand_persistence().unwrap().save(&mut out).unwrap();
    out.into_bytes()
}

#[test]
fn members_know_what_they_did_in_a_row() {
    let library = build(Fmi::V2, "S1").load();
    let (mut in_row, mut single) = (members(&library, 0), members(&library, 0));
    let mut row = row_of(&mut in_row);
    for k in 0..5 {
        assert_eq!(story(&step(k, &mut in_row, Some(&mut *row)).0), story(&step(k, &mut single, None).0));
    }
    for (a, b) in in_row.iter().zip(&single) {
        assert_eq!(saved(&**a), saved(&**b));
    }
    // One that stores its state steps alone, and so do the others; it comes back to the time of the row.
    for member in in_row.iter_mut().chain(&mut single) {
        member.demand_rollback().unwrap().snapshot().unwrap();
    }
    for _ in 0..2 {
        let (outcome, alone) = step(5, &mut in_row, Some(&mut *row));
        assert_eq!((story(&outcome), alone), (story(&step(5, &mut single, None).0), COUNT));
        for member in in_row.iter_mut().chain(&mut single) {
            member.demand_rollback().unwrap().restore().unwrap();
        }
    }
    for (a, b) in in_row.iter().zip(&single) {
        assert_eq!(saved(&**a), saved(&**b));
    }
}

#[test]
fn members_that_are_not_at_their_places_step_alone() {
    let library = build(Fmi::V2, "Fault").load();
    let mut all = members(&library, 0);
    let mut row = row_of(&mut all);
    let calls = |all: &mut [Box<dyn Subsystem>], row: &mut dyn Row, k| step(k, all, Some(row)).1;
    assert_eq!([0, 1, 2].map(|k| calls(&mut all, &mut *row, k)), [COUNT, 0, 0]);
    all.swap(0, 2);
    assert_eq!(calls(&mut all, &mut *row, 3), COUNT);
    all.swap(0, 2);
    assert_eq!(calls(&mut all, &mut *row, 4), 0);
    // Another one in the place of one that is gone.
    let mut others = members(&library, 0);
    all[1] = others.remove(0);
    assert_eq!(calls(&mut all, &mut *row, 5), COUNT);
}

#[test]
fn those_before_one_that_is_not_at_its_place_step_in_the_row() {
    let library = build(Fmi::V2, "S1").load();
    let (mut in_row, mut single) = (members(&library, 0), members(&library, 0));
    let mut row = row_of(&mut in_row);
    let mut counts = Vec::new();
    for k in 0..7 {
        if k == 3 || k == 5 {
            in_row.swap(1, 2);
            single.swap(1, 2);
        }
        let (ours, count) = step(k, &mut in_row, Some(&mut *row));
        assert_eq!(ours.unwrap(), step(k, &mut single, None).0.unwrap(), "step {k}");
        counts.push(count);
    }
    assert_eq!(counts, [COUNT, 0, 0, COUNT - 1, COUNT - 1, 0, 0]);
    for (a, b) in in_row.iter().zip(&single) {
        assert_eq!(saved(&**a), saved(&**b));
    }
}

#[test]
fn only_equals_form_a_row() {
    let (one, other) = (build(Fmi::V2, "Fault").load(), build(Fmi::V2, "S1").load());
    let mut row = None;
    assert!(joins(&mut *members(&one, 0)[0], &mut row));
    assert!(!joins(&mut *members(&other, 0)[0], &mut row));
    let another_library = build(Fmi::V2, "Fault").load();
    assert!(!joins(&mut *members(&another_library, 0)[0], &mut row));
}
