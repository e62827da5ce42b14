//! The dual mass oscillator against matrices written down by hand.

mod common;

use common::model;
use costep_core::{Experiment, InputPolynomials, Interval, LocalModel, Subsystem};
use costep_integrate::{Equations, Integrated, Solver};

#[test]
fn the_monolithic_matrix_is_that_of_the_thesis() {
    let names = ["m1", "m2", "c1", "c2", "d1", "d2", "ck", "dk"];
    for values in [[10.0, 10.0, 1e6, 1e7, 1.0, 2.0, 1e5, 1e3], [3.0, 7.0, 50.0, 20.0, 0.5, 0.25, 9.0, 4.0]] {
        let twin = model("dual-mass", &names.into_iter().zip(values).collect::<Vec<_>>());
        let [m1, m2, c1, c2, d1, d2, ck, dk] = values;
        // x1' = v1, m1 v1' = -c1 x1 - d1 v1 + ck (x2 - x1) + dk (v2 - v1), and the same for mass 2 [T 3.1].
        let a = [
            [0.0, 1.0, 0.0, 0.0],
            [-(c1 + ck) / m1, -(d1 + dk) / m1, ck / m1, dk / m1],
            [0.0, 0.0, 0.0, 1.0],
            [ck / m2, dk / m2, -(c2 + ck) / m2, -(d2 + dk) / m2],
        ];
        let c = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-ck, -dk, ck, dk]];
        let mut local = LocalModel::new(4, 0, 3);
        twin.monolithic().unwrap().jacobians(0.0, &[0.0; 4], &[], &mut local).unwrap();
        let ours = local.a.chunks(4).chain(local.c.chunks(4));
        for (ours, theirs) in ours.zip(a.iter().chain(&c)) {
            let size = theirs.iter().fold(0.0f64, |size, value| size.max(value.abs()));
            let error = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error <= 1e-14 * size, "{ours:?} is not {theirs:?}");
        }
    }
}

#[test]
fn a_symmetric_pair_swings_with_its_two_frequencies() {
    // In phase with sqrt(c/m), against each other with sqrt((c + 2 ck)/m).
    let (c, ck, t) = (100.0f64, 40.0, 1.7);
    let same =
        [("m1", 1.0), ("m2", 1.0), ("c1", c), ("c2", c), ("d1", 0.0), ("d2", 0.0), ("ck", ck), ("dk", 0.0)];
    for (x2, square) in [(0.1, c), (-0.1, c + 2.0 * ck)] {
        let pair = model("dual-mass", &[&same[..], &[("x1", 0.1), ("x2", x2)]].concat());
        let mut twin = Integrated::new(pair.monolithic().unwrap(), &Solver::Exact).unwrap();
        twin.initialise(&Experiment { start: 0.0, stop: t, step: t }).unwrap();
        let mut y = [0.0; 3];
        let no_input = InputPolynomials::new(0, 0);
        twin.step(Interval::new(0.0, t), no_input.segment(0..0, 0), &mut y).unwrap();
        assert!((y[0] - 0.1 * (square.sqrt() * t).cos()).abs() < 1e-12, "{y:?}");
    }
}
