//! `costep stability`: what it prints, for people and machines, and what it refuses.

mod common;

use common::Sandbox;

const METHOD: &str = "--method prestep:source=rls,paper=true";

#[test]
fn exponents_come_with_their_windows() {
    let sandbox = Sandbox::new();
    let line = format!("stability dual-mass-nonlinear --bohl {METHOD} --windows 1,100,400");
    let object = sandbox.run(&format!("{line} --json")).exits(0).json();
    assert_eq!((&object["plant"], &object["states"]), (&"local models".into(), &19.into()));
    // 0.22 s of learning and 5 ms of switching.
    assert!((object["from"].as_f64().unwrap() - 0.225).abs() < 1e-9 && object["steps"] == 775, "{object}");
    let phases: u64 =
        object["phases"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(phases, 775);
    let found: Vec<(u64, f64)> = object["bohl"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["window"].as_u64().unwrap(), row["beta"].as_f64().unwrap()))
        .collect();
    assert_eq!(found.iter().map(|row| row.0).collect::<Vec<_>>(), [1, 100, 400]);
    assert!(found[0].1 > 1.0 && found[1].1 < 1.0 && found[2].1 < found[1].1, "{found:?}");
    assert_eq!(object["decays_within"], 100);
    for row in object["bohl"].as_array().unwrap() {
        let rate = row["beta"].as_f64().unwrap().ln() / 1e-3;
        assert!((row["rate"].as_f64().unwrap() - rate).abs() < 1e-9 * rate.abs(), "{row}");
        assert!(row["worst_start"].as_f64().unwrap() >= 0.225 - 1e-9, "{row}");
    }
    let text = sandbox.run(&line).exits(0).stdout;
    assert!(
        text.contains("DECAYS  beta(100) < 1: every small perturbation") && text.contains("window p"),
        "{text}"
    );
}

#[test]
fn black_boxes_are_judged_by_their_identified_models() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass-nonlinear --black-box --out fmus").exits(0);
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu").exits(0);
    let line = "stability pair --bohl --method prestep:source=rls --step 1ms --t-end 0.6s --json";
    let object = sandbox.run(line).exits(0).json();
    assert_eq!((&object["plant"], &object["states"]), (&"identified models".into(), &15.into()));
    let windows: Vec<_> = object["bohl"].as_array().unwrap().iter().map(|row| &row["window"]).collect();
    assert_eq!(windows, [10, 20, 50, 100, 200]);
    // No more is claimed than these models show.
    let text = sandbox.run(line.trim_end_matches(" --json")).exits(0).stdout;
    assert!(text.contains("in the identified models") && text.contains("are not judged"), "{text}");
}

/// The other methods with identified models, and windows that are always told.
#[test]
fn correctors_and_predictions_have_exponents_too() {
    let sandbox = Sandbox::new();
    for method in ["mbcorr:source=rls", "mbcorr:source=moesp", "predictive:source=ij-rls"] {
        let line = format!("stability dual-mass-nonlinear --bohl --method {method} --windows 10,400 --json");
        let object = sandbox.run(&line).exits(0).json();
        let rows = object["bohl"].as_array().unwrap();
        assert_eq!((&rows[0]["window"], &rows[1]["window"]), (&10.into(), &400.into()), "{object}");
        let beta = |row: &serde_json::Value| row["beta"].as_f64().unwrap();
        assert!(beta(&rows[1]) < 1.0 && beta(&rows[1]) < beta(&rows[0]), "{method}: {object}");
    }
}

#[test]
fn a_coupling_that_grows_is_not_shown_to_be_stable() {
    let sandbox = Sandbox::new();
    let line =
        "stability dual-mass-nonlinear --bohl --method prestep:source=rls,learning=20 --step 5ms --t-end 1s";
    let done = sandbox.run(line).exits(0);
    assert!(done.stdout.contains("NOT SHOWN"), "{}", done.story());
    assert!(sandbox.run(&format!("{line} --json")).exits(0).json()["decays_within"].is_null());
}

#[test]
fn what_has_no_exponents_says_why() {
    let sandbox = Sandbox::new();
    for (line, code, says) in [
        ("--bohl --method zoh".into(), "E0304", "not for `zoh`"),
        ("--bohl --method prestep".into(), "E0304", "not identified during the run"),
        ("--bohl --method predictive:source=probe".into(), "E0304", "not identified during the run"),
        ("--bohl --method identified".into(), "E0304", "not linear maps"),
        (format!("--bohl {METHOD} --t-end 0.1s"), "E0205", "--t-end"),
        (format!("--bohl {METHOD} --windows 5000"), "E0205", "5000 steps"),
        (format!("--bohl {METHOD} --windows ten"), "E0200", "`ten`"),
        (format!("--bohl {METHOD} --windows 0"), "E0200", "`0`"),
        (format!("--bohl {METHOD} --t-end 1h"), "E0205", "too many"),
    ] {
        let done = sandbox.run(&format!("stability dual-mass-nonlinear {line} --json")).exits(1);
        let error = &done.json()["errors"][0];
        assert_eq!(error["code"], code, "{}", done.story());
        assert!(error.to_string().contains(says), "{}", done.story());
    }
}

