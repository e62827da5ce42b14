//! What the program says and how it ends when something is wrong: exit codes, messages with a remedy, results
//! that are kept. It never panics.

mod common;

use std::ffi::OsString;
use std::fs::{self, File};
use std::process::Stdio;

use common::{Done, Sandbox, finished};
use costep_results::Table;
use serde_json::Value;

#[test]
fn slips_of_the_pen_are_found_and_the_right_word_named() {
    let sandbox = Sandbox::new();
    sandbox.run("demo --quiet").exits(0);
    sandbox.run("run dual-mass --out rig --quiet").exits(0);
    for (line, code, words) in [
        ("run dual-mass --method nepec", "E0301", "did you mean `nepce`?"),
        ("compare dual-mass --methods zoh,fho", "E0301", "did you mean `foh`?"),
        ("methods nepc", "E0301", "did you mean `nepce`?"),
        ("run dual-mass --method nepce:alhpa=1", "E0302", "did you mean `alpha`?"),
        ("compare dual-mass --methods nepce:refrence=applied", "E0302", "did you mean `reference`?"),
        ("run dual-mass --method nepce:alpha=7", "E0303", "allowed: a number from 0 to 2"),
        ("run dual-mass --method nepce:reference=aplied", "E0303", "allowed: uncorrected | applied"),
        ("run dual-mss", "E0207", "did you mean `dual-mass`?"),
        ("run costep-dmeo", "E0207", "did you mean `costep-demo`?"),
        ("run costep-demo/sytem.toml", "E0201", "did you mean `system.toml`?"),
        ("models chian", "E0207", "did you mean `chain`?"),
        ("run dual-mass --set ckk=1", "E0208", "did you mean `ck`?"),
        ("run costep-demo --set right.dkk=1", "E0208", "did you mean `dk`?"),
        ("run costep-demo --set rigth.dk=1", "E0204", "did you mean `right`?"),
        ("run dual-mass --set step.sise=1ms", "E0204", "did you mean `size`?"),
        ("run dual-mass --step 1sm", "E0206", "did you mean `ms`?"),
        ("run dual-mass --t-end 1sec", "E0206", "unknown unit of time `sec`"),
        ("compare dual-mass --steps 1ms,2sm", "E0206", "did you mean `ms`?"),
        ("run dual-mass --solver eulr", "E0205", "did you mean `euler`?"),
        ("compare dual-mass --reference dopri", "E0205", "did you mean `dopri5`?"),
        ("run dual-mass --schedule sequentil", "E0205", "did you mean `sequential`?"),
        ("run dual-mass --schedule sequential:s1,s3", "E0215", "did you mean"),
        ("run dual-mass --set ck=soft", "E0205", "not a number"),
        ("run dual-mass --set ck", "E0200", "--set name=value"),
        ("export rig --to rig.csv --signals s1.y", "E0506", "did you mean `s1.x`?"),
        ("export rig --to rig.txt", "E0200", "none of .csv, .parquet, .feather"),
        ("explain E0602x", "E0200", "lists all codes"),
    ] {
        sandbox.run(line).exits(1).says(&format!("error[{code}]")).says(words);
        let object = sandbox.run(&format!("{line} --json")).exits(1).json();
        assert_eq!(object["errors"][0]["code"], code, "{line}");
        assert!(
            object["errors"].as_array().unwrap().iter().any(|e| e.to_string().contains(words)),
            "{object}"
        );
    }
    for (line, words) in
        [("run dual-mass --stpe 1ms", "'--step'"), ("comprae dual-mass", "'compare'"), ("run", "<SYSTEM>")]
    {
        sandbox.run(line).exits(1).says(words);
    }
    assert!(!sandbox.path("costep-dual-mass").exists(), "a command that was refused wrote files");
}

