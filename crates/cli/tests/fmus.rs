//! Projects with FMUs, run as a user does.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use common::{Sandbox, table};
use fmus::{BOTH, EVERY, Fmi, Variant, build, build_as, build_edited};

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
fn pair(fmi: Fmi) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("pair/system.toml", PAIR);
    for model in ["S1", "S2"] {
        std::fs::copy(build(fmi, model).path, sandbox.path(format!("pair/{model}.fmu"))).unwrap();
    }
    sandbox
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
    for fmi in EVERY {
        let sandbox = pair(fmi);
        for system in ["pair", "dual-mass --t-end 0.1s --solver euler:10us"] {
            let name = system.split(' ').next().unwrap();
            sandbox.run(&format!("compare {system} --methods zoh --steps 0.1ms --out out-{name}")).exits(0);
            let recording =
                std::fs::read_dir(sandbox.path(format!("out-{name}"))).unwrap().next().unwrap().unwrap();
            sandbox.run(&format!("export {} --to {name}.csv", recording.path().display())).exits(0);
        }
        let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).unwrap();
        let worst = difference(&read("dual-mass.csv"), &read("pair.csv"), &signals);
        println!("{fmi:?}: {worst:e}");
        assert!(worst <= 1e-12, "{fmi:?}: {worst:e}");
    }
}

#[test]
fn comparisons_say_what_the_reference_is() {
    let sandbox = pair(Fmi::V2);
    let json = sandbox.run("compare pair --methods zoh,foh --steps 1ms --json").exits(0).json();
    assert_eq!(json["reference"]["kind"], "fine-step");
    assert_eq!(json["reference"]["step"], 2e-5);
    assert!(json["reference"]["own_error"].as_f64().unwrap() < 1e-2);
    assert!(json["runs"][0]["eps_mono"].as_f64().unwrap() > json["runs"][1]["eps_mono"].as_f64().unwrap());
    sandbox
        .run("compare pair --methods zoh --steps 1ms")
        .exits(0)
        .says("reference: the same system with `auto` at a step of 20 us; at twice that step it differs by");
    sandbox
        .run("compare pair --reference dopri5")
        .exits(1)
        .says("FMUs for Co-Simulation do not provide them");
    let run = sandbox.run("run pair --method nepce --reference step:50us --json").exits(0).json();
    let times = &run["times"];
    let parts: f64 = ["s1", "s2"].iter().map(|part| times["parts"][part].as_f64().unwrap()).sum();
    assert!(parts > 0.0 && run["real_time_factor"].as_f64().unwrap() > 0.0, "{run}");
    // Estimates, so that they need not add up to the last digit.
    assert!(parts < 2.0 * run["wall_s"].as_f64().unwrap(), "{run}");
}

#[test]
fn a_run_is_recorded_and_its_copy_runs_again() {
    let sandbox = pair(Fmi::V3);
    let set = ["--set", "s2.ck=2e5", "--set", "s2.text="];
    sandbox.run(&format!("run pair {}", set.join(" "))).exits(1).says("has no variable `text`");
    sandbox.run("run pair --set s2.ck=2e5 --method zoh --out first").exits(0);
    let copy = std::fs::read_to_string(sandbox.path("first/run.toml")).unwrap();
    assert!(copy.contains("set = { ck = 200000.0 }"), "{copy}");
    sandbox.run("run first/run.toml --out second").exits(0);
    for run in ["first", "second"] {
        sandbox.run(&format!("export {run} --to {run}.csv")).exits(0);
    }
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).unwrap();
    assert_eq!(read("first.csv"), read("second.csv"));
}

#[test]
fn a_run_of_fmus_is_drawn_beside_one_at_a_small_step() {
    let sandbox = pair(Fmi::V2);
    sandbox.run("run pair --step 1ms --out there").exits(0);
    let drawn = sandbox.run("plot there --reference --to 20ms --json").exits(0).json();
    assert!(drawn["signals"].as_array().unwrap().contains(&"s2.F".into()), "{drawn}");
    let svg = std::fs::read_to_string(sandbox.path("there/plot.svg")).unwrap();
    assert!(svg.contains("the same system with `auto` at a step of 20 us"), "{svg}");
}

