//! Systems and signals of other tools, used as a user does.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;
#[path = "../../import/tests/common/real.rs"]
mod real;

use std::path::{Path, PathBuf};

use common::{Sandbox, table};
use fmus::{Fmi, build};
use real::real_files;

const OSP: &str = r#"<?xml version="1.0"?>
<OspSystemStructure xmlns="http://opensimulationplatform.com/MSMI/OSPSystemStructure" version="0.1">
<EndTime>1</EndTime><BaseStepSize>0.01</BaseStepSize>
<Simulators><Simulator name="a" source="../fmus/Lag.fmu"><InitialValues><InitialValue variable="x0"><Real value="2"/></InitialValue></InitialValues></Simulator>
<Simulator name="b" source="proxyfmu://localhost?file=../fmus/Lag.fmu"/></Simulators>
<Functions><LinearTransformation name="f" factor="0.5" offset="0.25"/><Sum name="s" inputCount="2"/></Functions>
<Connections>
<SignalConnection><Variable simulator="a" name="y"/><Signal function="f" name="in"/></SignalConnection>
<SignalConnection><Variable simulator="b" name="u"/><Signal function="f" name="out"/></SignalConnection>
<SignalConnection><Variable simulator="a" name="y"/><Signal function="s" name="in[0]"/></SignalConnection>
<SignalConnection><Variable simulator="b" name="y"/><Signal function="s" name="in[1]"/></SignalConnection>
<SignalConnection><Variable simulator="a" name="u"/><Signal function="s" name="out"/></SignalConnection>
</Connections></OspSystemStructure>"#;

const MASTER_SIM: &str = "tStart 0 s\ntEnd 1 s\nhStart 10 ms\nadjustStepSize no\nMasterMode GAUSS_JACOBI\nmaxIterations 1
simulator 0 0 a #fff \"../fmus/Lag.fmu\"\nsimulator 1 0 drive #fff \"drive.tsv\"\ngraph drive.v a.u 1 2\nparameter a.x0 2\n";

const MULTI_MODEL: &str = r#"{ "fmus": { "{x}": "../fmus/Lag.fmu" }, "startTime": 0, "endTime": 1, "algorithm": { "type": "fixed-step", "size": 0.01 },
"connections": { "{x}.a.y": ["{x}.b.u"] }, "parameters": { "{x}.a.x0": 2 } }"#;

/// A folder `data` with FMUs beside systems of other tools.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("data/fmus/Lag.fmu", std::fs::read(build(Fmi::V2, "Lag").path).unwrap());
    sandbox.write("data/systems/OspSystemStructure.xml", OSP);
    sandbox.write("data/systems/drive.msim", MASTER_SIM);
    sandbox.write("data/systems/drive.tsv", "Time [min]\tv [-]\n0\t1\n1\t3\n");
    sandbox.write("data/systems/mm.json", MULTI_MODEL);
    sandbox
}

/// Names and rows of the recording of a run.
fn recorded(sandbox: &Sandbox, folder: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    sandbox.run(&format!("export {folder} --to {folder}.csv")).exits(0);
    let text = std::fs::read_to_string(sandbox.path(format!("{folder}.csv"))).unwrap();
    let (names, rows) = table(&text);
    (names.iter().map(|name| (*name).to_owned()).collect(), rows)
}

fn bits(sandbox: &Sandbox, folder: &str) -> Vec<Vec<u64>> {
    recorded(sandbox, folder).1.iter().map(|row| row.iter().map(|value| value.to_bits()).collect()).collect()
}

#[test]
fn systems_run_as_they_are_and_imported_to_the_same_bits() {
    let sandbox = sandbox();
    for (index, file) in ["OspSystemStructure.xml", "drive.msim", "mm.json"].iter().enumerate() {
        let (ran, imported) = (format!("ran{index}"), format!("imported{index}"));
        sandbox.run(&format!("check data/systems/{file}")).exits(0);
        assert!(
            sandbox.run(&format!("inspect data/systems/{file}")).exits(0).stdout.contains("can be run"),
            "{file}"
        );
        sandbox.run(&format!("run data/systems/{file} --method zoh --out {ran}")).exits(0);
        sandbox.run(&format!("import data/systems/{file} --out {imported}")).exits(0);
        sandbox.run(&format!("run {imported} --method zoh")).exits(0);
        assert_eq!(bits(&sandbox, &ran), bits(&sandbox, &imported), "{file}");
        assert_eq!(bits(&sandbox, &ran).len(), 101, "{file}");
    }
    // Under `zoh` the last step holds what the file says at 0.99 s, scaled as the connection says.
    let (names, rows) = recorded(&sandbox, "ran1");
    let input = names.iter().position(|name| name == "a.u").unwrap();
    assert!((rows[100][input] - (2.0 * (1.0 + 2.0 * 0.99 / 60.0) + 1.0)).abs() < 1e-12, "{:?}", rows[100]);
    // A folder with one system is that system.
    sandbox.run("check data/systems").exits(0);
}