#[test]
fn signals_that_were_not_recorded_are_told_from_those_mistyped() {
    let sandbox = Sandbox::new();
    sandbox.run("demo --quiet").exits(0);
    let project = fs::read_to_string(sandbox.path("costep-demo/system.toml")).unwrap();
    fs::remove_file(sandbox.path("costep-demo/results.arrows")).ok();
    for line in ["export costep-demo --to x.csv", "export costep-demo --list"] {
        sandbox.run(line).exits(1).says("there is no recording here").says("costep run costep-demo");
    }
    sandbox.write("costep-demo/system.toml", project.replace("[\"*\"]", "[\"right.*\"]"));
    sandbox.run("run costep-demo --quiet").exits(0);
    let line = project.lines().position(|line| line.starts_with("signals =")).unwrap() + 1;
    for verb in ["plot costep-demo", "export costep-demo --to x.csv"] {
        let done = sandbox.run(&format!("{verb} --signals left.x")).exits(1);
        let done = done.says("error[E0506]: `left.x` was not recorded").says("recorded: right.");
        let done = done.says(&format!("costep-demo/system.toml:{line}")).says("`signals` in [record]");
        assert!(!done.stderr.contains("did you mean"), "{}", done.stderr);
        // A part that is not there is a slip of the pen.
        sandbox.run(&format!("{verb} --signals rigth.F")).exits(1).says("did you mean `right.");
    }
    sandbox.write("table.csv", "t,x\n0,1\n");
    sandbox.run("plot table.csv").exits(1).says("E0501").says("is a table").says("results.arrows");
    sandbox.run("new n77 nothere.fmu").exits(1).says("check name and folder");
    sandbox.run("export costep-demo --to nodir/x.csv").exits(1).says("`nodir`").says("mkdir -p nodir");
}

/// The demo's project with one line in place of another, and the number of that line.
fn changed(sandbox: &Sandbox, line: &str, other: &str) -> usize {
    let text = fs::read_to_string(sandbox.path("costep-demo/system.toml")).unwrap();
    let number = text.lines().position(|l| l.starts_with(line)).unwrap_or_else(|| panic!("no line {line}"));
    let lines = text.lines().enumerate().map(|(i, l)| if i == number { other } else { l });
    sandbox.write("rig/system.toml", lines.collect::<Vec<_>>().join("\n"));
    number + 1
}

#[test]
fn mistakes_in_a_project_are_named_with_file_and_line() {
    let sandbox = Sandbox::new();
    sandbox.run("demo --quiet").exits(0);
    for (line, other, code, words) in [
        ("size =", "size = 5 ms", "E0202", ""),
        ("[native.left]", "[native.left", "E0202", ""),
        ("size =", "sise = \"5 ms\"", "E0204", "did you mean `size`?"),
        ("[step]", "[stepp]", "E0204", "did you mean `[step]`?"),
        ("size =", "size = \"5 mss\"", "E0206", "did you mean `ms`?"),
        ("from = \"right.F\"", "from = \"right.G\"", "E0203", "did you mean `right.F`?"),
        ("to = \"left.F\"", "to = \"lft.F\"", "E0203", "did you mean `left.F`?"),
        ("model = \"dual-mass\"", "model = \"dual-mas\"", "E0207", "did you mean `dual-mass`?"),
        ("id = \"predictive\"", "id = \"predictiv\"", "E0301", "did you mean `predictive`?"),
        ("set =", "set = { ckk = 2e5 }", "E0208", "did you mean `ck`?"),
    ] {
        let number = changed(&sandbox, line, other);
        let place = format!("rig/system.toml:{number}");
        sandbox.run("run rig").exits(1).says(&format!("error[{code}]")).says(&place).says(words);
        let object = sandbox.run("compare rig --json").exits(1).json();
        let errors = object["errors"].as_array().unwrap();
        let of_line = |error: &&Value| error["code"] == code && error["place"]["line"] == number;
        let error = errors.iter().find(of_line).unwrap_or_else(|| panic!("{object:#}"));
        assert_eq!(error["place"]["file"], "rig/system.toml");
        assert_eq!(error["place"]["text"].as_str().map(str::trim), Some(other));
        assert!(!sandbox.path("rig/results.arrows").exists());
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "system.toml",
        "[system]\nmodel = \"dual-mass\"\nstpo = \"1 s\"\n\n[step]\nsize = \"1 parsec\"\n\n[method]\nid = \"zo\"\n",
    );
    let done = sandbox.run("run .").exits(1).says("3 errors");
    for place in ["system.toml:3", "system.toml:6", "system.toml:9"] {
        assert!(done.stderr.contains(place), "{}", done.story());
    }
    let object = sandbox.run("run system.toml --set ckk=1 --json").exits(1).json();
    assert_eq!(object["errors"].as_array().unwrap().len(), 4);
}