#[test]
fn times_that_no_fmu_proposes_are_told() {
    let sandbox = Sandbox::new();
    std::fs::copy(build(Fmi::V2, "S1").path, sandbox.path("S1.fmu")).unwrap();
    let words = "no FMU proposes a stop time or a step: the run stops at 1 s, in steps of 1 ms; edit `stop` and `size` in";
    sandbox.run("new rig S1.fmu").exits(0).says(words).says("rig/system.toml");
}

#[test]
fn a_new_project_is_proposed_checked_and_run() {
    let sandbox = Sandbox::new();
    for model in ["S1", "S2"] {
        let fmu = build_edited(Fmi::V2, model, |text| {
            // The inputs of S2 are called u1 and u2; one of them is to be found by its unit.
            let units = "<UnitDefinitions><Unit name=\"m\"><BaseUnit m=\"1\"/></Unit><Unit name=\"mm\"><BaseUnit m=\"1\" factor=\"0.001\"/></Unit></UnitDefinitions><DefaultExperiment stopTime=\"0.01\"/>";
            let text = text.replacen("<ModelVariables>", &format!("{units}<ModelVariables>"), 1);
            let text = text.replacen("\"u1\" valueReference=\"0\" causality=\"input\" variability=\"continuous\"><Real", "\"u1\" valueReference=\"0\" causality=\"input\" variability=\"continuous\"><Real unit=\"mm\"", 1);
            match model {
                "S1" => text.replacen(
                    "causality=\"output\" variability=\"continuous\"><Real",
                    "causality=\"output\" variability=\"continuous\"><Real unit=\"m\"",
                    1,
                ),
                _ => text,
            }
        });
        std::fs::copy(fmu.path, sandbox.path(format!("{model}.fmu"))).unwrap();
    }
    sandbox.run("new rig S1.fmu S2.fmu S3.fmu").exits(1).says("S3.fmu");
    assert!(!sandbox.path("rig").exists());
    sandbox.run("new rig S1.fmu S2.fmu").exits(0);
    let text = std::fs::read_to_string(sandbox.path("rig/system.toml")).unwrap();
    assert!(text.contains("stop = \"10 ms\"  # as proposed by `s2`"), "{text}");
    assert!(text.contains("[[connect]]  # 0.90: the same name\nfrom = \"s2.F\"\nto = \"s1.F\"\n"), "{text}");
    assert!(
        text.contains(
            "[[connect]]  # 0.60: a unit that can be converted\nfrom = \"s1.x\"\nto = \"s2.u1\"\nunit = \"convert\"\n"
        ),
        "{text}"
    );
    assert!(text.contains("# No output fits `s2.u2`"), "{text}");
    assert!(text.contains("# set = { m = 10.0, c = 1000000.0,"), "{text}");
    sandbox.run("new rig S1.fmu").exits(1).says("E0218");
    // Where nothing is proposed, how a connection is written.
    sandbox.run("new apart S1.fmu S1.fmu").exits(0);
    let apart = std::fs::read_to_string(sandbox.path("apart/system.toml")).unwrap();
    assert!(apart.contains("# [[connect]]  # `s1_2.x` is in m, `s1.F` has no unit\n# from = "), "{apart}");
    assert!(!text.contains("No names or units fit"), "{text}");
    let checked = sandbox.run("check rig").exits(0).says("W0202").says("W0107");
    assert!(checked.stdout.contains("ok   2 parts, 2 connections, 0 errors"), "{}", checked.story());
    sandbox.run("check rig --strict").exits(1);
    // Millimetres taken for metres make a spring that is far too stiff for a hold.
    sandbox.run("run rig --method zoh").exits(3);
    // Two instances of one file, where they are.
    sandbox.run("new twins S1.fmu S1.fmu --no-copy --json").exits(0).json();
    assert!(!sandbox.path("twins/S1.fmu").exists());
    let text = std::fs::read_to_string(sandbox.path("twins/system.toml")).unwrap();
    assert!(text.contains("[fmu.s1]") && text.contains("[fmu.s1_2]"), "{text}");
    sandbox.run("check twins").exits(0);
}

