//! `costep reproduce`: the list, the table for people, the object for machines, the files.

mod common;

use std::fs;

use common::Sandbox;
use serde_json::Value;

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_list_has_every_study() {
    let sandbox = Sandbox::new();
    let list: Value = serde_json::from_str(&sandbox.run("reproduce --json").exits(0).stdout).unwrap();
    let text = sandbox.run("reproduce").exits(0).stdout;
    for study in costep_reproduce::STUDIES {
        assert!(text.contains(study.id));
        assert!(list.as_array().unwrap().iter().any(|entry| entry["id"] == study.id));
    }
    assert!(!sandbox.path("costep-reproduce").exists());
}

#[test]
fn the_object_has_the_promised_fields() {
    let sandbox = Sandbox::new();
    let object = sandbox.run("reproduce genser2020-fig3.62 --json --out there").exits(0).json();
    let fields = [
        "id", "title", "source", "setup", "quick", "claims", "verdicts", "remarks", "files", "wall_s",
        "table", "costep",
    ];
    assert_eq!(keys(&object), fields);
    let fields = [
        "claim",
        "place",
        "claimed",
        "reproduced",
        "claimed_value",
        "reproduced_value",
        "unit",
        "tolerance",
        "verdict",
    ];
    let claims = object["claims"].as_array().unwrap();
    claims.iter().for_each(|claim| assert_eq!(keys(claim), fields));
    let zoh = &claims[0];
    assert_eq!((&zoh["claimed_value"], &zoh["reproduced_value"]), (&2.0.into(), &2.0.into()));
    assert_eq!(zoh["verdict"], "reproduces");
    let counts: u64 = object["verdicts"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(counts, claims.len() as u64);

    let csv = fs::read_to_string(sandbox.path("there/genser2020-fig3.62.csv")).unwrap();
    assert!(csv.starts_with("step_ms,zoh,nepce,mbcorr:paper=true,prestep:paper=true,predictive,"));
    assert!(fs::read_to_string(sandbox.path("there/genser2020-fig3.62.svg")).unwrap().starts_with("<svg"));
}

/// The curves are those of `costep compare`.
#[test]
fn the_data_are_those_of_a_comparison() {
    let sandbox = Sandbox::new();
    sandbox.run("reproduce haid2018-fig2").exits(0).says("costep-reproduce/haid2018-fig2.svg");
    let csv = fs::read_to_string(sandbox.path("costep-reproduce/haid2018-fig2.csv")).unwrap();
    assert!(csv.starts_with("ck,dk,step_ms,mbcorr,PLC,"), "{csv}");
    let runs = sandbox
        .run("compare dual-mass --set ck=2e5 --set dk=200 --t-end 0.1s --methods mbcorr,feedthrough --steps 2ms --json")
        .exits(0)
        .json();
    // Cells of runs that diverge are empty; those compared here are not.
    let row = csv.lines().find(|line| line.starts_with("200000,200,2,")).unwrap();
    for (k, value) in row.split(',').skip(3).take(2).enumerate() {
        let value: f64 = value.parse().unwrap();
        let error = runs["runs"][k]["eps_mono_micro"].as_f64().unwrap();
        assert!((value / error - 1.0).abs() < 1e-6, "{value} {error}");
    }
}

#[test]
fn what_does_not_reproduce_is_said_and_is_no_failure() {
    let done = Sandbox::new().run("reproduce genser2020-fig3.63").exits(0);
    assert!(done.stdout.contains("does not reproduce"), "{}", done.story());
    assert!(done.stdout.contains("judged by"), "{}", done.story());
}

/// What the folder has is not computed again: the page shows a result that was altered there.
#[test]
fn an_interrupted_work_goes_on() {
    let sandbox = Sandbox::new();
    let first = sandbox.run("reproduce genser2020-fig3.66 --quick --json").exits(0).json();
    let file = sandbox.path("costep-reproduce/genser2020-fig3.66.json");
    let stored = fs::read_to_string(&file).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&stored).unwrap(), first);
    let claim = first["claims"][0]["reproduced"].as_str().unwrap();
    fs::write(&file, stored.replacen(claim, "left by an earlier run", 1)).unwrap();
    let again = "reproduce genser2020-fig3.66 --resume --report page.html";
    sandbox.run(&format!("{again} --quick")).exits(0).says("as it is in costep-reproduce/");
    let page = fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(
        page.contains("left by an earlier run") && page.contains("A quick look") && page.contains("<svg")
    );
    // A quick result does not serve where the whole is asked for.
    sandbox.run(again).exits(0);
    let page = fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(!page.contains("left by an earlier run") && !page.contains("uick look"));
}

#[test]
fn mistakes_have_help() {
    let sandbox = Sandbox::new();
    sandbox.run("reproduce genser2020-fig352").exits(1).says("did you mean `genser2020-fig3.");
    sandbox.write("file", "");
    sandbox.run("reproduce genser2020-fig3.66 --out file/below").exits(1).says("cannot make the folder");
}