#[test]
fn errors_have_the_same_form_in_json() {
    let sandbox = Sandbox::new();
    sandbox.write("system.toml", "[system]\nmodl = \"dual-mass\"\n");
    for line in [
        "run . --json",
        "run nothing --json",
        "compare dual-mass --methods nepec --json",
        "run dual-mass --stpe 1ms --json",
        "run --json",
        "--json",
        "export nowhere --to x.csv --json",
        "resume nowhere --json",
        "run dual-mass --checkpoint 1x --json",
    ] {
        let object = sandbox.run(line).exits(1).json();
        assert_eq!(object.as_object().unwrap().keys().collect::<Vec<_>>(), ["errors"], "{line}");
        for error in object["errors"].as_array().unwrap() {
            let keys: Vec<_> = error.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, ["code", "message", "place", "cause", "help"], "{line}");
            let is_code = |code: &str| code.len() == 5 && code.starts_with('E');
            assert!(error["code"].as_str().is_some_and(is_code), "{line}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(!message.is_empty() && !message.contains('\n'), "{line}: {error}");
            assert!(error["cause"].is_null() || error["cause"].is_string());
            assert!(error["help"].is_null() || error["help"].is_string());
            assert!(error["place"].is_null() || error["place"].is_object());
        }
    }
    let error = &sandbox.run("run dual-mass --stpe 1ms --json").json()["errors"][0];
    assert_eq!(error["message"], "unexpected argument '--stpe' found");
    assert_eq!(error["help"], "a similar argument exists: '--step'");
}

#[test]
fn a_model_that_fails_ends_with_2() {
    let sandbox = Sandbox::new();
    let done = sandbox.run("run dual-mass --method zoh --set ck=1e308 --out rig").exits(2);
    let done = done.says("error[E0402]: `s2.F` became NaN").says("at t = 0.001 s");
    assert!(!done.stdout.contains("STABLE"), "{}", done.story());
    assert_eq!(Table::open(&sandbox.path("rig/results.arrows")).unwrap().rows(), 1);
    sandbox.run("compare dual-mass --set ck=1e308 --reference none").exits(2);
}

#[test]
fn a_run_that_diverges_ends_with_3_and_keeps_what_it_has() {
    let sandbox = Sandbox::new();
    let line = "run dual-mass --method foh --step 5ms --t-end 100s --out rig";
    let done = sandbox.run(line).exits(3).says("error[E0601]: `s2.F` =").says("the run diverged");
    let done = done.says("at t = 0.15 s (step 29) in `s2.F`").says("costep compare");
    assert!(!done.stdout.contains("STABLE"), "{}", done.story());
    let table = Table::open(&sandbox.path("rig/results.arrows")).unwrap();
    assert!(table.complete());
    assert_eq!((table.rows(), table.values("t").unwrap()[29]), (30, 0.145));
    assert!(table.values("s2.F").unwrap().iter().all(|force| force.is_finite()));

    let object = sandbox.run(&format!("{line} --json")).exits(3).json();
    assert_eq!(object["verdict"], "diverged");
    assert!(object["message"].as_str().unwrap().contains("`s2.F`"));
    assert_eq!(
        (&object["error"]["place"]["signal"], &object["error"]["place"]["time"]),
        (&"s2.F".into(), &0.15.into())
    );
}