#[test]
fn sums_and_transformations_are_those_of_a_project() {
    let sandbox = sandbox();
    sandbox.write("data/fmus/system.toml", "step = { size = \"10 ms\" }\nsystem = { stop = \"1 s\" }\n[fmu.a]\nfile = \"Lag.fmu\"\nset = { x0 = 2 }\n[fmu.b]\nfile = \"Lag.fmu\"
[[connect]]\nfrom = \"a.y\"\nto = \"b.u\"\ngain = 0.5\noffset = 0.25\n[[connect]]\nfrom = \"a.y\"\nto = \"a.u\"\nsum = true\n[[connect]]\nfrom = \"b.y\"\nto = \"a.u\"\nsum = true\n");
    sandbox.run("run data/fmus --method zoh --out project").exits(0);
    sandbox.run("run data/systems/OspSystemStructure.xml --method zoh --out osp").exits(0);
    assert_eq!(bits(&sandbox, "project"), bits(&sandbox, "osp"));
}

#[test]
fn files_elsewhere_are_opened_only_if_allowed() {
    let sandbox = sandbox();
    let mut inside = sandbox.command(["check", "OspSystemStructure.xml"]);
    inside.current_dir(sandbox.path("data/systems"));
    common::finished(inside, "check").exits(1).says("E0142").says("--allow-outside");
    let mut allowed = sandbox.command(["check", "OspSystemStructure.xml", "--allow-outside"]);
    allowed.current_dir(sandbox.path("data/systems"));
    common::finished(allowed, "check").exits(0);
    sandbox.write(
        "far/mm.json",
        MULTI_MODEL.replace("../fmus", &sandbox.path("data/fmus").display().to_string()),
    );
    sandbox.run("run far/mm.json --no-record").exits(1).says("E0142");
    sandbox.run("run far/mm.json --no-record --allow-outside").exits(0);
    sandbox.run("import far/mm.json --out near").exits(1);
    sandbox.run("import far/mm.json --allow-outside --out nearer").exits(0);
    sandbox.run("import data/fmus/Lag.fmu --out x").exits(1).says("not a system of a format that is known");
    sandbox.run("import nothing.msim --out x").exits(1).says("E0201");
}

/// A lag that follows a file.
fn driven(shape: &str) -> String {
    format!(
        "step = {{ size = \"10 ms\" }}\nsystem = {{ stop = \"1 s\" }}\n[fmu.a]\nfile = \"Lag.fmu\"\n[[external]]\nto = \"a.u\"\n{shape}\n"
    )
}

#[test]
fn files_of_values_are_what_tables_are_and_a_resumed_run_has_the_same_bits() {
    let sandbox = sandbox();
    sandbox.write("data/fmus/v.csv", "time;u;\"other [km/h]\"\n0;1,5;x\n0,3;2;x\n0,8;-1;y\n");
    let cases = [
        ("file = \"v.csv\"\ncolumn = \"u\"", "table = [[0.0, 1.5], [0.3, 2.0], [0.8, -1.0]]"),
        ("file = \"v.csv\"", "table = [[0.0, 1.5], [0.3, 2.0], [0.8, -1.0]]"),
        (
            "file = \"v.csv\"\ncolumn = 2\ninterpolation = \"hold\"",
            "stairs = [[0.0, 1.5], [0.3, 2.0], [0.8, -1.0]]",
        ),
        (
            "file = \"v.csv\"\ntime_offset = \"100 ms\"\ngain = 2\noffset = -1",
            "table = [[0.1, 2.0], [0.4, 3.0], [0.9, -3.0]]",
        ),
    ];
    for (index, (file, table)) in cases.iter().enumerate() {
        for (name, shape) in [("file", file), ("table", table)] {
            sandbox.write(&format!("data/fmus/{name}.toml"), driven(shape));
            sandbox.run(&format!("run data/fmus/{name}.toml --method zoh --out {name}{index}")).exits(0);
        }
        assert_eq!(
            bits(&sandbox, &format!("file{index}")),
            bits(&sandbox, &format!("table{index}")),
            "{file}"
        );
    }
    // Stopped half way and resumed.
    sandbox.write("data/fmus/file.toml", driven(cases[2].0));
    sandbox.run("run data/fmus/file.toml --method zoh --time-limit 1us --out part").exits(4);
    sandbox.run("resume part").exits(0).says("resuming at t = ");
    assert_eq!(bits(&sandbox, "part"), bits(&sandbox, "file2"));
    // With other values it is not the same run.
    sandbox.run("run data/fmus/file.toml --method zoh --time-limit 1us --out changed").exits(4);
    sandbox.write("data/fmus/v.csv", "time;u;other\n0;7;x\n2;8;x\n");
    sandbox.run("resume changed").says("E0505");
    // A recording drives the next run.
    let recording = sandbox.path("file0/results.arrows");
    let shape = format!("file = {:?}\ncolumn = \"a.y\"", recording.display().to_string());
    sandbox.write("data/fmus/again.toml", driven(&shape));
    sandbox.run("run data/fmus/again.toml --method zoh --out again").exits(0);
}