#[test]
fn a_check_finds_everything_at_once() {
    let sandbox = pair(Fmi::V3);
    let wrong = PAIR.replacen("to = \"s2.u2\"", "to = \"s2.u3\"", 1).replacen(
        "file = \"S1.fmu\"",
        "file = \"S1.fmu\"\nset = { mass = 3 }\nisolation = \"proces\"",
        1,
    );
    sandbox.write("pair/system.toml", wrong);
    let done = sandbox.run("check pair").exits(1).says("E0203").says("E0208").says("E0205");
    assert!(done.stdout.contains("3 errors, 0 warnings"), "{}", done.story());
    let json = sandbox.run("check pair --json").exits(1).json();
    assert_eq!((json["ok"].as_bool(), json["errors"].as_array().unwrap().len()), (Some(false), 3));
    sandbox.run("check dual-mass --probe").exits(0);
}

/// The heavy mass, which two light ones push, could step less often: ten million steps cost something.
#[test]
fn a_probe_proposes_rates() {
    let sandbox = Sandbox::new();
    let text = r#"
[system]
stop = "1000 s"
solver = "exact"
[step]
size = "0.1 ms"
[method]
id = "foh"
[native.a]
model = "dual-mass"
part = "s1"
[native.b]
model = "dual-mass"
part = "s2"
[native.heavy]
model = "dual-mass"
part = "s1"
set = { m1 = 1e4, c1 = 1e6 }
[[connect]]
from = "a.x"
to = "b.x"
[[connect]]
from = "a.v"
to = "b.v"
[[connect]]
from = "b.F"
to = "a.F"
[[connect]]
from = "b.F"
to = "heavy.F"
"#;
    sandbox.write("rig/system.toml", text);
    let json = sandbox.run("check rig --probe --json").exits(0).json();
    let rates = &json["rates"];
    let count = rates["proposed"]["heavy"].as_u64().unwrap_or_else(|| panic!("{rates}"));
    assert!(count > 1 && rates["difference"].as_f64() <= rates["step_error"].as_f64(), "{rates}");
    let toml = rates["toml"].as_str().unwrap();
    assert!(toml.starts_with("[step]\nrates = { heavy = "), "{toml}");
    let done = sandbox.run("check rig --probe").exits(0);
    assert!(done.stdout.contains("rates   saves") && done.stdout.contains("[step]"), "{}", done.story());
    sandbox.write("rig/system.toml", text.replace("[step]", toml).replace("1000 s", "1 s"));
    sandbox.run("check rig").exits(0);
    // Quick runs have nothing to gain.
    assert!(sandbox.run("check rig --probe --json").exits(0).json()["rates"].is_null());
}

#[test]
fn a_probe_tells_what_fmus_do() {
    for fmi in BOTH {
        let sandbox = pair(fmi);
        let json = sandbox.run("check pair --probe --json").exits(0).json();
        for card in json["probes"].as_array().unwrap() {
            assert_eq!(
                (card["repeatable"].as_bool(), card["taken_back"].as_bool()),
                (Some(true), Some(true))
            );
            assert!(card["derivative_error"].as_f64().unwrap() < 0.05, "{card}");
            assert!(card["step_s"].as_f64().unwrap() > 0.0);
        }
    }
    // Derivatives that contradict the steps.
    for fmi in BOTH {
        let sandbox = pair(fmi);
        let variant = Variant { flag: "-DWRONG_DERIVATIVES", ..Variant::default() };
        std::fs::copy(build_as(fmi, "S1", "S1", variant).path, sandbox.path("pair/S1.fmu")).unwrap();
        let done = sandbox.run("check pair --probe").exits(2);
        assert!(done.stdout.contains("derivatives DIFFER"), "{}", done.story());
        let json = sandbox.run("check pair --probe --json").exits(2).json();
        assert_eq!(json["ok"], false);
        assert!(json["probes"][0]["derivative_error"].as_f64().unwrap() > 0.2, "{json}");
    }
    let sandbox = pair(Fmi::V2);
    // Only one instance per process: the second one gets its own.
    let variant =
        Variant { attributes: "canBeInstantiatedOnlyOncePerProcess=\"true\"", ..Variant::default() };
    std::fs::copy(build_as(Fmi::V2, "S1", "S1", variant).path, sandbox.path("pair/S1.fmu")).unwrap();
    let json = sandbox.run("check pair --probe --json").exits(0).json();
    assert_eq!(json["probes"][0]["repeatable"], true);
    sandbox.run("run pair --method zoh").exits(0);
}

