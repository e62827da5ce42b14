//! Sound archives: those of another writer, what is unpacked, platforms.

mod common;

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use common::xml::{ENGINE_2, ENGINE_3, SMALL_2};
use common::{File, Zip, fmu, here, library};
use costep_core::Code;
use costep_fmu_file::{Archive, Fmu, Limits, TEMPORARY_PREFIX};
use zip::write::{SimpleFileOptions, ZipWriter};

fn archive(bytes: Vec<u8>) -> Archive {
    Archive::from_bytes("test.fmu", bytes, Limits::default()).unwrap()
}

/// All files below a folder with their contents, in order.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tree(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn archives_of_another_writer_are_read() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let deflated = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    let noise: Vec<u8> = (0..100_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    let files = [
        ("modelDescription.xml", stored, ENGINE_2.as_bytes()),
        ("resources/noise.bin", deflated, &noise),
        ("resources/empty", deflated, b""),
        ("resources/größe.txt", stored, b"5"),
    ];
    for (name, options, content) in files {
        writer.start_file(name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.add_directory("documentation", stored).unwrap();
    let bytes = writer.finish().unwrap().into_inner();

    let mut archive = archive(bytes);
    for (name, _, content) in files {
        assert_eq!(archive.read(name, u64::MAX).unwrap().as_deref(), Some(content), "{name}");
    }
    assert!(archive.entries().any(|entry| entry.name == "documentation/" && entry.is_folder()));
    assert_eq!(archive.entries().count(), 5);
    assert_eq!(archive.read("nothing", 10).unwrap(), None);
    assert_eq!(archive.read("resources/noise.bin", 10).unwrap_err().code(), Code::ArchiveLimit);
}

#[test]
fn our_archives_are_read_by_another_reader() {
    let bytes = fmu(3, ENGINE_3).bytes();
    let mut other = zip::ZipArchive::new(Cursor::new(bytes.clone())).unwrap();
    let mut ours = archive(bytes);
    let names: Vec<String> = ours.entries().map(|entry| entry.name.to_owned()).collect();
    assert_eq!(names.len(), other.len());
    for name in names {
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut other.by_name(&name).unwrap(), &mut content).unwrap();
        assert_eq!(ours.read(&name, u64::MAX).unwrap(), Some(content), "{name}");
    }
}

#[test]
fn an_fmu_in_an_archive_is_to_be_unpacked_once() {
    let outer = Zip::new([File::stored("plant.fmu", fmu(3, ENGINE_3).bytes())]).bytes();
    let error = Fmu::new(archive(outer)).unwrap_err();
    assert_eq!(error.code(), Code::NoModelDescription);
    assert!(error.help().starts_with("unpack it once, `unzip test.fmu`, and give `plant.fmu`"), "{error}");
}

#[test]
fn names_that_only_shells_understand_are_recognised() {
    for (name, words) in [
        ("~/a.fmu", "a home folder in shells only"),
        ("$HOME/a.fmu", "variables of the shell"),
        ("file:///tmp/a.fmu", "write the path alone: `/tmp/a.fmu`"),
        ("https://x.org/a.fmu", "download the file"),
        ("parts\\a.fmu", "`parts/a.fmu`"),
        #[cfg(unix)]
        (
            "C:\\parts\\a.fmu",
            "no drives such as `C:` here: copy the file beside what names it, and write `a.fmu`",
        ),
    ] {
        let error = costep_fmu_file::not_there(Path::new(name));
        assert!(error.help().contains(words), "{error}");
    }
}

#[test]
fn sizes_behind_the_data_comments_and_old_names_are_read() {
    for marked in [false, true] {
        let files = [File::deflated("a", b"hello hello hello").streamed(marked), File::stored("b", b"world")];
        let mut zip = Zip::new(files);
        zip.comment = b"made by hand".to_vec();
        let mut archive = archive(zip.bytes());
        assert_eq!(archive.read("a", 100).unwrap().unwrap(), b"hello hello hello");
        assert_eq!(archive.read("b", 100).unwrap().unwrap(), b"world");
    }
    let old = File::stored("x", b"5").both(|header| {
        header.name = b"gr\x81n.txt".to_vec();
        header.flags = 0;
    });
    assert!(archive(Zip::new([old]).bytes()).contains("grün.txt"));
}

