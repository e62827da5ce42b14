//! The JSON contract: names and types that other programs rely on. Later versions add keys; they never rename
//! or remove one, nor change its type.

mod common;

use common::Sandbox;
use costep_results::Table;
use serde_json::Value;

/// The keys of a run and their types. `?` stands for: or null.
const RUN: &[(&str, &str)] = &[
    ("method", "text"),
    ("chosen", "text?"),
    ("warnings", "list"),
    ("model_source", "text?"),
    ("step", "number"),
    ("verdict", "text"),
    ("judged_by", "text?"),
    ("error_estimate", "object?"),
    ("doubt", "object?"),
    ("eps_mono", "number?"),
    ("eps_mono_micro", "number?"),
    ("max_abs_error", "number?"),
    ("signals", "object"),
    ("energy_drift", "number?"),
    ("amplitude_ratio", "number?"),
    ("macro_steps", "count"),
    ("subsystem_steps", "count"),
    ("divided_steps", "count"),
    ("parts_per_divided_step", "count"),
    ("wall_s", "number"),
    ("message", "text?"),
    ("error", "object?"),
];

/// The keys that say what was run.
const HEAD: &[(&str, &str)] = &[
    ("system", "text"),
    ("parameters", "object"),
    ("solver", "text"),
    ("t_end", "number"),
    ("reference", "object?"),
];

fn is(kind: &str, value: &Value) -> bool {
    match kind.strip_suffix('?') {
        Some(kind) => value.is_null() || is(kind, value),
        None => match kind {
            "text" => value.is_string(),
            "number" => value.as_f64().is_some_and(f64::is_finite),
            "count" => value.is_u64(),
            "list" => value.is_array(),
            _ => value.is_object(),
        },
    }
}

#[track_caller]
fn has(object: &Value, keys: &[(&str, &str)]) {
    for (key, kind) in keys {
        let value = object.get(key).unwrap_or_else(|| panic!("`{key}` is missing in {object:#}"));
        assert!(is(kind, value), "`{key}` is {value}, not {kind}");
    }
}

#[track_caller]
fn is_a_run(run: &Value) {
    has(run, RUN);
    let verdict = run["verdict"].as_str().unwrap();
    assert!(
        ["stable", "unstable", "inaccurate", "suspect", "not judged", "diverged", "failed"]
            .contains(&verdict),
        "{verdict}"
    );
    for signal in run["signals"].as_object().unwrap().values() {
        has(signal, &[("rel_rms", "number")]);
    }
    assert!(run["wall_s"].as_f64().unwrap() >= 0.0);
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

fn texts<'a>(runs: &'a [Value], key: &str) -> Vec<&'a str> {
    runs.iter().map(|run| run[key].as_str().unwrap()).collect()
}

#[test]
fn compare_prints_one_object_with_all_keys() {
    let sandbox = Sandbox::new();
    let object = sandbox.run("compare dual-mass --methods zoh,foh --steps 0.5ms,1ms --json").exits(0).json();
    has(&object, HEAD);
    assert_eq!(object["system"], "dual-mass");
    assert_eq!(object["parameters"]["ck"], 1e5);
    has(&object["reference"], &[("kind", "text"), ("solver", "text")]);
    let runs = object["runs"].as_array().unwrap();
    runs.iter().for_each(is_a_run);
    assert_eq!(texts(runs, "method"), ["zoh", "foh", "zoh", "foh"]);
    let steps: Vec<_> = runs.iter().map(|run| run["step"].as_f64().unwrap()).collect();
    assert_eq!(steps, [0.0005, 0.0005, 0.001, 0.001]);
    for run in runs {
        assert_eq!(keys(&run["signals"]), ["s1.x", "s1.v", "s2.F"]);
        assert!(is("number", &run["eps_mono"]) && is("number", &run["eps_mono_micro"]));
        assert!(is("number", &run["energy_drift"]));
        assert_eq!((&run["message"], &run["error"]), (&Value::Null, &Value::Null));
    }
    assert_eq!((&runs[0]["macro_steps"], &runs[0]["subsystem_steps"]), (&200.into(), &400.into()));
    assert_eq!((&runs[2]["macro_steps"], &runs[2]["subsystem_steps"]), (&100.into(), &200.into()));
}

