//! Starts at rest of systems with FMUs for Co-Simulation: a run before the start brings them there.

#![cfg(target_os = "linux")]

mod common;
#[path = "../../import/tests/common/real.rs"]
mod real;

use common::{Sandbox, table};
use real::real_files;

/// Masses between springs, the second with a spring to the first; `s1` is pushed.
const PAIR: &str = r#"[system]
start = "0.3 s"
stop = "0.8 s"
initial = "steady"

[step]
size = "1 ms"

[method]
id = "nepce"

[fmu.s1]
file = "fmus/s1.fmu"

[fmu.s2]
file = "fmus/s2.fmu"

[[connect]]
from = "s2.F"
to = "s1.F"
sum = true

[[connect]]
from = "s1.x"
to = "s2.x"

[[connect]]
from = "s1.v"
to = "s2.v"

[[external]]
to = "s1.F"
sum = true
"#;

/// m = 10 kg on 1e6 N/m with enough of a damper that it rests after some tenths of a second.
fn desk(flags: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let set = "--set d1=1000 --set d2=1000 --set dk=200";
    sandbox.run(&format!("export-fmu dual-mass {set} --out fmus --quiet {flags}")).exits(0);
    sandbox
}

fn rows_of(sandbox: &Sandbox, folder: &str, signals: &str) -> Vec<Vec<f64>> {
    sandbox.run(&format!("export {folder} --signals {signals} --to {folder}.csv --quiet")).exits(0);
    table(&std::fs::read_to_string(sandbox.path(format!("{folder}.csv"))).unwrap()).1
}

/// Where the masses rest under 500 N: all three springs give way.
fn rest() -> [f64; 2] {
    let [c1, c2, ck] = [1e6, 1e7, 1e5];
    let x1 = 500.0 / (c1 + ck * c2 / (ck + c2));
    [x1, -x1 * ck * c2 / (ck + c2)]
}

#[test]
fn black_boxes_rest_where_their_springs_hold_them() {
    let [x1, force] = rest();
    for flags in ["--bare", "--fmi 2"] {
        let sandbox = desk(flags);
        sandbox.write("system.toml", format!("{PAIR}value = 500\n"));
        sandbox.run("run . --out out --no-verify").exits(0);
        let rows = rows_of(&sandbox, "out", "s1.x,s1.v,s2.F");
        assert_eq!((rows.len(), rows[0][0], rows[500][0]), (501, 0.3, 0.8));
        for row in rows {
            let errors = [(row[1] - x1) / x1, row[2], (row[3] - force) / force];
            assert!(errors.iter().all(|error| error.abs() < 1e-6), "{flags}: {row:?} {x1} {force}");
        }
    }
}

/// Also with a native part, in processes of their own, and gone on with from a checkpoint.
#[test]
fn a_step_at_the_start_comes_after_rest() {
    let sandbox = desk("");
    let native =
        PAIR.replace("[fmu.s2]\nfile = \"fmus/s2.fmu\"", "[native.s2]\nmodel = \"dual-mass\"\npart = \"s2\"");
    let mut ends = Vec::new();
    for (folder, text) in [
        ("fmus", PAIR.into()),
        ("native", native),
        ("apart", PAIR.replace("s1.fmu\"", "s1.fmu\"\nisolation = \"process\"")),
    ] {
        sandbox.write("system.toml", format!("{text}step = {{ value = 500, start = 0.3 }}\n"));
        sandbox.run(&format!("run . --out {folder} --no-verify")).exits(0);
        let rows = rows_of(&sandbox, folder, "s1.x,s1.v,s2.F");
        assert!(rows[0][1..].iter().all(|y| y.abs() < 1e-6), "{folder}: {:?}", rows[0]);
        assert!(rows.iter().any(|row| row[1] > 1.2 * rest()[0]), "{folder} does not overshoot");
        ends.push(rows[500][1]);
    }
    assert!(ends.iter().all(|x| (x - rest()[0]).abs() < 1e-3 * rest()[0]), "{ends:?}");
    sandbox.run("run . --out broken --no-verify --time-limit 0s").exits(4);
    sandbox.run("resume broken").exits(0);
    assert_eq!(rows_of(&sandbox, "broken", "s1.x"), rows_of(&sandbox, "apart", "s1.x"));
}

#[test]
fn what_does_not_settle_is_named() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --set d1=0 --set d2=0 --set dk=0 --out fmus --quiet").exits(0);
    let swinging = format!("{PAIR}value = 500\n").replace("0.8 s", "0.4 s").replace("nepce", "predictive");
    sandbox.write("system.toml", swinging);
    sandbox.run("check .").exits(0);
    let done = sandbox.run("run . --out out").exits(1).says("error[E0190]: no rest is found: `s");
    done.says("still goes between").says("in the last half of 1.6 s before the start").says("later `stop`");
    assert!(!sandbox.path("out/results.arrows").exists());
}

/// x' = -x rests at zero; van der Pol's oscillator goes round for ever; an FMU that fails before the start is named.
#[test]
fn reference_fmus_for_co_simulation_start_at_rest_or_say_why_not() {
    let Some(folder) = real_files("ecos/data/fmus/3.0/ref") else { return };
    let project = |fmu: &str, size: &str| {
        let file = folder.join(fmu).display().to_string();
        format!(
            "[system]\nstop = \"5 s\"\ninitial = \"steady\"\n[step]\nsize = \"{size}\"\n[fmu.a]\nfile = {file:?}\ninterface = \"cs\"\n"
        )
    };
    let sandbox = Sandbox::new();
    sandbox.write("system.toml", project("Dahlquist.fmu", "0.1 s"));
    sandbox.run("run . --out out --no-verify").exits(0);
    assert!(rows_of(&sandbox, "out", "a.x").iter().all(|row| row[1].abs() < 1e-6));
    sandbox.write("system.toml", project("VanDerPol.fmu", "0.1 s"));
    sandbox
        .run("run . --out out")
        .exits(1)
        .says("error[E0190]: no rest is found: `a.x")
        .says("before the start");
}

/// The body of libcosim's truck begins with 1 m/s: it comes to rest on its springs, and meets the kerb at 0 s.
#[test]
fn the_truck_of_libcosim_starts_at_rest() {
    let Some(folder) = real_files("libcosim/tests/data/fmi2/quarter_truck") else { return };
    let sandbox = Sandbox::new();
    let system = folder.join("OspSystemStructure.xml");
    sandbox.run(&format!("import {} --out truck --quiet", system.display())).exits(0);
    let set = "--set fmu.chassis.set.initialVelocityY=1 --step 1ms --t-end 2s --no-verify --quiet";
    sandbox.run(&format!("run truck {set} --out given")).exits(0);
    sandbox.run(&format!("run truck {set} --set system.initial=steady --out rested")).exits(0);
    let [given, rested] =
        ["given", "rested"].map(|folder| rows_of(&sandbox, folder, "chassis.position,chassis.velocity"));
    assert!((given[0][2] - 1.0).abs() < 1e-12, "{:?}", given[0]);
    assert!(rested[0][1..].iter().all(|y| y.abs() < 1e-5), "{:?}", rested[0]);
    assert!(rested.iter().any(|row| row[1] > 0.1), "the kerb lifts it");
}
