//! External signals that jump or end, under all methods; references that are wrong or fail; offsets that do harm.

mod common;

use common::{Sandbox, table};
use serde_json::Value;

/// A recorded signal, with its times.
fn column(project: &str, line: &str, name: &str) -> Vec<(f64, f64)> {
    let sandbox = Sandbox::new();
    sandbox.write("project.toml", project);
    // What becomes of a run does not matter here, only how it begins.
    let done = sandbox.run(&format!("{line} --out run"));
    assert!(matches!(done.status.code(), Some(0 | 3)), "{}", done.story());
    sandbox.run("export run/results.arrows --out run.csv").exits(0);
    let csv = std::fs::read_to_string(sandbox.path("run.csv")).unwrap();
    let (names, rows) = table(&csv);
    let at = names.iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name}: {names:?}"));
    rows.iter().map(|row| (row[0], row[at])).collect()
}

fn compared(line: &str) -> Vec<(String, Option<f64>)> {
    let object = Sandbox::new().run(&format!("compare {line} --json")).exits(0).json();
    let runs = object["runs"].as_array().unwrap();
    let verdict = |run: &Value| run["verdict"].as_str().unwrap().to_owned();
    runs.iter().map(|run| (verdict(run), run["eps_mono"].as_f64())).collect()
}

/// A flow of 1 begins at 0.4 ms, a communication point: nothing of it is seen before, and nobody sees more than 1.
#[test]
fn a_jump_at_a_communication_point_is_seen_in_time_and_as_large_as_it_is() {
    for method in ["foh", "soh", "nepce", "mbcorr", "mbcorr:order=1", "lis", "prestep", "predictive"] {
        let line = format!(
            "run hydraulic-linear --set omega0=900 --set zeta=.02 --set omega0_tau=7 --method {method} --step 100us \
             --t-end 0.02s"
        );
        for (t, flow) in column("", &line, "right.f") {
            assert!(t > 0.45e-3 || flow == 0.0, "{method}: {flow} at {t}");
        }
        for (t, flow) in column("", &line, "right.f_end") {
            let wanted = if t > 0.45e-3 { 1.0 } else { 0.0 };
            assert!((flow - wanted).abs() < 1e-12, "{method}: {flow} at {t}");
        }
    }
}

/// A force that rises to 2 and ends there, inside of a step: no method applies more.
#[test]
fn a_table_that_ends_is_not_overshot() {
    let project = r#"[system]
stop = "40 ms"
[step]
size = "1 ms"
[native.mass]
model = "dual-mass"
part = "s1"
[[external]]
to = "mass.F"
table = [[0, 0], [0.0205, 2.0]]
"#;
    for method in ["zoh", "foh", "soh", "nepce", "mbcorr", "mbcorr:order=1", "prestep", "lis"] {
        let forces = column(project, &format!("run project.toml --method {method}"), "mass.F");
        let greatest = forces.iter().map(|(_, force)| *force).fold(0.0, f64::max);
        assert!((greatest - 2.0).abs() < 1e-12, "{method}: {greatest}");
    }
}

/// The push on a chain jumps inside of steps. Exact projection of its pieces: 2.3e-6; with nodes over the whole step 1.6e-3.
#[test]
fn jumps_inside_of_a_step_have_their_exact_effect() {
    let found = compared("chain --methods predictive,lis,prestep,mbcorr --steps 1ms --solver exact");
    for ((verdict, error), limit) in found.iter().zip([5e-6, 4e-4, 6e-3, 1.2e-2]) {
        assert!(verdict == "stable" && error.unwrap() < limit, "{found:?}");
    }
}

/// Events at communication points make the solver begin anew, too.
#[test]
fn the_whole_is_solved_across_jumps() {
    let sandbox = Sandbox::new();
    for pilot in 2..=5 {
        sandbox.run(&format!("run helicopter --set pilot={pilot} --method monolithic --no-record")).exits(0);
    }
    sandbox.run("run hydraulic-linear --method monolithic:tolerance=1e-12 --no-record").exits(0);
    for line in [
        "helicopter --set pilot=3 --methods monolithic --reference dopri5:1e-12",
        "helicopter --set pilot=3 --methods monolithic --reference bdf:1e-10",
        "hydraulic-linear --methods monolithic:tolerance=1e-12 --reference adams:1e-12",
    ] {
        let found = compared(line);
        assert!(found[0].1.unwrap() < 1e-7, "{line}: {found:?}");
    }
}

