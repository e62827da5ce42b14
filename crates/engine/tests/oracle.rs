//! Trajectories of the dual mass oscillator against an independent prototype in Python, whose tables lie in
//! `data`: outputs at T^k and the inputs applied from T^k to T^(k+1), with ten digits.

#[path = "common/sized.rs"]
mod sized;

use costep_conformance::systems::{coupled, method, model};
use costep_core::{Experiment, InputPolynomials, Subsystem};
use costep_engine::Engine;
use costep_integrate::{Integrated, Solver};

const COUPLING: [(&str, f64); 2] = [("ck", 2e5), ("dk", 200.0)];
const MICRO_STEP: Solver = Solver::Euler(1e-5);

/// Columns of the rows whose first column is `first`, or of all. No input follows the last row: NaN.
fn table(csv: &str, columns: &[&str], first: Option<f64>) -> Vec<Vec<f64>> {
    let mut lines = csv.lines();
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    let places: Vec<_> = columns.iter().map(|c| header.iter().position(|h| h == c).unwrap()).collect();
    let rows =
        lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect::<Vec<f64>>());
    let chosen = rows.filter(|row| first.is_none_or(|first| row[0] == first));
    chosen.map(|row| places.iter().map(|place| row[*place]).collect()).collect()
}

/// Greatest deviation of a column, relative to the range of its values in the table.
fn deviation(ours: &[Vec<f64>], theirs: &[Vec<f64>]) -> f64 {
    let worst = |column: usize| {
        let values = theirs.iter().map(|row| row[column]).filter(|value| !value.is_nan());
        let range = values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min);
        let pairs = ours.iter().zip(theirs).map(|(a, b)| (a[column], b[column]));
        let errors = pairs.filter(|(_, b)| !b.is_nan()).map(|(a, b)| (a - b).abs());
        errors.fold(0.0, f64::max) / if range > 0.0 { range } else { 1.0 }
    };
    (0..theirs[0].len()).map(worst).fold(0.0, f64::max)
}

/// x1, v1, F at T^k, then value, slope and curvature of the inputs F, x, v from T^k on.
fn trajectory(label: &str, step: f64, rows: usize) -> Vec<Vec<f64>> {
    let model = model("dual-mass", &COUPLING);
    let force = COUPLING[0].1 * sized::POSITION + COUPLING[1].1 * sized::VELOCITY;
    let mut system = coupled(&model, &MICRO_STEP, &method(label), 1.0, step);
    system.subsystems =
        model.parts.iter().map(|part| sized::subsystem(&**part, &MICRO_STEP, force)).collect();
    let mut engine = Engine::new(system).unwrap();
    let row = |engine: &mut Engine| {
        let mut row = engine.outputs().to_vec();
        engine.step().unwrap();
        for a in 0..=2 {
            match engine.inputs().order() {
                order if order < a => row.extend([0.0; 3]),
                _ => row.extend_from_slice(engine.inputs().coefficients(a)),
            }
        }
        row
    };
    (0..rows).map(|_| row(&mut engine)).collect()
}

fn check(label: &str, csv: &str) {
    check_within(1e-9, label, csv);
}

fn check_within(tolerance: f64, label: &str, csv: &str) {
    let columns = ["x1", "v1", "F", "u0_F", "u0_x", "u0_v", "s_F", "s_x", "s_v", "q_F", "q_x", "q_v"];
    for step in [0.001, 0.002, 0.006] {
        let theirs = table(csv, &columns, Some(step));
        let deviation = deviation(&trajectory(label, step, theirs.len()), &theirs);
        println!("{label} at {step} s: {deviation:.1e} in {} rows", theirs.len());
        assert!(theirs.len() > 20 && deviation < tolerance, "{label} at {step} s: {deviation:e}");
    }
}

#[test]
fn zero_order_hold() {
    check("zoh", include_str!("data/zoh.csv"));
}

#[test]
fn first_order_hold() {
    check("foh", include_str!("data/foh.csv"));
}

#[test]
fn nepce_with_the_uncorrected_reference() {
    check("nepce", include_str!("data/nepce.csv"));
}

#[test]
fn nepce_with_the_applied_reference() {
    check("nepce:reference=applied", include_str!("data/nepce_incl.csv"));
}

#[test]
fn the_monolithic_twin_under_explicit_euler() {
    let theirs = table(include_str!("data/mono_explicit_euler.csv"), &["x1", "v1", "F"], None);
    let experiment = Experiment { start: 0.0, stop: 0.12, step: 5e-4 };
    let mut twin = Integrated::new(model("dual-mass", &COUPLING).monolithic().unwrap(), &MICRO_STEP).unwrap();
    twin.initialise(&experiment).unwrap();
    let (mut y, no_input) = (vec![0.0; 3], InputPolynomials::new(0, 0));
    twin.initial_outputs(&[], &mut y).unwrap();
    let mut ours = vec![y.clone()];
    for k in 0..experiment.steps() {
        let interval = experiment.interval(k);
        twin.step(interval, no_input.segment(0..0, 0), &mut y).unwrap();
        ours.push(y.clone());
    }
    assert_eq!(ours.len(), theirs.len());
    let deviation = deviation(&ours, &theirs);
    println!("monolithic: {deviation:.1e}");
    assert!(deviation < 1e-9, "{deviation:e}");
}

#[test]
fn parallel_linear_correction() {
    check("feedthrough", include_str!("data/plc.csv"));
}

#[test]
fn model_based_corrector() {
    check("mbcorr", include_str!("data/mbcorr.csv"));
}

#[test]
fn pre_step_stabilisation() {
    check_within(1e-6, "prestep:paper=true", include_str!("data/prestep_const.csv"));
    check_within(1e-6, "prestep:paper=true,target=trapezoid", include_str!("data/prestep_const.csv"));
    check_within(1e-6, "prestep:paper=true,input=ramp", include_str!("data/prestep_ramp.csv"));
    check_within(
        1e-6,
        "prestep:ede=true,scaled=false,offsets=false",
        include_str!("data/prestep_const_ede.csv"),
    );
}

/// The observer of the prototype: inputs wrong by one size, states by a tenth, outputs by a hundredth.
const OBSERVER: &str = "states=kalman,input_error=1,state_error=0.1,output_error=0.01";

#[test]
fn predictive_with_interface_jacobians() {
    let label = "predictive:fit=l2,states=outputs,offsets=off";
    check_within(1e-6, label, include_str!("data/ij_p2_l2.csv"));
}

#[test]
fn predictive_with_an_observer() {
    let label = |fit: &str| format!("predictive:fit={fit},{OBSERVER}");
    check_within(1e-6, &label("l2"), include_str!("data/fs_p2_l2.csv"));
    check_within(1e-6, &label("end"), include_str!("data/fs_p2_end.csv"));
}