#[test]
fn a_run_that_only_looks_unstable_ends_with_3_too() {
    let sandbox = Sandbox::new();
    let line = "run dual-mass --set ck=2e5 --set dk=200 --method zoh --step 1ms";
    let done = sandbox.run(&format!("{line} --out rig")).exits(3);
    assert!(done.stdout.contains("UNSTABLE"), "{}", done.story());
    assert_eq!(sandbox.run(&format!("{line} --no-record --json")).exits(3).json()["verdict"], "unstable");
    // With a reference the verdict is the one of compare.
    assert_eq!(
        sandbox.run(&format!("{line} --no-record --reference same --json")).exits(3).json()["verdict"],
        "unstable"
    );
}

#[test]
fn a_signal_outside_its_bounds_ends_the_run_with_3() {
    let sandbox = Sandbox::new();
    let line = "run dual-mass --set guard.bounds.s1.v=[-20,20] --out rig";
    sandbox
        .run(line)
        .exits(3)
        .says("error[E0602]: `s1.v` =")
        .says("is outside [-20, 20]")
        .says("at t = 0.00");
    assert!(Table::open(&sandbox.path("rig/results.arrows")).unwrap().rows() > 1);
}

#[test]
fn a_time_limit_ends_the_run_with_4() {
    let sandbox = Sandbox::new();
    sandbox
        .run("run dual-mass --t-end 1h --time-limit 50ms --out rig")
        .exits(4)
        .says("error[E0603]")
        .says("next: costep resume rig");
    assert!(Table::open(&sandbox.path("rig/results.arrows")).unwrap().complete());
    assert!(sandbox.path("rig/checkpoint").is_file());
}

#[test]
fn the_recording_before_is_kept_under_another_name() {
    let sandbox = Sandbox::new();
    sandbox.run("run dual-mass --t-end 10ms --out rig").exits(0);
    let first = fs::read(sandbox.path("rig/results.arrows")).unwrap();
    sandbox.run("run dual-mass --t-end 20ms --out rig").exits(0);
    assert!(fs::read(sandbox.path("rig/results.previous.arrows")).unwrap() == first);
    assert_eq!(Table::open(&sandbox.path("rig/results.arrows")).unwrap().rows(), 21);
    // A command that is refused does not touch them.
    sandbox.run("run dual-mass --method nepec --out rig").exits(1);
    assert!(fs::read(sandbox.path("rig/results.previous.arrows")).unwrap() == first);
}

#[test]
fn the_file_of_a_project_is_never_overwritten() {
    let sandbox = Sandbox::new();
    // `run.toml` is also the name under which a run leaves a copy of its project.
    let project = "[system]   # mine\nmodel = \"dual-mass\"\n";
    sandbox.write("run.toml", project);
    sandbox.run("run run.toml").exits(0);
    sandbox.run("run run.toml --set ck=2e5").exits(1).says("error[E0201]").says("--out DIR");
    sandbox.run("run run.toml --set ck=2e5 --out other").exits(0);
    assert_eq!(fs::read_to_string(sandbox.path("run.toml")).unwrap(), project);
    assert!(fs::read_to_string(sandbox.path("other/run.toml")).unwrap().contains("ck = 200000.0"));

    sandbox.run("demo --quiet").exits(0);
    sandbox.write("costep-demo/system.toml", project);
    let done = sandbox.run("demo").exits(0);
    assert!(done.stdout.contains("Kept your costep-demo/system.toml"), "{}", done.story());
    assert_eq!(fs::read_to_string(sandbox.path("costep-demo/system.toml")).unwrap(), project);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "text");
    sandbox.write("taken/results.csv/file", "text");
    for line in ["run dual-mass --out file/rig", "compare dual-mass --out file/rig", "demo --out file/rig"] {
        sandbox.run(line).exits(1).says("error[E0201]").says("file/rig").says("cause: ");
    }
    sandbox.run("run dual-mass --out rig --quiet").exits(0);
    sandbox.run("export rig --to taken/results.csv").exits(1).says("error[E0201]").says("taken/results.csv");
    sandbox.run("export rig --to nowhere/x.csv").exits(1).says("error[E0201]").says("nowhere/x.csv");
    sandbox.run("export rig --to rig/results.arrows").exits(1);
    assert!(Table::open(&sandbox.path("rig/results.arrows")).unwrap().complete());
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("locked")).unwrap();
    fs::set_permissions(sandbox.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    // Nothing is read-only for root but what the system itself does not let be written.
    let is_root = File::create(sandbox.path("locked/probe")).is_ok();
    let folder = if is_root && cfg!(target_os = "linux") { "/proc" } else { "locked" };
    if !is_root || cfg!(target_os = "linux") {
        for line in ["run dual-mass --out", "compare dual-mass --out", "demo --out"] {
            sandbox.run(&format!("{line} {folder}/rig")).exits(1).says("error[E0201]").says(folder);
        }
    }
}

