//! `costep doe` and `costep map`: what they find, and that nothing gets lost on the way.

mod common;
#[path = "../../fmu-export/tests/common/python.rs"]
mod python;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{Running, Sandbox, finished};
use costep_results::Table;
use serde_json::Value;

/// 48 short runs.
const PLAN: &str = r#"
[plan]
system = "dual-mass"
method = "prestep:paper=true"
step = "1 ms"
stop = "20 ms"

[options]
extrapolation = ["exact", "euler"]
extrapolation_steps = [1, 10]
phi_steps = [1, 10, 100]
ede = [false, true]

[parameters]
ck = [1e5, 2e5]
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("plan.toml", PLAN);
    sandbox
}

/// What a plan found, without what differs from run to run.
fn findings(mut object: Value) -> Value {
    let fields = object.as_object_mut().expect("an object");
    ["wall_s", "files"].iter().for_each(|key| drop(fields.remove(*key)));
    object
}

#[test]
fn a_plan_gives_effects_files_and_a_project_that_runs() {
    let sandbox = sandbox();
    let object = sandbox.run("doe plan.toml --out there --json").exits(0).json();
    assert_eq!((&object["runs"], &object["error"]), (&48.into(), &"eps_mono".into()));
    // Five main effects and ten pairs.
    let effects = object["effects"].as_array().unwrap();
    assert_eq!(effects.len(), 15);
    let shares: f64 = effects.iter().map(|effect| effect["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    let squares: f64 = effects.iter().map(|effect| effect["sum_of_squares"].as_f64().unwrap()).sum();
    let (rest, all) = (&object["rest"]["sum_of_squares"], &object["sum_of_squares"]);
    assert!((squares + rest.as_f64().unwrap()) / all.as_f64().unwrap() - 1.0 < 1e-12);
    assert!(object["diverged"].as_u64().unwrap() > 0 && object["failed"].as_array().unwrap().is_empty());
    let names = [
        "rows.parquet",
        "effects.csv",
        "effects.svg",
        "main-effects.svg",
        "interactions.svg",
        "sorted.svg",
        "histograms.svg",
    ];
    for name in names {
        assert!(sandbox.path("there").join(name).is_file(), "{name}");
    }
    assert_eq!(object["optimum"]["ede"]["value"], false);
    let best = sandbox.run("run there/optimum.toml --no-record --reference same --json").exits(0).json();
    assert_eq!(best["verdict"], "stable");
    assert!(best["method"].as_str().unwrap().contains("phi_steps=100"), "{}", best["method"]);
    let text = sandbox.run("doe plan.toml --out there").exits(0).says("48 rows kept, 0 to do").stdout;
    assert!(
        text.contains("extrapolation x extrapolation_steps") && text.contains("nearly optimal"),
        "{text}"
    );
}

#[test]
fn the_optimum_of_a_plan_with_fmus_runs_where_it_was_written() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out rig/fmus --quiet").exits(0);
    sandbox.run("new rig/pair rig/fmus/s1.fmu rig/fmus/s2.fmu --quiet").exits(0);
    sandbox.write(
        "plan.toml",
        "[plan]\nsystem = \"rig/pair\"\nmethod = \"nepce\"\nstop = \"20 ms\"\nsteps = [\"1 ms\", \"2 ms\"]\n\
         [options]\nalpha = [0, 1]\n",
    );
    sandbox.run("doe plan.toml --out deep/there --quiet").exits(0);
    sandbox.run("run deep/there/optimum.toml --no-record").exits(0);
}

/// The same runs by another route: studies do not know of projects, plans or tables.
#[test]
fn the_plan_of_the_thesis_gives_what_its_study_gives() {
    let sandbox = Sandbox::new();
    let doe = sandbox.run("doe genser2020-tab3.4 --out doe --json").exits(0).json();
    let study = sandbox.run("reproduce genser2020-tab3.4 --out study --json").exits(0).json();
    let (effects, table) = (doe["effects"].as_array().unwrap(), study["table"].as_array().unwrap());
    assert_eq!((effects.len(), table.len(), doe["runs"].as_u64()), (21, 21, Some(512)));
    for (effect, row) in effects.iter().zip(table) {
        let (ours, theirs) = (effect["mean_square"].as_f64().unwrap(), row["mean_square"].as_f64().unwrap());
        assert!((ours - theirs).abs() <= 1e-9 * theirs.max(1e-6), "{row}: {ours}");
        assert_eq!(effect["degrees_of_freedom"].as_f64(), row["degrees_of_freedom"].as_f64());
    }
    // Extrapolation option, steps and their interaction are the greatest.
    let share = |k: usize| effects[k]["share"].as_f64().unwrap();
    let others = (0..21).filter(|k| ![2, 3, 15].contains(k)).map(share).fold(0.0, f64::max);
    assert!([2, 3, 15].iter().all(|k| share(*k) > 2.0 * others), "{others}");
    assert_eq!(study["claims"][0]["verdict"], "reproduces");
}

#[test]
fn an_interrupted_plan_goes_on_where_it_was() {
    let sandbox = sandbox();
    let whole = findings(sandbox.run("doe plan.toml --out whole --json").exits(0).json());
    // As after a kill: whole batches, and a part of one.
    sandbox.run("doe plan.toml --shard 1/2 --out cut --quiet").exits(0);
    let (shard, rows) = (sandbox.path("cut/rows-1of2.arrows"), sandbox.path("cut/rows.arrows"));
    let bytes = fs::read(&shard).unwrap();
    fs::write(&rows, &bytes[..bytes.len() - 5]).unwrap();
    let kept = Table::open(&rows).unwrap().rows();
    let done = sandbox.run("doe plan.toml --out cut").exits(0).says(&format!("{kept} row"));
    assert!(kept > 0, "{}", done.story());
    assert_eq!(findings(sandbox.run("doe plan.toml --out cut --json").exits(0).json()), whole);
    let done = Table::open(&rows).unwrap();
    assert!(done.complete() && done.rows() == 48);
    // Rows of another plan are not mixed in.
    sandbox.write("other.toml", PLAN.replace("20 ms", "30 ms"));
    sandbox.run("doe other.toml --out cut").exits(1).says("E0732").says("--fresh");
    // Nor is a file that was cut before its first row taken for a table.
    fs::write(&rows, &bytes[..20]).unwrap();
    sandbox.run("doe plan.toml --out cut").exits(1).says("E0501").says("`--fresh` starts over");
    sandbox.run("doe other.toml --out cut --fresh --quiet").exits(0);
    assert_eq!(sandbox.run("doe plan.toml --out cut").exits(1).status.code(), Some(1));
}

#[test]
#[cfg(unix)]
fn ctrl_c_keeps_the_rows_that_are_done() {
    let sandbox = Sandbox::new();
    sandbox.write("long.toml", PLAN.replace("20 ms", "20 s"));
    let mut command = sandbox.command(["doe", "long.toml", "--out", "there", "--json"]);
    let out = sandbox.path("out");
    command.stdout(fs::File::create(&out).unwrap());
    let running = Running::of(command);
    std::thread::sleep(Duration::from_secs(2));
    running.signal("INT");
    assert_eq!(running.wait().code(), Some(130));
    let object: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(object["errors"][0]["code"], "E0604");
    let table = Table::open(&sandbox.path("there/rows.arrows")).unwrap();
    assert!(table.rows() < 48 && table.damage().is_none());
}

#[test]
fn shards_together_are_the_whole() {
    let sandbox = sandbox();
    let whole = findings(sandbox.run("doe plan.toml --out whole --json").exits(0).json());
    for shard in ["1/3", "3/3"] {
        sandbox.run(&format!("doe plan.toml --shard {shard} --out one --quiet")).exits(0);
    }
    sandbox.run("doe merge plan.toml one --out all").exits(1).says("E0733").says("16 of 48 runs are missing");
    sandbox.run("doe plan.toml --shard 2/3 --out two --quiet").exits(0);
    let merged = sandbox.run("doe merge plan.toml one two/rows-2of3.arrows --out all --json").exits(0).json();
    assert_eq!(findings(merged), whole);
    sandbox.run("doe plan.toml --shard 4/3").exits(1).says("--shard 1/4");
    sandbox.run("doe merge plan.toml whole --out again").exits(1).says("no rows of shards");
}

#[test]
#[cfg(unix)]
fn a_full_disk_keeps_what_is_there() {
    let sandbox = Sandbox::new();
    let many = PLAN.replace("[1e5, 2e5]", "\"1e4..1e6:log:40\"");
    sandbox.write("many.toml", many);
    let line = format!("ulimit -f 40; exec {} doe many.toml --out there", env!("CARGO_BIN_EXE_costep"));
    let done = finished(sandbox.program("sh", ["-c", &line]), &line);
    assert_eq!(done.status.code(), Some(2), "{}", done.story());
    assert!(
        done.stderr.contains("E0503") && done.stderr.contains("goes on after the rows"),
        "{}",
        done.story()
    );
    let kept = Table::open(&sandbox.path("there/rows.arrows")).unwrap();
    assert!(kept.rows() > 0 && kept.rows() < 960, "{}", kept.rows());
    sandbox.run("doe many.toml --out there").exits(0).says(&format!("{} rows kept", kept.rows()));
}

#[test]
fn every_mistake_of_a_plan_is_told_at_once() {
    let sandbox = Sandbox::new();
    let bad = "[plan]\nsystem = \"dual-mass\"\nmethod = \"prestep\"\nstepz = \"1 ms\"\n\n[options]\nphi_steps = [1, 5000]\nede = [true]\n\n\
               [parameters]\ncc = [1, 2]\nck = \"1..2\"\n";
    sandbox.write("bad.toml", bad);
    let done = sandbox.run("doe bad.toml").exits(1);
    for line in ["bad.toml:4", "bad.toml:7", "bad.toml:8", "bad.toml:11", "bad.toml:12", "5 errors"] {
        assert!(done.stderr.contains(line), "{line}: {}", done.story());
    }
    assert_eq!(done.stderr.matches("\n  help: ").count(), 5, "{}", done.story());
    assert!(!sandbox.path("costep-bad").exists());
    sandbox.run("doe nothing.toml").exits(1).says("nothing.toml");
    sandbox.run("doe genser2020-tab34").exits(1).says("genser2020-tab3.4");
}

/// A method that cannot work with the system: rows with a code, and no effects.
#[test]
fn runs_that_fail_are_rows() {
    let sandbox = Sandbox::new();
    let plan = "[plan]\nsystem = \"dual-mass\"\nmethods = [\"zoh\", \"identified:file=nothing.toml\"]\nstop = \"5 ms\"\n[parameters]\nck = [1e4, 1e5]\n";
    sandbox.write("plan.toml", plan);
    let done = sandbox.run("doe plan.toml --out there --json");
    let object = done.exits(0).json();
    assert_eq!((&object["runs"], &object["failed"][0]["runs"]), (&4.into(), &2.into()));
    assert_eq!(object["warnings"][0]["code"], "W0730");
    assert!(object.get("effects").is_none() && sandbox.path("there/rows.parquet").is_file());
}

#[test]
fn a_map_has_regions_and_areas() {
    let sandbox = Sandbox::new();
    let line = "map dual-mass --vary ck=1e4..1e6:log:5 --vary dk=1e2..1e4:log:5 --steps 1ms..5ms:3 --methods zoh,prestep:paper=true --out map";
    let object = sandbox.run(&format!("{line} --json")).exits(0).json();
    assert_eq!(object["runs"], 150);
    let [zoh, prestep] = [0, 1].map(|k| object["methods"][k].clone());
    let number = |map: &Value, key: &str| map[key].as_f64().unwrap();
    assert_eq!(zoh["area_across"], "ck/dk");
    assert!(number(&prestep, "area") > 2.0 * number(&zoh, "area"));
    // The whole box: nine ratios, half a decade each, over 4 ms.
    assert!((number(&prestep, "area") - 18.0).abs() < 1e-9, "{prestep}");
    assert!(number(&zoh, "radius_share") < 0.3 && number(&prestep, "radius_share") == 1.0);
    assert!((number(&zoh, "area_by_radius") - number(&zoh, "area")).abs() < 0.3 * number(&zoh, "area"));
    assert!(number(&zoh, "stable_share") < number(&prestep, "stable_share"));
    assert!(sandbox.path("map/map.svg").is_file() && sandbox.path("map/map.parquet").is_file());
    sandbox.run(line).exits(0).says("150 rows kept");
    let wrong = "map dual-mass --vary ckk=1..2:3 --vary dk=1..2 --steps 1xs --methods zoh";
    sandbox
        .run(wrong)
        .exits(1)
        .says("--vary ckk=1..2:3")
        .says("--vary dk=1..2")
        .says("--steps 1xs")
        .says("3 errors");
    sandbox.run("map dual-mass").exits(1).says("varies nothing");
    // The same column twice was an error inside the table.
    sandbox.run("map dual-mass --vary ck=1,2 --vary ck=3,4").exits(1).says("`ck` is varied twice");
    let line = "map no-such-system --vary ck=1,2 --methods foo,prestep:xx=1,zoh";
    sandbox.run(line).exits(1).says("`foo`").says("`xx`").says("no-such-system").says("3 errors");
}

/// `count` levels from one power of ten to another.
fn levels(from: f64, to: f64, count: usize) -> String {
    let level = |k: usize| 10f64.powf(from + (to - from) * k as f64 / (count - 1) as f64).to_string();
    (0..count).map(level).collect::<Vec<_>>().join(",")
}

/// Areas of a map and those of the program in numpy, method by method, for one grid.
fn areas((cks, dks): (usize, usize), steps: &str, methods: &str) {
    if python::skipped() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../costep/tests/numpy");
    let interpreter = python::environment("stability-venv", &folder.join("requirements.txt"));
    let (ck, dk) = (levels(3.0, 6.0, cks), levels(2.0, 5.5, dks));
    let sandbox = Sandbox::new();
    let in_ms = |step: &str| format!("{step}ms");
    let times: Vec<String> = steps.split(',').map(in_ms).collect();
    let line = format!(
        "map dual-mass --vary ck={ck} --vary dk={dk} --steps {} --methods {methods} --solver exact --out map --json",
        times.join(",")
    );
    let object = sandbox.run(&line).exits(0).json();
    let seconds: Vec<String> =
        steps.split(',').map(|step| (step.parse::<f64>().unwrap() / 1e3).to_string()).collect();
    let output = std::process::Command::new(interpreter)
        .arg(folder.join("areas.py"))
        .args([&ck, &dk, &seconds.join(","), "exact", methods])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let maps = object["methods"].as_array().unwrap();
    assert_eq!(maps.len(), text.lines().count());
    for (map, theirs) in maps.iter().zip(text.lines()) {
        let (ours, theirs) = (map["area_by_radius"].as_f64().unwrap(), theirs.parse::<f64>().unwrap());
        println!("{}: {ours:.3} by the radius, numpy {theirs:.3}, {} by runs", map["method"], map["area"]);
        assert!((ours - theirs).abs() <= 0.03 * theirs && theirs > 0.0, "{}: {ours} {theirs}", map["method"]);
    }
}

/// The region of a map is that of an independent program, which knows neither the engine nor the map.
#[test]
fn areas_are_those_of_a_program_in_numpy() {
    areas((7, 8), "0.5,2,4,6,8,10", "zoh,foh,nepce");
}

/// The same on the grid of the thesis: half a minute, so only when asked for.
#[test]
#[ignore = "half a minute"]
fn areas_on_the_whole_grid_are_those_of_a_program_in_numpy() {
    areas((13, 15), "0.5,1,2,3,4,5,6,7,8,9,10", "zoh,foh,nepce,mbcorr,prestep:paper=true");
}