#[test]
fn run_prints_the_same_run_object_and_where_the_files_are() {
    let sandbox = Sandbox::new();
    let line = "dual-mass --set ck=2e5 --t-end 50ms --reference same --json";
    let object = sandbox.run(&format!("run --method foh --step 1ms --out rig {line}")).exits(0).json();
    has(&object, HEAD);
    is_a_run(&object);
    has(&object, &[("files", "object"), ("rows", "count")]);
    has(&object["files"], &[("recording", "text"), ("project", "text")]);
    let file = |key: &str| sandbox.path(object["files"][key].as_str().unwrap());
    let table = Table::open(&file("recording")).unwrap();
    assert!(table.complete());
    assert_eq!(object["rows"], table.rows());
    assert!(file("project").is_file());

    let compared = sandbox.run(&format!("compare --methods foh --steps 1ms {line}")).exits(0).json();
    for (key, value) in compared["runs"][0].as_object().unwrap() {
        let is_time = matches!(key.as_str(), "wall_s" | "real_time_factor" | "times");
        assert!(is_time || object[key] == *value, "{key}: {} and {value}", object[key]);
    }
    for (key, _) in HEAD {
        assert_eq!(object[key], compared[key], "{key}");
    }
}

#[test]
fn demo_prints_its_runs_in_the_same_form() {
    let sandbox = Sandbox::new();
    let object = sandbox.run("demo --json").exits(0).json();
    has(&object, HEAD);
    has(&object, &[("runs", "list"), ("files", "object")]);
    let runs = object["runs"].as_array().unwrap();
    runs.iter().for_each(is_a_run);
    assert!(sandbox.path(object["files"]["project"].as_str().unwrap()).is_file());
    // What the demo is for: holds fail at a step at which another method is stable and accurate.
    for run in runs {
        let verdict = run["verdict"].as_str().unwrap();
        match run["method"].as_str().unwrap() {
            "zoh" | "foh" | "soh" | "nepce" => assert!(["unstable", "diverged"].contains(&verdict)),
            "predictive" => assert!(verdict == "stable" && run["eps_mono"].as_f64().unwrap() < 0.01),
            _ => {}
        }
    }
}

#[test]
fn no_key_has_been_renamed_or_removed() {
    let sandbox = Sandbox::new();
    let signals = ["signals.s1.x.rel_rms", "signals.s1.v.rel_rms", "signals.s2.F.rel_rms"];
    let run: Vec<_> = RUN.iter().map(|(key, _)| *key).chain(signals).collect();
    let parameters = ["m1", "m2", "c1", "c2", "d1", "d2", "ck", "dk", "x1", "v1", "x2", "v2", "micro_step"]
        .map(|name| format!("parameters.{name}"));
    let head: Vec<_> =
        HEAD.iter().map(|(key, _)| *key).chain(["reference.kind", "reference.solver"]).collect();

    let compared = sandbox.run("compare dual-mass --methods zoh --json").json();
    let ran = sandbox.run("run dual-mass --reference same --json").json();
    for key in head.iter().copied().chain(parameters.iter().map(String::as_str)) {
        assert!(at(&compared, key).is_some() && at(&ran, key).is_some(), "{key}");
    }
    for key in run {
        assert!(at(&compared["runs"][0], key).is_some() && at(&ran, key).is_some(), "{key}");
    }
    for key in ["files.recording", "files.project", "rows"] {
        assert!(at(&ran, key).is_some(), "{key}");
    }
}

/// The value at a path; names of signals have a dot of their own.
fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    if let Some(signal) = path.strip_prefix("signals.") {
        let (name, key) = signal.rsplit_once('.')?;
        return object.get("signals")?.get(name)?.get(key);
    }
    path.split('.').try_fold(object, |value, key| value.get(key))
}

#[test]
fn options_of_a_method_come_back_in_its_name() {
    let sandbox = Sandbox::new();
    let methods = "nepce:reference=applied,alpha=1,zoh,nepce:alpha=0.5,foh:smooth=true";
    let object = sandbox.run(&format!("compare dual-mass --methods {methods} --json")).exits(0).json();
    assert_eq!(
        texts(object["runs"].as_array().unwrap(), "method"),
        ["nepce:reference=applied,alpha=1", "zoh", "nepce:alpha=0.5", "foh:smooth=true"]
    );
    let object = sandbox.run("run dual-mass --method nepce:reference=applied,alpha=1 --no-record --json");
    assert_eq!(object.exits(0).json()["method"], "nepce:reference=applied,alpha=1");
    // What comes back is what was run: alpha = 0 is a plain hold.
    let runs =
        sandbox.run("compare dual-mass --methods nepce:alpha=0,zoh,nepce --json").json()["runs"].clone();
    assert_eq!(runs[0]["eps_mono"], runs[1]["eps_mono"]);
    assert_ne!(runs[0]["eps_mono"], runs[2]["eps_mono"]);
}