#[test]
fn files_of_values_that_cannot_be_used_are_refused() {
    let sandbox = sandbox();
    sandbox.write("data/fmus/v.csv", "t,u,v\n0,1,2\n1,2,x\n");
    for (shape, says) in [
        ("file = \"none.csv\"", "E0201"),
        ("file = \"v.csv\"\ncolumn = \"v\"", "E0220"),
        ("file = \"v.csv\"\ncolumn = \"v\"", "v.csv:3"),
        ("file = \"v.csv\"\ncolumn = \"w\"", "E0506"),
        ("file = \"v.csv\"\ncolumn = 1", "is time"),
        ("file = \"v.csv\"\ncolumn = true", "E0205"),
        ("file = \"v.csv\"\ninterpolation = \"cubic\"", "\"linear\" or \"hold\""),
        ("file = \"v.csv\"\nvalue = 1", "exactly one of"),
        ("value = 1\ncolumn = \"u\"", "belongs to `file`"),
        ("file = \"Lag.fmu\"", "E0220"),
        ("file = \".\"", "not a file"),
        ("file = \"v.csv\"\ntime_offset = \"soon\"", "E0206"),
    ] {
        sandbox.write("data/fmus/x.toml", driven(shape));
        sandbox.run("check data/fmus/x.toml").exits(1).says(says);
    }
}

/// Largest difference between columns of a run and of reference results of MasterSim, relative to the range
/// of each.
fn deviation(sandbox: &Sandbox, folder: &str, reference: &Path, columns: &[&str]) -> f64 {
    let (names, rows) = recorded(sandbox, folder);
    let text = std::fs::read_to_string(reference).unwrap();
    let mut lines = text.lines();
    let heads: Vec<&str> =
        lines.next().unwrap().split('\t').map(|head| head.split(" [").next().unwrap().trim()).collect();
    let known: Vec<Vec<f64>> =
        lines.map(|line| line.split('\t').map(|cell| cell.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), known.len(), "{folder}");
    let mut worst = 0.0_f64;
    for column in columns {
        let ours =
            names.iter().position(|name| name == column).unwrap_or_else(|| panic!("{column} in {names:?}"));
        let theirs =
            heads.iter().position(|head| head == column).unwrap_or_else(|| panic!("{column} in {heads:?}"));
        let range = known.iter().map(|row| row[theirs].abs()).fold(f64::MIN_POSITIVE, f64::max);
        // MasterSim adds its steps up, and is a round-off beside a time such as 5 s: what happens there may
        // be a row earlier or later.
        for (k, row) in known.iter().enumerate() {
            let near = &rows[k.saturating_sub(1)..(k + 2).min(rows.len())];
            let error = near
                .iter()
                .map(|ours_row| (ours_row[ours] - row[theirs]).abs())
                .fold(f64::INFINITY, f64::min);
            worst = worst.max(error / range);
        }
    }
    worst
}

/// (from, to) of all connections of a project, sorted.
fn connections(sandbox: &Sandbox, project: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(sandbox.path(project)).unwrap();
    let value = |line: &str, key: &str| Some(line.strip_prefix(key)?.trim_matches('"').to_lowercase());
    let all = |key: &str| text.lines().filter_map(|line| value(line, key)).collect::<Vec<_>>();
    let mut pairs: Vec<_> = all("from = ").into_iter().zip(all("to = ")).collect();
    pairs.sort();
    pairs
}

