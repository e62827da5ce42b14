//! What an attack on the first version found: one test per finding, named after it.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;
#[path = "common/rig.rs"]
mod rig;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

use common::{Sandbox, finished, left_over};
use costep_results::{Column, Recording, Table};
use rig::Rig;

#[test]
fn memory_of_the_default_method_is_linear_in_the_signals() {
    // 1,000 signals took 2.5 GB once.
    for flag in ["", "-DUNKNOWN_DEPENDENCIES"] {
        let rig = Rig::new(5000, &[flag]);
        rig.run("--memory-limit 200MB").exits(0).says("method: identified");
    }
}

#[test]
fn loops_that_are_too_wide_to_be_learnt_are_extrapolated_with_a_warning() {
    let rig = Rig::new(60, &[]);
    let text = std::fs::read_to_string(rig.0.path("rig/system.toml")).unwrap();
    let back = "[[connect]]\nfrom = \"good.y[7]\"\nto = \"bad.u[7]\"\n";
    rig.0.write("rig/system.toml", format!("{text}{back}"));
    let limited = rig.run("--no-verify --method identified:largest=100").exits(0);
    limited.says("warning[W0303]: method: nothing is learnt of `bad` and 1 more");
    let learnt = rig.run("--no-verify").exits(0);
    assert!(!learnt.stderr.contains("W0303"), "{}", learnt.story());
}

#[test]
fn an_fmu_reaches_no_file_of_costep() {
    for deed in ["close_files", "write_files", "cut_files", "fill_shared"] {
        let rig = Rig::new(1, &[&format!("-DDEED={deed}")]);
        rig.run_both("", |done| {
            let done = done.exits(0);
            assert!(done.stdout.contains("verdict"), "{deed}\n{}", done.story());
            assert!(rig.recording().complete() && rig.recording().rows() == 6, "{deed}\n{}", done.story());
        });
    }
}

#[test]
fn a_recording_that_something_else_has_changed_is_no_success() {
    let rig = Rig::new(1, &["-DDEED=spoil_recording"]);
    rig.run_both("", |done| drop(done.exits(1).says("out/results.arrows` is not a costep recording")));
}

#[test]
fn an_exception_names_the_call_that_it_left() {
    let places = [
        ("AT_INSTANTIATE", "Instantiate"),
        ("AT_ENTER", "EnterInitializationMode"),
        ("AT_TERMINATE", "Terminate"),
    ];
    for (place, call) in places {
        let rig = Rig::new(1, &[&format!("-DTHROWS={place}")]);
        rig.run_both("--threads 1", |done| drop(done.exits(2).says(&format!("in fmi2{call}"))));
    }
}

#[test]
fn standard_error_of_an_fmu_is_limited_and_harmless() {
    let rig = Rig::new(1, &["-DDEED=flood_errors"]);
    rig.run_both("", |done| {
        let done =
            done.exits(0).says("printed by bad").says(": complaint 7").says("further lines printed by FMUs");
        assert!(done.stderr.lines().count() < 150, "{}", done.stderr.len());
    });
    let rig = Rig::new(1, &["-DDEED=forge_errors"]);
    rig.run_both("", |done| {
        let done = done.exits(0);
        let line = done.stderr.lines().find(|line| line.contains("forged")).unwrap();
        assert!(line.starts_with("printed by bad") && !done.stderr.contains('\x1b'), "{}", done.story());
    });
}

#[test]
fn a_time_limit_ends_a_call_that_does_not_return() {
    let rig = Rig::new(1, &["-DDEED=hang"]);
    rig.run_both("--time-limit 1s", |done| {
        drop(done.exits(4).says("error[E0603]: the time limit of 1 s was reached while `bad` in"));
        assert_eq!(rig.recording().rows(), 4);
    });
}

#[test]
fn a_time_limit_ends_a_long_macro_step_of_native_parts() {
    let sandbox = Sandbox::new();
    let steps = "run chain --set n=2000 --method monolithic --step 1ms --t-end 2ms --no-record --time-limit";
    sandbox.run(&format!("{steps} 10ms")).exits(4).says("error[E0603]: the time limit of 10 ms was reached");
    let json = sandbox.run(&format!("{steps} 10ms --json")).exits(4);
    assert!(json.stdout.contains("E0603"), "{}", json.story());
}