#[test]
fn only_what_is_needed_is_unpacked_and_nothing_is_left_behind() {
    let mut zip = fmu(2, ENGINE_2);
    zip.files.extend([
        File::stored(&format!("binaries/{}/libhelper.so", here(2)), b"helper").mode(0o100_755),
        File::stored("binaries/win16/Engine.dll", b"old"),
        File::stored("resources/deep/er/data.bin", [7; 1000]),
        File::stored("resourcesx/no.txt", b"no"),
        File::stored("documentation/index.html", b"no"),
        File::stored("resources/folder/", b"").mode(0o040_755),
    ]);
    let mut fmu = Fmu::new(archive(zip.bytes())).unwrap();
    let unpacked = fmu.unpack("Engine").unwrap();
    let folder = unpacked.folder().to_owned();
    assert!(folder.file_name().unwrap().to_str().unwrap().starts_with(TEMPORARY_PREFIX));
    let names: Vec<String> = tree(&folder)
        .into_iter()
        .map(|(path, _)| path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/"))
        .collect();
    let mut expected = vec![
        library(2, "Engine"),
        format!("binaries/{}/libhelper.so", here(2)),
        "modelDescription.xml".into(),
        "resources/deep/er/data.bin".into(),
        "resources/map.txt".into(),
    ];
    expected.sort();
    assert_eq!(names, expected);
    assert!(folder.join("resources/folder").is_dir());
    assert_eq!(unpacked.library(), folder.join(library(2, "Engine")));
    assert_eq!(fs::read(unpacked.library()).unwrap(), b"not really a library");
    assert_eq!(fs::read(unpacked.resources().unwrap().join("map.txt")).unwrap(), b"1 2 3\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&format!("binaries/{}/libhelper.so", here(2))), 0o700);
        assert_eq!(mode("resources/map.txt"), 0o600);
        assert_eq!(mode("") & 0o077, 0, "nobody else looks in");
    }
    drop(unpacked);
    assert!(!folder.exists());
}

#[test]
fn no_file_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), b"mine").unwrap();
    let error = archive(Zip::new([File::stored("a", b"theirs")]).bytes())
        .extract(folder.path(), |_| true)
        .unwrap_err();
    assert_eq!(error.code(), Code::FileNotReadable);
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"mine");
}

#[test]
fn a_failed_unpacking_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut zip = fmu(2, ENGINE_2);
    let unpack = |zip: &Zip| Fmu::new(archive(zip.bytes())).unwrap().unpack_in("Engine", Some(folder.path()));
    assert!(unpack(&zip).unwrap().folder().starts_with(folder.path()));
    zip.files[2].data[0] ^= 1;
    assert_eq!(unpack(&zip).unwrap_err().code(), Code::ArchiveDamaged);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn files_that_are_no_files_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), &folder.path().join("nowhere.fmu")] {
        assert_eq!(Fmu::open(path).unwrap_err().code(), Code::FileNotReadable);
    }
    #[cfg(target_os = "linux")]
    for device in ["/dev/zero", "/dev/null", "/dev/stdin"] {
        if !fs::metadata(device).is_ok_and(|about| about.is_file()) {
            assert_eq!(Fmu::open(device).unwrap_err().code(), Code::FileNotReadable, "{device}");
        }
    }
}

