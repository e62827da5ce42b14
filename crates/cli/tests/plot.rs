//! `costep plot` draws recordings.

mod common;

use std::fs;

use common::Desk;

fn desk_with_run(name: &str, method: &str) -> Desk {
    let desk = Desk::new();
    desk.run(&format!("run dual-mass --method {method} --step 1ms --out {name}")).exits(0);
    desk
}

#[test]
fn the_outputs_are_drawn_unless_others_are_asked_for() {
    let desk = desk_with_run("a", "predictive");
    let drawn = desk.run("plot a --json").exits(0).json();
    assert_eq!(drawn["signals"], serde_json::json!(["s1.x", "s1.v", "s2.F"]));
    assert_eq!(drawn["rows"], serde_json::json!([101]));
    let svg = fs::read_to_string(desk.path("a/plot.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains(">s1.x<"));
    let drawn = desk.run("plot a --signals energy,s2.* --out e.svg --json").exits(0).json();
    assert_eq!(drawn["signals"], serde_json::json!(["energy", "s2.F", "s2.x", "s2.v"]));
    assert!(desk.path("e.svg").exists());
}

#[test]
fn runs_are_drawn_over_each_other_with_the_monolithic_solution() {
    let desk = desk_with_run("a", "predictive");
    desk.run("run dual-mass --method nepce --step 0.5ms --out b").exits(0);
    desk.run("plot a b --reference --from 20ms --to 50ms --out c.svg").exits(0);
    let svg = fs::read_to_string(desk.path("c.svg")).unwrap();
    for text in ["predictive, 1 ms", "nepce, 500 us", "monolithic", "solver euler:10us"] {
        assert!(svg.contains(text), "{text}");
    }
    // The window is the one asked for.
    assert!(svg.contains(">0.050<") && !svg.contains(">0.055<") && !svg.contains(">0.015<"));
}

#[test]
fn recordings_of_compare_know_their_system() {
    let desk = Desk::new();
    desk.run("compare dual-mass --methods nepce --steps 1ms --out runs").exits(0);
    desk.run("plot runs/nepce-1ms.arrows --reference").exits(0);
    assert!(desk.path("runs/plot.svg").exists());
}

#[test]
fn mistakes_have_help() {
    let desk = desk_with_run("a", "zoh");
    fs::create_dir(desk.path("empty")).unwrap();
    desk.run("plot empty").exits(1).says("there is no recording here").says("costep run empty");
    desk.run("plot a --signals s1.y").exits(1).says("did you mean `s1.");
    desk.run("plot a --out a.pdf").exits(1).says("does not end in .svg");
    desk.run("plot a --from soon").exits(1);
    desk.run("plot nowhere.arrows").exits(1);
    desk.run("plot").exits(1);
}