#[test]
fn a_library_that_hangs_while_it_is_loaded_is_ended_by_step_timeout() {
    let rig = Rig::new(1, &["-DHANG_ON_LOAD"]);
    for more in ["", "isolation = \"process\""] {
        rig.describe(1, &format!("step_timeout = \"0.3 s\"\n{more}"));
        rig.run("").exits(4).says("loading its library has not returned for 300ms");
    }
}

#[test]
fn a_child_that_has_left_its_session_does_not_outlive_the_run() {
    let rig = Rig::new(1, &["-DDEED=leave_child"]);
    let mark = rig.0.path("mark");
    for more in ["", "isolation = \"process\""] {
        rig.describe(1, more);
        let mut command = rig.0.command(["run", "rig", "--out", "out"]);
        command.env("COSTEP_TEST_MARK", &mark);
        let done = finished(command, "run rig").exits(0);
        assert_eq!(left_over(&mark), 0, "{}", done.story());
    }
}

#[test]
fn an_fmu_that_stops_or_kills_its_parent_is_refused() {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    if (numbers.next(), numbers.next()) < (Some(6), Some(12)) {
        eprintln!("skipped: Linux {release} lets every process send signals to its parent");
        return;
    }
    for (deed, name) in [("stop_parent", "stop"), ("kill_parent", "kill")] {
        let rig = Rig::new(1, &[&format!("-DDEED={deed}")]);
        rig.run_both("", |done| {
            let done = done.exits(0).says(&format!("escape by {name}: refused"));
            assert!(rig.recording().complete() && rig.recording().rows() == 6, "{}", done.story());
        });
    }
}

#[test]
fn names_with_commas_are_signals_like_others() {
    let sandbox = Sandbox::new();
    let columns = ["t", "a.y[1,2]", "a.y[1,3]", "b.u"].map(|name| Column::new(name, None));
    let outputs = [("outputs".to_owned(), "a.y[1,2],a.y[1,3]".to_owned())];
    let mut recording = Recording::create(&sandbox.path("r.arrows"), &columns, &outputs).unwrap();
    (0..9).for_each(|k| recording.row(&[f64::from(k), 1.0, 2.0, f64::from(k * k)]).unwrap());
    recording.finish().unwrap();
    sandbox.run("plot r.arrows").exits(0).says("a.y[1,2], a.y[1,3]");
    sandbox.run("plot r.arrows --signals a.y[1,3],b.*").exits(0).says("plot.svg: a.y[1,3], b.u");
    sandbox.run("export r.arrows --to r.csv --signals a.y[1,2],b.u").exits(0);
    assert!(
        std::fs::read_to_string(sandbox.path("r.csv")).unwrap().starts_with("t,\"a.y[1,2]\",b.u\n0,1,0\n")
    );
}

#[test]
fn large_recordings_are_inspected_listed_and_plotted_in_little_memory() {
    let sandbox = Sandbox::new();
    let columns: Vec<_> =
        (0..64).map(|k| Column::new(if k == 0 { "t".into() } else { format!("a.x{k}") }, None)).collect();
    let mut recording = Recording::create(&sandbox.path("r.arrows"), &columns, &[]).unwrap();
    let row = |k: i32| move |row: &mut [f64]| (row[0], row[1]) = (f64::from(k), f64::from(k % 100));
    (0..400_000).for_each(|k| recording.row_with(row(k)).unwrap());
    recording.finish().unwrap();
    // 205 MB of numbers. The program alone takes some 60 MB of addresses for threads and libraries.
    for line in ["inspect r.arrows", "export r.arrows --list", "plot r.arrows --signals a.x1,a.x2"] {
        let limited = format!("ulimit -v 150000; exec {} {line}", env!("CARGO_BIN_EXE_costep"));
        finished(sandbox.program("sh", ["-c", &limited]), line).exits(0);
    }
}