/// A full disk, as far as the program can see: no file may grow beyond 32 kB.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_run_and_what_was_written_is_valid() {
    let sandbox = Sandbox::new();
    // 512 or 1024 bytes each, depending on the shell.
    let limit = "trap '' XFSZ; ulimit -f 64";
    let costep = env!("CARGO_BIN_EXE_costep");
    let shell = |line: &str| {
        let script = format!("{limit}; exec {costep} {line}");
        finished(sandbox.program("sh", ["-c", &script]), line)
    };
    let done = shell("run dual-mass --t-end 100s --out rig --checkpoint 0s").exits(2);
    let done = done.says("error[E0503]: cannot write the recording `rig/results.arrows`").says("cause: ");
    assert!(!done.stdout.contains("STABLE"), "{}", done.story());
    let table = Table::open(&sandbox.path("rig/results.arrows")).unwrap();
    assert!(table.rows() > 10 && !table.complete() && table.damage().is_none());
    sandbox.run("export rig --to rig.csv").exits(0).says("no end mark");

    let object = shell("run dual-mass --t-end 100s --out rig2 --checkpoint 0s --json").exits(2).json();
    assert_eq!((&object["verdict"], &object["error"]["code"]), (&"failed".into(), &"E0503".into()));

    sandbox.run("run dual-mass --t-end 2s --out rig3 --quiet").exits(0);
    shell("export rig3 --to rig3.csv").exits(1).says("error[E0201]: cannot write `rig3.csv`");
    assert!(!sandbox.path("rig3.csv").exists(), "half an export was left behind");
}

