//! FMUs that can do nothing but step: identified coupling is stable where a hold explodes, the learning included.

mod common;
#[path = "../../fmu-export/tests/common/python.rs"]
mod python;

use std::path::Path;
use std::process::Command;

use common::Sandbox;
use serde_json::Value;

/// At this step a hold explodes.
const RUN: &str = "--steps 5ms --t-end 0.3s --json";
/// The motion of these runs is measured against the coupled FMUs at a step of 20 us.
const REFERENCE: &str = "--reference step:20us";

fn project(s1: &str, s2: &str) -> String {
    format!(
        r#"[system]
stop = "0.3 s"

[step]
size = "5 ms"

[fmu.s1]
file = "{s1}"

[fmu.s2]
file = "{s2}"

[[connect]]
from = "s2.F"
to = "s1.F"

[[connect]]
from = "s1.x"
to = "s2.{}"

[[connect]]
from = "s1.v"
to = "s2.{}"
"#,
        if s2.starts_with("Mass") { "u1" } else { "x" },
        if s2.starts_with("Mass") { "u2" } else { "v" },
    )
}

/// Compares methods on a project: the run objects.
fn compare(sandbox: &Sandbox, methods: &str, reference: &str) -> Vec<Value> {
    let line = format!("compare pair --methods {methods} {RUN} {reference}");
    sandbox.run(&line).exits(0).json()["runs"].as_array().unwrap().clone()
}

/// A hold must explode, and the others must stay within `allowed` of the solution.
fn assert_coupled(runs: &[Value], allowed: f64) {
    let error = |run: &Value| run["eps_mean"].as_f64().unwrap_or(f64::INFINITY);
    let (held, others) = runs.split_first().unwrap();
    assert!((held["verdict"] == "unstable" || held["verdict"] == "diverged") && error(held) > 9.0, "{held}");
    assert!(!others.is_empty());
    for run in others {
        println!("{}: {:.4}, {} steps of FMUs", run["method"], error(run), run["subsystem_steps"]);
        // Errors of the learning may be large; what grows is something else.
        let grows = run["verdict"] != "stable" && run["verdict"] != "inaccurate";
        assert!(!grows && error(run) < allowed, "{run}");
    }
}

#[test]
fn exported_fmus_without_any_capability_are_coupled() {
    for (fmi, start) in [(2, "plain"), (3, "plain"), (2, "small"), (3, "small")] {
        let sandbox = Sandbox::new();
        // FMUs that can at least vary their step begin with an eighth of it; those of FMI 3.0, which tell of inner steps of 10 us, with a tenth.
        let what = if start == "plain" {
            "--black-box"
        } else {
            "--kind cs --without directional-derivatives,state,input-derivatives,intermediate"
        };
        sandbox.run(&format!("export-fmu dual-mass --fmi {fmi} {what} --out pair")).exits(0);
        sandbox.write("pair/system.toml", project("s1.fmu", "s2.fmu"));
        let card = sandbox.run("inspect pair/s1.fmu --json").exits(0).json().to_string();
        assert!(!card.contains("model_exchange\":{"), "{card}");
        let runs = compare(&sandbox, "zoh,identified,auto", REFERENCE);
        assert!(runs[0]["chosen"].is_null(), "{}", runs[0]);
        let chosen = "identified:form=hold, because `s1` gives no local model";
        assert_eq!(runs[2]["chosen"], chosen, "{}", runs[2]);
        let rounds = runs[1]["subsystem_steps"].as_u64().unwrap() / 2;
        assert_eq!(rounds > 60, start == "small", "{rounds}");
        for run in &runs[1..] {
            let warnings = run["warnings"].as_array().unwrap();
            let why = "`s1` cannot vary the length of its steps";
            assert_eq!(warnings.len(), usize::from(start == "plain"), "{run}");
            assert!(warnings.iter().all(|text| text.as_str().unwrap().contains(why)), "{run}");
        }
        assert_eq!(runs[0]["warnings"], serde_json::json!([]));
        assert_coupled(&runs, if start == "small" { 0.05 } else { 0.4 });
        // Without a reference the run knows how wrong it is.
        sandbox
            .run("run pair --t-end 0.3s")
            .exits(if start == "small" { 0 } else { 3 })
            .says("identified:form=hold, because `s1` gives no local model");
    }
}