#[test]
fn a_damaged_recording_is_no_success_of_inspect() {
    let sandbox = Sandbox::new();
    sandbox.run("run dual-mass --out out").exits(0);
    sandbox.run("inspect out").exits(0);
    let mut bytes = std::fs::read(sandbox.path("out/results.arrows")).unwrap();
    let place = bytes.len() - 100;
    bytes[place] ^= 1;
    sandbox.write("out/results.arrows", bytes);
    for line in ["inspect out", "inspect out --json", "export out --list"] {
        let done = sandbox.run(line).exits(1);
        assert!(
            format!("{}{}", done.stdout, done.stderr).contains("the checksum of a message is wrong"),
            "{}",
            done.story()
        );
    }
}

#[test]
fn a_limit_of_files_is_an_error_and_not_a_signal() {
    let sandbox = Sandbox::new();
    let program = env!("CARGO_BIN_EXE_costep");
    // Shells may ignore the signal, and whatever they start with them.
    let line = format!(
        "import resource, signal, subprocess\n\
         def limit():\n    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n\
         raise SystemExit(subprocess.run([{program:?}, 'run', 'dual-mass', '--step', '10us', '--out', 'out'], preexec_fn=limit).returncode)"
    );
    let done = finished(sandbox.program("python3", ["-c", &line]), "run under a limit of files").exits(2);
    done.says("error[E0503]").says("File too large");
    Table::open(&sandbox.path("out/results.arrows")).unwrap();
}

#[test]
fn limits_of_the_shell_are_named() {
    let rig = Rig::new(1, &[]);
    let program = env!("CARGO_BIN_EXE_costep");
    let run = |limit: &str, line: &str| {
        let limited = format!("ulimit {limit}; exec {program} {line}");
        finished(rig.0.program("sh", ["-c", &limited]), format!("{limit} {line}"))
    };
    run("-n 7", "run rig --out out").exits(2).says("error[E0610]");
    run("-v 100000", "run chain --set n=2000 --t-end 2ms --no-record").exits(2).says("error[E0611]");
}

#[test]
fn a_limit_of_processor_time_keeps_what_is_recorded() {
    let rig = Rig::new(1, &["-DDEED=spin"]);
    let run = |line: &str| {
        let limited = format!("ulimit -t 2; exec {} {line}", env!("CARGO_BIN_EXE_costep"));
        finished(rig.0.program("sh", ["-c", &limited]), line)
    };
    let done =
        run("run chain --set n=100 --method monolithic --step 1ms --t-end 1000s --no-verify --out out");
    done.exits(4).says("error[E0603]: the processor time that the shell allows is nearly used up");
    assert!(rig.recording().rows() > 1);
    // In a call nobody can stop softly.
    for isolation in ["none", "process", "sandbox"] {
        rig.describe(1, &format!("isolation = \"{isolation}\""));
        let done = run("run rig --no-verify --out rig/out")
            .exits(4)
            .says("has used up its processor time (`ulimit -t`)");
        let rows = Table::open(&rig.0.path("rig/out/results.arrows")).unwrap().rows();
        assert!(done.stderr.contains("`bad` in fmi2DoStep") && rows == 4, "{}", done.story());
    }
}

