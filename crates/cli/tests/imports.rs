//! Systems and signals of other tools, used as a user does.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;
#[path = "../../import/tests/common/real.rs"]
mod real;

use std::path::Path;

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
    let imported = std::fs::read_to_string(sandbox.path("imported0/system.toml")).unwrap();
    let gains: Vec<&str> = imported.lines().filter(|line| line.starts_with("gain")).collect();
    assert_eq!(gains, ["gain = 0.5"], "{imported}");
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
    // From inside of its folder, by its whole path, by a path from here: the same.
    let check = |file: &str, folder: &str, more: &[&str]| {
        let mut command = sandbox.command([&["check", file], more].concat());
        command.current_dir(sandbox.path(folder));
        common::finished(command, file)
    };
    let near = sandbox.path("data/systems/OspSystemStructure.xml").display().to_string();
    let deep = sandbox.path("data/a/b/c/d/OspSystemStructure.xml").display().to_string();
    sandbox.write("data/a/b/c/d/OspSystemStructure.xml", OSP.replace("../fmus", "../../../../fmus"));
    for (file, folder, whole) in [
        ("OspSystemStructure.xml", "data/systems", &near),
        ("../systems/OspSystemStructure.xml", "data/fmus", &near),
    ] {
        check(file, folder, &[]).exits(0);
        check(whole, folder, &[]).exits(0);
    }
    // Four levels up is further than a file may ask for by itself.
    for file in ["OspSystemStructure.xml", &deep] {
        check(file, "data/a/b/c/d", &[]).exits(1).says("E0142").says("--allow-outside");
        check(file, "data/a/b/c/d", &["--allow-outside"]).exits(0);
    }
    check("data/a/b/c/d/OspSystemStructure.xml", ".", &[]).exits(0);
    sandbox.write(
        "far/a/b/c/mm.json",
        MULTI_MODEL.replace("../fmus", &sandbox.path("data/fmus").display().to_string()),
    );
    sandbox.run("run far/a/b/c/mm.json --no-record").exits(1).says("E0142");
    sandbox.run("run far/a/b/c/mm.json --no-record --allow-outside").exits(0);
    sandbox.run("import far/a/b/c/mm.json --out near").exits(1);
    sandbox.run("import far/a/b/c/mm.json --allow-outside --out nearer").exits(0);
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
    sandbox.write("data/fmus/v.xlsx", b"PK\x03\x04\0\0");
    for (shape, says) in [
        ("file = \"none.csv\"", "E0201"),
        ("file = \"V.csv\"", "did you mean `v.csv`?"),
        ("file = \"nodir/v.csv\"", "there is no folder"),
        ("file = \"v.xlsx\"", "as CSV"),
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

/// Times and values of columns of reference results of MasterSim.
fn reference_of_mastersim(file: &Path, columns: &[&str]) -> Vec<(f64, Vec<f64>)> {
    let text = std::fs::read_to_string(format!("{}.gcc_linux/results/values.csv", file.display())).unwrap();
    let mut lines = text.lines();
    let heads: Vec<&str> =
        lines.next().unwrap().split('\t').map(|head| head.split(" [").next().unwrap().trim()).collect();
    let place = |column: &&str| heads.iter().position(|head| head == column);
    let places: Vec<_> =
        columns.iter().map(|c| place(c).unwrap_or_else(|| panic!("{c} in {heads:?}"))).collect();
    let row = |line: &str| {
        let cells: Vec<f64> = line.split('\t').map(|cell| cell.parse().unwrap()).collect();
        (cells[0], places.iter().map(|place| cells[*place]).collect())
    };
    lines.map(row).collect()
}

/// The same columns of a run here.
fn columns_of(sandbox: &Sandbox, folder: &str, columns: &[&str]) -> Vec<(f64, Vec<f64>)> {
    let (names, rows) = recorded(sandbox, folder);
    let place = |column: &&str| names.iter().position(|name| name == column);
    let places: Vec<_> =
        columns.iter().map(|c| place(c).unwrap_or_else(|| panic!("{c} in {names:?}"))).collect();
    rows.iter().map(|row| (row[0], places.iter().map(|place| row[*place]).collect())).collect()
}

/// How far a run is from rows of another, relative to the range of each column; of its rows the nearest of so many
/// around, or what lies between two rows where times differ.
fn deviation(ours: &[(f64, Vec<f64>)], theirs: &[(f64, Vec<f64>)], around: Option<usize>) -> f64 {
    let columns = 0..theirs[0].1.len();
    columns.map(|c| column_deviation(ours, theirs, c, around)).fold(0.0, f64::max)
}

fn column_deviation(
    ours: &[(f64, Vec<f64>)],
    theirs: &[(f64, Vec<f64>)],
    c: usize,
    around: Option<usize>,
) -> f64 {
    let values = || theirs.iter().map(|row| row.1[c]);
    let range = values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min);
    let error = |(k, (t, row)): (usize, &(f64, Vec<f64>))| match around {
        Some(around) => {
            let near = &ours[k.saturating_sub(around)..(k + around + 1).min(ours.len())];
            near.iter().map(|our| (our.1[c] - row[c]).abs()).fold(f64::INFINITY, f64::min)
        }
        None => {
            let after = ours.partition_point(|our| our.0 <= *t).clamp(1, ours.len() - 1);
            let ((t0, v0), (t1, v1)) = (&ours[after - 1], &ours[after]);
            (v0[c] + (v1[c] - v0[c]) * (t - t0) / (t1 - t0) - row[c]).abs()
        }
    };
    assert!(around.is_none() || ours.len() == theirs.len(), "{} {}", ours.len(), theirs.len());
    theirs.iter().enumerate().map(error).fold(0.0, f64::max) / range.max(f64::MIN_POSITIVE)
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

const JACOBI: &str = "--method zoh --schedule parallel";
const SEIDEL: &str = "--method zoh --schedule sequential";

#[test]
fn reference_results_of_mastersim_in_equal_steps_are_met_to_the_digit() {
    let Some(folder) = real_files("mastersim/data/tests/linux64") else { return };
    let sandbox = Sandbox::new();
    let loops = &["Part1.x1", "Part1.x2", "Part2.x3", "Part3.x4"][..];
    let reader = &["RealInputVars.Result", "RealInputVars.V1", "RealInputVars.V2", "RealInputVars.V4"][..];
    let through = &["FeedThrough.OutBool", "FeedThrough.OutInteger", "FeedThrough.OutReal"][..];
    let in_order = format!("{SEIDEL}:Part1,Part2,Part3");
    // Two tries, whether they converge or not, from the last values on.
    let iterated = format!(
        "--method fixed-point:acceleration=none,inputs=held,predictor=hold,max_iterations=2,tolerance=1e-6 {}",
        in_order.strip_prefix("--method zoh ").unwrap()
    );
    // MasterSim adds its steps up, and is a round-off beside a time such as 5 s: what the control loop does there may be
    // a row earlier or later. Files are slaves that step first under GAUSS_SEIDEL: values at the ends of steps.
    for (file, settings, columns, around, bound) in [
        ("Math_003_control_loop/Math003_GaussJacobi_1iters_fixedStep", JACOBI, loops, 1, 1e-12),
        ("Math_003_control_loop/Math003_GaussSeidel_1iters_fixedStep", &*in_order, loops, 1, 1e-12),
        ("Math_003_control_loop/Math003_GaussSeidel_2iters_fixedStep", &*iterated, loops, 1, 1e-12),
        ("OutputTests/DifferentTimeUnit", SEIDEL, &loops[..2], 1, 1e-12),
        ("DifferentVariableTypes/DifferentVariableTypesFeedThrough", JACOBI, through, 0, 0.0),
        (
            "DifferentVariableTypes/DifferentVariableTypes",
            JACOBI,
            &["FourVars.VReal", "FourVars_2.VInteger"],
            0,
            0.0,
        ),
        ("DifferentVariableTypes/DifferentVariableTypesFromCSV", SEIDEL, through, 0, 0.0),
        ("FileReaderSlave/FileReaderSeveralVars", SEIDEL, reader, 0, 1e-12),
        ("FileReaderSlave/FileReaderUnusedVars", SEIDEL, reader, 0, 1e-12),
        ("FileReaderSlave/FileReaderUnusedVarsWriteAll", SEIDEL, reader, 0, 1e-12),
    ] {
        let (path, out) = (folder.join(file), file.rsplit('/').next().unwrap());
        sandbox.run(&format!("run {}.msim {settings} --out {out}", path.display())).exits(0);
        let (ours, theirs) = (columns_of(&sandbox, out, columns), reference_of_mastersim(&path, columns));
        let error = deviation(&ours, &theirs, Some(around));
        assert!(error <= bound, "{file}: {error:e}");
    }
    // The order that MasterSim steps them in is what the note says.
    let file = folder.join("Math_003_control_loop/Math003_GaussSeidel_1iters_fixedStep.msim");
    let inspected = sandbox.run(&format!("inspect {}", file.display())).exits(0);
    assert!(inspected.stdout.contains(&format!("`{in_order}` is GAUSS_SEIDEL")), "{}", inspected.story());
}

#[test]
fn reference_results_of_mastersim_in_adapted_steps_are_met() {
    let Some(folder) = real_files("mastersim/data/tests/linux64") else { return };
    let sandbox = Sandbox::new();
    // Its iteration, which it gives up in steps below `hFallBackLimit`; the steps adapt as the file says.
    let iterated = "fixed-point:acceleration=none,inputs=held,predictor=hold,max_iterations=2,tolerance=1e-5,\
                    without_convergence=halve,accept_below=1e-4";
    let in_order = format!("--method {iterated} --schedule sequential:Part1,Part2,Part3");
    let (adaptive, richardson) = ("GaussSeidel_2iters_adaptive", "GaussSeidel_2iters_adaptive_Richardson");
    // The relays of the control loop jump at times that only the integrator can be compared through, with an error
    // control to the tolerance of the file. Without one MasterSim takes steps up to 0.14 s, and is itself 12 % beside
    // its results with one: by the same rule the same steps are taken, one by one.
    for (file, settings, bound) in [(richardson, "", 1e-4), (adaptive, "--control convergence", 1e-10)] {
        let path = folder.join(format!("Math_003_control_loop/Math003_{file}"));
        let done =
            sandbox.run(&format!("run {}.msim {in_order} {settings} --out {file}", path.display())).exits(0);
        let theirs = reference_of_mastersim(&path, &["Part3.x4"]);
        let ours = columns_of(&sandbox, file, &["Part3.x4"]);
        let error = deviation(&ours, &theirs, None);
        assert!(error <= bound, "{file}: {error:e}\n{}", done.story());
        assert!(ours.len() < 2 * theirs.len(), "{file}: {} steps for {}", ours.len(), theirs.len());
    }
    let [theirs, better] = [adaptive, richardson].map(|file| {
        reference_of_mastersim(&folder.join(format!("Math_003_control_loop/Math003_{file}")), &["Part3.x4"])
    });
    assert!(deviation(&better, &theirs, None) > 0.11);
    // Prey and predator, adapted as the file says: nearer to the exact solution than the reference.
    let columns = ["Prey.x", "Predator.y"];
    let path = folder.join("ProjectFile/LV_Richardson_5iter");
    sandbox.run(&format!("run {}.msim --out lv", path.display())).exits(0);
    let (ours, theirs) = (columns_of(&sandbox, "lv", &columns), reference_of_mastersim(&path, &columns));
    let exact = lotka_volterra(1e-2, 10_000);
    let [error, their_error] = [&ours, &theirs].map(|rows| deviation(&exact, rows, None));
    assert!(error < 2e-4 && their_error > 0.015, "{error:e} {their_error:e}");
    assert!(deviation(&ours, &theirs, None) < 0.02);
    // The prey with a file in the place of the predator, in both spellings of CSV.
    for file in ["LV_Richardson_PredatorFromFile_noiter", "LV_Richardson_PredatorFromFile_noiter_excelcsv"] {
        let path = folder.join("FileReaderSlave").join(file);
        sandbox.run(&format!("run {}.msim --out {file}", path.display())).exits(0);
        let theirs = reference_of_mastersim(&path, &columns[..1]);
        let error = deviation(&columns_of(&sandbox, file, &columns[..1]), &theirs, None);
        assert!(error < 2e-3, "{file}: {error:e}");
    }
}

/// The exact solution (Runge and Kutta, ten steps per row) of the equations that MasterSim gives for prey and predator.
fn lotka_volterra(row: f64, rows: usize) -> Vec<(f64, Vec<f64>)> {
    let slope = |[x, y]: [f64; 2]| [x * (0.1 - 0.02 * y), y * (0.02 * x - 0.4)];
    let along = |x: [f64; 2], k: [f64; 2], h: f64| [x[0] + h * k[0], x[1] + h * k[1]];
    let (mut x, h) = ([10.0; 2], 0.1 * row);
    let mut all = vec![(0.0, x.to_vec())];
    for k in 1..=rows {
        for _ in 0..10 {
            let a = slope(x);
            let b = slope(along(x, a, 0.5 * h));
            let c = slope(along(x, b, 0.5 * h));
            let d = slope(along(x, c, h));
            x = [0, 1].map(|i| x[i] + h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]));
        }
        all.push((k as f64 * row, x.to_vec()));
    }
    all
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