#[test]
fn local_models_that_a_step_contradicts_are_not_used() {
    for fmi in BOTH {
        let sandbox = pair(fmi);
        let chosen = "method: predictive";
        let done = sandbox.run("run pair --method auto --out good").exits(0).says(chosen);
        assert!(!done.stderr.contains("W0303"), "{}", done.story());
        let variant = Variant { flag: "-DWRONG_DERIVATIVES", ..Variant::default() };
        std::fs::copy(build_as(fmi, "S1", "S1", variant).path, sandbox.path("pair/S1.fmu")).unwrap();
        sandbox.run("run pair --method auto --out bad").exits(0).says("method: identified").says(
            "warning[W0303]: method: `s1`: its local model is not used: over a step with changed inputs",
        );
        sandbox
            .run("run pair --method predictive --out refused")
            .exits(1)
            .says("`s1`: its local model is not used")
            .says("E0");
        // Who knows better is believed.
        let done = sandbox.run("run pair --method auto --out believed --set fmu.s1.trust=true");
        assert!(!done.exits(0).says(chosen).stderr.contains("W0303"));
    }
}

#[test]
fn local_models_of_stiff_fmus_are_used() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --fmi 2 --out pair --quiet").exits(0);
    let text = PAIR.replace("0.1 ms", "1 ms").replace("S1", "s1").replace("S2", "s2");
    let text = text.replace("s2.u1", "s2.x").replace("s2.u2", "s2.v");
    for damping in ["2.9e7", "2.9e12"] {
        let stiff = format!("s2.fmu\"\ninterface = \"me\"\nsolver = \"bdf\"\nset = {{ d2 = {damping} }}");
        sandbox.write("pair/system.toml", text.replace("s2.fmu\"", &stiff));
        let done = sandbox.run("run pair --method predictive --no-record").exits(0);
        assert!(!done.stderr.contains("W0303"), "{}", done.story());
        let card = &sandbox.run("check pair --probe --json").exits(0).json()["probes"][1];
        assert!(card["derivative_error"].as_f64().unwrap() < 0.05, "{card}");
    }
}

#[test]
fn input_derivatives_without_effect_are_not_used() {
    let sandbox = pair(Fmi::V2);
    let done = sandbox.run("run pair --method foh --out good").exits(0);
    assert!(!done.stderr.contains("W0303"), "{}", done.story());
    let variant = Variant { flag: "-DIGNORES_DERIVATIVES", ..Variant::default() };
    std::fs::copy(build_as(Fmi::V2, "S1", "S1", variant).path, sandbox.path("pair/S1.fmu")).unwrap();
    let why = "`s1`: its inputs are held: what it is told about their derivatives has no effect";
    for method in ["foh", "auto"] {
        sandbox.run(&format!("run pair --method {method} --out {method}")).exits(0).says(why);
    }
}

#[test]
fn texts_and_bytes_pass_through_a_chain_and_are_not_recorded() {
    for fmi in [Fmi::V2, Fmi::V3] {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path("chain")).unwrap();
        std::fs::copy(fmus::build_types(fmi).path, sandbox.path("chain/Types.fmu")).unwrap();
        let bytes = if fmi == Fmi::V3 { ", u_bytes = \"00ff07\"" } else { "" };
        let mut text = format!(
            "[system]\nstop = \"0.5 s\"\n[step]\nsize = \"0.1 s\"\n[fmu.a]\nfile = \"Types.fmu\"\n\
             set = {{ u_text = \"hällo\"{bytes} }}\n[fmu.b]\nfile = \"Types.fmu\"\n[fmu.c]\nfile = \"Types.fmu\"\n"
        );
        for kind in if fmi == Fmi::V3 { &["text", "bytes"][..] } else { &["text"] } {
            for (from, to) in [("a", "b"), ("b", "c")] {
                text += &format!("[[connect]]\nfrom = \"{from}.y_{kind}\"\nto = \"{to}.u_{kind}\"\n");
            }
        }
        sandbox.write("chain/system.toml", &text);
        sandbox.run("run chain --out out --method zoh").exits(0);
        sandbox.run("export out --to out.csv").exits(0);
        let csv = std::fs::read_to_string(sandbox.path("out.csv")).unwrap();
        let (names, rows) = common::table(&csv);
        assert!(!names.iter().any(|name| name.contains("text") || name.contains("bytes")), "{names:?}");
        let column = names.iter().position(|name| name.starts_with("c.check")).unwrap();
        let sum = 790.0 + if fmi == Fmi::V3 { 262_000.0 } else { 0.0 };
        let last = rows.last().unwrap()[column];
        assert_eq!(last, sum, "{csv}");
        // A number cannot feed a text, and nothing can be added to one.
        sandbox.write("chain/system.toml", text.replace("from = \"a.y_text\"", "from = \"a.y_real\""));
        sandbox.run("check chain").exits(1).says("takes strings");
        sandbox
            .write("chain/system.toml", text.replace("to = \"b.u_text\"", "to = \"b.u_text\"\ngain = 2.0"));
        sandbox.run("check chain").exits(1).says("takes strings");
        // In another process the number stands for nothing, and that is said.
        sandbox.write("chain/system.toml", text.replace("[fmu.c]\n", "[fmu.c]\nisolation = \"process\"\n"));
        sandbox
            .run("run chain --out other --method zoh")
            .exits(1)
            .says("are not exchanged between processes");
    }
}

