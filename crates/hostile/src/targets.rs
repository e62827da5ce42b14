//! Readers of files, each fed with any bytes.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use costep::{Registry, System};
use costep_engine::{Checkpoints, Engine};

use costep_fmu_file::{Archive, BaseUnit, Fmu, Limits, ModelDescription};
use costep_ident::StoredModels;
use costep_import::{DataFile, Format};
use costep_results::{Summary, Table};
use costep_ssp::Reach;
use tempfile::TempDir;

use crate::mutation::{Random, mutated};
use crate::seeds;

/// A reader that takes any bytes.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    seeds: fn(&Path) -> Vec<Vec<u8>>,
    /// Words that its readers know.
    pub words: &'static [&'static str],
    read: fn(&[u8], &Path) -> bool,
}

/// Names of files, limits of numbers and marks that archives are made of.
const ARCHIVE: &[&str] = &[
    "PK\u{3}\u{4}",
    "PK\u{1}\u{2}",
    "PK\u{5}\u{6}",
    "PK\u{6}\u{6}",
    "../",
    "/",
    "\\",
    "C:",
    "modelDescription.xml",
    "\u{1}\0\u{1c}\0",
];
const XML: &[&str] = &[
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
    "&b;",
    "&#0;",
    "&#x10FFFF;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<?a?>",
    "xmlns:a=\"b\"",
    " name=\"\"",
    " valueReference=\"4294967295\"",
    " index=\"0\"",
    " derivative=\"1\"",
    " start=\"1 2 3\"",
    "<Dimension start=\"1000000000000\"/>",
    " causality=\"independent\"",
    " variability=\"tunable\"",
    " encoding=\"UTF-16\"",
    " encoding=\"ISO-8859-1\"",
    "<Alias name=\"a\"/>",
    " startElement=\"sub\"",
    " endConnector=\"in\"",
    " source=\"../../x\"",
    " source=\"file:///x\"",
    " prefix=\"a.\"",
];
const TEXT: &[&str] = &[
    "[[",
    "]]",
    "\"\"\"",
    "'''",
    " = ",
    "{",
    "}",
    "\u{0}",
    "\u{feff}",
    "file = \"/dev/zero\"",
    "1 ms",
    "-1 s",
    "*",
    "..",
    ",",
    ";",
    "\r\n",
];

/// All of them.
pub const TARGETS: [Target; 13] = [
    Target { name: "archive", seeds: |_| seeds::archives(), words: ARCHIVE, read: archive },
    Target { name: "fmu", seeds: |_| seeds::descriptions(), words: XML, read: fmu },
    Target {
        name: "model_description",
        seeds: |_| seeds::descriptions(),
        words: XML,
        read: model_description,
    },
    Target { name: "ssp", seeds: |_| seeds::structures(), words: XML, read: ssp },
    Target { name: "parameters", seeds: |_| seeds::parameters(), words: XML, read: parameters },
    Target { name: "systems", seeds: |_| seeds::systems(), words: XML, read: systems },
    Target { name: "project", seeds: |_| seeds::projects(), words: TEXT, read: project },
    Target { name: "identified_models", seeds: |_| seeds::models(), words: TEXT, read: identified_models },
    Target { name: "table", seeds: |_| seeds::tables(), words: TEXT, read: table },
    Target {
        name: "recording",
        seeds: seeds::recordings,
        words: &["CRC1", "\u{0}\u{0}\u{0}\u{0}"],
        read: recording,
    },
    Target { name: "checkpoint", seeds: checkpoints, words: &[], read: checkpoint },
    Target {
        name: "unit",
        seeds: |_| vec![b"kg.m2/s2".to_vec(), b"1/(N*m)".to_vec(), b"rev/min".to_vec()],
        words: &["^", "-2", "(", ")", "/", ".", "deg"],
        read: unit,
    },
    Target {
        name: "log_format",
        seeds: |_| vec![b"%s: level %g m in step %d".to_vec(), b"[%-6s|%6.2f|%+05lld|%*.*f|%c]".to_vec()],
        words: &["%n", "%hhn", "%ls", "%500s", "%.*s", "%*d", "%Lf", "%999999999d", "%p", "%%", "%zu"],
        read: log_format,
    },
];

/// A target by its name.
pub fn target(name: &str) -> Option<&'static Target> {
    static ALL: [Target; 13] = TARGETS;
    ALL.iter().find(|target| target.name == name)
}

thread_local! {
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// Does something with a folder of this thread, in memory where the system has such.
fn in_folder<T>(work: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| {
            tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
        });
        work(folder.path())
    })
}

impl Target {
    /// Valid inputs.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        in_folder(self.seeds)
    }

    /// Reads bytes; whether they were accepted.
    pub fn read(&self, bytes: &[u8]) -> bool {
        in_folder(|folder| (self.read)(bytes, folder))
    }

    /// A hostile input. Of archives every second one is made entry by entry, so that its checksums are right.
    pub fn input(&self, seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
        if self.name == "archive" && random.below(2) == 0 {
            const NAMES: [&str; 8] = [
                "modelDescription.xml",
                "a/../b",
                "./",
                "resources/",
                "x\\y",
                "binaries/linux64/M.so",
                "a",
                "A",
            ];
            let contents = [mutated(seeds, self.words, random), mutated(seeds, self.words, random)];
            let entries: Vec<_> =
                contents.iter().map(|content| (*random.pick(&NAMES).unwrap_or(&""), &content[..])).collect();
            let method = [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated][random.below(2)];
            return seeds::archive(&entries, method).unwrap_or_default();
        }
        mutated(seeds, self.words, random)
    }
}

