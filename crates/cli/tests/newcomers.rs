//! What people met who used the program for the first time: each of these went wrong once.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Running, Sandbox, finished};
use serde_json::Value;

/// A copy of an FMU with other bytes in some of its files.
fn changed_fmu(sandbox: &Sandbox, from: &str, to: &str, mut change: impl FnMut(&str, Vec<u8>) -> Vec<u8>) {
    let mut old = zip::ZipArchive::new(fs::File::open(sandbox.path(from)).unwrap()).unwrap();
    let mut new = zip::ZipWriter::new(fs::File::create(sandbox.path(to)).unwrap());
    for index in 0..old.len() {
        let mut entry = old.by_index(index).unwrap();
        let (name, mut bytes) = (entry.name().unwrap().into_owned(), Vec::new());
        entry.read_to_end(&mut bytes).unwrap();
        new.start_file(name.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
        new.write_all(&change(&name, bytes)).unwrap();
    }
    new.finish().unwrap();
}

fn in_description(name: &str, bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    if name != "modelDescription.xml" {
        return bytes;
    }
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1).into_bytes()
}

/// A sandbox with the two FMUs of the dual-mass oscillator.
fn desk_with_fmus() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out fmus --quiet").exits(0);
    sandbox
}

#[test]
fn what_inspect_finds_wrong_check_and_run_refuse() {
    let sandbox = desk_with_fmus();
    changed_fmu(&sandbox, "fmus/s1.fmu", "fmus/twice.fmu", |name, bytes| {
        in_description(name, bytes, "name=\"v\"", "name=\"x\"")
    });
    changed_fmu(&sandbox, "fmus/s1.fmu", "fmus/unitless.fmu", |name, bytes| {
        in_description(name, bytes, "unit=\"m/s\"", "unit=\"furlong\"")
    });
    for (fmu, code) in [("twice", "E0120"), ("unitless", "E0126")] {
        let card = sandbox.run(&format!("inspect fmus/{fmu}.fmu --json"));
        let found = card.json()["findings"][0].clone();
        assert_eq!(found["code"], code, "{}", card.story());
        let is_error = found["severity"] == "error";
        sandbox.run(&format!("new {fmu} fmus/{fmu}.fmu fmus/s2.fmu --quiet")).exits(i32::from(is_error));
        let checked = sandbox.run(&format!("check {fmu} --json")).exits(i32::from(is_error)).json();
        let list = if is_error { "errors" } else { "warnings" };
        assert!(checked[list].to_string().contains(found["message"].as_str().unwrap()), "{checked}");
        sandbox.run(&format!("run {fmu} --no-record")).exits(i32::from(is_error));
    }
    // Names that are there twice cannot be taken as they are.
    sandbox.run("run twice --set fmu.twice.validate=false").exits(1).says("error[E0120]");
}

#[test]
#[cfg(target_os = "linux")]
fn check_sees_binaries_that_cannot_be_loaded_without_loading_them() {
    let sandbox = desk_with_fmus();
    let is_library = |name: &str| name.starts_with("binaries/") && name.ends_with(".so");
    type Damage = fn(Vec<u8>) -> Vec<u8>;
    let kinds: [(&str, Damage, &str); 4] = [
        ("text", |_| b"echo hello".to_vec(), "not an ELF file but text"),
        ("empty", |_| Vec::new(), "the file is empty"),
        ("cut", |bytes| bytes[..bytes.len() / 2].to_vec(), "cut off"),
        (
            "foreign",
            |mut bytes| {
                bytes[18] = 8;
                bytes
            },
            "unknown architecture",
        ),
    ];
    for (name, change, words) in kinds {
        let file = format!("fmus/{name}.fmu");
        changed_fmu(
            &sandbox,
            "fmus/s1.fmu",
            &file,
            |entry, bytes| {
                if is_library(entry) { change(bytes) } else { bytes }
            },
        );
        sandbox.run(&format!("new {name} {file} fmus/s2.fmu --quiet")).exits(1);
        sandbox.run(&format!("check {name}")).exits(1).says("error[E0111]").says(words);
        sandbox.run(&format!("run {name}")).exits(1).says("error[E0111]");
    }
}