#[test]
fn fmus_of_fmi_1_are_used_by_every_verb() {
    let sandbox = pair(Fmi::V1);
    let done = sandbox.run("inspect pair/S2.fmu").exits(0);
    assert!(done.stdout.contains("FMI 1.0 co-simulation"), "{}", done.story());
    assert!(done.stdout.contains("direct: u1, u2") && done.stdout.contains("valid, 0 errors"));
    sandbox.run("new made pair/S1.fmu pair/S2.fmu").exits(0);
    assert!(std::fs::read_to_string(sandbox.path("made/system.toml")).unwrap().contains("# FMI 1.0, S1"));
    sandbox.run("check pair").exits(0);
    let card = &sandbox.run("check pair --probe --json").exits(0).json()["probes"][0];
    assert_eq!(
        (&card["repeatable"], &card["taken_back"]),
        (&true.into(), &serde_json::Value::Null),
        "{card}"
    );
    // What cannot work says so, and `auto` finds a way.
    sandbox.run("run pair --method predictive --no-record").exits(1).says("E0304");
    let whole = sandbox.run("run pair --method monolithic --no-record").exits(1).says("E0304");
    whole.says("given by `--method monolithic`").says("`auto` couples the parts").says("interface = \"me\"");
    sandbox.run("run pair --no-record").exits(0);
    sandbox.run("export --ssp pair --out pair.ssp").exits(0);
    sandbox.run("run pair.ssp --method zoh --step 0.1ms --t-end 1ms --no-record").exits(0);
    // Coupled with its tool.
    let tool = |text: String| text.replace("CoSimulation_StandAlone", "CoSimulation_Tool");
    std::fs::copy(build_edited(Fmi::V1, "Lag", tool).path, sandbox.path("Tool.fmu")).unwrap();
    sandbox.run("inspect Tool.fmu").exits(1).says("E0119").says("CoSimulation_Tool");
}

/// FMUs that cannot do a shorter last step pass the stop time: so does what they are compared with, and it is said for
/// every step.
#[test]
fn runs_that_pass_their_stop_time_are_compared_where_they_end() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --fmi 2 --kind cs --without variable-step --out fmus --quiet").exits(0);
    sandbox.run("new nvp fmus/s1.fmu fmus/s2.fmu --quiet").exits(0);
    // 1 ms is a multiple of the step of the reference, 8 us.
    let done = sandbox.run("compare nvp --steps 0.4ms --methods auto --t-end 1ms --json").exits(0);
    let error = done.json()["runs"][0]["eps_mono"].as_f64().unwrap();
    let has_code = |json: &serde_json::Value| {
        json["system_warnings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|warning| warning["code"] == "W0207")
            .count()
    };
    assert_eq!(has_code(&done.json()), 1, "{}", done.story());
    let run = sandbox.run("run nvp --step 0.4ms --t-end 1ms --no-record --json").exits(0).json();
    assert_eq!(has_code(&run), 1, "{run}");
    let whole = sandbox.run("compare nvp --steps 0.4ms --methods auto --t-end 1.2ms --json").exits(0).json();
    assert_eq!(Some(error), whole["runs"][0]["eps_mono"].as_f64(), "{}", done.story());
    let done = sandbox.run("compare nvp --steps 0.5ms,0.3ms --methods zoh,foh --t-end 1ms").exits(0);
    let done = done.says(
        "warning[W0207]: the run ends at 1.2 ms: its stop time, 1 ms, is no multiple of the step, 300 us",
    );
    assert_eq!(done.story().matches("W0207").count(), 1, "{}", done.story());
}
