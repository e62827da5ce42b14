//! Pairs of linear parts that exchange power, from slow to faster than the step.

use costep_integrate::Solver;
use costep_system::Component;

use super::systems::{Drawn, drawn, linear, of, signal};
use crate::identified_cases::drawn::{Draw, step};

/// Two masses with a spring between them, displacement and speed against force, at any ratio of the step
/// to the fastest period.
pub(super) fn fast_masses(draw: &mut Draw) -> Drawn {
    let [m1, m2] = [(); 2].map(|()| draw.size(0.1, 10.0));
    let [ck, c1, c2] = [(); 3].map(|()| draw.size(10.0, 1e4));
    let damp = |draw: &mut Draw, c: f64, m: f64| 2.0 * draw.size(1e-3, 0.3) * (c * m).sqrt();
    let [dk, d1, d2] = [(ck, m1.min(m2)), (c1, m1), (c2, m2)].map(|(c, m)| damp(draw, c, m));
    let first = linear(
        "first",
        (&["force", "push"], &["x", "v"]),
        [
            &[0.0, 1.0, -c1 / m1, -d1 / m1],
            &[0.0, 0.0, 1.0 / m1, 1.0 / m1],
            &[1.0, 0.0, 0.0, 1.0],
            &[0.0, 0.0, 0.0, 0.0],
        ],
        &[draw.between(-1.0, 1.0), 0.0],
    );
    let second = linear(
        "second",
        (&["x", "v"], &["force"]),
        [
            &[0.0, 1.0, -(c2 + ck) / m2, -(d2 + dk) / m2],
            &[0.0, 0.0, ck / m2, dk / m2],
            &[ck, dk],
            &[-ck, -dk],
        ],
        &[0.0, draw.between(-1.0, 1.0)],
    );
    let fastest = ((c1 + ck) / m1).max((c2 + ck) / m2).sqrt();
    let h = step(draw, 0.05 / fastest, 6.0 / fastest);
    let stop = (draw.between(20.0, 200.0) / fastest).max(60.0 * h);
    let pairs = [((1, 0), (0, 0)), ((0, 0), (1, 0)), ((0, 1), (1, 1))];
    let (kind, push) = signal(draw, c1.min(c2), stop);
    let model = of(vec![first, second], &pairs, Solver::Exact).driven(0, 1, push);
    drawn(format!("m={m1:.2},{m2:.2} c={c1:.0},{ck:.0},{c2:.0} {kind}"), model, h, stop)
}

/// A passive part: damped oscillators and lags that hang on one port. x' = (J - R) x + b u, y = b' x, and
/// a push from outside.
fn network(draw: &mut Draw, name: &str, fastest: f64) -> Box<dyn Component> {
    let n = 1 + draw.index(4) as usize;
    let (mut a, mut b) = (vec![0.0; n * n], vec![0.0; 2 * n]);
    for i in 0..n {
        let rate = fastest * draw.size(0.03, 1.0);
        a[i * n + i] = -rate * draw.size(1e-3, 1.0);
        for j in 0..i {
            // Power that one state gives, another one gets.
            let exchange = rate * draw.between(-1.0, 1.0);
            (a[i * n + j], a[j * n + i]) = (exchange, -exchange);
        }
        b[2 * i] = (fastest * draw.size(0.1, 1.0)).sqrt() * if draw.index(2) == 0 { 1.0 } else { -1.0 };
        b[2 * i + 1] = b[2 * i];
    }
    let c: Vec<f64> = (0..n).map(|i| b[2 * i]).collect();
    let start: Vec<f64> = (0..n).map(|_| draw.between(-1.0, 1.0)).collect();
    linear(name, (&["u", "push"], &["y"]), [&a, &b, &c, &[0.0, 0.0]], &start)
}

/// Two passive parts that exchange power: effort one way, flow the other.
pub(super) fn passive(draw: &mut Draw) -> Drawn {
    let fastest = draw.size(1.0, 100.0);
    let parts = vec![network(draw, "one", fastest), network(draw, "two", fastest)];
    let h = step(draw, 0.03 / fastest, 2.0 / fastest);
    let stop = (draw.between(20.0, 200.0) / fastest).max(60.0 * h);
    let (kind, push) = signal(draw, 1.0, stop);
    let mut model = of(parts, &[((1, 0), (0, 0)), ((0, 0), (1, 0))], Solver::Exact).driven(0, 1, push);
    model.connections[0].gain = -1.0;
    drawn(format!("fastest={fastest:.1} {kind}"), model, h, stop)
}