#[test]
fn a_small_stack_of_the_shell_is_no_reason_to_end() {
    let rig = Rig::new(1, &[]);
    for isolation in ["none", "process", "sandbox"] {
        rig.describe(1, &format!("isolation = \"{isolation}\""));
        for limit in ["32", "unlimited"] {
            let limited =
                format!("ulimit -s {limit}; exec {} run rig --out out", env!("CARGO_BIN_EXE_costep"));
            finished(rig.0.program("sh", ["-c", &limited]), limited).exits(0);
        }
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused() {
    let sandbox = Sandbox::new();
    for name in ["p.toml", "r.arrows", "s.ssp", "f.fmu"] {
        assert!(sandbox.program("mkfifo", [name]).status().unwrap().success());
    }
    for line in
        ["check p.toml", "run p.toml", "inspect r.arrows", "plot r.arrows", "inspect s.ssp", "inspect f.fmu"]
    {
        sandbox.run(line).exits(1).says("E0");
    }
}

#[test]
fn a_state_of_a_claimed_ten_gigabytes_is_not_taken() {
    let rig = Rig::new(1, &["-DHUGE_STATE=10000000000"]);
    rig.run_both("--checkpoint 0s --memory-limit 300MB", |done| {
        drop(done.exits(0).says("no checkpoints: `bad`: its state has 10000000000 bytes"));
    });
}

/// A system structure of the two FMUs, with a transformation of the connection and settings.
fn structure(transformation: &str, settings: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="1.0" name="s">
<ssd:System name="root"><ssd:Elements>
<ssd:Component name="bad" source="Hostile.fmu"><ssd:Connectors><ssd:Connector name="y[0]" kind="output"/></ssd:Connectors></ssd:Component>
<ssd:Component name="good" source="Hostile.fmu"><ssd:Connectors><ssd:Connector name="u[0]" kind="input"/></ssd:Connectors></ssd:Component>
</ssd:Elements><ssd:Connections><ssd:Connection startElement="bad" startConnector="y[0]" endElement="good" endConnector="u[0]">{transformation}</ssd:Connection></ssd:Connections></ssd:System>
<ssd:DefaultExperiment startTime="0" stopTime="0.5"/>
<ssd:Annotations><ssc:Annotation type="org.costep.settings"><costep:Settings xmlns:costep="urn:costep:settings:1">
<costep:Setting key="step" value="{{ size = '0.1 s' }}"/>{settings}</costep:Settings></ssc:Annotation></ssd:Annotations>
</ssd:SystemStructureDescription>"#
    )
}

#[test]
fn a_boolean_map_on_a_real_connection_is_refused() {
    let rig = Rig::new(1, &[]);
    let map = "<ssc:BooleanMappingTransformation><ssc:MapEntry source=\"true\" target=\"false\"/>\
               <ssc:MapEntry source=\"false\" target=\"true\"/></ssc:BooleanMappingTransformation>";
    rig.0.write("rig/s.ssd", structure("", ""));
    rig.0.run("run rig/s.ssd --out out").exits(0);
    rig.0.write("rig/s.ssd", structure(map, ""));
    rig.0
        .run("run rig/s.ssd --out out")
        .exits(1)
        .says("error[E0143]")
        .says("a map of Booleans on the way of `y[0]`");
}

#[test]
fn files_that_annotations_name_elsewhere_are_not_opened() {
    let rig = Rig::new(1, &[]);
    for value in [
        "{ name = 'identified', file = '/etc/passwd' }",
        "'identified:file=/etc/passwd'",
        "{ name = 'identified', file = '../../../../../../etc/passwd' }",
    ] {
        let setting = format!("<costep:Setting key=\"method\" value=\"{value}\"/>");
        rig.0.write("rig/s.ssd", structure("", &setting));
        let done = rig
            .0
            .run("run rig/s.ssd --out out")
            .says("it names a file outside of the folder of the structure");
        assert!(!done.stderr.contains("root:"), "{}", done.story());
    }
}

#[test]
fn a_state_that_is_not_put_back_is_not_probed_with() {
    let sandbox = Sandbox::new();
    let fmu = fmus::build(fmus::Fmi::V2, "Fault");
    std::fs::create_dir(sandbox.path("rig")).unwrap();
    std::fs::copy(fmu.path, sandbox.path("rig/Fault.fmu")).unwrap();
    const WRONG_RESTORE: i32 = 55;
    sandbox.write(
        "rig/system.toml",
        format!(
            "[system]\nstop = \"0.5 s\"\n[step]\nsize = \"0.1 s\"\n[fmu.bad]\nfile = \"Fault.fmu\"\n\
             set = {{ fault = {WRONG_RESTORE}, x0 = 1.0 }}\n[fmu.good]\nfile = \"Fault.fmu\"\n\
             [[connect]]\nfrom = \"bad.y\"\nto = \"good.u\"\n[[connect]]\nfrom = \"good.y\"\nto = \"bad.u\"\n"
        ),
    );
    let done = sandbox.run("run rig --out out --method predictive:source=probe").exits(1);
    done.says("`bad`: its state is not stored and restored: a step from a restored state differs");
}

#[test]
fn a_resumed_recording_has_the_same_rows_in_other_batches() {
    let sandbox = Sandbox::new();
    sandbox.run("run dual-mass --step 100us --out whole").exits(0);
    sandbox.run("run dual-mass --step 100us --out parts --time-limit 0s --checkpoint 0s").exits(4);
    sandbox.run("resume parts").exits(0);
    let [whole, parts] = ["whole", "parts"].map(|run| sandbox.path(run).join("results.arrows"));
    assert_ne!(std::fs::read(&whole).unwrap(), std::fs::read(&parts).unwrap());
    let readme = include_str!("../../../README.md");
    assert!(readme.contains("rows may be grouped to other batches in the file"), "they differ");
    let [whole, parts] = [whole, parts].map(|file| Table::open(&file).unwrap());
    for column in whole.columns() {
        let bits = |table: &Table| {
            table.values(&column.name).unwrap().iter().map(|y| y.to_bits()).collect::<Vec<_>>()
        };
        assert!(bits(&whole) == bits(&parts), "{}", column.name);
    }
}

#[test]
fn an_fmu_of_very_many_outputs_is_inspected_in_no_time() {
    // 300,000 took minutes once; whoever takes that long hangs for these tests.
    let sandbox = Sandbox::new();
    let (mut variables, mut unknowns) = (String::new(), String::new());
    for k in 0..300_000 {
        write!(variables, "<ScalarVariable name=\"y{k}\" valueReference=\"{k}\" causality=\"output\"><Real/></ScalarVariable>").unwrap();
        write!(unknowns, "<Unknown index=\"{}\"/>", k + 1).unwrap();
    }
    let text = format!(
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\"><CoSimulation modelIdentifier=\"M\"/>\
         <ModelVariables>{variables}</ModelVariables><ModelStructure><Outputs>{unknowns}</Outputs></ModelStructure></fmiModelDescription>"
    );
    let mut archive = zip::ZipWriter::new(std::fs::File::create(sandbox.path("m.fmu")).unwrap());
    archive.start_file("modelDescription.xml", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut archive, text.as_bytes()).unwrap();
    archive.finish().unwrap();
    let done = sandbox.run("inspect m.fmu");
    assert!(done.stdout.contains("and 299980 more"), "{}", done.story());
}

#[test]
fn a_sandbox_refuses_every_way_out() {
    let rig = Rig::new(1, &["-DDEED=escape"]);
    let outside = tempfile::tempdir().unwrap();
    let run = |isolation: &str, line: &str| {
        std::fs::write(outside.path().join("secret"), "secret").unwrap();
        rig.describe(1, &format!("isolation = \"{isolation}\""));
        let mut command = rig.0.command(line.split_whitespace());
        command.env("COSTEP_TEST_OUTSIDE", outside.path());
        finished(command, line)
    };
    let line = "run rig --out out --no-verify";
    // The FMU ends its process where one of its ways out works.
    run("process", line)
        .exits(2)
        .says("escape by system: WORKED")
        .says("`bad` died with SIGABRT in fmi2DoStep");
    std::fs::remove_file(outside.path().join("written")).unwrap();
    for (isolation, line) in [("sandbox", line), ("none", "run rig --out out --no-verify --sandbox")] {
        let done = run(isolation, line).exits(0);
        assert_eq!((rig.recording().rows(), rig.recording().complete()), (6, true), "{}", done.story());
        assert!(outside.path().join("secret").exists() && !outside.path().join("written").exists());
    }
    let done = run("none", "check rig --probe --sandbox --json").exits(0);
    let probes = done.json()["probes"].clone();
    let deeds =
        probes.as_array().unwrap().iter().find(|card| card["part"] == "bad").unwrap()["sandbox"].to_string();
    let outside = std::fs::canonicalize(outside.path()).unwrap();
    let outside = outside.display();
    for deed in [
        ": socket",
        ": clone",
        ": ptrace",
        ": kill",
        ": execve",
        ": chmod",
        ": fchmodat2",
        ": setxattr",
        ": fcntl",
        ": prlimit64",
        ": execveat",
        ": io_uring_setup",
        ": unshare",
        ": fsopen",
        ": fanotify_init",
        ": adjtimex",
        ": open_tree_attr",
        ": setpriority",
        ": sched_setaffinity",
        ": ioprio_set",
        ": ioctl",
        &format!(" to read: {outside}/secret"),
    ] {
        assert!(deeds.contains(&format!("refused{deed}")), "{deed} in {deeds}");
    }
    assert!(deeds.contains("opened to write: (scratch)/scratch"), "{deeds}");
}

/// Rules for files are those of threads: a handler of signals runs in whichever thread it is sent to.
#[test]
fn a_sandbox_confines_every_thread_of_its_process() {
    let rig = Rig::new(1, &["-DDEED=escape_by_threads"]);
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    // With a small stack the work is done in a thread of its own.
    for limit in ["8192", "64"] {
        let run = |isolation: &str| {
            rig.describe(1, &format!("isolation = \"{isolation}\""));
            let line = format!(
                "ulimit -s {limit}; exec {} run rig --out out --no-verify",
                env!("CARGO_BIN_EXE_costep")
            );
            let mut command = rig.0.program("sh", ["-c", &line]);
            command.env("COSTEP_TEST_OUTSIDE", outside.path());
            finished(command, line)
        };
        run("process").exits(2).says("escape by thread lifeline: WORKED");
        let done = run("sandbox").exits(0);
        assert!(!done.story().contains("WORKED"), "{}", done.story());
    }
}

#[test]
fn a_kernel_that_cannot_confine_is_named() {
    let rig = Rig::new(1, &[]);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/no_landlock.c");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut compiled = std::process::Command::new(compiler);
    compiled.args(["-O1", "-Wall", "-o"]).arg(rig.0.path("old")).arg(source);
    assert!(compiled.status().expect("a C compiler").success());
    let run = |isolation: &str, more: &str| {
        rig.describe(1, &format!("isolation = \"{isolation}\""));
        let line = format!("{} run rig --out out {more}", env!("CARGO_BIN_EXE_costep"));
        finished(rig.0.program(rig.0.path("old"), line.split_whitespace()), line)
    };
    for (isolation, more) in [("sandbox", ""), ("none", "--sandbox")] {
        let done = run(isolation, more).exits(2);
        done.says("error[E0150]: this system has no Landlock for a sandbox").says("it came with Linux 5.13");
    }
    run("process", "").exits(0);
}

/// Finding 17: where FMUs are unpacked, as promise 5 of the README says, and that nothing stays there.
#[test]
fn fmus_are_unpacked_to_tmpdir_which_is_empty_afterwards() {
    let rig = Rig::new(1, &[]);
    let run = |folder: &OsStr, line: &str| {
        let mut command = rig.0.command(line.split_whitespace());
        command.env("TMPDIR", rig.0.path(folder));
        finished(command, line)
    };
    // Names of folders need not be UTF-8, nor made for an address.
    let names: [&[u8]; 3] = [b"tmp", b"t m%20p", b"t\xff\xfemp"];
    let names = names.map(OsStr::from_bytes);
    names.iter().for_each(|name| std::fs::create_dir(rig.0.path(name)).unwrap());
    for isolation in ["none", "process", "sandbox"] {
        rig.describe(1, &format!("isolation = \"{isolation}\""));
        for name in names {
            run(name, "run rig --out out").exits(0);
            assert_eq!(std::fs::read_dir(rig.0.path(name)).unwrap().count(), 0, "{isolation}");
        }
        let done = run("missing".as_ref(), "run rig --out out")
            .exits(1)
            .says("cannot create a temporary folder for an FMU");
        assert!(done.stderr.contains("/missing"), "{}", done.story());
    }
    let mut found: Vec<_> =
        std::fs::read_dir(rig.0.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    let known = [OsStr::new("out"), OsStr::new("rig"), names[1], names[0], names[2]];
    assert_eq!(found, known, "nothing was written elsewhere");
}

#[test]
fn folders_of_runs_need_no_text_for_a_name() {
    let sandbox = Sandbox::new();
    let folder = OsStr::from_bytes(b"a\xff");
    let run = |words: &[&str]| {
        let words = words.iter().map(OsStr::new);
        let words = words.map(|word| if word == "DIR" { folder } else { word });
        finished(sandbox.command(words), "a command on a folder whose name is not UTF-8")
    };
    run(&["run", "dual-mass", "--step", "100us", "--time-limit", "0s", "--checkpoint", "0s", "--out", "DIR"])
        .exits(4);
    for words in [&["resume", "DIR"][..], &["inspect", "DIR"], &["plot", "DIR"], &["export", "DIR", "--list"]]
    {
        run(words).exits(0);
    }
    run(&["report", "DIR", "--out", "page.html"]).exits(0);
    // A project in such a folder cannot be named in the recording.
    let place = sandbox.path(".").join(folder);
    std::fs::write(place.join("system.toml"), "[system]\nmodel = \"dual-mass\"\n").unwrap();
    let mut command = sandbox.command("run system.toml --out ../elsewhere".split(' '));
    command.current_dir(place);
    finished(command, "a project in a folder whose name is not UTF-8").exits(0);
    sandbox.run("inspect elsewhere").exits(0);
}

/// Of the second attack: a folder that somebody else has filled has a run overwrite files of the user.
#[test]
fn links_in_the_folder_of_a_run_are_not_followed() {
    let sandbox = Sandbox::new();
    sandbox.write("precious", "precious");
    for name in [".costep.lock", "run.toml", "results.arrows", "checkpoint.new", "outcome.json", "fmus"] {
        let _ = std::fs::remove_dir_all(sandbox.path("out"));
        std::fs::create_dir(sandbox.path("out")).unwrap();
        std::os::unix::fs::symlink("../precious", sandbox.path("out").join(name)).unwrap();
        let done = sandbox.run("run dual-mass --t-end 5ms --checkpoint 0s --no-verify --out out").exits(1);
        done.says(&format!("out/{name}")).says("a file of the run is a link or a pipe");
        assert_eq!(std::fs::read_to_string(sandbox.path("precious")).unwrap(), "precious", "{name}");
    }
    // The folder itself may be one: it is named.
    std::fs::create_dir(sandbox.path("real")).unwrap();
    std::os::unix::fs::symlink("real", sandbox.path("link")).unwrap();
    sandbox.run("run dual-mass --t-end 5ms --no-verify --out link").exits(0);
    assert!(sandbox.path("real/results.arrows").exists());
}

/// Of the second attack: the program waited for ever for somebody to write into them.
#[test]
fn pipes_in_the_folder_of_a_run_are_not_waited_for() {
    let sandbox = Sandbox::new();
    sandbox.run("run dual-mass --step 100us --out out --time-limit 0s --checkpoint 0s").exits(4);
    let put = |name: &str| {
        let _ = std::fs::remove_file(sandbox.path("out").join(name));
        assert!(sandbox.program("mkfifo", [format!("out/{name}")]).status().unwrap().success());
    };
    put("outcome.json");
    sandbox.run("plot out --out p.svg").exits(0);
    sandbox.run("report out --out p.html").exits(0);
    for name in ["outcome.json", "checkpoint", "run.toml"] {
        put(name);
        sandbox.run("run dual-mass --out out").exits(1).says("a file of the run is a link or a pipe");
        std::fs::remove_file(sandbox.path("out").join(name)).unwrap();
    }
}

/// Of the second attack: a file of terabytes without contents was read to its end.
#[test]
fn a_checkpoint_that_is_larger_than_it_says_is_not_read() {
    let sandbox = Sandbox::new();
    sandbox.run("run dual-mass --step 100us --out out --time-limit 0s --checkpoint 0s").exits(4);
    let checkpoint = std::fs::File::options().write(true).open(sandbox.path("out/checkpoint")).unwrap();
    checkpoint.set_len(1 << 40).unwrap();
    sandbox.run("resume out --no-verify").exits(0).says("checkpoint.previous");
}

/// Of the second attack: it was heeded in runs with FMUs only, without a word.
#[test]
fn a_limit_of_memory_that_changes_nothing_is_named() {
    let sandbox = Sandbox::new();
    let done = sandbox.run("run dual-mass --t-end 5ms --no-record --no-verify --memory-limit 1MB").exits(0);
    done.says("`--memory-limit` changes nothing");
}
