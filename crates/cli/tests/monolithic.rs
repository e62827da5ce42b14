//! `monolithic`: systems solved as one, run as a user does.

mod common;

use common::{Sandbox, table};
use serde_json::Value;

/// Exported FMUs for Model Exchange, coupled as the two-mass oscillator is.
const PAIR: &str = r#"[system]
stop = "0.1 s"
solver = "dopri5:1e-10"

[step]
size = "1 ms"

[fmu.s1]
file = "fmus/s1.fmu"
interface = "me"

[fmu.s2]
file = "fmus/s2.fmu"
interface = "me"

[[connect]]
from = "s2.F"
to = "s1.F"

[[connect]]
from = "s1.x"
to = "s2.x"

[[connect]]
from = "s1.v"
to = "s2.v"
"#;

fn error_of(run: &Value) -> f64 {
    run["eps_mono"].as_f64().unwrap()
}

#[test]
fn a_native_system_has_no_coupling_error() {
    let sandbox = Sandbox::new();
    let line = "compare dual-mass --t-end 0.1s --steps 5ms --reference dopri5:1e-12 --json --methods";
    for method in ["monolithic", "monolithic:solver=adams,tolerance=1e-9", "monolithic:solver=dopri5"] {
        let json = sandbox.run(&format!("{line} {method}")).exits(0).json();
        let error = error_of(&json["runs"][0]);
        println!("{method}: {error:e}");
        assert!(error < 1e-5, "{method}: {error:e}");
        assert!(json["runs"][0]["method"].as_str().unwrap().starts_with("monolithic"));
    }
    // The same steps of the same inner solver: nothing is left.
    let json =
        sandbox.run("compare dual-mass --t-end 0.1s --steps 5ms --methods monolithic:solver=project --json");
    assert!(error_of(&json.exits(0).json()["runs"][0]) < 1e-12);
}

/// Where an FMU for Model Exchange computes its states itself, a start at rest by start values is refused.
#[test]
fn fmus_that_cannot_start_at_rest_are_named() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out fmus").exits(0);
    let steady = PAIR.replacen("[system]", "[system]\ninitial = \"steady\"", 1);
    sandbox.write("system.toml", &steady);
    // No FMU is called for this.
    sandbox.run("check .").exits(0);
    let done = sandbox.run("run . --out out").exits(1).says("error[E0190]: `s1` cannot start at rest");
    done.says("its state `x` takes no start value").says("interface = \"cs\"");
}

#[test]
fn fmus_for_model_exchange_are_measured_against_themselves_solved_as_one() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --fmi 2 --out fmus").exits(0);
    sandbox.write("system.toml", PAIR);
    let json = sandbox.run("compare system.toml --methods monolithic,zoh --json").exits(0).json();
    assert_eq!(json["reference"]["kind"], "monolithic");
    let (whole, held) = (error_of(&json["runs"][0]), error_of(&json["runs"][1]));
    println!("monolithic {whole:e}, zoh {held:e}");
    assert!(whole < 1e-6 && held > 1e-3, "{whole:e} {held:e}");
}

#[test]
fn order_and_steps_of_the_solver_are_recorded() {
    let sandbox = Sandbox::new();
    sandbox.run("run coupled-pendula --method foh --step 5ms --out foh").exits(0);
    sandbox.run("run coupled-pendula --method monolithic --out whole").exits(0);
    for (folder, columns) in
        [("foh", vec!["left.solver.order", "right.solver.step"]), ("whole", vec!["left.solver.steps"])]
    {
        sandbox.run(&format!("export {folder} --to {folder}.csv")).exits(0);
        let text = std::fs::read_to_string(sandbox.path(format!("{folder}.csv"))).unwrap();
        let (names, rows) = table(&text);
        for column in columns {
            let at = names.iter().position(|name| *name == column);
            let at = at.unwrap_or_else(|| panic!("no {column} in {names:?}"));
            assert!(rows[1..].iter().all(|row| row[at] > 0.0), "{folder} {column}");
        }
        // What is recorded of a whole holds at every instant.
        let column = |name: &str| names.iter().position(|other| *other == name).unwrap();
        let (force, input) = (column("right.fx"), column("left.fx"));
        assert_eq!(folder == "whole", rows.iter().all(|row| row[force] == row[input]), "{folder}");
    }
}

#[test]
fn integrators_of_fmus_tell_what_they_did() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --fmi 3 --out fmus").exits(0);
    sandbox.write(
        "system.toml",
        PAIR.replace("interface = \"me\"", "interface = \"me\"\nsolver = \"bdf:1e-8\""),
    );
    for method in ["zoh", "lis", "monolithic"] {
        let json =
            sandbox.run(&format!("run system.toml --method {method} --json --out {method}")).exits(0).json();
        let counts = &json["solvers"]["s1"];
        println!("{method}: {counts}");
        let count = |key: &str| counts[key].as_u64().unwrap();
        assert!(count("steps") >= 100 && count("evaluations") > count("steps") && count("jacobians") > 0);
        sandbox.run(&format!("export {method} --to {method}.csv --quiet")).exits(0);
        let text = std::fs::read_to_string(sandbox.path(format!("{method}.csv"))).unwrap();
        let (names, rows) = table(&text);
        for column in ["s1.solver.order", "s1.solver.step", "s1.solver.steps"] {
            let at = names.iter().position(|name| *name == column).unwrap_or_else(|| panic!("{names:?}"));
            assert!(rows[1..].iter().all(|row| row[at] > 0.0), "{method} {column}");
        }
    }
    let summary = sandbox.run("run system.toml --method zoh").exits(0).stdout;
    assert!(summary.contains("solvers  s1 ") && summary.contains(" Jacobians"), "{summary}");
}

#[test]
fn an_fmu_and_a_built_in_part_are_solved_as_one_and_go_on_from_a_checkpoint() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --fmi 3 --out fmus").exits(0);
    let mixed = PAIR.replace(
        "[fmu.s2]\nfile = \"fmus/s2.fmu\"\ninterface = \"me\"\n",
        "[native.s2]\nmodel = \"dual-mass\"\npart = \"s2\"\n",
    );
    for (name, text) in [("pair", PAIR), ("mixed", &mixed)] {
        sandbox.write(&format!("{name}.toml"), text);
        let line = format!("{name}.toml --method monolithic");
        sandbox.run(&format!("run {line} --out {name}-whole")).exits(0);
        sandbox.run(&format!("run {line} --time-limit 100us --out {name}-cut")).exits(4);
        sandbox.run(&format!("resume {name}-cut")).exits(0).says("resuming at t = ");
        let csv = |folder: &str| {
            sandbox.run(&format!("export {folder} --to {folder}.csv --quiet")).exits(0);
            std::fs::read_to_string(sandbox.path(format!("{folder}.csv"))).unwrap()
        };
        assert!(csv(&format!("{name}-whole")) == csv(&format!("{name}-cut")), "{name}");
    }
}

#[test]
fn what_cannot_be_solved_as_one_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --fmi 2 --out fmus").exits(0);
    sandbox.write("system.toml", PAIR.replace("interface = \"me\"", "interface = \"cs\""));
    sandbox.run("run system.toml --method monolithic").exits(1).says("`s1`").says("Model Exchange");
    sandbox.write("groups.toml", PAIR.to_owned() + "[group.fast]\nid = \"zoh\"\ninputs = [\"s1.*\"]\n");
    sandbox.run("run groups.toml --method monolithic").exits(1).says("cannot be combined with `zoh`");
    sandbox.run("run dual-mass --method monolithic:tolerance=1").exits(1).says("tolerance");
}
