//! Projects with FMUs, run as a user does.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use common::{Desk, table};
use fmus::{BOTH, Fmi, build};

/// The two-mass oscillator as two FMUs.
const PAIR: &str = r#"[system]
stop = "0.1 s"

[step]
size = "0.1 ms"

[fmu.s1]
file = "S1.fmu"

[fmu.s2]
file = "S2.fmu"

[[connect]]
from = "s2.F"
to = "s1.F"

[[connect]]
from = "s1.x"
to = "s2.u1"

[[connect]]
from = "s1.v"
to = "s2.u2"
"#;

/// A folder with the project `pair` and its FMUs.
fn pair(fmi: Fmi) -> Desk {
    let desk = Desk::new();
    desk.write("pair/system.toml", PAIR);
    for model in ["S1", "S2"] {
        std::fs::copy(build(fmi, model).path, desk.path(format!("pair/{model}.fmu"))).unwrap();
    }
    desk
}

/// The columns of two tables that have the same name, compared: the largest difference relative to the largest value.
fn difference(a: &str, b: &str, names: &[&str]) -> f64 {
    let ((a_names, a), (b_names, b)) = (table(a), table(b));
    assert_eq!(a.len(), b.len());
    let mut worst: f64 = 0.0;
    for name in names {
        let column = |names: &[&str], rows: &[Vec<f64>]| -> Vec<f64> {
            let at =
                names.iter().position(|other| other == name).unwrap_or_else(|| panic!("{name} in {names:?}"));
            rows.iter().map(|row| row[at]).collect()
        };
        let (a, b) = (column(&a_names, &a), column(&b_names, &b));
        let size = a.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
        assert!(size > 0.0);
        worst = a.iter().zip(&b).fold(worst, |worst, (a, b)| worst.max((a - b).abs() / size));
    }
    worst
}

#[test]
fn two_fmus_equal_the_native_model() {
    let signals = ["s1.x", "s1.v", "s2.F"];
    for fmi in BOTH {
        let desk = pair(fmi);
        for system in ["pair", "dual-mass --t-end 0.1s --solver euler:10us"] {
            let name = system.split(' ').next().unwrap();
            desk.run(&format!("compare {system} --methods zoh --steps 0.1ms --out out-{name}")).exits(0);
            let recording =
                std::fs::read_dir(desk.path(format!("out-{name}"))).unwrap().next().unwrap().unwrap();
            desk.run(&format!("export {} --to {name}.csv", recording.path().display())).exits(0);
        }
        let read = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
        let worst = difference(&read("dual-mass.csv"), &read("pair.csv"), &signals);
        println!("{fmi:?}: {worst:e}");
        assert!(worst <= 1e-12, "{fmi:?}: {worst:e}");
    }
}

#[test]
fn comparisons_say_what_the_reference_is() {
    let desk = pair(Fmi::V2);
    let json = desk.run("compare pair --methods zoh,foh --steps 1ms --json").exits(0).json();
    assert_eq!(json["reference"]["kind"], "fine-step");
    assert_eq!(json["reference"]["step"], 2e-5);
    assert!(json["reference"]["own_error"].as_f64().unwrap() < 1e-2);
    assert!(json["runs"][0]["eps_mono"].as_f64().unwrap() > json["runs"][1]["eps_mono"].as_f64().unwrap());
    desk.run("compare pair --methods zoh --steps 1ms")
        .exits(0)
        .says("reference: the same system with `auto` at a step of 20 us; at twice that step it differs by");
    desk.run("compare pair --reference dopri5").exits(1).says("FMUs do not tell theirs");
    desk.run("run pair --method nepce --reference step:50us --json").exits(0).json();
}

#[test]
fn a_run_is_recorded_and_its_copy_runs_again() {
    let desk = pair(Fmi::V3);
    let set = ["--set", "s2.ck=2e5", "--set", "s2.text="];
    desk.run(&format!("run pair {}", set.join(" "))).exits(1).says("has no variable `text`");
    desk.run("run pair --set s2.ck=2e5 --method zoh --out first").exits(0);
    let copy = std::fs::read_to_string(desk.path("first/run.toml")).unwrap();
    assert!(copy.contains("set = { ck = 200000.0 }"), "{copy}");
    desk.run("run first/run.toml --out second").exits(0);
    for run in ["first", "second"] {
        desk.run(&format!("export {run} --to {run}.csv")).exits(0);
    }
    let read = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
    assert_eq!(read("first.csv"), read("second.csv"));
}

#[test]
fn a_run_of_fmus_is_drawn_beside_one_at_a_small_step() {
    let desk = pair(Fmi::V2);
    desk.run("run pair --step 1ms --out there").exits(0);
    let drawn = desk.run("plot there --reference --to 20ms --json").exits(0).json();
    assert!(drawn["signals"].as_array().unwrap().contains(&"s2.F".into()), "{drawn}");
    let svg = std::fs::read_to_string(desk.path("there/plot.svg")).unwrap();
    assert!(svg.contains("the same system with `auto` at a step of 20 us"), "{svg}");
}