/// 37 inner steps of 10 us cannot be divided; 36 can.
#[test]
fn a_step_that_inner_steps_do_not_fit_into_is_warned_of() {
    let sandbox = Sandbox::new();
    let what = "--without directional-derivatives,state,input-derivatives,intermediate";
    sandbox.run(&format!("export-fmu dual-mass --fmi 3 --kind cs {what} --out pair")).exits(0);
    sandbox.write("pair/system.toml", project("s1.fmu", "s2.fmu"));
    let until = |stop: &str, step: &str| sandbox.run(&format!("run pair --step {step} --t-end {stop}"));
    let run = |step: &str| until("0.108s", step);
    let why = "`s1` takes inner steps of 10 us, which fit into none of 2 to 32 equal parts of 370 us; a macro step of 360 us could";
    run("370us").exits(0).says("warning[W0303]: method: ").says(why);
    assert!(!run("360us").exits(0).story().contains("warning"));
    // The last step to 0.1001 s would be 20 us long, and has no such parts.
    until("0.1001s", "360us")
        .exits(0)
        .says("warning[W0207]: the run ends at 100.44 ms")
        .says("parts that the method needs");
}

/// The library of this Python for the program, if it has one; else the program looks for another.
fn python_library(python: &Path) -> Option<String> {
    let script = "import sysconfig as s; v = s.get_config_var; \
                  print(v('LIBDIR') + '/' + v('INSTSONAME') if v('Py_ENABLE_SHARED') else '')";
    let path = python::run(Command::new(python).args(["-c", script])).trim().to_owned();
    Path::new(&path).is_file().then_some(path)
}

#[test]
fn fmus_of_python_code_are_coupled() {
    if python::skipped() {
        return;
    }
    let (sandbox, here) = (Sandbox::new(), Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python"));
    let requirements = here.join("../../../fmu-export/tests/python/requirements.txt");
    let interpreter = python::environment("python", &requirements);
    sandbox.write("pair/system.toml", project("Mass1.fmu", "Mass2.fmu"));
    for part in ["mass1.py", "mass2.py"] {
        let mut build = Command::new(&interpreter);
        build
            .args(["-m", "pythonfmu", "build", "-f"])
            .arg(here.join(part))
            .arg("-d")
            .arg(sandbox.path("pair"));
        python::run(
            build.arg(here.join("masses.py")).env("PYTHONPATH", &here).env("PYTHONDONTWRITEBYTECODE", "1"),
        );
    }
    let line = format!("compare pair --methods zoh,identified,auto {RUN} --reference step:100us");
    let mut command = sandbox.command(line.split_whitespace());
    if let Some(library) = python_library(&interpreter) {
        command.env("COSTEP_PYTHON_LIBRARY", library);
    }
    let runs = common::finished(command, line).exits(0).json()["runs"].as_array().unwrap().clone();
    assert_coupled(&runs, 0.15);
}

/// Nothing is set and nothing is loaded; a hold crashes.
#[test]
fn the_helicopter_flies_at_a_step_of_300_ms() {
    for controller in [1, 2] {
        let line = format!(
            "compare helicopter --set controller={controller} --methods zoh,nepce,identified,predictive --steps 0.3s --json"
        );
        let runs = Sandbox::new().run(&line).exits(0).json()["runs"].clone();
        let error = |k: usize| runs[k]["eps_mean"].as_f64().unwrap_or(f64::INFINITY);
        println!("controller {controller}: identified {:.4}, predictive {:.1e}", error(2), error(3));
        assert!(runs[0]["verdict"] == "diverged" && runs[1]["verdict"] == "diverged", "{runs}");
        assert!(error(2) <= 0.03 && error(3) <= 0.02, "{runs}");
    }
}