#[test]
fn proposals_for_fmus_of_others_are_what_their_author_connects() {
    let Some(folder) = real_files("osp-demo-cases/tutorial-fmus") else { return };
    let sandbox = Sandbox::new();
    let files =
        ["Mass", "Spring", "Damper"].map(|name| folder.join(format!("{name}.fmu")).display().to_string());
    sandbox.run(&format!("new rig {} --no-copy", files.join(" "))).exits(0);
    sandbox.run(&format!("import {} --out theirs", folder.join("OspSystemStructure.xml").display()));
    let theirs = connections(&sandbox, "theirs/system.toml");
    assert_eq!(connections(&sandbox, "rig/system.toml"), theirs);
    // Its FMUs take no values after a reset.
    let system = folder.join("OspSystemStructure.xml");
    let done = sandbox.run(&format!("run {} --t-end 5s --no-record", system.display())).exits(0);
    assert!(done.stdout.contains("STABLE"), "{}", done.story());
    // Neither does its author say when it ends: what is imported runs all the same.
    sandbox.run("run theirs --no-record").exits(0);
    assert_eq!(theirs.len(), 8);
}

#[test]
fn reference_results_of_mastersim_are_met() {
    let Some(folder) = real_files("mastersim/data/tests/linux64") else { return };
    let sandbox = Sandbox::new();
    // What is held and exchanged alike gives the digits that MasterSim prints.
    for (file, schedule, columns, bound) in [
        (
            "Math_003_control_loop/Math003_GaussJacobi_1iters_fixedStep",
            "parallel",
            &["Part1.x1", "Part1.x2", "Part2.x3", "Part3.x4"][..],
            1e-12,
        ),
        ("OutputTests/DifferentTimeUnit", "parallel", &["Part1.x1", "Part1.x2"], 1e-12),
        (
            "DifferentVariableTypes/DifferentVariableTypesFeedThrough",
            "parallel",
            &["Generator.VReal", "FeedThrough.OutBool", "FeedThrough.OutInteger", "FeedThrough.OutReal"],
            0.0,
        ),
        (
            "DifferentVariableTypes/DifferentVariableTypes",
            "parallel",
            &["FourVars.VReal", "FourVars_2.VInteger"],
            0.0,
        ),
    ] {
        let (path, out) = (folder.join(file), file.rsplit('/').next().unwrap());
        let line = format!("run {}.msim --method zoh --schedule {schedule} --out {out}", path.display());
        sandbox.run(&line).exits(0);
        let reference = PathBuf::from(format!("{}.gcc_linux/results/values.csv", path.display()));
        let error = deviation(&sandbox, out, &reference, columns);
        assert!(error <= bound, "{file}: {error:e}");
    }
}

#[test]
fn the_crane_of_libcosim_has_the_parameters_of_its_structure() {
    let Some(folder) = real_files("libcosim/tests/data/ssp/demo") else { return };
    let sandbox = Sandbox::new();
    let file = folder.join("SystemStructure.ssd");
    // It refers to `../../fmi2`, and an annotation of OSP gives the step. FMUs of 20-sim forget what is set
    // too early.
    sandbox.run(&format!("run {} --t-end 10ms --method zoh --out crane", file.display())).exits(0);
    let (names, rows) = recorded(&sandbox, "crane");
    let limit = names.iter().position(|name| name == "KnuckleBoomCrane.Act_Limits[1]").unwrap();
    assert_eq!(rows.len(), 101);
    assert!(rows[1..].iter().all(|row| (row[limit] - 69.0).abs() < 1e-6), "{:?}", rows[1]);
}

#[test]
fn the_crane_of_libcosim_moves_as_in_libcosim() {
    let Some(folder) = real_files("libcosim/tests/data/ssp/demo") else { return };
    let sandbox = Sandbox::new();
    let file = folder.join("SystemStructure.ssd");
    let line =
        format!("run {} --method zoh --step 1e-4s --t-end 0.5s --no-verify --out crane", file.display());
    sandbox.run(&line).exits(0).says("KnuckleBoomCrane: warning [W0114]: `Act_Limits[1]` is 69");
    let (names, rows) = recorded(&sandbox, "crane");
    // By libcosim with its fixed-step algorithm after 1 and 5000 steps. Both FMUs set outputs on leaving
    // their initialisation.
    for (name, values) in [
        ("CraneController.p_Crane.e[2]", [352812.3758439413, -483902.9958635185]),
        ("KnuckleBoomCrane.p_Crane.f[2]", [0.0004522876859775041, 0.11519352450645022]),
        ("KnuckleBoomCrane.p_Crane.f[3]", [0.006328605945908474, -0.47244384798585815]),
        ("KnuckleBoomCrane.Act_Limits[1]", [68.99999999999999, 69.00000000010232]),
    ] {
        let column =
            names.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name} in {names:?}"));
        for (row, value) in [1, 5000].into_iter().zip(values) {
            let deviation = (rows[row][column] / value - 1.0_f64).abs();
            assert!(deviation < 1e-6, "{name} in row {row}: {deviation:e}");
        }
    }
}