/// As an export for another system leaves it, or one of source code.
#[cfg(target_os = "linux")]
#[test]
fn an_fmu_without_binaries_for_this_platform_is_told_by_what_it_has() {
    let sandbox = desk_with_fmus();
    for (name, place, cause) in [
        ("win", "binaries/x86_64-windows/", "it has binaries for x86_64-windows"),
        ("none", "elsewhere/", "it has neither binaries nor sources"),
    ] {
        let file = format!("fmus/{name}.fmu");
        let mut old = zip::ZipArchive::new(fs::File::open(sandbox.path("fmus/s1.fmu")).unwrap()).unwrap();
        let mut new = zip::ZipWriter::new(fs::File::create(sandbox.path(&file)).unwrap());
        for index in 0..old.len() {
            let mut entry = old.by_index(index).unwrap();
            let (moved, mut bytes) =
                (entry.name().unwrap().replace("binaries/x86_64-linux/", place), Vec::new());
            entry.read_to_end(&mut bytes).unwrap();
            new.start_file(moved, zip::write::SimpleFileOptions::default()).unwrap();
            new.write_all(&bytes).unwrap();
        }
        new.finish().unwrap();
        let done = sandbox.run(&format!("run {file} --no-record")).exits(1);
        done.says("error[E0110]: the FMU has no binary for this platform").says(cause).says("help: export");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn check_sees_libraries_that_an_fmu_needs_and_that_are_not_here() {
    let sandbox = desk_with_fmus();
    let elsewhere = |name: &str, mut bytes: Vec<u8>| {
        if name.ends_with(".so") {
            let mark = b"\0libc.so.6\0";
            let at = bytes.windows(mark.len()).position(|window| window == mark).unwrap();
            bytes[at + 4] = b'q';
        }
        bytes
    };
    changed_fmu(&sandbox, "fmus/s1.fmu", "fmus/needy.fmu", elsewhere);
    sandbox.run("check fmus/s1.fmu").exits(0);
    let done = sandbox.run("check fmus/needy.fmu").exits(1).says("error[E0111]").says("needs `libq.so.6`");
    assert!(!done.stdout.contains("ok"), "{}", done.story());
    let probed = sandbox.run("check fmus/needy.fmu --probe --json").exits(1).json();
    assert_eq!(probed["ok"], false, "{probed}");
    sandbox
        .run("run fmus/needy.fmu --no-record")
        .exits(1)
        .says("E0111")
        .says("needs `libq.so.6`, not found here");
    // In a project both name its line.
    sandbox.run("new needy fmus/needy.fmu fmus/s2.fmu --quiet");
    for verb in ["check", "run"] {
        let done = sandbox.run(&format!("{verb} needy")).exits(1).says("needs `libq.so.6`, not found here");
        done.says("needy/system.toml:").says("[fmu.needy]").says("cause: the FMU is needy/needy.fmu");
    }
}

#[test]
fn connections_are_proposed_for_model_exchange_too() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --kind me --out fmus --quiet").exits(0);
    let made = sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu --json").exits(0).json();
    assert_eq!((&made["connections"], &made["problems"]), (&3.into(), &Value::Array(Vec::new())));
    let run = sandbox.run("run pair --no-record --json").exits(0).json();
    assert_eq!((&run["verdict"], &run["macro_steps"]), (&"stable".into(), &100.into()));
}

#[test]
fn names_of_files_may_be_any_text() {
    let sandbox = desk_with_fmus();
    for (index, name) in
        ["Ünï cödé", "quo\"te\\]", "a.b#c", "'", "日本語", "e\u{301}", "new\nline", &"ä".repeat(60)]
            .iter()
            .enumerate()
    {
        let (file, folder) = (format!("{name}.fmu"), format!("p{index}"));
        fs::copy(sandbox.path("fmus/s1.fmu"), sandbox.path(&file)).unwrap();
        let made = sandbox.command(["new", &folder, &file, "fmus/s2.fmu", "--json"]);
        let made = finished(made, &file).exits(0).json();
        assert_eq!(
            (&made["connections"], &made["problems"]),
            (&3.into(), &Value::Array(Vec::new())),
            "{name}"
        );
        sandbox.run(&format!("run {folder} --quiet")).exits(0);
        // The copy in the folder of the run is read back.
        sandbox.run(&format!("run {folder}/run.toml --out again{index} --quiet")).exits(0);
    }
    let odd = sandbox.command(["run", "dual-mass", "--out", "a b\nc/ü", "--quiet"]);
    finished(odd, "odd folder").exits(0);
    assert!(sandbox.path("a b\nc/ü/results.arrows").exists());
}

#[test]
fn a_verdict_is_given_only_where_one_is_possible() {
    let sandbox = desk_with_fmus();
    sandbox.run("new alone fmus/s1.fmu --quiet").exits(0);
    let run = sandbox.run("run alone --no-record --json").exits(0).json();
    assert_eq!(run["verdict"], "not judged");
    assert!(run["message"].as_str().unwrap().contains("nothing is connected"), "{run}");
    let one = sandbox.run("compare alone --t-end 20ms --json").exits(0).json();
    assert_eq!(one["runs"].as_array().unwrap().len(), 1, "{one}");
    let two = fs::read_to_string(sandbox.path("alone/system.toml")).unwrap();
    sandbox.write("alone/apart.toml", format!("{two}\n[fmu.other]\nfile = \"s1.fmu\"\n"));
    sandbox
        .run("compare alone/apart.toml")
        .exits(1)
        .says("E0304")
        .says("nothing is connected")
        .says("[[connect]]");
    for verb in
        ["run dual-mass --t-end 5ms --no-record", "run dual-mass --t-end 5ms --no-record --reference same"]
    {
        let run = sandbox.run(&format!("{verb} --json")).exits(0).json();
        assert_eq!(run["verdict"], "not judged", "{verb}");
        let done = sandbox.run(verb).exits(0);
        assert!(
            done.stdout.contains("verdict  NOT JUDGED") && done.stdout.contains("too few"),
            "{}",
            done.story()
        );
    }
    let few = sandbox.run("compare dual-mass --t-end 5ms --methods predictive --json").exits(0).json();
    assert_eq!(few["runs"][0]["verdict"], "not judged");
}

#[test]
fn a_stable_run_far_from_the_reference_is_no_good_news() {
    let sandbox = Sandbox::new();
    let object = sandbox.run("compare dual-mass --methods zoh,predictive --steps 2ms --json").exits(0).json();
    let verdicts: Vec<_> =
        object["runs"].as_array().unwrap().iter().map(|run| run["verdict"].clone()).collect();
    assert_eq!(verdicts, ["inaccurate", "stable"]);
    let error = object["runs"][0]["eps_mono"].as_f64().unwrap();
    assert!(error > 0.1, "{error}");
    let table = sandbox.run("compare dual-mass --methods zoh --steps 2ms").exits(0);
    assert!(table.stdout.contains("INACCURATE: far from the reference"), "{}", table.story());
    let run = sandbox.run("run dual-mass --method zoh --step 2ms --reference same --no-record").exits(3);
    assert!(run.stdout.contains("verdict  INACCURATE"), "{}", run.story());
}

#[test]
#[cfg(target_os = "linux")]
fn one_folder_takes_one_run_at_a_time() {
    let sandbox = desk_with_fmus();
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu --quiet").exits(0);
    for system in ["dual-mass", "pair"] {
        let out = format!("rig-{system}");
        let first = sandbox.start(&format!("run {system} --t-end 1h --out {out} --quiet"));
        wait_for(&sandbox.path(&out).join("results.arrows"));
        let busy = sandbox.run(&format!("run dual-mass --out {out}")).exits(1).says("error[E0219]");
        assert!(busy.stderr.contains("process "), "{}", busy.story());
        sandbox.run(&format!("compare dual-mass --methods zoh --out {out}")).exits(1).says("error[E0219]");
        sandbox.run(&format!("resume {out}")).exits(1).says("error[E0219]");
        first.kill();
        // Nothing has to be tidied up after a kill; the process with the FMUs may take a moment to notice.
        let start = Instant::now();
        while sandbox.run(&format!("run dual-mass --out {out} --quiet")).status.code() != Some(0) {
            assert!(start.elapsed() < Duration::from_secs(20), "the lock of a dead run stays");
        }
    }
}

fn wait_for(file: &Path) {
    let start = Instant::now();
    while !file.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "{} does not appear", file.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn times_that_cannot_be_are_refused_in_our_words() {
    let sandbox = Sandbox::new();
    sandbox.run("run dual-mass --out rig --quiet").exits(0);
    for (line, words) in [
        ("check dual-mass --set step.size=10s", "a step of 10 s is longer than the run of 100 ms"),
        ("run dual-mass --step 1e300", "a step of 1e300 s is longer than the run of 100 ms"),
        ("compare dual-mass --steps 1ms,1s", "a step of 1 s is longer than the run"),
        ("check dual-mass --t-end -1", "the run stops at -1 s, before it starts at 0 s"),
        ("run dual-mass --t-end 0", "the run stops at 0 s, where it starts: there is nothing to simulate"),
        ("run dual-mass --t-end 0", "give a stop after 0 s: `--t-end 10s`"),
        ("check dual-mass --t-end 5s --set system.start=20s", "give a stop after 20 s: `--t-end 30s`"),
        ("run dual-mass --t-end inf", "only finite numbers can be used: write a number and a unit"),
        ("run dual-mass --t-end NaN", "`NaN` is not a time"),
        ("check dual-mass --set system.start=2s", "the run stops at 100 ms, before it starts at 2 s"),
        ("run dual-mass --step -1ms", "a step of -1 ms is not possible"),
        ("compare dual-mass --steps -1ms", "a step of `-1ms` is not possible"),
        ("run dual-mass --t-end 1e300", "a step of 1 ms is lost in round-off at 1e300 s"),
        ("run dual-mass --step 1e-300", "a step of 1e-300 s is lost in round-off at 100 ms"),
        ("run dual-mass --step 1e308h", "`1e308h` is not a time"),
        ("run dual-mass --set ck=-1", "parameter `ck` of model `dual-mass` cannot be -1"),
        ("run dual-mass --threads -1", "--threads -1"),
        ("run dual-mass --time-limit -1s", "a wall time is at least 0"),
        ("plot rig --from 5s", "no point lies between `--from` and `--to`"),
        ("plot rig --to -1ms", "no point lies between `--from` and `--to`"),
        ("resume rig", "error[E0507]: the run is complete"),
    ] {
        sandbox.run(line).exits(1).says(words);
        let object = sandbox.run(&format!("{line} --json")).exits(1).json();
        assert!(object["errors"].to_string().contains(&words.replace("error[E0507]: ", "")), "{object}");
    }
    // A negative value where one makes sense.
    sandbox.run("run dual-mass --set v1=-1 --no-record --quiet").exits(0);
}

#[test]
fn very_large_and_very_small_numbers_are_printed_as_such() {
    let sandbox = Sandbox::new();
    for size in ["1e-300", "1e150", "1e300"] {
        let done = sandbox.run(&format!("compare dual-mass --set x1={size} --methods zoh")).exits(0);
        assert!(!done.stdout.contains("NaN") && !done.stdout.contains("inf"), "{}", done.story());
        assert!(done.stdout.lines().all(|line| line.chars().count() < 120), "{}", done.story());
        // The same system but for its size: the same relative errors.
        assert!(done.stdout.contains("6.7e-2    4.8e-1"), "{}", done.story());
    }
}

#[test]
fn an_import_leaves_the_folder_of_a_run_alone() {
    let sandbox = desk_with_fmus();
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu --quiet").exits(0);
    sandbox.run("export --ssp pair --to pair.ssp --quiet").exits(0);
    sandbox.run("run dual-mass --out rig --quiet").exits(0);
    sandbox.run("import pair.ssp --out rig").exits(1).says("error[E0218]").says("is the folder of a run");
    assert!(!sandbox.path("rig/system.toml").exists() && !sandbox.path("rig/s1.fmu").exists());
    sandbox.run("import pair.ssp --out fresh --quiet").exits(0);
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_comparisons_and_studies() {
    let sandbox = Sandbox::new();
    for line in [
        "compare dual-mass --methods zoh,foh --steps 1ms,1us --t-end 5s --reference none",
        "reproduce all --out studies",
    ] {
        for json in ["", " --json"] {
            let (out, line) = (sandbox.path("out"), format!("{line}{json}"));
            let mut command = sandbox.command(line.split_whitespace());
            command.stdout(fs::File::create(&out).unwrap());
            let running = Running::of(command);
            std::thread::sleep(Duration::from_secs(2));
            running.signal("INT");
            assert_eq!(running.wait().code(), Some(130), "{line}");
            let text = fs::read_to_string(&out).unwrap();
            if !json.is_empty() {
                let object: Value =
                    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e}\n{text}"));
                assert_eq!(object["errors"][0]["code"], "E0604", "{line}");
            }
            if line.starts_with("compare") {
                assert!(text.contains("zoh") && text.contains("foh"), "what was finished is lost: {text}");
            }
        }
    }
}

#[test]
fn run_and_compare_do_the_same_run() {
    let sandbox = desk_with_fmus();
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu --quiet").exits(0);
    for system in ["pair", "dual-mass", "coupled-pendula"] {
        let ran = sandbox.run(&format!("run {system} --reference same --no-record --json")).json();
        let compared = sandbox.run(&format!("compare {system} --methods auto --json")).exits(0).json();
        for key in ["solver", "t_end", "reference", "parameters"] {
            assert_eq!(ran[key], compared[key], "{system}: {key}");
        }
        for key in ["method", "step", "verdict", "eps_mono", "macro_steps", "subsystem_steps"] {
            assert_eq!(ran[key], compared["runs"][0][key], "{system}: {key}");
        }
    }
}

#[test]
fn runs_of_different_systems_do_not_share_a_reference_silently() {
    let sandbox = Sandbox::new();
    sandbox.run("run dual-mass --out a --quiet").exits(0);
    sandbox.run("run dual-mass --method zoh --step 1ms --out b --quiet").exits(0);
    sandbox.run("run dual-mass --set ck=2e5 --out c --quiet").exits(0);
    let note = "the reference belongs to the first";
    for (runs, differ) in [("a b", false), ("a c", true)] {
        sandbox.run(&format!("plot {runs} --reference --out plot.svg --quiet")).exits(0);
        assert_eq!(fs::read_to_string(sandbox.path("plot.svg")).unwrap().contains(note), differ, "{runs}");
    }
}

/// The verbs in an order in which each finds what its examples need.
const VERBS: [&str; 26] = [
    "demo",
    "export-fmu",
    "new",
    "check",
    "run",
    "resume",
    "compare",
    "advise",
    "map",
    "doe",
    "stability",
    "identify",
    "methods",
    "models",
    "export",
    "import",
    "survey",
    "graph",
    "plot",
    "report",
    "inspect",
    "explain",
    "reproduce",
    "schema",
    "completions",
    "man",
];

/// The commands in the help of a verb.
fn examples(sandbox: &Sandbox, verb: &str) -> Vec<String> {
    let help = sandbox.run(&format!("{verb} --help")).exits(0).stdout;
    let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{verb} has no examples"));
    let lines: Vec<_> =
        examples.lines().filter_map(|line| line.strip_prefix("  costep ")).map(str::to_owned).collect();
    assert!(!lines.is_empty(), "{verb}");
    lines
}

/// Runs the examples of all verbs as a shell would.
fn follow(more: &str, mut look: impl FnMut(&str, common::Done)) {
    let sandbox = Sandbox::new();
    for verb in VERBS {
        for line in examples(&sandbox, verb) {
            let words =
                line.split_whitespace().map(|word| word.trim_matches('\'')).chain(more.split_whitespace());
            look(verb, finished(sandbox.command(words), &line));
        }
    }
}

#[test]
fn the_examples_of_every_verb_work() {
    let listed = Sandbox::new().run("--help").exits(0).stdout;
    let verbs =
        listed.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs: Vec<_> =
        verbs.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help").collect();
    assert!(verbs.iter().all(|verb| VERBS.contains(verb)) && verbs.len() == VERBS.len(), "{verbs:?}");
    follow("", |verb, done| {
        done.exits(if verb == "resume" { 4 } else { 0 });
    });
}

#[test]
fn every_verb_prints_one_json_document() {
    follow("--json", |verb, done| {
        let done = done.exits(if verb == "resume" { 4 } else { 0 });
        let value: Value =
            serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}\n{}", done.story()));
        assert!(value.is_object() || value.is_array(), "{}", done.story());
        assert_eq!(done.stderr, "", "{}", done.story());
    });
    let sandbox = Sandbox::new();
    for verb in VERBS {
        let line = match verb {
            "demo" => "demo --out /dev/null/x".into(),
            "export-fmu" => "export-fmu nothing --out x".into(),
            "new" => "new x nothing.fmu".into(),
            "export" => "export nothing --to x.csv".into(),
            "import" | "identify" => format!("{verb} nothing --out x"),
            verb => format!("{verb} nothing"),
        };
        let object = sandbox.run(&format!("{line} --json")).exits(1).json();
        assert!(object["errors"][0]["code"].as_str().unwrap().starts_with('E'), "{line}: {object}");
        let object = sandbox.run(&format!("{verb} --wrong --json")).exits(1).json();
        assert_eq!(object["errors"][0]["code"], "E0200", "{verb}: {object}");
    }
}

#[test]
fn pictures_say_where_they_are_and_which_inputs_are_open() {
    let sandbox = desk_with_fmus();
    sandbox
        .run("graph fmus/s1.fmu")
        .exits(0)
        .says("wrote s1.svg in the present folder (`--out` names another)");
    let picture = fs::read_to_string(sandbox.path("s1.svg")).unwrap();
    assert!(picture.contains("input without a source") && !picture.contains("external input"), "{picture}");
    sandbox.run("graph dual-mass --out there.svg").exits(0).says("wrote there.svg: 2 parts");
}

#[test]
fn times_are_printed_as_they_were_typed() {
    let sandbox = desk_with_fmus();
    let done = sandbox.run("run fmus/s1.fmu --t-end 33.3ms --step 3.33ms --out out").exits(0);
    done.says("up to t = 0.0333 s");
    assert!(sandbox.run("inspect out").exits(0).stdout.contains("t = 0 s to 0.0333 s"));
}

#[test]
fn the_folder_of_an_unpacked_fmu_is_recognised() {
    let sandbox = desk_with_fmus();
    sandbox.write("engine/modelDescription.xml", "<fmiModelDescription/>");
    for line in ["run engine", "inspect engine", "new rig engine fmus/s2.fmu"] {
        sandbox.run(line).exits(1).says("it looks like an FMU that was unpacked");
    }
}

#[test]
fn many_warnings_of_a_kind_leave_the_result_in_sight() {
    let sandbox = desk_with_fmus();
    let parts: String = (0..5)
        .map(|i| format!("<Simulator name=\"p{i}\" source=\"fmus/s1.fmu\" stepSize=\"0.5\"/>"))
        .collect();
    let namespace = "http://opensimulationplatform.com/MSMI/OSPSystemStructure";
    sandbox.write(
        "OspSystemStructure.xml",
        format!(
            "<OspSystemStructure xmlns=\"{namespace}\" version=\"0.1\"><BaseStepSize>1e-3</BaseStepSize>\
             <Simulators>{parts}</Simulators></OspSystemStructure>"
        ),
    );
    let run = sandbox.run("run OspSystemStructure.xml --t-end 10ms --no-record").exits(0);
    assert_eq!(run.stderr.matches("warning[W0141]").count(), 1, "{}", run.story());
    run.says(
        "4 more of W0141, about `p1`, `p2`, `p3`, `p4`: `costep check OspSystemStructure.xml --t-end 10ms` shows them",
    );
    let check = sandbox.run("check OspSystemStructure.xml").exits(0);
    assert_eq!(check.stderr.matches("warning[W0141]").count(), 5, "{}", check.story());
    // The same defect has the same code wherever it is met.
    let import = sandbox.run("import OspSystemStructure.xml --out imported").exits(0);
    assert_eq!(import.stdout.matches("warning[W0141]").count(), 5, "{}", import.story());
    assert!(fs::read_to_string(sandbox.path("imported/system.toml")).unwrap().contains("# warning[W0141]"));
    // Nothing is said of how it is stepped that is not so.
    check.says("`p0` is stepped with the others in every macro step, not every 0.5 s as its `stepSize` says");
}

#[test]
fn inspect_shows_the_project_of_a_folder_and_not_its_last_run() {
    let sandbox = desk_with_fmus();
    sandbox.run("new fmus/pair fmus/s1.fmu fmus/s2.fmu --quiet").exits(0);
    sandbox
        .run("run fmus/pair --method zoh --step 1ms --t-end 20ms --reference none --out fmus/pair")
        .exits(0);
    let stop = |folder: &str| sandbox.run(&format!("inspect {folder} --json")).exits(0).json();
    let shown = stop("fmus/pair");
    let named = stop("fmus/pair/system.toml");
    assert_eq!(shown["project"], named["project"]);
    assert_ne!(shown["project"], stop("fmus/pair/run.toml")["project"]);
    assert!(shown["recording"].is_object(), "{shown}");
}

#[test]
fn open_inputs_are_shown_whole_and_counted() {
    let sandbox = desk_with_fmus();
    let part = "a_part_whose_name_is_so_long_that_a_line_has_room_for_one_only";
    sandbox.write(
        "one/system.toml",
        format!("[system]\nstop = 1\n[step]\nsize = 0.1\n[fmu.{part}]\nfile = \"../fmus/s2.fmu\"\n"),
    );
    sandbox
        .run("check one")
        .says(&format!("these 2 inputs stay at their start value: {part}.x = 0 and 1 more"));
    let found = sandbox.run("check one --json").json();
    assert_eq!(found["open_inputs"], serde_json::json!([format!("{part}.x"), format!("{part}.v")]));
}

#[test]
fn models_that_were_never_trusted_are_spoken_of() {
    let sandbox = Sandbox::new();
    let line = "run dual-mass --step 1ms --t-end 10ms --no-record --method";
    let done = sandbox.run(&format!("{line} prestep --models rls"));
    done.says("the identified model was never trusted: all inputs were held").says("warning[W0770]");
    assert!(!sandbox.run(&format!("{line} prestep")).story().contains("never trusted"));
}

#[test]
fn a_copied_fmu_that_is_old_is_told() {
    let sandbox = desk_with_fmus();
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu --quiet").exits(0);
    assert!(!sandbox.run("check pair").exits(0).story().contains("W0209"));
    sandbox.run("export-fmu dual-mass --part s1 --set m1=11 --out fmus --quiet").exits(0);
    let done = sandbox.run("run pair --no-record").exits(0);
    let done = done.says("warning[W0209]: `../fmus/s1.fmu` has changed since it was copied into the project");
    let done = done.says("system.toml:14").says("copy `pair/../fmus/s1.fmu` over `pair/s1.fmu`");
    assert_eq!(done.stderr.matches("W0209").count(), 1, "{}", done.story());
    fs::copy(sandbox.path("fmus/s1.fmu"), sandbox.path("pair/s1.fmu")).unwrap();
    assert!(!sandbox.run("check pair").exits(0).story().contains("W0209"));
    // Where the original is not there, nobody knows.
    fs::remove_dir_all(sandbox.path("fmus")).unwrap();
    assert!(!sandbox.run("check pair").exits(0).story().contains("W0209"));
    // What is used where it is, is no copy.
    sandbox.run("export-fmu dual-mass --out fmus --quiet").exits(0);
    sandbox.run("new other fmus/s1.fmu --no-copy --quiet").exits(0);
    assert!(!fs::read_to_string(sandbox.path("other/system.toml")).unwrap().contains("copied_from"));
}

#[test]
fn an_fmu_of_python_without_its_code_is_told() {
    let sandbox = desk_with_fmus();
    changed_fmu(&sandbox, "fmus/s1.fmu", "fmus/bare.fmu", |name, bytes| {
        in_description(name, bytes, "generationTool=\"", "generationTool=\"PythonFMU 0.7 and ")
    });
    sandbox.run("new bare fmus/bare.fmu --quiet").exits(0);
    sandbox
        .run("check bare")
        .exits(0)
        .says("warning[W0108]: the FMU was made by PythonFMU, but carries no Python code")
        .says("pythonfmu build -f FILE.py");
}
