//! Figures and words that the documents promise of the model-based methods.

mod common;

use common::Sandbox;
use serde_json::Value;

fn compare(line: &str) -> Vec<Value> {
    let json = Sandbox::new().run(&format!("compare {line} --json")).exits(0).json();
    json["runs"].as_array().unwrap().clone()
}

/// Renewed tangents, with impulses that nobody tells the coupling of and without; a hold is ten times as far off.
#[test]
fn the_nonlinear_oscillator_at_1_ms_is_within_half_a_percent() {
    for force in ["0", "5e4"] {
        let line = format!("dual-mass-nonlinear --set force={force} --methods predictive,zoh --steps 1ms");
        let runs = compare(&line);
        let eps = |run: &Value| run["eps_mono"].as_f64().unwrap();
        println!("force {force}: {:.1e}, zoh {:.1e}", eps(&runs[0]), eps(&runs[1]));
        assert!(eps(&runs[0]) <= 0.005 && eps(&runs[1]) > 0.02, "{runs:?}");
    }
}

#[test]
fn auto_says_what_it_has_chosen() {
    let runs = compare("dual-mass --methods auto,zoh,predictive:source=finite-difference --steps 1ms");
    let why = "predictive of order 2, because all subsystems give local models";
    assert_eq!(runs[0]["chosen"], why);
    assert_eq!(
        (&runs[0]["model_source"], &runs[2]["model_source"]),
        (&"exact".into(), &"finite-difference".into())
    );
    assert!(runs[1]["chosen"].is_null() && runs[1]["model_source"].is_null(), "{}", runs[1]);
    Sandbox::new().run("run dual-mass --step 1ms").exits(0).says(&format!("method: {why}"));
}

/// What `auto` takes where subsystems give D alone, against the hold that uses D.
#[test]
fn identified_models_with_feedthrough_do_better_than_feedthrough() {
    let mut compared = 0;
    for system in [
        "dual-mass",
        "dual-mass-nonlinear",
        "pendulum-oscillator",
        "chain",
        "triple-spring",
        "coupled-pendula",
    ] {
        let methods = ["feedthrough", "identified:feedthrough=true"];
        let runs = methods.map(|method| compare(&format!("{system} --methods {method} --steps 1ms,2ms,5ms")));
        for (hold, learnt) in runs[0].iter().zip(&runs[1]) {
            let Some(held) = hold["eps_mean"].as_f64().filter(|_| hold["verdict"] != "unstable") else {
                continue;
            };
            let eps = learnt["eps_mean"].as_f64().unwrap();
            println!("{system} {}: {held:.2e}, {eps:.2e}", hold["step"]);
            assert!(eps < held, "{system} at {}: {held} and {eps}", hold["step"]);
            compared += 1;
        }
    }
    assert!(compared >= 9, "{compared}");
}
