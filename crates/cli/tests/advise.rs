//! `costep advise`: its choice beside a grid, what it says, and how it ends.

mod common;
#[path = "../../import/tests/common/real.rs"]
mod real;

use std::fs;
use std::time::Duration;

use common::{Running, Sandbox};
use real::real_files;
use serde_json::Value;

/// Calls of the cheapest stable run with an error of at most `asked`, of all methods and these steps.
fn best_of_grid(sandbox: &Sandbox, system: &str, asked: f64, steps: &str) -> Option<(u64, String)> {
    let object = sandbox.run(&format!("compare {system} --steps {steps} --json")).exits(0).json();
    let runs = object["runs"].as_array().unwrap();
    let good =
        runs.iter().filter(|run| run["verdict"] == "stable" && run["eps_mono"].as_f64() <= Some(asked));
    let cost = |run: &Value| run["subsystem_steps"].as_u64().unwrap();
    good.map(|run| (cost(run), format!("{} {}", run["method"], run["step"]))).min()
}

/// The advice for an error is at most twice as expensive as the best of a grid, has that error when it is run as it says, and is told
/// with all that belongs to it.
fn is_within_a_factor_of_two(sandbox: &Sandbox, system: &str, asked: &str, steps: &str) -> Value {
    let advice = sandbox.run(&format!("advise {system} --error {asked} --json")).exits(0).json();
    let (choice, error) = (&advice["choice"], asked.parse::<f64>().unwrap());
    let calls = choice["calls"].as_u64().unwrap();
    let best = best_of_grid(sandbox, system, error, steps);
    println!("{system} {asked}: {} {} {calls} calls, grid {best:?}", choice["method"], choice["step"]);
    assert!(best.is_none_or(|(best, _)| calls <= 2 * best), "{advice:#}");
    assert!(choice["error"].as_f64().unwrap() <= error && choice["wall_s"].as_f64().unwrap() > 0.0);
    // The command that it names does what it says.
    let command = advice["command"].as_str().unwrap().strip_prefix("costep ").unwrap();
    let again = sandbox.run(&format!("{command} --no-record --reference same --json")).exits(0).json();
    let run = &again["runs"][0];
    let run = if run.is_object() { run } else { &again };
    assert!(run["eps_mono"].as_f64().unwrap() <= 1.05 * error, "{again:#}");
    assert_eq!(run["subsystem_steps"].as_u64(), Some(calls), "{again:#}");
    advice
}

#[test]
fn built_in_systems_get_a_choice_near_the_best_of_a_grid() {
    let sandbox = Sandbox::new();
    let steps = "10ms,8ms,6ms,5ms,4ms,3ms,2.5ms,2ms,1.5ms,1.2ms,1ms,0.7ms,0.5ms";
    let advice = is_within_a_factor_of_two(&sandbox, "dual-mass", "1e-3", steps);
    // At twice the step a hold of the velocity alone makes it unstable.
    assert!(!advice["connections"]["need_more_than_a_hold"].as_array().unwrap().is_empty(), "{advice:#}");
    assert!(advice["ask_for"].as_array().unwrap().is_empty(), "nobody makes native models: {advice:#}");
    is_within_a_factor_of_two(&sandbox, "pi-plant", "1e-2", "1s,0.7s,0.5s,0.3s,0.2s,0.1s,50ms,20ms");
}

#[test]
fn the_truck_of_libcosim_gets_a_choice_near_the_best_of_a_grid() {
    let Some(folder) = real_files("libcosim/tests/data/fmi2/quarter_truck") else { return };
    let sandbox = Sandbox::new();
    let system = format!("{} --t-end 2s", folder.join("OspSystemStructure.xml").display());
    let steps = "100ms,50ms,25ms,20ms,10ms,5ms";
    let advice = is_within_a_factor_of_two(&sandbox, &system, "1e-2", steps);
    assert_eq!(advice["choice"]["error_by"], "reference");
    assert!(advice["choice"]["uncertainty"].as_f64().unwrap() < 1e-2, "{advice:#}");
}

