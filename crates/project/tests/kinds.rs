//! Connections of integers, Booleans and enumerations.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

#[path = "common/mod.rs"]
mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use common::{codes, line};
use costep_core::{Code, Error};
use costep_project::{Project, load_text};
use fmus::{Fmi, build_types};
use tempfile::TempDir;

/// The new text starts in line 9.
const HEAD: &str =
    "[system]\nstop = 1\n[step]\nsize = 0.1\n[fmu.a]\nfile = \"Types.fmu\"\n[fmu.b]\nfile = \"Types.fmu\"\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(&build_types(Fmi::V3).path, folder.path().join("Types.fmu")).unwrap();
    folder
}

fn read(folder: &TempDir, text: &str) -> Result<Project, Vec<Error>> {
    load_text(&format!("{HEAD}{text}"), &folder.path().join("system.toml"), &[])
}

fn connected(from: &str, to: &str, more: &str) -> String {
    format!("[[connect]]\nfrom = \"a.y_{from}\"\nto = \"b.u_{to}\"\n{more}\n")
}

#[test]
fn equal_kinds_and_whole_to_real_can_be_connected() {
    let folder = folder();
    for (from, to, more) in [
        ("real", "single", ""),
        ("single", "real", "gain = 0.5"),
        ("i8", "u64", "gain = 3\noffset = -2"),
        ("u16", "real", "gain = 0.5"),
        ("i64", "single", ""),
        ("truth", "truth", "gain = 1"),
        ("choice", "choice", ""),
        ("text", "text", ""),
        ("bytes", "bytes", ""),
        ("truth", "truth", "gain = -1\noffset = 1"),
        ("i32", "i32", "sum = true"),
    ] {
        if let Err(errors) = read(&folder, &connected(from, to, more)) {
            panic!("{from} {to}: {errors:#?}");
        }
    }
}

#[test]
fn other_connections_are_refused_at_their_line() {
    let folder = folder();
    for (from, to, more, at) in [
        ("real", "i32", "", 11),
        ("single", "i32", "", 11),
        ("real", "truth", "", 11),
        ("truth", "real", "", 11),
        ("truth", "i32", "", 11),
        ("i32", "choice", "", 11),
        ("choice", "i64", "", 11),
        ("i32", "i32", "gain = 0.5", 12),
        ("i32", "i32", "offset = 0.5", 12),
        ("truth", "truth", "gain = -1", 12),
        ("truth", "truth", "sum = true", 12),
        ("text", "real", "", 11),
        ("real", "text", "", 11),
        ("bytes", "text", "", 11),
        ("text", "text", "gain = 2", 12),
        ("text", "text", "sum = true", 12),
    ] {
        let found = read(&folder, &connected(from, to, more)).err().unwrap_or_default();
        let all = codes(&found);
        assert!(!all.is_empty() && all.iter().all(|code| *code == Code::PortType), "{from} {to}: {found:#?}");
        assert_eq!(line(&found[0]), at, "{from} {to} {more}: {found:#?}");
    }
}

#[test]
fn signals_from_outside_are_of_the_kind_of_their_input() {
    let folder = folder();
    let external = |name: &str, signal: &str| {
        read(&folder, &format!("[[external]]\nto = \"a.u_{name}\"\n{signal}\n"))
            .map_err(|errors| codes(&errors))
    };
    for (name, signal) in [
        ("truth", "value = 1"),
        ("truth", "square = { high = 1, low = 0, frequency = 2 }"),
        ("i8", "step = { value = -3, start = 0.5 }"),
        ("single", "sine = { amplitude = 1, frequency = 1 }"),
    ] {
        assert!(external(name, signal).is_ok(), "{name} {signal}");
    }
    for (name, signal) in [
        ("truth", "value = 2"),
        ("i8", "value = 0.5"),
        ("choice", "sine = { amplitude = 1, frequency = 1 }"),
        ("i8", "table = [[0, 1], [1, 2]]"),
        ("text", "value = 1"),
    ] {
        assert_eq!(external(name, signal).err(), Some(vec![Code::PortType]), "{name} {signal}");
    }
}

#[test]
fn enumerations_take_their_items_only_whatever_signal_gives_the_values() {
    let folder = folder();
    std::fs::write(folder.path().join("choice.csv"), "time,choice\n0,0\n0.3,7\n0.6,8\n").unwrap();
    std::fs::write(folder.path().join("good.csv"), "time,choice\n0,0\n0.3,1\n").unwrap();
    let external = |signal: &str| {
        read(&folder, &format!("[[external]]\nto = \"a.u_choice\"\n{signal}\n")).err().unwrap_or_default()
    };
    for good in [
        "value = \"some\"",
        "stairs = [[0, 0], [0.5, 1]]",
        "step = { value = 1, start = 0.5 }",
        "square = { high = 1, low = 0, frequency = 2 }",
        "file = \"good.csv\"\ninterpolation = \"hold\"",
    ] {
        assert_eq!(external(good), [], "{good}");
    }
    for (signal, lines, value) in [
        ("value = 2", &[11][..], "2 is no item"),
        ("stairs = [\n[0, 0],\n[0.5, 7],\n[0.6, -1]]", &[13, 14], "7 is no item"),
        ("step = { value = 3, start = 0.5 }", &[11], "3 is no item"),
        ("square = { high = 1, low = 5, frequency = 2 }", &[11], "5 is no item"),
        ("file = \"choice.csv\"\ninterpolation = \"hold\"", &[11], "its file has it at 0.3 s"),
    ] {
        let found = external(signal);
        assert_eq!(found.iter().map(line).collect::<Vec<_>>(), lines, "{signal}: {found:#?}");
        assert!(codes(&found).iter().all(|code| *code == Code::FmuValue), "{signal}: {found:#?}");
        let text = found[0].to_string();
        assert!(text.contains(value) && text.contains("none = 0, some = 1"), "{signal}: {text}");
    }
}

#[test]
fn a_table_that_others_call_by_another_word_is_named() {
    let folder = folder();
    for (written, meant) in [
        ("[[conection]]\nfrom = \"a.y_real\"\nto = \"b.u_real\"", "`[[connect]]`"),
        ("[[signals]]\nto = \"a.u_real\"\nvalue = 1", "`[[external]]`"),
        ("[simulation]\nstop = 1", "`[system]`"),
    ] {
        let text = read(&folder, written).err().unwrap()[0].to_string();
        assert!(text.contains(&format!("did you mean {meant}?")) && text.contains("[[connect]]"), "{text}");
    }
}
