//! What a system cannot have is said before or instead of a run, with a way out.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use common::Sandbox;
use fmus::{BOTH, Fmi, Variant, build, build_as};

/// Two masses as exported FMUs, for both uses.
fn pair(interface: &str, more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out pair").exits(0);
    let part = |name: &str| format!("[fmu.{name}]\nfile = \"{name}.fmu\"\ninterface = \"{interface}\"\n");
    sandbox.write(
        "pair/system.toml",
        format!(
            "{more}\n{}{}[[connect]]\nfrom = \"s2.F\"\nto = \"s1.F\"\n[[connect]]\nfrom = \"s1.x\"\nto = \"s2.x\"\n\
             [[connect]]\nfrom = \"s1.v\"\nto = \"s2.v\"\n",
            part("s1"),
            part("s2")
        ),
    );
    sandbox
}

#[test]
fn check_knows_which_methods_need_equations() {
    let sandbox = pair("cs", "[method]\nid = \"monolithic\"");
    sandbox
        .run("check pair")
        .exits(1)
        .says("E0304")
        .says("`monolithic`")
        .says("`s1`")
        .says("interface = \"me\"");
    // The project itself is good: a run may name another method.
    sandbox.run("run pair --method zoh --step 1ms --no-record").exits(0);
    for method in ["lis", "monolithic"] {
        let sandbox = pair("me", &format!("[method]\nid = \"{method}\""));
        sandbox.run("check pair").exits(0);
        sandbox.run("run pair --no-record").exits(0);
    }
}

#[test]
fn a_comparison_with_recordings_leaves_out_what_is_not_possible_too() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --black-box --out pair").exits(0);
    std::fs::write(
        sandbox.path("pair/system.toml"),
        "[system]\nstop = \"20 ms\"\n[step]\nsize = \"1 ms\"\n[fmu.s1]\nfile = \"s1.fmu\"\n[fmu.s2]\nfile = \"s2.fmu\"\n\
         [[connect]]\nfrom = \"s2.F\"\nto = \"s1.F\"\n[[connect]]\nfrom = \"s1.x\"\nto = \"s2.x\"\n\
         [[connect]]\nfrom = \"s1.v\"\nto = \"s2.v\"\n",
    )
    .unwrap();
    let done = sandbox.run("compare pair --reference none --out runs --report page.html").exits(0);
    let done =
        done.says("not possible here: ").says("not possible here: lis: all inputs are held, as by `zoh`");
    let has_lis = |text: &str| text.lines().any(|line| line.trim_start().starts_with("lis"));
    assert!(!has_lis(&done.stdout), "{}", done.story());
    let recordings = std::fs::read_dir(sandbox.path("runs")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!recordings.into_iter().any(|name| name.to_string_lossy().starts_with("lis")));
    assert!(done.stdout.contains("zoh") && sandbox.path("page.html").is_file(), "{}", done.story());
    assert!(std::fs::read_dir(sandbox.path("runs")).unwrap().count() > 1);
    // With steps that no part can vary, no method is possible at all: that is a mistake, not a divergence.
    let done = sandbox.run("compare pair --reference none --tolerance 1e-3").exits(1);
    let done = done.says("none of the").says("`s1`");
    assert!(!done.story().contains("reached its stop time"), "{}", done.story());
}

#[test]
fn lis_holds_the_inputs_of_co_simulation_fmus_and_says_so() {
    let sandbox = pair("cs", "[method]\nid = \"lis\"");
    sandbox
        .run("check pair")
        .exits(0)
        .says("W0303")
        .says("`lis` holds all inputs")
        .says("interface = \"me\"");
    sandbox.run("check pair --strict").exits(1);
    let steps = "--step 0.5ms --t-end 20ms --reference none";
    let run = sandbox.run(&format!("run pair {steps} --out lis")).exits(0);
    run.says("W0303").says("as by `zoh`").says("`s1`").says("`predictive`");
    sandbox.run(&format!("run pair {steps} --method zoh --out zoh")).exits(0);
    let rows = |folder: &str| {
        sandbox.run(&format!("export {folder} --to {folder}.csv")).exits(0);
        std::fs::read_to_string(sandbox.path(format!("{folder}.csv"))).unwrap()
    };
    assert_eq!(rows("lis"), rows("zoh"));
}