#[test]
fn the_reference_can_be_none_the_same_solver_or_another_one() {
    let sandbox = Sandbox::new();
    for verb in ["compare", "run --no-record --method zoh"] {
        let with = |reference: &str| {
            let object =
                sandbox.run(&format!("{verb} dual-mass --reference {reference} --json")).exits(0).json();
            let run = if verb == "compare" { object["runs"][0].clone() } else { object.clone() };
            is_a_run(&run);
            (object["reference"].clone(), run)
        };
        let (reference, run) = with("none");
        assert_eq!(reference, Value::Null);
        assert_eq!((&run["eps_mono"], &run["energy_drift"]), (&Value::Null, &Value::Null));
        assert_eq!(run["macro_steps"], 100);

        let (reference, same) = with("same");
        assert_eq!((&reference["kind"], &reference["solver"]), (&"monolithic".into(), &"euler:10us".into()));

        let (reference, fine) = with("dopri5:1e-10");
        assert_eq!(reference["solver"].as_str().unwrap().split(':').next(), Some("dopri5"));
        assert_eq!(reference["solver"].as_str().unwrap()[7..].parse(), Ok(1e-10));
        // The inner Euler is not exact, but its error is small against that of the coupling.
        let (same, fine) = (same["eps_mono"].as_f64().unwrap(), fine["eps_mono"].as_f64().unwrap());
        assert!(same != fine && (same / fine - 1.0).abs() < 0.2, "{same} {fine}");
    }
}

#[test]
fn every_verdict_has_the_same_keys() {
    let sandbox = Sandbox::new();
    let one = |line: &str, code: i32| {
        let run =
            sandbox.run(&format!("compare dual-mass {line} --json")).exits(code).json()["runs"][0].clone();
        is_a_run(&run);
        run
    };
    let unstable = one("--set ck=2e5 --set dk=200 --methods zoh --steps 1ms", 0);
    assert_eq!(unstable["verdict"], "unstable");
    assert!(is("number", &unstable["eps_mono"]));

    // A method that diverges is a result of a comparison, not a failure of it, unless no other is there to compare with.
    one("--methods foh,predictive --steps 5ms --t-end 1s", 0);
    let diverged = one("--methods foh --steps 5ms --t-end 1s", 3);
    assert_eq!((&diverged["verdict"], &diverged["eps_mono"]), (&"diverged".into(), &Value::Null));
    has(&diverged, &[("message", "text"), ("error", "object")]);
    has(&diverged["error"], &[("code", "text"), ("message", "text"), ("place", "object"), ("help", "text")]);

    let failed = one("--set ck=1e308 --reference none --methods zoh", 2);
    assert_eq!((&failed["verdict"], &failed["error"]["code"]), (&"failed".into(), &"E0402".into()));
}

#[test]
fn a_run_that_is_not_recorded_has_no_files() {
    let sandbox = Sandbox::new();
    let object = sandbox.run("run dual-mass --no-record --json").exits(0).json();
    assert_eq!((&object["files"]["recording"], &object["rows"]), (&Value::Null, &Value::Null));
    assert_eq!(std::fs::read_dir(sandbox.path("")).unwrap().count(), 0);
}

#[test]
fn systems_of_several_parts_name_their_parameters_by_part() {
    let sandbox = Sandbox::new();
    sandbox.run("demo").exits(0);
    let object =
        sandbox.run("compare costep-demo --set right.ck=3e5 --methods predictive --json").exits(0).json();
    assert_eq!(object["parameters"]["right.ck"], 3e5);
    assert_eq!(object["system"], "two-mass oscillator");
    assert_eq!(keys(&object["runs"][0]["signals"]), ["left.x", "left.v", "right.F"]);
}

#[test]
fn the_other_verbs_speak_json_too() {
    let sandbox = Sandbox::new();
    for line in ["methods nepce", "models chain", "explain E0601"] {
        sandbox.run(&format!("{line} --json")).exits(0).json();
    }
    sandbox.run("run dual-mass --out rig --quiet").exits(0);
    let listed = sandbox.run("export rig --list --json").exits(0).json();
    has(&listed, &[("rows", "count"), ("metadata", "object"), ("columns", "list")]);
    let exported = sandbox.run("export rig --to rig.csv --json").exits(0).json();
    assert_eq!((&exported["rows"], &exported["complete"]), (&101.into(), &true.into()));
}