#[test]
fn limits_can_be_raised_for_an_fmu_that_is_known() {
    let path = Path::new("big.fmu");
    let mut zip = fmu(2, SMALL_2);
    zip.files.push(File::deflated("resources/zeros", vec![0; 3 << 20]));
    let open = |limits| Archive::from_bytes(path, zip.bytes(), limits);
    let error = open(Limits::default()).unwrap_err();
    assert_eq!(error.code(), Code::ArchiveLimit);
    assert!(error.to_string().contains("resources/zeros"), "{error}");
    let mut generous = open(Limits { ratio: 2000, ..Limits::default() }).unwrap();
    assert_eq!(generous.read("resources/zeros", u64::MAX).unwrap().unwrap().len(), 3 << 20);
    for strict in [
        Limits { total_size: 1 << 20, ratio: 2000, ..Limits::default() },
        Limits { entries: 4, ratio: 2000, ..Limits::default() },
    ] {
        assert_eq!(open(strict).unwrap_err().code(), Code::ArchiveLimit);
    }
    let small = Limits { document: 500, ratio: 2000, ..Limits::default() };
    assert_eq!(Fmu::new(open(small).unwrap()).unwrap_err().code(), Code::XmlRefused);
    let few = Limits { variables: 5, ratio: 2000, ..Limits::default() };
    assert_eq!(Fmu::new(open(few).unwrap()).unwrap_err().code(), Code::XmlRefused);
}

#[test]
fn a_platform_that_is_not_there_is_answered_by_those_that_are() {
    let with = |version: u32, text: &str, files: &[&str]| {
        let mut zip = fmu(version, text);
        zip.files.retain(|file| !file.central.name.starts_with(b"binaries"));
        zip.files.extend(files.iter().map(|name| File::stored(name, b"binary")));
        Fmu::new(archive(zip.bytes())).unwrap()
    };
    let cause = |mut fmu: Fmu| {
        let error = fmu.unpack("Engine").unwrap_err();
        assert_eq!(error.code(), Code::NoBinary);
        assert!(error.details().hint.is_some());
        error.details().cause.clone().unwrap()
    };
    assert_eq!(cause(with(2, ENGINE_2, &[])), "it has sources only");
    let old = with(2, ENGINE_2, &["binaries/linux32/Engine.so", "binaries/win32/Engine.dll"]);
    assert_eq!(cause(old), "it has binaries for linux32 (Linux, 32 bits), win32 (Windows, 32 bits)");
    let other = with(3, ENGINE_3, &["binaries/ppc64-linux/Engine.so", "binaries/nonsense/x.txt"]);
    assert_eq!(cause(other), "it has binaries for nonsense, ppc64-linux");
    let wrong_names = with(2, ENGINE_2, &[&library(2, "Motor"), &library(2, "Motor2")]);
    let suffix = std::env::consts::DLL_SUFFIX;
    assert_eq!(cause(wrong_names), format!("it holds Motor{suffix}, Motor2{suffix}"));
    // The folder names of FMI 3.0 are accepted in FMUs of 2.0, but not the other way round.
    let mut newer = with(2, ENGINE_2, &[&library(3, "Engine")]);
    assert!(newer.unpack("Engine").is_ok());
    if here(2) != here(3) {
        let older = with(3, ENGINE_3, &[&library(2, "Engine")]);
        assert!(older.validate().iter().any(|finding| finding.code == Code::FmuFiles));
        assert!(cause(older).starts_with("it has binaries for "));
    }
}

#[test]
fn the_files_of_a_sound_fmu_have_no_findings() {
    for (version, text) in [(2, ENGINE_2), (3, ENGINE_3)] {
        let fmu = Fmu::new(archive(fmu(version, text).bytes())).unwrap();
        assert_eq!(fmu.validate(), []);
        assert_eq!(fmu.platforms().len(), 1);
        assert!(fmu.platforms()[0].words().is_some());
    }
    let bare = Zip::new([File::stored("modelDescription.xml", ENGINE_2)]);
    let findings = Fmu::new(archive(bare.bytes())).unwrap().validate();
    assert_eq!(findings[0].message, "the FMU has neither binaries nor sources");
}

