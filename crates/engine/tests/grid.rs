//! Spectral radius of the macro-step map of the dual mass oscillator under predictive coupling, over the grid of the
//! thesis' stability study: 56 pairs of coupling spring and damper, eleven steps up to 10 ms.

use costep_conformance::systems::{coupled, method, model};
use costep_engine::Engine;
use costep_integrate::Solver;
use costep_linalg::Matrix;

/// Sizes of x1, v1, x2, v2 for which the map is well scaled.
const UNITS: [f64; 4] = [1.0, 316.0, 1.0, 1000.0];

/// The states after one macro step from a given state.
fn step(coupling: (f64, f64), start: [f64; 4], label: &str, h: f64) -> Vec<f64> {
    let [x1, v1, x2, v2] = start;
    let parameters = [("ck", coupling.0), ("dk", coupling.1), ("x1", x1), ("v1", v1), ("x2", x2), ("v2", v2)];
    let mut engine =
        Engine::new(coupled(&model("dual-mass", &parameters), &Solver::Exact, &method(label), h, h)).unwrap();
    engine.step().unwrap();
    let state = engine.save().unwrap();
    // Each native part saves its time, its states and its inputs with their numbers, and a block that is empty here.
    let number = |at: usize| f64::from_le_bytes(state[at..at + 8].try_into().unwrap());
    let second = state.len() - 8 * (1 + 3 + 3 + 1);
    let first = second - 8 * (1 + 3 + 2 + 1);
    [first, second].iter().flat_map(|at| [number(at + 16), number(at + 24)]).collect()
}

/// The method has no memory besides the states: the map of one step is the whole map.
fn spectral_radius(coupling: (f64, f64), label: &str, h: f64) -> f64 {
    let mut map = Matrix::zeros(4, 4);
    for column in 0..4 {
        let mut start = [0.0; 4];
        start[column] = UNITS[column];
        for (row, value) in step(coupling, start, label, h).into_iter().enumerate() {
            map[(row, column)] = value / UNITS[row];
        }
    }
    costep_linalg::spectral_radius(&map)
}

fn stable_share(label: &str) -> f64 {
    let (mut stable, mut count) = (0, 0);
    for ck in (6..=12).map(|half| 10f64.powf(f64::from(half) / 2.0)) {
        for dk in (4..=11).map(|half| 10f64.powf(f64::from(half) / 2.0)) {
            for h in [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0] {
                count += 1;
                stable += usize::from(spectral_radius((ck, dk), label, h * 1e-3) <= 1.0 + 1e-9);
            }
        }
    }
    assert_eq!(count, 616);
    println!("{label}: {stable} of {count} stable");
    stable as f64 / 616.0
}

#[test]
fn nearly_all_of_the_grid_is_stable() {
    assert!(stable_share("predictive") >= 0.99);
    assert!(stable_share("predictive:fit=sharp") >= 0.99);
    // The grid is not harmless: without matched end states the projection is unstable in places.
    assert!(stable_share("predictive:fit=l2") < 0.95);
}