#[test]
fn steps_are_judged_by_their_linear_map() {
    let sandbox = Sandbox::new();
    let line = "stability dual-mass --method zoh --steps 0.5ms,1ms,3ms --nyquist loops.svg";
    let object = sandbox.run(&format!("{line} --json")).exits(0).json();
    let steps = object["steps"].as_array().unwrap();
    let stable: Vec<_> = steps.iter().map(|step| step["stable"].as_bool().unwrap()).collect();
    assert_eq!(stable, [true, true, false], "{object}");
    let largest = object["largest_stable_step"].as_f64().unwrap();
    assert!(1e-3 < largest && largest < 3e-3, "{object}");
    assert_eq!(object["rests_on"], "steps of the parts");
    assert_eq!(object["eigenvalues"].as_array().unwrap().len(), 3);
    assert_eq!(steps[2]["mode"]["signals"].as_array().unwrap().len(), 3);
    let text = sandbox.run(line).exits(0).stdout;
    assert!(text.contains("largest stable step") && text.contains("phase margin"), "{text}");
    assert!(std::fs::read_to_string(sandbox.path("loops.svg")).unwrap().contains("<svg"));
}

/// FMUs by directional derivatives say what the native system says, up to its inner solver.
#[test]
fn fmus_are_judged_by_their_local_models() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out fmus").exits(0);
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu").exits(0);
    let line = "--method zoh --steps 2ms --json";
    let native = sandbox.run(&format!("stability dual-mass --by-models {line}")).exits(0).json();
    let fmus = sandbox.run(&format!("stability pair --step 2ms {line}")).exits(0).json();
    let radius = |object: &serde_json::Value| object["steps"][0]["radius"].as_f64().unwrap();
    assert!((radius(&native) - radius(&fmus)).abs() < 1e-9, "{native} {fmus}");
    assert_eq!(fmus["rests_on"], "local models of the parts");
}

/// Explicit Euler of inner step dt adds omega^2 dt / 2 to the growth of a mode: more than the damping of the pendulum. That is so, and
/// is told.
#[test]
fn growth_by_the_inner_solver_is_told_apart() {
    let sandbox = Sandbox::new();
    let line = "stability pendulum-oscillator --method foh --steps 0.1ms";
    let of = |more: &str| sandbox.run(&format!("{line} {more} --json")).exits(0).json();
    let (steps, models) = (of(""), of("--by-models"));
    let mode = |object: &serde_json::Value, key: &str| object["steps"][0]["mode"][key].as_f64().unwrap();
    let omega = std::f64::consts::TAU * mode(&models, "frequency");
    let added = mode(&steps, "rate") - mode(&models, "rate");
    assert!((added - omega * omega * 1e-4 / 2.0).abs() < 0.05 * added, "{added:e} at {omega} rad/s");
    assert_eq!((&steps["steps"][0]["stable"], &models["steps"][0]["stable"]), (&false.into(), &true.into()));
    assert_eq!(steps["without_inner_solver"]["stable"], true);
    let text = sandbox.run(line).exits(0).stdout;
    assert!(text.contains("comes from the inner solver euler:100us"), "{text}");
}

/// Black boxes that cannot be put back are judged by models of a run, and agree with the steps of the equations inside them. They give no
/// values inside of steps.
#[test]
fn black_boxes_are_judged_by_models_of_a_run() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --black-box --out fmus").exits(0);
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu").exits(0);
    for method in ["zoh", "nepce:sampling=communication"] {
        let line = format!("--method {method} --steps 0.5ms,1ms,2ms,4ms --json");
        let native = sandbox.run(&format!("stability dual-mass {line}")).exits(0).json();
        let found = sandbox.run(&format!("stability pair --step 1ms {line}")).exits(0).json();
        assert_eq!(found["rests_on"], "models identified from a run", "{found}");
        for (a, b) in native["steps"].as_array().unwrap().iter().zip(found["steps"].as_array().unwrap()) {
            let (exact, radius) = (a["radius"].as_f64().unwrap(), b["radius"].as_f64().unwrap());
            assert!((exact - radius).abs() < 1e-9 * exact, "{method} at {}: {exact} {radius}", a["step"]);
        }
    }
}

/// What black boxes are coupled by when nothing is said learns during the run: with what it has learnt of the FMUs themselves it
/// treats perturbations as it does over the equations inside them.
#[test]
fn methods_that_learn_are_judged_by_what_they_have_learnt() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --black-box --out fmus").exits(0);
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu").exits(0);
    let line = "--steps 0.5ms,2ms --json";
    let native = sandbox.run(&format!("stability dual-mass --method identified {line}")).exits(0).json();
    let found = sandbox.run(&format!("stability pair --step 1ms --method auto {line}")).exits(0).json();
    assert_eq!(found["rests_on"], "models identified from a run", "{found}");
    for (a, b) in native["steps"].as_array().unwrap().iter().zip(found["steps"].as_array().unwrap()) {
        let (exact, radius) = (a["radius"].as_f64().unwrap(), b["radius"].as_f64().unwrap());
        assert!((exact - radius).abs() < 1e-5, "{exact} {radius}");
        assert_eq!((&a["learnt"]["in_parts"], &b["learnt"]["in_parts"]), (&false.into(), &false.into()));
        assert!((b["learnt"]["until"].as_f64().unwrap() - 0.1).abs() < 1e-9, "{b}");
    }
    let text = sandbox.run("stability dual-mass --method identified --steps 2ms").exits(0).stdout;
    assert!(text.contains("has learnt by t = 100 ms of a run") && text.contains("are not judged"), "{text}");
}