#[cfg(target_os = "linux")]
fn to(sandbox: &Sandbox, line: &str, stdout: Stdio, stderr: Option<Stdio>) -> Done {
    let mut command = sandbox.command(line.split_whitespace());
    let mut kept = tempfile::tempfile().unwrap();
    command.stdout(stdout);
    command.stderr(stderr.unwrap_or_else(|| kept.try_clone().unwrap().into()));
    let status = common::Running::started(command.spawn().unwrap()).wait();
    Done::new(line, status, String::new(), common::text(&mut kept))
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error_not_a_panic() {
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let sandbox = Sandbox::new();
    for line in [
        "demo",
        "compare dual-mass",
        "run dual-mass --out rig",
        "export rig --list",
        "methods",
        "methods nepce",
        "models",
        "models chain",
        "explain",
        "explain E0601",
    ] {
        for json in ["", " --json"] {
            let done = to(&sandbox, &format!("{line}{json}"), full(), None);
            done.exits(1).says("cannot write to standard output").says("No space left on device");
        }
    }
    to(&sandbox, "run nothing --json", full(), None).exits(1).says("error[E0207]");
    // Nobody is left to tell, but the exit code still says it.
    to(&sandbox, "run nothing", full(), Some(full())).exits(1);
    to(&sandbox, "run dual-mass --method foh --step 5ms --t-end 1s", Stdio::null(), Some(full())).exits(3);

    std::os::unix::fs::symlink("/dev/full", sandbox.path("full.csv")).unwrap();
    sandbox.run("export rig --to full.csv").exits(1).says("error[E0201]").says("No space left on device");
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::new();
    sandbox.run("run dual-mass --out rig --quiet").exits(0);
    for line in [
        "compare dual-mass",
        "compare dual-mass --json",
        "demo",
        "models chain",
        "explain",
        "export rig --list",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = to(&sandbox, line, writer.into(), None).exits(0);
        assert_eq!(done.stderr, "", "{}", done.story());
    }
    let script = format!("{} compare dual-mass --steps 1ms,2ms | head -1", env!("CARGO_BIN_EXE_costep"));
    let done = finished(sandbox.program("sh", ["-c", &script]), "compare | head -1").exits(0);
    assert!(done.stdout.lines().count() == 1 && done.stderr.is_empty(), "{}", done.story());
}

#[test]
fn hostile_arguments_never_panic() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(100_000);
    let brackets = "[".repeat(50_000);
    let words = [
        "",
        " ",
        "-",
        "--",
        "=",
        ":",
        ",",
        ".",
        "..",
        "/",
        "\\",
        "\"",
        "'",
        "`",
        "%s%n",
        "{}",
        "\n",
        "\t",
        "\u{1b}[31m",
        "\u{202e}",
        "µ",
        "日本",
        "NaN",
        "inf",
        "-inf",
        "1e999",
        "-1",
        "0",
        "1e-999",
        "18446744073709551616",
        "1e300",
        "a=b=c",
        "a.b.c.d",
        "nepce:",
        ":::",
        "nepce:=,=",
        "zoh,,foh",
        "\"",
        "[[[",
        "{{{",
        "$HOME",
        "*",
        &long,
        &brackets,
    ];
    // A step that ends soon whatever the word means, and a limit for those that do not.
    let places: &[&[&str]] = &[
        &["run", "WORD", "--no-record"],
        &["run", "dual-mass", "--no-record", "--method", "WORD"],
        &["run", "dual-mass", "--no-record", "--set", "WORD"],
        &["run", "dual-mass", "--no-record", "--set", "ck=WORD"],
        &["run", "dual-mass", "--no-record", "--step", "WORD"],
        &["run", "dual-mass", "--no-record", "--time-limit", "1s", "--t-end", "WORD"],
        &["run", "dual-mass", "--no-record", "--solver", "WORD"],
        &["run", "dual-mass", "--no-record", "--schedule", "WORD"],
        &["run", "dual-mass", "--no-record", "--threads", "WORD"],
        &["run", "dual-mass", "--no-record", "--reference", "WORD"],
        &["run", "dual-mass", "--no-record", "--checkpoint", "WORD"],
        &["run", "dual-mass", "--no-record", "--time-limit", "WORD"],
        &["compare", "dual-mass", "--methods", "WORD"],
        &["compare", "dual-mass", "--methods", "zoh", "--steps", "WORD"],
        &["stability", "dual-mass", "--bohl", "--method", "WORD"],
        &["stability", "dual-mass", "--bohl", "--method", "prestep:source=rls", "--windows", "WORD"],
        &["methods", "WORD"],
        &["models", "WORD"],
        &["explain", "WORD"],
        &["export", "WORD", "--list"],
        &["resume", "WORD"],
        &["WORD"],
        &["run", "dual-mass", "WORD"],
    ];
    for place in places {
        for word in words {
            let arguments = place.iter().map(|part| part.replace("WORD", word)).collect::<Vec<_>>();
            let shown: String = arguments.join(" ").chars().take(200).collect();
            no_panic(finished(sandbox.command(&arguments), shown));
        }
    }
}