#[test]
fn files_that_nobody_runs_may_be_packed_twice_if_they_are_the_same() {
    let with = |files: &[(&str, &[u8])]| {
        let mut zip = fmu(2, ENGINE_2);
        zip.files.extend(files.iter().map(|(name, content)| match name.ends_with('/') {
            true => File::stored(name, content).mode(0o040_755),
            false => File::stored(name, content),
        }));
        zip.bytes()
    };
    let open = |bytes: Vec<u8>| Archive::from_bytes("test.fmu", bytes, Limits::default());
    let archive =
        open(with(&[("extra/", b""), ("extra/a.csv", b"1"), ("extra/", b""), ("extra/a.csv", b"1")]));
    let archive = archive.unwrap();
    assert_eq!(archive.entries().filter(|entry| entry.name == "extra/a.csv").count(), 1);
    for files in [
        [("extra/a.csv", &b"1"[..]), ("extra/a.csv", b"2")],
        [("extra/a.csv", b"1"), ("extra/A.csv", b"1")],
        [("resources/b", b"1"), ("resources/b", b"1")],
    ] {
        assert_eq!(open(with(&files)).unwrap_err().code(), Code::ArchiveRefused, "{files:?}");
    }
}

#[test]
fn the_only_library_may_have_another_name_than_the_identifier() {
    for (version, text) in [(2, ENGINE_2), (3, ENGINE_3)] {
        let mut zip = fmu(version, text);
        zip.files.retain(|file| !file.central.name.starts_with(b"binaries"));
        zip.files.push(File::stored(&library(version, "engine-from-a-tool"), b"binary"));
        let mut fmu = Fmu::new(archive(zip.bytes())).unwrap();
        let used = format!("engine-from-a-tool{}", std::env::consts::DLL_SUFFIX);
        assert!(fmu.unpack("Engine").unwrap().library().ends_with(&used));
        let findings = fmu.validate();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].code, Code::FmuFiles);
        assert!(findings[0].names_other_library());
        assert!(findings[0].message.ends_with(&format!("; `{used}` is used")), "{findings:?}");
    }
}

#[test]
fn identifiers_with_hyphens_and_dots_are_read_with_a_warning() {
    for identifier in ["engine-c", "Engine.v2"] {
        let text =
            ENGINE_2.replace("modelIdentifier=\"Engine\"", &format!("modelIdentifier=\"{identifier}\""));
        let mut zip = fmu(2, &text);
        zip.files[1] = File::stored(&library(2, identifier), b"binary");
        let mut fmu = Fmu::new(archive(zip.bytes())).unwrap();
        let unpacked = fmu.unpack(identifier).unwrap();
        assert_eq!(unpacked.library(), unpacked.folder().join(library(2, identifier)));
        let findings = fmu.validate();
        assert!(findings.iter().all(|finding| finding.code == Code::FmuSchema), "{findings:?}");
        assert!(findings[0].message.contains("is not a name of C"), "{findings:?}");
    }
}

#[test]
fn folders_are_read_however_they_are_written() {
    let folder = |name: &str, mode: u32| File::stored(name, b"").mode(mode);
    let mut zip = fmu(2, ENGINE_2);
    zip.files.splice(
        0..0,
        [
            folder("./", 0o040_755),
            folder(".\\", 0),
            folder("resources\\tables\\", 0),
            folder("resources/maps/", 0o100_644),
            folder("documentation", 0o040_755),
            folder("./sources/", 0o040_755),
        ],
    );
    let mut fmu = Fmu::new(archive(zip.bytes())).unwrap();
    let findings = fmu.validate();
    assert_eq!(findings.len(), 1, "{findings:?}");
    let words = "the folder `./` and 5 more are not written as zip archives have folders";
    assert_eq!((findings[0].code, &*findings[0].message), (Code::ArchiveRefused, words));
    let folders: Vec<&str> =
        fmu.archive().entries().filter(|entry| entry.is_folder()).map(|entry| entry.name).collect();
    assert_eq!(folders, ["resources/tables/", "resources/maps/", "documentation/", "sources/"]);
    let unpacked = fmu.unpack("Engine").unwrap();
    assert!(["tables", "maps"].iter().all(|name| unpacked.folder().join("resources").join(name).is_dir()));
    assert_eq!(fs::read(unpacked.folder().join("resources/map.txt")).unwrap(), b"1 2 3\n");
}

