//! Consistent values at the start: y = g(x0, u), u = L y.

use costep_core::Code;
use costep_engine::Engine;
use costep_integrate::Solver;

use costep_conformance::systems::{coupled, method, model};
use costep_conformance::toys::{Toy, error_of, wired};

/// y = gain u + 1.
fn amplifier(name: &str, gain: f64) -> Toy {
    Toy::new(name, 1, 1, move |_, u, y| {
        y[0] = gain * u[0] + 1.0;
        Ok(())
    })
}

#[test]
fn a_long_way_straight_through_settles_in_any_order() {
    // Listed against the direction of the signal: part i is fed by part i + 1.
    let toys = (0..100).map(|i| amplifier(&format!("a{i}"), 1.0).boxed());
    let source = Toy::source("source", |_| 5.0).boxed();
    let connections: Vec<_> = (0..100).map(|i| (i + 1, i)).collect();
    let engine = Engine::new(wired(toys.chain([source]).collect(), &connections, &method("zoh"))).unwrap();
    assert_eq!((engine.outputs()[0], engine.outputs()[99]), (105.0, 6.0));
}

#[test]
fn a_loop_settles_if_its_gain_is_below_one() {
    let toys = vec![amplifier("a", 0.5).boxed(), amplifier("b", -1.2).boxed()];
    let engine = Engine::new(wired(toys, &[(0, 1), (1, 0)], &method("zoh"))).unwrap();
    // a = b / 2 + 1, b = -1.2 a + 1.
    assert!((engine.outputs()[0] - 1.5 / 1.6).abs() < 1e-12);
    assert!((engine.coupled()[1] - engine.outputs()[0]).abs() < 1e-12);
}

#[test]
fn a_loop_that_does_not_settle_is_named() {
    for gain in [1.0, -1.0, 2.0, 1e200] {
        let toys = vec![amplifier("a", gain).boxed(), amplifier("b", 1.0).boxed()];
        let error = error_of(wired(toys, &[(0, 1), (1, 0)], &method("zoh")));
        assert_eq!(error.code(), Code::AlgebraicLoop, "gain {gain}");
        assert!(error.to_string().contains("`a.u0`") || error.to_string().contains("`b.u0`"), "{error}");
    }
}

#[test]
fn the_coupling_force_belongs_to_the_initial_positions() {
    let stretched = model("dual-mass", &[("ck", 1e5), ("dk", 1e3), ("x1", 0.1), ("x2", 0.3), ("v1", 2.0)]);
    let engine = Engine::new(coupled(&stretched, &Solver::Exact, &method("zoh"), 1.0, 1e-3)).unwrap();
    let force = 1e5 * (0.3 - 0.1) - 1e3 * 2.0;
    assert!((engine.outputs()[2] - force).abs() < 1e-9);
    assert_eq!(engine.coupled(), [engine.outputs()[2], 0.1, 2.0]);
}
