//! What a system cannot have is said before or instead of a run, with a way out.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use common::Desk;
use fmus::{BOTH, Fmi, Variant, build, build_as};

/// Two masses as exported FMUs, for both uses.
fn pair(interface: &str, more: &str) -> Desk {
    let desk = Desk::new();
    desk.run("export-fmu dual-mass --out pair").exits(0);
    let part = |name: &str| format!("[fmu.{name}]\nfile = \"{name}.fmu\"\ninterface = \"{interface}\"\n");
    desk.write(
        "pair/system.toml",
        format!(
            "{more}\n{}{}[[connect]]\nfrom = \"s2.F\"\nto = \"s1.F\"\n[[connect]]\nfrom = \"s1.x\"\nto = \"s2.x\"\n\
             [[connect]]\nfrom = \"s1.v\"\nto = \"s2.v\"\n",
            part("s1"),
            part("s2")
        ),
    );
    desk
}

#[test]
fn check_knows_which_methods_need_equations() {
    for method in ["lis", "monolithic"] {
        let desk = pair("cs", &format!("[method]\nid = \"{method}\""));
        desk.run("check pair")
            .exits(1)
            .says("E0304")
            .says(&format!("`{method}`"))
            .says("`s1`")
            .says("interface = \"me\"");
        // The project itself is good: a run may name another method.
        desk.run("run pair --method zoh --step 1ms --no-record").exits(0);
        let desk = pair("me", &format!("[method]\nid = \"{method}\""));
        desk.run("check pair").exits(0);
        desk.run("run pair --no-record").exits(0);
    }
}

#[test]
fn monolithic_by_the_solver_of_the_project_needs_one() {
    let desk = pair("me", "");
    desk.run("run pair --method monolithic:solver=project --no-record")
        .exits(1)
        .says("E0212")
        .says("names none");
    let desk = pair("me", "[system]\nsolver = \"dopri5:1e-8\"");
    desk.run("run pair --method monolithic:solver=project --no-record").exits(0);
}

#[test]
fn an_unknown_reference_lists_all_that_there_are() {
    let done = Desk::new().run("compare dual-mass --methods zoh --reference foo").exits(1).says("`foo`");
    for word in ["none", "same", "step:TIME", "dopri5"] {
        assert!(done.stderr.contains(word), "{word}\n{}", done.story());
    }
    Desk::new().run("compare dual-mass --methods zoh --reference dopri5:x").exits(1).says("not a tolerance");
}

/// These FMUs give no nominal values, so that nothing says when a signal is too large.
#[test]
fn signals_that_run_away_end_a_diverged_run_whatever_the_method() {
    for fmi in BOTH {
        let desk = Desk::new();
        for model in ["S1", "S2"] {
            std::fs::create_dir_all(desk.path("pair")).unwrap();
            std::fs::copy(build(fmi, model).path, desk.path(format!("pair/{model}.fmu"))).unwrap();
        }
        desk.write(
            "pair/system.toml",
            "[system]\nstop = \"60 s\"\n[step]\nsize = \"5 ms\"\n[fmu.s1]\nfile = \"S1.fmu\"\n[fmu.s2]\nfile = \"S2.fmu\"\n\
             [[connect]]\nfrom = \"s2.F\"\nto = \"s1.F\"\n[[connect]]\nfrom = \"s1.x\"\nto = \"s2.u1\"\n\
             [[connect]]\nfrom = \"s1.v\"\nto = \"s2.u2\"\n",
        );
        for method in ["zoh", "foh", "nepce"] {
            desk.run(&format!("run pair --method {method} --no-record"))
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
        let desk = Desk::new();
        desk.write(
            "two/system.toml",
            "[system]\nstop = 1\n[step]\nsize = 0.1\n[method]\nid = \"zoh\"\n[fmu.large]\nfile = \"Lag.fmu\"\n\
             set = { T = 1e9, x0 = 1e31 }\n[fmu.bad]\nfile = \"Fault.fmu\"\nset = { fault = 5, at = 0.5 }\n\
             [[connect]]\nfrom = \"bad.y\"\nto = \"large.u\"\n",
        );
        for model in ["Lag", "Fault"] {
            std::fs::copy(build(fmi, model).path, desk.path(format!("two/{model}.fmu"))).unwrap();
        }
        desk.run("run two --no-record").exits(2).says("E0402");
    }
}

#[test]
fn a_macro_step_that_does_not_fit_is_warned_of() {
    let desk = pair("cs", "[step]\nsize = \"15 us\"\n[system]\nstop = \"1 ms\"");
    let inner = desk.run("inspect pair/s1.fmu --json").exits(0);
    assert!(inner.json()["findings"].as_array().unwrap().is_empty(), "{}", inner.story());
    desk.run("check pair").says("W0205").says("multiple of 10 us");
    desk.run("check pair --set step.size=20us").exits(0);
}

#[test]
fn inspect_looks_at_the_library_of_this_platform() {
    for fmi in BOTH {
        let desk = Desk::new();
        let put = |variant: Variant| {
            std::fs::copy(build_as(fmi, "Lag", "Lag", variant).path, desk.path("Lag.fmu")).unwrap();
        };
        put(Variant::default());
        desk.run("inspect Lag.fmu").exits(0);
        put(Variant { no_library: true, ..Variant::default() });
        let done = desk.run("inspect Lag.fmu").exits(1);
        assert!(
            done.stdout.contains("E0111") && done.stdout.contains("not an ELF file but text"),
            "{}",
            done.story()
        );
        // A library without the one function that makes steps.
        let rename = if fmi == Fmi::V2 { "-Dfmi2DoStep=fmi2NoStep" } else { "-Dfmi3DoStep=fmi3NoStep" };
        put(Variant { flag: rename, ..Variant::default() });
        let done = desk.run("inspect Lag.fmu").exits(0);
        assert!(done.stdout.contains("E0112") && done.stdout.contains("DoStep"), "{}", done.story());
    }
}
