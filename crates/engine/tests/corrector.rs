//! The model-based corrector as the paper has it, against its two formulas written out here [H18 (2), (3)].

use costep_conformance::systems::{coupled, method};
use costep_core::Port;
use costep_engine::Engine;
use costep_integrate::{Linear, Solver};
use costep_system::{Component, SystemDescription};

const STEP: f64 = 0.1;
/// x' = -x + b u, y = x.
const GAIN: f64 = 10.45;
const START: [f64; 2] = [1.0, 0.5];

/// Two such parts, each the input of the other.
fn pair() -> SystemDescription {
    let part = |name: &str, start: f64| -> Box<dyn Component> {
        let ports = (vec![Port::new("u", "1", 1.0)], vec![Port::new("y", "1", 1.0)]);
        Box::new(Linear::new(name, ports, [&[-1.0], &[GAIN], &[1.0], &[0.0]], &[start]))
    };
    SystemDescription::new(vec![part("a", START[0]), part("b", START[1])], Solver::Exact, 1.0, STEP)
        .connected([((1, 0), (0, 0)), ((0, 0), (1, 0))])
}

fn run(label: &str, steps: usize) -> Vec<Vec<f64>> {
    let mut engine = Engine::new(coupled(&pair(), &Solver::Exact, &method(label), 1.0, STEP)).unwrap();
    (0..steps)
        .map(|_| {
            engine.step().unwrap();
            engine.outputs().to_vec()
        })
        .collect()
}

/// y_corr = [I - C B_d L]^-1 (y - C B_d u_bar), u = L y_corr + L (y_corr_before + y_corr) / 2 - u_bar, by hand for L that swaps.
fn by_hand(steps: usize) -> Vec<Vec<f64>> {
    let decay = (-STEP).exp();
    let m = GAIN * (1.0 - decay);
    let swap = |y: [f64; 2]| [y[1], y[0]];
    let (mut y, mut corrected) = (START, START);
    let (mut bar, mut u) = (swap(START), swap(START));
    let mut rows = Vec::new();
    for _ in 0..steps {
        y = [decay * y[0] + m * u[0], decay * y[1] + m * u[1]];
        rows.push(y.to_vec());
        let b = [y[0] - m * bar[0], y[1] - m * bar[1]];
        let determinant = 1.0 - m * m;
        let next = [(b[0] + m * b[1]) / determinant, (b[1] + m * b[0]) / determinant];
        let mean = swap([0.5 * (corrected[0] + next[0]), 0.5 * (corrected[1] + next[1])]);
        u = [swap(next)[0] + mean[0] - bar[0], swap(next)[1] + mean[1] - bar[1]];
        (bar, corrected) = (swap(next), next);
    }
    rows
}

/// The interface matrix is nearly singular here: corrections are far greater than any change of an output.
#[test]
fn paper_takes_corrections_of_any_size() {
    let (paper, guarded, wanted) = (run("mbcorr:paper=true", 3), run("mbcorr", 3), by_hand(3));
    for (k, (own, wanted)) in paper.iter().zip(&wanted).enumerate() {
        for (own, wanted) in own.iter().zip(wanted) {
            assert!((own / wanted - 1.0).abs() < 1e-9, "step {k}: {own} instead of {wanted}");
        }
    }
    let size = |rows: &[Vec<f64>]| rows.last().unwrap()[0].abs();
    assert!(size(&guarded) < 0.1 * size(&paper), "{} {}", size(&guarded), size(&paper));
}
