//! Coupling of black boxes by identified models: errors on the benchmark systems, and what it does when things go wrong.
//! Figures of a prototype stand beside the bounds.

mod common;

use common::{BlackBox, eps, model, noisy, run, stiffening};
use costep_core::Subsystem;
use costep_integrate::Solver;
use costep_models::Model;

#[test]
fn the_nonlinear_oscillator_stays_near_the_monolithic_solution() {
    let oscillator = model("dual-mass-nonlinear", &[]);
    assert!((eps(&oscillator, "zoh", 1e-3, 1.0) - 0.068056).abs() < 1e-5);
    for (step, prototype, bound) in [(1e-3, 0.031, 0.032), (5e-3, 0.127, 0.14)] {
        let eps = eps(&oscillator, "identified", step, 1.0);
        println!("{step}: {eps:.4} (prototype {prototype})");
        assert!(eps <= bound, "{step}: {eps}");
    }
    assert!(eps(&oscillator, "zoh", 5e-3, 1.0) > 1.0);
}

#[test]
fn the_helicopter_flies_where_holds_crash() {
    for (controller, prototype) in [(1.0, 0.020), (2.0, 0.018)] {
        let helicopter = model("helicopter", &[("controller", controller)]);
        let [zoh, nepce, hold, ramp] = ["zoh", "nepce", "identified", "identified:form=ramp"]
            .map(|method| eps(&helicopter, method, 0.3, 90.0));
        println!("controller {controller}: hold {hold:.4} ramp {ramp:.4} (prototype {prototype})");
        assert!(zoh > 9.0 && nepce > 9.0, "{zoh} {nepce}");
        assert!(hold <= 0.03 && ramp <= 0.04, "{hold} {ramp}");
        assert!(eps(&helicopter, "predictive", 0.3, 90.0) <= 0.02);
    }
}

/// Black boxes that cannot even divide their step: stable at 5 ms, learning included, where a hold explodes.
#[test]
fn black_boxes_without_any_capability_are_coupled() {
    let oscillator = model("dual-mass", &[("ck", 1e5), ("dk", 1e3)]);
    let boxed = |method: &str| run(&oscillator, method, 5e-3, 0.3, |_, part| Box::new(BlackBox::new(part)));
    let held = boxed("zoh");
    assert!(held.is_none_or(|measures| measures.unstable && measures.eps_mean > 1.0));
    for method in ["identified", "auto"] {
        let measures = boxed(method).unwrap();
        println!("{method}: {:.4}", measures.eps_mean);
        assert!(!measures.unstable && measures.eps_mean < 0.4, "{method}: {}", measures.eps_mean);
    }
}

/// Errors of the extrapolations that identified coupling could have fallen back to.
fn best_fall_back(
    model: &Model,
    step: f64,
    stop: f64,
    wrap: fn(usize, Box<dyn Subsystem>) -> Box<dyn Subsystem>,
) -> f64 {
    let eps = |method: &str| run(model, method, step, stop, wrap).map_or(f64::INFINITY, |m| m.eps_mean);
    eps("zoh").min(eps("foh"))
}

#[test]
fn a_chain_of_five_black_boxes_is_coupled() {
    for (step, idle) in [(1e-3, 0.0), (2e-3, 0.0), (5e-3, 0.5)] {
        let mut chain = model("chain", &[("idle", idle)]);
        chain.solver = Solver::Exact;
        let stop = 1.0 + idle;
        let fall_back = best_fall_back(&chain, step, stop, |_, part| part);
        for method in ["identified", "identified:form=ramp"] {
            let eps = eps(&chain, method, step, stop);
            println!("{method} {step} idle {idle}: {eps:.4}, fall-back {fall_back:.4}");
            assert!(eps <= 2.0 * fall_back && eps < 0.5, "{method} {step}: {eps} {fall_back}");
        }
    }
}

#[test]
fn noise_does_no_more_harm_than_to_a_hold() {
    for (ck, dk, step) in [(1e5, 1e3, 1e-3), (2e5, 200.0, 2e-3), (1e5, 1e3, 4e-3)] {
        let oscillator = model("dual-mass", &[("ck", ck), ("dk", dk)]);
        let fall_back = best_fall_back(&oscillator, step, 0.5, noisy);
        for method in ["identified", "identified:start=plain"] {
            let eps = run(&oscillator, method, step, 0.5, noisy).map_or(f64::INFINITY, |m| m.eps_mean);
            println!("{method} {ck:e} {step}: {eps:.4}, fall-back {fall_back:.4}");
            assert!(eps <= 2.0 * fall_back && eps.is_finite(), "{method} {ck} {step}: {eps} {fall_back}");
        }
    }
}

#[test]
fn a_subsystem_that_changes_is_learnt_again() {
    let oscillator = stiffening();
    for step in [1e-3, 2e-3] {
        let fall_back = best_fall_back(&oscillator, step, 1.0, |_, part| part);
        for method in ["identified", "identified:form=ramp"] {
            let eps = eps(&oscillator, method, step, 1.0);
            println!("{method} {step}: {eps:.4}, fall-back {fall_back:.4}");
            assert!(eps <= 2.0 * fall_back && eps.is_finite(), "{method} {step}: {eps} {fall_back}");
        }
    }
}

/// Inputs that never move teach nothing and must not hurt: a chain at rest, pushed late and weakly.
#[test]
fn without_excitation_nothing_happens() {
    let chain = model("chain", &[("force", 0.0)]);
    for method in ["identified", "identified:form=ramp", "identified:start=plain"] {
        assert_eq!(eps(&chain, method, 5e-3, 2.0), 0.0, "{method}");
    }
}