#[test]
#[cfg(target_os = "linux")]
fn equations_beside_python_code_are_those_of_another_process() {
    let sandbox = pair("me", "[method]\nid = \"monolithic\"");
    fmus::add_python(&sandbox.path("pair/s1.fmu"));
    sandbox.run("check pair").exits(1).says("E0304").says("`s1`").says("W0208");
    sandbox.run("run pair --no-record").exits(1).says("E0304").says("isolation = \"none\"");
    sandbox.run("run pair --no-record --set fmu.s1.isolation=none").exits(0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_of_python_that_is_not_there_is_named() {
    let sandbox = pair("me", "");
    fmus::add_python(&sandbox.path("pair/s1.fmu"));
    for (library, code) in [("/nowhere/libpython3.12.so", 1), ("", 0)] {
        let line = "check pair";
        let mut command = sandbox.command(line.split(' '));
        command.env("COSTEP_PYTHON_LIBRARY", library);
        let done = common::finished(command, line).exits(code);
        let says =
            done.stderr.contains("error[E0111]: COSTEP_PYTHON_LIBRARY names `/nowhere/libpython3.12.so`");
        assert!(says == (code == 1), "{}", done.story());
    }
    // With the run in one process Python does not end well: that is warned of.
    sandbox
        .run("check pair --set fmu.s1.isolation=none")
        .exits(0)
        .says("W0208")
        .says("cannot start it again");
}

#[test]
fn monolithic_by_the_solver_of_the_project_needs_one() {
    let sandbox = pair("me", "");
    sandbox
        .run("run pair --method monolithic:solver=project --no-record")
        .exits(1)
        .says("E0212")
        .says("names none");
    let sandbox = pair("me", "[system]\nsolver = \"dopri5:1e-8\"");
    sandbox.run("run pair --method monolithic:solver=project --no-record").exits(0);
}

#[test]
fn an_unknown_reference_lists_all_that_there_are() {
    let done = Sandbox::new().run("compare dual-mass --methods zoh --reference foo").exits(1).says("`foo`");
    for word in ["none", "same", "step:TIME", "dopri5"] {
        assert!(done.stderr.contains(word), "{word}\n{}", done.story());
    }
    Sandbox::new()
        .run("compare dual-mass --methods zoh --reference dopri5:x")
        .exits(1)
        .says("not a tolerance");
}

/// These FMUs give no nominal values, so that nothing says when a signal is too large.
#[test]
fn signals_that_run_away_end_a_diverged_run_whatever_the_method() {
    for fmi in BOTH {
        let sandbox = Sandbox::new();
        for model in ["S1", "S2"] {
            std::fs::create_dir_all(sandbox.path("pair")).unwrap();
            std::fs::copy(build(fmi, model).path, sandbox.path(format!("pair/{model}.fmu"))).unwrap();
        }
        sandbox.write(
            "pair/system.toml",
            "[system]\nstop = \"60 s\"\n[step]\nsize = \"5 ms\"\n[fmu.s1]\nfile = \"S1.fmu\"\n[fmu.s2]\nfile = \"S2.fmu\"\n\
             [[connect]]\nfrom = \"s2.F\"\nto = \"s1.F\"\n[[connect]]\nfrom = \"s1.x\"\nto = \"s2.u1\"\n\
             [[connect]]\nfrom = \"s1.v\"\nto = \"s2.u2\"\n",
        );
        for method in ["zoh", "foh", "nepce"] {
            sandbox
                .run(&format!("run pair --method {method} --no-record"))
                .exits(3)
                .says("E0601")
                .says("diverged");
        }
    }
}

/// A lag that stays at 1e31, and beside it an output that is not a number after half a second for reasons of its own.
#[test]
fn a_large_constant_is_not_blamed_for_the_fault_of_another() {
    for fmi in BOTH {
        let sandbox = Sandbox::new();
        sandbox.write(
            "two/system.toml",
            "[system]\nstop = 1\n[step]\nsize = 0.1\n[method]\nid = \"zoh\"\n[fmu.large]\nfile = \"Lag.fmu\"\n\
             set = { T = 1e9, x0 = 1e31 }\n[fmu.bad]\nfile = \"Fault.fmu\"\nset = { fault = 5, at = 0.5 }\n\
             [[connect]]\nfrom = \"bad.y\"\nto = \"large.u\"\n",
        );
        for model in ["Lag", "Fault"] {
            std::fs::copy(build(fmi, model).path, sandbox.path(format!("two/{model}.fmu"))).unwrap();
        }
        sandbox.run("run two --no-record").exits(2).says("E0402");
    }
}

#[test]
fn a_macro_step_that_does_not_fit_is_warned_of() {
    let sandbox = pair("cs", "[step]\nsize = \"15 us\"\n[system]\nstop = \"1 ms\"");
    let inner = sandbox.run("inspect pair/s1.fmu --json").exits(0);
    assert!(inner.json()["findings"].as_array().unwrap().is_empty(), "{}", inner.story());
    sandbox.run("check pair").says("W0205").says("multiple of 10 us");
    sandbox.run("check pair --set step.size=20us").exits(0);
}

#[test]
fn inspect_looks_at_the_library_of_this_platform() {
    for fmi in BOTH {
        let sandbox = Sandbox::new();
        let put = |variant: Variant| {
            std::fs::copy(build_as(fmi, "Lag", "Lag", variant).path, sandbox.path("Lag.fmu")).unwrap();
        };
        put(Variant::default());
        sandbox.run("inspect Lag.fmu").exits(0);
        put(Variant { no_library: true, ..Variant::default() });
        let done = sandbox.run("inspect Lag.fmu").exits(1);
        assert!(
            done.stdout.contains("E0111") && done.stdout.contains("not an ELF file but text"),
            "{}",
            done.story()
        );
        // A library without the one function that makes steps.
        let rename = if fmi == Fmi::V2 { "-Dfmi2DoStep=fmi2NoStep" } else { "-Dfmi3DoStep=fmi3NoStep" };
        put(Variant { flag: rename, ..Variant::default() });
        let done = sandbox.run("inspect Lag.fmu").exits(0);
        assert!(done.stdout.contains("E0112") && done.stdout.contains("DoStep"), "{}", done.story());
    }
}

#[test]
fn what_parts_cannot_do_is_found_by_check_with_what_asked_for_it() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --bare --out boxes").exits(0);
    sandbox.run("new bare boxes/s1.fmu boxes/s2.fmu --quiet").exits(0);
    sandbox.run("check bare").exits(0);
    // `check` says what `run` says, and both name the option.
    for (given, value) in [("method", "predictive"), ("method", "iqn-ils"), ("step.tolerance", "1e-3")] {
        for line in [
            format!("check bare --set {given}={value}"),
            format!("run bare --set {given}={value} --no-record"),
        ] {
            sandbox.run(&line).exits(1).says("E0304").says(&format!("given by `--set {given}={value}`"));
        }
    }
    sandbox.run("run bare --method iqn-ils --no-record").exits(1).says("given by `--method iqn-ils`");
    // Or the line.
    let file = sandbox.path("bare/system.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let line = text.lines().position(|line| line.starts_with("id = ")).unwrap();
    let own = text.lines().nth(line).unwrap();
    std::fs::write(&file, text.replace(own, "id = \"iqn-ils\"")).unwrap();
    let place = format!("bare/system.toml:{}", line + 1);
    for verb in ["check bare", "run bare --no-record"] {
        sandbox.run(verb).exits(1).says("E0304").says(&place);
    }
    // Nothing is computed where nothing can be compared.
    std::fs::write(&file, text).unwrap();
    let done = sandbox.run("compare bare --methods predictive,iqn-ils").exits(1);
    done.says("none of these methods is possible here").says("auto, zoh, foh");
}