/// The predator and prey of MasterSim's tests have a tolerance of their own.
#[test]
fn the_command_for_a_project_with_a_tolerance_takes_equal_steps() {
    let folder = "mastersim/data/tests/linux64/Lotka_Volterra_System";
    let Some(folder) = real_files(folder) else { return };
    let sandbox = Sandbox::new();
    let system = folder.join("LV_Richardson_noiter.msim");
    let line = format!("advise {} --error 1e-2 --equal-steps --json", system.display());
    let advice = sandbox.run(&line).exits(0).json();
    let command = advice["command"].as_str().unwrap();
    assert!(command.ends_with(" --control fixed"), "{command}");
    let line = format!("{} --no-record --json", command.strip_prefix("costep ").unwrap());
    let run = sandbox.run(&line).exits(0).json();
    let run = if run["runs"][0].is_object() { &run["runs"][0] } else { &run };
    assert_eq!(run["subsystem_steps"], advice["choice"]["calls"], "{run:#}");
}

#[test]
fn what_cannot_be_reached_is_said() {
    let sandbox = Sandbox::new();
    let line = "advise dual-mass --error 1e-9 --methods zoh --equal-steps";
    let done =
        sandbox.run(line).exits(3).says("error[E0740]: nothing that was tried has an error of at most 1e-9");
    // The best that was found is said all the same, with its command.
    for words in ["not reached", "zoh", "costep run dual-mass --method zoh --step "] {
        assert!(done.stdout.contains(words), "{words}: {}", done.story());
    }
    let object = sandbox.run(&format!("{line} --json")).exits(3).json();
    assert!(object["choice"].is_null() && object["errors"][0]["code"] == "E0740", "{object:#}");
    assert_eq!(object["nearest"]["method"], "zoh", "{object:#}");
}

#[test]
fn time_that_is_over_is_said() {
    let sandbox = Sandbox::new();
    let done = sandbox.run("advise dual-mass --time 0s").exits(4);
    let done = done.says("error[E0603]").says("more `--time`");
    assert!(!done.stderr.contains("--time-limit"), "{}", done.story());
    for wrong in ["--error 0", "--error 2", "--error nan", "--time x"] {
        sandbox.run(&format!("advise dual-mass {wrong}")).exits(1);
    }
}

/// FMUs that offer less get wishes, as far as these would help.
#[test]
fn makers_are_asked_for_what_helps() {
    let sandbox = Sandbox::new();
    let pair = "dual-mass --set ck=2e5 --set dk=200";
    sandbox.run(&format!("export-fmu {pair} --out full")).exits(0);
    sandbox.run("new whole full/s1.fmu full/s2.fmu").exits(0);
    sandbox.run(&format!("export-fmu {pair} --without directional-derivatives --out back")).exits(0);
    sandbox.run("new back-only back/s1.fmu back/s2.fmu").exits(0);
    let wishes = |system: &str, error: &str| {
        let object = sandbox.run(&format!("advise {system} --error {error} --json")).exits(0).json();
        println!("{system}: {} {}", object["choice"], object["ask_for"]);
        object["ask_for"].as_array().unwrap().clone()
    };
    assert_eq!(wishes("whole", "1e-3"), Vec::<Value>::new());
    // They can be probed, so that derivatives would add next to nothing.
    assert_eq!(wishes("back-only", "1e-3"), Vec::<Value>::new());
    sandbox.run(&format!("export-fmu {pair} --bare --out bare")).exits(0);
    sandbox.run("new boxes bare/s1.fmu bare/s2.fmu").exits(0);
    let asked = wishes("boxes", "0.05");
    assert!(asked.iter().any(|wish| wish["what"] == "directional derivatives"), "{asked:?}");
    assert!(asked.iter().all(|wish| wish["fewer_calls"].is_null()), "{asked:?}");
}

#[test]
#[cfg(unix)]
fn ctrl_c_tells_what_was_found_so_far() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out fmus").exits(0);
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu").exits(0);
    for system in ["dual-mass", "pair"] {
        // Far more than two seconds of work.
        let line = format!("advise {system} --t-end 100s --error 1e-9 --methods zoh --equal-steps --json");
        let out = sandbox.path("out");
        let mut command = sandbox.command(line.split_whitespace());
        command.stdout(fs::File::create(&out).unwrap());
        let running = Running::of(command);
        std::thread::sleep(Duration::from_secs(2));
        running.signal("INT");
        assert_eq!(running.wait().code(), Some(130), "{system}");
        let object: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
        assert_eq!(object["errors"][0]["code"], "E0604", "{system}: {object:#}");
        assert!(object["trials"].is_array() && object["choice"].is_null(), "{system}: {object:#}");
    }
}