/// Explicit Euler steps of 10 us are unstable at k = 1e6: the reference is not what it should be, and says so.
#[test]
fn a_reference_says_what_it_may_be_wrong_by() {
    let sandbox = Sandbox::new();
    let line = "compare chain --methods predictive --steps 0.2ms --json";
    let own_error = |line: &str| sandbox.run(line).exits(0).json()["reference"]["own_error"].as_f64();
    assert!(own_error(&format!("{line} --set k=1e6")).unwrap() > 0.05);
    assert!(own_error(line).unwrap() < 0.01);
    assert_eq!(own_error("compare dual-mass --methods zoh --solver exact --json"), None);
    let said = sandbox.run("compare chain --set k=1e6 --methods predictive --steps 0.2ms").exits(0);
    said.says("too much for a reference, choose another solver");
}

#[test]
fn a_reference_that_fails_leaves_the_runs_alone() {
    let sandbox = Sandbox::new();
    let line = "compare dual-mass --set ck=1e6 --set dk=3e5 --set m1=0.5 --methods monolithic --steps 2ms";
    sandbox.run(line).exits(0).says("warning[W0601]: the reference at 2 ms failed");
    let object = sandbox.run(&format!("{line} --json")).exits(0).json();
    assert!(object["reference"].is_null() && object["runs"][0]["eps_mono"].is_null(), "{object}");
    // What nobody can have meant is still refused.
    sandbox.run("compare dual-mass --methods zoh --reference step:1h").exits(1);
}

/// A heading command at 5 s of 5.39 s: the errors are small, and one of a step is no instability.
#[test]
fn an_excitation_at_the_end_is_no_instability() {
    let line = "helicopter --set pilot=5 --set controller=2 --methods zoh,nepce,mbcorr --steps 15.1ms --t-end 5.3907s";
    for (verdict, error) in compared(line) {
        assert!(verdict == "stable" && error.unwrap() < 0.01, "{verdict} {error:?}");
    }
}

/// Far too long a step: the corrector cannot be right, but neither may it drive its models beyond all numbers.
#[test]
fn corrections_of_wild_models_stay_finite() {
    let found = compared(
        "coupled-pendula --set k=21.8 --set push=0.5711 --set frequency=7.301 --set left=-0.1244 --set right=-0.315 \
         --methods mbcorr --steps 0.29s --t-end 53.94s",
    );
    assert!(found[0].0 == "unstable" && found[0].1.unwrap().is_finite(), "{found:?}");
}

/// With offsets the chain has negative damping (0.30 in 1 s), without them hydraulic lines have.
#[test]
fn prestep_carries_offsets_where_they_help() {
    for n in [2, 20, 60] {
        let found =
            compared(&format!("chain --set n={n} --methods prestep,prestep:offsets=false --steps 1ms"));
        assert!(found[0] == found[1] && found[0].1.unwrap() < 0.02, "{n}: {found:?}");
    }
    let found = compared("hydraulic-linear --methods prestep,prestep:offsets=false");
    assert!(found[0].1.unwrap() < 0.02 && found[1].0 == "unstable", "{found:?}");
}

/// Explicit Euler steps of the whole system are unstable here; the run itself takes none.
#[test]
fn a_monolithic_solution_that_fails_leaves_the_run_alone() {
    let line = "run dual-mass --set ck=1e6 --set dk=3e5 --set m1=0.5 --method monolithic --step 2ms --no-record --json";
    let run = Sandbox::new().run(line).exits(0).json();
    assert_eq!((&run["verdict"], &run["judged_by"]), (&"stable".into(), &"half step".into()), "{run:#}");
}