/// No limit of these tests is larger than a few megabytes.
fn limits() -> Limits {
    Limits { total_size: 4 << 20, ..Limits::default() }
}

fn archive(bytes: &[u8], _: &Path) -> bool {
    let Ok(mut archive) = Archive::from_bytes("a.zip", bytes.to_vec(), limits()) else { return false };
    let names: Vec<String> = archive.entries().map(|entry| entry.name.to_owned()).collect();
    names.iter().all(|name| archive.read(name, 1 << 20).is_ok())
}

fn fmu(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("m.fmu");
    let entries = [("modelDescription.xml", bytes)];
    let Some(archive) = seeds::archive(&entries, zip::CompressionMethod::Stored) else { return false };
    let _ = std::fs::write(&file, archive);
    let Ok(mut fmu) = Fmu::open_with(&file, limits()) else { return false };
    let _ = (fmu.validate(), fmu.terminals(), fmu.platforms());
    true
}

fn model_description(bytes: &[u8], _: &Path) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(description) = ModelDescription::parse(text) else { return false };
    let all: Vec<usize> = (0..description.variables().len()).collect();
    let _ = (description.feedthrough(&all, &all), description.number_of_states());
    true
}

fn ssp(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("s.ssd");
    let _ = std::fs::write(&file, bytes);
    costep_ssp::open(&file, folder)
        .is_ok_and(|flat| !flat.to_toml(|path| path.display().to_string()).is_empty())
}

/// A file of parameters (`v`) or of a mapping (`m`) beside a system structure that has both.
fn parameters(bytes: &[u8], folder: &Path) -> bool {
    let Some((kind, text)) = bytes.split_first() else { return false };
    let [values, mapping] = seeds::parameter_files();
    let _ = std::fs::write(folder.join("p.ssv"), if *kind == b'v' { text } else { values.as_bytes() });
    let _ = std::fs::write(folder.join("p.ssm"), if *kind == b'm' { text } else { mapping.as_bytes() });
    let file = folder.join("p.ssd");
    let _ = std::fs::write(&file, seeds::structure_with_parameters());
    // One error there always is: the FMU is missing.
    costep_ssp::open(&file, folder).is_ok_and(|flat| flat.errors().count() <= 1)
}

fn systems(bytes: &[u8], folder: &Path) -> bool {
    let Some((kind, text)) = bytes.split_first() else { return false };
    let (name, format) = match kind {
        b'o' => ("OspSystemStructure.xml", Format::Osp),
        b'm' => ("s.msim", Format::MasterSim),
        _ => ("s.json", Format::MultiModel),
    };
    let file = folder.join(name);
    let _ = std::fs::write(&file, text);
    costep_import::open(&file, format, folder, Reach::beside(&file)).is_ok()
}

fn project(bytes: &[u8], folder: &Path) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    System::from_toml(text, folder.join("system.toml"), Registry::standard()).is_ok()
}

fn identified_models(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("models.toml");
    let _ = std::fs::write(&file, bytes);
    StoredModels::read(&file).is_ok()
}

fn table(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("t.csv");
    let _ = std::fs::write(&file, bytes);
    DataFile::open(&file).is_ok()
}

fn recording(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("r.arrows");
    let _ = std::fs::write(&file, bytes);
    let summary = Summary::read(&file);
    let table = Table::open(&file);
    assert_eq!(summary.is_ok(), table.is_ok());
    summary.is_ok_and(|summary| summary.complete())
}

fn checkpoint(bytes: &[u8], folder: &Path) -> bool {
    ENGINE.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = seeds::engine().ok();
        }
        let Some(engine) = kept else { return false };
        let _ = std::fs::write(folder.join("checkpoint"), bytes);
        let mut checkpoints = Checkpoints::new(folder, "identity", Duration::ZERO);
        checkpoints.load(engine).is_ok()
    })
}

fn checkpoints(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(mut engine) = seeds::engine() else { return Vec::new() };
    let mut checkpoints = Checkpoints::new(folder, "identity", Duration::ZERO);
    let saved = (0..3).try_for_each(|_| engine.step()).and_then(|()| checkpoints.save(&engine));
    saved.ok().and_then(|()| std::fs::read(checkpoints.current()).ok()).into_iter().collect()
}

fn unit(bytes: &[u8], _: &Path) -> bool {
    std::str::from_utf8(bytes)
        .is_ok_and(|text| BaseUnit::parse(text).is_some() | costep_core::quantity::parse_time(text).is_ok())
}

/// Formats that ask for more than they were given show what lies there; they end nowhere else.
fn log_format(bytes: &[u8], _: &Path) -> bool {
    let Ok(format) = std::ffi::CString::new(bytes) else { return false };
    costep_fmi::formatted_with_any_arguments(&format).is_some_and(|text| !text.is_empty())
}