#[test]
fn small_archives_may_be_of_the_zip64_kind() {
    use common::archive_cases::{wide_end, wide_field};
    const OPEN: u32 = u32::MAX;
    let sizes = |header: &common::Header| [u64::from(header.size), u64::from(header.packed)];
    // As the zipfile of Python does it, in front of the data alone; then in the directory as well.
    let mut local = fmu(2, ENGINE_2);
    for file in &mut local.files {
        file.local.extra = wide_field(&sizes(&file.local));
        (file.local.size, file.local.packed) = (OPEN, OPEN);
    }
    let mut both = local.clone();
    for file in &mut both.files {
        file.central.extra = wide_field(&sizes(&file.central));
        (file.central.size, file.central.packed) = (OPEN, OPEN);
    }
    let (plain, both) = (fmu(2, ENGINE_2).bytes(), both.bytes());
    for (name, bytes) in [
        ("local", local.bytes()),
        ("end", wide_end(plain.clone(), false, |_| {})),
        ("open end", wide_end(plain, true, |_| {})),
        ("all", wide_end(both, true, |_| {})),
    ] {
        let mut fmu = Fmu::new(archive(bytes)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let findings = fmu.validate();
        let words: Vec<_> = findings.iter().map(|finding| &*finding.message).collect();
        assert_eq!(words, ["the archive is of the Zip64 kind"], "{name}");
        let unpacked = fmu.unpack("Engine").unwrap();
        assert_eq!(fs::read(unpacked.folder().join("resources/map.txt")).unwrap(), b"1 2 3\n", "{name}");
    }
}

#[test]
fn terminals_are_read_with_those_inside_of_others() {
    let text = r#"<?xml version="1.0"?><fmiTerminalsAndIcons fmiVersion="3.0"><Terminals>
        <Terminal name="axle" terminalKind="shaft" matchingRule="plug">
            <TerminalMemberVariable variableName="tau" memberName="torque" variableKind="signal"/>
            <TerminalMemberVariable variableName="w" variableKind="signal"/>
            <Terminal name="inner" matchingRule="bus"/>
        </Terminal></Terminals></fmiTerminalsAndIcons>"#;
    let description = ENGINE_2;
    let mut zip = fmu(2, description);
    zip.files.push(File::deflated("terminalsAndIcons/terminalsAndIcons.xml", text));
    let mut opened = Fmu::new(archive(zip.bytes())).unwrap();
    let terminals = opened.terminals().unwrap();
    let names: Vec<_> = terminals.iter().map(|terminal| terminal.name.as_str()).collect();
    assert_eq!(names, ["axle", "axle.inner"]);
    assert_eq!((terminals[0].kind.as_deref(), terminals[1].kind.as_deref()), (Some("shaft"), None));
    let pair = |member: &str, variable: &str| (member.to_owned(), variable.to_owned());
    assert_eq!(terminals[0].members, [pair("torque", "tau"), pair("w", "w")]);
    // FMUs without such a file have none; a file that is something else is an error with its name.
    assert_eq!(Fmu::new(archive(fmu(2, description).bytes())).unwrap().terminals().unwrap(), []);
    let mut other = fmu(2, description);
    other.files.push(File::deflated("terminalsAndIcons/terminalsAndIcons.xml", "<other/>"));
    let error = Fmu::new(archive(other.bytes())).unwrap().terminals().unwrap_err();
    assert!(error.to_string().contains("fmiTerminalsAndIcons"), "{error}");
}

#[test]
fn what_a_file_is_that_is_no_archive_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plant.fmu");
    for (content, words) in [
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "git lfs pull"),
        ("<!DOCTYPE html>\n<html><body>404</body></html>", "a web page"),
        ("<?xml version=\"1.0\"?><fmiModelDescription/>", "modelDescription.xml is at the top"),
        ("import numpy\n", "pythonfmu build"),
        ("some words\n", "give the .fmu file itself"),
        ("\u{1f}", "it does not start like one"),
    ] {
        std::fs::write(&file, content).unwrap();
        let text = costep_fmu_file::Fmu::open(&file).err().unwrap().to_string();
        assert!(text.contains(words), "{content:?}: {text}");
        assert_eq!(text.contains("pythonfmu"), words.contains("pythonfmu"), "{text}");
    }
}
