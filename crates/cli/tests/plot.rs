//! `costep plot` draws recordings.

mod common;

use std::fs;

use common::Sandbox;

fn desk_with_run(name: &str, method: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&format!("run dual-mass --method {method} --step 1ms --out {name}")).exits(0);
    sandbox
}

#[test]
fn the_outputs_are_drawn_unless_others_are_asked_for() {
    let sandbox = desk_with_run("a", "predictive");
    let drawn = sandbox.run("plot a --json").exits(0).json();
    assert_eq!(drawn["signals"], serde_json::json!(["s1.x", "s1.v", "s2.F"]));
    assert_eq!(drawn["rows"], serde_json::json!([101]));
    let svg = fs::read_to_string(sandbox.path("a/plot.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains(">s1.x<"));
    let drawn = sandbox.run("plot a --signals energy,s2.* --out e.svg --json").exits(0).json();
    assert_eq!(drawn["signals"], serde_json::json!(["energy", "s2.F", "s2.x", "s2.v"]));
    assert!(sandbox.path("e.svg").exists());
}

#[test]
fn runs_are_drawn_over_each_other_with_the_monolithic_solution() {
    let sandbox = desk_with_run("a", "predictive");
    sandbox.run("run dual-mass --method nepce --step 0.5ms --out b").exits(0);
    sandbox.run("plot a b --reference --from 20ms --to 50ms --out c.svg").exits(0);
    let svg = fs::read_to_string(sandbox.path("c.svg")).unwrap();
    for text in ["predictive, 1 ms", "nepce, 500 us", "monolithic", "solver euler:10us"] {
        assert!(svg.contains(text), "{text}");
    }
    // The window is the one asked for.
    assert!(svg.contains(">0.050<") && !svg.contains(">0.055<") && !svg.contains(">0.015<"));
}

#[test]
fn recordings_of_compare_know_their_system() {
    let sandbox = Sandbox::new();
    sandbox.run("compare dual-mass --methods nepce --steps 1ms --out runs").exits(0);
    sandbox.run("plot runs/nepce-1ms.arrows --reference").exits(0);
    assert!(sandbox.path("runs/plot.svg").exists());
}

#[test]
fn mistakes_have_help() {
    let sandbox = desk_with_run("a", "zoh");
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.run("plot empty").exits(1).says("there is no recording here").says("costep run SYSTEM --out DIR");
    sandbox.run("plot a --signals s1.y").exits(1).says("did you mean `s1.");
    sandbox.run("plot a --out a.pdf").exits(1).says("neither .svg nor .png");
    sandbox.run("plot a --from soon").exits(1);
    sandbox.run("plot nowhere.arrows").exits(1);
    sandbox.run("plot").exits(1);
}