#[track_caller]
fn no_panic(done: Done) {
    let code = done.status.code();
    assert!(matches!(code, Some(0..=4)), "{}", done.story());
    assert!(!done.stderr.contains("panicked"), "{}", done.story());
    let complains = done.stderr.lines().any(|line| line.starts_with("error"));
    assert!(code != Some(0) || !complains, "an error that looks like success\n{}", done.story());
    let silent = done.stderr.is_empty() && done.stdout.is_empty();
    assert!(code == Some(0) || !silent, "a failure without a word\n{}", done.story());
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_text_never_panic() {
    use std::os::unix::ffi::OsStringExt;
    let sandbox = Sandbox::new();
    let strange = || OsString::from_vec(vec![b'o', 0xff, 0xfe]);
    for flags in [
        &["run"][..],
        &["run", "dual-mass", "--set"],
        &["compare", "dual-mass", "--methods"],
        &["explain"],
        &[],
    ] {
        for json in [None, Some(OsString::from("--json"))] {
            let arguments = flags.iter().map(OsString::from).chain([strange()]).chain(json.clone());
            let done = finished(sandbox.command(arguments), format!("{flags:?} {json:?}")).exits(1);
            if json.is_some() {
                assert_eq!(done.json()["errors"][0]["code"], "E0200");
            }
        }
    }
    // Paths need not be text.
    let arguments =
        ["run", "dual-mass", "--json", "--out"].map(OsString::from).into_iter().chain([strange()]);
    finished(sandbox.command(arguments), "run --out").exits(0).json();
    assert!(sandbox.path(strange()).join("results.arrows").is_file());
}

#[test]
fn output_that_is_no_terminal_has_no_escape_codes() {
    let sandbox = Sandbox::new();
    for line in [
        "demo",
        "compare dual-mass --set ck=2e5 --set dk=200",
        "run nothing",
        "run --stpe",
        "methods",
        "help run",
    ] {
        for no_color in [true, false] {
            let mut command = sandbox.command(line.split_whitespace());
            if !no_color {
                command.env_remove("NO_COLOR");
            }
            let done = finished(command, line);
            assert!(!done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'), "{}", done.story());
        }
    }
}

/// `script` gives a program a terminal; not every system has it.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_colours_unless_no_color_is_set() {
    let sandbox = Sandbox::new();
    for line in ["compare dual-mass --methods zoh", "run nothing", "run --stpe"] {
        let in_terminal = |no_color: bool| {
            let typed = format!("{} {line}", env!("CARGO_BIN_EXE_costep"));
            let mut command = sandbox.program("script", ["-qec", &typed, "/dev/null"]);
            command.env("TERM", "xterm");
            if !no_color {
                command.env_remove("NO_COLOR");
            }
            finished(command, line)
        };
        if sandbox.program("script", ["--version"]).output().is_ok_and(|output| output.status.success()) {
            assert!(in_terminal(false).stdout.contains("\u{1b}["), "{}", in_terminal(false).story());
            assert!(!in_terminal(true).stdout.contains('\u{1b}'), "{}", in_terminal(true).story());
        }
    }
}

#[test]
fn options_that_change_nothing_are_named_and_those_given_twice_refused() {
    let sandbox = Sandbox::new();
    let idle = "predictive:source=exact,window=100";
    for line in [
        format!("run dual-mass --no-record --method {idle}"),
        format!("compare dual-mass --methods zoh,{idle}"),
        format!("check dual-mass --set method={idle}"),
    ] {
        sandbox.run(&line).exits(0).says("warning[W0302]: option `window` of").says("source=moesp");
    }
    let twice = sandbox.run("run dual-mass --no-record --method predictive:order=2,order=3").exits(1);
    twice.says("E0303").says("`order` of method `predictive` is given twice");
}

/// With half a period per step the reference passes through zero at every communication point.
#[test]
fn a_verdict_does_not_contradict_the_curves() {
    let sandbox = Sandbox::new();
    for line in [
        "run dual-mass --no-record --set ck=1000 --set dk=1000 --step 10ms --t-end 2s --json",
        "run dual-mass --no-record --set ck=3162 --set dk=100 --step 10ms --json",
    ] {
        assert_eq!(sandbox.run(line).exits(0).json()["verdict"], "stable");
    }
    // Five steps show no growth, but a result far beyond anything real.
    let line = "run dual-mass --no-record --method prestep:paper=true,input=ramp --step 20ms --json";
    assert_eq!(sandbox.run(line).exits(3).json()["verdict"], "unstable");
}
