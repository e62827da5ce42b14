//! Methods and sources of models are chosen beside each other.

mod common;

use std::fs;

use common::Sandbox;

#[test]
fn both_spellings_give_the_same_recording() {
    let sandbox = Sandbox::new();
    let run = |flags: &str, out: &str| {
        let line = format!("run dual-mass --step 1ms --t-end 0.2s {flags} --out {out} --json");
        let object = sandbox.run(&line).exits(0).json();
        sandbox.run(&format!("export {out} --to {out}.csv")).exits(0);
        (object, fs::read_to_string(sandbox.path(format!("{out}.csv"))).unwrap())
    };
    for (k, (one, two)) in [
        ("--method mbcorr:source=rls,n=2,learning=20", "--method mbcorr:learning=20 --models rls:n=2"),
        ("--method predictive:source=probe,every=10", "--method predictive --models probe:every=10"),
    ]
    .into_iter()
    .enumerate()
    {
        let (one, two) = (run(one, &format!("one{k}")), run(two, &format!("two{k}")));
        assert_eq!(one.1, two.1);
        assert_eq!(one.0["model_source"], two.0["model_source"]);
        // `run` writes the project beside the recording: it can be run again.
        sandbox.run(&format!("run two{k}/run.toml --out again{k}")).exits(0);
        sandbox.run(&format!("export again{k} --to again{k}.csv")).exits(0);
        assert_eq!(fs::read_to_string(sandbox.path(format!("again{k}.csv"))).unwrap(), two.1);
    }
}

#[test]
fn a_comparison_gives_the_models_to_whoever_can_work_with_them() {
    let sandbox = Sandbox::new();
    let line = "compare dual-mass --methods zoh,feedthrough,mbcorr,prestep:source=exact --models rls --json";
    let runs = sandbox.run(line).exits(0).json()["runs"].clone();
    let labels: Vec<_> = runs.as_array().unwrap().iter().map(|run| run["method"].clone()).collect();
    assert_eq!(labels, ["zoh", "feedthrough", "mbcorr:source=rls", "prestep:source=exact"]);
    let refused = sandbox.run("compare dual-mass --methods zoh,feedthrough --models rls").exits(1);
    refused.says("E0303").says("the source of models of method `feedthrough` cannot be `rls`");
}

#[test]
fn methods_list_sources_and_keep_what_follows_papers_apart() {
    let sandbox = Sandbox::new();
    let list = sandbox.run("methods").exits(0).stdout;
    assert!(list.contains("models from") && list.contains("finite-difference"), "{list}");
    let prestep = sandbox.run("methods prestep").exits(0);
    let (own, paper) = prestep.stdout.split_once("to reproduce [T]").expect("two lists");
    assert!(own.contains("ede ") && !own.contains("ede_solver"), "{own}");
    assert!(paper.contains("ede_solver") && paper.contains("signal_threshold"), "{paper}");
    assert!(own.contains("models   from exact, finite-difference, rls"), "{own}");
    let moesp = sandbox.run("methods moesp").exits(0).stdout;
    assert!(moesp.contains("block_rows") && moesp.contains("mbcorr, prestep, predictive"), "{moesp}");
    let object = sandbox.run("methods prestep --json").exits(0).json();
    assert_eq!(object["models"][2], "rls");
    let options = object["options"].as_array().unwrap();
    let of = |name: &str| options.iter().find(|option| option["name"] == name).map(|option| &option["of"]);
    assert_eq!((of("ede"), of("paper")), (Some(&"method".into()), Some(&"[T]".into())));
    assert_eq!((of("source"), of("n")), (Some(&"models".into()), Some(&"models".into())));
}

#[test]
fn mistakes_are_named() {
    let sandbox = Sandbox::new();
    let refused = |flags: &str, said: &str| {
        sandbox.run(&format!("run dual-mass --no-record {flags}")).exits(1).says("E03").says(said);
    };
    refused("--method prestep --models rsl", "did you mean `rls`?");
    refused("--method prestep --models probe", "allowed: exact | finite-difference | rls");
    refused("--method prestep --models rls:n=9", "an integer from 1 to 4");
    refused("--method prestep --models exact:window=100", "source `exact` has no option `window`");
    let both = "run dual-mass --no-record --method prestep:source=rls --models moesp";
    sandbox.run(both).exits(1).says("both say where models come from");
    let idle = sandbox.run("run dual-mass --no-record --method zoh --models rls").exits(0);
    idle.says("warning[W0302]: models from `rls` have no effect");
    let line = "identify dual-mass --method mbcorr --models ij-rls --step 1ms --t-end 1s --out x.toml --json";
    assert_eq!(sandbox.run(line).exits(0).json()["source"], "ij-rls");
}
